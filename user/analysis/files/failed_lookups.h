/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls with a path that failed, for findings on the table "failed_lookups". */
#pragma once

#include "analysis/shared/analysis.h"

/* The directory with the most failures, and the totals. */
struct lookups_view {
	struct table_text directory, example; /* NULL: no failures, or unknown */
	uint64_t count;
	uint64_t all_count, all_thread_time_ns;
};

enum lookups_of {
	LOOKUPS_ALL,
	LOOKUPS_OF_DATA, /* without search paths of programs, libraries and modules */
};

/* Reads the table; must run after it is filled. */
struct lookups_view failed_lookups_worst(const struct report *report, enum lookups_of of);
