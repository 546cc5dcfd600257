/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Passes events, and begins and ends of spans, to consumers. */
#include "analysis/order/walk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collections/compare.h"
#include "base/helper_thread.h"
#include "base/number.h"

/* Consumer lists: in order (events, span begins, ends, refusals), parallel-safe, due now. */
enum { ON_EVENTS, ON_BEGIN, ON_END, ON_REFUSED, ON_PARALLEL, ON_EVENTS_NOW, ON_COUNT };

struct listeners {
	const struct walk_consumer **list;
	size_t count;
};

struct walking {
	const struct walk *walk;
	struct job *job;
	struct listeners listeners[ON_COUNT];
	struct helper_thread *helper_thread; /* NULL: all consumers run on this thread */
	/* The current events of parallel-safe consumers, and which consumer is next. */
	const struct event *events;
	size_t count;
	uint64_t matters; /* flags and classes among them: see walk_calls.matters */
	/* The series among them, none across the end of a slice, and the first one that in-order
	 * consumers have not seen. */
	struct event_series series[CURSOR_BATCH_MAX / SERIES_WORTH];
	size_t series_count, series_next;
	atomic_size_t parallel_next;
	atomic_int parallel_status; /* of a consumer that failed */
};

/* Calls each consumer on a list. */
#define CALL(walking, status, what, call, ...)                                                     \
	do {                                                                                       \
		const struct listeners *to = &(walking)->listeners[what];                          \
                                                                                                   \
		for (size_t i = 0; i < to->count && !(status); i++)                                \
			(status) = to->list[i]->calls->call(to->list[i]->state, __VA_ARGS__);      \
	} while (0)

/* Passes on events that are not aggregated, in runs. */
static int emit_single(const struct walk_consumer *consumer, const struct event *events,
		       size_t count)
{
	size_t first = 0;
	int status = 0;

	for (size_t i = 0; i <= count && !status; i++) {
		if (i < count && !(events[i].flags & EVENT_SUMMED))
			continue;
		if (i > first)
			status =
				consumer->calls->events(consumer->state, events + first, i - first);
		first = i + 1;
	}
	return status;
}

/* Returns the flags and classes of events: see walk_calls.matters. */
static uint64_t what_matters(const struct event *events, size_t count)
{
	uint64_t matters = 0;

	for (const struct event *event = events; event < events + count; event++)
		matters |= event->flags | WALK_CLASS(event->class);
	return matters;
}

static inline bool is_due(const struct walking *walking, const struct walk_consumer *consumer)
{
	return !consumer->calls->matters || consumer->calls->matters & walking->matters;
}

static void listen(struct listeners *listeners, const struct walk_consumer *consumer)
{
	listeners->list[listeners->count++] = consumer;
}

/* Finds the in-order consumers for which the current events matter. */
static void find_due(struct walking *walking)
{
	const struct listeners *all = &walking->listeners[ON_EVENTS];
	struct listeners *now = &walking->listeners[ON_EVENTS_NOW];

	now->count = 0;
	for (size_t i = 0; i < all->count; i++)
		if (is_due(walking, all->list[i]))
			listen(now, all->list[i]);
}

/* Sums the series of a slice. With a filter there are none: it judges events one by one. */
static void find_series(struct walking *walking, const struct event *events, size_t count)
{
	size_t first = 0, length;

	if (walking->walk->filter)
		return;
	for (; (length = event_series_find(events, count, &first)); first += length)
		event_series_sum(&walking->series[walking->series_count++], events + first, length);
}

static inline int emit_some(const struct walking *walking, const struct walk_consumer *consumer,
			    const struct event *events, size_t count)
{
	if (walking->job->aggregated && !consumer->calls->sums)
		return emit_single(consumer, events, count);
	return consumer->calls->events(consumer->state, events, count);
}

/* Passes on each series at once. */
static int emit_series(const struct walking *walking, const struct walk_consumer *consumer,
		       const struct event *events, size_t count, size_t from)
{
	const struct event *next = events, *end = events + count;
	int status = 0;

	for (size_t i = from; i < walking->series_count && !status; i++) {
		const struct event_series *series = &walking->series[i];

		if (series->events >= end)
			break;
		if (series->events > next)
			status = emit_some(walking, consumer, next, series->events - next);
		if (!status)
			status = consumer->calls->series(consumer->state, series);
		next = series->events + series->count;
	}
	return status || next == end ? status : emit_some(walking, consumer, next, end - next);
}

/* `from`: the first series among the events, or after them. */
static inline int emit(const struct walking *walking, const struct walk_consumer *consumer,
		       const struct event *events, size_t count, size_t from)
{
	if (consumer->calls->series && from < walking->series_count)
		return emit_series(walking, consumer, events, count, from);
	return emit_some(walking, consumer, events, count);
}

