/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes each kind of row in Perfetto's format. */
#include "output/timeline/export_perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "base/grow.h"
#include "output/base/args.h"
#include "output/timeline/perfetto_tracks.h"

struct open_span {
	uint64_t name, category, args, begin_ns; /* string ids of its trace; begin_ns is a time */
	uint32_t group;				 /* its thread's span tracks */
	uint32_t newer, older;			 /* spans of the thread, or NO_SPAN */
	uint32_t lane;
};
#define NO_SPAN UINT32_MAX

struct perfetto {
	const struct export_options *options;
	struct job job;
	struct row_resolver *resolver;
	struct perfetto_pack *pack;
	struct perfetto_tracks tracks;
	uint64_t base_ns, run_ns; /* starts of the earliest row and of the run */
	struct open_span *spans;  /* by slot */
	size_t span_room;
	struct sink made;
};

static uint64_t since(const struct perfetto *perfetto, uint64_t time_ns)
{
	return clock_subtract(time_ns, perfetto->base_ns);
}

static int error_of(const struct perfetto *perfetto)
{
	return perfetto->tracks.error ? perfetto->tracks.error : perfetto->made.error;
}

/* --- calls and faults --- */

static void count_bytes(struct perfetto *perfetto, const struct event *event)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	uint64_t time_ns = since(perfetto, event->start);

	perfetto_count(tracks, event->process, COUNT_FETCHED, event->fetched_bytes, time_ns);
	if (event->class == IO_READ)
		perfetto_count(tracks, event->process, COUNT_READ, event->bytes, time_ns);
	if (event->class == IO_WRITE)
		perfetto_count(tracks, event->process, COUNT_WRITTEN, event->bytes, time_ns);
}

/* Prefers a path that the row itself names, as text, to the path of its file. */
static void add_path(struct perfetto *perfetto, const struct event *event,
		     struct perfetto_event *to)
{
	enum trace_kind kind = event_kind(event);
	struct resolved_row row;

	if ((kind == TRACE_SYSCALL_PATH || kind == TRACE_ASYNC) &&
	    event_value(event, SYSCALL_PATH_PATH)) {
		row_resolve(perfetto->resolver, event, &row);
		to->text = row.path;
		to->text_arg = PERFETTO_ARG_FILE;
	} else if (event->file != FILE_NONE) {
		perfetto_arg_interned(to, PERFETTO_ARG_FILE,
				      perfetto_file(&perfetto->tracks, event->file));
	}
}

static void add_result(struct perfetto *perfetto, const struct event *event,
		       struct perfetto_event *to)
{
	enum trace_family family = perfetto->job.operations[event->operation].family;

	if (event->offset >= 0)
		perfetto_arg_uint(to, PERFETTO_ARG_OFFSET, event->offset);
	if (event->flags & EVENT_FAILED)
		perfetto_arg_uint(to, PERFETTO_ARG_ERROR, -event_value(event, SYSCALL_RESULT));
	else if (event_moves_bytes(family))
		perfetto_arg_uint(to, PERFETTO_ARG_BYTES, event->bytes);
}

static void write_operation(struct perfetto *perfetto, const struct event *event)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	uint64_t start_ns = since(perfetto, event->start), end_ns = since(perfetto, event->end);
	enum perfetto_kind kind = event->flags & EVENT_ASYNC ? PERFETTO_ASYNC : PERFETTO_THREAD;
	uint32_t group = perfetto_group(tracks, kind, event->process,
					kind == PERFETTO_ASYNC ? 0 : event->thread);
	struct perfetto_event to;

	perfetto_event_begin(&to);
	to.track = perfetto_place(tracks, group, start_ns, end_ns, kind == PERFETTO_THREAD);
	to.name = perfetto_operation(tracks, event->operation);
	to.category = perfetto_family(tracks, perfetto->job.operations[event->operation].family);
	add_path(perfetto, event, &to);
	if (event->flags & EVENT_FAULT) {
		perfetto_arg_uint(&to, PERFETTO_ARG_OFFSET, event->offset);
		if (event->major)
			perfetto_arg_uint(&to, PERFETTO_ARG_MAJOR, event->major);
	} else if (!(event->flags & EVENT_THROTTLED)) {
		add_result(perfetto, event, &to);
	}
	if (event->fetched_bytes)
		perfetto_arg_uint(&to, PERFETTO_ARG_FETCHED, event->fetched_bytes);
	if (event->created_bytes)
		perfetto_arg_uint(&to, PERFETTO_ARG_CREATED, event->created_bytes);
	perfetto_slice(tracks, &to, start_ns, end_ns);
}

