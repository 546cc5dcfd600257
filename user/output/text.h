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
};

/*
 * The table's title; a list as rows below headings (see grid.h), a record as one line for each
 * column; its note. Only columns with a title are shown.
 */
void text_table(struct sink *out, const struct table *table, const struct text_options *options);

/* Columns of the terminal behind a descriptor, of $COLUMNS, or TEXT_WIDTH_DEFAULT. */
size_t text_width(int fd);

/* The whole report: one screen, then every table that has a title. */
int text_report(struct sink *out, const struct table *const *tables, size_t count,
		const struct text_options *options);

#endif
