/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds and sums consecutive operations that are alike. */
#include "analysis/events/series.h"

#include <stddef.h>
#include <string.h>

#include "base/number.h"

/* Distance between compared events: any series contains at least two of these. */
#define STRIDE (SERIES_WORTH / 2)

/* Operation, class, method and flags in one value: nearly all events are compared. */
static inline uint64_t what(const struct event *event)
{
	uint64_t all;

	_Static_assert(offsetof(struct event, flags) + sizeof(event->flags) -
				       offsetof(struct event, operation) ==
			       sizeof(all),
		       "they stand together");
	memcpy(&all, &event->operation, sizeof(all));
	return all;
}

static inline bool are_alike(const struct event *event, const struct event *other)
{
	return what(event) == what(other) && event->process == other->process;
}

static bool may_be_alike(const struct event *event)
{
	return event->class != IO_NONE && !(event->flags & EVENT_SUMMED);
}

size_t event_series_find(const struct event *events, size_t count, size_t *first)
{
	for (size_t i = *first; i + STRIDE < count; i += STRIDE) {
		size_t from = i, to = i + 1;

		if (!are_alike(&events[i], &events[i + STRIDE]) || !may_be_alike(&events[i]))
			continue;
		while (from > *first && are_alike(&events[i], &events[from - 1]))
			from--;
		while (to < count && are_alike(&events[i], &events[to]))
			to++;
		if (to - from < SERIES_WORTH)
			continue;
		*first = from;
		return to - from;
	}
	return 0;
}

void event_series_sum(struct event_series *series, const struct event *events, size_t count)
{
	struct tally sums = { .time.end = events->start };
	uint64_t first_end = events->start, last_start = events->start, longest_ns = 0;
	bool gaps = false, lacking = false;

	for (const struct event *event = events; event < events + count; event++) {
		bool begins = (event->start > sums.time.end) & (event->end > event->start);
		uint64_t duration = event->end - event->start;

		sums.bytes += event->bytes;
		sums.fetched_bytes += event->fetched_bytes;
		sums.created_bytes += event->created_bytes;
		sums.read_for_write_bytes += event_read_for_write(event);
		sums.dirtied_bytes += event->dirtied_bytes;
		sums.major += event->major;
		sums.thread_time_ns += duration;
		longest_ns = number_max(duration, longest_ns);
		lacking |= event->bytes < event->asked_bytes;
		gaps |= begins;
		last_start = begins ? event->start : last_start;
		interval_add(&sums.time, event->start, event->end);
		first_end = gaps ? first_end : sums.time.end;
	}
	if (events->flags & EVENT_COUNTED) {
		sums.count = count;
		for (size_t i = 0; events->flags & EVENT_FAILED && i < count; i++)
			sums.errors += event_errors(&events[i]);
	}
	*series = (struct event_series) { events,     count,	  sums,	  first_end,
					  last_start, longest_ns, lacking };
}