/* --- storage --- */

/* The same for a request and its bios. Includes the trace, since hosts reuse numbers. */
static uint64_t flow_of(const struct event *event, unsigned int column)
{
	uint64_t id = event_value(event, column);

	return id ? id ^ (uint64_t)event->block->trace << 56 : 0;
}

static void write_request(struct perfetto *perfetto, const struct event *event)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	uint64_t start_ns = since(perfetto, event->start), end_ns = since(perfetto, event->end);
	uint32_t group = perfetto_group(tracks, PERFETTO_DEVICE, event->block->trace,
					event_value(event, REQUEST_DEV));
	struct perfetto_event to;

	perfetto_event_begin(&to);
	to.track = perfetto_place(tracks, group, start_ns, end_ns, false);
	to.name = perfetto_operation(tracks, event->operation);
	to.category = perfetto_family(tracks, perfetto->job.operations[event->operation].family);
	to.flow_end = flow_of(event, REQUEST_ID);
	if (event->file != FILE_NONE)
		perfetto_arg_interned(&to, PERFETTO_ARG_FILE, perfetto_file(tracks, event->file));
	perfetto_arg_uint(&to, PERFETTO_ARG_BYTES, event_value(event, REQUEST_BYTES));
	perfetto_arg_uint(&to, PERFETTO_ARG_SECTOR, event_value(event, REQUEST_SECTOR));
	perfetto_arg_uint(&to, PERFETTO_ARG_QUEUE, event_value(event, REQUEST_QUEUE));
	perfetto_slice(tracks, &to, start_ns, end_ns);
}

/* Draws an instant where a thread queued the bio, with a flow to the request. */
static void write_bio(struct perfetto *perfetto, const struct event *event)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	struct perfetto_event to;

	if (event->process == PROCESS_UNKNOWN)
		return;
	perfetto_event_begin(&to);
	to.track = perfetto_lane(
		tracks, perfetto_group(tracks, PERFETTO_THREAD, event->process, event->thread), 0);
	to.name = perfetto_operation(tracks, event->operation);
	to.category = perfetto_family(tracks, perfetto->job.operations[event->operation].family);
	to.flow = flow_of(event, BIO_REQUEST);
	perfetto_arg_uint(&to, PERFETTO_ARG_BYTES, event->bytes);
	perfetto_instant(tracks, &to, since(perfetto, event->start));
}

/* --- spans and instants --- */

static void add_args(struct perfetto *perfetto, uint32_t trace, uint64_t string,
		     struct perfetto_event *to)
{
	const struct trace_reader *reader = perfetto->job.traces[trace].reader;

	to->text = args_json(&perfetto->made, trace_reader_string(reader, string));
	to->text_arg = PERFETTO_ARG_ARGS;
}

static void write_moment(struct perfetto *perfetto, const struct event *event)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	uint32_t trace = event->block->trace;
	struct perfetto_event to;

	perfetto_event_begin(&to);
	to.track = perfetto_lane(
		tracks, perfetto_group(tracks, PERFETTO_THREAD, event->process, event->thread), 0);
	to.name = perfetto_name(tracks, trace, event_value(event, INSTANT_NAME));
	to.category = perfetto_category(tracks, trace, event_value(event, INSTANT_CATEGORY));
	add_args(perfetto, trace, event_value(event, INSTANT_ARGS), &to);
	perfetto_instant(tracks, &to, since(perfetto, event->start));
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct perfetto *perfetto = state;
	struct perfetto_tracks *tracks = &perfetto->tracks;
	const struct span *span = &perfetto->job.spans.slots[slot];
	struct open_span *open;
	uint32_t group = perfetto_group(tracks, PERFETTO_SPANS, span->process, span->thread);

	if (group == PERFETTO_NO_GROUP ||
	    !GROW(perfetto->spans, perfetto->span_room, perfetto->job.spans.room))
		return -ENOMEM;
	open = &perfetto->spans[slot];
	*open = (struct open_span) {
		.name = event_value(event, SPAN_BEGIN_NAME),
		.category = event_value(event, SPAN_BEGIN_CATEGORY),
		.args = event_value(event, SPAN_BEGIN_ARGS),
		.begin_ns = span->begin_ns,
		.group = group,
		.newer = NO_SPAN,
		.older = tracks->groups[group].newest,
	};
	if (open->older != NO_SPAN)
		perfetto->spans[open->older].newer = slot;
	tracks->groups[group].newest = slot;
	return 0;
}

