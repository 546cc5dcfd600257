/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The registry of analyses, and one pass of a job's events through all of them. Knows nothing of
 * what they make of it.
 */
#include "analysis/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/activity.h"
#include "analysis/analysis.h"
#include "analysis/stream.h"

static const struct analysis devices = {
	.name = "devices",
	.title = "Devices",
	.absent = "requests to block devices were not recorded",
};

static const struct analysis findings = {
	.name = "findings",
	.title = "Findings",
	.absent = "this version draws no conclusions of its own",
};

/* In the order of the report. */
static const struct analysis *const registry[] = {
	&analysis_trace, &analysis_totals,	   &analysis_doors,	&analysis_operations,
	&analysis_files, &analysis_failed_lookups, &analysis_processes, &devices,
	&analysis_spans, &analysis_overlap,	   &analysis_levels,	&analysis_steps,
	&findings,
};
#define ANALYSES (sizeof(registry) / sizeof(registry[0]))

struct pass {
	struct job job;
	struct activities activities;
	void *states[ANALYSES];
};

static int begin_all(struct pass *pass)
{
	int status = 0;

	for (size_t i = 0; i < ANALYSES && !status; i++)
		if (!registry[i]->absent && registry[i]->begin)
			status = registry[i]->begin(&pass->job, &pass->states[i]);
	return status;
}

static int rows_to_all(void *context, const struct rows *rows)
{
	struct pass *pass = context;
	int status = 0;

	for (size_t i = 0; i < ANALYSES && !status; i++)
		if (registry[i]->rows)
			status = registry[i]->rows(pass->states[i], rows);
	return status;
}

/* --- events, and the spans that are open between them --- */

static int events_to_all(struct pass *pass, const struct event *events, size_t count)
{
	int status = count ? activities_events(&pass->activities, events, count) : 0;

	for (size_t i = 0; i < ANALYSES && count && !status; i++)
		if (registry[i]->events)
			status = registry[i]->events(pass->states[i], events, count);
	return status;
}

static int begin_span(struct pass *pass, const struct event *event)
{
	uint32_t slot;
	int status = open_spans_begin(&pass->job.spans, event, &pass->job.processes, &slot);

	if (status || slot == SPAN_NONE)
		return status;
	status = activities_span_begun(&pass->activities, slot);
	for (size_t i = 0; i < ANALYSES && !status; i++)
		if (registry[i]->span_begun)
			status = registry[i]->span_begun(pass->states[i], slot);
	return status;
}

static int end_span(struct pass *pass, uint32_t slot, uint64_t end_ns, bool unfinished)
{
	struct span *span = &pass->job.spans.slots[slot];
	int status = 0;

	span->end_ns = end_ns > span->begin_ns ? end_ns : span->begin_ns;
	span->unfinished = unfinished;
	activities_span_ended(&pass->activities, slot);
	for (size_t i = 0; i < ANALYSES && !status; i++)
		if (registry[i]->span_ended)
			status = registry[i]->span_ended(pass->states[i], slot);
	open_spans_close(&pass->job.spans, slot);
	return status;
}

static int take_turn(struct pass *pass, const struct event *event)
{
	struct open_spans *spans = &pass->job.spans;
	uint32_t slot;
	int status = 0;

	if (event->flags & EVENT_SPAN_BEGIN)
		return begin_span(pass, event);
	if (event->flags & EVENT_SPAN_END) {
		slot = open_spans_of_id(spans, event->process, event->id);
		if (slot != SPAN_NONE)
			return end_span(pass, slot, event->start, false);
		spans->unmatched_ends++;
		return 0;
	}
	while (!status && (slot = open_spans_of_process(spans, event->process)) != SPAN_NONE)
		status = end_span(pass, slot, event->start, true);
	return status;
}

static int take_events(struct pass *pass, const struct event *events, size_t count)
{
	size_t first = 0;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		if (!(events[i].flags & EVENT_TURN))
			continue;
		status = events_to_all(pass, events + first, i - first);
		if (!status)
			status = take_turn(pass, &events[i]);
		first = i + 1;
	}
	return status ? status : events_to_all(pass, events + first, count - first);
}

struct last_end {
	uint64_t end_ns;
	uint32_t slot;
};

static int compare_ends(const void *left, const void *right)
{
	const struct last_end *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->slot < b->slot ? -1 : 1;
}

