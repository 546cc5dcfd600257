/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes a timeline: finds the window, walks the traces, and decides how events are drawn. */
#include "base/number.h"
#include "output/timeline/timeline_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/order/walk.h"

#define DEVICES_MAX 4096 /* requests to further devices are left out */

/* --- how rows are drawn --- */

enum shape { SHAPE_NONE, SHAPE_SLICE, SHAPE_INSTANT, SHAPE_REQUEST, SHAPE_SAMPLE };

/* Rows whose events do not have the process and thread name them in these columns. */
static const struct row_rule {
	enum shape shape;
	bool counts; /* its bytes are counted */
	uint8_t pid, tid;
} rules[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = { SHAPE_SLICE, true, 0, 0 },
	[TRACE_SYSCALL_PATH] = { SHAPE_SLICE, true, 0, 0 },
	[TRACE_ASYNC] = { SHAPE_SLICE, true, 0, 0 },
	[TRACE_VFS] = { SHAPE_SLICE, true, 0, 0 },
	[TRACE_FAULT] = { SHAPE_SLICE, true, 0, 0 },
	[TRACE_THROTTLE] = { SHAPE_SLICE, false, 0, 0 },
	[TRACE_WAIT] = { SHAPE_SLICE, false, 0, 0 },
	[TRACE_SAMPLE] = { SHAPE_SAMPLE, false, 0, 0 },
	[TRACE_REQUEST] = { SHAPE_REQUEST, false, 0, 0 },
	[TRACE_REMOTE] = { SHAPE_REQUEST, false, 0, 0 },
	[TRACE_BIO] = { SHAPE_INSTANT, false, 0, 0 },
	[TRACE_INSTANT] = { SHAPE_INSTANT, false, 0, 0 },
	[TRACE_PAGECACHE] = { SHAPE_INSTANT, true, PAGECACHE_PID, PAGECACHE_TID },
	[TRACE_FORK] = { SHAPE_INSTANT, false, FORK_PID, FORK_TID },
	[TRACE_EXEC] = { SHAPE_INSTANT, false, EXEC_PID, EXEC_TID },
	[TRACE_EXIT] = { SHAPE_INSTANT, false, EXIT_PID, EXIT_TID },
};

uint64_t timeline_kinds(void)
{
	uint64_t kinds = 0;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		kinds |= rules[i].shape ? 1ull << i : 0;
	return kinds;
}

static uint64_t wanted_kinds(const struct timeline_encoder *encoder)
{
	return (encoder->kinds ? encoder->kinds : timeline_kinds()) | CURSOR_SPAN_KINDS;
}

/* The same for a request and its bios. Includes the trace, since hosts reuse numbers. */
static uint64_t flow_of(const struct event *event, unsigned int column)
{
	uint64_t id = event_value(event, column) & ((1ull << 40) - 1);

	return id ? (uint64_t)event->block->trace << 40 | id : 0;
}

static void draw_slice(struct model *model, struct timeline_item *item)
{
	const struct event *event = item->event;
	struct sink *waiting = NULL;
	uint32_t thread, track;

	if (!model_cut(model, item, event->start, event->end))
		return;
	thread = track_of_thread(model, item->process, item->tid);
	if (thread == TIMELINE_NONE)
		return;
	if (event->flags & EVENT_ASYNC)
		track = track_lane(model, TIMELINE_ASYNC, model->tracks[thread].parent,
				   item->start_ns, item->end_ns);
	else
		waiting = model_place(model, thread, item, &track);
	item_describe(model, item);
	stacks_describe(model, thread, item);
	model_slice(model, waiting, item, track, thread);
}

static void draw_request(struct model *model, struct timeline_item *item)
{
	const struct event *event = item->event;
	uint32_t device;

	if (!model_cut(model, item, event->start, event->end))
		return;
	device = track_find(model, TIMELINE_DEVICE, model->timeline.job.traces[item->trace].host,
			    event_device(event), TIMELINE_NONE);
	if (device == TIMELINE_NONE ||
	    (!model->tracks[device].used && model->device_count == DEVICES_MAX))
		return;
	model->tracks[device].process = item->trace;
	item->flow = event_is_remote(event) ? 0 : flow_of(event, REQUEST_ID);
	item_describe(model, item);
	model_slice(model, NULL, item,
		    track_lane(model, TIMELINE_REQUESTS, device, item->start_ns, item->end_ns),
		    TIMELINE_NONE);
}

