/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lays out a list within the width of a terminal. */
#include "output/text/grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/merging.h"
#include "output/base/cells.h"
#include "output/base/escape.h"
#include "output/text/wrap.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/units.h"

#define GAP 2 /* between columns */
#define TITLE_LINES_MAX 3
#define EXCLUDED_NAMED_MAX 4  /* rows without a sort key that are named */
#define PATH_MIN 28	      /* minimum columns for a path */
#define TEXT_MIN 26	      /* ... and for another text */
#define SHARE TABLE_NO_COLUMN /* a column of the grid only */

struct grid_column {
	size_t index; /* in the table, or SHARE */
	const char *title;
	size_t width, content; /* `content` is the width of the widest cell */
	bool text, path;
	bool empty; /* all cells are empty */
};

struct grid {
	const struct table *table;
	const struct grid_options *options;
	size_t *rows; /* of the table, in print order */
	size_t row_count, shown;
	size_t excluded[EXCLUDED_NAMED_MAX]; /* the first rows without a sort key */
	size_t excluded_count;
	double sum; /* of the sort column */
	struct grid_column columns[TABLE_SHOWN_MAX + 2];
	size_t count;
	struct cell
		*other; /* the row of all that are not shown, one cell per column of the table */
	char other_name[64];
	struct sink scratch; /* the cell being printed */
	struct sink *out;
};

/* --- rows --- */

static const struct cell *cell_at(const struct grid *grid, size_t row, size_t column)
{
	return &table_row(grid->table, row)[column];
}

static double number_of(const struct cell *cell)
{
	return cell->type == CELL_UINT ? cell->uint : cell->type == CELL_REAL ? cell->real : 0;
}

static double key_of(const struct grid *grid, size_t row)
{
	size_t by = grid->table->view.by;

	return by == TABLE_NO_COLUMN ? 0 : number_of(cell_at(grid, row, by));
}

static bool is_chosen(const struct grid *grid, size_t row)
{
	size_t only = grid->table->view.only;
	const struct cell *cell;

	if (only == TABLE_NO_COLUMN || grid->options->whole)
		return true;
	cell = cell_at(grid, row, only);
	return cell->type == CELL_BOOL && cell->flag;
}

static void exclude_rows(struct grid *grid)
{
	const struct grid_options *options = grid->options;
	size_t by = grid->table->view.by, kept = 0;

	if (options->whole || options->steady || !options->top || !(grid->sum > 0) ||
	    (options->top_said && options->top >= grid->row_count))
		return;
	for (size_t i = 0; i < grid->row_count; i++) {
		size_t row = grid->rows[i];

		if (cell_at(grid, row, by)->type != CELL_NULL || table_is_rest(grid->table, row))
			grid->rows[kept++] = row;
		else if (grid->excluded_count++ < EXCLUDED_NAMED_MAX)
			grid->excluded[grid->excluded_count - 1] = row;
	}
	grid->row_count = kept;
}

static int sort_rows(struct grid *grid)
{
	grid->rows = table_order(grid->table);
	if (!grid->rows)
		return -ENOMEM;
	for (size_t i = 0; i < grid->table->row_count; i++) {
		size_t row = grid->rows[i];

		if (!is_chosen(grid, row))
			continue;
		grid->rows[grid->row_count++] = row;
		grid->sum += key_of(grid, row);
	}
	exclude_rows(grid);
	return 0;
}

/* Decides how many rows get a line. A single remaining row is not replaced by "other", unless it is
 * the table's own rest. */
static void cut_rows(struct grid *grid)
{
	uint64_t top = grid->options->top;
	bool rest = grid->row_count && table_is_rest(grid->table, grid->rows[grid->row_count - 1]);

	grid->shown = grid->row_count;
	if (grid->options->whole && !top)
		return;
	grid->shown -= rest;
	if (top && top < grid->shown)
		grid->shown = top;
	while (grid->sum > 0 && grid->shown > 1 && !grid->options->whole && top &&
	       !grid->options->top_said && !grid->options->steady &&
	       key_of(grid, grid->rows[grid->shown - 1]) < GRID_SHARE_MIN * grid->sum)
		grid->shown--;
	if (grid->shown + 1 == grid->row_count && !rest)
		grid->shown = grid->row_count;
}

/* Adds up counts, bytes and the sort column. What the table does not know of its own rest is
 * unknown for all. */
static void add_to_other(struct grid *grid, size_t row)
{
	for (size_t i = 0; i < grid->table->column_count; i++) {
		const struct cell *cell = cell_at(grid, row, i);
		enum table_unit unit = grid->table->columns[i].unit;
		bool at_least = cell->at_least || grid->other[i].at_least;

		if (cell->type == CELL_NULL && table_is_rest(grid->table, row))
			grid->other[i] = *cell;
		if (cell->type != CELL_UINT ||
		    (unit != UNIT_COUNT && unit != UNIT_BYTES && i != grid->table->view.by))
			continue;
		cell_uint(&grid->other[i],
			  cell->uint +
				  (grid->other[i].type == CELL_UINT ? grid->other[i].uint : 0));
		grid->other[i].at_least = at_least;
	}
}

