/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Three lines at the top, rows in the grid of reports, the keys at the bottom. */
#include "top/screen.h"

#include <string.h>

#include "output/base/cells.h"
#include "output/base/escape.h"
#include "output/text/grid.h"
#include "output/text/wrap.h"
#include "base/units.h"

#define HEAD_LINES 3
#define FOOT_LINES 1
#define HEADING_LINES 2 /* of the table; more only if it is very narrow */
#define ROWS_MIN 3
#define COLUMNS_MAX 16

static void write_cut(struct sink *out, const struct top_screen *screen, const struct sink *line)
{
	if (line->used)
		escape_shortened(out, line->buffer, line->used, screen->style->width);
	sink_char(out, '\n');
}

static void write_title(struct sink *out, const struct top_screen *screen,
			const struct controls *controls)
{
	struct sink line;

	sink_open_memory(&line);
	sink_format(&line, "faultline top  %s  %s%s", screen->clock, screen->where,
		    controls->paused ? "  (paused)" : "");
	style_mark(out, screen->style, STYLE_TITLE);
	write_cut(out, screen, &line);
	style_mark(out, screen->style, STYLE_PLAIN);
	sink_close(&line);
}

/* Writes the most important rates of the node with their headings, as many as fit. */
static void write_node(struct sink *out, const struct top_screen *screen, const struct table *node)
{
	static const char *const names[] = { "busy",	      "operations",    "read_bytes",
					     "written_bytes", "fetched_bytes", "faults" };
	struct sink line, scratch;

	sink_open_memory(&line);
	sink_open_memory(&scratch);
	sink_text(&line, node ? "all: " : "waiting for data ...");
	for (size_t i = 0; node && i < sizeof(names) / sizeof(names[0]); i++) {
		int at = table_find_column(node, names[i]);
		const struct table_column *column = &node->columns[at];
		struct cell text = cell_as_text(&scratch, &node->cells[at], column->unit);
		size_t used = line.used;

		sink_text(&line, i ? ", " : "");
		sink_bytes(&line, text.text, text.length);
		sink_format(&line, " %s", column->title);
		if (line.used > screen->style->width) {
			line.used = used;
			break;
		}
	}
	write_cut(out, screen, &line);
	sink_close(&line);
	sink_close(&scratch);
}

static void write_omitted(struct sink *line, uint64_t idle, uint64_t more, const char *subject)
{
	char count[UNITS_TEXT];

	if (idle || more)
		sink_format(line, "%s not shown: ", subject);
	if (idle)
		sink_format(line, "%s idle%s", units_count(count, idle), more ? " and " : "");
	if (more)
		sink_format(line, "%s more", units_count(count, more));
}

/* Writes what is wrong, or what is omitted, or nothing. */
static void write_state(struct sink *out, const struct top_screen *screen,
			const struct controls *controls, const struct top_sample *sample)
{
	struct sink line;
	enum style_mark mark = STYLE_QUIET;

	sink_open_memory(&line);
	if (screen->error) {
		mark = STYLE_BAD;
		sink_text(&line, screen->error);
	} else {
		write_omitted(&line, screen->idle, sample->unreported[controls->subject],
			      top_subject_names[controls->subject]);
	}
	if (controls->filter[0])
		sink_format(&line, "%sfilter: \"%s\"", line.used ? "; " : "", controls->filter);
	if (line.used || screen->lines) { /* on a terminal this keeps the table in place */
		style_mark(out, screen->style, mark);
		write_cut(out, screen, &line);
		style_mark(out, screen->style, STYLE_PLAIN);
	}
	sink_close(&line);
}

static void write_keys(struct sink *out, const struct top_screen *screen,
		       const struct controls *controls)
{
	struct sink line;

	sink_open_memory(&line);
	if (controls->typing)
		sink_format(&line, "filter: %s_", controls->typed);
	else
		sink_format(&line,
			    "j jobs  p processes  f files  <> sort: %s  / filter  h help  q quit",
			    top_sort_column(controls->sort)->title);
	style_mark(out, screen->style, STYLE_QUIET);
	write_cut(out, screen, &line);
	style_mark(out, screen->style, STYLE_PLAIN);
	sink_close(&line);
}

static void write_help(struct sink *out, const struct top_screen *screen, const struct table *table)
{
	for (size_t i = 0; controls_help(i); i++) {
		escape_shortened(out, controls_help(i), strlen(controls_help(i)),
				 screen->style->width);
		sink_char(out, '\n');
	}
	sink_char(out, '\n');
	for (size_t i = 0; table && i < table->column_count; i++) {
		struct sink line;

		sink_open_memory(&line);
		sink_format(&line, "%-10s", table->columns[i].title);
		sink_text(&line, table->columns[i].meaning);
		sink_char(&line, '\0');
		if (!sink_flush(&line))
			wrap_indented(out, line.buffer, screen->style->width, 10);
		sink_close(&line);
	}
}

/* Truncates or pads what was written from `from` on to exactly `lines` lines. */
static void fit_lines(struct sink *out, size_t from, size_t lines)
{
	for (size_t i = from; i < out->used; i++) {
		if (out->buffer[i] != '\n' || --lines)
			continue;
		out->used = i + 1;
		return;
	}
	sink_repeat(out, '\n', lines);
}

/* Writes as many rows as fit; the rest becomes one row "other". */
static void write_table(struct sink *out, const struct top_screen *screen,
			const struct controls *controls, const struct table *table)
{
	size_t used = HEAD_LINES + FOOT_LINES + HEADING_LINES;
	size_t rows = screen->lines > used + ROWS_MIN ? screen->lines - used : ROWS_MIN;
	struct grid_options options = { .style = screen->style,
					.top = screen->lines ? rows - 1 : 0,
					.steady = COLUMNS_MAX };

	if (table && table->row_count)
		grid_write(out, table, &options);
	else
		sink_text(out, !table				? ""
			       : controls->subject == TOP_FILES ? "(no I/O)\n"
								: "(all idle)\n");
}

void top_screen_write(struct sink *out, const struct top_screen *screen,
		      const struct controls *controls, const struct top_sample *sample,
		      const struct table *node, const struct table *table)
{
	size_t from = out->used;

	write_title(out, screen, controls);
	write_node(out, screen, node);
	write_state(out, screen, controls, sample);
	if (controls->help)
		write_help(out, screen, table);
	else
		write_table(out, screen, controls, table);
	if (screen->lines <= FOOT_LINES)
		return;
	fit_lines(out, from, screen->lines - 1);
	write_keys(out, screen, controls);
}