/*
 * A span is written when it ends. Spans that began later and are still open cross it, so they move
 * to the next lane. So do spans that began at the same time, which would have to precede it on its
 * lane.
 */
static void move_others(struct perfetto *perfetto, const struct open_span *open)
{
	for (uint32_t other = open->newer; other != NO_SPAN; other = perfetto->spans[other].newer)
		if (perfetto->spans[other].lane <= open->lane)
			perfetto->spans[other].lane = open->lane + 1;
	for (uint32_t other = open->older;
	     other != NO_SPAN && perfetto->spans[other].begin_ns == open->begin_ns;
	     other = perfetto->spans[other].older)
		if (perfetto->spans[other].lane <= open->lane)
			perfetto->spans[other].lane = open->lane + 1;
}

static void unlink_span(struct perfetto *perfetto, const struct open_span *open)
{
	if (open->newer != NO_SPAN)
		perfetto->spans[open->newer].older = open->older;
	else
		perfetto->tracks.groups[open->group].newest = open->older;
	if (open->older != NO_SPAN)
		perfetto->spans[open->older].newer = open->newer;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct perfetto *perfetto = state;
	const struct span *span = &perfetto->job.spans.slots[slot];
	const struct open_span *open = &perfetto->spans[slot];
	const struct process *process = &perfetto->job.processes.processes[span->process];
	struct perfetto_event to;

	unlink_span(perfetto, open);
	if (!filter_wants(perfetto->options->filter, process, perfetto->run_ns, span->begin_ns,
			  span->end_ns))
		return 0;
	move_others(perfetto, open);
	perfetto_event_begin(&to);
	to.track = perfetto_lane(&perfetto->tracks, open->group, open->lane);
	to.name = perfetto_name(&perfetto->tracks, process->trace, open->name);
	to.category = perfetto_category(&perfetto->tracks, process->trace, open->category);
	if (span->unfinished)
		perfetto_arg_uint(&to, PERFETTO_ARG_UNFINISHED, 1);
	add_args(perfetto, process->trace, open->args, &to);
	perfetto_slice(&perfetto->tracks, &to, since(perfetto, span->begin_ns),
		       since(perfetto, span->end_ns));
	return error_of(perfetto);
}

/* --- the walk --- */

static int name_thread(struct perfetto *perfetto, const struct event *event)
{
	const struct trace_reader *reader = perfetto->job.traces[event->block->trace].reader;
	uint32_t process;
	int status = process_table_find(&perfetto->job.processes, event->block->trace,
					event_value(event, EXIT_PID), event->start, &process);

	if (!status)
		perfetto_name_thread(&perfetto->tracks, process, event_value(event, EXIT_TID),
				     trace_reader_string(reader, event_value(event, EXIT_COMM)));
	return status;
}

static int take_event(struct perfetto *perfetto, const struct event *event)
{
	if (event_kind(event) == TRACE_EXIT)
		return name_thread(perfetto, event);
	if (event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC | EVENT_VFS)) {
		count_bytes(perfetto, event);
		if (!(event->flags & EVENT_SECOND))
			write_operation(perfetto, event);
	} else if (event->flags & EVENT_THROTTLED) {
		write_operation(perfetto, event);
	} else if (event->flags & EVENT_REQUEST) {
		write_request(perfetto, event);
	} else if (event->flags & EVENT_BIO) {
		write_bio(perfetto, event);
	} else if (event->flags & EVENT_INSTANT) {
		write_moment(perfetto, event);
	}
	return 0;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct perfetto *perfetto = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++)
		status = take_event(perfetto, event);
	return status ? status : error_of(perfetto);
}

