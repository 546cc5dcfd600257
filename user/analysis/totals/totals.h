/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The job's I/O by class, for the table "totals" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/events/tally.h"

/* Includes lost events, except in merged time. */
struct tally totals_class(const struct results *results, enum io_class class);

/* The I/O of a class by one method, which may be METHOD_UNKNOWN or METHOD_NONE. */
const struct tally *totals_path(const struct results *results, enum io_class class,
				enum io_method method);

/* All classes together: only its times are meaningful. */
const struct tally *totals_all(const struct results *results);

/* Page-cache fills of files that are not the subject of an operation. */
enum totals_pages { TOTALS_UNATTRIBUTED, TOTALS_INDIRECT, TOTALS_PAGES };
const struct trace_operation_total *totals_pages(const struct results *results,
						 enum totals_pages which);

/* Faults known only from the kernel's totals: on anonymous memory, on tmpfs and the like, or on
 * unknown mappings. Zeros if unknown. */
enum totals_memory { TOTALS_ANONYMOUS, TOTALS_SHMEM, TOTALS_UNKNOWN, TOTALS_MEMORY_FAULTS };
const struct trace_operation_total *totals_memory(const struct results *results,
						  enum totals_memory which);

/* Memory without a file that the processes unmapped, and the time of these calls, summed over
 * threads. */
struct unmapped {
	uint64_t bytes, thread_time_ns;
};
struct unmapped totals_unmapped(const struct results *results);

/* Pauses of throttled writers, and their time, which is part of their calls' and faults' time. */
const struct trace_operation_total *totals_throttled(const struct results *results);

/* Operations submitted to the kernel that are not traced. */
struct submissions {
	uint64_t all, uring, libaio;
	uint64_t polled_rings; /* submitted to without a call: not counted */
};
/* Works for merged reports too (results->job is NULL). */
struct submissions totals_submissions(const struct results *results);

/* Returns the column name of a group in the table's only row; plots have these groups instead of
 * rows. */
const char *totals_group(uint32_t group);
