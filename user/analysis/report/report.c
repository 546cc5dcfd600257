/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The registry of analyses, and the pass of a job's events through all of them. */
#include "analysis/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/activity.h"
#include "analysis/shared/analysis.h"
#include "analysis/totals/groups.h"
#include "analysis/report/lower_bounds.h"
#include "analysis/picture/pictures.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/summed.h"
#include "analysis/order/walk.h"

/* In the order of the report. */
/* clang-format off */
static const struct analysis *const registry[] = {
	&analysis_trace,
	&analysis_caveats,
	&analysis_totals,
	&analysis_methods,
	&analysis_operations,
	&analysis_files,
	&analysis_failed_lookups,
	&analysis_reopens,
	&analysis_lifetimes,
	&analysis_advice,
	&analysis_io_patterns,
	&analysis_programs,
	&analysis_starts,
	&analysis_processes,
	&analysis_threads,
	&analysis_thread_kinds,
	&analysis_thread_ranks,
	&analysis_thread_processes,
	&analysis_critical_path,
	&analysis_lines,
	&analysis_functions,
	&analysis_devices,
	&analysis_device_users,
	&analysis_device_heat,
	&analysis_latency_breakdown,
	&analysis_chain_spans,
	&analysis_slowest,
	&analysis_readahead,
	&analysis_writeback,
	&analysis_spans,
	&analysis_span_states,
	&analysis_overlap,
	&analysis_ranks,
	&analysis_levels,
	&analysis_epochs,
	&analysis_steps,
	&analysis_findings,
	&analysis_timeline,
	&analysis_access,
	&analysis_paths,
};
/* clang-format on */
#define ANALYSES (sizeof(registry) / sizeof(registry[0]))

struct pass {
	struct job job;
	struct activities activities;
	struct arena arena; /* of the activities and the groups */
	struct filter_state *filter;
	struct groups *groups;
	void *states[ANALYSES];
	struct arena arenas[ANALYSES]; /* of the states: some are filled on another thread */
};

#define NEEDS_EVENTS                                                                               \
	"requires individual operations, but they were only aggregated (use --mode trace)"

/* Returns whether an analysis gets what it needs: single operations, or their sums. */
static bool is_made(const struct job *job, const struct analysis *analysis)
{
	return analysis->aggregated_ok || !job->aggregated;
}

static int begin_analysis(struct pass *pass, size_t number)
{
	struct arena *arena = &pass->arenas[number];
	void *state = arena_alloc(arena, registry[number]->state_bytes);

	pass->states[number] = state;
	if (state && registry[number]->begin)
		registry[number]->begin(state, &pass->job, arena);
	return arena_status(arena);
}

static int begin_all(struct pass *pass)
{
	int status = 0;

	for (size_t i = 0; i < ANALYSES && !status; i++)
		if (registry[i]->state_bytes && !registry[i]->absent &&
		    is_made(&pass->job, registry[i]))
			status = begin_analysis(pass, i);
	return status;
}

/* A filter's time window is the run, as analyses see it. */
static int open_filter(struct pass *pass, const struct report_options *options,
		       struct trace_error *error)
{
	const struct filter *filter = options ? options->filter : NULL;
	int status;

	pass->job.chosen = filter && filter_chooses(filter);
	status = filter_start(&pass->filter, filter, &pass->job, error);
	filter_pass_parts(pass->filter);
	pass->job.filtered = filter_cannot_emit(pass->filter);
	pass->job.layers &= ~(pass->job.filtered & ~(JOB_FAULT | JOB_SYSCALL));
	return status;
}

static int walk_all(struct pass *pass, const struct report_options *options,
		    struct trace_error *error)
{
	struct walk_consumer consumers[2 + ANALYSES] = { { &activities_calls, &pass->activities } };
	struct walk walk = {
		.cursor.kinds = ~JOB_KINDS,
		.cursor.bytes_max = pass->job.memory_bytes / 2,
		.consumers = consumers,
		.consumer_count = 1,
		.filter = pass->filter,
	};
	int status;

