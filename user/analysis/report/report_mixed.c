/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes a report from traces, from summaries, or from both. */
#include "analysis/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order/filter.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sum.h"
#include "analysis/report/summary.h"

/* Refuses requests that need events. */
static int refuse_summary(const char *name, const struct report_options *options,
			  struct trace_error *error)
{
	const char *what = !options	       ? NULL
			   : options->gpu      ? "combined with GPU activity"
			   : options->key      ? "grouped by a key"
			   : options->pictures ? "shown as a page"
			   : options->filter && !filter_is_any(options->filter) ? "filtered"
										: NULL;

	if (!what)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "%.100s: is a summary without events: it cannot be %s", name, what);
	return -ENOTSUP;
}

/* Moves summaries behind traces with events; returns the number of those. */
static size_t part_summaries(struct trace_reader *const *traces, const char *const *names,
			     size_t count, struct trace_reader **readers, const char **parted)
{
	size_t events = 0, place;

	for (size_t i = 0; i < count; i++)
		events += !summary_is(traces[i]);
	place = events;
	for (size_t i = 0, event = 0; i < count; i++) {
		size_t at = summary_is(traces[i]) ? place++ : event++;

		readers[at] = traces[i];
		parted[at] = names[i];
	}
	return events;
}

static int add_summary(struct report_sum *sum, struct trace_reader *reader, const char *name,
		       struct trace_error *error)
{
	struct table **tables;
	const struct trace_header *header = trace_reader_header(reader);
	const struct clock_shift clock =
		clock_shift_of(header->clock_monotonic_ns, header->clock_realtime_ns);
	struct report_run run = { .header = header };
	char why[sizeof(error->text)];
	size_t count;
	int status = summary_read(reader, &tables, &count, error);

	if (!status) {
		run.first_ns = clock_shifted(clock, trace_reader_totals(reader)->start_ns);
		run.last_ns = clock_shifted(clock, trace_reader_totals(reader)->end_ns);
		status = report_sum_bound(sum, tables, count);
	}
	if (!status)
		status = report_sum_add(sum, tables, count, &run, error);
	for (size_t i = 0; i < count; i++)
		table_free(tables[i]);
	free(tables);
	if (status == -EINVAL) {
		memcpy(why, error->text, sizeof(why));
		snprintf(error->text, sizeof(error->text), "%.100s: %.150s", name, why);
	}
	return status;
}

/* Adds the report of the traces first, then one summary at a time; `given` is the original
 * order. */
static int make_of_summaries(struct report **report, struct trace_reader *const *given,
			     struct trace_reader *const *traces, const char *const *names,
			     size_t trace_count, size_t with_events,
			     const struct report_options *options, struct trace_error *error)
{
	struct report_options whole = options ? *options : (struct report_options) { 0 };
	struct report_run run;
	struct report *own = NULL;
	struct report_sum *sum;
	size_t skipped = 0;
	int status = report_sum_new(&sum, trace_count - with_events, with_events);

	whole.file_rows = 0; /* rows listed for all may not be those of these traces */
	for (size_t i = 0; i < trace_count && !status; i++)
		status = report_sum_expect(sum, trace_reader_header(given[i]));
	for (size_t i = with_events; i < trace_count && !status; i++)
		status = refuse_summary(names[i], options, error);
	if (!status && with_events)
		status = report_of_events(&own, traces, names, with_events, &whole, error);
	if (!status && with_events) {
		run = (struct report_run) { trace_reader_header(traces[0]), own->first_ns,
					    own->last_ns };
		status = report_sum_add(sum, own->tables, own->table_count, &run, error);
	}
	report_free(own);
	for (size_t i = with_events; i < trace_count && !status; i++) {
		status = add_summary(sum, traces[i], names[i], error);
		/* A damaged one does not spoil the others, if there are any. */
		if (status == -EINVAL && options && options->skip) {
			options->skip(options->skip_context, error->text);
			status = 0;
			skipped++;
		}
		if (options && options->progress)
			options->progress(options->context, (double)(i + 1) / trace_count);
	}
	if (!status && skipped == trace_count)
		status = -EINVAL;
	if (!status)
		status = report_sum_finish(sum, report, error);
	report_sum_free(sum);
	return status;
}

int report_make(struct report **report, struct trace_reader *const *traces,
		const char *const *names, size_t trace_count, const struct report_options *options,
		struct trace_error *error)
{
	struct trace_reader **readers;
	const char **parted;
	size_t with_events;
	int status = -ENOMEM;

	*report = NULL;
	error->text[0] = '\0';
	if (!trace_count) {
		snprintf(error->text, sizeof(error->text), "no trace given");
		return -EINVAL;
	}
	readers = calloc(trace_count, sizeof(*readers));
	parted = calloc(trace_count, sizeof(*parted));
	if (readers && parted) {
		with_events = part_summaries(traces, names, trace_count, readers, parted);
		status = with_events == trace_count
				 ? report_of_events(report, readers, parted, trace_count, options,
						    error)
				 : make_of_summaries(report, traces, readers, parted, trace_count,
						     with_events, options, error);
	}
	if (!status)
		(*report)->header = trace_reader_header(traces[0]);
	free(readers);
	free(parted);
	if (status) {
		report_free(*report);
		*report = NULL;
	}
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}
