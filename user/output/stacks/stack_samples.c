/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds up samples. */
#include "output/stacks/stack_samples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/order/walk.h"
#include "analysis/processes/threads.h"
#include "base/number.h"
#include "output/base/flags.h"

#define UNKNOWN_FLAGS                                                                              \
	(TRACE_SAMPLE_CUT | TRACE_SAMPLE_NO_PYTHON | TRACE_SAMPLE_NO_THREAD |                      \
	 TRACE_SAMPLE_NO_FRAME | TRACE_SAMPLE_UNREAD | TRACE_SAMPLE_LOST |                         \
	 TRACE_SAMPLE_MANY_THREADS)

/* A frame that is no line of a program. */
static uint32_t named_frame(struct stack_samples *samples, const char *name, size_t length)
{
	const struct tree_frame frame = {
		.function = stack_tree_text(&samples->tree, (struct trace_string) { name, length }),
	};

	return stack_tree_frame(&samples->tree, &frame);
}

static uint32_t program_frame(struct stack_samples *samples, const struct event *event)
{
	const struct trace_string comm = job_comm_at(&samples->job, event->process, event->start);
	const int comm_bytes = comm.length < 64 ? comm.length : 64; /* the kernel's have 15 */
	char name[128];
	int length = snprintf(name, sizeof(name), "%.*s %s", comm.length ? comm_bytes : 64,
			      comm.length ? comm.bytes : "unknown",
			      thread_kind(&samples->job, event->process, event->thread));

	return named_frame(samples, name, length);
}

/* Names what is missing, if anything is. */
static uint32_t unknown_frame(struct stack_samples *samples, uint64_t flags, uint32_t stack)
{
	char name[64];

	if (stack)
		flags = samples->tree.stacks[stack].cut ? TRACE_SAMPLE_CUT
							: flags & TRACE_SAMPLE_CUT;
	else
		flags &= UNKNOWN_FLAGS & ~TRACE_SAMPLE_CUT;
	if (stack && !flags)
		return 0;
	snprintf(name, sizeof(name), "(%s)",
		 flags ? flags_name(TRACE_SAMPLE, __builtin_ctzll(flags)) : "no stack");
	return named_frame(samples, name, strlen(name));
}

static uint64_t estimated_bytes(const struct event *event)
{
	const double estimate = event_value(event, SAMPLE_FETCHED) * event_sample_operations(event);

	return estimate < 0x1p63 ? estimate : INT64_MAX;
}

static int take_sample(struct stack_samples *samples, const struct event *event)
{
	const uint64_t time_ns = event_sample_time(&samples->job, event,
						   event_sample_state(&samples->job, event), NULL);
	const struct trace_string state = trace_reader_string(
		samples->job.traces[event->block->trace].reader, event_value(event, SAMPLE_STATE));
	const struct operation *operation = &samples->job.operations[event->operation];
	struct stack_sample new = { .state = stack_tree_text(&samples->tree, state) };
	uint64_t key[4];
	struct stack_sample *sum;
	bool added;

	/* After the state's text, which the walk of the stack may end. */
	new.program = program_frame(samples, event);
	new.stack = stack_tree_find(&samples->tree, event->block->trace,
				    event_value(event, SAMPLE_STACK));
	new.unknown = unknown_frame(samples, event_value(event, SAMPLE_FLAGS), new.stack);
	if (samples->details) {
		new.process = event->process;
		new.thread = event->thread;
		new.operation = event->operation;
		new.has_operation = operation->family != TRACE_UNDECODED;
	}
	key[0] = (uint64_t) new.program << 32 | new.unknown;
	key[1] = (uint64_t) new.stack << 32 | new.state;
	key[2] = (uint64_t) new.process << 32 | new.thread;
	key[3] = new.operation;
	sum = MAP_ITEM(&samples->numbers, key, samples->samples, samples->room, samples->count,
		       &added);
	if (!sum)
		return -ENOMEM;
	if (added)
		*sum = new;
	sum->count++;
	sum->weight_ns = number_add(sum->weight_ns, time_ns);
	sum->fetched_bytes = number_add(sum->fetched_bytes, estimated_bytes(event));
	return 0;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct stack_samples *samples = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++)
		if (event_is_sample(event))
			status = take_sample(samples, event);
	return status;
}

static int read_samples(struct stack_samples *samples, const struct export_options *options,
			struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events };
	const struct walk_consumer consumer = { &calls, samples };
	struct walk walk = {
		.cursor = { .kinds = CURSOR_SPAN_KINDS | 1ull << TRACE_SAMPLE },
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = options->progress,
		.context = options->context,
	};
	int status = filter_start(&walk.filter, options->filter, &samples->job, error);

	walk.cursor.columns[TRACE_SAMPLE] = (1ull << SAMPLE_COLUMNS) - 1;
	filter_set_cursor(walk.filter, &walk.cursor);
	if (!status)
		status = walk_run(&samples->job, &walk, error);
	filter_close(walk.filter);
	return status;
}

int stack_samples_load(struct stack_samples *samples, struct trace_reader *const *traces,
		       const char *const *names, size_t trace_count,
		       const struct export_options *options, struct trace_error *error)
{
	int status = job_load(&samples->job, traces, names, trace_count, error);

	map_init_in(&samples->numbers, &samples->tree.arena, 4, 1);
	stack_tree_init(&samples->tree, &samples->job.stacks);
	if (!status)
		status = read_samples(samples, options, error);
	if (!status)
		status = arena_status(&samples->tree.arena);
	if (!status && !samples->count && samples->job.layers & JOB_STACK && options->filter &&
	    !filter_is_any(options->filter)) {
		snprintf(error->text, sizeof(error->text), "no samples match these filters");
		status = -ENODATA;
	}
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}

void stack_samples_free(struct stack_samples *samples)
{
	stack_tree_free(&samples->tree);
	job_free(&samples->job);
}

size_t stack_samples_chain(const struct stack_samples *samples, const struct stack_sample *sample,
			   uint32_t frames[STACK_SAMPLE_FRAMES])
{
	size_t count = 0;

	frames[count++] = sample->program;
	if (sample->unknown)
		frames[count++] = sample->unknown;
	return count + stack_tree_chain(&samples->tree, sample->stack, frames + count);
}
