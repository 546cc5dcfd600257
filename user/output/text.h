/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as text for a terminal: columns aligned, numbers to the right and with units, long texts
 * shortened in the middle. Zero is "0"; what was not measured is "-".
 */
#ifndef FAULTLINE_TEXT_H
#define FAULTLINE_TEXT_H

#include "analysis/table.h"
#include "output/sink.h"

#define TEXT_WIDTH_DEFAULT 100 /* where there is no terminal */

struct text_options {
	size_t width; /* columns of the terminal */
	uint64_t top; /* rows of a list at most; 0 for all */
	bool bare;    /* no title above the table, nothing below it */
};

/*
 * A list as rows below headings; a record as one line for each column. Only columns with a title
 * are shown. A table that is too wide leaves out columns that hold nothing but 0 and "-" and says
 * so; if that does not help it comes in pieces, each beginning with the same first column.
 */
void text_table(struct sink *out, const struct table *table, const struct text_options *options);

/* Columns of the terminal behind a descriptor, of $COLUMNS, or TEXT_WIDTH_DEFAULT. */
size_t text_width(int fd);

/* The whole report: one screen, then every table that has a title. */
int text_report(struct sink *out, const struct table *const *tables, size_t count,
		const struct text_options *options);

#endif
