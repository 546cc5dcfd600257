/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline export: traces in, a file of another format out. Knows nothing of what is in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/export_target.h"
#include "command/filters.h"
#include "command/no_trace.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/traces.h"
#include "log.h"
#include "output/chrome.h"
#include "output/export_perfetto.h"
#include "output/export_pfw.h"
#include "output/export_speedscope.h"
#include "output/export_sqlite.h"
#include "output/export_tables.h"

struct export_request {
	struct option_texts to; /* the format; a time is taken for the filter's end */
	const char *output, *table, *describe;
	struct filter filter;
	bool force;
};

#define FIELD(name) offsetof(struct export_request, name)

static const struct option_row rows[] = {
	{ 0, "to", "FORMAT", OPTION_TEXTS, FIELD(to),
	  "What to write: chrome, csv, jsonl, sqlite, pfw, perfetto, speedscope." },
	{ 'o', "output", "FILE", OPTION_STRING, FIELD(output),
	  "Where it goes; with .gz at the end it is compressed, - is the standard output. "
	  "For csv and jsonl a directory, in which each table becomes a file." },
	{ 0, "table", "NAME", OPTION_STRING, FIELD(table),
	  "Of csv and jsonl only this table, into FILE." },
	{ 0, "force", NULL, OPTION_FLAG, FIELD(force), "Replace FILE if it exists." },
	{ 0, "describe", "FORMAT", OPTION_STRING, FIELD(describe),
	  "Say what a format holds, and do nothing else: chrome, csv, jsonl, sqlite, pfw, "
	  "perfetto." },
	FILTER_OPTIONS(FIELD(filter)),
};

static const struct option_table table = {
	.usage = "faultline export --to FORMAT -o FILE [OPTION...] TRACE...",
	.about = "Writes traces in another format, for other programs to show.\n"
		 "Several traces, of other hosts or other ranks, make one file.",
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
};

struct work {
	const struct export_request *request;
	struct export_target *target;
	struct trace_reader **traces;
	const char *const *names;
	size_t trace_count;
	struct progress_line progress;
	struct trace_error error;
	struct {
		char name[32], why[160];
	} absent[RELATIONS_MOST]; /* tables that cannot be made, told at the end */
	size_t absent_count;
};

/* --- formats --- */

static int write_chrome(struct work *work)
{
	const struct filter *filter = &work->request->filter;
	const struct chrome_options options = {
		.from_ns = filter->from_ns,
		.until_ns = filter->until_ns,
		.min_duration_ns = filter->min_duration_ns,
		.pid = filter->pid,
		.filter = filter,
		.progress = progress_update,
		.context = &work->progress,
	};

	return chrome_write(&work->target->out, work->traces, work->names, work->trace_count,
			    &options, &work->error);
}

static void tell_progress(void *context, double done)
{
	struct work *work = context;

	progress_update(&work->progress, done);
}

static void keep_absent(void *context, const char *name, const char *why)
{
	struct work *work = context;
	size_t number = work->absent_count;

	if (number == RELATIONS_MOST)
		return;
	snprintf(work->absent[number].name, sizeof(work->absent[number].name), "%s", name);
	snprintf(work->absent[number].why, sizeof(work->absent[number].why), "%s", why);
	work->absent_count++;
}

static struct relation_options table_options(struct work *work)
{
	return (struct relation_options) {
		.only = work->request->table,
		.filter = &work->request->filter,
		.progress = tell_progress,
		.absent = keep_absent,
		.context = work,
	};
}

static int write_tables(struct work *work, const struct table_format *format)
{
	const struct relation_options options = table_options(work);

	if (work->target->kind == EXPORT_FILE)
		return export_tables_one(format, &work->target->out, work->traces, work->names,
					 work->trace_count, &options, &work->error);
	return export_tables_directory(format, work->target->directory, work->request->force,
				       work->traces, work->names, work->trace_count, &options,
				       &work->error);
}

static int write_csv(struct work *work)
{
	return write_tables(work, &export_csv);
}

static int write_jsonl(struct work *work)
{
	return write_tables(work, &export_jsonl);
}

