/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lays out a list as rows below headings, within the width of a terminal: one line per row, texts
 * left-aligned, numbers right-aligned, a path last.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

#define GRID_COLUMNS_MAX 8
#define GRID_SHARE_MIN 0.005 /* minimum share of the sum for a row of its own */

struct grid_options {
	const struct style *style;
	uint64_t top;  /* maximum rows, the rest becomes one row "other"; 0: all */
	bool top_said; /* `top` was requested: rows up to it are not merged for being small */
	bool whole;    /* all rows and all columns of the table's view were requested */
	bool wraps;    /* a text in the last column continues below itself; else it may be cut */
	/* Maximum columns, shown even if empty, and without a share: for tables that are redrawn
	 * repeatedly, whose columns must not come and go. 0: as described below. */
	size_t steady;
	/* Time of all I/O of the run, a union: the base of shares headed "of I/O", in every
	 * table. 0: unknown; shares of time then refer to the rows' sum, headed "share". */
	uint64_t io_ns;
};

/*
 * Shows the columns of the table's view that are not empty, most important first, as many as fit
 * and at most GRID_COLUMNS_MAX. Rows are sorted by the view's sort column, followed by its share;
 * rows with less than 0.5% of the sum are merged into "other". Rows without a sort key belong to
 * another layer (requests next to the calls that made them) and would be counted twice: they are
 * named below the list. Errors are kept in the sink.
 */
void grid_write(struct sink *out, const struct table *table, const struct grid_options *options);

/* Returns how many rows grid_write writes, without "other". */
size_t grid_rows(const struct table *table, const struct grid_options *options);