static int emit_run(struct walking *walking, const struct event *events, size_t count)
{
	const struct listeners *now = &walking->listeners[ON_EVENTS_NOW];
	size_t from = walking->series_next;
	int status = 0;

	while (from < walking->series_count && walking->series[from].events < events)
		from++;
	for (size_t i = 0; i < now->count && count && !status; i++)
		status = emit(walking, now->list[i], events, count, from);
	walking->series_next = from;
	return status;
}

/* Passes on the wanted events, in runs. */
static int emit_events(struct walking *walking, const struct event *events, size_t count)
{
	struct filter_state *filter = walking->walk->filter;
	size_t first = 0;
	int status = 0;

	for (size_t i = 0; filter && i < count && !status; i++) {
		if (filter_passes(filter, &events[i]))
			continue;
		status = emit_run(walking, events + first, i - first);
		first = i + 1;
	}
	return status ? status : emit_run(walking, events + first, count - first);
}

static int begin_span(struct walking *walking, const struct event *event)
{
	struct job *job = walking->job;
	const struct span span = {
		.id = event->id,
		.begin_ns = event->start,
		.process = event->process,
		.thread = event->thread,
		.label = event->label,
	};
	uint32_t slot;
	int status = open_spans_begin(&job->spans, &span, &job->processes, &slot);

	if (!status && slot == SPAN_NONE)
		CALL(walking, status, ON_REFUSED, span_refused, event);
	else if (!status)
		CALL(walking, status, ON_BEGIN, span_begun, slot, event);
	return status;
}

static int end_span(struct walking *walking, uint32_t slot, uint64_t end_ns, bool unfinished,
		    const struct event *event)
{
	struct span *span = &walking->job->spans.slots[slot];
	int status = 0;

	span->end_ns = number_max(end_ns, span->begin_ns);
	span->unfinished = unfinished;
	CALL(walking, status, ON_END, span_ended, slot, event);
	open_spans_close(&walking->job->spans, slot);
	return status;
}

/* Applies an event that changes which spans are open. */
static int take_span_change(struct walking *walking, const struct event *event)
{
	struct open_spans *spans = &walking->job->spans;
	uint32_t slot;
	int status = 0;

	if (event->flags & EVENT_SPAN_BEGIN)
		return begin_span(walking, event);
	if (event->flags & EVENT_SPAN_END) {
		slot = open_spans_of_id(spans, event->process, event->id);
		if (slot != SPAN_NONE)
			return end_span(walking, slot, event->start, false, event);
		spans->unmatched_ends++;
		return 0;
	}
	while (!status && (slot = open_spans_of_process(spans, event->process)) != SPAN_NONE)
		status = end_span(walking, slot, event->start, true, event);
	return status;
}

static int take_events(struct walking *walking, const struct event *events, size_t count)
{
	size_t first = 0;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		if (!(events[i].flags & EVENT_SPAN_CHANGE))
			continue;
		status = emit_events(walking, events + first, i - first);
		if (!status)
			status = take_span_change(walking, &events[i]);
		first = walking->walk->turns ? i : i + 1;
	}
	return status ? status : emit_events(walking, events + first, count - first);
}

struct last_end {
	uint64_t end_ns, serial;
	uint32_t slot;
};

/* Innermost first. */
COMPARE_BY(compare_ends, struct last_end,
	   COMPARE(a->end_ns, b->end_ns) ?: COMPARE(b->serial, a->serial))

/* Spans still open at the end of the walk end with their traces, or where the walk ends. */
static int end_spans(struct walking *walking)
{
	const struct job *job = walking->job;
	uint64_t until_ns = walking->walk->cursor.until_ns;
	struct last_end *ends = reallocarray(NULL, job->spans.open + 1, sizeof(*ends));
	size_t count = 0;
	int status = 0;

	if (!ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->spans.used; i++) {
		const struct span *span = &job->spans.slots[i];
		uint64_t end_ns = job->traces[job->processes.processes[span->process].trace].end_ns;

		if (!span->serial)
			continue;
		if (until_ns && end_ns > until_ns)
			end_ns = until_ns;
		ends[count++] = (struct last_end) { end_ns, span->serial, i };
	}
	qsort(ends, count, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < count && !status; i++)
		status = end_span(walking, ends[i].slot, ends[i].end_ns, true, NULL);
	free(ends);
	return status;
}

/* --- parallel-safe consumers --- */

static size_t slice_of(size_t left)
{
	return left < CURSOR_BATCH ? left : CURSOR_BATCH;
}

