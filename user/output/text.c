/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables and reports as text. Knows which tables stand on the first screen, not what they mean.
 */
#include "output/text.h"

#include <string.h>

#include "output/cells.h"
#include "output/escape.h"
#include "output/heat.h"
#include "output/screen.h"

#define GAP 2 /* between a title and its value */

static const char *title_of(const struct table_column *column)
{
	return column->title ? column->title : column->name;
}

static void write_record(struct sink *out, const struct table *table,
			 const struct grid_options *options)
{
	const struct table_view *view = &table->view;
	size_t count = view->shown_count ? view->shown_count : table->column_count;
	size_t widest = 0, width = options->style->width;
	struct sink scratch;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = title_of(&table->columns[i]);
		size_t columns = escape_columns(title, strlen(title));

		widest = columns > widest ? columns : widest;
	}
	sink_open_memory(&scratch);
	for (size_t i = 0; i < count && table->row_count; i++) {
		size_t index = view->shown_count ? view->shown[i] : i;
		const struct table_column *column = &table->columns[index];
		const char *title = title_of(column);
		struct cell text;

		if (!view->shown_count && !column->title)
			continue;
		text = cell_as_text(&scratch, &table->cells[index], column->unit);
		escape_text(out, title, strlen(title));
		sink_repeat(out, ' ', widest + GAP - escape_columns(title, strlen(title)));
		escape_shortened(out, text.text, text.length,
				 width > widest + GAP ? width - widest - GAP : 1);
		sink_char(out, '\n');
	}
	if (scratch.error)
		out->error = out->error ? out->error : scratch.error;
	sink_close(&scratch);
}

/* "Devices: requests to block devices were not recorded" */
static void write_nothing(struct sink *out, const struct table *table, size_t width)
{
	struct sink line;

	sink_open_memory(&line);
	sink_format(&line, "%s: ", table->title ? table->title : table->name);
	sink_text(&line, table->note ? table->note : table->absent ? "not recorded" : "none");
	sink_bytes(&line, "", 1);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		grid_wrapped(out, line.buffer, width);
	sink_close(&line);
}

void text_table(struct sink *out, const struct table *table, const struct grid_options *options)
{
	if (table->absent || (table->shape == TABLE_LIST && !table->row_count)) {
		write_nothing(out, table, options->style->width);
		return;
	}
	if (table->title) {
		style_mark(out, options->style, STYLE_TITLE);
		escape_text(out, table->title, strlen(table->title));
		style_mark(out, options->style, STYLE_PLAIN);
		sink_char(out, '\n');
	}
	if (table->shape == TABLE_RECORD)
		write_record(out, table, options);
	else if (table->view.heat && !options->whole)
		heat_write(out, table, options->style);
	else
		grid_write(out, table, options);
	if (table->note)
		grid_wrapped(out, table->note, options->style->width);
}

static bool is_on_screen(const struct report *report, const struct table *table)
{
	static const struct analysis *const shown[] = { &analysis_trace, &analysis_findings,
							&analysis_access };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (report_by(report, shown[i]) == table)
			return true;
	if (report_by(report, &analysis_places) == table)
		return table->row_count <= SCREEN_PLACES;
	return !table->title;
}

/* "not recorded: devices (requests to block devices were not recorded), ..." */
static void write_absent(struct sink *out, const struct report *report, size_t width)
{
	const char *last = NULL;
	struct sink line;

	sink_open_memory(&line);
	for (size_t i = 0; i < report->table_count; i++) {
		const struct table *table = report->tables[i];
		const char *note = table->note ? table->note : "not recorded";

		if (!table->absent || !table->title)
			continue;
		if (last && !strcmp(last, note)) {
			sink_format(&line, ", %s", table->name);
			continue;
		}
		sink_format(&line, last ? " (%s); %s" : "not here: %s%s", last ? last : "",
			    table->name);
		last = note;
	}
	if (last) {
		sink_format(&line, " (%s)", last);
		sink_bytes(&line, "", 1);
		sink_char(out, '\n');
		if (!line.error)
			grid_wrapped(out, line.buffer, width);
	}
	if (line.error)
		out->error = out->error ? out->error : line.error;
	sink_close(&line);
}

int text_report(struct sink *out, const struct report *report, const struct grid_options *options)
{
	screen_write(out, report, options->style);
	for (size_t i = 0; i < report->table_count && !out->error; i++) {
		const struct table *table = report->tables[i];

		if (is_on_screen(report, table) || table->absent ||
		    (!table->row_count && !table->note))
			continue;
		sink_char(out, '\n');
		text_table(out, table, options);
	}
	write_absent(out, report, options->style->width);
	return out->error;
}
