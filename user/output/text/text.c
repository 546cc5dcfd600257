/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables and reports as text: chooses the tables of the first screen, and those that are reduced to
 * a line because they cost next to nothing.
 */
#include "output/text/text.h"

#include <string.h>

#include "analysis/totals/access.h"
#include "analysis/run/trace_table.h"
#include "output/base/cells.h"
#include "output/base/escape.h"
#include "output/text/heat.h"
#include "output/text/screen.h"
#include "output/text/slow_lines.h"
#include "output/text/wrap.h"
#include "base/number.h"
#include "base/units.h"

#define GAP 2 /* between a title and its value */

static void write_record(struct sink *out, const struct table *table,
			 const struct grid_options *options)
{
	const struct table_view *view = &table->view;
	size_t count = view->shown_count ? view->shown_count : table->column_count;
	size_t widest = 0, width = options->style->width;
	struct sink scratch;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = table_heading(&table->columns[i]);
		size_t columns = escape_columns(title, strlen(title));

		widest = number_max(columns, widest);
	}
	sink_open_memory(&scratch);
	for (size_t i = 0; i < count && table->row_count; i++) {
		size_t index = view->shown_count ? view->shown[i] : i;
		const struct table_column *column = &table->columns[index];
		const char *title = table_heading(column);
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
		wrap_text(out, line.buffer, width);
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
		wrap_text(out, table->note, options->style->width);
}

/* Whether a table is left out below the first screen. */
static bool is_on_screen(const struct report *report, const struct table *table,
			 const struct grid_options *options)
{
	static const struct analysis *const shown[] = { &analysis_trace, &analysis_findings,
							&analysis_access };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (report_by(report, shown[i]) == table)
			return true;
	if (report_by(report, &analysis_paths) == table)
		return grid_rows(table, options) <= SCREEN_PLACES;
	if (report_by(report, &analysis_thread_kinds) == table)
		return grid_rows(table, options) <= SCREEN_THREAD_KINDS;
	if (report_by(report, &analysis_lines) == table)
		return !slow_lines_of_python(table);
	return !table->title;
}

/* --- tables that cost next to nothing --- */

/* Tables reduced to a line if all of their rows together took next to no time of the run. */
struct brief {
	const struct analysis *analysis;
	const char *count, *time; /* columns */
	const char *rows;	  /* what the rows are */
};

static const struct brief briefs[] = {
	{ &analysis_failed_lookups, "count", "thread_time_ns", "directories" },
};

static const struct brief *brief_of(const struct report *report, const struct table *table)
{
	for (size_t i = 0; i < sizeof(briefs) / sizeof(briefs[0]); i++)
		if (report_by(report, briefs[i].analysis) == table)
			return &briefs[i];
	return NULL;
}

/* Returns false if the sum is unknown or a lower bound. */
static bool sum_column(const struct table *table, const char *name, uint64_t *sum)
{
	int column = table_find_column(table, name);

	*sum = 0;
	for (size_t row = 0; column >= 0 && row < table->row_count; row++) {
		const struct cell *cell = &table_row(table, row)[column];

		if (cell->type != CELL_UINT || cell->at_least || cell->summed ||
		    __builtin_add_overflow(*sum, cell->uint, sum))
			return false;
	}
	return column >= 0;
}

/* Returns false if the duration is unknown. */
static bool find_duration(const struct report *report, uint64_t *duration_ns)
{
	const struct table *trace = report_by(report, &analysis_trace);

	if (!trace->row_count || trace->cells[ABOUT_DURATION].type != CELL_UINT)
		return false;
	*duration_ns = trace->cells[ABOUT_DURATION].uint;
	return true;
}

/* "Failed path lookups: 252 in 27 directories took 640 us, 0.3% of the run (--table ...)". Returns
 * false if the table must be shown: it costs more, or may (its note says what is missing), or rows
 * were requested. */
static bool write_brief(struct sink *out, const struct report *report, const struct table *table,
			const struct grid_options *options)
{
	const struct brief *brief = brief_of(report, table);
	uint64_t rows = table->row_count + (table->folded ? table->folded - 1 : 0);
	uint64_t count, time_ns, run_ns;
	char texts[4][UNITS_TEXT];
	struct sink line;

	if (!brief || options->top_said || table->note || table->cut ||
	    !find_duration(report, &run_ns) || !sum_column(table, brief->count, &count) ||
	    !sum_column(table, brief->time, &time_ns) || time_ns >= GRID_SHARE_MIN * run_ns)
		return false;
	sink_open_memory(&line);
	sink_format(&line, "%s: %s in %s %s took %s, %s of the run (--table %s)", table->title,
		    units_count(texts[0], count), units_count(texts[1], rows), brief->rows,
		    units_ns(texts[2], time_ns), units_share(texts[3], (double)time_ns / run_ns),
		    table->name);
	sink_bytes(&line, "", 1);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		wrap_text(out, line.buffer, options->style->width);
	sink_close(&line);
	return true;
}

/* --- the report --- */

/* Lists the tables that are not available, with the reasons. */
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
		sink_format(&line, last ? " (%s); %s" : "unavailable: %s%s", last ? last : "",
			    table->name);
		last = note;
	}
	if (last) {
		sink_format(&line, " (%s)", last);
		sink_bytes(&line, "", 1);
		sink_char(out, '\n');
		if (!line.error)
			wrap_text(out, line.buffer, width);
	}
	if (line.error)
		out->error = out->error ? out->error : line.error;
	sink_close(&line);
}

int text_report(struct sink *out, const struct report *report, const struct grid_options *given)
{
	struct grid_options own = *given;
	const struct grid_options *options = &own;

	own.io_ns = access_io_ns(report_by(report, &analysis_access));
	screen_write(out, report, options->style);
	for (size_t i = 0; i < report->table_count && !out->error; i++) {
		const struct table *table = report->tables[i];

		if (is_on_screen(report, table, options) || table->absent ||
		    (!table->row_count && !table->note))
			continue;
		sink_char(out, '\n');
		if (!write_brief(out, report, table, options))
			text_table(out, table, options);
	}
	write_absent(out, report, options->style->width);
	sink_text(out, "\nMore: faultline report --list-tables\n");
	return out->error;
}
