/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums over events. */
#pragma once

#include "analysis/events/event.h"
#include "collections/interval.h"

/* All zeros is empty. Sums of hostile numbers wrap around. */
struct tally {
	uint64_t count, errors;
	uint64_t bytes, fetched_bytes, created_bytes, dirtied_bytes, read_for_write_bytes;
	uint64_t major;
	uint64_t thread_time_ns;
	struct interval_union time; /* its measure is the merged time */
};

/* Merges the time of an event into that of others. For aggregated events, thread time stands in for
 * the union of their intervals, which is unknown: see summed.h. */
static inline void tally_merge_time(struct interval_union *time, const struct event *event)
{
	if (event->flags & EVENT_SUMMED)
		time->measure += event->summed_ns;
	else
		interval_add(time, event->start, event->end);
}

static inline void tally_add_time(struct tally *tally, const struct event *event)
{
	tally->thread_time_ns += event_time_ns(event);
	tally_merge_time(&tally->time, event);
}

/* Events must come in the order of their starts. */
static inline void tally_add(struct tally *tally, const struct event *event)
{
	if (event->flags & EVENT_COUNTED) {
		tally->count += event_count(event);
		tally->errors += event_errors(event);
	}
	tally->bytes += event->bytes;
	tally->fetched_bytes += event->fetched_bytes;
	tally->created_bytes += event->created_bytes;
	tally->dirtied_bytes += event->dirtied_bytes;
	tally->read_for_write_bytes += event_read_for_write(event);
	tally->major += event->major;
	if (event->flags & EVENT_TIMED)
		tally_add_time(tally, event);
}

/* Adds everything but the time. */
static inline void tally_add_counts(struct tally *tally, const struct tally *more)
{
	tally->count += more->count;
	tally->errors += more->errors;
	tally->bytes += more->bytes;
	tally->fetched_bytes += more->fetched_bytes;
	tally->created_bytes += more->created_bytes;
	tally->dirtied_bytes += more->dirtied_bytes;
	tally->read_for_write_bytes += more->read_for_write_bytes;
	tally->major += more->major;
}

/* Adds a tally over a different time: the union of both is then unknown. */
void tally_fold(struct tally *tally, const struct tally *more);

/* Adds what the kernel counted beyond the rows. The merged time does not change. */
void tally_add_unseen(struct tally *tally, const struct trace_operation_total *unseen,
		      const struct event_unseen *target);
