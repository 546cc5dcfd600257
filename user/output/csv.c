/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as comma-separated values. Knows nothing of what a column means.
 */
#include "output/csv.h"

#include <math.h>

#include "output/escape.h"

/* What would end the value, and spaces that a reader would drop. */
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

static void write_texts(struct sink *out, const struct cell *cell)
{
	struct sink joined;

	sink_open_memory(&joined);
	for (uint32_t i = 0; i < cell->length; i++) {
		if (i)
			sink_char(&joined, ' ');
		sink_bytes(&joined, cell->texts[i].text, cell->texts[i].length);
	}
	csv_text(out, joined.buffer, joined.used);
	if (joined.error)
		out->error = out->error ? out->error : joined.error;
	sink_close(&joined);
}

void csv_cell(struct sink *out, const struct cell *cell)
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
		csv_text(out, cell->text, cell->length);
		break;
	case CELL_TEXTS:
		write_texts(out, cell);
		break;
	case CELL_TABLE: /* has no place in a line */
		sink_uint(out, cell->table->row_count);
		break;
	}
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
			csv_cell(out, &table->cells[row * table->column_count + i]);
		}
		sink_text(out, "\r\n");
	}
}
