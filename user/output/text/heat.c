/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Heat maps: time runs to the right, slower or larger requests are higher, and cells with more
 * requests are darker.
 */
#include "output/text/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/devices/heat.h"
#include "base/number.h"
#include "base/units.h"
#include "output/base/escape.h"

#define MAPS_MAX 6 /* maps drawn, those with the most requests first ... */
#define MAP_MIN 16 /* ... and minimum requests of all but the first */
#define LABEL 10   /* "≤ 1000 KiB" */
#define DARKNESSES 4

/* Rows of the table with the same device, kind of request and measure. */
struct heat_map {
	size_t first, count;
	uint64_t requests;
};

static const struct cell *cell_at(const struct table *heat, size_t row, enum heat_column column)
{
	return &table_row(heat, row)[column];
}

static bool same_text(const struct cell *a, const struct cell *b)
{
	return a->type == b->type &&
	       (a->type != CELL_TEXT ||
		(a->length == b->length && !memcmp(a->text, b->text, a->length)));
}

static bool same_map(const struct table *heat, size_t a, size_t b)
{
	static const enum heat_column keys[] = { HEAT_NAME, HEAT_DEV, HEAT_OP, HEAT_MEASURE };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!same_text(cell_at(heat, a, keys[i]), cell_at(heat, b, keys[i])))
			return false;
	return true;
}

static struct heat_map map_at(const struct table *heat, size_t first)
{
	struct heat_map map = { .first = first };

	for (size_t row = first; row < heat->row_count && same_map(heat, first, row); row++) {
		map.requests += cell_at(heat, row, HEAT_REQUESTS)->uint;
		map.count++;
	}
	return map;
}

/* Chooses the maps with the most requests, in descending order. Returns the number of all maps. */
static size_t choose_maps(const struct table *heat, struct heat_map maps[MAPS_MAX], size_t *count)
{
	size_t all = 0;

	*count = 0;
	for (size_t row = 0; row < heat->row_count; all++) {
		struct heat_map map = map_at(heat, row);
		size_t index = *count;

		row += map.count;
		while (index && maps[index - 1].requests < map.requests)
			index--;
		if (index == MAPS_MAX)
			continue;
		if (*count < MAPS_MAX)
			++*count;
		memmove(&maps[index + 1], &maps[index], (*count - 1 - index) * sizeof(*maps));
		maps[index] = map;
	}
	while (*count > 1 && maps[*count - 1].requests < MAP_MIN)
		--*count;
	return all;
}

static void counts_of(const struct table *heat, size_t row, uint64_t counts[HEAT_STRETCHES])
{
	const struct table *times = cell_at(heat, row, HEAT_OVER_TIME)->table;
	uint64_t stretch_ns = cell_at(heat, row, HEAT_STRETCH)->uint;

	memset(counts, 0, HEAT_STRETCHES * sizeof(*counts));
	for (size_t i = 0; i < times->row_count; i++) {
		const struct cell *cells = table_row(times, i);
		size_t stretch = cells[HEAT_TIME_START].uint / stretch_ns;

		if (stretch < HEAT_STRETCHES)
			counts[stretch] = cells[HEAT_TIME_REQUESTS].uint;
	}
}

static uint64_t max_of(const struct table *heat, const struct heat_map *map)
{
	uint64_t counts[HEAT_STRETCHES], max = 0;

	for (size_t row = map->first; row < map->first + map->count; row++) {
		counts_of(heat, row, counts);
		for (size_t i = 0; i < HEAT_STRETCHES; i++)
			max = number_max(counts[i], max);
	}
	return max;
}

/* Logarithmic: a single slow request must be visible next to thousands of fast ones. */
static const char *darkness_of(uint64_t count, uint64_t max)
{
	static const char *const levels[] = { "\u2591", "\u2592", "\u2593", "\u2588" };
	size_t level;

	if (!count)
		return "\u00b7";
	level = max > 1 ? (size_t)(log2(count) / log2(max) * DARKNESSES) : DARKNESSES - 1;
	return levels[level < DARKNESSES ? level : DARKNESSES - 1];
}

static void write_title(struct sink *out, const struct table *heat, const struct heat_map *map,
			const struct style *style)
{
	const struct cell *name = cell_at(heat, map->first, HEAT_NAME);
	const struct cell *op = cell_at(heat, map->first, HEAT_OP);
	bool size = cell_is(cell_at(heat, map->first, HEAT_MEASURE), HEAT_SIZE);
	char text[UNITS_TEXT];

	if (name->type != CELL_TEXT)
		name = cell_at(heat, map->first, HEAT_DEV);
	style_mark(out, style, STYLE_QUIET);
	escape_text(out, name->text, name->length);
	sink_char(out, ' ');
	escape_text(out, op->text, op->length);
	sink_format(out, " by %s, %s requests, darkest %s\n",
		    size ? "size" : "time in queue and service", units_count(text, map->requests),
		    units_count((char[UNITS_TEXT]) { 0 }, max_of(heat, map)));
	style_mark(out, style, STYLE_PLAIN);
}

static void write_label(struct sink *out, const struct table *heat, size_t row)
{
	const struct cell *upto = cell_at(heat, row, HEAT_UPTO);
	bool size = cell_is(cell_at(heat, row, HEAT_MEASURE), HEAT_SIZE);
	char end[UNITS_TEXT], label[UNITS_TEXT + 8];
	uint64_t value =
		upto->type == CELL_UINT ? upto->uint : cell_at(heat, row, HEAT_ABOVE)->uint;
	size_t columns;

	snprintf(label, sizeof(label), "%s%s", upto->type == CELL_UINT ? "\u2264 " : "> ",
		 size ? units_bytes(end, value) : units_ns(end, value));
	columns = escape_columns(label, strlen(label));
	sink_repeat(out, ' ', number_sub(LABEL, columns));
	sink_text(out, label);
	sink_text(out, "  ");
}

static void write_map(struct sink *out, const struct table *heat, const struct heat_map *map,
		      const struct style *style)
{
	uint64_t counts[HEAT_STRETCHES], max = max_of(heat, map);
	char text[UNITS_TEXT];

	write_title(out, heat, map, style);
	for (size_t row = map->first + map->count; row-- > map->first;) {
		counts_of(heat, row, counts);
		write_label(out, heat, row);
		for (size_t i = 0; i < HEAT_STRETCHES; i++)
			sink_text(out, darkness_of(counts[i], max));
		sink_format(out, "  %s\n",
			    units_count(text, cell_at(heat, row, HEAT_REQUESTS)->uint));
	}
}

void heat_write(struct sink *out, const struct table *heat, const struct style *style)
{
	struct heat_map maps[MAPS_MAX + 1];
	size_t count, all = choose_maps(heat, maps, &count);

	for (size_t i = 0; i < count; i++)
		write_map(out, heat, &maps[i], style);
	if (all > count)
		sink_format(out,
			    "maps with fewer requests omitted: %zu (--table %s --format json)\n",
			    all - count, heat->name);
}
