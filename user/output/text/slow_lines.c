/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums up the table of lines over libraries, ranks and kinds of threads, and writes the longest. */
#include "output/text/slow_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/line_sums.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"
#include "base/units.h"
#include "output/base/escape.h"

#define SHARE_MIN 0.01 /* of the time of all that could be shown */
#define GAP 2
#define TIME_COLUMNS 8

enum { FILE_NAME, LOCATION, STATE, KIND, TIME, UNCERTAINTY, COLUMNS };
static const char *const names[COLUMNS] = { "file", "location", "state",
					    "kind", "time_ns",	"uncertainty_ns" };

struct slow_line {
	const struct cell *cells; /* of its first row */
	double time_ns, variance;
};

struct slow_lines {
	const struct table *table;
	int columns[COLUMNS];
	struct arena arena;
	struct map numbers; /* hashes of file, location and state -> index in `lines` */
	struct slow_line *lines;
	size_t count, room;
	double time_ns; /* of all */
};

static const struct cell *cell_of(const struct slow_lines *slow, const struct cell *cells,
				  int column)
{
	return &cells[slow->columns[column]];
}

/* In a summary, any cell may have any type. */
static double number_of(const struct slow_lines *slow, const struct cell *cells, int column)
{
	const struct cell *cell = cell_of(slow, cells, column);

	return cell->type == CELL_UINT ? cell->uint : cell->type == CELL_REAL ? cell->real : 0;
}

/* Other threads than the main one are meant to wait for work, and not for I/O. */
static bool is_counted(const struct slow_lines *slow, const struct cell *cells)
{
	return cell_of(slow, cells, STATE)->type == CELL_TEXT &&
	       (cell_is(cell_of(slow, cells, STATE), "cpu") ||
		cell_is(cell_of(slow, cells, STATE), "io") ||
		cell_is(cell_of(slow, cells, KIND), "main"));
}

static bool is_shown(const struct slow_lines *slow, const struct cell *cells)
{
	return is_counted(slow, cells) && cell_of(slow, cells, FILE_NAME)->type == CELL_TEXT &&
	       cell_of(slow, cells, LOCATION)->type == CELL_TEXT;
}

/* Returns a line's share of the time in its state of all threads that count, also at unknown lines;
 * NAN if rows are summed up over states. */
static double share_of(const struct slow_lines *slow, const struct slow_line *line)
{
	const struct cell *state = cell_of(slow, line->cells, STATE);
	double total_ns = 0;

	for (size_t row = 0; row < slow->table->row_count; row++) {
		const struct cell *cells = table_row(slow->table, row);
		const struct cell *other = cell_of(slow, cells, STATE);

		if (is_counted(slow, cells) && other->length == state->length &&
		    !memcmp(other->text, state->text, state->length))
			total_ns += number_of(slow, cells, TIME);
	}
	return total_ns > 0 && !slow->table->folded ? line->time_ns / total_ns : NAN;
}

static uint64_t hash_of(const struct slow_lines *slow, const struct cell *cells, int column)
{
	const struct cell *cell = cell_of(slow, cells, column);

	return map_hash_bytes(&slow->numbers, cell->text, cell->length);
}

static void add_row(struct slow_lines *slow, const struct cell *cells)
{
	const uint64_t key[] = { hash_of(slow, cells, FILE_NAME), hash_of(slow, cells, LOCATION),
				 hash_of(slow, cells, STATE) };
	const double uncertainty = number_of(slow, cells, UNCERTAINTY);
	struct slow_line *line;
	bool added;

	line = MAP_ITEM(&slow->numbers, key, slow->lines, slow->room, slow->count, &added);
	if (!line)
		return;
	if (added)
		line->cells = cells;
	line->time_ns += number_of(slow, cells, TIME);
	line->variance += uncertainty * uncertainty;
	slow->time_ns += number_of(slow, cells, TIME);
}

COMPARE_BY(compare_lines, struct slow_line,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->cells, b->cells))

static void add_padding(struct sink *out, const char *text, size_t length, size_t columns)
{
	const size_t taken = escape_columns(text, length);

	sink_repeat(out, ' ', number_sub(columns, taken));
}

static void write_padded(struct sink *out, const struct cell *text, size_t columns)
{
	escape_shortened(out, text->text, text->length, columns);
	add_padding(out, text->text, text->length, columns);
}

/* "loader.py:42 in TokenDataset.__getitem__   io       3.2 s ±100 ms   41.0%" */
static void write_line(struct sink *out, const struct slow_lines *slow,
		       const struct slow_line *line, size_t width)
{
	char text[UNITS_TEXT];

	write_padded(out, cell_of(slow, line->cells, LOCATION), width);
	sink_repeat(out, ' ', GAP);
	write_padded(out, cell_of(slow, line->cells, STATE), TIME_COLUMNS);
	units_ns(text, line->time_ns);
	add_padding(out, text, strlen(text), TIME_COLUMNS);
	sink_text(out, text);
	units_ns(text, sqrt(line->variance));
	if (line->variance > 0)
		sink_format(out, " ±%s", text);
	else
		sink_repeat(out, ' ', 2 + strlen(text));
	add_padding(out, text, strlen(text), TIME_COLUMNS);
	sink_format(out, "%6s\n", units_share(text, share_of(slow, line)));
}

static void write_lines(struct sink *out, struct slow_lines *slow, size_t max,
			const struct style *style)
{
	const size_t others = GAP + 4 * TIME_COLUMNS;
	size_t longest = 0, width;

	qsort(slow->lines, slow->count, sizeof(*slow->lines), compare_lines);
	max = number_min(max, slow->count);
	while (max && slow->lines[max - 1].time_ns < SHARE_MIN * slow->time_ns)
		max--;
	for (size_t i = 0; i < max; i++) {
		const struct cell *location = cell_of(slow, slow->lines[i].cells, LOCATION);
		size_t columns = escape_columns(location->text, location->length);

		longest = number_max(columns, longest);
	}
	width = style->width > others + 10 ? style->width - others : 10;
	width = number_min(longest, width);
	for (size_t i = 0; i < max; i++)
		write_line(out, slow, &slow->lines[i], width);
}

bool slow_lines_of_python(const struct table *lines)
{
	const int reason = table_find_column(lines, "reason");

	for (size_t row = 0; row < lines->row_count && reason >= 0; row++)
		if (!cell_is(&table_row(lines, row)[reason], LINES_NO_PYTHON))
			return true;
	return false;
}

void slow_lines_write(struct sink *out, const struct table *lines, size_t max,
		      const struct style *style)
{
	struct slow_lines slow = { .table = lines };
	static const char heading[] =
		"slowest lines, time summed over threads (io and cpu overlap), share of state";

	for (int i = 0; i < COLUMNS; i++) {
		slow.columns[i] = table_find_column(lines, names[i]);
		if (slow.columns[i] < 0)
			return;
	}
	map_init_in(&slow.numbers, &slow.arena, 3, 1);
	for (size_t row = 0; row < lines->row_count; row++)
		if (is_shown(&slow, table_row(lines, row)))
			add_row(&slow, table_row(lines, row));
	if (arena_status(&slow.arena)) {
		out->error = out->error ? out->error : -ENOMEM;
	} else if (slow.count) {
		sink_char(out, '\n');
		style_mark(out, style, STYLE_TITLE);
		sink_text(out, heading);
		style_mark(out, style, STYLE_PLAIN);
		sink_char(out, '\n');
		write_lines(out, &slow, max, style);
	}
	arena_free(&slow.arena);
}
