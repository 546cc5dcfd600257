/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline report: makes one report from traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/devices/chain.h"
#include "analysis/report/report.h"
#include "analysis/shared/rollup.h"
#include "analysis/table/select.h"
#include "base/strbuf.h"
#include "command/common/command.h"
#include "command/common/export_target.h"
#include "command/common/filters.h"
#include "command/common/no_trace.h"
#include "command/common/options.h"
#include "command/common/page.h"
#include "command/common/progress.h"
#include "command/report_request.h"
#include "command/common/suggest.h"
#include "command/common/traces.h"
#include "base/log.h"
#include "output/tables/csv.h"
#include "output/text/explain.h"
#include "output/base/json_tables.h"
#include "output/tables/json_schema.h"
#include "output/text/text.h"

#define FIELD(name) offsetof(struct report_request, name)

static const struct option_row rows[] = {
	{ 0, "format", "text|json|csv", OPTION_CHOICE, FIELD(format),
	  "Output format: text, a JSON object, or one table as CSV. Default: text." },
	{ 0, "top", "N", OPTION_COUNT, FIELD(top),
	  "Maximum rows per table; 0: all. Default: 20 in text, with rows below 0.5% grouped; all "
	  "in JSON and CSV." },
	{ 0, "slowest", "N", OPTION_COUNT, FIELD(slowest),
	  "Only the N slowest operations, at most 1000, and where their requests spent the time.",
	  1, CHAIN_SLOWEST_MAX },
	{ 0, "memory", "SIZE", OPTION_BYTES, FIELD(memory),
	  "Memory budget of the report; beyond it, files and processes share rows, and the report "
	  "says so. Default: 1G.",
	  1 << 20, UINT64_MAX },
	{ 0, "table", "NAME", OPTION_STRING, FIELD(table), "Only this table." },
	{ 0, "columns", "LIST", OPTION_STRING, FIELD(columns),
	  "Only these columns of the table, separated by commas, such as path,read.bytes." },
	{ 0, "sort", "COLUMN", OPTION_STRING, FIELD(sort),
	  "Sort the table by this column, largest first." },
	{ 0, "list-tables", NULL, OPTION_FLAG, FIELD(list_tables),
	  "List the tables; needs no trace." },
	{ 0, "list-columns", NULL, OPTION_FLAG, FIELD(list_columns),
	  "List the columns of --table, or of all tables, with unit, type and meaning; needs no "
	  "trace." },
	{ 0, "json-schema", NULL, OPTION_FLAG, FIELD(json_schema),
	  "Print the JSON Schema of --format json; needs no trace." },
	{ 0, "by", "KEY", OPTION_STRING, FIELD(by),
	  "Group I/O, or stack samples (line, function), by directory, pattern, file, process, "
	  "program, rank, epoch, step, span, device, filesystem, method, host, second, line or "
	  "function." },
	{ 0, "against", "TRACE[,TRACE...]", OPTION_STRING, FIELD(against),
	  "Compare with an earlier run: changes in time and bytes, new and resolved findings." },
	{ 0, "fail-above", "LIST", OPTION_STRING, FIELD(fail_above),
	  "Exit with status 3 if a measure grew beyond its limit, such as "
	  "time=10%+1s,read,fetched=64M,findings=high." },
	{ 0, "html", "FILE", OPTION_STRING, FIELD(html),
	  "Write the report as an HTML page with charts instead of printing it; - is standard "
	  "output." },
	{ 0, "color", "auto|always|never", OPTION_CHOICE, FIELD(colour),
	  "Color in text; auto: on a terminal, unless NO_COLOR is set. Default: auto." },
	{ 0, "spans", "FILE", OPTION_STRING, FIELD(spans),
	  "GPU compute times from PyTorch's profiler (Chrome trace, .json or .json.gz)." },
	{ 0, "against-spans", "FILE", OPTION_STRING, FIELD(compare_spans),
	  "The same for the run of --against." },
	{ 0, "explain", "FINDING", OPTION_STRING, FIELD(explain),
	  "Explain a finding: its meaning, what to do, its thresholds (-v: their sources and the "
	  "evidence). 'list' lists all findings. Needs no trace." },
};

