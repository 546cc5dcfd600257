/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rates between two samples, as a table. */
#pragma once

#include "analysis/table/table.h"
#include "top/sample.h"

/* What to show. */
struct top_view {
	enum top_subject subject;
	const char *sort;   /* name of a numeric column */
	const char *filter; /* in the name, job or user, ignoring case; "": everything */
	bool idle;	    /* also what was idle in the interval */
};

/* The columns that rows can be sorted by, in table order; NULL after the last. */
const struct table_column *top_sort_column(size_t number);

/*
 * Rates per second from one sample to a later one of the same source; new rows count from zero.
 * Sorted by time in I/O, then by time on a CPU, longest first. Leaves out idle jobs and processes:
 * those that did no I/O, had none in flight, and hardly ran or waited for a CPU. *idle receives
 * their number. Returns 0 or -ENOMEM.
 */
int top_frame(struct table **table, const struct top_sample *before, const struct top_sample *after,
	      const struct top_view *view, uint64_t *idle);

/* The node in one row: the same columns without the names, and the interval. */
int top_frame_node(struct table **table, const struct top_sample *before,
		   const struct top_sample *after);
