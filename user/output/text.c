/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables and reports as text. Knows which tables the first screen tells of, not what they mean.
 */
#include "output/text.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/cells.h"
#include "output/classes.h"
#include "output/escape.h"
#include "output/grid.h"
#include "output/phases.h"
#include "output/pick.h"
#include "output/summary.h"
#include "units.h"

#define WIDTH_LEAST 40
#define WIDTH_MOST 500
#define GAP 2 /* between a title and its value */

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

static void write_record(struct sink *out, const struct table *table, size_t width)
{
	struct sink scratch;
	size_t widest = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = table->columns[i].title;
		size_t columns = title ? escape_columns(title, strlen(title)) : 0;

		widest = columns > widest ? columns : widest;
	}
	sink_open_memory(&scratch);
	for (size_t i = 0; i < table->column_count && table->row_count; i++) {
		const struct table_column *column = &table->columns[i];
		struct cell text;

		if (!column->title)
			continue;
		text = cell_as_text(&scratch, &table->cells[i], column->unit);
		escape_text(out, column->title, strlen(column->title));
		sink_repeat(out, ' ',
			    widest + GAP - escape_columns(column->title, strlen(column->title)));
		escape_shortened(out, text.text, text.length,
				 width > widest + GAP ? width - widest - GAP : 1);
		sink_char(out, '\n');
	}
	if (scratch.error)
		out->error = out->error ? out->error : scratch.error;
	sink_close(&scratch);
}

static void write_list(struct sink *out, const struct table *table,
		       const struct text_options *options)
{
	size_t rows = table->row_count;
	char text[UNITS_TEXT];

	if (options->top && options->top < rows)
		rows = options->top;
	grid_write(out, table, rows, options->width);
	if (rows < table->row_count)
		sink_format(out, "… and %s more (--top 0 shows all)\n",
			    units_count(text, table->row_count - rows));
}

/* "Devices: requests to block devices were not recorded" */
static void write_nothing(struct sink *out, const struct table *table, size_t width)
{
	struct sink line;

	sink_open_memory(&line);
	if (table->title)
		sink_format(&line, "%s: ", table->title);
	sink_text(&line, table->note ? table->note : table->absent ? "not recorded" : "none");
	sink_bytes(&line, "", 1);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		grid_wrapped(out, line.buffer, width);
	sink_close(&line);
}

void text_table(struct sink *out, const struct table *table, const struct text_options *options)
{
	if (table->absent || (table->shape == TABLE_LIST && !table->row_count)) {
		write_nothing(out, table, options->width);
		return;
	}
	if (table->title)
		grid_wrapped(out, table->title, options->width);
	if (table->shape == TABLE_RECORD)
		write_record(out, table, options->width);
	else
		write_list(out, table, options);
	if (table->note)
		grid_wrapped(out, table->note, options->width);
}

static int write_totals(struct sink *out, const struct table *trace, const struct table *totals,
			const struct text_options *options)
{
	struct table *classes;
	int status = classes_make(&classes, trace, totals, false);

	if (!status)
		text_table(out, classes, options);
	table_free(classes);
	return status;
}

/* As many rows whatever the job did: always whole. */
static bool is_short(const struct table *table)
{
	return !strcmp(table->name, "doors") || !strcmp(table->name, "levels");
}

/* What "trace" says stands on the first screen; "totals" is laid out in rows. */
static int write_section(struct sink *out, const struct table *const *tables, size_t count,
			 size_t number, const struct text_options *options)
{
	const struct text_options whole = { .width = options->width };
	const struct table *table = tables[number];

	if (!table->title || !strcmp(table->name, "trace"))
		return 0;
	/* Tables stand apart; those that are absent follow each other line by line. */
	if (!table->absent || !number || !tables[number - 1]->absent)
		sink_char(out, '\n');
	if (!strcmp(table->name, "totals"))
		return write_totals(out, pick_table(tables, count, "trace"), table, &whole);
	if (!strcmp(table->name, "overlap") && !table->absent)
		return phases_overlap(out, pick_table(tables, count, "trace"), table, options);
	if (!strcmp(table->name, "steps") && !table->absent)
		return phases_steps(out, table, options);
	text_table(out, table, is_short(table) ? &whole : options);
	return 0;
}

int text_report(struct sink *out, const struct table *const *tables, size_t count,
		const struct text_options *options)
{
	int status = summary_write(out, tables, count, options->width);

	for (size_t i = 0; i < count && !status && !out->error; i++)
		status = write_section(out, tables, count, i, options);
	return status ? status : out->error;
}