static int make_other(struct grid *grid)
{
	uint64_t others = grid->row_count - grid->shown;
	char count[UNITS_TEXT];
	int length;

	if (grid->shown == grid->row_count)
		return 0;
	grid->other = calloc(grid->table->column_count, sizeof(*grid->other));
	if (!grid->other)
		return -ENOMEM;
	for (size_t i = grid->shown; i < grid->row_count; i++)
		add_to_other(grid, grid->rows[i]);
	if (table_is_rest(grid->table, grid->rows[grid->row_count - 1]))
		others += grid->table->folded - 1;
	length = snprintf(grid->other_name, sizeof(grid->other_name), "other (%s)",
			  units_count(count, others));
	for (size_t i = 0; i < grid->count; i++) {
		struct grid_column *column = &grid->columns[i];

		if (!column->text || column->index == SHARE)
			continue;
		grid->other[column->index] = (struct cell) { .type = CELL_TEXT,
							     .length = length,
							     .text = grid->other_name };
		break;
	}
	return 0;
}

/* --- columns --- */

/* Shares are of I/O if rows are sorted by a time and the table does not define its share. */
static bool is_of_io(const struct grid *grid)
{
	return grid->options->io_ns && !grid->table->view.share &&
	       grid->table->columns[grid->table->view.by].unit == UNIT_NS;
}

/* Returns the cell of a line, either of a row that is shown or of "other". */
static struct cell cell_of_line(const struct grid *grid, size_t line,
				const struct grid_column *column)
{
	struct cell share = { .type = CELL_NULL };
	size_t by = grid->table->view.by;
	const struct cell *from;

	if (column->index != SHARE)
		return line < grid->shown ? *cell_at(grid, grid->rows[line], column->index)
					  : grid->other[column->index];
	from = line < grid->shown ? cell_at(grid, grid->rows[line], by) : &grid->other[by];
	if (grid->sum > 0)
		cell_real(&share, number_of(from) / (is_of_io(grid) ? (double)grid->options->io_ns
								    : grid->sum));
	return share;
}

static enum table_unit unit_of(const struct grid *grid, const struct grid_column *column)
{
	return column->index == SHARE ? UNIT_SHARE : grid->table->columns[column->index].unit;
}

static size_t line_count(const struct grid *grid)
{
	return grid->shown + (grid->shown < grid->row_count);
}

static void measure(struct grid *grid, struct grid_column *column)
{
	enum table_unit unit = unit_of(grid, column);

	column->empty = true;
	column->content = 0;
	for (size_t line = 0; line < line_count(grid); line++) {
		struct cell cell = cell_of_line(grid, line, column);
		struct cell text = cell_as_text(&grid->scratch, &cell, unit);
		size_t width = escape_columns(text.text, text.length);

		column->empty &= cell_is_empty(&cell);
		column->content = number_max(width, column->content);
	}
}

static void add_column(struct grid *grid, size_t index)
{
	const struct table_column *column = index == SHARE ? NULL : &grid->table->columns[index];
	struct grid_column *to = &grid->columns[grid->count];

	*to = (struct grid_column) { .index = index };
	if (!column)
		to->title = is_of_io(grid)	      ? "of I/O"
			    : grid->table->view.share ? grid->table->view.share
						      : "share";
	if (column) {
		to->title = table_heading(column);
		to->path = column->unit == UNIT_PATH;
		for (size_t i = 0; i < grid->row_count && !to->text; i++)
			to->text = cell_is_text(cell_at(grid, grid->rows[i], index));
	}
	grid->count++;
}

/* Whether a table shows a share of its own after the column that rows are sorted by. */
static bool has_share(const struct table *table)
{
	const struct table_view *view = &table->view;

	for (size_t i = 0; i + 1 < view->shown_count; i++)
		if (view->shown[i] == view->by)
			return table->columns[view->shown[i + 1]].unit == UNIT_SHARE;
	return false;
}

