/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "device_heat": requests of the run by creation time, and by latency or size in classes that
 * double. Memory does not depend on the number of requests.
 */
#include "analysis/devices/heat.h"

#include "analysis/events/device_list.h"
#include "base/number.h"

enum measure { BY_LATENCY, BY_SIZE, MEASURES };

#define CLASSES 26 /* from 1 us to half a minute; from 4 KiB to 64 GiB */

static const struct {
	const char *name;
	uint64_t first; /* upper bound of the first class */
} measures[MEASURES] = {
	[BY_LATENCY] = { HEAT_LATENCY, 1000 },
	[BY_SIZE] = { HEAT_SIZE, 4096 },
};

struct map_of {
	uint64_t counts[CLASSES][HEAT_STRETCHES];
};

struct heated {
	struct map_of *of[DEVICE_USES][MEASURES]; /* NULL: no requests */
};

struct heat {
	const struct job *job;
	struct arena *arena;
	uint64_t stretch_ns;
	struct device_list list;
	struct heated *devices; /* indexed as in the list */
	size_t room;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct heat *heat = state;

	heat->job = job;
	heat->arena = arena;
	device_list_init(&heat->list, job, arena);
	heat->stretch_ns = number_sub(job->end_ns, job->start_ns) / HEAT_STRETCHES + 1;
}

/* --- during the walk --- */

/* Classes include their upper bound; each is twice as wide as the previous one. */
static unsigned int class_of(enum measure measure, uint64_t value)
{
	unsigned int class = 0;

	for (uint64_t upto = measures[measure].first; class < CLASSES - 1 && value > upto;
	     upto *= 2)
		class ++;
	return class;
}

static void add(struct heat *heat, struct heated *heated, enum device_use use, enum measure measure,
		uint64_t value, size_t stretch)
{
	struct map_of **map = &heated->of[use][measure];

	if (!*map)
		*map = arena_alloc(heat->arena, sizeof(**map));
	if (*map)
		(*map)->counts[class_of(measure, value)][stretch]++;
}

static void add_request(void *state, const struct event *event)
{
	struct heat *heat = state;
	const struct job *job = heat->job;
	enum device_use use = job->operations[event->operation].use;
	size_t stretch = number_sub(event->start, job->start_ns) / heat->stretch_ns;
	struct heated *heated;
	size_t number;

	if (use == DEVICE_USES || event->flags & EVENT_SECOND)
		return;
	number = device_list_add(&heat->list, event);
	if (number == DEVICE_UNLISTED ||
	    !ARENA_GROW(heat->arena, heat->devices, heat->room, number + 1))
		return;
	heated = &heat->devices[number];
	if (stretch >= HEAT_STRETCHES)
		stretch = HEAT_STRETCHES - 1;
	add(heat, heated, use, BY_LATENCY, event->end - event->start, stretch);
	if (use != DEVICE_FLUSHES)
		add(heat, heated, use, BY_SIZE, event_value(event, REQUEST_BYTES), stretch);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct heat *heat = state;

	device_list_each(&heat->list, events, count, add_request, heat);
	return arena_status(heat->arena);
}

/* --- the table --- */

struct time_line {
	uint64_t start_ns, requests;
};

static const struct table_column time_columns[HEAT_TIME_COLUMNS] = {
	[HEAT_TIME_START] = COLUMN(time_line, start_ns, NULL, NS, MOMENT,
				   "start of the interval, since the start of the run"),
	[HEAT_TIME_REQUESTS] = COLUMN(time_line, requests, NULL, COUNT, SUM,
				      "requests of the class created in the interval"),
};

struct heat_row {
	struct table_text name;
	uint32_t dev;
	const char *op, *measure;
	uint64_t above, upto, requests, stretch_ns;
	const uint64_t *counts;
};

/* Intervals without requests are left out. */
static void get_over_time(struct table *table, struct cell *cell, const void *row,
			  const struct table_column *column)
{
	const struct heat_row *line = row;
	struct table *list = table_set_table(table, cell, TABLE_LIST);

	table_add_columns(list, TABLE_COLUMNS(time_columns));
	for (size_t i = 0; i < HEAT_STRETCHES; i++) {
		const struct time_line of = { i * line->stretch_ns, line->counts[i] };

		if (of.requests)
			table_add(list, &of);
	}
}