static int write_sqlite(struct work *work)
{
	const struct relation_options options = table_options(work);

	return export_sqlite(work->target->name, work->traces, work->names, work->trace_count,
			     &options, &work->error);
}

static int write_pfw(struct work *work)
{
	const struct pfw_options options = { .filter = &work->request->filter,
					     .progress = progress_update,
					     .context = &work->progress };

	return export_pfw(&work->target->out, work->traces, work->names, work->trace_count,
			  &options, &work->error);
}

static int describe_pfw(struct sink *out, struct trace_reader *nothing, struct trace_error *error)
{
	export_pfw_describe(out);
	return out->error;
}

static int write_perfetto(struct work *work)
{
	const struct perfetto_options options = { .filter = &work->request->filter,
						  .progress = progress_update,
						  .context = &work->progress };

	return export_perfetto(&work->target->out, work->traces, work->names, work->trace_count,
			       &options, &work->error);
}

static int describe_perfetto(struct sink *out, struct trace_reader *nothing,
			     struct trace_error *error)
{
	export_perfetto_describe(out);
	return out->error;
}

static int write_speedscope(struct work *work)
{
	const struct speedscope_options options = { .filter = &work->request->filter,
						    .progress = progress_update,
						    .context = &work->progress };

	return export_speedscope(&work->target->out, work->traces, work->names, work->trace_count,
				 &options, &work->error);
}

static int describe_speedscope(struct sink *out, struct trace_reader *nothing,
			       struct trace_error *error)
{
	export_speedscope_describe(out);
	return out->error;
}

static int describe_chrome(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error)
{
	chrome_describe(out);
	return out->error;
}

/* `write` returns 0 or -errno; errors of the target's sink stay there, of others `error` tells. */
static const struct format {
	const char *name;
	enum export_kind kind;
	bool has_tables; /* --table names one of them, which goes to a file */
	int (*write)(struct work *work);
	int (*describe)(struct sink *out, struct trace_reader *nothing, struct trace_error *error);
} formats[] = {
	{ "chrome", EXPORT_FILE, false, write_chrome, describe_chrome },
	{ "csv", EXPORT_DIRECTORY, true, write_csv, export_tables_describe },
	{ "jsonl", EXPORT_DIRECTORY, true, write_jsonl, export_tables_describe },
	{ "sqlite", EXPORT_PATH, false, write_sqlite, export_sqlite_describe },
	{ "pfw", EXPORT_FILE, false, write_pfw, describe_pfw },
	{ "perfetto", EXPORT_FILE, false, write_perfetto, describe_perfetto },
	{ "speedscope", EXPORT_FILE, false, write_speedscope, describe_speedscope },
};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

static void say_known_formats(const char *before, const char *name, const char *after)
{
	char list[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < FORMAT_COUNT && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				 formats[i].name);
	log_error("%s%s%s; known are %s", before, name, after, list);
}

