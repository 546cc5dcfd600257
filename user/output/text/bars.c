/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bars of time, full where a whole stretch was spent that way, and sparklines of rates, full at
 * their peak.
 */
#include "output/text/bars.h"

#include <stdio.h>
#include <string.h>

#include "analysis/phases/timeline.h"
#include "output/base/escape.h"
#include "base/number.h"
#include "base/units.h"

#define WIDTH_MAX 160 /* of a line; wider lines are no easier to read */
#define LABEL 15
#define BAR_MIN 10
#define PARTS_MAX 3  /* kinds of I/O with bars of their own ... */
#define PART_MIN 0.1 /* ... and their minimum share of I/O time */

enum kind { TIME, BYTES };

struct bar_row {
	enum timeline_column column;
	const char *label;
	enum kind kind;
	char right[2 * UNITS_TEXT + 16];
	uint64_t sum;
	bool summed; /* over threads: may exceed the stretch */
};

struct bars {
	const struct table *timeline;
	const struct style *style;
	struct sink *out;
	uint64_t duration_ns;
	size_t width; /* of a bar */
};

static uint64_t number_at(const struct bars *bars, size_t bin, enum timeline_column column)
{
	const struct cell *cell = &table_row(bars->timeline, bin)[column];

	return cell->type == CELL_UINT ? cell->uint : 0;
}

static bool is_known(const struct bars *bars, enum timeline_column column)
{
	return bars->timeline->cells[column].type == CELL_UINT;
}

static uint64_t sum_of(const struct bars *bars, enum timeline_column column, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += number_at(bars, i, column);
	return sum;
}

/* Returns the first bin that a bar position covers. */
static size_t bin_of(const struct bars *bars, size_t position)
{
	return position * bars->timeline->row_count / bars->width;
}

/* The value at a bar position: a share of its time, or a rate in units per second. */
static double value_of(const struct bars *bars, const struct bar_row *row, size_t position)
{
	size_t from = bin_of(bars, position), to = bin_of(bars, position + 1);
	uint64_t length = sum_of(bars, TIMELINE_LENGTH, from, to);
	double sum = sum_of(bars, row->column, from, to);

	if (!length)
		return 0;
	return row->kind == TIME ? sum / length : sum / length * 1e9;
}

static double peak_of(const struct bars *bars, const struct bar_row *row)
{
	double peak = 0;

	for (size_t i = 0; i < bars->width; i++) {
		double value = value_of(bars, row, i);

		peak = value > peak ? value : peak;
	}
	return peak;
}

/* 0 to 8; anything above zero is visible. Times summed over threads may exceed the peak. */
static int level_of(double value, double peak)
{
	if (!(peak > 0) || !(value > 0))
		return 0;
	if (value >= peak)
		return 8;
	return value < peak / 8 ? 1 : (int)(value / peak * 8 + 0.5);
}

static void write_row(const struct bars *bars, const struct bar_row *row)
{
	static const char *const levels[] = { "\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
					      "\u2585", "\u2586", "\u2587", "\u2588" };
	double peak = row->kind == TIME ? 1 : peak_of(bars, row);

	sink_format(bars->out, "%-*s ", LABEL, row->label);
	if (row->column == TIMELINE_COMPUTE)
		style_mark(bars->out, bars->style, STYLE_GOOD);
	else if (row->kind == TIME)
		style_mark(bars->out, bars->style, STYLE_WARNING);
	for (size_t i = 0; i < bars->width; i++) {
		sink_text(bars->out, levels[level_of(value_of(bars, row, i), peak)]);
	}
	style_mark(bars->out, bars->style, STYLE_PLAIN);
	sink_format(bars->out, "  %s\n", row->right);
}

/* Sets the text to the right. A peak depends on the bar's width, but only in its digits. */
static void set_right(const struct bars *bars, struct bar_row *row)
{
	char sum[UNITS_TEXT], other[UNITS_TEXT];
	double peak;

	switch (row->kind) {
	case TIME:
		if (row->summed) {
			snprintf(row->right, sizeof(row->right), "%8s thread time",
				 units_ns(sum, row->sum));
			break;
		}
		snprintf(row->right, sizeof(row->right), "%8s %6s", units_ns(sum, row->sum),
			 units_share(other, (double)row->sum / bars->duration_ns));
		break;
	case BYTES:
		peak = peak_of(bars, row);
		snprintf(row->right, sizeof(row->right), "%8s  peak %s/s",
			 units_bytes(sum, row->sum),
			 units_bytes(other, peak < 1e18 ? (uint64_t)peak : UINT64_MAX));
		break;
	}
}

