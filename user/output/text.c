/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as text. Knows nothing of what a column means.
 */
#include "output/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/classes.h"
#include "output/escape.h"
#include "output/pick.h"
#include "output/summary.h"
#include "output/units.h"

#define GAP 2		/* between columns */
#define FIRST_LEAST 28	/* columns that the first text of a row may be shortened to ... */
#define OTHERS_LEAST 14 /* ... and the others */
#define WIDTH_LEAST 40
#define WIDTH_MOST 500

struct column_layout {
	size_t index; /* in the table */
	size_t width;
	bool text;  /* to the left, may be shortened */
	bool empty; /* nothing but 0 and NULL in the whole table */
};

struct layout {
	const struct table *table;
	size_t width, rows;
	struct column_layout *columns;
	size_t count;
	struct sink scratch; /* of the cell being printed */
};

size_t text_width(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	size_t width = TEXT_WIDTH_DEFAULT;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		width = atoi(columns);
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

static void format_uint(struct sink *out, uint64_t value, enum table_unit unit)
{
	char text[UNITS_TEXT];

	switch (unit) {
	case UNIT_BYTES:
		sink_text(out, value ? units_bytes(text, value) : "0");
		break;
	case UNIT_NS:
		sink_text(out, value ? units_ns(text, value) : "0");
		break;
	case UNIT_COUNT:
		sink_text(out, units_count(text, value));
		break;
	default:
		sink_uint(out, value);
	}
}

/* The cell as text, not escaped yet; valid until the next call. */
static struct cell cell_as_text(struct sink *out, const struct cell *cell, enum table_unit unit)
{
	char text[UNITS_TEXT];

	out->used = 0;
	switch (cell->type) {
	case CELL_TEXT:
		return *cell;
	case CELL_TEXTS:
		for (uint32_t i = 0; i < cell->length; i++) {
			if (i)
				sink_char(out, ' ');
			sink_bytes(out, cell->texts[i].text, cell->texts[i].length);
		}
		break;
	case CELL_NULL:
		sink_char(out, '-');
		break;
	case CELL_UINT:
		format_uint(out, cell->uint, unit);
		break;
	case CELL_INT:
		if (cell->sint < 0)
			sink_char(out, '-');
		format_uint(out, cell->sint < 0 ? -(uint64_t)cell->sint : (uint64_t)cell->sint,
			    unit);
		break;
	case CELL_REAL:
		if (unit == UNIT_SHARE)
			sink_text(out, units_share(text, cell->real));
		else
			sink_format(out, "%.3g", cell->real);
		break;
	case CELL_BOOL:
		sink_text(out, cell->flag ? "yes" : "no");
		break;
	}
	return (struct cell) { .type = CELL_TEXT, .length = out->used, .text = out->buffer };
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->column_count + column];
}

static bool is_empty_cell(const struct cell *cell)
{
	return cell->type == CELL_NULL || (cell->type == CELL_UINT && cell->uint == 0) ||
	       (cell->type == CELL_INT && cell->sint == 0) ||
	       (cell->type == CELL_REAL && cell->real == 0);
}

static void measure(struct layout *layout, struct column_layout *column)
{
	const struct table *table = layout->table;
	const struct table_column *about = &table->columns[column->index];

	column->width = escape_columns(about->title, strlen(about->title));
	column->empty = true;
	for (size_t row = 0; row < table->row_count; row++) {
		const struct cell *cell = cell_at(table, row, column->index);

		column->text |= cell->type == CELL_TEXT || cell->type == CELL_TEXTS;
		column->empty &= is_empty_cell(cell);
		if (row < layout->rows) {
			struct cell text = cell_as_text(&layout->scratch, cell, about->unit);
			size_t width = escape_columns(text.text, text.length);

			column->width = width > column->width ? width : column->width;
		}
	}
}

static size_t total_width(const struct column_layout *columns, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += columns[i].width + (i ? GAP : 0);
	return total;
}