static const struct format *format_named(const char *name)
{
	for (size_t i = 0; name && i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static const struct format *find_format(struct export_request *request)
{
	const char *name = NULL;
	const struct format *format;

	/* "--to chrome --from 10 --to 20": no format is called like a number. */
	for (size_t i = 0; i < request->to.count; i++)
		if (!options_time(request->to.items[i], &request->filter.until_ns))
			name = request->to.items[i];
	format = format_named(name);
	if (!format && name)
		say_known_formats("--to ", name, ": no such format");
	else if (!format)
		say_known_formats("no format given", "", ": --to FORMAT");
	return format;
}

/* --- what a format holds --- */

static int describe(const char *name)
{
	const struct format *format = format_named(name);
	struct trace_error error = { "" };
	struct trace_reader *nothing;
	struct sink out;
	int status;

	if (!format) {
		say_known_formats("--describe ", name, ": no such format");
		return EXIT_USAGE;
	}
	status = no_trace_open(&nothing);
	if (status) {
		log_error("%s", strerror(-status));
		return EXIT_FAILED;
	}
	status = sink_open(&out, STDOUT_FILENO);
	if (!status)
		status = format->describe(&out, nothing, &error);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	trace_reader_close(nothing);
	return status ? output_failed(status) : 0;
}

/* --- the command --- */

/* Events are what each format is made of: sums are none. */
static void tell_summed(struct trace_reader *trace, const char *name, const struct format *format)
{
	size_t blocks = trace_reader_block_count(trace), i = 0;

	while (i < blocks && trace_reader_block_info(trace, i)->kind != TRACE_PROFILE)
		i++;
	if (i < blocks)
		log_warning("%s: operations that were summed up (--mode profile, auto) are no "
			    "events, and not in it%s; 'faultline report' tells them",
			    name,
			    format->has_tables || format->kind == EXPORT_PATH
				    ? " but for the table of operations"
				    : "");
}

static int export_traces(struct work *work, const struct format *format)
{
	struct export_target *target = work->target;
	int status;

	progress_start(&work->progress, "exporting");
	status = format->write(work);
	if (!status)
		status = export_target_finish(target);
	progress_end(&work->progress);
	if (!status)
		return 0;
	if (target->out.error || !work->error.text[0])
		log_error("%s: cannot be written: %s", target->name, strerror(-status));
	else
		log_error("%s", work->error.text);
	return status == -ESRCH ? EXIT_USAGE : EXIT_FAILED;
}

static int check_table(const struct export_request *request, const struct format *format)
{
	char list[256];

	if (format->has_tables && !request->table && !strcmp(request->output, "-")) {
		log_error("-o -: is one table; name it by --table, or name a directory");
		return EXIT_USAGE;
	}
	if (!request->table)
		return 0;
	if (!format->has_tables) {
		log_error("--table: %s is one file with all in it", format->name);
		return EXIT_USAGE;
	}
	if (relations_has(request->table))
		return 0;
	relations_names(list, sizeof(list));
	log_error("--table %s: no such table; known are %s", request->table, list);
	return EXIT_USAGE;
}

static int check_request(struct export_request *request, int count, char *const *traces,
			 const struct format **format)
{
	int status;

	*format = find_format(request);
	if (!*format)
		return EXIT_USAGE;
	if (!request->output || !request->output[0]) {
		log_error("no output given; name a file with -o, or - for the standard output");
		return EXIT_USAGE;
	}
	status = check_table(request, *format);
	if (status)
		return status;
	if (!count) {
		log_error("no trace given; try 'faultline export --help'");
		return EXIT_USAGE;
	}
	if (request->filter.until_ns <= request->filter.from_ns) {
		log_error("--from is not earlier than the end of the time that is wanted");
		return EXIT_USAGE;
	}
	if ((*format)->kind == EXPORT_PATH && !strcmp(request->output, "-")) {
		log_error("-o -: %s is no stream; name a file", (*format)->name);
		return EXIT_USAGE;
	}
	if (export_is_trace(request->output, traces, count)) {
		log_error("-o %s: is the trace itself; name another file", request->output);
		return EXIT_USAGE;
	}
	return 0;
}

int command_export(int argc, char **argv)
{
	struct export_request request = { .filter = FILTER_ALL };
	struct export_target target = { .fd = -1, .directory = -1 };
	struct work work = { .request = &request, .target = &target };
	const struct format *format;
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	if (request.describe)
		return describe(request.describe);
	status = check_request(&request, argc - first, argv + first, &format);
	if (status)
		return status;
	target.name = request.output;
	target.kind = request.table ? EXPORT_FILE : format->kind;
	work.names = (const char *const *)argv + first;
	work.trace_count = argc - first;
	work.traces = calloc(work.trace_count, sizeof(struct trace_reader *));
	if (!work.traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	status = traces_open(work.traces, argv + first, work.trace_count);
	if (!status)
		status = export_target_open(&target, request.force);
	if (!status)
		status = export_traces(&work, format);
	for (size_t i = 0; !status && i < work.trace_count; i++) {
		traces_tell_unread(work.traces[i], work.names[i]);
		tell_summed(work.traces[i], work.names[i], format);
	}
	for (size_t i = 0; !status && i < work.absent_count; i++)
		log_warning("the table %s cannot be made of %s: %s", work.absent[i].name,
			    work.trace_count > 1 ? "these traces" : "this trace",
			    work.absent[i].why);
	export_target_close(&target, &status);
	traces_close(work.traces, work.trace_count);
	free(work.traces);
	return status;
}
