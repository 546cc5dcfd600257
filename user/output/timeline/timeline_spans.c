/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decides what nests on a thread. A span is written when it ends, when its duration and nesting are
 * known; only open spans are in memory: a stack per thread, and a list of those that do not nest.
 *
 * Viewers order slices that start together as in the file, outer first. A span is written after its
 * contents, so slices that start with it (those cut at the window's start) are buffered until the
 * span is written.
 */
#include "base/number.h"
#include "output/timeline/timeline_model.h"

#include <errno.h>
#include <stdlib.h>

#include "collections/grow.h"

#define WAITING_BYTES_MAX (1u << 20) /* per span; real traces need a few hundred */

enum ending { ENDED, UNFINISHED, WINDOW_ENDS };

void spans_free(struct model *model)
{
	for (size_t i = 0; i < model->span_room; i++)
		sink_close(&model->spans[i].waiting);
	free(model->spans);
}

static const struct span *job_span(const struct model *model, uint32_t number)
{
	return &model->timeline.job.spans.slots[number];
}

static struct timeline_track *thread_of(const struct model *model, const struct timeline_span *span)
{
	return &model->tracks[span->thread];
}

/* --- open spans --- */

static int make_room(struct model *model)
{
	size_t known = model->span_room;

	if (!GROW(model->spans, model->span_room, model->timeline.job.spans.room))
		return -ENOMEM;
	for (; known < model->span_room; known++)
		sink_open_memory(&model->spans[known].waiting);
	return 0;
}

static void unlink_span(struct model *model, uint32_t number)
{
	const struct timeline_span *span = &model->spans[number];
	struct timeline_track *thread = thread_of(model, span);

	if (span->above != TIMELINE_NONE)
		model->spans[span->above].below = span->below;
	else if (span->aside)
		thread->aside = span->below;
	else
		thread->top = span->below;
	if (span->below != TIMELINE_NONE)
		model->spans[span->below].above = span->above;
}

static void link_span(struct model *model, uint32_t number)
{
	struct timeline_span *span = &model->spans[number];
	struct timeline_track *thread = thread_of(model, span);
	uint32_t *first = span->aside ? &thread->aside : &thread->top;

	span->below = *first;
	span->above = TIMELINE_NONE;
	if (*first != TIMELINE_NONE)
		model->spans[*first].above = number;
	*first = number;
}

/* --- buffering --- */

static uint64_t drawn_start(const struct model *model, uint32_t number)
{
	const struct timeline *timeline = &model->timeline;
	uint64_t start_ns = number_sub(job_span(model, number)->begin_ns, timeline->base_ns);

	return model->encoder->cuts && start_ns < timeline->from_ns ? timeline->from_ns : start_ns;
}

static void put_aside(struct model *model, uint32_t number);

/* Returns the buffer of the open span that starts with a slice; NULL for none. */
static struct sink *place_for(struct model *model, uint32_t below, uint64_t start_ns)
{
	struct timeline_span *span = below == TIMELINE_NONE ? NULL : &model->spans[below];
	uint32_t next;

	if (!span || drawn_start(model, below) < start_ns)
		return NULL;
	if (span->waiting.used < WAITING_BYTES_MAX)
		return &span->waiting;
	next = span->below;
	put_aside(model, below);
	return place_for(model, next, start_ns);
}

/* Passes on what was buffered for a span that has been written, or is not drawn. */
static void release_waiting(struct model *model, struct timeline_span *span, struct sink *out)
{
	timeline_fail(&model->timeline, span->waiting.error);
	if (span->waiting.used)
		sink_bytes(out ? out : model->timeline.out, span->waiting.buffer,
			   span->waiting.used);
	sink_close(&span->waiting);
}

/* --- nesting --- */

/* Drops slices that have ended by then; returns the end of the innermost open one, or 0. */
static uint64_t open_slice(struct timeline_track *thread, uint64_t time_ns)
{
	while (thread->depth && thread->ends[thread->depth - 1] <= time_ns)
		thread->depth--;
	return thread->depth ? thread->ends[thread->depth - 1] : 0;
}

struct sink *model_place(struct model *model, uint32_t number, struct timeline_item *item,
			 uint32_t *track)
{
	struct timeline_track *thread = &model->tracks[number];
	uint64_t around = open_slice(thread, item->start_ns);

	if ((around && item->end_ns > around) || thread->depth == TIMELINE_DEPTH) {
		*track = track_lane(model, TIMELINE_CROSSING, number, item->start_ns, item->end_ns);
		return NULL;
	}
	thread->ends[thread->depth++] = item->end_ns;
	*track = number;
	return place_for(model, thread->top, item->start_ns);
}

static void put_aside(struct model *model, uint32_t number)
{
	struct timeline_span *span = &model->spans[number];
	uint32_t below = span->below;

	unlink_span(model, number);
	release_waiting(model, span, place_for(model, below, drawn_start(model, number)));
	span->aside = true;
	link_span(model, number);
}

/* Whether a span that ends now, innermost on its thread, lies in no slice that ends earlier and
 * contains none that ends later. */
static bool nests(struct model *model, const struct timeline_span *span, uint64_t end_ns)
{
	uint64_t around = open_slice(thread_of(model, span), end_ns);

	return (!span->limit_ns || end_ns <= span->limit_ns) &&
	       (!around || around == span->limit_ns);
}

/* --- writing --- */

static void describe_span(struct model *model, const struct timeline_span *span, enum ending ending,
			  struct timeline_item *item)
{
	struct trace_reader *reader = model->timeline.job.traces[span->trace].reader;
	const struct timeline_track *by = &model->tracks[span->ended_by];

	item->name = name_string(model, span->trace, span->name, "(no name)");
	item->category = name_string(model, span->trace, span->category, "span");
	item_add_text(item, TIMELINE_GIVEN, TIMELINE_MSGPACK,
		      trace_reader_args(reader, span->args));
	if (span->flags)
		item_add(item, TIMELINE_FLAGS, TIMELINE_BITS, span->flags);
	if (span->ended_by != span->thread && !by->shared)
		item_add(item, TIMELINE_ENDED_BY, TIMELINE_UINT, by->key);
	if (ending == UNFINISHED)
		item_add(item, TIMELINE_UNFINISHED, TIMELINE_TRUE, 1);
}

static void close_span(struct model *model, uint32_t number, enum ending ending)
{
	struct timeline_span *span = &model->spans[number];
	const struct span *of = job_span(model, number);
	struct sink *out = NULL;
	struct timeline_item item = {
		.kind = TRACE_SPAN_BEGIN,
		.process = span->process,
		.trace = span->trace,
		.tid = of->thread,
	};
	uint32_t track = span->thread;

	if (!span->aside)
		out = place_for(model, span->below, drawn_start(model, number));
	/* Spans that began later and are still open cross this one's end. */
	while (!span->aside && thread_of(model, span)->top != number)
		put_aside(model, thread_of(model, span)->top);
	if (model_cut(model, &item, of->begin_ns, of->end_ns)) {
		if (ending == WINDOW_ENDS)
			item.cut = item.cut ? "both" : "end";
		describe_span(model, span, ending, &item);
		if (span->aside || !nests(model, span, item.end_ns))
			track = track_lane(model, TIMELINE_CROSSING, span->thread, item.start_ns,
					   item.end_ns);
		model_slice(model, track == span->thread ? out : NULL, &item, track, span->thread);
	}
	unlink_span(model, number);
	release_waiting(model, span, out);
}

/* --- span callbacks --- */

int model_span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct model *model = state;
	struct timeline_span *span;
	int status = make_room(model);
	uint32_t thread;

	if (status)
		return status;
	span = &model->spans[slot];
	span->wanted = model_wants(model, event->process);
	if (!span->wanted)
		return 0;
	thread = track_of_thread(model, event->process, event->thread);
	if (thread == TIMELINE_NONE)
		return model->timeline.error;
	span->thread = span->ended_by = thread;
	span->process = event->process;
	span->trace = event->block->trace;
	span->name = event_value(event, SPAN_BEGIN_NAME);
	span->category = event_value(event, SPAN_BEGIN_CATEGORY);
	span->args = event_value(event, SPAN_BEGIN_ARGS);
	span->flags = event_value(event, SPAN_BEGIN_FLAGS);
	span->aside = false;
	span->limit_ns = open_slice(&model->tracks[thread], drawn_start(model, slot));
	link_span(model, slot);
	return 0;
}

