/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* report --against: reads another run with the same options, and prints both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report/compare.h"
#include "command/report_request.h"
#include "command/common/traces.h"
#include "base/log.h"
#include "output/text/headline.h"
#include "output/base/json_tables.h"
#include "output/text/text.h"

/* The tables of compare_make come last. */
static void write_compared(struct sink *out, const struct report *const runs[2],
			   const struct table *const *tables, size_t count,
			   const struct report_request *request)
{
	const struct table *whole = tables[count - COMPARE_TABLES];
	const size_t sorted = count - 2; /* the first of paths and lines */
	static const char *const labels[] = { "before", "now   " };
	const struct style style = {
		.width = style_width(STDOUT_FILENO),
		.colour = style_colour(request->colour, STDOUT_FILENO),
	};
	struct grid_options options = { .style = &style,
					.top = report_top(request),
					.top_said = request->top != TOP_UNSET };

	for (size_t i = 0; i < 2; i++)
		headline_write_run(out, labels[i], report_by(runs[i], &analysis_trace), &style);
	for (size_t i = 0; i < count; i++) {
		if (i >= sorted && !options.top_said)
			options.top = compare_rows_worth(whole, tables[i]);
		if (i >= sorted && ((!options.top && !options.top_said) || tables[i]->absent))
			continue;
		sink_char(out, '\n');
		text_table(out, tables[i], &options);
	}
}

/* The table of --fail-above comes first. */
static int print_compared(const struct report *report, const struct report *before,
			  const struct report_request *request, const struct fail_above *limits)
{
	const struct report *const runs[2] = { before, report };
	struct table *tables[COMPARE_TABLES];
	const struct table *all[1 + COMPARE_TABLES];
	struct sink out;
	size_t count = 0;
	int status = compare_make(tables, before, report), opened = report_open(request, &out);

	if (limits->table)
		all[count++] = limits->table;
	for (size_t i = 0; i < COMPARE_TABLES; i++)
		all[count++] = tables[i];
	if (!status)
		status = opened;
	if (!status && report_is_text(request))
		write_compared(&out, runs, all, count, request);
	else if (!status)
		status = json_tables(&out, all, count);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	for (size_t i = 0; i < COMPARE_TABLES; i++)
		table_free(tables[i]);
	return status ? output_failed(status) : 0;
}

/* Splits the traces of the other run at commas, unless a file has the whole text as its name.
 * Modifies the text, into which *paths point; the caller frees *paths. Returns how many, 0 if out
 * of memory. */
static size_t split_paths(char *text, char ***paths)
{
	bool one = !access(text, F_OK);
	size_t count = 1, max = 1;

	for (const char *at = text; *at; at++)
		max += *at == ',';
	*paths = calloc(max, sizeof(**paths));
	if (!*paths)
		return 0;
	(*paths)[0] = text;
	for (char *at = text; *at && !one; at++) {
		if (*at != ',')
			continue;
		*at = '\0';
		(*paths)[count++] = at + 1;
	}
	return count;
}

/* Warns if compute is from a GPU profile in one run, and from the program's own spans in the
 * other. */
static void warn_one_sided(const struct report_request *request)
{
	if (!request->spans == !request->compare_spans)
		return;
	log_warning("%s: compute of %s run comes from its GPU, the other's only from its own "
		    "spans; use %s FILE for the other run",
		    request->spans ? "--spans" : "--against-spans",
		    request->spans ? "this" : "the earlier",
		    request->spans ? "--against-spans" : "--spans");
}

int report_compare(const struct report *report, const struct report_request *request,
		   const struct report_options *options, struct fail_above *limits)
{
	struct gpu gpu = { 0 };
	const struct report_options same = { .filter = options->filter,
					     .memory_bytes = options->memory_bytes,
					     .gpu = request->compare_spans ? &gpu : NULL };
	char *text = strdup(request->against), **paths = NULL;
	size_t count = text ? split_paths(text, &paths) : 0;
	struct trace_reader **readers = calloc(count ? count : 1, sizeof(*readers));
	struct trace_error error = { "" };
	struct report *before = NULL;
	int status;

	if (!count || !readers) {
		status = report_failed(-ENOMEM, &error);
		goto out;
	}
	status = traces_open(readers, paths, count);
	if (!status && request->compare_spans)
		status = report_read_gpu(&gpu, request->compare_spans);
	if (!status) {
		warn_one_sided(request);
		status = report_make(&before, readers, (const char *const *)paths, count, &same,
				     &error);
		if (!status && limits->count)
			status = fail_above_judge(limits, before, report);
		status = status ? report_failed(status, &error)
				: print_compared(report, before, request, limits);
	}
	if (!status)
		status = traces_emit_all_unread(readers, (const char *const *)paths, count);
	report_free(before);
	gpu_free(&gpu);
	traces_close(readers, count);
out:
	free(readers);
	free(paths);
	free(text);
	return status;
}