static const struct option_table table = {
	.usage = "faultline report [OPTION...] [TRACE...]",
	.about = "Reports what a job waits for and what to change, how much I/O it did, by which "
		 "method and to which files.\nSeveral traces, from different hosts or ranks, make "
		 "one report. Default: the newest *.flt in the current directory.",
	.own = OPTION_ROWS(rows),
	.shared = { { &filter_rows, FIELD(filter) } },
};

/* --- one table --- */

/* Keys of --by that have a table of their own. */
static const struct {
	const char *key, *table;
} tables_by[] = {
	{ "pattern", "paths" }, { "epoch", "epochs" },	     { "step", "steps" },
	{ "line", "lines" },	{ "function", "functions" },
};

static const char *table_by(const char *key)
{
	for (size_t i = 0; i < sizeof(tables_by) / sizeof(tables_by[0]); i++)
		if (!strcmp(tables_by[i].key, key))
			return tables_by[i].table;
	return NULL;
}

static int check_key(const struct report_request *request, const struct rollup_key **key)
{
	struct strbuf list = { .used = 0 };

	*key = request->by ? rollup_find_key(request->by) : NULL;
	if (!request->by || *key || table_by(request->by))
		return 0;
	for (size_t i = 0; i < sizeof(tables_by) / sizeof(tables_by[0]); i++)
		strbuf_join(&list, ", ", "%s", tables_by[i].key);
	for (const struct rollup_key *known = rollup_keys; known->name; known++)
		strbuf_join(&list, ", ", "%s", known->name);
	log_error("--by %s: no such key; keys are %s", request->by, list.bytes);
	return EXIT_USAGE;
}

static int refuse_table(const struct report *report, const char *name)
{
	struct strbuf list = { .used = 0 };

	for (size_t i = 0; i < report->table_count; i++)
		strbuf_join(&list, ", ", "%s", report->tables[i]->name);
	log_error("--table %s: no such table; tables are %s", name, list.bytes);
	return EXIT_USAGE;
}

/* Returns the column with that title, as text reports show it, or with a similar name; NULL: none.
 */
static const char *guess_column(const struct table *of, const char *word)
{
	struct suggestion suggestion = { .word = word };

	for (size_t i = 0; i < of->column_count; i++)
		if (of->columns[i].title && !strcmp(of->columns[i].title, word))
			return of->columns[i].name;
	for (size_t i = 0; i < of->column_count; i++)
		suggest_consider(&suggestion, of->columns[i].name);
	return suggestion.best;
}

static int refuse_column(const struct table *of, const char *column)
{
	struct strbuf word = { .used = 0 };
	const char *meant;

	strbuf_add(&word, "%.*s", (int)strcspn(column, ","), column);
	meant = guess_column(of, word.bytes);
	if (meant)
		log_error("%s: no such column in table %s; did you mean %s? See --list-columns",
			  word.bytes, of->name, meant);
	else
		log_error("%s: no such column in table %s; see --list-columns", word.bytes,
			  of->name);
	return EXIT_USAGE;
}

/* Finds the requested table; *made must be freed if it is set. Returns 0 or an exit status. */
static int find_table(const struct report *report, const struct report_request *request,
		      const struct table **found, struct table **made)
{
	const char *name = request->by ? table_by(request->by) : request->table;
	int status = 0;

	*made = NULL;
	*found = request->by && !name ? report->groups : name ? report_table(report, name) : NULL;
	if (request->list_tables)
		status = select_list_tables(made, report->tables, report->table_count);
	else if (!*found)
		return refuse_table(report, name ? name : "(none given)");
	else if (request->list_columns)
		status = select_list_columns(made, *found);
	if (*made)
		*found = *made;
	return status ? output_failed(status) : 0;
}

/* Returns whether all rows of a table may be wanted, not only those shown to people. */
static bool is_whole(const struct report_request *request)
{
	return !report_is_text(request) || request->columns || request->sort ||
	       request->list_tables || request->list_columns;
}

