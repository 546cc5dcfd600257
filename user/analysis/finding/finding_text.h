/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts of findings from templates: "{faults} faults on {file}" with the cells of a record.
 */
#pragma once

#include "analysis/table/table.h"
#include "collections/arena.h"

/*
 * Each {NAME} becomes the cell of that column, in its unit; null becomes "-". {NAME:ONE|MANY} is
 * followed by ONE for 1 and MANY otherwise: "1 file", "2 files". A clause in brackets is omitted if
 * a cell in it is null; only then its text after "||" is used. Returns NULL if out of memory. A
 * name without a column stays as it is, and is stored in *unknown unless that is NULL.
 */
const char *finding_text(struct arena *arena, const char *pattern, const struct table *record,
			 const char **unknown);

/*
 * Makes the text without a particular finding, for --explain: clauses become their alternatives,
 * names FILE or DEVICE, numbers N. `columns` are those of the evidence. Returns NULL if out of
 * memory.
 */
const char *finding_text_general(struct arena *arena, const char *pattern,
				 const struct table_column *columns, size_t count);