	if (options) {
		walk.progress = options->progress;
		walk.context = options->context;
	}
	filter_set_cursor(pass->filter, &walk.cursor);
	for (size_t i = 0; i < ANALYSES; i++) {
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			walk.cursor.columns[kind] |= registry[i]->columns[kind];
		if (pass->states[i])
			consumers[walk.consumer_count++] =
				(struct walk_consumer) { &registry[i]->consumer, pass->states[i] };
	}
	if (pass->groups)
		consumers[walk.consumer_count++] =
			(struct walk_consumer) { &groups_calls, pass->groups };
	status = walk_run(&pass->job, &walk, error);
	activities_finish(&pass->activities);
	if (status || !pass->filter)
		return status;
	if (!filter_passed(pass->filter)) {
		snprintf(error->text, sizeof(error->text), "no events match these filters");
		return -ENODATA;
	}
	return 0;
}

int report_new(struct report **report)
{
	*report = calloc(1, sizeof(**report));
	if (!*report)
		return -ENOMEM;
	(*report)->analyses = registry;
	(*report)->tables = calloc(ANALYSES, sizeof(struct table *));
	if (!(*report)->tables)
		return -ENOMEM;
	for (size_t i = 0; i < ANALYSES; i++) {
		const struct analysis *analysis = registry[i];
		struct table *table = table_new(analysis->name, analysis->title, analysis->shape);

		if (!table)
			return -ENOMEM;
		table->meaning = analysis->meaning;
		(*report)->tables[(*report)->table_count++] = table;
	}
	return 0;
}

static int report_status(const struct report *report)
{
	int status = 0;

	for (size_t i = 0; i < report->table_count && !status; i++)
		status = table_status(report->tables[i]);
	return status;
}

/* Marks analyses that cannot be made from these traces. */
static void set_absent(struct report *report, const struct job *job)
{
	for (size_t i = 0; i < ANALYSES; i++) {
		const struct analysis *analysis = registry[i];

		if (analysis->absent || !is_made(job, analysis)) {
			report->tables[i]->absent = true;
			table_set_note(report->tables[i],
				       analysis->absent ? analysis->absent : NEEDS_EVENTS);
		}
	}
}

/* Misspelled built-in column names are bugs, so they are errors. */
int report_show(const struct analysis *analysis, bool all_aggregated, struct table *table,
		struct trace_error *error)
{
	const char *shown = all_aggregated && analysis->shown_aggregated
				    ? analysis->shown_aggregated
				    : analysis->shown;
	const char *unknown = "";
	int status = 0;

	table->view.text_only = analysis->text_only;
	table->view.share = analysis->share;
	table->view.heat = analysis->heat;
	table->view.merges = analysis->merges;
	if (!table->absent)
		status = table_show(table, shown, analysis->by, analysis->only, &unknown);
	if (status == -EINVAL)
		snprintf(error->text, sizeof(error->text), "table %s has no column %s",
			 analysis->name, unknown);
	return status;
}

static struct results results_by(const struct pass *pass, const struct report *report)
{
	return (struct results) {
		.job = &pass->job,
		.report = report,
		.states = pass->states,
	};
}

static int status_of(const struct pass *pass, const struct report *report, size_t number)
{
	int status = table_status(report->tables[number]);

	return status ? status : arena_status(&pass->arenas[number]);
}

/* Runs conclude() after every fill(), because it uses their results. */
static int fill_all(struct pass *pass, struct report *report, struct trace_error *error)
{
	const struct results results = results_by(pass, report);
	int status = 0;

	set_absent(report, &pass->job);
	for (size_t i = 0; i < ANALYSES; i++)
		if (registry[i]->fill && is_made(&pass->job, registry[i]))
			registry[i]->fill(pass->states[i], report->tables[i]);
	for (size_t i = 0; i < ANALYSES && !status; i++)
		status = status_of(pass, report, i);
	for (size_t i = 0; i < ANALYSES && !status; i++) {
		if (registry[i]->conclude && is_made(&pass->job, registry[i]))
			registry[i]->conclude(&results, report->tables[i]);
		status = status_of(pass, report, i);
	}
	for (size_t i = 0; i < ANALYSES && !status; i++) {
		lower_bounds_mark(report->tables[i], &pass->job, registry[i]->counted);
		status = report_show(registry[i], pass->job.all_aggregated, report->tables[i],
				     error);
	}
	for (size_t i = 0; i < ANALYSES && !status; i++)
		summed_mark(report->tables[i], &pass->job);
	return status ? status : report_status(report);
}

