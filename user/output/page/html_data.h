/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The page's data as JSON of bounded size: tables with their columns, and the data of pictures.
 *
 * Tables: {"name", "title", "meaning", "shape": "record"|"list", "note", "absent", "columns":
 * [{"name", "title", "unit", "kind", "meaning", "sums"}], "shown": [column...], "by": column,
 * "only": column, "rows": [[cell...]], "of": number of all rows}. "sums" are the members of a
 * series that add up to the column (stretch.h), "-NAME" is subtracted. A lower bound is {"least":
 * number}, a nested table {"columns": [name...], "units": [...], "rows": ...}.
 *
 * Number lists of pictures are run-length encoded: -N stands for N zeros.
 *
 * The flame graph: {"states": [[name, title]...], "texts": [...], "nodes": [[parent, file, line,
 * function]...], "sums": [[node, state, [exact time...], [samples...], estimated time]...]}. Files
 * and functions are indices of texts; the first node is the root; a parent comes before its nodes.
 * The times of a node exclude those of the nodes that it calls. The estimated time, if there is
 * any, is that of each sample, or, if these differ, a list.
 */
#pragma once

#include "analysis/picture/pictures.h"
#include "analysis/table/table.h"
#include "output/base/json.h"

/* Maximum bytes of all tables together, and of one table; rows of a table; bytes of a text. */
#define HTML_TABLES_BYTES 640000
#define HTML_TABLE_BYTES 90000
#define HTML_ROWS_MAX 1000
#define HTML_TEXT_BYTES 400
/* Maximum bytes of one set of sums by stretch, and of those of one table's rows. */
#define HTML_SET_BYTES 150000
#define HTML_ROWS_BYTES 60000
/* ... of those that do not follow from single events. */
#define HTML_SAMPLES_BYTES 60000
/* Maximum bytes of all maps of files. */
#define HTML_MAPS_BYTES 640000

/* Names of the members of a series. */
extern const char *const html_members[PICTURE_MEMBERS];

/* Errors are kept in the sink. */
void html_tables(struct json *json, const char *name, const struct table *const *tables,
		 size_t count);
void html_pictures(struct json *json, const char *name, const struct pictures *pictures);
/* Writes the flame graph; null if the layer stack was not recorded. */
void html_flame(struct json *json, const char *name, const struct pictures *pictures);
/* Write a list of numbers, which are `step` bytes apart or consecutive. */
void html_list(struct json *json, const char *name, const uint64_t *numbers, size_t step,
	       size_t count);
void html_counts(struct json *json, const char *name, const uint32_t *numbers, size_t count);
/* Writes a text as a string, shortened in the middle. `name` is as in json.h. */
void html_text(struct json *json, const char *name, const char *text, size_t length);
