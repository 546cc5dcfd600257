/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the shares of a table of kinds of threads in columns, omitting states below 0.5%. */
#include "output/text/thread_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/units.h"
#include "output/base/escape.h"
#include "trace/format/thread_states.h"

#define NAME_COLUMNS 26
#define GAP 2
#define STATE_MIN 0.005 /* minimum share in some line for a state to be shown */

struct state_column {
	const char *name, *title;
	int column; /* in the table */
	bool shown;
};

struct thread_lines {
	struct sink *out;
	const struct table *kinds;
	int comm, kind, threads, time;
	struct state_column states[THREAD_STATE_COUNT];
};

/* In a summary, any cell may have any type. */
static uint64_t number_of(const struct thread_lines *lines, size_t row, int column)
{
	const struct cell *cell = &table_row(lines->kinds, row)[column];

	return cell->type == CELL_UINT ? cell->uint : 0;
}

static double share_of(const struct thread_lines *lines, size_t row, const struct state_column *of)
{
	uint64_t time_ns = number_of(lines, row, lines->time);

	return time_ns ? (double)number_of(lines, row, of->column) / time_ns : 0;
}

#define STATE_COLUMN(id, name, title, meaning) { "states." name, title, 0, false },

/* Returns false if the table lacks a column. */
static bool find_columns(struct thread_lines *lines)
{
	static const struct state_column states[] = { THREAD_STATES(STATE_COLUMN) };
	const struct table *kinds = lines->kinds;

	lines->comm = table_find_column(kinds, "comm");
	lines->kind = table_find_column(kinds, "kind");
	lines->threads = table_find_column(kinds, "threads");
	lines->time = table_find_column(kinds, "time_ns");
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++) {
		lines->states[i] = states[i];
		lines->states[i].column = table_find_column(kinds, states[i].name);
		if (lines->states[i].column < 0)
			return false;
	}
	return lines->comm >= 0 && lines->kind >= 0 && lines->threads >= 0 && lines->time >= 0;
}

static size_t width_of(const struct state_column *state)
{
	size_t title = escape_columns(state->title, strlen(state->title));

	return title > sizeof("99.9%") - 1 ? title : sizeof("99.9%") - 1;
}

/* Chooses those that occur, as many as fit. */
static void choose_states(struct thread_lines *lines, const size_t *order, size_t count,
			  size_t width)
{
	size_t used = NAME_COLUMNS;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < THREAD_STATE_COUNT; j++)
			lines->states[j].shown |=
				share_of(lines, order[i], &lines->states[j]) >= STATE_MIN;
	for (size_t j = 0; j < THREAD_STATE_COUNT; j++) {
		struct state_column *state = &lines->states[j];

		state->shown = state->shown && used + GAP + width_of(state) <= width;
		used += state->shown ? GAP + width_of(state) : 0;
	}
}

static void add_cell(struct sink *out, const char *text, size_t columns)
{
	const size_t taken = escape_columns(text, strlen(text));

	sink_repeat(out, ' ', GAP + number_sub(columns, taken));
	sink_text(out, text);
}

/* "python3 main", "python3 helper (6)" */
static void write_name(const struct thread_lines *lines, size_t row)
{
	const struct cell *comm = &table_row(lines->kinds, row)[lines->comm];
	const struct cell *kind = &table_row(lines->kinds, row)[lines->kind];
	uint64_t threads = number_of(lines, row, lines->threads);
	char count[UNITS_TEXT];
	struct sink name;

	sink_open_memory(&name);
	if (comm->type == CELL_TEXT)
		sink_bytes(&name, comm->text, comm->length);
	else
		sink_text(&name, "other");
	if (kind->type == CELL_TEXT) {
		sink_char(&name, ' ');
		sink_bytes(&name, kind->text, kind->length);
	}
	if (threads > 1)
		sink_format(&name, " (%s)", units_count(count, threads));
	escape_shortened(lines->out, name.buffer, name.used, NAME_COLUMNS);
	if (escape_columns(name.buffer, name.used) < NAME_COLUMNS)
		sink_repeat(lines->out, ' ', NAME_COLUMNS - escape_columns(name.buffer, name.used));
	sink_close(&name);
}

static void write_row(const struct thread_lines *lines, size_t row)
{
	char text[UNITS_TEXT];

	write_name(lines, row);
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++) {
		const struct state_column *state = &lines->states[i];

		if (!state->shown)
			continue;
		add_cell(lines->out,
			 number_of(lines, row, state->column)
				 ? units_share(text, share_of(lines, row, state))
				 : "-",
			 width_of(state));
	}
	sink_char(lines->out, '\n');
}

/* Times are lower bounds after loss; their shares are not. */
static bool are_incomplete(const struct thread_lines *lines)
{
	for (size_t i = 0; i < lines->kinds->row_count; i++)
		if (table_row(lines->kinds, i)[lines->time].at_least)
			return true;
	return false;
}

static void write_heading(const struct thread_lines *lines, const struct style *style)
{
	const char *heading =
		are_incomplete(lines) ? "threads, of recorded time" : "threads, share of time";

	style_mark(lines->out, style, STYLE_TITLE);
	sink_text(lines->out, heading);
	sink_repeat(lines->out, ' ', NAME_COLUMNS - strlen(heading));
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++)
		if (lines->states[i].shown)
			add_cell(lines->out, lines->states[i].title, width_of(&lines->states[i]));
	style_mark(lines->out, style, STYLE_PLAIN);
	sink_char(lines->out, '\n');
}

void thread_lines_write(struct sink *out, const struct table *kinds, size_t max,
			const struct style *style)
{
	struct thread_lines lines = { .out = out, .kinds = kinds };
	size_t count = number_min(kinds->row_count, max);
	size_t *order;

	if (!kinds->row_count || !find_columns(&lines))
		return;
	order = table_order(kinds);
	if (!order) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	choose_states(&lines, order, count, style->width);
	sink_char(out, '\n');
	write_heading(&lines, style);
	for (size_t i = 0; i < count; i++)
		write_row(&lines, order[i]);
	free(order);
}
