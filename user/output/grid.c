/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The layout of a list. Knows nothing of what a column means.
 */
#include "output/grid.h"

#include <errno.h>
#include <stdlib.h>

#include "output/cells.h"
#include "output/escape.h"

#define GAP 2 /* between columns */

struct grid_column {
	size_t index; /* in the table */
	const char *title;
	size_t width;
	size_t content; /* width of the widest cell */
	bool text;	/* to the left, may be shortened */
	bool empty;	/* all cells of these rows are */
};

struct grid {
	const struct table *table;
	size_t width, rows;
	struct grid_column *columns;
	size_t count;
	bool rows_left_out;
	struct sink left_out; /* names of columns */
	struct sink scratch;  /* the cell being printed */
	struct sink *out;
};

/* --- headings of several lines
 * -------------------------------------------------------------------- */

/* The next line of a title, of at most `width` columns if its words allow. Moves *title behind it.
 */
static struct cell next_line(const char **title, size_t width)
{
	const char *start = *title, *end = start;

	for (const char *at = start; *at;) {
		at += *at == ' ';
		at += strcspn(at, " ");
		if (end > start && escape_columns(start, at - start) > width)
			break;
		end = at;
	}
	*title = end + (*end == ' ');
	return (struct cell) { .type = CELL_TEXT, .text = start, .length = end - start };
}

static size_t count_lines(const char *title, size_t width)
{
	size_t lines = 0;

	do {
		next_line(&title, width);
		lines++;
	} while (*title);
	return lines;
}

static size_t longest_word(const char *title)
{
	size_t longest = 0;

	while (*title) {
		struct cell word = next_line(&title, 0);
		size_t width = escape_columns(word.text, word.length);

		longest = width > longest ? width : longest;
	}
	return longest;
}

/* --- widths
 * --------------------------------------------------------------------------------------- */

static const struct cell *cell_at(const struct grid *grid, size_t row, size_t column)
{
	return &grid->table->cells[row * grid->table->column_count + column];
}

static void measure(struct grid *grid, struct grid_column *column)
{
	enum table_unit unit = grid->table->columns[column->index].unit;

	column->empty = true;
	for (size_t row = 0; row < grid->rows; row++) {
		const struct cell *cell = cell_at(grid, row, column->index);
		struct cell text = cell_as_text(&grid->scratch, cell, unit);
		size_t width = escape_columns(text.text, text.length);

		column->text |= cell_is_text(cell);
		column->empty &= cell_is_empty(cell);
		column->content = width > column->content ? width : column->content;
	}
}

static void set_widths(struct grid *grid, bool wrap)
{
	for (size_t i = 0; i < grid->count; i++) {
		struct grid_column *column = &grid->columns[i];
		size_t title = wrap ? longest_word(column->title)
				    : escape_columns(column->title, strlen(column->title));

		column->width = title > column->content ? title : column->content;
	}
}

static size_t total_width(const struct grid_column *columns, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += columns[i].width + (i ? GAP : 0);
	return total;
}

/* What is done to a table to make it fit. */
struct step {
	bool wrap, leave_out;
	size_t first_least, others_least; /* columns that texts may be shortened to */
};

/* From the least to the most. After the last one the table comes in parts. */
static const struct step steps[] = {
	{ false, false, 44, 40 },
	{ true, false, 40, 24 },
	{ true, true, 36, 14 },
};
#define STEP_COUNT (sizeof(steps) / sizeof(steps[0]))
#define LAST_STEP (&steps[STEP_COUNT - 1])

