/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The job's I/O by class, for the table "totals" and for those who draw conclusions from it.
 */
#ifndef FAULTLINE_TOTALS_H
#define FAULTLINE_TOTALS_H

#include "analysis/measured.h"
#include "analysis/model/tally.h"

/* Lost events included, but for merged time. */
struct tally totals_class(const struct measured *measured, enum io_class class);

/* What of a class went by a method, METHOD_UNKNOWN and METHOD_NONE included. */
const struct tally *totals_path(const struct measured *measured, enum io_class class,
				enum io_method method);

/* All classes together: only its times mean something. */
const struct tally *totals_all(const struct measured *measured);

/* Pages that came into the cache of files that no operation was about. */
enum totals_pages { TOTALS_UNATTRIBUTED, TOTALS_INDIRECT, TOTALS_PAGES };
const struct trace_operation_total *totals_pages(const struct measured *measured,
						 enum totals_pages which);

/* Faults that only the kernel's totals tell of, on memory without a file, or of tmpfs and its like,
 * or where it is not known; zeros where they are not known. */
enum totals_memory { TOTALS_ANONYMOUS, TOTALS_SHMEM, TOTALS_UNKNOWN, TOTALS_MEMORY_FAULTS };
const struct trace_operation_total *totals_memory(const struct measured *measured,
						  enum totals_memory which);

/* Pauses of threads that write, and their time; within that of their calls and faults. */
const struct trace_operation_total *totals_throttled(const struct measured *measured);

/* What was handed to the kernel and is not traced itself. */
struct submissions {
	uint64_t all, uring, libaio;
	uint64_t polled_rings; /* whose submissions are made without a call: nobody counts them */
};
/* Of several reports (measured->job is NULL), too. */
struct submissions totals_submissions(const struct measured *measured);

/* What pictures have bins of, in place of rows: the groups of its one row, by their columns' names.
 */
const char *totals_group(uint32_t group);

#endif
