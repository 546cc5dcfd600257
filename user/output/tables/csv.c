/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes tables as comma-separated values. */
#include "output/tables/csv.h"

#include <math.h>

#include "output/base/escape.h"

/* Characters that would end the value, and spaces that a reader would drop. */
static bool needs_quotes(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (memchr(",\"\r\n", text[i], 4))
			return true;
	return length && (text[0] == ' ' || text[length - 1] == ' ');
}

static bool is_plain(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] > ' ' && text[i] < 0x7f && text[i] != ',' && text[i] != '"')
		i++;
	return i == length;
}

void csv_text(struct sink *out, const char *text, size_t length)
{
	struct sink clean;

	if (is_plain(text, length)) {
		sink_bytes(out, text, length);
		return;
	}
	sink_open_memory(&clean);
	if (out->to_terminal)
		escape_text(&clean, text, length);
	else
		escape_to_utf8(&clean, text, length);
	if (!needs_quotes(clean.buffer, clean.used)) {
		sink_bytes(out, clean.buffer, clean.used);
	} else {
		sink_char(out, '"');
		for (size_t i = 0; i < clean.used; i++) {
			if (clean.buffer[i] == '"')
				sink_char(out, '"');
			sink_char(out, clean.buffer[i]);
		}
		sink_char(out, '"');
	}
	if (clean.error)
		out->error = out->error ? out->error : clean.error;
	sink_close(&clean);
}

static void join_texts(struct sink *out, const struct cell *cell)
{
	for (uint32_t i = 0; i < cell->length; i++) {
		if (i)
			sink_char(out, ' ');
		sink_bytes(out, cell->texts[i].text, cell->texts[i].length);
	}
}

static void write_value(struct sink *out, const struct cell *cell);

/* "name=value; name=value", rows separated by " | ". */
static void join_table(struct sink *out, const struct table *table)
{
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		if (i)
			sink_text(out, i % table->column_count ? "; " : " | ");
		sink_format(out, "%s=", table->columns[i % table->column_count].name);
		write_value(out, &table->cells[i]);
	}
}

/* Writes a single value, not yet quoted. */
static void write_value(struct sink *out, const struct cell *cell)
{
	if (cell->summed)
		return;
	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_UINT:
		sink_uint(out, cell->uint);
		break;
	case CELL_INT:
		sink_int(out, cell->sint);
		break;
	case CELL_REAL:
		if (isfinite(cell->real))
			sink_format(out, "%.17g", cell->real);
		break;
	case CELL_BOOL:
		sink_text(out, cell->flag ? "true" : "false");
		break;
	case CELL_TEXT:
		sink_bytes(out, cell->text, cell->length);
		break;
	case CELL_TEXTS:
		join_texts(out, cell);
		break;
	case CELL_TABLE:
		join_table(out, cell->table);
		break;
	}
}

void csv_cell(struct sink *out, const struct cell *cell)
{
	struct sink value;

	if (cell->type == CELL_TEXT && !cell->summed) {
		csv_text(out, cell->text, cell->length);
		return;
	}
	if (cell->type != CELL_TEXTS && cell->type != CELL_TABLE) {
		write_value(out, cell);
		return;
	}
	sink_open_memory(&value);
	write_value(&value, cell);
	csv_text(out, value.buffer, value.used);
	if (value.error)
		out->error = out->error ? out->error : value.error;
	sink_close(&value);
}

void csv_table(struct sink *out, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (i)
			sink_char(out, ',');
		csv_text(out, table->columns[i].name, strlen(table->columns[i].name));
	}
	sink_text(out, "\r\n");
	for (size_t row = 0; row < table->row_count && !out->error; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			if (i)
				sink_char(out, ',');
			csv_cell(out, &table_row(table, row)[i]);
		}
		sink_text(out, "\r\n");
	}
}
