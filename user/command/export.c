/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline export: converts traces to other formats. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/common/command.h"
#include "command/common/export_target.h"
#include "command/common/filters.h"
#include "command/common/no_trace.h"
#include "command/common/options.h"
#include "command/common/progress.h"
#include "command/common/traces.h"
#include "base/log.h"
#include "output/base/export.h"
#include "output/tables/export_tables.h"
#include "output/timeline/timeline.h"
#include "base/units.h"

struct export_request {
	struct option_texts to; /* the format; a time among them ends the filter */
	const char *output, *table, *describe;
	struct filter filter;
	bool force;
};

#define FIELD(name) offsetof(struct export_request, name)

static const struct option_row rows[] = {
	{ 0, "to", "FORMAT", OPTION_TEXTS, FIELD(to), "Output format: " EXPORT_NAMES "." },
	{ 'o', "output", "FILE", OPTION_STRING, FIELD(output),
	  "Output file, compressed if its name ends in .gz; - is standard output. For csv and "
	  "jsonl: a directory with one file per table." },
	{ 0, "table", "NAME", OPTION_STRING, FIELD(table),
	  "For csv and jsonl: only this table, written to FILE." },
	{ 0, "force", NULL, OPTION_FLAG, FIELD(force), "Replace FILE if it exists." },
	{ 0, "describe", "FORMAT", OPTION_STRING, FIELD(describe),
	  "Describe a format and exit: " EXPORT_NAMES "." },
};

static const struct option_table table = {
	.usage = "faultline export --to FORMAT -o FILE [OPTION...] TRACE...",
	.about = "Converts traces to formats of other programs.\nSeveral traces, from different "
		 "hosts or ranks, make one file.",
	.own = OPTION_ROWS(rows),
	.shared = { { &filter_rows, FIELD(filter) } },
};

struct work {
	const struct export_request *request;
	const struct export_format *format;
	struct export_target *target;
	struct trace_reader **traces;
	const char *const *names;
	size_t trace_count;
	struct progress_line progress;
	struct trace_error error;
	struct {
		char name[32], why[160];
	} absent[RELATIONS_MAX]; /* tables that cannot be made, reported at the end */
	size_t absent_count;
};

/* --- writing --- */

static void emit_progress(void *context, double done)
{
	struct work *work = context;

	progress_update(&work->progress, done);
}

static void keep_absent(void *context, const char *name, const char *why)
{
	struct work *work = context;
	size_t number = work->absent_count;

	if (number == RELATIONS_MAX)
		return;
	snprintf(work->absent[number].name, sizeof(work->absent[number].name), "%s", name);
	snprintf(work->absent[number].why, sizeof(work->absent[number].why), "%s", why);
	work->absent_count++;
}

/* Returns 0 or -errno. Errors of the target's sink stay in the sink; work->error describes
 * others. */
static int write_format(struct work *work)
{
	const struct export_format *format = work->format;
	const struct relation_options tables = {
		.only = work->request->table,
		.filter = &work->request->filter,
		.progress = emit_progress,
		.absent = keep_absent,
		.context = work,
	};
	const struct export_options options = { .filter = &work->request->filter,
						.progress = progress_update,
						.context = &work->progress };
	struct export_target *target = work->target;

	if (format->stream)
		return format->stream(format, &target->out, work->traces, work->names,
				      work->trace_count, &options, &work->error);
	if (format->file)
		return format->file(export_target_path(target), work->traces, work->names,
				    work->trace_count, &tables, &work->error);
	if (target->kind == EXPORT_FILE)
		return export_tables_one(format->tables, &target->out, work->traces, work->names,
					 work->trace_count, &tables, &work->error);
	return export_tables_directory(format->tables, target->directory, work->request->force,
				       work->traces, work->names, work->trace_count, &tables,
				       &work->error);
}

/* --- formats --- */

static const struct export_format *const formats[] = { EXPORT_ADDRESSES };

static enum export_kind kind_of(const struct export_format *format)
{
	return format->file ? EXPORT_PATH : format->tables ? EXPORT_DIRECTORY : EXPORT_FILE;
}

static void say_known_formats(const char *before, const char *name, const char *after)
{
	log_error("%s%s%s; formats are " EXPORT_NAMES, before, name, after);
}

