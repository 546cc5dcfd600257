/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Consecutive operations of a process that are alike: summed once for all consumers, which would
 * otherwise add them one by one.
 */
#pragma once

#include "base/number.h"
#include "analysis/events/tally.h"

/* Events of one process, operation, class, method and flags, none of them aggregated, in the order
 * of their starts. */
struct event_series {
	const struct event *events;
	size_t count;
	struct tally sums;
	/* The events' times form stretches without gaps; `sums.time` has their total and the end of
	 * the last one. */
	uint64_t first_end;
	uint64_t last_start; /* of the last stretch; events->start if there is only one */
	uint64_t longest_ns; /* longest event */
	bool lacking;	     /* an event moved fewer bytes than requested */
};

/* Shortest series worth summing. */
#define SERIES_WORTH 32

/* Finds the next SERIES_WORTH or more events that are alike, from *first on. Returns their number,
 * and sets *first to where they begin; 0 if there are no more. */
size_t event_series_find(const struct event *events, size_t count, size_t *first);
void event_series_sum(struct event_series *series, const struct event *events, size_t count);

/* Merges the times of a series into earlier ones, like interval_add for each event. */
static inline void event_series_merge_time(struct interval_union *time,
					   const struct event_series *series)
{
	const struct interval_union *more = &series->sums.time;
	uint64_t start = series->events->start;

	if (time->end <= series->first_end) {
		time->measure += more->measure - number_sub(time->end, start);
		time->end = more->end;
		return;
	}
	if (time->end >= more->end)
		return;
	for (size_t i = 0; i < series->count; i++)
		interval_add(time, series->events[i].start, series->events[i].end);
}

/* Like tally_add_time for each event. */
static inline void event_series_add_time(struct tally *tally, const struct event_series *series)
{
	tally->thread_time_ns += series->sums.thread_time_ns;
	event_series_merge_time(&tally->time, series);
}

/* Like tally_add for each event. */
static inline void event_series_add(struct tally *tally, const struct event_series *series)
{
	tally_add_counts(tally, &series->sums);
	if (series->events->flags & EVENT_TIMED)
		event_series_add_time(tally, series);
}
