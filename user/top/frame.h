/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was done between two samples, as a table of rates. Knows nothing of terminals.
 */
#ifndef FAULTLINE_TOP_FRAME_H
#define FAULTLINE_TOP_FRAME_H

#include "analysis/table/table.h"
#include "top/sample.h"

/* What somebody wants to see. */
struct top_view {
	enum top_subject subject;
	const char *sort;   /* name of a column with numbers */
	const char *filter; /* in the name or the job, whatever the case; "": everything */
};

/* The columns that rows can be sorted by, in the order of the table; NULL behind the last. */
const struct table_column *top_sort_column(size_t number);

/*
 * Rates a second from one sample to a later one of the same source; of what is new, from nothing
 * on. Rows without anything done are left out. Returns 0 or -ENOMEM.
 */
int top_frame(struct table **table, const struct top_sample *before, const struct top_sample *after,
	      const struct top_view *view);

/* The node in one row: the same columns but the name, and between when. */
int top_frame_node(struct table **table, const struct top_sample *before,
		   const struct top_sample *after);

#endif
