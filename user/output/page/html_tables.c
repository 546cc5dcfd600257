/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes tables for the page, with as many rows as there is room for. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/base/json_tables.h"
#include "base/number.h"
#include "base/utf8.h"
#include "output/page/html_data.h"

#define NESTED_MAX 64 /* rows of a nested table, texts of a list */

static const char *const units[] = {
	[UNIT_NONE] = "none", [UNIT_COUNT] = "count", [UNIT_BYTES] = "bytes",
	[UNIT_NS] = "ns",     [UNIT_SHARE] = "share", [UNIT_PATH] = "path",
};

const char *const html_members[PICTURE_MEMBERS] = {
	[PICTURE_COUNT] = "count",
	[PICTURE_ERRORS] = "errors",
	[PICTURE_METADATA_CALLS] = "metadata",
	[PICTURE_READ_FAULTS] = "read_faults",
	[PICTURE_WRITE_FAULTS] = "write_faults",
	[PICTURE_MAJOR] = "major",
	[PICTURE_OPENS] = "opens",
	[PICTURE_MARKED] = "marked",
	[PICTURE_READ_BYTES] = "read",
	[PICTURE_WRITE_BYTES] = "written",
	[PICTURE_FETCHED] = "fetched",
	[PICTURE_READ_FAULTED] = "read_faulted",
	[PICTURE_WRITE_FAULTED] = "write_faulted",
	[PICTURE_CREATED] = "created",
	[PICTURE_DIRTIED] = "dirtied",
	[PICTURE_THREAD_TIME] = "time",
	[PICTURE_TIME] = "merged",
};

/* --- texts --- */

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void html_text(struct json *json, const char *name, const char *text, size_t length)
{
	char shortened[HTML_TEXT_BYTES + 8];
	size_t head, tail = HTML_TEXT_BYTES - HTML_TEXT_BYTES / 3;

	if (name)
		json_name(json, name, strlen(name), "");
	if (length <= HTML_TEXT_BYTES) {
		json_string(json, NULL, text, length);
		return;
	}
	head = utf8_cut(text, length, HTML_TEXT_BYTES / 3);
	while (tail > 1 && continues(text[length - tail]))
		tail--;
	memcpy(shortened, text, head);
	memcpy(shortened + head, "\xe2\x80\xa6", 3);
	memcpy(shortened + head + 3, text + length - tail, tail);
	json_string(json, NULL, shortened, head + 3 + tail);
}

static void write_literal(struct json *json, const char *name, const char *text)
{
	if (text)
		html_text(json, name, text, strlen(text));
	else
		json_null(json, name);
}

/* --- cells --- */

static void write_within(struct json *json, const char *name, const struct table *table);

static void write_texts(struct json *json, const char *name, const struct cell *cell)
{
	json_begin_list(json, name);
	for (uint32_t i = 0; i < cell->length && i < NESTED_MAX; i++)
		html_text(json, NULL, cell->texts[i].text, cell->texts[i].length);
	json_end(json);
}

static void write_real(struct json *json, const char *name, double real)
{
	char text[32];

	if (isfinite(real))
		json_raw(json, name, text, snprintf(text, sizeof(text), "%.6g", real));
	else
		json_null(json, name);
}

static void write_value(struct json *json, const char *name, const struct cell *cell)
{
	struct cell other;

	switch (cell->type) {
	case CELL_REAL:
		write_real(json, name, cell->real);
		return;
	case CELL_TEXT:
		html_text(json, name, cell->text, cell->length);
		return;
	case CELL_TEXTS:
		write_texts(json, name, cell);
		return;
	case CELL_TABLE:
		write_within(json, name, cell->table);
		return;
	default:
		other = *cell;
		other.summed = false; /* the page shows sums in place of unions */
		json_add_cell(json, name, &other);
	}
}

static void write_row(struct json *json, const struct table *table, size_t row)
{
	const struct cell *cells = table_row(table, row);

	json_begin_list(json, NULL);
	for (size_t i = 0; i < table->column_count; i++) {
		if (!cells[i].at_least) {
			write_value(json, NULL, &cells[i]);
			continue;
		}
		json_begin(json, NULL);
		write_value(json, "least", &cells[i]);
		json_end(json);
	}
	json_end(json);
}

