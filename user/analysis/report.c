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

#include "analysis/analysis.h"
#include "analysis/stream.h"

static const struct analysis devices = {
	.name = "devices",
	.title = "Devices",
	.absent = "requests to block devices were not recorded",
};

static const struct analysis spans = {
	.name = "spans",
	.title = "Spans",
	.absent = "spans of the application were not recorded",
};

static const struct analysis overlap = {
	.name = "overlap",
	.title = "Overlap of I/O and compute",
	.shape = TABLE_RECORD,
	.absent = "spans of the application were not recorded",
};

static const struct analysis findings = {
	.name = "findings",
	.title = "Findings",
	.absent = "this version draws no conclusions of its own",
};

/* In the order of the report. */
static const struct analysis *const registry[] = {
	&analysis_trace,
	&analysis_totals,
	&analysis_doors,
	&analysis_operations,
	&analysis_files,
	&analysis_failed_lookups,
	&analysis_processes,
	&devices,
	&spans,
	&overlap,
	&findings,
};
#define ANALYSES (sizeof(registry) / sizeof(registry[0]))

struct pass {
	struct job job;
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
		for (size_t i = 0; i < ANALYSES && count && !status; i++)
			if (registry[i]->events)
				status = registry[i]->events(pass->states[i], events, count);
		if (options && options->progress && stream_progress(stream) != told) {
			told = stream_progress(stream);
			options->progress(options->context, told);
		}
	} while (count && !status);
	stream_close(stream);
	return status;
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
