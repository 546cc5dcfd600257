/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stack of open spans for each thread, and beside it a list of those that turned out not to nest.
 * Knows nothing of calls and faults but when they begin and end.
 *
 * Viewers take slices that start together in the order of the file, the outer one first. A span is
 * written after what happened in it, so whatever starts with it (that is: was cut where the window
 * begins) waits in memory until the span is written.
 */
#include "output/chrome_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "output/args.h"

#define WAITING_BYTES_MOST (1u << 20) /* for a span; real traces need a few hundred */
#define IDS_SPARE 4096

enum ending { ENDED, UNFINISHED, WINDOW_ENDS };

void chrome_spans_init(struct chrome_spans *spans, struct chrome_threads *threads,
		       const struct chrome_window *window, uint64_t min_duration_ns)
{
	*spans = (struct chrome_spans) {
		.threads = threads,
		.window = window,
		.min_duration_ns = min_duration_ns,
		.free = CHROME_NONE,
	};
	map_init(&spans->ids, 2, 1);
}

void chrome_spans_free(struct chrome_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		sink_close(&spans->spans[i].waiting);
	free(spans->spans);
	map_free(&spans->ids);
}

static struct chrome_thread *thread_of(const struct chrome_spans *spans,
				       const struct open_span *span)
{
	return &spans->threads->threads[span->begin.thread];
}

/* --- what is open --- */

/* A map forgets nothing: now and then a new one takes its place. */
static int renew_ids(struct chrome_spans *spans)
{
	struct map old = spans->ids;
	bool added;
	int status = 0;

	map_init(&spans->ids, 2, 1);
	for (size_t i = 0; i < old.slots && !status; i++) {
		const uint64_t *entry = old.entries + i * (old.key_words + old.value_words);
		uint64_t *number;

		if (!old.tags[i] || !entry[2])
			continue;
		number = map_add(&spans->ids, entry, &added);
		if (number)
			*number = entry[2];
		else
			status = -ENOMEM;
	}
	map_free(&old);
	return status;
}

static uint64_t *find_id(const struct chrome_spans *spans, uint32_t thread, uint64_t id)
{
	const uint64_t key[] = { spans->threads->threads[thread].process, id };

	return map_find(&spans->ids, key);
}

static int remember_id(struct chrome_spans *spans, uint32_t thread, uint64_t id, uint32_t number)
{
	const uint64_t key[] = { spans->threads->threads[thread].process, id };
	uint64_t *value;
	bool added;

	if (spans->ids.count > 2 * spans->open + IDS_SPARE && renew_ids(spans))
		return -ENOMEM;
	value = map_add(&spans->ids, key, &added);
	if (!value)
		return -ENOMEM;
	/* A span with that id that is still open stays so until its process ends. */
	*value = number + 1;
	return 0;
}

