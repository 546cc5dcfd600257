/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The data of the page as JSON, bounded: tables with their columns, and what pictures are drawn
 * from. Knows nothing of the page around it.
 *
 * Tables: {"name", "title", "meaning", "shape": "record"|"list", "note", "absent", "columns":
 * [{"name", "title", "unit", "meaning"}], "shown": [column...], "by": column, "only": column,
 * "rows": [[cell...]], "of": rows there are}. A cell that may be larger is {"least": number}, a
 * table within {"columns": [name...], "rows": ...}.
 *
 * Lists of numbers of pictures are run-length coded: -N stands for N zeros.
 */
#ifndef FAULTLINE_HTML_DATA_H
#define FAULTLINE_HTML_DATA_H

#include "analysis/picture/pictures.h"
#include "analysis/table/table.h"
#include "output/sink.h"

/* Bytes of all tables together, and of one; of texts. */
#define HTML_TABLES_BYTES 640000
#define HTML_TABLE_BYTES 90000
#define HTML_ROWS_MOST 1000
#define HTML_TEXT_BYTES 400
/* Bytes of one set of sums by stretch, and of those of one table's rows. */
#define HTML_SET_BYTES 150000
#define HTML_ROWS_BYTES 60000
/* ... of those that follow from no single event. */
#define HTML_SAMPLES_BYTES 60000
/* Bytes of all maps of files. */
#define HTML_MAPS_BYTES 640000

/* Errors are the sink's. */
void html_tables(struct sink *out, const struct table *const *tables, size_t count);
void html_pictures(struct sink *out, const struct pictures *pictures);
/* A text as a JSON string, shortened in its middle. */
void html_text(struct sink *out, const char *text, size_t length);

#endif
