/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a list below headings, within the width of a terminal: one line a row, texts to the left,
 * numbers to the right, a path last.
 */
#ifndef FAULTLINE_GRID_H
#define FAULTLINE_GRID_H

#include "analysis/table/table.h"
#include "output/style.h"

#define GRID_COLUMNS_MOST 8
#define GRID_SHARE_LEAST 0.005 /* of the sum, for a row of its own */

struct grid_options {
	const struct style *style;
	uint64_t top;  /* rows at most, what is left is one row "other"; 0 for all */
	bool top_said; /* by somebody: rows up to it are not taken together for being small */
	bool whole;    /* all columns of the table's view, all rows: somebody asked for them */
	/* So many columns at most, whether or not they are empty, without a share: of tables that
	 * are shown again and again, whose columns must not come and go. 0: as said below. */
	size_t steady;
	/* Time of all I/O of the run, a union: what shares headed "of I/O" are of, in every table.
	 * 0: not known; shares of time are then of the rows' sum, headed "share". */
	uint64_t io_ns;
};


/*
 * Of the columns of the table's view those that are not empty, what matters most first, as many as
 * fit and at most GRID_COLUMNS_MOST. Rows are sorted by the column of the view that says so, whose
 * share stands beside it; rows with less than 0.5 % of it are taken together as "other". Those that
 * have no such number are of another layer (requests beside the calls that made them), and would be
 * counted twice there: they are named below the list. Errors are the sink's.
 */
void grid_write(struct sink *out, const struct table *table, const struct grid_options *options);

/* How many rows grid_write writes lines of, but for "other". */
size_t grid_rows(const struct table *table, const struct grid_options *options);

/* Words in as many lines as the width needs; escaped. */
void grid_wrapped(struct sink *out, const char *text, size_t width);
/* The same, each line but the first behind so many spaces. */
void grid_indented(struct sink *out, const char *text, size_t width, size_t indent);

#endif
