/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations in a row that a process did alike, over and over: what they come to is summed up once,
 * for all who would add one after the other. Knows nothing of what they are added to.
 */
#ifndef FAULTLINE_SERIES_H
#define FAULTLINE_SERIES_H

#include "analysis/model/tally.h"

/* Of one process, operation, class, method and flags, none of them summed up, in the order of their
 * starts. */
struct event_series {
	const struct event *events;
	size_t count;
	struct tally sums;
	/* Of the stretches without a gap that their times make, whose measure is `sums.time`, and
	 * the end of the last one its end: */
	uint64_t first_end;
	uint64_t last_start; /* of the last one: events->start where there is one alone */
	uint64_t longest_ns; /* of all of them */
	bool lacking;	     /* one moved fewer bytes than it asked for */
};

/* From so many on it is worth it. */
#define SERIES_WORTH 32

/* Finds the next SERIES_WORTH or more events that are alike, none before *first: returns how many
 * there are, and *first is where they begin; 0 for no more. */
size_t event_series_find(const struct event *events, size_t count, size_t *first);
void event_series_sum(struct event_series *series, const struct event *events, size_t count);

/* Merges their times into those of earlier ones, as interval_add does one by one. */
static inline void event_series_merge_time(struct interval_union *time,
					   const struct event_series *series)
{
	const struct interval_union *more = &series->sums.time;
	uint64_t start = series->events->start;

	if (time->end <= series->first_end) {
		time->measure += more->measure - (time->end > start ? time->end - start : 0);
		time->end = more->end;
		return;
	}
	if (time->end >= more->end)
		return;
	for (size_t i = 0; i < series->count; i++)
		interval_add(time, series->events[i].start, series->events[i].end);
}

/* As tally_add_time of each. */
static inline void event_series_add_time(struct tally *tally, const struct event_series *series)
{
	tally->thread_time_ns += series->sums.thread_time_ns;
	event_series_merge_time(&tally->time, series);
}

/* As tally_add of each. */
static inline void event_series_add(struct tally *tally, const struct event_series *series)
{
	tally_add_counts(tally, &series->sums);
	if (series->events->flags & EVENT_TIMED)
		event_series_add_time(tally, series);
}

#endif