#define BIT(kind) (1ull << TRACE_##kind)
#define KINDS                                                                                      \
	(CURSOR_SPAN_KINDS | BIT(SYSCALL) | BIT(SYSCALL_PATH) | BIT(ASYNC) | BIT(FAULT) |          \
	 BIT(VFS) | BIT(THROTTLE) | BIT(REQUEST) | BIT(BIO) | BIT(INSTANT))

/* A trace's recorded start may be later than its earliest row. */
static void find_base(struct perfetto *perfetto)
{
	struct job *job = &perfetto->job;

	perfetto->base_ns = perfetto->run_ns = job->start_ns;
	for (size_t i = 0; i < job->trace_count; i++) {
		struct trace_reader *reader = job->traces[i].reader;

		for (size_t j = 0; j < trace_reader_block_count(reader); j++) {
			const struct trace_block_info *info = trace_reader_block_info(reader, j);
			uint64_t first = clock_shifted(job->traces[i].clock, info->start);

			if (KINDS >> info->kind & 1 && first < perfetto->base_ns)
				perfetto->base_ns = first;
		}
	}
}

static int write_all(struct perfetto *perfetto, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events,
						 .span_begun = span_begun,
						 .span_ended = span_ended };
	const struct walk_consumer consumer = { &calls, perfetto };
	struct walk walk = {
		.cursor.kinds = KINDS,
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = perfetto->options->progress,
		.context = perfetto->options->context,
	};
	int status;

	/* Rare kinds get all columns; calls and faults only those that events are built from. */
	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (i != TRACE_SYSCALL && i != TRACE_FAULT)
			walk.cursor.columns[i] = (1ull << trace_schemas[i].column_count) - 1;
	find_base(perfetto);
	perfetto_tracks_init(&perfetto->tracks, &perfetto->job, perfetto->pack,
			     clock_subtract(perfetto->job.end_ns, perfetto->base_ns));
	status = device_names_load(&perfetto->tracks.devices, &perfetto->job, error);
	if (!status)
		status = perfetto_tracks_begin(&perfetto->tracks, perfetto->base_ns);
	if (!status)
		status = filter_start(&walk.filter, perfetto->options->filter, &perfetto->job,
				      error);
	filter_set_cursor(walk.filter, &walk.cursor);
	if (!status)
		status = row_resolver_open(&perfetto->resolver, &perfetto->job);
	if (!status)
		status = walk_run(&perfetto->job, &walk, error);
	filter_close(walk.filter);
	if (!status) {
		perfetto_count_end(&perfetto->tracks);
		status = perfetto->tracks.error;
	}
	perfetto_tracks_free(&perfetto->tracks);
	return status;
}

int export_perfetto(struct sink *out, struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct export_options *options,
		    struct trace_error *error)
{
	struct perfetto perfetto = { .options = options };
	int status = job_load(&perfetto.job, traces, names, trace_count, error);

	sink_open_memory(&perfetto.made);
	if (!status)
		status = perfetto_pack_open(&perfetto.pack, out);
	if (!status)
		status = write_all(&perfetto, error);
	if (!status)
		status = perfetto_pack_finish(perfetto.pack);
	perfetto_pack_close(perfetto.pack);
	row_resolver_close(perfetto.resolver);
	sink_close(&perfetto.made);
	free(perfetto.spans);
	job_free(&perfetto.job);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}

void export_perfetto_describe(struct sink *out)
{
	sink_text(
		out,
		"Perfetto's Trace (protobuf), packets compressed with deflate. Times are in ns\n"
		"since the start; the clock snapshot has its wall-clock time.\n\n"
		"  tracks    one per process (rank, program), its threads below it; \"spans\"\n"
		"            below threads; \"asynchronous\" (io_uring, libaio) below processes;\n"
		"            \"device NAME (MAJOR:MINOR)\" per device; \"overlapping\" for slices\n"
		"            that cross others\n"
		"  slices    calls, faults, spans, requests: name, category, and annotations\n"
		"            file, offset, bytes, fetched_bytes, created_bytes, major, error\n"
		"            (errno), sector, queue_ns, unfinished, args (JSON)\n"
		"  instants  marked instants; bios where threads queue them, with flows to\n"
		"            their requests\n"
		"  counters  bytes per second read, written and brought into the cache, by\n"
		"            process\n\n"
		"Not included: unattributed page-cache fill, forks and execs.\n");
}
