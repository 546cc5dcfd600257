/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps a stack of open spans per thread, and a list of open spans that do not nest.
 *
 * Viewers order slices that start together as in the file, outer first. A span is written after its
 * contents, so slices that start with it (those cut at the window's start) are buffered until the
 * span is written.
 */
#include "output/timeline/chrome_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "output/base/args.h"

#define WAITING_BYTES_MAX (1u << 20) /* per span; real traces need a few hundred */

enum ending { ENDED, UNFINISHED, WINDOW_ENDS };

void chrome_spans_init(struct chrome_spans *spans, struct chrome_threads *threads,
		       const struct chrome_window *window, uint64_t min_duration_ns)
{
	*spans = (struct chrome_spans) {
		.threads = threads,
		.window = window,
		.min_duration_ns = min_duration_ns,
	};
}

void chrome_spans_free(struct chrome_spans *spans)
{
	for (size_t i = 0; i < spans->room; i++)
		sink_close(&spans->spans[i].waiting);
	free(spans->spans);
}

static const struct span *job_span(const struct chrome_spans *spans, uint32_t number)
{
	return &spans->threads->job->spans.slots[number];
}

static struct chrome_thread *thread_of(const struct chrome_spans *spans,
				       const struct chrome_span *span)
{
	return &spans->threads->threads[span->thread];
}

/* --- open spans --- */

static int make_room(struct chrome_spans *spans)
{
	size_t known = spans->room;

	if (!GROW(spans->spans, spans->room, spans->threads->job->spans.room))
		return -ENOMEM;
	for (; known < spans->room; known++)
		sink_open_memory(&spans->spans[known].waiting);
	return 0;
}

static void unlink_span(struct chrome_spans *spans, uint32_t number)
{
	const struct chrome_span *span = &spans->spans[number];
	struct chrome_thread *thread = thread_of(spans, span);

	if (span->above != CHROME_NONE)
		spans->spans[span->above].below = span->below;
	else if (span->aside)
		thread->aside = span->below;
	else
		thread->top = span->below;
	if (span->below != CHROME_NONE)
		spans->spans[span->below].above = span->above;
}

static void link_span(struct chrome_spans *spans, uint32_t number)
{
	struct chrome_span *span = &spans->spans[number];
	struct chrome_thread *thread = thread_of(spans, span);
	uint32_t *first = span->aside ? &thread->aside : &thread->top;

	span->below = *first;
	span->above = CHROME_NONE;
	if (*first != CHROME_NONE)
		spans->spans[*first].above = number;
	*first = number;
}

/* --- buffering --- */

static uint64_t drawn_start(const struct chrome_spans *spans, uint32_t number)
{
	const struct chrome_window *window = spans->window;
	uint64_t start = job_span(spans, number)->begin_ns;

	return (start > window->from_ns ? start : window->from_ns) - window->base_ns;
}

/* Returns the sink for a slice: the buffer of the open span that starts with it, if any. */
static struct sink *place_for(struct chrome_spans *spans, uint32_t below, uint64_t start_ns)
{
	struct chrome_span *span = below == CHROME_NONE ? NULL : &spans->spans[below];

	if (span && drawn_start(spans, below) >= start_ns && span->waiting.used < WAITING_BYTES_MAX)
		return &span->waiting;
	return spans->threads->out;
}

/* Passes on what was buffered for a span that has been written, or is not drawn. */
static void release_waiting(struct chrome_spans *spans, struct chrome_span *span, struct sink *out)
{
	if (span->waiting.error)
		spans->threads->out->error = span->waiting.error;
	else if (span->waiting.used)
		sink_bytes(out, span->waiting.buffer, span->waiting.used);
	sink_close(&span->waiting);
}

/* --- nesting --- */

/* Drops slices that have ended by then; returns the end of the innermost open one, or 0. */
static uint64_t open_slice(struct chrome_thread *thread, uint64_t time_ns)
{
	while (thread->depth && thread->ends[thread->depth - 1] <= time_ns)
		thread->depth--;
	return thread->depth ? thread->ends[thread->depth - 1] : 0;
}

struct sink *chrome_spans_place_aside(struct chrome_spans *spans, struct chrome_slice *slice)
{
	slice->async = ++spans->asyncs;
	return spans->threads->out;
}

struct sink *chrome_spans_place(struct chrome_spans *spans, uint32_t number,
				struct chrome_slice *slice)
{
	struct chrome_thread *thread = &spans->threads->threads[number];
	uint64_t around = open_slice(thread, slice->start_ns);

	slice->async = 0;
	if ((around && slice->end_ns > around) || thread->depth == CHROME_DEPTH)
		return chrome_spans_place_aside(spans, slice);
	thread->ends[thread->depth++] = slice->end_ns;
	return place_for(spans, thread->top, slice->start_ns);
}

static void put_aside(struct chrome_spans *spans, uint32_t number)
{
	struct chrome_span *span = &spans->spans[number];

	unlink_span(spans, number);
	release_waiting(spans, span, place_for(spans, span->below, drawn_start(spans, number)));
	span->aside = true;
	link_span(spans, number);
}

/* Whether a span that ends now, innermost on its thread, lies in no slice that ends earlier and
 * contains none that ends later. */
static bool nests(struct chrome_spans *spans, const struct chrome_span *span, uint64_t end_ns)
{
	uint64_t around = open_slice(thread_of(spans, span), end_ns);

	return (!span->limit_ns || end_ns <= span->limit_ns) &&
	       (!around || around == span->limit_ns);
}

/* --- writing --- */

static void write_span(struct chrome_spans *spans, const struct chrome_span *span,
		       const struct chrome_slice *slice, enum ending ending, struct sink *out)
{
	static const char *const taken[] = { "unfinished", "cut", "flags", "ended_by", NULL };
	struct trace_reader *reader = spans->threads->job->traces[span->trace].reader;
	struct chrome_args args = chrome_slice_begin(out, slice);

	args_json_members(out, trace_reader_string(reader, span->args), taken, &args.any);
	chrome_add_flags(&args, TRACE_SPAN_BEGIN, span->flags);
	if (span->ended_by != span->thread && !spans->threads->threads[span->ended_by].shared)
		chrome_add_uint(&args, "ended_by", spans->threads->threads[span->ended_by].tid);
	if (ending == UNFINISHED)
		chrome_add_true(&args, "unfinished");
	chrome_slice_end(&args, slice);
}

static void close_span(struct chrome_spans *spans, uint32_t number, enum ending ending)
{
	struct chrome_span *span = &spans->spans[number];
	struct trace_reader *reader = spans->threads->job->traces[span->trace].reader;
	uint64_t start_ns = job_span(spans, number)->begin_ns;
	uint64_t end_ns = job_span(spans, number)->end_ns;
	struct chrome_slice slice = {
		.name = trace_reader_string(reader, span->name),
		.category = trace_reader_string(reader, span->category),
	};
	struct sink *out = spans->threads->out;

	if (!span->aside)
		out = place_for(spans, span->below, drawn_start(spans, number));
	if (!slice.category.length)
		slice.category = chrome_text("span");
	/* Spans that began later and are still open cross this one's end. */
	while (!span->aside && thread_of(spans, span)->top != number)
		put_aside(spans, thread_of(spans, span)->top);
	if (chrome_slice_cut(&slice, spans->window, start_ns, end_ns) &&
	    end_ns - start_ns >= spans->min_duration_ns) {
		slice.place = chrome_place_of(spans->threads, span->thread);
		if (ending == WINDOW_ENDS)
			slice.cut = slice.cut ? "both" : "end";
		if (span->aside || !nests(spans, span, slice.end_ns))
			slice.async = ++spans->asyncs;
		write_span(spans, span, &slice, ending, slice.async ? spans->threads->out : out);
	}
	unlink_span(spans, number);
	release_waiting(spans, span, out);
}

int chrome_spans_refuse(struct chrome_spans *spans, const struct event *event)
{
	struct trace_reader *reader = spans->threads->job->traces[event->block->trace].reader;
	struct sink *out = spans->threads->out;
	struct chrome_place place;
	struct chrome_args args;
	uint32_t thread;
	int status = chrome_thread_find(spans->threads, event->process, event->thread, &thread);

	if (status || event->start < spans->window->from_ns ||
	    event->start >= spans->window->until_ns)
		return status;
	place = chrome_place_of(spans->threads, thread);
	sink_text(out, ",\n");
	chrome_open(out, trace_reader_string(reader, event_value(event, SPAN_BEGIN_NAME)),
		    trace_reader_string(reader, event_value(event, SPAN_BEGIN_CATEGORY)), 'i',
		    place);
	chrome_time(out, "ts", event->start - spans->window->base_ns);
	sink_text(out, ",\"s\":\"t\"");
	args = chrome_args_begin(out);
	/* The span is drawn as an instant where it begins. */
	chrome_add_true(&args, event->id ? "too_many_open" : "without_id");
	chrome_args_end(&args);
	sink_char(out, '}');
	return 0;
}

/* --- span callbacks --- */

int chrome_spans_begin(struct chrome_spans *spans, uint32_t slot, const struct event *event,
		       bool wanted)
{
	struct chrome_span *span;
	int status = make_room(spans);

	if (status)
		return status;
	span = &spans->spans[slot];
	span->wanted = wanted;
	if (!wanted)
		return 0;
	status = chrome_thread_find(spans->threads, event->process, event->thread, &span->thread);
	if (status)
		return status;
	span->trace = event->block->trace;
	span->name = event_value(event, SPAN_BEGIN_NAME);
	span->category = event_value(event, SPAN_BEGIN_CATEGORY);
	span->args = event_value(event, SPAN_BEGIN_ARGS);
	span->flags = event_value(event, SPAN_BEGIN_FLAGS);
	span->ended_by = span->thread;
	span->aside = false;
	span->limit_ns = open_slice(thread_of(spans, span), drawn_start(spans, slot));
	link_span(spans, slot);
	return 0;
}

int chrome_spans_end(struct chrome_spans *spans, uint32_t slot, const struct event *event)
{
	struct chrome_span *span = &spans->spans[slot];
	enum ending ending = UNFINISHED;
	int status = 0;

	if (!span->wanted)
		return 0;
	if (event && event->flags & EVENT_SPAN_END) {
		ending = ENDED;
		status = chrome_thread_find(spans->threads, event->process, event->thread,
					    &span->ended_by);
		if (!status && span->ended_by != span->thread && !span->aside)
			put_aside(spans, slot);
	} else if (!event && job_span(spans, slot)->end_ns == spans->window->until_ns) {
		ending = WINDOW_ENDS;
	}
	if (!status)
		close_span(spans, slot, ending);
	return status;
}
