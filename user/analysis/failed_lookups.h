/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls that named a path and failed, for those who draw conclusions from the table of that name.
 */
#ifndef FAULTLINE_FAILED_LOOKUPS_H
#define FAULTLINE_FAILED_LOOKUPS_H

#include "analysis/analysis.h"

/* The directory with the most of them, and all of them. */
struct lookups_view {
	struct table_text directory, example; /* NULL where none failed, or where is not known */
	uint64_t count;
	uint64_t all_count, all_thread_time_ns;
};

enum lookups_of {
	LOOKUPS_ALL,
	LOOKUPS_OF_DATA, /* without directories in which programs, libraries and modules are sought
			  */
};

/* Of the table, once it is filled. */
struct lookups_view failed_lookups_worst(const struct report *report, enum lookups_of of);

#endif