static const struct export_format *format_named(const char *name)
{
	for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static const struct export_format *find_format(struct export_request *request)
{
	const char *name = NULL;
	const struct export_format *format;

	/* "--to chrome --from 10 --to 20": no format is named like a number. */
	for (size_t i = 0; i < request->to.count; i++)
		if (!units_read_time(request->to.items[i], &request->filter.until_ns))
			name = request->to.items[i];
	format = format_named(name);
	if (!format && name)
		say_known_formats("--to ", name, ": no such format");
	else if (!format)
		say_known_formats("no format given", "", "; use --to FORMAT");
	return format;
}

/* --- describing a format --- */

static int describe(const char *name)
{
	const struct export_format *format = format_named(name);
	struct trace_error error = { "" };
	struct trace_reader *nothing = NULL;
	struct sink out;
	int status;

	if (!format) {
		say_known_formats("--describe ", name, ": no such format");
		return EXIT_USAGE;
	}
	status = format->describe ? no_trace_open(&nothing) : 0;
	if (status) {
		log_error("%s", strerror(-status));
		return EXIT_FAILED;
	}
	status = sink_open(&out, STDOUT_FILENO);
	if (!status && format->about)
		sink_text(&out, format->about);
	else if (!status)
		status = format->describe(&out, nothing, &error);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	trace_reader_close(nothing);
	return status ? output_failed(status) : 0;
}

/* --- the command --- */

static bool has_rows(struct trace_reader *trace, enum trace_kind kind)
{
	for (size_t i = 0; i < trace_reader_block_count(trace); i++)
		if (trace_reader_block_info(trace, i)->kind == kind)
			return true;
	return false;
}

/* Warns of what the format lacks. Most consist of events, so summed operations are missing. */
static void emit_missing(struct trace_reader *trace, const char *name,
			 const struct export_format *format)
{
	if (format->stacks && !has_rows(trace, TRACE_SAMPLE))
		log_warning("%s: has no stacks (recorded with --stacks off, without layer stack, "
			    "or too short); nothing was exported from it",
			    name);
	else if (!format->stacks && has_rows(trace, TRACE_PROFILE))
		log_warning(
			"%s: operations aggregated in the kernel (--mode profile or auto) are not "
			"events and are not exported%s; use 'faultline report'",
			name,
			format->tables || format->file ? " except in operations and findings" : "");
}

static int export_traces(struct work *work)
{
	struct export_target *target = work->target;
	int status;

	progress_start(&work->progress, "exporting");
	status = write_format(work);
	if (!status)
		status = export_target_finish(target);
	progress_end(&work->progress);
	if (!status)
		return 0;
	if (status == -EEXIST && work->error.text[0])
		log_error(
			"%s: %s; choose another directory with -o, or use --force to overwrite it",
			target->name, work->error.text);
	else if (target->out.error || !work->error.text[0])
		log_error("%s: cannot be written: %s", target->name, strerror(-status));
	else
		log_error("%s", work->error.text);
	return status == -ESRCH || status == -EEXIST ? EXIT_USAGE : EXIT_FAILED;
}

/* Samples are rows of tables, what stacks are made of, and on timelines that draw instants. */
static bool has_samples(const struct export_format *format)
{
	return format->stacks || format->tables || format->file ||
	       (format->timeline && format->timeline->instant);
}

static int check_table(const struct export_request *request, const struct export_format *format)
{
	char list[256];

	if (format->tables && !request->table && !strcmp(request->output, "-")) {
		log_error("-o - requires --table; use a directory to write all tables");
		return EXIT_USAGE;
	}
	if (!request->table)
		return 0;
	if (!format->tables) {
		log_error("--table: %s has no separate tables", format->name);
		return EXIT_USAGE;
	}
	if (relations_has(request->table))
		return 0;
	relations_names(list, sizeof(list));
	log_error("--table %s: no such table; tables are %s", request->table, list);
	return EXIT_USAGE;
}

static int check_request(struct export_request *request, int count, char *const *traces,
			 const struct export_format **format)
{
	int status;

	*format = find_format(request);
	if (!*format)
		return EXIT_USAGE;
	if (!request->output || !request->output[0]) {
		log_error("no output given; use -o FILE, or -o - for standard output");
		return EXIT_USAGE;
	}
	status = check_table(request, *format);
	if (status)
		return status;
	if (!count) {
		log_error("no trace given; try 'faultline export --help'");
		return EXIT_USAGE;
	}
	status = filters_check(&request->filter);
	if (status)
		return status;
	if (filter_is_of_lines(&request->filter) && !has_samples(*format)) {
		log_error("--line and --function select samples of stacks, which %s does not "
			  "contain; collapsed and pprof are flame graphs of them",
			  (*format)->name);
		return EXIT_USAGE;
	}
	if ((*format)->file && !strcmp(request->output, "-")) {
		log_error("-o -: %s cannot be written to a stream; name a file", (*format)->name);
		return EXIT_USAGE;
	}
	if (export_is_trace(request->output, traces, count)) {
		log_error("-o %s: is one of the traces; choose another file", request->output);
		return EXIT_USAGE;
	}
	return 0;
}

int command_export(int argc, char **argv)
{
	struct export_request request = { .filter = FILTER_ALL };
	struct export_target target = { .file.fd = -1, .directory = -1 };
	struct work work = { .request = &request, .target = &target };
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	if (request.describe)
		return describe(request.describe);
	status = check_request(&request, argc - first, argv + first, &work.format);
	if (status)
		return status;
	target.name = request.output;
	target.kind = request.table ? EXPORT_FILE : kind_of(work.format);
	target.compressed = work.format->compressed;
	work.names = (const char *const *)argv + first;
	work.trace_count = argc - first;
	work.traces = calloc(work.trace_count, sizeof(struct trace_reader *));
	if (!work.traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	status = traces_open(work.traces, argv + first, work.trace_count);
	if (!status &&
	    traces_refuse_summaries(work.traces, argv + first, work.trace_count, "export"))
		status = EXIT_USAGE;
	if (!status)
		status = export_target_open(&target, request.force);
	if (!status)
		status = export_traces(&work);
	for (size_t i = 0; !status && i < work.trace_count; i++)
		emit_missing(work.traces[i], work.names[i], work.format);
	for (size_t i = 0; !status && i < work.absent_count; i++)
		log_warning("table %s cannot be made from %s: %s", work.absent[i].name,
			    work.trace_count > 1 ? "these traces" : "this trace",
			    work.absent[i].why);
	export_target_close(&target, &status);
	if (!status)
		status = traces_emit_all_unread(work.traces, work.names, work.trace_count);
	traces_close(work.traces, work.trace_count);
	free(work.traces);
	return status;
}
