/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Trace Event Format export: writes the metadata and walks the traces. */
#include "output/timeline/chrome.h"

#include <errno.h>
#include <stdio.h>

#include "output/timeline/chrome_rows.h"
#include "output/base/json.h"

struct chrome {
	const struct export_options *options;
	struct sink *out;
	struct job job;
	struct chrome_window window;
	struct filter filter, rest; /* as requested; what the walk has to apply of it */
	struct chrome_threads threads;
	struct chrome_spans spans;
	struct chrome_counters counters;
	struct device_names devices;
	struct chrome_requests requests;
	struct chrome_rows rows;
};

/* --- the walks --- */

/* Filters in the walk by everything that the timeline does not apply itself. */
static int open_filter(struct chrome *chrome, struct walk *walk, struct trace_error *error)
{
	chrome->rest = chrome->filter;
	chrome->rest.from_ns = chrome->rest.min_duration_ns = 0;
	chrome->rest.until_ns = chrome->rest.pid = FILTER_NONE;
	if (filter_is_any(&chrome->rest))
		return 0;
	return filter_open(&walk->filter, &chrome->rest, &chrome->job, error);
}

static int draw_all(struct chrome *chrome, struct trace_error *error)
{
	const struct walk_consumer consumer = { &chrome_rows_calls, &chrome->rows };
	struct walk walk = {
		.cursor = { .kinds = chrome_row_kinds(),
			    .whole_rows = true,
			    .from_ns = chrome->window.from_ns,
			    .until_ns = chrome->window.until_ns },
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = chrome->options->progress,
		.context = chrome->options->context,
	};
	int status = open_filter(chrome, &walk, error);

	if (!status)
		status = walk_run(&chrome->job, &walk, error);
	filter_close(walk.filter);
	return status;
}

static int name_threads(void *state, const struct event *events, size_t count)
{
	struct chrome *chrome = state;

	for (const struct event *event = events; event < events + count; event++) {
		struct trace_reader *reader = chrome->job.traces[event->block->trace].reader;
		struct trace_string comm =
			trace_reader_string(reader, event_value(event, EXIT_COMM));
		uint64_t pid = event_value(event, EXIT_PID), tid = event_value(event, EXIT_TID);
		uint32_t process, thread;
		int status = process_table_find(&chrome->job.processes, event->block->trace, pid,
						event->start, &process);

		if (status)
			return status;
		thread = chrome_thread_known(&chrome->threads, process, tid);
		if (thread != CHROME_NONE && comm.length && tid != pid)
			chrome_thread_name(&chrome->threads, thread, comm);
	}
	return chrome->out->error;
}

/* Thread names are in the exit rows, which may lie after the window. */
static int name_all(struct chrome *chrome, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = name_threads };
	const struct walk_consumer consumer = { &calls, chrome };
	const struct walk walk = {
		.cursor = { .kinds = 1ull << TRACE_EXIT, .whole_rows = true },
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
	};

	return walk_run(&chrome->job, &walk, error);
}

/* --- metadata and output --- */

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
	sink_text(out, ",\"start_unix_ns\":");
	sink_uint(out, trace->start_ns);
	sink_text(out, ",\"clock_monotonic_ns\":");
	sink_uint(out, header->clock_monotonic_ns);
	sink_text(out, ",\"clock_realtime_ns\":");
	sink_uint(out, header->clock_realtime_ns);
	sink_text(out, ",\"complete\":");
	sink_text(out, trace->totals ? "true" : "false");
	for (size_t i = 0; trace->totals && i < trace->totals->kind_count; i++)
		lost = clock_add(lost, trace->totals->kinds[i].lost);
	sink_text(out, ",\"lost\":");
	if (trace->totals)
		sink_uint(out, lost);
	else
		sink_text(out, "null");
	sink_char(out, '}');
}

/* Times are relative to start_unix_ns, which aligns timelines that were written separately. */
static void write_other_data(struct chrome *chrome)
{
	struct sink *out = chrome->out;

	sink_text(out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"start_unix_ns\":");
	sink_uint(out, chrome->window.base_ns);
	write_about(out, &chrome->job.traces[0]);
	sink_text(out, ",\"from_ns\":");
	sink_uint(out, chrome->window.from_ns - chrome->window.base_ns);
	sink_text(out, ",\"until_ns\":");
	sink_uint(out, chrome->window.until_ns - chrome->window.base_ns);
	sink_text(out, ",\"min_duration_ns\":");
	sink_uint(out, chrome->filter.min_duration_ns);
	sink_text(out, ",\n\"traces\":[");
	for (size_t i = 0; i < chrome->job.trace_count; i++) {
		sink_text(out, i ? ",\n" : "");
		write_trace_about(out, &chrome->job.traces[i]);
	}
	sink_text(out, "]},\n\"traceEvents\":[");
}