static void choose_columns(struct grid *grid)
{
	const struct table *table = grid->table;
	size_t steady = grid->options->steady;
	size_t max = grid->options->whole ? TABLE_SHOWN_MAX : steady ? steady : GRID_COLUMNS_MAX;
	size_t wanted = table->view.shown_count ? table->view.shown_count : table->column_count;

	for (size_t i = 0; i < wanted && grid->count < max; i++) {
		size_t index = table->view.shown_count ? table->view.shown[i] : i;

		if (!table->view.shown_count && !table->columns[index].title)
			continue;
		add_column(grid, index);
		grid->shown = grid->row_count; /* a column is empty only if all rows are */
		measure(grid, &grid->columns[grid->count - 1]);
		if (grid->columns[grid->count - 1].empty && !grid->options->whole && !steady) {
			grid->count--;
			continue;
		}
		if (index == table->view.by && grid->count < max && grid->sum > 0 &&
		    !has_share(table) && !grid->options->whole && !steady)
			add_column(grid, SHARE);
	}
}

/* --- widths --- */

/* Sets the widths for titles of at most `lines` lines. */
static void set_widths(struct grid *grid, size_t lines)
{
	for (size_t i = 0; i < grid->count; i++) {
		struct grid_column *column = &grid->columns[i];
		size_t title = wrap_width(column->title, lines);

		measure(grid, column);
		column->width = number_max(title, column->content);
	}
}

static size_t total_width(const struct grid *grid)
{
	size_t total = 0;

	for (size_t i = 0; i < grid->count; i++)
		total += grid->columns[i].width + (i ? GAP : 0);
	return total;
}

