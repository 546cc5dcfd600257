/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a timeline in the Trace Event Format (JSON), for ui.perfetto.dev and chrome://tracing:
 * "Trace Event Format", Google, 2016, docs.google.com/document/d/
 * 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 *   M     processes by rank, with command lines; thread names; devices as processes
 *   X     slices that nest on their thread; requests, with a thread per lane
 *   b, e  other slices: viewers would drop or misplace them as X
 *   s, f  arrows from slices to the requests that they made
 *   i     instants
 *   C     counters
 *
 * Times are in us, to the ns, since the start of the earliest trace; "otherData" has the wall-clock
 * time of that start.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "output/base/args.h"
#include "output/base/flags.h"
#include "output/base/json.h"
#include "output/timeline/timeline.h"

/* Device ids that no process has: above all pids, below TIMELINE_PID_STEP. */
#define DEVICE_PID 5000000
#define DEVICE_STEP 1000
#define LANES_MAX 512 /* per device; further requests are drawn as async slices */
#define ARROWS 8192   /* slots for arrows with one end, by id */

/* Process and thread ids as written. */
struct event_ids {
	uint64_t pid, tid;
};

struct arrow {
	uint64_t id; /* 0: free */
	bool from, to;
	struct event_ids ids; /* the request's, if it came first */
	uint64_t time_ns, end_ns;
};

struct chrome {
	bool any;	 /* an event was written */
	uint64_t asyncs; /* async ids used so far */
	struct arrow arrows[ARROWS];
};

/* --- members of events --- */

/* Writes the members common to all events except the time, without a leading comma. */
static void open_event(struct sink *out, struct trace_string name, struct trace_string category,
		       char phase, struct event_ids ids)
{
	sink_text(out, "{\"name\":");
	json_text(out, name.bytes, name.length);
	if (category.length) {
		sink_text(out, ",\"cat\":");
		json_text(out, category.bytes, category.length);
	}
	sink_text(out, ",\"ph\":\"");
	sink_char(out, phase);
	sink_text(out, "\",\"pid\":");
	sink_uint(out, ids.pid);
	sink_text(out, ",\"tid\":");
	sink_uint(out, ids.tid);
}

/* Writes a member that is a time or a duration. */
static void add_time(struct sink *out, const char *name, uint64_t ns)
{
	unsigned int part = ns % 1000;
	const char digits[] = { '.', '0' + part / 100, '0' + part / 10 % 10, '0' + part % 10 };

	sink_text(out, ",\"");
	sink_text(out, name);
	sink_text(out, "\":");
	sink_uint(out, ns / 1000);
	sink_bytes(out, digits, sizeof(digits));
}

static void add_name(struct sink *out, const char *name, const char *after, bool *any)
{
	sink_text(out, *any ? ",\"" : "\"");
	sink_text(out, name);
	sink_text(out, after);
	sink_text(out, "\":");
	*any = true;
}

/* Writes bytes that are not UTF-8 as \xHH, and all bytes in an additional member NAME_hex. */
static void add_text(struct sink *out, const char *name, struct trace_string text, bool *any)
{
	add_name(out, name, "", any);
	if (!json_text(out, text.bytes, text.length)) {
		add_name(out, name, "_hex", any);
		json_hex(out, text.bytes, text.length);
	}
}

static void write_flags(struct sink *out, enum trace_kind kind, uint64_t flags)
{
	const char *between = "[";

	for (; flags; flags &= flags - 1) {
		unsigned int bit = __builtin_ctzll(flags);
		const char *name = flags_name(kind, bit);

		sink_text(out, between);
		if (name)
			json_text(out, name, strlen(name));
		else
			sink_format(out, "\"bit %u\"", bit);
		between = ",";
	}
	sink_char(out, ']');
}

static void add_arg(const struct timeline *timeline, struct sink *out,
		    const struct timeline_item *item, const struct timeline_arg *arg, bool *any)
{
	/* Names that the export itself uses, in slices and in instants. */
	static const char *const slice[] = { "unfinished", "cut", "flags", "ended_by", NULL };
	static const char *const instant[] = { "flags", NULL };
	const char *name = timeline_arg_names[arg->id];
	struct trace_string text = timeline_text(timeline, arg);

	switch (arg->type) {
	case TIMELINE_MSGPACK:
		args_json_members(out, text, item->event ? instant : slice, any);
		return;
	case TIMELINE_PATH:
	case TIMELINE_TEXT:
		if (text.length || arg->type == TIMELINE_TEXT)
			add_text(out, name, text, any);
		return;
	case TIMELINE_ERRNO:
		if (!strerrorname_np(arg->value))
			return;
		add_text(out, name, timeline_literal(strerrorname_np(arg->value)), any);
		return;
	}
	add_name(out, name, "", any);
	if (arg->type == TIMELINE_WORDS)
		json_words(out, text.bytes, text.length);
	else if (arg->type == TIMELINE_BITS)
		write_flags(out, item->kind, arg->value);
	else if (arg->type == TIMELINE_TRUE)
		sink_text(out, "true");
	else if (arg->type == TIMELINE_INT)
		sink_int(out, arg->value);
	else
		sink_uint(out, arg->value);
}