/* Takes width from the widest text until the columns fit or no text can give more. */
static bool shrink(struct column_layout *columns, size_t count, size_t width)
{
	while (total_width(columns, count) > width) {
		struct column_layout *widest = NULL;

		for (size_t i = 0; i < count; i++) {
			size_t least = i == 0 ? FIRST_LEAST : OTHERS_LEAST;

			if (columns[i].text && columns[i].width > least &&
			    (!widest || columns[i].width > widest->width))
				widest = &columns[i];
		}
		if (!widest)
			return false;
		widest->width--;
	}
	return true;
}

static void write_cell(struct layout *layout, const struct column_layout *column, struct cell text,
		       struct sink *out, bool last)
{
	size_t width = escape_columns(text.text, text.length);
	size_t pad;

	if (width <= column->width) {
		pad = column->width - width;
		if (!column->text)
			sink_repeat(out, ' ', pad);
		escape_text(out, text.text, text.length);
	} else {
		struct sink shortened;

		/* A character of two columns may leave one column over. */
		sink_open_memory(&shortened);
		escape_shortened(&shortened, text.text, text.length, column->width);
		width = escape_columns(shortened.buffer, shortened.used);
		pad = column->width > width ? column->width - width : 0;
		sink_bytes(out, shortened.buffer, shortened.used);
		sink_close(&shortened);
	}
	if (column->text && !last)
		sink_repeat(out, ' ', pad);
}

static void write_piece(struct layout *layout, const struct column_layout *columns, size_t count,
			struct sink *out)
{
	const struct table *table = layout->table;

	for (size_t line = 0; line <= layout->rows; line++) {
		for (size_t i = 0; i < count; i++) {
			const struct table_column *about = &table->columns[columns[i].index];
			struct cell text = { .type = CELL_TEXT,
					     .text = about->title,
					     .length = strlen(about->title) };

			if (line)
				text = cell_as_text(&layout->scratch,
						    cell_at(table, line - 1, columns[i].index),
						    about->unit);
			sink_repeat(out, ' ', i ? GAP : 0);
			write_cell(layout, &columns[i], text, out, i + 1 == count);
		}
		sink_char(out, '\n');
	}
}

/* Columns that hold nothing make room first. Their names go to `note`. */
static void drop_empty(struct layout *layout, struct sink *note)
{
	size_t kept = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const struct column_layout *column = &layout->columns[i];
		const char *title = layout->table->columns[column->index].title;

		if (column->empty && !column->text && i) {
			sink_text(note, note->used ? ", " : "");
			escape_text(note, title, strlen(title));
		} else {
			layout->columns[kept++] = *column;
		}
	}
	layout->count = kept;
}

/* Piece after piece: the first column, then as many of the others as fit, at least one. */
static void write_pieces(struct layout *layout, struct sink *out)
{
	struct column_layout *piece = layout->columns + layout->count;

	for (size_t next = 1; next < layout->count;) {
		size_t count = 1;

		if (next > 1)
			sink_char(out, '\n');
		piece[0] = layout->columns[0];
		if (piece[0].text && piece[0].width > FIRST_LEAST)
			piece[0].width = FIRST_LEAST;
		do
			piece[count++] = layout->columns[next++];
		while (next < layout->count &&
		       total_width(piece, count) + GAP + layout->columns[next].width <=
			       layout->width);
		piece[0].width = layout->columns[0].width;
		shrink(piece, count, layout->width);
		write_piece(layout, piece, count, out);
	}
}

static void write_list(struct layout *layout, struct sink *out)
{
	struct sink note;

	sink_open_memory(&note);
	if (!shrink(layout->columns, layout->count, layout->width)) {
		drop_empty(layout, &note);
		for (size_t i = 0; i < layout->count; i++)
			measure(layout, &layout->columns[i]);
	}
	if (shrink(layout->columns, layout->count, layout->width) || layout->count < 2)
		write_piece(layout, layout->columns, layout->count, out);
	else
		write_pieces(layout, out);
	if (note.used)
		sink_format(out, "(nothing but 0 or - in: %.*s)\n", (int)note.used, note.buffer);
	if (note.error)
		out->error = out->error ? out->error : note.error;
	sink_close(&note);
}

