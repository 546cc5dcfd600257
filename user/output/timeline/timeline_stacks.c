/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Adds the lines of code at which operations waited to their slices, and names time on a CPU after
 * its line. A sample of an operation comes right before it, with the same start and duration.
 */
#include "analysis/shared/trace_text.h"
#include "output/base/escape.h"
#include "output/timeline/timeline_model.h"

#define LINES_BYTES 8192 /* of a stack; further callers are left out */

static struct timeline_sample sample_of(const struct event *event)
{
	return (struct timeline_sample) {
		.start_ns = event->start,
		.end_ns = event->end,
		.tid = event->thread,
		.stack = event_value(event, SAMPLE_STACK),
		.cut = event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT,
	};
}

void stacks_take_sample(struct model *model, uint32_t thread, const struct event *event)
{
	if (thread != TIMELINE_NONE)
		model->tracks[thread].sample = sample_of(event);
}

static void put_line(struct sink *out, struct table_text file, uint64_t line,
		     struct table_text function)
{
	char text[LOCATION_BYTES];
	const size_t length = site_locate(text, site_base_name(file), line, function);

	escape_to_utf8(out, text, length);
}

/* The innermost line, then its callers. */
static void put_stack(struct sink *out, const struct stack_table *table, uint32_t trace,
		      const struct timeline_sample *sample)
{
	const size_t before = out->used;
	uint64_t stack = sample->stack;
	struct stack_frame frame;

	while (out->used - before < LINES_BYTES && stack_table_next(table, trace, &stack, &frame)) {
		sink_text(out, out->used > before ? " <- " : "");
		put_line(out, trace_text(frame.source), frame.line, trace_text(frame.function));
	}
	if (sample->cut || stack)
		sink_text(out, " <- ...");
}

/* Returns the number of the line, or SITE_NONE. */
static uint32_t add_lines(struct model *model, const struct timeline_sample *sample,
			  struct timeline_item *item)
{
	struct sink *lines = &model->lines;
	const struct site *site;
	uint32_t number;
	size_t length;

	number = sites_find(&model->sites, item->trace, sample->stack, sample->cut);
	timeline_fail(&model->timeline, arena_status(&model->site_arena));
	if (number == SITE_NONE)
		return SITE_NONE;
	site = &model->sites.all[number];
	lines->used = 0;
	if (site->reason)
		sink_format(lines, "(%s)", site->reason);
	else
		put_line(lines, site->file, site->line, site->function);
	length = lines->used;
	if (model->encoder->stacks)
		put_stack(lines, &model->timeline.job.stacks, item->trace, sample);
	timeline_fail(&model->timeline, lines->error);
	item_add_text(item, TIMELINE_AT, TIMELINE_TEXT,
		      (struct trace_string) { lines->buffer, length });
	if (model->encoder->stacks)
		item_add_text(
			item, TIMELINE_STACK, TIMELINE_TEXT,
			(struct trace_string) { lines->buffer + length, lines->used - length });
	return site->plain;
}

void stacks_describe(struct model *model, uint32_t thread, struct timeline_item *item)
{
	const struct timeline_sample *sample = &model->tracks[thread].sample;

	if (sample->stack && sample->start_ns == item->event->start &&
	    sample->end_ns == item->event->end && sample->tid == item->tid)
		add_lines(model, sample, item);
}

void stacks_name(struct model *model, struct timeline_item *item)
{
	const struct timeline_sample sample = sample_of(item->event);
	const uint32_t line = sample.stack ? add_lines(model, &sample, item) : SITE_NONE;

	/* No other name has this bit and not the highest one: see name_string(). */
	if (line != SITE_NONE)
		item->name = (struct timeline_name) { timeline_find_arg(item, TIMELINE_AT)->text,
						      1ull << 62 | line };
}