static void add_args(const struct timeline *timeline, struct sink *out,
		     const struct timeline_item *item)
{
	bool any = false;

	sink_text(out, ",\"args\":{");
	for (size_t i = 0; i < item->arg_count; i++)
		add_arg(timeline, out, item, &item->args[i], &any);
	sink_text(out, "}}");
}

/* --- tracks --- */

static struct event_ids ids_of(const struct timeline_track *track)
{
	uint64_t pid = DEVICE_PID + track->pid * DEVICE_STEP;

	if (track->kind == TIMELINE_DEVICE)
		return (struct event_ids) { pid, pid };
	if (track->kind == TIMELINE_REQUESTS)
		return (struct event_ids) { pid,
					    track->key < LANES_MAX ? pid + 1 + track->key : pid };
	return (struct event_ids) { track->pid, track->tid };
}

/* Every other event follows the names of its process. */
static void open_metadata(struct timeline *timeline, const char *what, struct event_ids ids)
{
	struct chrome *chrome = timeline->state;

	sink_text(timeline->out, chrome->any ? ",\n" : "\n");
	chrome->any = true;
	open_event(timeline->out, timeline_literal(what), timeline_literal(""), 'M', ids);
	sink_text(timeline->out, ",\"args\":{");
}

static void write_metadata(struct timeline *timeline, const char *what, struct event_ids ids,
			   const char *member, struct trace_string value)
{
	bool any = false;

	open_metadata(timeline, what, ids);
	add_text(timeline->out, member, value, &any);
	sink_text(timeline->out, "}}");
}

/* Processes without a rank, launchers for example, come first. */
static int64_t sort_index(const struct process *process)
{
	return process->rank < 0 ? -1 : process->rank < INT32_MAX ? process->rank : INT32_MAX;
}

static void write_process(struct timeline *timeline, const struct timeline_track *track)
{
	const struct process *process = &timeline->job.processes.processes[track->process];
	const char *host = timeline->job.traces[process->trace].header->host;
	struct event_ids ids = ids_of(track);
	struct sink labels;

	write_metadata(timeline, "process_name", ids, "name", track->name);
	sink_open_memory(&labels);
	if (process->rank >= 0)
		sink_format(&labels, "rank %" PRId64 ", ", process->rank);
	sink_format(&labels, "host %s, pid %" PRIu32, host, process->pid);
	timeline_fail(timeline, labels.error);
	write_metadata(timeline, "process_labels", ids, "labels",
		       (struct trace_string) { labels.buffer, labels.used });
	sink_close(&labels);
	open_metadata(timeline, "process_sort_index", ids);
	sink_format(timeline->out, "\"sort_index\":%" PRId64 "}}", sort_index(process));
}

static void write_track(struct timeline *timeline, const struct timeline_track *track)
{
	struct event_ids ids = ids_of(track);
	char label[128];

	if (track->kind == TIMELINE_PROCESS)
		write_process(timeline, track);
	if ((track->kind == TIMELINE_THREAD && track->name.length) ||
	    (track->kind == TIMELINE_REQUESTS && track->key < LANES_MAX))
		write_metadata(timeline, "thread_name", ids, "name", track->name);
	if (track->kind == TIMELINE_DEVICE) {
		snprintf(label, sizeof(label), "host %.100s",
			 timeline->job.traces[track->process].header->host);
		write_metadata(timeline, "process_name", ids, "name", track->name);
		write_metadata(timeline, "process_labels", ids, "labels", timeline_literal(label));
	}
}

/* --- arrows --- */

static struct arrow *arrow_of(struct chrome *chrome, uint64_t id)
{
	struct arrow *arrow = &chrome->arrows[(id ^ id >> 40) % ARROWS];

	if (arrow->id != id)
		*arrow = (struct arrow) { .id = id };
	return arrow;
}