static void add_row(const struct bars *bars, struct bar_row *rows, size_t *count,
		    enum timeline_column column, const char *label, enum kind kind)
{
	struct bar_row row = { .column = column, .label = label, .kind = kind };

	if (!is_known(bars, column))
		return;
	row.summed = bars->timeline->cells[column].summed;
	row.sum = sum_of(bars, column, 0, bars->timeline->row_count);
	if (row.sum)
		rows[(*count)++] = row;
}

/* Adds bars for the kinds of I/O that are worth one, the largest first. */
static void add_parts(const struct bars *bars, struct bar_row *rows, size_t *count, uint64_t io_ns)
{
	static const struct {
		enum timeline_column column;
		const char *label;
	} parts[] = {
		{ TIMELINE_FAULTS, "  page faults" }, { TIMELINE_READ, "  read()" },
		{ TIMELINE_DIRECT, "  O_DIRECT" },    { TIMELINE_WRITE, "  write()" },
		{ TIMELINE_METADATA, "  metadata" },  { TIMELINE_SYNC, "  sync" },
	};
	size_t first = *count;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t index = *count;
		struct bar_row row;

		add_row(bars, rows, count, parts[i].column, parts[i].label, TIME);
		if (*count == index)
			continue;
		row = rows[index];
		if (row.sum < PART_MIN * io_ns) {
			--*count;
			continue;
		}
		for (; index > first && rows[index - 1].sum < row.sum; index--)
			rows[index] = rows[index - 1];
		rows[index] = row;
	}
	if (*count > first + PARTS_MAX)
		*count = first + PARTS_MAX;
}

/* Sets the right side twice: its width determines the bars' width, which determines the peaks. */
static void set_width(struct bars *bars, struct bar_row *rows, size_t count)
{
	size_t width = number_min(bars->style->width, WIDTH_MAX);

	bars->width = number_min(bars->timeline->row_count, 60);
	for (int round = 0; round < 2; round++) {
		size_t right = 0;

		for (size_t i = 0; i < count; i++) {
			size_t columns;

			set_right(bars, &rows[i]);
			columns = escape_columns(rows[i].right, strlen(rows[i].right));
			right = number_max(columns, right);
		}
		bars->width = width > LABEL + 1 + 2 + right + BAR_MIN
				      ? width - LABEL - 1 - 2 - right
				      : BAR_MIN;
		if (bars->width > bars->timeline->row_count)
			bars->width = bars->timeline->row_count;
	}
}

/* "Over time, 0 → 1.3 s      total of run": the headings of both sides. */
static void write_scale(const struct bars *bars, const struct bar_row *rows, size_t count)
{
	char heading[UNITS_TEXT + 32], duration[UNITS_TEXT];
	size_t columns;

	if (!count)
		return;
	snprintf(heading, sizeof(heading), "Over time, 0 → %s",
		 units_ns(duration, bars->duration_ns));
	columns = escape_columns(heading, strlen(heading));
	sink_text(bars->out, heading);
	if (rows[0].kind == TIME && !rows[0].summed && columns < LABEL + 1 + bars->width) {
		sink_repeat(bars->out, ' ', LABEL + 1 + bars->width - columns);
		sink_format(bars->out, "  %8s %6s", "total", "of run");
	}
	sink_char(bars->out, '\n');
}

void bars_write(struct sink *out, const struct table *timeline, const struct style *style)
{
	struct bars bars = { .timeline = timeline, .style = style, .out = out };
	struct bar_row rows[TIMELINE_COLUMNS];
	size_t count = 0;

	if (!timeline->row_count)
		return;
	bars.duration_ns = sum_of(&bars, TIMELINE_LENGTH, 0, timeline->row_count);
	add_row(&bars, rows, &count, TIMELINE_COMPUTE, "Compute", TIME);
	add_row(&bars, rows, &count, TIMELINE_IO, count ? "I/O, no compute" : "I/O", TIME);
	if (count)
		add_parts(&bars, rows, &count, rows[count - 1].sum);
	add_row(&bars, rows, &count, TIMELINE_FETCHED, "From storage", BYTES);
	add_row(&bars, rows, &count, TIMELINE_DIRECT_READ, "Direct reads", BYTES);
	if (!count)
		return;
	sink_char(out, '\n');
	set_width(&bars, rows, count);
	write_scale(&bars, rows, count);
	for (size_t i = 0; i < count; i++)
		write_row(&bars, &rows[i]);
}
