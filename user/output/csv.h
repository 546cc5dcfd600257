/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A table as comma-separated values (RFC 4180): a line of the columns' names, then its rows; raw
 * integers, nothing where nothing was measured, bytes that are not UTF-8 as \xHH. A table within is
 * one value, "name=value; name=value", its rows apart by " | ".
 */
#ifndef FAULTLINE_CSV_H
#define FAULTLINE_CSV_H

#include "analysis/table/table.h"
#include "output/sink.h"

/* One value; commas and ends of lines are the caller's. */
void csv_cell(struct sink *out, const struct cell *cell);
void csv_text(struct sink *out, const char *text, size_t length);

void csv_table(struct sink *out, const struct table *table);

#endif
