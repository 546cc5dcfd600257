/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline print: the events of a trace in time order, one line each. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "base/strbuf.h"
#include "command/common/command.h"
#include "command/common/traces.h"
#include "command/common/filters.h"
#include "command/common/options.h"
#include "command/common/progress.h"
#include "base/log.h"
#include "output/rows/row.h"
#include "trace/format/layers.h"

struct print_request {
	const char *format, *layer;
	struct filter filter;
	bool programs, list_columns;
};

#define FIELD(name) offsetof(struct print_request, name)

#define SERVER_LISTED(id, name, ...) name ", "
#define SERVERS_LISTED TRACE_SERVER_LAYERS(SERVER_LISTED)

static const struct option_row rows[] = {
	{ 0, "format", "text|json", OPTION_CHOICE, FIELD(format),
	  "Output format: text, or one JSON object per line. Default: text." },
	{ 0, "layer", "LAYER", OPTION_STRING, FIELD(layer),
	  "Only events of this layer or kind: task, syscall, fault, pagecache, throttle, block, "
	  "request, bio, device, span, async, vfs, " SERVERS_LISTED "remote, thread, thread_time, "
	  "wait, file, fork, exec, exit, stack, frame, sample." },
	{ 0, "programs", NULL, OPTION_FLAG, FIELD(programs),
	  "Print the program of each event's process." },
	{ 0, "list-columns", NULL, OPTION_FLAG, FIELD(list_columns),
	  "List the kinds of events and their columns; needs no trace." },
};

static const struct option_table table = {
	.usage = "faultline print [OPTION...] [TRACE]",
	.about = "Prints the events of a trace by start time, one per line. Default: the newest "
		 "*.flt in the current directory.",
	.own = OPTION_ROWS(rows),
	.shared = { { &filter_rows, FIELD(filter) } },
};

struct printing {
	const struct print_request *request;
	struct trace_reader *reader;
	struct job job;
	struct row_resolver *resolver;
	struct filter rest; /* filters that rows are not checked for here */
	struct filter_state *filter;
	uint64_t printed;
	struct progress_line progress;
	struct sink out;
	uint64_t start_ns;
	bool json;
};

/* Returns the kinds of a layer, or one kind; 0 if the name is neither. */
static uint64_t kinds_of(const char *name)
{
	uint64_t kinds = 0;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (!name || trace_kind_has_layer(i, name))
			kinds |= 1ull << i;
	for (int i = 0; i < TRACE_KIND_COUNT && !kinds; i++)
		if (!strcmp(name, trace_schemas[i].kind))
			kinds |= 1ull << i;
	return kinds;
}

/* Returns whether names[0..count) contains a name. */
static bool is_listed(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Prints the lists of columns.h. */
static int list_columns(void)
{
	static const char *const types[] = { [TRACE_TIME] = "time",
					     [TRACE_UINT] = "uint",
					     [TRACE_INT] = "int",
					     [TRACE_STRING] = "string" };
	static const char *const units[] = { [TRACE_UNIT_NONE] = "",
					     [TRACE_UNIT_NS] = "ns",
					     [TRACE_UNIT_BYTES] = "bytes",
					     [TRACE_UNIT_COUNT] = "count" };

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct trace_schema *schema = &trace_schemas[kind];

		printf("%s%s (layer %s): %s\n", kind ? "\n" : "", schema->kind, schema->layer,
		       schema->meaning);
		for (unsigned int i = 0; i < schema->column_count; i++) {
			const struct trace_column *column = &schema->columns[i];

			printf("  %-20s %-6s %-5s  %s\n", column->name, types[column->type],
			       units[column->unit], column->meaning);
		}
	}
	return fflush(stdout) ? output_failed(-errno) : 0;
}

static void say_known_layers(const char *name)
{
	const char *names[2 * TRACE_KIND_COUNT + LAYER_COUNT];
	struct strbuf list = { .used = 0 };
	size_t count = 0;

	for (int i = 0; i < 2 * TRACE_KIND_COUNT + LAYER_COUNT; i++) {
		const struct trace_schema *schema = &trace_schemas[i % TRACE_KIND_COUNT];
		const char *known = i < TRACE_KIND_COUNT ? schema->layer
				    : i < 2 * TRACE_KIND_COUNT
					    ? schema->kind
					    : layer_names[i - 2 * TRACE_KIND_COUNT];

		if (is_listed(names, count, known))
			continue;
		names[count++] = known;
		strbuf_join(&list, ", ", "%s", known);
	}
	log_error("--layer %s: no such layer or kind of event; choose from %s", name, list.bytes);
}

static bool has_pid(const struct print_request *request, const struct resolved_row *row)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];

	for (unsigned int i = 0; i < schema->column_count; i++) {
		const char *name = schema->columns[i].name;

		if ((!strcmp(name, "pid") || !strcmp(name, "child_pid")) &&
		    row->values[i] == request->filter.pid)
			return true;
	}
	return false;
}