static void write_within(struct json *json, const char *name, const struct table *table)
{
	json_begin(json, name);
	json_begin_list(json, "columns");
	for (size_t i = 0; i < table->column_count; i++)
		write_literal(json, NULL, table->columns[i].name);
	json_end(json);
	json_begin_list(json, "units");
	for (size_t i = 0; i < table->column_count; i++)
		json_literal(json, NULL, units[table->columns[i].unit]);
	json_end(json);
	json_begin_list(json, "rows");
	for (size_t i = 0; i < table->row_count && i < NESTED_MAX; i++)
		write_row(json, table, i);
	json_end(json);
	json_end(json);
}

/* --- tables --- */

static void write_sums(struct json *json, unsigned int stretch)
{
	json_begin_list(json, "sums");
	if (stretch & STRETCH_UNMARKED) {
		json_literal(json, NULL, html_members[PICTURE_COUNT]);
		json_literal(json, NULL, "-marked");
	}
	for (int i = 0; i < PICTURE_MEMBERS; i++)
		if (stretch >> i & 1)
			json_literal(json, NULL, html_members[i]);
	json_end(json);
}

static void write_columns(struct json *json, const struct table *table)
{
	json_begin_list(json, "columns");
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		json_begin(json, NULL);
		write_literal(json, "name", column->name);
		write_literal(json, "title", column->title);
		write_literal(json, "unit", units[column->unit]);
		write_literal(json, "kind", table_kinds[column->kind].name);
		write_literal(json, "meaning", column->meaning);
		if (column->stretch)
			write_sums(json, column->stretch);
		json_end(json);
	}
	json_end(json);
	json_begin_list(json, "shown");
	for (size_t i = 0; i < table->view.shown_count; i++)
		json_uint(json, NULL, table->view.shown[i]);
	json_end(json);
	if (table->view.by != TABLE_NO_COLUMN && table->view.shown_count)
		json_uint(json, "by", table->view.by);
	if (table->view.only != TABLE_NO_COLUMN && table->view.shown_count)
		json_uint(json, "only", table->view.only);
}

/* Writes the first rows in display order, as many as `room` holds. */
static void write_rows(struct json *json, const struct table *table, size_t room)
{
	size_t *order = table_order(table);
	bool fits = order;

	if (!order)
		json->out->error = -ENOMEM;
	json_begin_list(json, "rows");
	for (size_t i = 0; fits && i < table->row_count && i < HTML_ROWS_MAX; i++) {
		struct sink row;

		sink_open_memory(&row);
		write_row(&(struct json) { .out = &row }, table, order[i]);
		if (row.error)
			json->out->error = json->out->error ? json->out->error : row.error;
		fits = !row.error && row.used < room;
		if (fits) {
			room -= row.used + 1; /* with its comma */
			json_raw(json, NULL, row.buffer, row.used);
		}
		sink_close(&row);
	}
	json_end(json);
	free(order);
}

static void write_table(struct json *json, const struct table *table, size_t room)
{
	json_line(json, 0);
	json_begin(json, NULL);
	write_literal(json, "name", table->name);
	write_literal(json, "title", table->title);
	write_literal(json, "meaning", table->meaning);
	write_literal(json, "note", table->note);
	write_literal(json, "shape", table->shape == TABLE_RECORD ? "record" : "list");
	if (table->absent)
		json_flag(json, "absent", true);
	json_uint(json, "of", table->row_count);
	write_columns(json, table);
	write_rows(json, table, room);
	json_end(json);
}

void html_tables(struct json *json, const char *name, const struct table *const *tables,
		 size_t count)
{
	size_t left = HTML_TABLES_BYTES;

	json_begin_list(json, name);
	for (size_t i = 0; i < count && !json->out->error; i++) {
		struct sink made;

		if (!strcmp(tables[i]->name, "timeline")) /* pictures have it in finer steps */
			continue;
		sink_open_memory(&made);
		write_table(&(struct json) { .out = &made }, tables[i],
			    number_min(left, HTML_TABLE_BYTES));
		if (made.error)
			json->out->error = made.error;
		json_raw(json, NULL, made.buffer, made.used);
		left = number_sub(left, made.used);
		sink_close(&made);
	}
	json_end(json);
}
