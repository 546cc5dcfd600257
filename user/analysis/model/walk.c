/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tells consumers of events, and of spans as they begin and end. Knows nothing of what they make
 * of it.
 */
#include "analysis/model/walk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analysis/base/beside.h"

/* Who is told what moment by moment; who is told events apart; whom those at hand matter to of
 * those that are told them moment by moment. */
enum { TOLD_EVENTS, TOLD_BEGINS, TOLD_ENDS, TOLD_REFUSED, TOLD_APART, TOLD_NOW, TOLD };

struct listeners {
	const struct walk_consumer **list;
	size_t count;
};

struct walking {
	const struct walk *walk;
	struct job *job;
	struct listeners told[TOLD];
	struct beside *beside; /* NULL: all are told on this thread */
	/* What those apart are told now, and which of them is next. */
	const struct event *events;
	size_t count;
	uint64_t matters; /* what is among them: see walk_calls.matters */
	/* Those among them that are alike, none over the end of a slice; and from which of them on
	 * consumers are to be told that are told moment by moment. */
	struct event_series series[CURSOR_BATCH_MOST / SERIES_WORTH];
	size_t series_count, series_next;
	atomic_size_t apart_next;
	atomic_int apart_status; /* of one that failed */
};

/* Tells each consumer that wants to know. */
#define TELL(walking, status, what, call, ...)                                                     \
	do {                                                                                       \
		const struct listeners *to = &(walking)->told[what];                               \
                                                                                                   \
		for (size_t i = 0; i < to->count && !(status); i++)                                \
			(status) = to->list[i]->calls->call(to->list[i]->state, __VA_ARGS__);      \
	} while (0)

/* Those that are no sums, in runs without such between. */
static int tell_single(const struct walk_consumer *consumer, const struct event *events,
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

/* What is among events: see walk_calls.matters. */
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

/* Of events at hand: whoever is told moment by moment is told of few at a time. */
static void find_due(struct walking *walking)
{
	const struct listeners *all = &walking->told[TOLD_EVENTS];
	struct listeners *now = &walking->told[TOLD_NOW];

	now->count = 0;
	for (size_t i = 0; i < all->count; i++)
		if (is_due(walking, all->list[i]))
			listen(now, all->list[i]);
}

/* Sums up those of a slice that are alike. What passes a filter is known one by one. */
static void find_series(struct walking *walking, const struct event *events, size_t count)
{
	size_t first = 0, alike;

	if (walking->walk->filter)
		return;
	for (; (alike = event_series_find(events, count, &first)); first += alike)
		event_series_sum(&walking->series[walking->series_count++], events + first, alike);
}

static inline int tell_some(const struct walking *walking, const struct walk_consumer *consumer,
			    const struct event *events, size_t count)
{
	if (walking->job->summed && !consumer->calls->sums)
		return tell_single(consumer, events, count);
	return consumer->calls->events(consumer->state, events, count);
}

/* Those that are alike at once. */
static int tell_series(const struct walking *walking, const struct walk_consumer *consumer,
		       const struct event *events, size_t count, size_t from)
{
	const struct event *next = events, *end = events + count;
	int status = 0;

	for (size_t i = from; i < walking->series_count && !status; i++) {
		const struct event_series *series = &walking->series[i];

		if (series->events >= end)
			break;
		if (series->events > next)
			status = tell_some(walking, consumer, next, series->events - next);
		if (!status)
			status = consumer->calls->series(consumer->state, series);
		next = series->events + series->count;
	}
	return status || next == end ? status : tell_some(walking, consumer, next, end - next);
}

/* `from`: the first of those alike that are among the events, or come later. */
static inline int tell(const struct walking *walking, const struct walk_consumer *consumer,
		       const struct event *events, size_t count, size_t from)
{
	if (consumer->calls->series && from < walking->series_count)
		return tell_series(walking, consumer, events, count, from);
	return tell_some(walking, consumer, events, count);
}

static int tell_run(struct walking *walking, const struct event *events, size_t count)
{
	const struct listeners *now = &walking->told[TOLD_NOW];
	size_t from = walking->series_next;
	int status = 0;

	while (from < walking->series_count && walking->series[from].events < events)
		from++;
	for (size_t i = 0; i < now->count && count && !status; i++)
		status = tell(walking, now->list[i], events, count, from);
	walking->series_next = from;
	return status;
}

/* Those that are wanted, in runs without others between. */
static int tell_events(struct walking *walking, const struct event *events, size_t count)
{
	struct filter_state *filter = walking->walk->filter;
	size_t first = 0;
	int status = 0;

	for (size_t i = 0; filter && i < count && !status; i++) {
		if (filter_passes(filter, &events[i]))
			continue;
		status = tell_run(walking, events + first, i - first);
		first = i + 1;
	}
	return status ? status : tell_run(walking, events + first, count - first);
}

static int begin_span(struct walking *walking, const struct event *event)
{
	struct job *job = walking->job;
	const struct span begun = {
		.id = event->id,
		.begin_ns = event->start,
		.process = event->process,
		.thread = event->thread,
		.label = event->label,
	};
	uint32_t slot;
	int status = open_spans_begin(&job->spans, &begun, &job->processes, &slot);

	if (!status && slot == SPAN_NONE)
		TELL(walking, status, TOLD_REFUSED, span_refused, event);
	else if (!status)
		TELL(walking, status, TOLD_BEGINS, span_begun, slot, event);
	return status;
}

static int end_span(struct walking *walking, uint32_t slot, uint64_t end_ns, bool unfinished,
		    const struct event *event)
{
	struct span *span = &walking->job->spans.slots[slot];
	int status = 0;

	span->end_ns = end_ns > span->begin_ns ? end_ns : span->begin_ns;
	span->unfinished = unfinished;
	TELL(walking, status, TOLD_ENDS, span_ended, slot, event);
	open_spans_close(&walking->job->spans, slot);
	return status;
}

/* What an event changes about the spans that are open. */
static int take_turn(struct walking *walking, const struct event *event)
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
		if (!(events[i].flags & EVENT_TURN))
			continue;
		status = tell_events(walking, events + first, i - first);
		if (!status)
			status = take_turn(walking, &events[i]);
		first = walking->walk->turns ? i : i + 1;
	}
	return status ? status : tell_events(walking, events + first, count - first);
}