static int take_span(struct chrome_spans *spans, uint32_t *number)
{
	if (spans->free != CHROME_NONE) {
		*number = spans->free;
		spans->free = spans->spans[*number].below;
		return 0;
	}
	if (spans->count == spans->room) {
		size_t room = spans->room ? spans->room * 2 : 64;
		struct open_span *list = reallocarray(spans->spans, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		spans->spans = list;
		spans->room = room;
	}
	*number = spans->count++;
	sink_open_memory(&spans->spans[*number].waiting);
	return 0;
}

static void unlink_span(struct chrome_spans *spans, uint32_t number)
{
	const struct open_span *span = &spans->spans[number];
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
	struct open_span *span = &spans->spans[number];
	struct chrome_thread *thread = thread_of(spans, span);
	uint32_t *first = span->aside ? &thread->aside : &thread->top;

	span->below = *first;
	span->above = CHROME_NONE;
	if (*first != CHROME_NONE)
		spans->spans[*first].above = number;
	*first = number;
}

/* --- where to write --- */

static uint64_t drawn_start(const struct chrome_spans *spans, const struct open_span *span)
{
	const struct chrome_window *window = spans->window;
	uint64_t start = span->begin.time_ns;

	return (start > window->from_ns ? start : window->from_ns) - window->base_ns;
}

/* Where what starts then is to be written: behind the open span that starts with it, if any. */
static struct sink *place_for(struct chrome_spans *spans, uint32_t below, uint64_t start_ns)
{
	struct open_span *span = below == CHROME_NONE ? NULL : &spans->spans[below];

	if (span && drawn_start(spans, span) >= start_ns && span->waiting.used < WAITING_BYTES_MOST)
		return &span->waiting;
	return spans->threads->out;
}

/* What waited for a span that is written, or not drawn at all, goes on. */
static void release_waiting(struct chrome_spans *spans, struct open_span *span, struct sink *out)
{
	if (span->waiting.error)
		spans->threads->out->error = span->waiting.error;
	else if (span->waiting.used)
		sink_bytes(out, span->waiting.buffer, span->waiting.used);
	sink_close(&span->waiting);
}

/* --- what nests --- */

/* Forgets slices that have ended by then; returns the end of the innermost that has not, or 0. */
static uint64_t open_slice(struct chrome_thread *thread, uint64_t time_ns)
{
	while (thread->depth && thread->ends[thread->depth - 1] <= time_ns)
		thread->depth--;
	return thread->depth ? thread->ends[thread->depth - 1] : 0;
}

struct sink *chrome_spans_place(struct chrome_spans *spans, uint32_t number,
				struct chrome_slice *slice)
{
	struct chrome_thread *thread = &spans->threads->threads[number];
	uint64_t around = open_slice(thread, slice->start_ns);

	slice->async = 0;
	if ((around && slice->end_ns > around) || thread->depth == CHROME_DEPTH) {
		slice->async = ++spans->asyncs;
		return spans->threads->out;
	}
	thread->ends[thread->depth++] = slice->end_ns;
	return place_for(spans, thread->top, slice->start_ns);
}

static void put_aside(struct chrome_spans *spans, uint32_t number)
{
	struct open_span *span = &spans->spans[number];

	unlink_span(spans, number);
	release_waiting(spans, span, place_for(spans, span->below, drawn_start(spans, span)));
	span->aside = true;
	link_span(spans, number);
}

/* Whether a span that ends now, and is the innermost on its thread, lies in no slice that ends
 * earlier and holds none that ends later. */
static bool nests(struct chrome_spans *spans, const struct open_span *span, uint64_t end_ns)
{
	uint64_t around = open_slice(thread_of(spans, span), end_ns);

	return (!span->limit_ns || end_ns <= span->limit_ns) &&
	       (!around || around == span->limit_ns);
}

/* --- writing --- */

static void write_span(struct chrome_spans *spans, const struct open_span *span,
		       const struct chrome_slice *slice, enum ending ending, struct sink *out)
{
	static const char *const taken[] = { "unfinished", "cut", "flags", "ended_by", NULL };
	const struct chrome_span_begin *begin = &span->begin;
	struct trace_reader *reader = spans->threads->job->traces[begin->trace].reader;
	struct chrome_args args = chrome_slice_begin(out, slice);

	args_json_members(out, trace_reader_string(reader, begin->args), taken, &args.any);
	chrome_add_flags(&args, TRACE_SPAN_BEGIN, begin->flags);
	if (span->ended_by != begin->thread)
		chrome_add_uint(&args, "ended_by", spans->threads->threads[span->ended_by].tid);
	if (ending == UNFINISHED)
		chrome_add_true(&args, "unfinished");
	chrome_slice_end(&args, slice);
}

static void close_span(struct chrome_spans *spans, uint32_t number, uint64_t end_ns,
		       enum ending ending)
{
	struct open_span *span = &spans->spans[number];
	struct trace_reader *reader = spans->threads->job->traces[span->begin.trace].reader;
	uint64_t start_ns = span->begin.time_ns;
	uint64_t duration_ns = clock_subtract(end_ns, start_ns);
	struct chrome_slice slice = {
		.name = trace_reader_string(reader, span->begin.name),
		.category = trace_reader_string(reader, span->begin.category),
	};
	uint64_t *known = find_id(spans, span->begin.thread, span->begin.id);
	struct sink *out = spans->threads->out;

	if (!span->aside)
		out = place_for(spans, span->below, drawn_start(spans, span));
	if (!slice.category.length)
		slice.category = chrome_text("span");
	/* Those that began after it have not ended: they cross its end. */
	while (!span->aside && thread_of(spans, span)->top != number)
		put_aside(spans, thread_of(spans, span)->top);
	if (chrome_slice_cut(&slice, spans->window, start_ns, start_ns + duration_ns) &&
	    duration_ns >= spans->min_duration_ns) {
		slice.place = chrome_place_of(spans->threads, span->begin.thread);
		if (ending == WINDOW_ENDS)
			slice.cut = slice.cut ? "both" : "end";
		if (span->aside || !nests(spans, span, slice.end_ns))
			slice.async = ++spans->asyncs;
		write_span(spans, span, &slice, ending, slice.async ? spans->threads->out : out);
	}
	unlink_span(spans, number);
	release_waiting(spans, span, out);
	if (known && *known == number + 1)
		*known = 0;
	span->below = spans->free;
	spans->free = number;
	spans->open--;
}

/* More are open than can be remembered: they are shown where they begin. */
static void write_begin(struct chrome_spans *spans, const struct chrome_span_begin *begin)
{
	struct trace_reader *reader = spans->threads->job->traces[begin->trace].reader;
	struct sink *out = spans->threads->out;
	struct chrome_place place;
	struct chrome_args args;

	if (begin->time_ns < spans->window->from_ns || begin->time_ns >= spans->window->until_ns)
		return;
	place = chrome_place_of(spans->threads, begin->thread);
	sink_text(out, ",\n");
	chrome_open(out, trace_reader_string(reader, begin->name),
		    trace_reader_string(reader, begin->category), 'i', place);
	chrome_time(out, "ts", begin->time_ns - spans->window->base_ns);
	sink_text(out, ",\"s\":\"t\"");
	args = chrome_args_begin(out);
	chrome_add_true(&args, "too_many_open");
	chrome_args_end(&args);
	sink_char(out, '}');
}

/* --- the life of spans --- */

int chrome_spans_begin(struct chrome_spans *spans, const struct chrome_span_begin *begin)
{
	struct open_span *span;
	uint32_t number;
	int status;

	if (spans->open == SPANS_OPEN_MOST) {
		write_begin(spans, begin);
		return 0;
	}
	status = take_span(spans, &number);
	if (!status)
		status = remember_id(spans, begin->thread, begin->id, number);
	if (status)
		return status;
	span = &spans->spans[number];
	span->begin = *begin;
	span->ended_by = begin->thread;
	span->aside = false;
	span->limit_ns = open_slice(thread_of(spans, span), drawn_start(spans, span));
	link_span(spans, number);
	spans->open++;
	return 0;
}

int chrome_spans_end(struct chrome_spans *spans, uint32_t thread, uint64_t id, uint64_t time_ns)
{
	const uint64_t *known = find_id(spans, thread, id);
	uint32_t number;

	if (!known || !*known)
		return 0;
	number = *known - 1;
	spans->spans[number].ended_by = thread;
	if (spans->spans[number].begin.thread != thread && !spans->spans[number].aside)
		put_aside(spans, number);
	close_span(spans, number, time_ns, ENDED);
	return 0;
}

static void end_thread(struct chrome_spans *spans, uint32_t number, uint64_t time_ns,
		       enum ending ending)
{
	const struct chrome_thread *thread = &spans->threads->threads[number];

	while (thread->top != CHROME_NONE)
		close_span(spans, thread->top, time_ns, ending);
	while (thread->aside != CHROME_NONE)
		close_span(spans, thread->aside, time_ns, ending);
}

void chrome_spans_end_process(struct chrome_spans *spans, uint32_t process, uint64_t time_ns)
{
	uint32_t thread = CHROME_NONE;

	if (process < spans->threads->process_room)
		thread = spans->threads->processes[process].thread;
	for (; thread != CHROME_NONE; thread = spans->threads->threads[thread].next)
		end_thread(spans, thread, time_ns, UNFINISHED);
}

void chrome_spans_end_all(struct chrome_spans *spans, uint64_t time_ns, bool window_ends)
{
	for (uint32_t i = 0; i < spans->threads->count; i++)
		end_thread(spans, i, time_ns, window_ends ? WINDOW_ENDS : UNFINISHED);
}
