/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Round trips to the server of one mount. */
#include "analysis/devices/round_trips.h"

#include <string.h>

#include "analysis/devices/devices.h"
#include "collections/histogram.h"

#define NODES_MAX (1u << 16)
#define READ_SIZES 32 /* powers of two */

struct round_trips {
	struct histogram *empty, *reads[READ_SIZES]; /* NULL: none */
	struct map last_requested; /* operation, node -> when its attributes were last asked for */
	struct round_trips_view sums;
};

static void add_time(struct histogram **histogram, struct arena *arena, uint64_t time_ns)
{
	if (!*histogram)
		*histogram = arena_alloc(arena, sizeof(**histogram));
	if (*histogram)
		histogram_add(*histogram, time_ns);
}

static unsigned int size_of(uint64_t bytes)
{
	const unsigned int size = bytes ? 63 - __builtin_clzll(bytes) : 0;

	return size < READ_SIZES ? size : READ_SIZES - 1;
}

static void add_read(struct round_trips *trips, const struct job *job, struct arena *arena,
		     const struct event *event, bool in_order)
{
	const uint64_t window =
		event->file < job->files.count ? job->files.files[event->file].readahead_bytes : 0;

	if (in_order && window && event_value(event, REMOTE_ASKED) == window)
		trips->sums.window_bytes += event->bytes;
	if (window)
		trips->sums.window = window;
	if ((int64_t)event_value(event, REMOTE_RTT) <= 0 || !event->bytes)
		return;
	add_time(&trips->reads[size_of(event->bytes)], arena, event_value(event, REMOTE_RTT));
}

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), ends = strlen(end);

	return length >= ends && !strcmp(name + length - ends, end);
}

/* Nodes beyond NODES_MAX are ignored. */
static void add_attributes(struct round_trips *trips, const struct job *job,
			   const struct event *event)
{
	const char *name = job->operations[event->operation].name;
	const uint64_t key[2] = { event->operation, event_value(event, REMOTE_NODE) };
	bool added = false;
	uint64_t *last;

	if (!key[1] || (!ends_with(name, "_getattr") && !ends_with(name, "_access")))
		return;
	last = trips->last_requested.count < NODES_MAX
		       ? map_add(&trips->last_requested, key, &added)
		       : map_find(&trips->last_requested, key);
	if (!last)
		return;
	if (!added && event->start - *last <= threshold(THRESHOLD_ATTRIBUTES_AGAIN))
		trips->sums.attributes_again++;
	*last = event->start;
}

void round_trips_add(struct round_trips **trips, const struct job *job, struct arena *arena,
		     const struct event *event, bool in_order)
{
	const enum device_use use = job->operations[event->operation].use;

	if (!*trips) {
		*trips = arena_alloc(arena, sizeof(**trips));
		if (!*trips)
			return;
		map_init_in(&(*trips)->last_requested, arena, 2, 1);
	}
	if (use == DEVICE_READS)
		add_read(*trips, job, arena, event, in_order);
	if (use != DEVICE_USES)
		return;
	add_attributes(*trips, job, event);
	if ((int64_t)event_value(event, REMOTE_RTT) > 0)
		add_time(&(*trips)->empty, arena, event_value(event, REMOTE_RTT));
}

struct round_trips_view round_trips_view(const struct round_trips *trips)
{
	struct round_trips_view view = { .empty = 0 };
	unsigned int busiest = 0;

	if (!trips)
		return view;
	view = trips->sums;
	if (trips->empty) {
		view.empty = trips->empty->count;
		view.empty_fast = histogram_percentile(trips->empty, FAST_PERCENT);
	}
	for (unsigned int i = 0; i < READ_SIZES; i++)
		if (trips->reads[i] && (!trips->reads[busiest] ||
					trips->reads[i]->count > trips->reads[busiest]->count))
			busiest = i;
	if (!trips->reads[busiest])
		return view;
	view.reads = trips->reads[busiest]->count;
	view.reads_fast = histogram_percentile(trips->reads[busiest], FAST_PERCENT);
	view.reads_p50 = histogram_percentile(trips->reads[busiest], 50);
	return view;
}

bool round_trips_are_comparable(const struct round_trips_view *trips)
{
	return trips->reads >= threshold(THRESHOLD_ROUND_TRIPS) &&
	       trips->empty >= threshold(THRESHOLD_ROUND_TRIPS);
}

const char *round_trips_limit(const struct round_trips_view *trips, double in_flight)
{
	if (!trips->reads)
		return NULL;
	if (round_trips_are_comparable(trips) &&
	    trips->empty_fast >= threshold(THRESHOLD_TRIP_OF_READ) * trips->reads_p50)
		return "the link is slow, or the server delays every request";
	if (round_trips_are_comparable(trips) &&
	    trips->reads_fast <= threshold(THRESHOLD_FAST_READ) * trips->reads_p50 &&
	    in_flight <= threshold(THRESHOLD_ONE_READ))
		return "the server is slow";
	return "the link or the server is slow; which is unknown";
}