int model_span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct model *model = state;
	const struct timeline *timeline = &model->timeline;
	struct timeline_span *span = &model->spans[slot];
	enum ending ending = UNFINISHED;

	if (!span->wanted)
		return 0;
	if (event && event->flags & EVENT_SPAN_END) {
		ending = ENDED;
		span->ended_by = track_of_thread(model, event->process, event->thread);
		if (span->ended_by == TIMELINE_NONE)
			return timeline->error;
		if (span->ended_by != span->thread && !span->aside)
			put_aside(model, slot);
	} else if (!event &&
		   job_span(model, slot)->end_ns == timeline->base_ns + timeline->until_ns) {
		ending = WINDOW_ENDS;
	}
	close_span(model, slot, ending);
	return timeline->error ? timeline->error : timeline->out->error;
}

/* The span is drawn as an instant where it begins. */
int model_span_refused(void *state, const struct event *event)
{
	struct model *model = state;
	struct timeline_item item = {
		.kind = TRACE_SPAN_BEGIN,
		.event = event,
		.process = event->process,
		.trace = event->block->trace,
		.tid = event->thread,
		.start_ns = number_sub(event->start, model->timeline.base_ns),
	};

	if (!model_wants(model, event->process) || item.start_ns < model->timeline.from_ns ||
	    item.start_ns >= model->timeline.until_ns || !model->encoder->instant)
		return 0;
	item.name =
		name_string(model, item.trace, event_value(event, SPAN_BEGIN_NAME), "(no name)");
	item.category =
		name_string(model, item.trace, event_value(event, SPAN_BEGIN_CATEGORY), "span");
	item_add(&item, event->id ? TIMELINE_TOO_MANY_OPEN : TIMELINE_WITHOUT_ID, TIMELINE_TRUE, 1);
	model_instant(model, &item, track_of_thread(model, item.process, item.tid));
	return model->timeline.error;
}