struct last_end {
	uint64_t end_ns, serial;
	uint32_t slot;
};

/* The innermost first. */
static int compare_ends(const void *left, const void *right)
{
	const struct last_end *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->serial > b->serial ? -1 : 1;
}

/* Spans that are open when all is over end with their traces, or where the walk does. */
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

/* --- consumers that are told apart --- */

static size_t slice_of(size_t left)
{
	return left < CURSOR_BATCH ? left : CURSOR_BATCH;
}

static int tell_apart(const struct walking *walking, size_t number, const struct event *events,
		      size_t count)
{
	const struct walk_consumer *consumer = walking->told[TOLD_APART].list[number];

	return is_due(walking, consumer) ? tell(walking, consumer, events, count, 0) : 0;
}

/* One after the other is told all events, by whoever has time: for two threads at once. */
static void tell_next(void *context)
{
	struct walking *walking = context;
	size_t next;

	while ((next = atomic_fetch_add(&walking->apart_next, 1)) <
	       walking->told[TOLD_APART].count) {
		int status = tell_apart(walking, next, walking->events, walking->count);

		if (status)
			atomic_store(&walking->apart_status, status);
	}
}

/* Alone: a few events to all of them, while they are in the processor's cache, then the next. */
static int tell_all(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < walking->told[TOLD_APART].count && !status; i++)
		status = tell_apart(walking, i, events, count);
	return status;
}

/* What passes a filter is known moment by moment. */
static int part_consumers(struct walking *walking)
{
	const struct walk *walk = walking->walk;
	struct listeners *told = walking->told;

	for (int i = 0; i < TOLD; i++) {
		told[i].list = calloc(walk->consumer_count + 1, sizeof(*told[i].list));
		if (!told[i].list)
			return -ENOMEM;
	}
	for (size_t i = 0; i < walk->consumer_count; i++) {
		const struct walk_consumer *consumer = &walk->consumers[i];
		const struct walk_calls *calls = consumer->calls;
		int events = calls->apart && !walk->filter ? TOLD_APART : TOLD_EVENTS;

		if (calls->events)
			listen(&told[events], consumer);
		if (calls->span_begun)
			listen(&told[TOLD_BEGINS], consumer);
		if (calls->span_ended)
			listen(&told[TOLD_ENDS], consumer);
		if (calls->span_refused)
			listen(&told[TOLD_REFUSED], consumer);
	}
	return 0;
}

/* What is asked of events before anybody is told of them. */
static inline void look_at(struct walking *walking, const struct event *events, size_t count)
{
	walking->matters = what_matters(events, count);
	find_due(walking);
	walking->series_count = walking->series_next = 0;
	for (size_t at = 0; at < count; at += CURSOR_BATCH)
		find_series(walking, events + at, slice_of(count - at));
}

/* With a thread that helps: those that are told apart are told of all events at once. */
static int take_helped(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	walking->events = events;
	walking->count = count;
	look_at(walking, events, count);
	atomic_store(&walking->apart_next, 0);
	beside_start(walking->beside);
	for (size_t at = 0; at < count && !status; at += CURSOR_BATCH)
		status = take_events(walking, events + at, slice_of(count - at));
	beside_join(walking->beside);
	return status ? status : atomic_load(&walking->apart_status);
}

static int take_alone(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t at = 0; at < count && !status; at += CURSOR_BATCH) {
		size_t some = slice_of(count - at);

		look_at(walking, events + at, some);
		status = take_events(walking, events + at, some);
		if (!status)
			status = tell_all(walking, events + at, some);
	}
	return status;
}

static int walk_through(struct walking *walking, struct cursor *cursor, struct trace_error *error)
{
	const struct walk *walk = walking->walk;
	const struct event *events;
	double told = 0;
	size_t count;
	int status;

	do {
		status = cursor_next(cursor, &events, &count, error);
		if (!status && count && walking->beside && cursor_is_ahead(cursor))
			status = take_helped(walking, events, count);
		else if (!status && count)
			status = take_alone(walking, events, count);
		if (walk->progress && cursor_progress(cursor) != told) {
			told = cursor_progress(cursor);
			walk->progress(walk->context, told);
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

	options.most = CURSOR_BATCH_MOST;
	if (!status)
		status = cursor_open(&cursor, job, &options);
	if (status)
		goto out;
	if (walking.told[TOLD_APART].count && cursor_is_threaded(cursor))
		status = beside_open(&walking.beside, tell_next, &walking);
	if (!status)
		status = walk_through(&walking, cursor, error);
	beside_close(walking.beside);
	cursor_close(cursor);
out:
	for (int i = 0; i < TOLD; i++)
		free(walking.told[i].list);
	return status;
}
