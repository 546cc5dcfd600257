/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each process did, for the table "processes" and for those who draw conclusions from it.
 */
#ifndef FAULTLINE_PROCESSES_H
#define FAULTLINE_PROCESSES_H

#include "analysis/measured.h"
#include "analysis/measure.h"
#include "analysis/process_waits.h"
#include "analysis/still_waiting.h"

/* By number in the job's table; `measure` is an enum io_class or MEASURE_IO. */
const struct tally *processes_tally(const struct measured *measured, uint32_t process,
				    unsigned int measure);

/* Who reads, writes and syncs, by number in the table of processes. */
struct processes_calls {
	uint64_t pid, rank;	   /* TABLE_NO_UINT: none */
	uint64_t start_ns, end_ns; /* of what did not end, the end of the run */
	uint64_t syncs, read_bytes, written_bytes;
	uint64_t fetched_bytes; /* from storage, by reads */
	uint64_t moving_ns;	/* time in reads, in writes and in syncs; of sums, of all threads */
};
/* Of several reports (measured->job is NULL), too. 1, 0 behind the last one, or -ENODATA where some
 * are not told one by one. */
int processes_calls(const struct measured *measured, uint32_t process,
		    struct processes_calls *view);

/* The last fault of a process that failed, as one does that gets SIGBUS. */
struct failed_fault {
	uint32_t file; /* by number in the job's table; FILE_UNKNOWN: none, or not known */
	int64_t offset;
};
struct failed_fault processes_failed_fault(const struct measured *measured, uint32_t process);

const struct still_waiting *processes_still_waiting(const struct measured *measured);

/* How long it lived without any I/O under way. */
uint64_t processes_beside_ns(const struct measured *measured, uint32_t process);

/* What was summed up, of a job that has such. */
struct processes_sums {
	uint64_t processes;  /* with any operation of theirs */
	uint32_t first;	     /* of those by number: one of them */
	uint64_t operations; /* in all */
	uint64_t other;	     /* of them, on files that there was no room for one by one */
};
struct processes_sums processes_sums(const struct measured *measured);

/* Bytes of metadata, journals among them, that the kernel wrote to a device, for whomever. */
uint64_t processes_kernel_metadata(const struct measured *measured, uint32_t dev);

/* What programs write or read in their first threads, in no order; false behind the last one. */
bool processes_wait(const struct measured *measured, enum process_waits_for what, size_t number,
		    struct process_wait *wait);

#endif