static const struct table_column columns[HEAT_COLUMNS] = {
	[HEAT_NAME] = COLUMN(heat_row, name, "device", NONE, FACT,
			     "name of the device, as in /sys/block"),
	[HEAT_DEV] = COLUMN(heat_row, dev, "number", NONE, FACT, "major:minor of the whole device"),
	[HEAT_OP] = COLUMN(heat_row, op, "op", NONE, FACT, "read, write, discard or flush"),
	[HEAT_MEASURE] = COLUMN(
		heat_row, measure, "measure", NONE, FACT,
		"measured quantity and its unit: latency_ns (queue and service) or size_bytes"),
	[HEAT_ABOVE] = COLUMN(heat_row, above, "above", NONE, FACT,
			      "exclusive lower bound of the class, in the unit of measure"),
	[HEAT_UPTO] = COLUMN(
		heat_row, upto, "up to", NONE, FACT,
		"inclusive upper bound of the class, in the unit of measure; null: no bound"),
	[HEAT_REQUESTS] = COLUMN(heat_row, requests, "requests", COUNT, SUM,
				 "requests of the run in the class"),
	[HEAT_STRETCH] = COLUMN(heat_row, stretch_ns, NULL, NS, DURATION,
				"length of an interval of over_time"),
	[HEAT_OVER_TIME] = { "over_time", "over time", UNIT_NONE, KIND_FACT,
			     "requests of the class over the run, as a list of start_ns and "
			     "requests for each interval of stretch_ns; intervals without any are "
			     "omitted",
			     .get = get_over_time },
};

static uint64_t sum_of(const uint64_t counts[HEAT_STRETCHES])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < HEAT_STRETCHES; i++)
		sum += counts[i];
	return sum;
}

/* Adds a row for each class from the first to the last one with a request. */
static void add_map(struct table *table, struct heat_row *line, const struct map_of *map,
		    enum measure measure)
{
	size_t first = 0, last = CLASSES - 1;

	while (!sum_of(map->counts[first]))
		first++;
	while (!sum_of(map->counts[last]))
		last--;
	line->measure = measures[measure].name;
	for (size_t class = first; class <= last; class ++) {
		line->above = class ? measures[measure].first << (class - 1) : 0;
		line->upto = class < CLASSES - 1 ? measures[measure].first << class : TABLE_NO_UINT;
		line->counts = map->counts[class];
		line->requests = sum_of(line->counts);
		table_add(table, line);
	}
}

static void fill(void *state, struct table *table)
{
	struct heat *heat = state;

	if (table_absent_if(table, device_list_lacks(&heat->list), device_list_lacks(&heat->list)))
		return;
	table_add_columns(table, columns, HEAT_COLUMNS);
	for (size_t i = 0; i < heat->list.count; i++) {
		const struct listed_device *device = &heat->list.devices[i];
		const struct heated *heated = &heat->devices[i];
		struct heat_row line = { .name = { device->name.bytes, device->name.length },
					 .dev = device->dev,
					 .stretch_ns = heat->stretch_ns };

		for (int use = 0; use < DEVICE_USES; use++) {
			line.op = device_use_names[use];
			for (int measure = 0; measure < MEASURES; measure++)
				if (heated->of[use][measure])
					add_map(table, &line, heated->of[use][measure], measure);
		}
	}
	device_list_note(&heat->list, table);
}

const struct analysis analysis_device_heat = {
	.name = "device_heat",
	.title = "Requests over time",
	.meaning = "latency and size of device requests over the run",
	.shown = "name,op,measure,above,upto,requests,over_time",
	.shape = TABLE_LIST,
	.heat = true,
	.state_bytes = sizeof(struct heat),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_REQUEST | EVENT_DEVICE },
	.columns = {
		[TRACE_REQUEST] = DEVICE_OF_REQUEST | 1ull << REQUEST_BYTES,
		[TRACE_REMOTE] = DEVICE_OF_REMOTE | 1ull << REMOTE_BYTES,
		[TRACE_DEVICE] = DEVICE_OF_DEVICE | 1ull << DEVICE_NAME,
	},
	.fill = fill,
	.merging = { .alone = true },
};
