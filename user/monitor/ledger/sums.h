/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums of operations by type and method, for one owner. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/events/io_class.h"

enum ledger_op {
	LEDGER_READ,
	LEDGER_WRITE,
	LEDGER_METADATA,
	LEDGER_SYNC,
	LEDGER_OPS,
};

/* "read", "write", "metadata", "sync" */
extern const char *const ledger_op_names[LEDGER_OPS];
/* "syscall", "direct", "mmap", "splice", "io_uring", "libaio", "kernel", and "unknown". Operations
 * without bytes have the method by which they were submitted: syscall, io_uring. */
static inline const char *ledger_method_name(enum io_method method)
{
	return method < METHOD_NONE ? method_names[method] : "none";
}

/* Counters that only grow. */
struct ledger_counts {
	uint64_t count; /* operations; for mmap, page faults on files */
	uint64_t errors;
	uint64_t bytes;		       /* moved; for mmap, fetched or dirtied by stores */
	uint64_t fetched_bytes;	       /* brought into the page cache to be read */
	uint64_t created_bytes;	       /* newly cached by writes */
	uint64_t read_for_write_bytes; /* from storage, to complete pages written in part */
	uint64_t time_ns;	       /* summed over threads */
	uint64_t major_faults;	       /* among these faults */
	uint64_t call_major_faults;    /* inside calls that bring pages in, e.g. mlock */
};

/* Operations by duration: class 0 is below 64 ns, the next below 128 ns, and so on by powers of
 * two; the last has no bound. */
#define LEDGER_LATENCIES 32
#define LEDGER_LATENCY_SHIFT 6

struct ledger_cell {
	uint8_t op;	/* enum ledger_op */
	uint8_t method; /* enum io_method, never METHOD_NONE */
	bool folded;	/* has no series of its own: see ledger_options */
	struct ledger_counts counts;
	uint64_t *latencies; /* LEDGER_LATENCIES counts; NULL: not kept here */
};

/* All zeros is empty. Cells are unordered, and exist only for what was ever done. */
struct ledger_sums {
	struct ledger_cell *cells;
	unsigned int count;
};

/* Returns NULL if nothing of the kind was done. */
const struct ledger_cell *sums_find(const struct ledger_sums *sums, enum ledger_op op,
				    enum io_method method);
/* Returns a cell, creating it if needed, with or without latencies; NULL if out of memory. Valid
 * until the next one is created. */
struct ledger_cell *sums_cell(struct ledger_sums *sums, enum ledger_op op, enum io_method method,
			      bool latencies);
void sums_add(struct ledger_counts *counts, const struct ledger_counts *added);
/* Counters only grow; one that shrank was dropped and started again from zero. */
static inline uint64_t sums_grown(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

/* Returns what was added since `before`; NULL: since the beginning. */
struct ledger_counts sums_since(const struct ledger_counts *before,
				const struct ledger_counts *now);
/* Adds all of another's cells, without latencies. */
void sums_merge(struct ledger_sums *sums, const struct ledger_sums *added);
/* Returns the sum over all cells. */
struct ledger_counts sums_total(const struct ledger_sums *sums);
/* Returns the smallest class bound, in ns, that `percent` of the operations stay below; UINT64_MAX
 * if there are none (`latencies` may be NULL) or they exceed all bounds. */
uint64_t sums_percentile(const uint64_t *latencies, unsigned int percent);
void sums_free(struct ledger_sums *sums);
