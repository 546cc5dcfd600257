/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as text for a terminal: aligned columns, right-aligned numbers with units, long texts
 * shortened. Zero is "0"; unmeasured is "-".
 */
#pragma once

#include "analysis/report/report.h"
#include "output/text/grid.h"

/*
 * Writes the table's title; its rows below headings if it is a list (see grid.h), or a line per
 * column if it is a record; and its note.
 */
void text_table(struct sink *out, const struct table *table, const struct grid_options *options);

/* Writes the whole report: one screen, then every other table that has a title. Returns 0 or the
 * sink's error. */
int text_report(struct sink *out, const struct report *report, const struct grid_options *options);