/* A trace's recorded start and end, if any, may be narrower than its rows. */
static void find_window(struct chrome *chrome)
{
	uint64_t start = chrome->job.start_ns, end = chrome->job.end_ns;

	for (size_t i = 0; i < chrome->job.trace_count; i++) {
		const struct job_trace *trace = &chrome->job.traces[i];
		size_t blocks = trace_reader_block_count(trace->reader);

		for (size_t j = 0; j < blocks; j++) {
			const struct trace_block_info *info =
				trace_reader_block_info(trace->reader, j);
			uint64_t first = clock_shifted(trace->clock, info->start);
			uint64_t last = clock_shifted(trace->clock, info->end);

			if (!(chrome_row_kinds() >> info->kind & 1))
				continue;
			start = first < start ? first : start;
			end = last > end ? last : end;
		}
	}
	end = clock_add(end, 1); /* include events at the end */
	chrome->window = (struct chrome_window) {
		.base_ns = start,
		.from_ns = clock_add(start, chrome->filter.from_ns),
		.until_ns = clock_add(start, chrome->filter.until_ns),
	};
	if (chrome->window.until_ns > end)
		chrome->window.until_ns = end;
	if (chrome->window.from_ns > chrome->window.until_ns)
		chrome->window.from_ns = chrome->window.until_ns;
}

static int write_all(struct chrome *chrome, struct trace_error *error)
{
	int status;

	find_window(chrome);
	chrome_threads_init(&chrome->threads, &chrome->job, chrome->out);
	chrome_spans_init(&chrome->spans, &chrome->threads, &chrome->window,
			  chrome->filter.min_duration_ns);
	chrome_counters_init(&chrome->counters, chrome->window.from_ns, chrome->window.until_ns);
	chrome->rows = (struct chrome_rows) {
		.job = &chrome->job,
		.window = &chrome->window,
		.min_duration_ns = chrome->filter.min_duration_ns,
		.pid = chrome->filter.pid,
		.threads = &chrome->threads,
		.spans = &chrome->spans,
		.counters = &chrome->counters,
		.requests = &chrome->requests,
	};
	write_other_data(chrome);
	status = device_names_load(&chrome->devices, &chrome->job, error);
	if (!status)
		status = chrome_requests_init(&chrome->requests, &chrome->threads, &chrome->window,
					      &chrome->devices, chrome->filter.min_duration_ns);
	if (!status)
		status = row_resolver_open(&chrome->rows.resolver, &chrome->job);
	if (!status)
		status = draw_all(chrome, error);
	if (!status)
		status = name_all(chrome, error);
	if (!status)
		chrome_threads_emit_shared(&chrome->threads);
	if (!status)
		status = chrome_counters_write(&chrome->counters, &chrome->threads, chrome->out,
					       chrome->window.base_ns);
	sink_text(chrome->out, "\n]}\n");
	row_resolver_close(chrome->rows.resolver);
	chrome_requests_free(&chrome->requests);
	chrome_counters_free(&chrome->counters);
	chrome_spans_free(&chrome->spans);
	chrome_threads_free(&chrome->threads);
	return status ? status : chrome->out->error;
}

int chrome_write(struct sink *out, struct trace_reader *const *traces, const char *const *names,
		 size_t trace_count, const struct export_options *options,
		 struct trace_error *error)
{
	struct chrome chrome = { .options = options, .out = out, .filter = FILTER_ALL };
	int status = job_load(&chrome.job, traces, names, trace_count, error);

	if (options->filter)
		chrome.filter = *options->filter;
	if (!status)
		status = write_all(&chrome, error);
	job_free(&chrome.job);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}

void chrome_describe(struct sink *out)
{
	sink_text(
		out,
		"One JSON object of the Trace Event Format: traceEvents, otherData.\n"
		"Times are in us with three decimals, since otherData.start_unix_ns.\n\n"
		"  ph M     names of processes (rank, command) and threads\n"
		"  ph X     calls and faults (cat read, write, metadata, sync, map, fault ...)\n"
		"           and spans (cat as given by the program): ts, dur, args\n"
		"  ph b, e  spans and io_uring and libaio operations that do not nest on a thread\n"
		"  ph i     marked instants, fork, exec, exit, unattributed page-cache fill\n"
		"  ph C     bytes read, written, brought into the cache per second, by process\n\n"
		"args: file, file2, offset, asked, bytes, result, error, fetched_bytes,\n"
		"created_bytes, fault_fetched_bytes, major, flags (names), cut (the truncated\n"
		"end), ended_by, unfinished, and the span's own arguments. If a text is not\n"
		"UTF-8, NAME_hex has all of its bytes.\n");
}