/* Takes width from the widest text; returns false if no text can give any more. */
static bool shrink(struct grid *grid)
{
	while (!grid->options->whole && total_width(grid) > grid->options->style->width) {
		struct grid_column *widest = NULL;

		for (size_t i = 0; i < grid->count; i++) {
			struct grid_column *column = &grid->columns[i];

			if (column->text && column->width > (column->path ? PATH_MIN : TEXT_MIN) &&
			    (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest)
			return false;
		widest->width--;
	}
	return true;
}

/* Drops the least important columns until the rest fits. */
static void fit(struct grid *grid)
{
	size_t lines = 1;

	set_widths(grid, lines);
	while (lines < TITLE_LINES_MAX && total_width(grid) > grid->options->style->width)
		set_widths(grid, ++lines);
	while (!shrink(grid) && grid->count > 2 && !grid->options->whole) {
		size_t last = grid->count - 1;

		while (last && (grid->columns[last].path || grid->columns[last].index == SHARE))
			last--;
		memmove(&grid->columns[last], &grid->columns[last + 1],
			(grid->count - last - 1) * sizeof(*grid->columns));
		grid->count--;
		set_widths(grid, TITLE_LINES_MAX);
	}
}

static void put_path_last(struct grid *grid)
{
	for (size_t i = 0; i + 1 < grid->count; i++) {
		struct grid_column path = grid->columns[i];

		if (!path.path)
			continue;
		memmove(&grid->columns[i], &grid->columns[i + 1],
			(grid->count - i - 1) * sizeof(*grid->columns));
		grid->columns[grid->count - 1] = path;
		return;
	}
}

/* --- lines --- */

static void write_cell(struct sink *out, const struct grid_column *column, struct cell text,
		       bool last)
{
	struct sink shortened;
	size_t width;

	sink_open_memory(&shortened);
	if (column->path)
		escape_path(&shortened, text.text, text.length, column->width);
	else if (column->text)
		escape_shortened(&shortened, text.text, text.length, column->width);
	else
		escape_text(&shortened, text.text, text.length);
	width = escape_columns(shortened.buffer, shortened.used);
	if (!column->text && width < column->width)
		sink_repeat(out, ' ', column->width - width);
	sink_bytes(out, shortened.buffer, shortened.used);
	if (column->text && !last && width < column->width)
		sink_repeat(out, ' ', column->width - width);
	if (shortened.error)
		out->error = out->error ? out->error : shortened.error;
	sink_close(&shortened);
}

/* Returns a line of a title. Titles are aligned at the bottom; lines above a shorter one are
 * empty. */
static struct cell title_line(const struct grid_column *column, size_t line, size_t lines)
{
	const char *title = column->title;
	size_t first = lines - wrap_count(title, column->width);
	struct cell text = { .type = CELL_TEXT, .text = "", .length = 0 };

	for (size_t i = first; i <= line; i++)
		text = wrap_line(&title, column->width);
	return text;
}

static void write_headings(struct grid *grid)
{
	size_t lines = 1;

	for (size_t i = 0; i < grid->count; i++) {
		size_t needed = wrap_count(grid->columns[i].title, grid->columns[i].width);

		lines = number_max(needed, lines);
	}
	for (size_t line = 0; line < lines; line++) {
		size_t last = grid->count;

		while (last && !title_line(&grid->columns[last - 1], line, lines).length)
			last--;
		style_mark(grid->out, grid->options->style, STYLE_QUIET);
		for (size_t i = 0; i < last; i++) {
			sink_repeat(grid->out, ' ', i ? GAP : 0);
			write_cell(grid->out, &grid->columns[i],
				   title_line(&grid->columns[i], line, lines), i + 1 == last);
		}
		style_mark(grid->out, grid->options->style, STYLE_PLAIN);
		sink_char(grid->out, '\n');
	}
}

/* Writes a text that continues below itself, and ends the line. */
static void write_wrapped(struct grid *grid, struct cell text, size_t indent)
{
	struct strbuf copy = { .used = 0 };

	strbuf_add(&copy, "%.*s", (int)text.length, text.text);
	wrap_below(grid->out, copy.bytes, grid->options->style->width, indent);
}

static void write_lines(struct grid *grid)
{
	for (size_t line = 0; line < line_count(grid); line++) {
		size_t indent = 0;

		for (size_t i = 0; i < grid->count; i++) {
			const struct grid_column *column = &grid->columns[i];
			const bool last = i + 1 == grid->count;
			struct cell cell = cell_of_line(grid, line, column);
			struct cell text =
				cell_as_text(&grid->scratch, &cell, unit_of(grid, column));

			sink_repeat(grid->out, ' ', i ? GAP : 0);
			if (last && column->text && grid->options->wraps) {
				write_wrapped(grid, text, indent);
				break;
			}
			write_cell(grid->out, column, text, last);
			indent += column->width + GAP;
			if (last)
				sink_char(grid->out, '\n');
		}
	}
}

/* Lists the rows that the sums of the list do not include, by name. */
static void write_excluded(struct grid *grid)
{
	const struct grid_column *named = grid->columns;
	size_t count = grid->excluded_count, by = grid->table->view.by;
	struct sink line;

	while (named < &grid->columns[grid->count] && !named->text)
		named++;
	if (!count || named == &grid->columns[grid->count])
		return;
	sink_open_memory(&line);
	sink_format(&line, "without a %s, excluded from these sums:",
		    table_heading(&grid->table->columns[by]));
	for (size_t i = 0; i < count && i < EXCLUDED_NAMED_MAX; i++) {
		struct cell cell = *cell_at(grid, grid->excluded[i], named->index);
		struct cell text = cell_as_text(&grid->scratch, &cell, UNIT_NONE);

		sink_text(&line, i ? ", " : " ");
		sink_bytes(&line, text.text, text.length);
	}
	if (count > EXCLUDED_NAMED_MAX)
		sink_format(&line, " and %zu more", count - EXCLUDED_NAMED_MAX);
	sink_char(&line, '\0');
	if (!line.error)
		wrap_text(grid->out, line.buffer, grid->options->style->width);
	else if (!grid->out->error)
		grid->out->error = line.error;
	sink_close(&line);
}

static int lay_out(struct grid *grid)
{
	int status = sort_rows(grid);

	if (!status) {
		choose_columns(grid);
		cut_rows(grid);
		status = make_other(grid);
	}
	if (!status && grid->count && grid->row_count) {
		fit(grid);
		put_path_last(grid);
	}
	return status;
}

/* Merges rows that look the same in the columns that fit. Returns 1 if it did, 0 or -ENOMEM. */
static int merge_rows(struct grid *grid, struct table **merged)
{
	struct table_view view = grid->table->view;
	int status;

	view.shown_count = 0;
	for (size_t i = 0; i < grid->count; i++)
		if (grid->columns[i].index != SHARE)
			view.shown[view.shown_count++] = grid->columns[i].index;
	status = merging_shown(grid->table, &view, merged);
	return status ? status : (*merged)->row_count < grid->table->row_count;
}

static void free_rows(struct grid *grid)
{
	free(grid->rows);
	free(grid->other);
}

void grid_write(struct sink *out, const struct table *table, const struct grid_options *options)
{
	struct grid grid = { .table = table, .options = options, .out = out };
	struct table *merged = NULL;
	int status;

	sink_open_memory(&grid.scratch);
	status = lay_out(&grid);
	if (!status && table->view.merges && !options->whole)
		status = merge_rows(&grid, &merged);
	if (status > 0) {
		free_rows(&grid);
		grid = (struct grid) {
			.table = merged, .options = options, .out = out, .scratch = grid.scratch
		};
		status = lay_out(&grid);
	}
	if (!status && grid.count && grid.row_count) {
		write_headings(&grid);
		write_lines(&grid);
		write_excluded(&grid);
	}
	if (!out->error)
		out->error = status ? status : grid.scratch.error;
	sink_close(&grid.scratch);
	free_rows(&grid);
	table_free(merged);
}

size_t grid_rows(const struct table *table, const struct grid_options *options)
{
	struct grid grid = { .table = table, .options = options };
	size_t rows = table->row_count;

	if (!sort_rows(&grid)) {
		cut_rows(&grid);
		rows = grid.shown;
	}
	free(grid.rows);
	return rows;
}