static void draw_instant(struct model *model, struct timeline_item *item)
{
	const struct event *event = item->event;
	struct timeline *timeline = &model->timeline;

	item->start_ns = item->end_ns = number_sub(event->start, timeline->base_ns);
	if (!model->encoder->instant || item->start_ns < timeline->from_ns ||
	    item->start_ns >= timeline->until_ns)
		return;
	if (item->kind == TRACE_BIO) {
		if (item->process == PROCESS_UNKNOWN)
			return; /* the kernel's own */
		item->flow = flow_of(event, BIO_REQUEST);
	}
	item_describe(model, item);
	if (item->kind == TRACE_SAMPLE)
		stacks_name(model, item);
	model_instant(model, item, track_of_thread(model, item->process, item->tid));
}

/* A sample of a thread on a CPU is an instant. Others add their lines to the slice that follows;
 * with a filter by line, there is none, and they are slices themselves. */
static void draw_sample(struct model *model, struct timeline_item *item)
{
	const struct timeline *timeline = &model->timeline;

	if (event_sample_state(&timeline->job, item->event) == THREAD_CPU) {
		draw_instant(model, item);
		return;
	}
	stacks_take_sample(model, track_of_thread(model, item->process, item->tid), item->event);
	if (filter_is_of_lines(&timeline->filter))
		draw_slice(model, item);
}

/* --- the walk --- */

static int find_process(struct model *model, const struct row_rule *rule,
			struct timeline_item *item)
{
	const struct event *event = item->event;

	item->process = event->process;
	item->tid = event->thread;
	if (!rule->tid)
		return 0;
	item->tid = event_value(event, rule->tid);
	return process_table_find(&model->timeline.job.processes, item->trace,
				  event_value(event, rule->pid), event->start, &item->process);
}

static int take_event(struct model *model, const struct event *event)
{
	const struct timeline *timeline = &model->timeline;
	const struct row_rule *rule = &rules[event_kind(event)];
	struct timeline_item *item = &model->item;
	uint64_t start_ns = number_sub(event->start, timeline->base_ns);
	int status;

	/* Events that begin before the window count if they extend into it. */
	if (rule->shape == SHAPE_NONE || start_ns >= timeline->until_ns ||
	    (start_ns < timeline->from_ns &&
	     number_sub(event->end, timeline->base_ns) <= timeline->from_ns))
		return 0;
	memset(item, 0, offsetof(struct timeline_item, args));
	item->kind = event_kind(event);
	item->event = event;
	item->trace = event->block->trace;
	status = find_process(model, rule, item);
	if (status || !model_wants(model, item->process))
		return status;
	if (rule->counts)
		counters_add(model, item->process, event);
	if (event->flags & EVENT_SECOND)
		return 0;
	if (rule->shape == SHAPE_SLICE)
		draw_slice(model, item);
	else if (rule->shape == SHAPE_REQUEST)
		draw_request(model, item);
	else if (rule->shape == SHAPE_SAMPLE)
		draw_sample(model, item);
	else
		draw_instant(model, item);
	return 0;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct model *model = state;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = take_event(model, &events[i]);
	return status		       ? status
	       : model->timeline.error ? model->timeline.error
				       : model->timeline.out->error;
}

/*
 * The model itself judges times, durations and processes: rows of forks and of the page cache have
 * no process for the walk, instants have no duration, and byte rates include short operations.
 * Before that the cursor may skip blocks of other processes.
 */
static int open_filter(struct model *model, struct walk *walk, struct trace_error *error)
{
	struct filter *rest = &model->rest;
	int status;

	*rest = model->timeline.filter;
	rest->from_ns = rest->min_duration_ns = 0;
	rest->until_ns = FILTER_NONE;
	if (filter_is_any(rest))
		return 0;
	status = filter_open(&walk->filter, rest, &model->timeline.job, error);
	if (!status)
		filter_set_cursor(walk->filter, &walk->cursor);
	rest->pid = rest->rank = FILTER_NONE;
	return status;
}