static int make_pictures(struct pass *pass, struct report *report,
			 const struct report_options *options, struct trace_error *error)
{
	const struct results results = results_by(pass, report);
	const struct pictures_options wanted = { options->filter, options->progress,
						 options->context };

	return pictures_make(&report->pictures, &pass->job, &results, &wanted, error);
}

/* Rejects data from another clock, which nothing in it would reveal. */
static int check_gpu(const struct job *job, const struct gpu *gpu, struct trace_error *error)
{
	uint64_t start_ns = gpu->intervals[0].start_ns;
	uint64_t end_ns = gpu->intervals[gpu->count - 1].end_ns;

	if (start_ns < job->end_ns && end_ns > job->start_ns)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "%.100s: no GPU activity during the run: the file is from another run or from a "
		 "host with another clock",
		 gpu->name);
	return -ERANGE;
}

/* Operations may extend past the recording. */
static void set_facts(struct report *report, const struct job *job)
{
	report->all_aggregated = job->all_aggregated;
	report->first_ns = job->start_ns;
	report->last_ns = job->end_ns;
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];
		size_t blocks = trace_reader_block_count(trace->reader);

		for (size_t j = 0; j < blocks; j++) {
			const struct trace_block_info *info =
				trace_reader_block_info(trace->reader, j);
			uint64_t start_ns = clock_shifted(trace->clock, info->start);
			uint64_t end_ns = clock_shifted(trace->clock, info->end);

			if (start_ns < report->first_ns)
				report->first_ns = start_ns;
			if (end_ns > report->last_ns)
				report->last_ns = end_ns;
		}
	}
}

int report_of_events(struct report **report, struct trace_reader *const *traces,
		     const char *const *names, size_t trace_count,
		     const struct report_options *options, struct trace_error *error)
{
	struct pass pass = { 0 };
	int status;

	*report = NULL;
	status = job_load_within(
		&pass.job, traces, names, trace_count,
		options && options->memory_bytes ? options->memory_bytes : JOB_MEMORY_BYTES, error);
	if (!status) {
		activities_init(&pass.activities, &pass.job, &pass.arena,
				options ? options->gpu : NULL);
		status = arena_status(&pass.arena);
	}
	pass.job.activities = &pass.activities;
	pass.job.slowest = options ? options->slowest : 0;
	pass.job.file_rows = options ? options->file_rows : 0;
	if (!status && options && options->gpu)
		status = check_gpu(&pass.job, options->gpu, error);
	if (!status)
		status = open_filter(&pass, options, error);
	if (!status && options && options->key) {
		pass.groups = groups_new(&pass.arena, &pass.job, options->key);
		status = arena_status(&pass.arena);
	}
	if (!status)
		status = begin_all(&pass);
	if (!status)
		status = walk_all(&pass, options, error);
	if (status)
		goto out;
	job_count_unseen(&pass.job);
	if (pass.filter)
		filter_set_operations(pass.filter, &pass.job);
	status = report_new(report);
	if (!status)
		status = fill_all(&pass, *report, error);
	if (!status)
		set_facts(*report, &pass.job);
	if (!status && pass.groups)
		status = groups_fill(pass.groups, &(*report)->groups);
	if (!status && pass.groups) {
		summed_mark((*report)->groups, &pass.job);
		status = table_status((*report)->groups);
	}
	if (!status && options && options->pictures)
		status = make_pictures(&pass, *report, options, error);
out:
	filter_close(pass.filter);
	for (size_t i = 0; i < ANALYSES; i++)
		arena_free(&pass.arenas[i]);
	arena_free(&pass.arena);
	job_free(&pass.job);
	if (status) {
		report_free(*report);
		*report = NULL;
	}
	return status;
}

int report_fold(struct report *report, size_t number, size_t rows)
{
	return merging_fold(&registry[number]->merging, &report->tables[number], rows);
}

const struct analysis *const *report_analyses(size_t *count)
{
	*count = ANALYSES;
	return registry;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->table_count; i++)
		table_free(report->tables[i]);
	table_free(report->groups);
	pictures_free(report->pictures);
	free(report->tables);
	free(report);
}

int report_take_meanings(struct report *report, const struct report *like)
{
	for (size_t i = 0; i < ANALYSES; i++)
		table_take_meanings(report->tables[i], like->tables[i]);
	return report_status(report);
}
