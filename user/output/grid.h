/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a list below headings, within the width of a terminal: texts to the left, numbers to the
 * right.
 *
 * Where the width does not suffice, step by step: headings take several lines, long texts are
 * shortened in the middle, columns with nothing but 0, "no" and "-" are left out (and named below),
 * and at last the columns come in several parts, each beginning with the first column.
 */
#ifndef FAULTLINE_GRID_H
#define FAULTLINE_GRID_H

#include "analysis/table.h"
#include "output/sink.h"

/* The first `rows` rows of a list; columns without a title are not shown. Errors are the sink's. */
void grid_write(struct sink *out, const struct table *table, size_t rows, size_t width);

/* Words in as many lines as the width needs; escaped. */
void grid_wrapped(struct sink *out, const char *text, size_t width);

#endif
