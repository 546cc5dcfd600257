/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Activity by process, for the table "processes" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/shared/measure.h"
#include "analysis/processes/process_waits.h"
#include "analysis/processes/still_waiting.h"

/* `process` is a number in the job's table; `measure` is an enum io_class or MEASURE_IO. */
const struct tally *processes_tally(const struct results *results, uint32_t process,
				    unsigned int measure);

/* Reads, writes and syncs of a process, by number in the process table. */
struct processes_calls {
	uint64_t pid, rank;	   /* TABLE_NO_UINT: none */
	uint64_t start_ns, end_ns; /* end of the run if the process did not end */
	uint64_t syncs, read_bytes, written_bytes;
	uint64_t fetched_bytes; /* from storage, by reads */
	uint64_t moving_ns;	/* time in reads, writes and syncs; thread time if aggregated */
};
/* Works for merged reports too (results->job is NULL). Returns 1, 0 past the last process, or
 * -ENODATA if some processes have no row of their own. */
int processes_calls(const struct results *results, uint32_t process, struct processes_calls *view);

/* A process's last failed fault, e.g. the one that raised SIGBUS. */
struct failed_fault {
	uint32_t file; /* number in the job's table; FILE_UNKNOWN: none or unknown */
	int64_t offset;
};
struct failed_fault processes_failed_fault(const struct results *results, uint32_t process);

const struct still_waiting *processes_still_waiting(const struct results *results);

/* Returns how long the process lived without any I/O in progress. */
uint64_t processes_without_io_ns(const struct results *results, uint32_t process);

/* Aggregated operations of a job. */
struct processes_sums {
	uint64_t processes;  /* with any aggregated operation */
	uint32_t first;	     /* number of one of them */
	uint64_t operations; /* in total */
	uint64_t other;	     /* of them, on files without a slot of their own */
};
struct processes_sums processes_sums(const struct results *results);

/* Returns the bytes of metadata, including journals, that the kernel wrote to a device, for any
 * process. */
uint64_t processes_kernel_metadata(const struct results *results, uint32_t host, uint64_t device);

/* Gets the saves or loads of a process, in no particular order; false past the last one. */
bool processes_wait(const struct results *results, enum process_waits_for what, size_t number,
		    struct process_wait *wait);