static int write_table(struct sink *out, const struct table *of,
		       const struct report_request *request)
{
	const bool text = report_is_text(request);
	const bool list = request->list_tables || request->list_columns;
	const bool whole = is_whole(request);
	const struct selection selection = {
		.columns = request->columns,
		.sort = request->sort,
		.top = request->top != TOP_UNSET ? request->top
		       : text && !list		 ? TOP_DEFAULT
						 : 0,
		.shown = text,
	};
	const struct style style = {
		.width = style_width(STDOUT_FILENO),
		.colour = style_colour(request->colour, STDOUT_FILENO),
	};
	const struct grid_options options = { .style = &style,
					      .top = whole ? 0 : report_top(request),
					      .top_said = request->top != TOP_UNSET,
					      .whole = whole,
					      .wraps = list && isatty(STDOUT_FILENO) };
	const struct table *printed = of;
	const char *unknown;
	struct table *made = NULL;
	int status = whole ? select_make(&made, of, &selection, &unknown) : 0;

	if (status == -EINVAL)
		return refuse_column(of, unknown);
	if (status)
		return output_failed(status);
	if (made)
		printed = made;
	if (text)
		text_table(out, printed, &options);
	if (text && printed->row_count < of->row_count)
		sink_format(out, "and %zu more (--top 0 shows all)\n",
			    of->row_count - printed->row_count);
	if (!strcmp(request->format, "csv"))
		csv_table(out, printed);
	else if (!text)
		json_tables(out, &printed, 1);
	table_free(made);
	return 0;
}

static int print_table(const struct report *report, const struct report_request *request)
{
	const struct table *found;
	struct table *made;
	struct sink out;
	int status = find_table(report, request, &found, &made);

	if (status)
		return status;
	if (report_open(request, &out)) {
		table_free(made);
		return output_failed(-ENOMEM);
	}
	status = write_table(&out, found, request);
	if (!status && found->absent && found->note && !strcmp(request->format, "csv"))
		log_warning("table %s: %s", found->name, found->note);
	if (!status && sink_flush(&out))
		status = output_failed(out.error);
	sink_close(&out);
	table_free(made);
	return status;
}

/* Returns whether the request is for the columns of all tables, which needs no trace. */
static bool is_about_all(const struct report_request *request)
{
	return request->json_schema || (request->list_columns && !request->table && !request->by);
}

static bool is_one_table(const struct report_request *request)
{
	return request->table || request->by || request->list_tables || request->list_columns;
}

/* Only samples have lines: filters by line leave nothing of other tables. */
static int check_lines(struct report_request *request)
{
	const char *name = request->by ? table_by(request->by) : request->table;

	if (!filter_is_of_lines(&request->filter))
		return 0;
	if (!name && !request->by)
		name = request->table = "lines";
	if (name && (!strcmp(name, "lines") || !strcmp(name, "functions")) && !request->html &&
	    !request->against && !request->fail_above && !request->slowest)
		return 0;
	log_error("--line and --function select samples of stacks, which only the tables lines "
		  "and functions show (--by line, --by function)");
	return EXIT_USAGE;
}

/* Checks for options that are mutually exclusive. */
static int check_request(const struct report_request *request)
{
	const char *alone = request->columns ? "--columns" : request->sort ? "--sort" : NULL;

	if (alone && !is_one_table(request))
		log_error("%s requires --table or --by", alone);
	else if (!strcmp(request->format, "csv") && !is_one_table(request))
		log_error("--format csv requires --table or --by");
	else if (request->against && (is_one_table(request) || !strcmp(request->format, "csv")))
		log_error("--against cannot be combined with a single table or --format csv");
	else if (request->compare_spans && !request->against)
		log_error("--against-spans requires --against");
	else if (request->fail_above && (is_one_table(request) || request->slowest))
		log_error("--fail-above checks the whole report and cannot be combined with a "
			  "single table");
	else if (request->html && (is_one_table(request) || request->against ||
				   request->fail_above || !report_is_text(request)))
		log_error("--html writes the whole report of one run and cannot be combined with "
			  "--table, --by, --against, --fail-above or --format");
	else if (request->slowest && (request->table || request->by))
		log_error("--slowest cannot be combined with --table or --by");
	else if (is_about_all(request) && !request->json_schema && !report_is_text(request))
		log_error("--list-columns requires --table or --by in this format; --json-schema "
			  "describes all tables");
	else if (request->table && request->by)
		log_error("--by %s and --table %s are mutually exclusive", request->by,
			  request->table);
	else
		return filters_check(&request->filter);
	return EXIT_USAGE;
}