static void write_arrow(struct timeline *timeline, char phase, struct event_ids ids, uint64_t id,
			uint64_t time_ns)
{
	struct sink *out = timeline->out;

	sink_text(out, ",\n");
	open_event(out, timeline_literal("storage"), timeline_literal("block"), phase, ids);
	sink_text(out, ",\"id\":");
	sink_uint(out, id);
	add_time(out, "ts", time_ns);
	sink_text(out, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Ends the arrow on the request, no earlier than it begins. */
static void end_arrow(struct timeline *timeline, const struct arrow *arrow, uint64_t from_ns)
{
	uint64_t time_ns = number_max(arrow->time_ns, from_ns);

	write_arrow(timeline, 'f', arrow->ids, arrow->id, number_min(time_ns, arrow->end_ns));
}

/* Arrows begin at bios, on slices that are drawn. */
static void begin_arrow(struct timeline *timeline, const struct timeline_item *item)
{
	struct arrow *arrow;

	if (!item->inside || !item->flow)
		return;
	arrow = arrow_of(timeline->state, item->flow);
	if (arrow->from)
		return;
	arrow->from = true;
	write_arrow(timeline, 's', ids_of(item->track), arrow->id, item->start_ns);
	if (arrow->to)
		end_arrow(timeline, arrow, item->start_ns);
	else
		arrow->time_ns = item->start_ns;
}

static void lead_arrow(struct timeline *timeline, const struct timeline_item *item)
{
	struct arrow *arrow;
	uint64_t from_ns;

	if (!item->flow)
		return;
	arrow = arrow_of(timeline->state, item->flow);
	if (arrow->to)
		return; /* a part of a request that ended earlier */
	from_ns = arrow->time_ns;
	arrow->to = true;
	arrow->ids = ids_of(item->track);
	arrow->time_ns = item->start_ns;
	arrow->end_ns = item->end_ns;
	if (arrow->from)
		end_arrow(timeline, arrow, from_ns);
}

/* --- events --- */

static void write_async(struct sink *out, const struct timeline_item *item, struct event_ids ids,
			char phase, uint64_t id, uint64_t time_ns)
{
	sink_text(out, ",\n");
	open_event(out, item->name.text, item->category.text, phase, ids);
	sink_format(out, ",\"id\":\"0x%" PRIx64 "\"", id);
	add_time(out, "ts", time_ns);
}

static void write_slice(struct timeline *timeline, struct sink *out,
			const struct timeline_item *item)
{
	const struct timeline_track *track = item->track;
	struct event_ids ids = ids_of(item->thread ? item->thread : track);
	struct chrome *chrome = timeline->state;

	if (track->kind == TIMELINE_THREAD ||
	    (track->kind == TIMELINE_REQUESTS && track->key < LANES_MAX)) {
		sink_text(out, ",\n");
		open_event(out, item->name.text, item->category.text, 'X', ids);
		add_time(out, "ts", item->start_ns);
		add_time(out, "dur", item->end_ns - item->start_ns);
		add_args(timeline, out, item);
		if (track->kind == TIMELINE_REQUESTS)
			lead_arrow(timeline, item);
		return;
	}
	write_async(out, item, ids, 'b', ++chrome->asyncs, item->start_ns);
	add_args(timeline, out, item);
	write_async(out, item, ids, 'e', chrome->asyncs, item->end_ns);
	sink_char(out, '}');
}

static void write_instant(struct timeline *timeline, const struct timeline_item *item)
{
	struct sink *out = timeline->out;

	if (item->kind == TRACE_BIO) {
		begin_arrow(timeline, item);
		return;
	}
	sink_text(out, ",\n");
	open_event(out, item->name.text, item->category.text, 'i', ids_of(item->track));
	add_time(out, "ts", item->start_ns);
	sink_text(out, item->of_process ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
	add_args(timeline, out, item);
}

static void write_counter(struct timeline *timeline, const struct timeline_track *track,
			  uint64_t time_ns, double value)
{
	struct sink *out = timeline->out;

	sink_text(out, ",\n");
	open_event(out, track->name, timeline_literal("counter"), 'C', ids_of(track));
	add_time(out, "ts", time_ns);
	sink_format(out, ",\"args\":{\"bytes/s\":%.15g}}", value);
}

/* --- the document --- */

static void write_member(struct sink *out, const char *name, const char *text)
{
	sink_format(out, ",\"%s\":", name);
	if (text)
		json_text(out, text, strlen(text));
	else
		sink_text(out, "null");
}

static void write_about(struct sink *out, const struct job_trace *trace)
{
	const struct trace_header *header = trace->header;

	write_member(out, "host", header->host);
	write_member(out, "kernel", header->kernel);
	sink_text(out, ",\"command\":[");
	for (const char *const *word = header->command; word && *word; word++) {
		sink_text(out, word == header->command ? "" : ",");
		json_text(out, *word, strlen(*word));
	}
	sink_char(out, ']');
}

static void write_trace_about(struct sink *out, const struct job_trace *trace)
{
	const struct trace_header *header = trace->header;
	uint64_t lost = 0;

	sink_text(out, "{\"file\":");
	json_text(out, trace->name, strlen(trace->name));
	write_about(out, trace);
	write_member(out, "boot_id", header->boot_id);
	write_member(out, "faultline", header->tool);
	sink_format(out, ",\"start_unix_ns\":%" PRIu64 ",\"clock_monotonic_ns\":%" PRIu64,
		    trace->start_ns, header->clock_monotonic_ns);
	sink_format(out, ",\"clock_realtime_ns\":%" PRIu64 ",\"complete\":%s,\"lost\":",
		    header->clock_realtime_ns, trace->totals ? "true" : "false");
	for (size_t i = 0; trace->totals && i < trace->totals->kind_count; i++)
		lost = number_add(lost, trace->totals->kinds[i].lost);
	if (trace->totals)
		sink_uint(out, lost);
	else
		sink_text(out, "null");
	sink_char(out, '}');
}

/* Times are relative to start_unix_ns, which aligns timelines that were written separately. */
static int begin_document(struct timeline *timeline)
{
	struct sink *out = timeline->out;

	sink_format(out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"start_unix_ns\":%" PRIu64,
		    timeline->base_ns);
	write_about(out, &timeline->job.traces[0]);
	sink_format(out,
		    ",\"from_ns\":%" PRIu64 ",\"until_ns\":%" PRIu64 ",\"min_duration_ns\":%" PRIu64
		    ",\n\"traces\":[",
		    timeline->from_ns, timeline->until_ns, timeline->filter.min_duration_ns);
	for (size_t i = 0; i < timeline->job.trace_count; i++) {
		sink_text(out, i ? ",\n" : "");
		write_trace_about(out, &timeline->job.traces[i]);
	}
	sink_text(out, "]},\n\"traceEvents\":[");
	return out->error;
}

static int end_document(struct timeline *timeline)
{
	sink_text(timeline->out, "\n]}\n");
	return timeline->out->error;
}

static const struct timeline_encoder chrome = {
	.cuts = true,
	.state_bytes = sizeof(struct chrome),
	.begin = begin_document,
	.track = write_track,
	.slice = write_slice,
	.instant = write_instant,
	.counter = write_counter,
	.finish = end_document,
};

const struct export_format export_chrome = {
	.name = "chrome",
	.stream = timeline_export,
	.timeline = &chrome,
	.about =
		"One JSON object of the Trace Event Format: traceEvents, otherData.\n"
		"Times are in us with three decimals, since otherData.start_unix_ns.\n\n"
		"  ph M     names of processes (rank, command) and threads\n"
		"  ph X     calls and faults (cat read, write, metadata, sync, map, fault ...),\n"
		"           waits of threads (cat wait; the state is the name), and spans (cat as\n"
		"           given by the program): ts, dur, args\n"
		"  ph b, e  spans and io_uring and libaio operations that do not nest on a thread\n"
		"  ph i     marked instants, fork, exec, exit, unattributed page-cache fill;\n"
		"           samples of time on a CPU (cat cpu; the line is the name)\n"
		"  ph C     bytes read, written, brought into the cache per second, by process\n\n"
		"args: file, file2, offset, asked, bytes, result, error, fetched_bytes,\n"
		"created_bytes, fault_fetched_bytes, major, flags (names), cut (the truncated\n"
		"end), ended_by, unfinished, and the span's own arguments; of waits call, object\n"
		"(what was waited for), waker_pid, waker_tid, owner_pid, owner_tid (of the lock).\n"
		"Calls, faults and waits whose stack was sampled: at (the application's\n"
		"FILE:LINE in FUNCTION). Samples: weight_ns (time that they represent), at. With\n"
		"--line or --function, calls, faults and waits are drawn from their samples, so\n"
		"most of those shorter than 1 ms are missing. If a text is not UTF-8, NAME_hex "
		"has\n"
		"all of its bytes.\n",
};
