/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a table as comma-separated values (RFC 4180): a line of column names, then the rows.
 * Integers are raw, unmeasured values empty, bytes that are not UTF-8 \xHH. A nested table is a
 * single value, "name=value; name=value", with rows separated by " | ".
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/sink.h"

/* Write one value; the caller adds commas and line ends. */
void csv_cell(struct sink *out, const struct cell *cell);
void csv_text(struct sink *out, const char *text, size_t length);

void csv_table(struct sink *out, const struct table *table);
