/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tells consumers of events, and of spans as they begin and end. Knows nothing of what they make
 * of it.
 */
#include "analysis/walk.h"

#include <errno.h>
#include <stdlib.h>

struct walking {
	const struct walk *walk;
	struct job *job;
};

/* Tells each consumer that wants to know. */
#define TELL(walking, status, call, ...)                                                           \
	do {                                                                                       \
		const struct walk *of = (walking)->walk;                                           \
                                                                                                   \
		for (size_t i = 0; i < of->consumer_count && !(status); i++)                       \
			if (of->consumers[i].calls->call)                                          \
				(status) = of->consumers[i].calls->call(of->consumers[i].state,    \
									__VA_ARGS__);              \
	} while (0)

static int tell_run(struct walking *walking, const struct event *events, size_t count)
{
	int status = 0;

	if (count)
		TELL(walking, status, events, events, count);
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
	uint32_t slot;
	int status = open_spans_begin(&job->spans, event, &job->processes, &slot);

	if (!status && slot == SPAN_NONE)
		TELL(walking, status, span_refused, event);
	else if (!status)
		TELL(walking, status, span_begun, slot, event);
	return status;
}

static int end_span(struct walking *walking, uint32_t slot, uint64_t end_ns, bool unfinished,
		    const struct event *event)
{
	struct span *span = &walking->job->spans.slots[slot];
	int status = 0;

	span->end_ns = end_ns > span->begin_ns ? end_ns : span->begin_ns;
	span->unfinished = unfinished;
	TELL(walking, status, span_ended, slot, event);
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

int walk_run(struct job *job, const struct walk *walk, struct trace_error *error)
{
	struct walking walking = { .walk = walk, .job = job };
	const struct event *events;
	struct cursor *cursor;
	double told = 0;
	size_t count;
	int status = cursor_open(&cursor, job, &walk->cursor);

	if (status)
		return status;
	do {
		status = cursor_next(cursor, &events, &count, error);
		if (!status)
			status = take_events(&walking, events, count);
		if (walk->progress && cursor_progress(cursor) != told) {
			told = cursor_progress(cursor);
			walk->progress(walk->context, told);
		}
	} while (count && !status);
	cursor_close(cursor);
	return status ? status : end_spans(&walking);
}
