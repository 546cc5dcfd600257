/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline report: traces in, one report out. Knows nothing of what is in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report.h"
#include "command/command.h"
#include "command/traces.h"
#include "command/options.h"
#include "command/progress.h"
#include "log.h"
#include "output/explain.h"
#include "output/json.h"
#include "output/text.h"

struct report_request {
	const char *format, *spans, *explain, *colour;
	uint64_t top, memory;
};

#define FIELD(name) offsetof(struct report_request, name)

static const struct option_row rows[] = {
	{ 0, "format", "text|json", OPTION_CHOICE, FIELD(format),
	  "How to print it: for people (default), or as one JSON object." },
	{ 0, "top", "N", OPTION_COUNT, FIELD(top),
	  "Rows of each table at most, in text; 0 for all. Default 20." },
	{ 0, "memory", "SIZE", OPTION_BYTES, FIELD(memory),
	  "Memory meant for the report, such as 4G; beyond it files and processes share a row, "
	  "and it says so. Default 1G." },
	{ 0, "color", "auto|always|never", OPTION_CHOICE, FIELD(colour),
	  "Colour in text: auto (default) is on a terminal, unless NO_COLOR is set." },
	{ 0, "spans", "FILE", OPTION_STRING, FIELD(spans),
	  "When a GPU computed, from PyTorch's profiler (Chrome trace, .json or .json.gz)." },
	{ 0, "explain", "NAME", OPTION_STRING, FIELD(explain),
	  "Say what a finding means: its rule, thresholds and their sources; no trace is read." },
};

static const struct option_table table = {
	.usage = "faultline report [OPTION...] TRACE...",
	.about = "Says what traces tell: how much I/O there was, through which door, to which "
		 "files.\n"
		 "Several traces, of other hosts or other ranks, make one report.",
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
};

static int print_report(const struct report *report, const struct report_request *request)
{
	const struct table *const *tables = (const struct table *const *)report->tables;
	const struct style style = {
		.width = style_width(STDOUT_FILENO),
		.colour = style_colour(request->colour, STDOUT_FILENO),
	};
	const struct grid_options options = { .style = &style, .top = request->top };
	struct sink out;
	int status = sink_open(&out, STDOUT_FILENO);

	if (!status && !strcmp(request->format, "json"))
		status = json_tables(&out, tables, report->table_count);
	else if (!status)
		status = text_report(&out, report, &options);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	return status ? output_failed(status) : 0;
}

static void say_known_findings(const char *name)
{
	char list[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < finding_rule_count && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				 finding_rules[i]->id);
	log_error("--explain %s: no such finding; known are %s", name, list);
}

static int explain(const char *name)
{
	const struct finding_rule *rule = finding_rule_named(name);
	struct sink out;
	int status;

	if (!rule) {
		say_known_findings(name);
		return EXIT_USAGE;
	}
	status = sink_open(&out, STDOUT_FILENO);
	if (!status) {
		explain_finding(&out, rule, style_width(STDOUT_FILENO));
		status = sink_flush(&out);
	}
	sink_close(&out);
	return status ? output_failed(status) : 0;
}

/* Says what is wrong, and whose fault it is. */
static int report_failed(int status, const struct trace_error *error)
{
	log_error("%s", error->text[0] ? error->text : strerror(-status));
	return status == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}

static int read_gpu(struct gpu *gpu, const char *path)
{
	struct trace_error error = { "" };
	int status = gpu_read(gpu, path, &error);

	if (!status)
		return 0;
	log_error("%s", error.text);
	return status == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}

int command_report(int argc, char **argv)
{
	struct report_request request = { .format = "text", .colour = "auto", .top = 20 };
	struct progress progress;
	struct report_options options = { .progress = progress_update, .context = &progress };
	struct trace_error error = { "" };
	struct trace_reader **traces;
	struct report *report = NULL;
	struct gpu gpu = { 0 };
	size_t count;
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	if (request.explain)
		return explain(request.explain);
	if (first == argc) {
		log_error("no trace given; try 'faultline report --help'");
		return EXIT_USAGE;
	}
	options.memory_bytes = request.memory;
	count = argc - first;
	traces = calloc(count, sizeof(*traces));
	if (!traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	status = traces_open(traces, argv + first, count);
	if (!status && request.spans) {
		status = read_gpu(&gpu, request.spans);
		options.memory_bytes = request.memory;
		options.gpu = &gpu;
	}
	if (status)
		goto out;
	progress_start(&progress, "reading");
	status = report_make(&report, traces, (const char *const *)argv + first, count, &options,
			     &error);
	progress_end(&progress);
	if (status) {
		status = report_failed(status, &error);
		goto out;
	}
	status = print_report(report, &request);
out:
	report_free(report);
	gpu_free(&gpu);
	traces_close(traces, count);
	free(traces);
	return status;
}
