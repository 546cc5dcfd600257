/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as text for a terminal: columns aligned, numbers to the right and with units, long texts
 * shortened. Zero is "0"; what was not measured is "-".
 */
#ifndef FAULTLINE_TEXT_H
#define FAULTLINE_TEXT_H

#include "analysis/report/report.h"
#include "output/grid.h"

/*
 * The table's title; a list as rows below headings (see grid.h), a record as one line for each
 * column; its note.
 */
void text_table(struct sink *out, const struct table *table, const struct grid_options *options);

/* The whole report: one screen, then every table that has a title and is not on it. Returns 0 or
 * the sink's error. */
int text_report(struct sink *out, const struct report *report, const struct grid_options *options);

#endif