/* --- the whole report --- */

/* The table of --fail-above comes first in text, and last in JSON. */
static int write_report(struct sink *out, const struct report *report,
			const struct report_request *request, const struct fail_above *limits)
{
	const struct style style = {
		.width = style_width(STDOUT_FILENO),
		.colour = style_colour(request->colour, STDOUT_FILENO),
	};
	const struct grid_options options = { .style = &style,
					      .top = report_top(request),
					      .top_said = request->top != TOP_UNSET };
	const struct table **tables;
	int status;

	if (report_is_text(request)) {
		if (limits->table)
			text_table(out, limits->table, &options);
		if (limits->table)
			sink_char(out, '\n');
		return text_report(out, report, &options);
	}
	tables = calloc(report->table_count + 1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	memcpy(tables, report->tables, report->table_count * sizeof(*tables));
	tables[report->table_count] = limits->table;
	status = json_tables(out, tables, report->table_count + !!limits->table);
	free(tables);
	return status;
}

static int print_report(const struct report *report, const struct report_request *request,
			struct fail_above *limits)
{
	struct sink out;
	int status = limits->count ? fail_above_judge(limits, NULL, report) : 0;
	int opened = report_open(request, &out);

	if (!status)
		status = opened;
	if (!status)
		status = write_report(&out, report, request, limits);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	return status ? output_failed(status) : 0;
}

static int explain(const char *name)
{
	const struct finding_rule *rule = finding_rule_named(name);
	struct sink out;
	int status;

	if (!rule && strcmp(name, "list")) {
		log_error("--explain %s: no such finding; see '--explain list'", name);
		return EXIT_USAGE;
	}
	status = sink_open_text(&out, STDOUT_FILENO);
	if (!status && rule)
		explain_finding(&out, rule, style_width(STDOUT_FILENO),
				log_get_level() == LOG_DEBUG);
	else if (!status)
		explain_list(&out);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	return status ? output_failed(status) : 0;
}

/* Lists the columns of every table of the JSON report. Returns 0 or an exit status. */
static int list_all_columns(struct sink *out, const struct report *report,
			    const struct report_request *request)
{
	int status = 0;

	for (size_t i = 0; i < report->table_count && !status; i++) {
		const struct table *of = report->tables[i];
		struct table *list;

		if (of->view.text_only)
			continue;
		if (select_list_columns(&list, of))
			return output_failed(-ENOMEM);
		sink_format(out, "%s%s (%s): %s\n\n", i ? "\n" : "", of->name,
			    of->shape == TABLE_LIST ? "list" : "object", of->meaning);
		status = write_table(out, list, request);
		table_free(list);
	}
	sink_text(out, "\nKinds, and what becomes of them when several runs are merged:\n\n");
	for (int kind = KIND_KEY; kind < TABLE_KINDS; kind++)
		sink_format(out, "%-12s  %s\n", table_kinds[kind].name, table_kinds[kind].meaning);
	return status;
}

/* Prints what describes the whole report: its JSON Schema, or all columns. */
static int describe_report(const struct report *report, const struct report_request *request)
{
	const struct table *const *tables = (const struct table *const *)report->tables;
	struct sink out;
	int status;

	if (report_open(request, &out))
		return output_failed(-ENOMEM);
	if (!request->json_schema)
		status = list_all_columns(&out, report, request);
	else if (json_schema(&out, tables, report->table_count))
		status = output_failed(-ENOMEM);
	else
		status = 0;
	if (!status && sink_flush(&out))
		status = output_failed(out.error);
	sink_close(&out);
	return status;
}

/* Listing tables and their columns needs no trace; with one, tables have its layers. */
static int list_without_trace(const struct report_request *request,
			      const struct report_options *options)
{
	struct trace_error error = { "" };
	struct trace_reader *reader;
	struct report *report;
	int status = no_trace_report(&report, &reader, options->key);

	if (status) {
		status = report_failed(status, &error);
	} else {
		for (size_t i = 0; i < report->table_count; i++)
			report->tables[i]->absent = true; /* not measured, rather than empty */
		status = is_about_all(request) ? describe_report(report, request)
					       : print_table(report, request);
	}
	report_free(report);
	trace_reader_close(reader);
	return status;
}

/* Summaries do not store what columns mean; absent tables have no columns. */
static int take_meanings(struct report *report)
{
	struct trace_reader *reader;
	struct report *nothing;
	int status = no_trace_report(&nothing, &reader, NULL);

	if (!status)
		status = report_take_meanings(report, nothing);
	report_free(nothing);
	trace_reader_close(reader);
	return status;
}

static int print_made(const struct report *report, const struct report_request *request,
		      const struct report_options *options, struct fail_above *limits)
{
	int status;

	if (request->html)
		status = page_write(report, request->html);
	else if (request->against)
		status = report_compare(report, request, options, limits);
	else
		status = is_one_table(request) ? print_table(report, request)
					       : print_report(report, request, limits);
	if (!status && request->fail_above)
		status = fail_above_status(limits);
	return status;
}

/* Makes the report of these traces, and prints it. */
static int report_traces(const struct report_request *request, struct report_options *options,
			 char **paths, size_t count)
{
	const char *const *names = (const char *const *)paths;
	struct trace_reader **traces = calloc(count, sizeof(*traces));
	struct trace_error error = { "" };
	struct report *report = NULL;
	struct fail_above limits = { 0 };
	struct progress_line progress;
	struct gpu gpu = { 0 };
	bool skipped = false;
	int status = 0;

	if (!traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	options->progress = progress_update;
	options->context = &progress;
	options->skip = traces_skip;
	options->skip_context = &skipped;
	if (request->fail_above)
		status = fail_above_parse(&limits, request->fail_above, request->against);
	if (!status)
		status = traces_open(traces, paths, count);
	if (!status && request->spans) {
		status = report_read_gpu(&gpu, request->spans);
		options->gpu = &gpu;
	}
	if (status)
		goto out;
	progress_start(&progress, "reading");
	status = report_make(&report, traces, names, count, options, &error);
	if (!status && is_one_table(request))
		status = take_meanings(report);
	progress_end(&progress);
	status = status ? report_failed(status, &error)
			: print_made(report, request, options, &limits);
	if (!status)
		status = traces_emit_all_unread(traces, names, count);
	if (!status && skipped)
		status = EXIT_FAILED;
out:
	fail_above_free(&limits);
	report_free(report);
	gpu_free(&gpu);
	traces_close(traces, count);
	free(traces);
	return status;
}

int command_report(int argc, char **argv)
{
	struct report_request request = {
		.format = "text", .colour = "auto", .top = TOP_UNSET, .filter = FILTER_ALL
	};
	struct report_options options = { .filter = &request.filter };
	char *newest = NULL, **paths;
	size_t count;
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	if (request.explain)
		return explain(request.explain);
	status = check_lines(&request);
	if (!status)
		status = check_request(&request);
	if (!status)
		status = check_key(&request, &options.key);
	if (status)
		return status;
	if (request.slowest && !request.html) {
		request.table = "slowest";
		if (request.top == TOP_UNSET)
			request.top = request.slowest;
	}
	if (is_about_all(&request) ||
	    (first == argc && (request.list_tables || request.list_columns)))
		return list_without_trace(&request, &options);
	paths = argv + first;
	count = argc - first;
	if (!count) {
		newest = traces_newest("report");
		if (!newest)
			return EXIT_USAGE;
		paths = &newest;
		count = 1;
	}
	options.memory_bytes = request.memory;
	options.slowest = request.slowest;
	options.file_rows = is_whole(&request) || request.html ? 0 : report_top(&request);
	options.pictures = request.html;
	if (request.html && export_is_trace(request.html, paths, count)) {
		log_error("--html %s: is one of the traces; choose another file", request.html);
		status = EXIT_USAGE;
	} else {
		status = report_traces(&request, &options, paths, count);
	}
	free(newest);
	return status;
}
