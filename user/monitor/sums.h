/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums of operations by what they do and by which method, for one who does them. Knows
 * nothing of who that is.
 */
#ifndef FAULTLINE_MONITOR_SUMS_H
#define FAULTLINE_MONITOR_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/io_class.h"

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
 * without bytes have the one by which they were asked for: syscall, io_uring. */
static inline const char *ledger_method_name(enum io_method method)
{
	return method < METHOD_NONE ? method_names[method] : "none";
}

/* What only ever grows. */
struct ledger_counts {
	uint64_t count; /* operations; by mmap page faults on files */
	uint64_t errors;
	uint64_t bytes;		       /* moved; by mmap those brought in, or dirtied by stores */
	uint64_t fetched_bytes;	       /* brought into the page cache to be read */
	uint64_t created_bytes;	       /* newly cached by writing */
	uint64_t read_for_write_bytes; /* from storage, to complete pages written in part */
	uint64_t time_ns;	       /* summed over threads */
	uint64_t major_faults;	       /* of those faults */
	uint64_t call_major_faults;    /* inside of calls that bring pages in, as mlock */
};

/* Operations by how long they took: of class 0 those below 64 ns, then below 128 ns, and so on by
 * powers of two; the last is open. */
#define LEDGER_LATENCIES 32
#define LEDGER_LATENCY_SHIFT 6

struct ledger_cell {
	uint8_t op;	/* enum ledger_op */
	uint8_t method; /* enum io_method; METHOD_NONE never */
	bool folded;	/* there is no room for series of its own: see ledger_options */
	struct ledger_counts counts;
	uint64_t *latencies; /* LEDGER_LATENCIES of them; NULL: not kept for this one */
};

/* All zeros is empty. In no order; only what was ever done has a cell. */
struct ledger_sums {
	struct ledger_cell *cells;
	unsigned int count;
};

/* NULL: nothing of the kind was done. */
const struct ledger_cell *sums_find(const struct ledger_sums *sums, enum ledger_op op,
				    enum io_method method);
/* Makes it if there is none, with or without latencies; NULL without memory. Valid until the next
 * one is made. */
struct ledger_cell *sums_cell(struct ledger_sums *sums, enum ledger_op op, enum io_method method,
			      bool latencies);
void sums_add(struct ledger_counts *counts, const struct ledger_counts *added);
/* Numbers only grow; where one has not, its thing has been given up and begun anew. */
static inline uint64_t sums_grown(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

/* What was added since `before`; NULL: since nothing was done. */
struct ledger_counts sums_since(const struct ledger_counts *before,
				const struct ledger_counts *now);
/* Adds all of another's, without latencies. */
void sums_merge(struct ledger_sums *sums, const struct ledger_sums *added);
/* Over all cells. */
struct ledger_counts sums_total(const struct ledger_sums *sums);
/* The smallest bound of a class, in ns, that so many of a hundred stay below; UINT64_MAX: there are
 * none (`latencies` may be NULL), or they are beyond all bounds. */
uint64_t sums_percentile(const uint64_t *latencies, unsigned int percent);
void sums_free(struct ledger_sums *sums);

#endif
