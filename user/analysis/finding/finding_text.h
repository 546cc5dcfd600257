/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts of findings from templates: "{faults} faults on {file}" with the cells of a record.
 */
#ifndef FAULTLINE_FINDING_TEXT_H
#define FAULTLINE_FINDING_TEXT_H

#include "analysis/table/table.h"
#include "arena.h"

/*
 * Each {NAME} becomes the cell of that column, in its unit; what is null becomes "-". Behind
 * {NAME:ONE|MANY} stands ONE of 1 and MANY of all else: "1 file", "2 files". A clause in brackets
 * is left out when a cell in it is null; what stands behind "||" in it is told then, and only then.
 * Returns NULL when there is no memory. A name that is no
 * column stays as it stands, and is put into *unknown unless that is NULL.
 */
const char *finding_text(struct arena *arena, const char *pattern, const struct table *record,
			 const char **unknown);

/*
 * The pattern without a particular finding, for --explain: clauses become their alternatives, names
 * of things FILE or DEVICE, numbers N. `columns` are those of the evidence. NULL: no memory.
 */
const char *finding_text_general(struct arena *arena, const char *pattern,
				 const struct table_column *columns, size_t count);

#endif
