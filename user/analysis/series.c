/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations in a row that are alike. Knows nothing of what they are added to.
 */
#include "analysis/series.h"

static inline uint64_t what(const struct event *event)
{
	return (uint64_t)event->flags << 32 | (uint32_t)event->operation << 16 |
	       (uint32_t)event->class << 8 | event->door;
}

size_t event_series_count(const struct event *events, size_t count)
{
	const uint64_t first = what(events);
	const uint32_t process = events->process;
	size_t alike = 1;

	if (events->class == IO_NONE || events->flags & EVENT_SUMMED)
		return 1;
	while (alike < count && what(&events[alike]) == first && events[alike].process == process)
		alike++;
	return alike;
}

void event_series_sum(struct event_series *series, const struct event *events, size_t count)
{
	struct tally sums = { .time.end = events->start };
	uint64_t first_end = events->start, last_start = events->start;
	bool gaps = false;

	for (const struct event *event = events; event < events + count; event++) {
		bool begins = (event->start > sums.time.end) & (event->end > event->start);

		sums.bytes += event->bytes;
		sums.fetched_bytes += event->fetched_bytes;
		sums.created_bytes += event->created_bytes;
		sums.dirtied_bytes += event->dirtied_bytes;
		sums.major += event->major;
		sums.thread_time_ns += event->end - event->start;
		gaps |= begins;
		last_start = begins ? event->start : last_start;
		interval_add(&sums.time, event->start, event->end);
		first_end = gaps ? first_end : sums.time.end;
	}
	if (events->flags & EVENT_COUNTED) {
		sums.count = count;
		sums.errors = events->flags & EVENT_FAILED ? count : 0;
	}
	*series = (struct event_series) { events, count, sums, first_end, last_start };
}