static void write_record(struct layout *layout, struct sink *out)
{
	const struct table *table = layout->table;
	struct column_layout title = { .text = true }, value = { .text = true };

	for (size_t i = 0; i < layout->count; i++) {
		const char *text = table->columns[layout->columns[i].index].title;
		size_t width = escape_columns(text, strlen(text));

		title.width = width > title.width ? width : title.width;
	}
	value.width = layout->width > title.width + GAP + OTHERS_LEAST
			      ? layout->width - title.width - GAP
			      : OTHERS_LEAST;
	for (size_t i = 0; i < layout->count && table->row_count; i++) {
		const struct table_column *about = &table->columns[layout->columns[i].index];
		struct cell text = { .text = about->title, .length = strlen(about->title) };

		write_cell(layout, &title, text, out, false);
		sink_repeat(out, ' ', GAP);
		text = cell_as_text(&layout->scratch, cell_at(table, 0, layout->columns[i].index),
				    about->unit);
		write_cell(layout, &value, text, out, true);
		sink_char(out, '\n');
	}
}

static void write_line(struct sink *out, const char *text)
{
	escape_text(out, text, strlen(text));
	sink_char(out, '\n');
}

void text_table(struct sink *out, const struct table *table, const struct text_options *options)
{
	struct layout layout = { .table = table, .width = options->width };
	char text[UNITS_TEXT];

	if (!options->bare && table->title)
		write_line(out, table->title);
	if (table->absent || (table->row_count == 0 && table->shape == TABLE_LIST)) {
		write_line(out, table->note	? table->note
				: table->absent ? "not recorded"
						: "none");
		return;
	}
	sink_open_memory(&layout.scratch);
	layout.rows =
		options->top && options->top < table->row_count ? options->top : table->row_count;
	/* Twice as many: the second half is where a piece of a wide table is put together. */
	layout.columns = calloc(2 * table->column_count + 1, sizeof(*layout.columns));
	if (!layout.columns) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].title)
			layout.columns[layout.count++].index = i;
	for (size_t i = 0; i < layout.count; i++)
		measure(&layout, &layout.columns[i]);
	if (table->shape == TABLE_RECORD)
		write_record(&layout, out);
	else if (layout.count)
		write_list(&layout, out);
	if (!options->bare && layout.rows < table->row_count)
		sink_format(out, "… and %s more (--top 0 shows all)\n",
			    units_count(text, table->row_count - layout.rows));
	if (!options->bare && table->note)
		write_line(out, table->note);
	if (layout.scratch.error)
		out->error = out->error ? out->error : layout.scratch.error;
	sink_close(&layout.scratch);
	free(layout.columns);
}

/* What "trace" says stands on the first screen; "totals" is laid out in rows. */
static int write_section(struct sink *out, const struct table *const *tables, size_t count,
			 size_t number, const struct text_options *options)
{
	const struct table *table = tables[number];
	struct table *classes = NULL;
	int status = 0;

	if (!table->title || !strcmp(table->name, "trace"))
		return 0;
	if (!strcmp(table->name, "totals")) {
		status = classes_make(&classes, pick_table(tables, count, "trace"), table, false);
		table = classes;
	}
	if (!status) {
		sink_char(out, '\n');
		text_table(out, table, options);
	}
	table_free(classes);
	return status;
}

int text_report(struct sink *out, const struct table *const *tables, size_t count,
		const struct text_options *options)
{
	int status = summary_write(out, tables, count, options->width);

	for (size_t i = 0; i < count && !status && !out->error; i++)
		status = write_section(out, tables, count, i, options);
	return status ? status : out->error;
}