/* Takes width from the widest text until the columns fit or no text can give more. */
static bool shrink(struct grid_column *columns, size_t count, size_t width, const struct step *step)
{
	while (total_width(columns, count) > width) {
		struct grid_column *widest = NULL;

		for (size_t i = 0; i < count; i++) {
			size_t least = i == 0 ? step->first_least : step->others_least;

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

/* Columns that hold nothing make room first. */
static void leave_out_empty(struct grid *grid)
{
	size_t kept = 0;

	for (size_t i = 0; i < grid->count; i++) {
		const struct grid_column *column = &grid->columns[i];

		if (i == 0 || !column->empty) {
			grid->columns[kept++] = *column;
			continue;
		}
		if (grid->left_out.used)
			sink_text(&grid->left_out, ", ");
		sink_text(&grid->left_out, column->title);
	}
	grid->count = kept;
}

/* --- lines
 * ---------------------------------------------------------------------------------------- */

static void write_cell(struct sink *out, const struct grid_column *column, struct cell text,
		       bool last)
{
	size_t width = escape_columns(text.text, text.length);
	struct sink shortened;

	sink_open_memory(&shortened);
	if (width > column->width && column->text) {
		escape_shortened(&shortened, text.text, text.length, column->width);
		/* A character of two columns may leave one column over. */
		width = escape_columns(shortened.buffer, shortened.used);
	}
	if (!column->text && width < column->width)
		sink_repeat(out, ' ', column->width - width);
	if (shortened.used)
		sink_bytes(out, shortened.buffer, shortened.used);
	else
		escape_text(out, text.text, text.length);
	if (column->text && !last && width < column->width)
		sink_repeat(out, ' ', column->width - width);
	sink_close(&shortened);
}

/* One line of a title of several; titles end on the same line. Empty above a shorter one. */
static struct cell title_line(const struct grid_column *column, size_t line, size_t lines)
{
	const char *title = column->title;
	size_t first = lines - count_lines(title, column->width);
	struct cell text = { .type = CELL_TEXT, .text = "", .length = 0 };

	for (size_t i = first; i <= line; i++)
		text = next_line(&title, column->width);
	return text;
}

static void write_headings(struct grid *grid, const struct grid_column *columns, size_t count)
{
	size_t lines = 1;

	for (size_t i = 0; i < count; i++) {
		size_t needed = count_lines(columns[i].title, columns[i].width);

		lines = needed > lines ? needed : lines;
	}
	for (size_t line = 0; line < lines; line++) {
		size_t last = count;

		while (last && !title_line(&columns[last - 1], line, lines).length)
			last--;
		for (size_t i = 0; i < last; i++) {
			sink_repeat(grid->out, ' ', i ? GAP : 0);
			write_cell(grid->out, &columns[i], title_line(&columns[i], line, lines),
				   i + 1 == last);
		}
		sink_char(grid->out, '\n');
	}
}

static bool is_empty_row(const struct grid *grid, const struct grid_column *columns, size_t count,
			 size_t row)
{
	for (size_t i = 1; i < count; i++)
		if (!cell_is_empty(cell_at(grid, row, columns[i].index)))
			return false;
	return true;
}

/* In parts after the first one, rows that would say nothing are left out. */
static void write_part(struct grid *grid, const struct grid_column *columns, size_t count,
		       bool first)
{
	write_headings(grid, columns, count);
	for (size_t row = 0; row < grid->rows; row++) {
		if (!first && is_empty_row(grid, columns, count, row)) {
			grid->rows_left_out = true;
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			size_t index = columns[i].index;
			struct cell text = cell_as_text(&grid->scratch, cell_at(grid, row, index),
							grid->table->columns[index].unit);

			sink_repeat(grid->out, ' ', i ? GAP : 0);
			write_cell(grid->out, &columns[i], text, i + 1 == count);
		}
		sink_char(grid->out, '\n');
	}
}

/* --- a table in parts, each with the first column and some of the others
 * --------------------------- */

static size_t first_least(const struct grid *grid)
{
	size_t width = grid->columns[0].width;

	return grid->columns[0].text && width > LAST_STEP->first_least ? LAST_STEP->first_least
								       : width;
}

/* A part of at most `width` that begins with column `next` takes the columns before this one: at
 * least one. *first receives the width that they leave to the first column. */
static size_t part_end(const struct grid *grid, size_t next, size_t width, size_t *first)
{
	size_t others = 0;

	do
		others += GAP + grid->columns[next++].width;
	while (next < grid->count &&
	       first_least(grid) + others + GAP + grid->columns[next].width <= width);
	*first = grid->width > others ? grid->width - others : 0;
	return next;
}

static size_t count_parts(const struct grid *grid, size_t width)
{
	size_t parts = 0, first;

	for (size_t next = 1; next < grid->count; parts++)
		next = part_end(grid, next, width, &first);
	return parts;
}

/* No more parts than needed, all of about the same width, with a first column of the same width. */
static void write_parts(struct grid *grid)
{
	struct grid_column *part = grid->columns + grid->count;
	size_t parts = count_parts(grid, grid->width), width = grid->width;
	size_t first, least = first_least(grid);

	while (width > least && count_parts(grid, width - 1) == parts)
		width--;
	part[0] = grid->columns[0];
	for (size_t next = 1; next < grid->count;) {
		next = part_end(grid, next, width, &first);
		first = first > least ? first : least;
		part[0].width = first < part[0].width ? first : part[0].width;
	}
	for (size_t next = 1; next < grid->count;) {
		size_t start = next, count = part_end(grid, next, width, &first) - start;

		memcpy(&part[1], &grid->columns[start], count * sizeof(*part));
		if (start > 1)
			sink_char(grid->out, '\n');
		write_part(grid, part, 1 + count, start == 1);
		next += count;
	}
}

static void write_columns(struct grid *grid)
{
	for (size_t i = 0; i < STEP_COUNT; i++) {
		if (steps[i].leave_out)
			leave_out_empty(grid);
		set_widths(grid, steps[i].wrap);
		if (shrink(grid->columns, grid->count, grid->width, &steps[i]) || grid->count < 2) {
			write_part(grid, grid->columns, grid->count, true);
			return;
		}
	}
	set_widths(grid, LAST_STEP->wrap);
	write_parts(grid);
}

static void write_remarks(struct grid *grid)
{
	struct sink remark;

	sink_open_memory(&remark);
	if (grid->left_out.used) {
		sink_format(&remark, "(columns left out, with nothing but 0, no or -: %.*s)",
			    (int)grid->left_out.used, grid->left_out.buffer);
		sink_bytes(&remark, "", 1);
		if (!remark.error)
			grid_wrapped(grid->out, remark.buffer, grid->width);
	}
	if (grid->rows_left_out)
		grid_wrapped(grid->out,
			     "(rows of later parts left out, with nothing but 0, no or -)",
			     grid->width);
	sink_close(&remark);
}

void grid_write(struct sink *out, const struct table *table, size_t rows, size_t width)
{
	struct grid grid = { .table = table, .rows = rows, .width = width, .out = out };

	/* Twice as many: the second half is where a part of a wide table is put together. */
	grid.columns = calloc(2 * table->column_count + 1, sizeof(*grid.columns));
	if (!grid.columns) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	sink_open_memory(&grid.scratch);
	sink_open_memory(&grid.left_out);
	for (size_t i = 0; i < table->column_count; i++) {
		struct grid_column *column = &grid.columns[grid.count];

		if (!table->columns[i].title)
			continue;
		*column = (struct grid_column) { .index = i, .title = table->columns[i].title };
		measure(&grid, column);
		grid.count++;
	}
	if (grid.count)
		write_columns(&grid);
	write_remarks(&grid);
	if (!out->error)
		out->error = grid.scratch.error ? grid.scratch.error : grid.left_out.error;
	sink_close(&grid.scratch);
	sink_close(&grid.left_out);
	free(grid.columns);
}

void grid_wrapped(struct sink *out, const char *text, size_t width)
{
	do {
		struct cell line = next_line(&text, width);

		escape_text(out, line.text, line.length);
		sink_char(out, '\n');
	} while (*text);
}