static int call_parallel(const struct walking *walking, size_t number, const struct event *events,
			 size_t count)
{
	const struct walk_consumer *consumer = walking->listeners[ON_PARALLEL].list[number];

	return is_due(walking, consumer) ? emit(walking, consumer, events, count, 0) : 0;
}

/* Passes all events to one consumer after the other; runs on two threads at once. */
static void emit_next(void *context)
{
	struct walking *walking = context;
	size_t next;

	while ((next = atomic_fetch_add(&walking->parallel_next, 1)) <
	       walking->listeners[ON_PARALLEL].count) {
		int status = call_parallel(walking, next, walking->events, walking->count);

		if (status)
			atomic_store(&walking->parallel_status, status);
	}
}

/* Without a helper thread: a few events to all consumers while they are in the CPU cache, then the
 * next. */
static int emit_all(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < walking->listeners[ON_PARALLEL].count && !status; i++)
		status = call_parallel(walking, i, events, count);
	return status;
}

/* Filters depend on open spans, so consumers run in order. */
static int part_consumers(struct walking *walking)
{
	const struct walk *walk = walking->walk;
	struct listeners *listeners = walking->listeners;

	for (int i = 0; i < ON_COUNT; i++) {
		listeners[i].list = calloc(walk->consumer_count + 1, sizeof(*listeners[i].list));
		if (!listeners[i].list)
			return -ENOMEM;
	}
	for (size_t i = 0; i < walk->consumer_count; i++) {
		const struct walk_consumer *consumer = &walk->consumers[i];
		const struct walk_calls *calls = consumer->calls;
		int events = calls->parallel && !walk->filter ? ON_PARALLEL : ON_EVENTS;

		if (calls->events)
			listen(&listeners[events], consumer);
		if (calls->span_begun)
			listen(&listeners[ON_BEGIN], consumer);
		if (calls->span_ended)
			listen(&listeners[ON_END], consumer);
		if (calls->span_refused)
			listen(&listeners[ON_REFUSED], consumer);
	}
	return 0;
}

/* Prepares events before any consumer sees them. */
static inline void look_at(struct walking *walking, const struct event *events, size_t count)
{
	walking->matters = what_matters(events, count);
	find_due(walking);
	walking->series_count = walking->series_next = 0;
	for (size_t at = 0; at < count; at += CURSOR_BATCH)
		find_series(walking, events + at, slice_of(count - at));
}

/* With a helper thread: parallel-safe consumers receive all events at once. */
static int take_helped(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	walking->events = events;
	walking->count = count;
	look_at(walking, events, count);
	atomic_store(&walking->parallel_next, 0);
	helper_thread_start(walking->helper_thread);
	for (size_t at = 0; at < count && !status; at += CURSOR_BATCH)
		status = take_events(walking, events + at, slice_of(count - at));
	helper_thread_join(walking->helper_thread);
	return status ? status : atomic_load(&walking->parallel_status);
}

static int take_alone(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t at = 0; at < count && !status; at += CURSOR_BATCH) {
		size_t some = slice_of(count - at);

		look_at(walking, events + at, some);
		status = take_events(walking, events + at, some);
		if (!status)
			status = emit_all(walking, events + at, some);
	}
	return status;
}

static int walk_through(struct walking *walking, struct cursor *cursor, struct trace_error *error)
{
	const struct walk *walk = walking->walk;
	const struct event *events;
	double reported = 0;
	size_t count;
	int status;

	do {
		status = cursor_next(cursor, &events, &count, error);
		if (!status && count && walking->helper_thread && cursor_is_ahead(cursor))
			status = take_helped(walking, events, count);
		else if (!status && count)
			status = take_alone(walking, events, count);
		if (walk->progress && cursor_progress(cursor) != reported) {
			reported = cursor_progress(cursor);
			walk->progress(walk->context, reported);
		}
	} while (count && !status);
	return status ? status : end_spans(walking);
}

int walk_run(struct job *job, const struct walk *walk, struct trace_error *error)
{
	struct walking walking = { .walk = walk, .job = job };
	struct cursor_options options = walk->cursor;
	struct cursor *cursor;
	int status = part_consumers(&walking);

	options.max = CURSOR_BATCH_MAX;
	if (!status)
		status = cursor_open(&cursor, job, &options);
	if (status)
		goto out;
	if (walking.listeners[ON_PARALLEL].count && cursor_is_threaded(cursor))
		status = helper_thread_open(&walking.helper_thread, emit_next, &walking);
	if (!status)
		status = walk_through(&walking, cursor, error);
	helper_thread_close(walking.helper_thread);
	cursor_close(cursor);
out:
	for (int i = 0; i < ON_COUNT; i++)
		free(walking.listeners[i].list);
	return status;
}