/* Spans that are open when all is over end with their traces. */
static int end_spans(struct pass *pass)
{
	const struct job *job = &pass->job;
	struct last_end *ends = reallocarray(NULL, job->spans.open + 1, sizeof(*ends));
	size_t count = 0;
	int status = 0;

	if (!ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->spans.used; i++) {
		const struct span *span = &job->spans.slots[i];
		uint32_t trace = job->processes.processes[span->process].trace;

		if (span->serial)
			ends[count++] = (struct last_end) { job->traces[trace].end_ns, i };
	}
	qsort(ends, count, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < count && !status; i++)
		status = end_span(pass, ends[i].slot, ends[i].end_ns, true);
	activities_finish(&pass->activities);
	free(ends);
	return status;
}

static int stream_to_all(struct pass *pass, const struct report_options *options,
			 struct trace_error *error)
{
	const struct stream_options stream_options = { .rows = rows_to_all, .context = pass };
	const struct event *events;
	struct stream *stream;
	double told = 0;
	size_t count;
	int status = stream_open(&stream, &pass->job, &stream_options);

	if (status)
		return status;
	do {
		status = stream_next(stream, &events, &count, error);
		if (!status)
			status = take_events(pass, events, count);
		if (options && options->progress && stream_progress(stream) != told) {
			told = stream_progress(stream);
			options->progress(options->context, told);
		}
	} while (count && !status);
	stream_close(stream);
	return status ? status : end_spans(pass);
}

static int fill_all(struct pass *pass, struct report *report)
{
	int status = 0;

	report->tables = calloc(ANALYSES, sizeof(*report->tables));
	if (!report->tables)
		return -ENOMEM;
	for (size_t i = 0; i < ANALYSES && !status; i++) {
		const struct analysis *analysis = registry[i];
		struct table **table = &report->tables[i];

		status = table_new(table, analysis->name, analysis->title, analysis->shape);
		if (status)
			break;
		report->table_count++;
		if (analysis->absent) {
			(*table)->absent = true;
			status = table_set_note(*table, analysis->absent);
		} else {
			status = analysis->fill(pass->states[i], *table);
		}
	}
	return status;
}

/* What another machine's clock says is of no use, and nothing in it would tell. */
static int check_gpu(const struct job *job, const struct gpu *gpu, struct trace_error *error)
{
	uint64_t start_ns = gpu->intervals[0].start_ns;
	uint64_t end_ns = gpu->intervals[gpu->count - 1].end_ns;

	if (start_ns < job->end_ns && end_ns > job->start_ns)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "%.100s: the GPU was busy at no time of the run: another run's file, or another "
		 "host's clock",
		 gpu->name);
	return -ERANGE;
}

int report_make(struct report **report, struct trace_reader *const *traces,
		const char *const *names, size_t trace_count, const struct report_options *options,
		struct trace_error *error)
{
	struct pass pass = { 0 };
	int status;

	*report = NULL;
	error->text[0] = '\0';
	if (!trace_count) {
		snprintf(error->text, sizeof(error->text), "no trace was given");
		return -EINVAL;
	}
	status = job_load(&pass.job, traces, names, trace_count, error);
	if (!status)
		status =
			activities_init(&pass.activities, &pass.job, options ? options->gpu : NULL);
	pass.job.activities = &pass.activities;
	if (!status && options && options->gpu)
		status = check_gpu(&pass.job, options->gpu, error);
	if (!status)
		status = begin_all(&pass);
	if (!status)
		status = stream_to_all(&pass, options, error);
	if (status)
		goto out;
	job_count_unseen(&pass.job);
	*report = calloc(1, sizeof(**report));
	status = *report ? fill_all(&pass, *report) : -ENOMEM;
out:
	for (size_t i = 0; i < ANALYSES; i++)
		if (registry[i]->end && pass.states[i])
			registry[i]->end(pass.states[i]);
	activities_free(&pass.activities);
	job_free(&pass.job);
	if (status) {
		report_free(*report);
		*report = NULL;
		if (status == -ENOMEM)
			snprintf(error->text, sizeof(error->text), "out of memory");
	}
	return status;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->table_count; i++)
		table_free(report->tables[i]);
	free(report->tables);
	free(report);
}

const struct table *report_table(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->table_count; i++)
		if (!strcmp(report->tables[i]->name, name))
			return report->tables[i];
	return NULL;
}