static bool is_wanted(const struct print_request *request, const struct resolved_row *row)
{
	const char *file = request->filter.file;
	const char *layer = request->layer;

	if (layer && strcmp(layer, row->layer) && strcmp(layer, trace_schemas[row->kind].kind))
		return false;
	if (request->filter.pid != FILTER_NONE && !has_pid(request, row))
		return false;
	return !file || (row->path.length && !fnmatch(file, row->path.bytes, FNM_NOESCAPE)) ||
	       (row->path2.length && !fnmatch(file, row->path2.bytes, FNM_NOESCAPE));
}

static int print_some(void *state, const struct event *events, size_t count)
{
	struct printing *printing = state;

	for (const struct event *event = events; event < events + count; event++) {
		struct resolved_row row;

		/* Each part of a request has a row of its own. */
		if (event->flags & EVENT_SECOND && !(event->flags & EVENT_REQUEST))
			continue;
		row_resolve(printing->resolver, event, &row);
		if (!is_wanted(printing->request, &row))
			continue;
		if (printing->request->programs)
			row.program = job_comm_at(&printing->job, event->process, event->start);
		if (printing->json)
			row_json(&printing->out, &row);
		else
			row_text(&printing->out, printing->start_ns, &row);
		printing->printed++;
	}
	return printing->out.error;
}

/* Process and path are filtered here, not by the walk: a row may have several of each, and paths
 * that no file row describes. */
static int open_filter(struct printing *printing, struct walk *walk, struct trace_error *error)
{
	int status;

	printing->rest = printing->request->filter;
	printing->rest.pid = FILTER_NONE;
	printing->rest.file = NULL;
	status = filter_start(&printing->filter, &printing->rest, &printing->job, error);
	filter_set_cursor(printing->filter, &walk->cursor);
	walk->filter = printing->filter;
	return status;
}

static int print_events(struct printing *printing, const char *name, uint64_t kinds)
{
	static const struct walk_calls calls = { .sums = true, .events = print_some };
	const struct walk_consumer consumer = { &calls, printing };
	struct walk walk = {
		.cursor = { .kinds = kinds, .whole_rows = true },
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = isatty(STDOUT_FILENO) ? NULL : progress_update,
		.context = &printing->progress,
	};
	struct trace_error error = { "" };
	int status;

	progress_start(&printing->progress, "printing");
	status = job_load(&printing->job, &printing->reader, &name, 1, &error);
	if (!status)
		status = row_resolver_open(&printing->resolver, &printing->job);
	if (!status)
		status = open_filter(printing, &walk, &error);
	if (!status)
		status = walk_run(&printing->job, &walk, &error);
	if (!printing->out.error)
		sink_flush(&printing->out);
	progress_end(&printing->progress);
	if (printing->out.error)
		return output_failed(printing->out.error);
	if (status) {
		log_error("%s", error.text[0] ? error.text : strerror(-status));
		return status == -ESRCH ? EXIT_USAGE : EXIT_FAILED;
	}
	if (printing->printed || filter_is_any(&printing->request->filter))
		return 0;
	log_error("%s: no events match these filters", name);
	return EXIT_FAILED;
}

static int print_trace(struct printing *printing, char *path, uint64_t kinds)
{
	const struct trace_totals *totals;
	int status = traces_open_one(&printing->reader, path);

	if (status)
		return status;
	if (traces_refuse_summaries(&printing->reader, &path, 1, "print")) {
		trace_reader_close(printing->reader);
		return EXIT_USAGE;
	}
	if (sink_open(&printing->out, STDOUT_FILENO)) {
		log_error("out of memory");
		status = EXIT_FAILED;
		goto out;
	}
	totals = trace_reader_totals(printing->reader);
	printing->start_ns = totals ? totals->start_ns
				    : trace_reader_header(printing->reader)->clock_monotonic_ns;
	printing->json = !strcmp(printing->request->format, "json");
	status = print_events(printing, path, kinds);
out:
	sink_close(&printing->out);
	row_resolver_close(printing->resolver);
	filter_close(printing->filter);
	job_free(&printing->job);
	if (!status)
		status = traces_emit_unread(printing->reader, path);
	trace_reader_close(printing->reader);
	return status;
}

int command_print(int argc, char **argv)
{
	struct print_request request = { .format = "text", .filter = FILTER_ALL };
	struct printing printing = { .request = &request };
	int first, status = options_parse(&table, argc, argv, &request, &first);
	char *newest = NULL;
	uint64_t kinds;

	if (status != OPTIONS_GO)
		return status;
	if (request.list_columns)
		return list_columns();
	if (argc - first > 1) {
		log_error("more than one trace given; try 'faultline print --help'");
		return EXIT_USAGE;
	}
	status = filters_check(&request.filter);
	if (status)
		return status;
	kinds = kinds_of(request.layer);
	/* --op lists operations, not samples of them, unless lines select these. */
	if (!request.layer && request.filter.op && !filter_is_of_lines(&request.filter))
		kinds &= ~(1ull << TRACE_SAMPLE);
	if (!kinds) {
		say_known_layers(request.layer);
		return EXIT_USAGE;
	}
	if (first < argc)
		return print_trace(&printing, argv[first], kinds);
	newest = traces_newest("print");
	status = newest ? print_trace(&printing, newest, kinds) : EXIT_USAGE;
	free(newest);
	return status;
}