static int draw_all(struct model *model, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events,
						 .span_begun = model_span_begun,
						 .span_ended = model_span_ended,
						 .span_refused = model_span_refused };
	const struct timeline *timeline = &model->timeline;
	const struct walk_consumer consumer = { &calls, model };
	struct walk walk = {
		.cursor.kinds = wanted_kinds(model->encoder),
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = model->options->progress,
		.context = model->options->context,
	};
	int status = open_filter(model, &walk, error);

	walk.cursor.from_ns = timeline->base_ns + timeline->from_ns;
	walk.cursor.until_ns = timeline->base_ns + timeline->until_ns;
	/* Events of frequent kinds are built from all columns that are drawn. */
	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (i != TRACE_SYSCALL && i != TRACE_FAULT && i != TRACE_VFS)
			walk.cursor.columns[i] = (1ull << trace_schemas[i].column_count) - 1;
	if (!status)
		status = walk_run(&model->timeline.job, &walk, error);
	filter_close(walk.filter);
	return status;
}

/* A trace's recorded start and end, if any, may be narrower than its rows. */
static int find_window(struct model *model, struct trace_error *error)
{
	struct timeline *timeline = &model->timeline;
	const struct job *job = &timeline->job;
	uint64_t start = job->start_ns, end = job->end_ns, kinds = wanted_kinds(model->encoder);

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];

		for (size_t j = 0; j < trace_reader_block_count(trace->reader); j++) {
			const struct trace_block_info *info =
				trace_reader_block_info(trace->reader, j);
			uint64_t first = clock_shifted(trace->clock, info->start);
			uint64_t last = clock_shifted(trace->clock, info->end);

			if (!(kinds >> info->kind & 1))
				continue;
			start = number_min(first, start);
			end = number_max(last, end);
		}
	}
	end = number_add(end, 1); /* include events at the end */
	timeline->base_ns = start;
	timeline->until_ns =
		number_sub(number_add(job->start_ns, timeline->filter.until_ns), start);
	if (timeline->until_ns > end - start)
		timeline->until_ns = end - start;
	if (timeline->filter.from_ns)
		timeline->from_ns =
			number_sub(number_add(job->start_ns, timeline->filter.from_ns), start);
	if (timeline->from_ns < end - start)
		return 0;
	snprintf(error->text, sizeof(error->text), "the run is over before --from");
	return -ENODATA;
}

/* Processes that did nothing. */
static void use_all_processes(struct model *model)
{
	const struct timeline *timeline = &model->timeline;

	for (size_t i = 1; i < timeline->job.processes.count && !timeline->error; i++) {
		const struct process *process = &timeline->job.processes.processes[i];
		uint32_t track;

		if (!filter_wants(&timeline->filter, process, timeline->job.start_ns,
				  process->start_ns, process->ended ? process->end_ns : UINT64_MAX))
			continue;
		track = track_of_process(model, i);
		if (track != TIMELINE_NONE)
			track_use(model, track);
	}
}

static int write_all(struct model *model, struct trace_error *error)
{
	const struct timeline_encoder *encoder = model->encoder;
	struct timeline *timeline = &model->timeline;
	int status = find_window(model, error);

	counters_init(model);
	if (!status)
		status = device_names_load(&model->devices, &timeline->job, error);
	if (!status)
		status = row_resolver_open(&model->resolver, &timeline->job);
	if (!status && encoder->begin)
		status = encoder->begin(timeline);
	if (!status)
		status = draw_all(model, error);
	if (!status)
		status = tracks_name_threads(model, error);
	if (!status) {
		counters_write(model);
		if (encoder->all_processes)
			use_all_processes(model);
		status = timeline->error;
	}
	if (!status && encoder->finish)
		status = encoder->finish(timeline);
	return status ? status : timeline->out->error;
}

int timeline_export(const struct export_format *format, struct sink *out,
		    struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct export_options *options,
		    struct trace_error *error)
{
	const struct timeline_encoder *encoder = format->timeline;
	struct model model = {
		.timeline = { .filter = FILTER_ALL, .out = out },
		.encoder = encoder,
		.options = options,
	};
	int status = job_load(&model.timeline.job, traces, names, trace_count, error);

	if (options->filter)
		model.timeline.filter = *options->filter;
	tracks_init(&model);
	sink_open_memory(&model.lines);
	sites_init(&model.sites, &model.site_arena, &model.timeline.job);
	model.timeline.state = calloc(1, encoder->state_bytes + 1);
	if (!status && !model.timeline.state)
		status = -ENOMEM;
	if (!status)
		status = write_all(&model, error);
	if (model.timeline.state && encoder->close)
		encoder->close(&model.timeline);
	free(model.timeline.state);
	row_resolver_close(model.resolver);
	arena_free(&model.site_arena);
	sink_close(&model.lines);
	counters_free(&model);
	spans_free(&model);
	tracks_free(&model);
	job_free(&model.timeline.job);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}
