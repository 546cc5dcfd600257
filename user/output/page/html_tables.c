/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes tables for the page, with as many rows as there is room for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/page/html_data.h"
#include "output/base/json.h"

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

void html_text(struct sink *out, const char *text, size_t length)
{
	char shortened[HTML_TEXT_BYTES + 8];
	size_t head = HTML_TEXT_BYTES / 3, tail = HTML_TEXT_BYTES - HTML_TEXT_BYTES / 3;

	if (length <= HTML_TEXT_BYTES) {
		json_text(out, text, length);
		return;
	}
	while (head > 1 && continues(text[head]))
		head--;
	while (tail > 1 && continues(text[length - tail]))
		tail--;
	memcpy(shortened, text, head);
	memcpy(shortened + head, "\xe2\x80\xa6", 3);
	memcpy(shortened + head + 3, text + length - tail, tail);
	json_text(out, shortened, head + 3 + tail);
}

static void write_literal(struct sink *out, const char *name, const char *text)
{
	sink_format(out, ",\"%s\":", name);
	if (text)
		html_text(out, text, strlen(text));
	else
		sink_text(out, "null");
}

/* --- cells --- */

static void write_within(struct sink *out, const struct table *table);

static void write_texts(struct sink *out, const struct cell *cell)
{
	sink_char(out, '[');
	for (uint32_t i = 0; i < cell->length && i < NESTED_MAX; i++) {
		if (i)
			sink_char(out, ',');
		html_text(out, cell->texts[i].text, cell->texts[i].length);
	}
	sink_char(out, ']');
}

static void write_value(struct sink *out, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		sink_text(out, "null");
		return;
	case CELL_UINT:
		sink_uint(out, cell->uint);
		return;
	case CELL_INT:
		sink_int(out, cell->sint);
		return;
	case CELL_REAL:
		if (isfinite(cell->real))
			sink_format(out, "%.6g", cell->real);
		else
			sink_text(out, "null");
		return;
	case CELL_BOOL:
		sink_text(out, cell->flag ? "true" : "false");
		return;
	case CELL_TEXT:
		html_text(out, cell->text, cell->length);
		return;
	case CELL_TEXTS:
		write_texts(out, cell);
		return;
	case CELL_TABLE:
		write_within(out, cell->table);
		return;
	}
}

static void write_cell(struct sink *out, const struct cell *cell)
{
	if (cell->at_least)
		sink_text(out, "{\"least\":");
	write_value(out, cell);
	if (cell->at_least)
		sink_char(out, '}');
}

static void write_row(struct sink *out, const struct table *table, size_t row)
{
	const struct cell *cells = table_row(table, row);

	sink_char(out, '[');
	for (size_t i = 0; i < table->column_count; i++) {
		if (i)
			sink_char(out, ',');
		write_cell(out, &cells[i]);
	}
	sink_char(out, ']');
}

static void write_within(struct sink *out, const struct table *table)
{
	sink_text(out, "{\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		if (i)
			sink_char(out, ',');
		html_text(out, table->columns[i].name, strlen(table->columns[i].name));
	}
	sink_text(out, "],\"units\":[");
	for (size_t i = 0; i < table->column_count; i++)
		sink_format(out, i ? ",\"%s\"" : "\"%s\"", units[table->columns[i].unit]);
	sink_text(out, "],\"rows\":[");
	for (size_t i = 0; i < table->row_count && i < NESTED_MAX; i++) {
		if (i)
			sink_char(out, ',');
		write_row(out, table, i);
	}
	sink_text(out, "]}");
}

/* --- tables --- */

static void write_sums(struct sink *out, unsigned int stretch)
{
	const char *before = ",\"sums\":[";

	if (stretch & STRETCH_UNMARKED) {
		sink_format(out, "%s\"%s\",\"-%s\"", before, html_members[PICTURE_COUNT],
			    html_members[PICTURE_MARKED]);
		before = ",";
	}
	for (int i = 0; i < PICTURE_MEMBERS; i++)
		if (stretch >> i & 1) {
			sink_format(out, "%s\"%s\"", before, html_members[i]);
			before = ",";
		}
	sink_char(out, ']');
}

static void write_columns(struct sink *out, const struct table *table)
{
	sink_text(out, ",\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		sink_text(out, i ? ",{\"name\":" : "{\"name\":");
		html_text(out, column->name, strlen(column->name));
		write_literal(out, "title", column->title);
		write_literal(out, "unit", units[column->unit]);
		write_literal(out, "kind", table_kinds[column->kind].name);
		write_literal(out, "meaning", column->meaning);
		if (column->stretch)
			write_sums(out, column->stretch);
		sink_char(out, '}');
	}
	sink_text(out, "],\"shown\":[");
	for (size_t i = 0; i < table->view.shown_count; i++)
		sink_format(out, i ? ",%zu" : "%zu", table->view.shown[i]);
	sink_char(out, ']');
	if (table->view.by != TABLE_NO_COLUMN && table->view.shown_count)
		sink_format(out, ",\"by\":%zu", table->view.by);
	if (table->view.only != TABLE_NO_COLUMN && table->view.shown_count)
		sink_format(out, ",\"only\":%zu", table->view.only);
}

/* Writes the first rows in display order, as many as `room` holds. */
static void write_rows(struct sink *out, const struct table *table, size_t room)
{
	size_t *order = table_order(table);
	struct sink row;

	if (!order)
		out->error = -ENOMEM;
	sink_text(out, ",\"rows\":[");
	for (size_t i = 0; order && i < table->row_count && i < HTML_ROWS_MAX; i++) {
		sink_open_memory(&row);
		write_row(&row, table, order[i]);
		if (row.error)
			out->error = out->error ? out->error : row.error;
		if (row.error || row.used + 1 > room) {
			sink_close(&row);
			break;
		}
		room -= row.used + 1;
		if (i)
			sink_char(out, ',');
		sink_bytes(out, row.buffer, row.used);
		sink_close(&row);
	}
	sink_text(out, "]");
	free(order);
}

static void write_table(struct sink *out, const struct table *table, size_t room)
{
	sink_text(out, "\n{\"name\":");
	html_text(out, table->name, strlen(table->name));
	write_literal(out, "title", table->title);
	write_literal(out, "meaning", table->meaning);
	write_literal(out, "note", table->note);
	write_literal(out, "shape", table->shape == TABLE_RECORD ? "record" : "list");
	if (table->absent)
		sink_text(out, ",\"absent\":true");
	sink_format(out, ",\"of\":%zu", table->row_count);
	write_columns(out, table);
	write_rows(out, table, room);
	sink_char(out, '}');
}

void html_tables(struct sink *out, const struct table *const *tables, size_t count)
{
	size_t left = HTML_TABLES_BYTES, written = 0;

	sink_char(out, '[');
	for (size_t i = 0; i < count && !out->error; i++) {
		struct sink table;

		if (!strcmp(tables[i]->name, "timeline")) /* pictures have it in finer steps */
			continue;
		sink_open_memory(&table);
		write_table(&table, tables[i], left < HTML_TABLE_BYTES ? left : HTML_TABLE_BYTES);
		if (table.error)
			out->error = table.error;
		if (written++)
			sink_char(out, ',');
		sink_bytes(out, table.buffer, table.used);
		left -= table.used < left ? table.used : left;
		sink_close(&table);
	}
	sink_char(out, ']');
}
