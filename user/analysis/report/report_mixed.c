/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes a report from traces, from summaries, or from both. */
#include "analysis/report/report.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order/filter.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sum.h"
#include "analysis/report/summary.h"
#include "base/helper_thread.h"
#include "base/number.h"

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
	size_t events = 0, index;

	for (size_t i = 0; i < count; i++)
		events += !summary_is_file(traces[i]);
	index = events;
	for (size_t i = 0, event = 0; i < count; i++) {
		size_t at = summary_is_file(traces[i]) ? index++ : event++;

		readers[at] = traces[i];
		parted[at] = names[i];
	}
	return events;
}

/* Summaries are read a few at a time, on two threads, and added in order. */
#define AT_ONCE 4

struct summaries {
	struct report_sum *sum;
	struct one_summary {
		struct trace_reader *reader;
		const char *name;
		struct table **tables;
		size_t count;
		int status;
		struct trace_error error;
	} all[AT_ONCE];
	size_t count;
	atomic_size_t next;
};

/* Runs on two threads at once. */
static void read_next(void *context)
{
	struct summaries *summaries = context;
	size_t next;

	while ((next = atomic_fetch_add(&summaries->next, 1)) < summaries->count) {
		struct one_summary *one = &summaries->all[next];

		one->status = summary_read(one->reader, &one->tables, &one->count, &one->error);
		if (!one->status)
			one->status = report_sum_bound(summaries->sum, one->tables, one->count);
	}
}

static int add_summary(struct report_sum *sum, struct one_summary *one, struct trace_error *error)
{
	const struct trace_header *header = trace_reader_header(one->reader);
	const struct clock_shift clock =
		clock_shift_of(header->clock_monotonic_ns, header->clock_realtime_ns);
	struct report_run run = { .header = header };
	int status = one->status;

	if (!status) {
		run.first_ns = clock_shifted(clock, trace_reader_totals(one->reader)->start_ns);
		run.last_ns = clock_shifted(clock, trace_reader_totals(one->reader)->end_ns);
		status = report_sum_add(sum, one->tables, one->count, &run, &one->error);
	}
	if (status == -EINVAL)
		snprintf(error->text, sizeof(error->text), "%.100s: %.150s", one->name,
			 one->error.text);
	else if (status)
		*error = one->error;
	return status;
}

/* `skipped`: how many are damaged, which does not spoil the others, if there are any. */
static int add_summaries(struct report_sum *sum, struct trace_reader *const *traces,
			 const char *const *names, size_t count,
			 const struct report_options *options, size_t *skipped,
			 struct trace_error *error)
{
	struct summaries summaries = { .sum = sum };
	struct helper_thread *helper;
	int status = helper_thread_open(&helper, read_next, &summaries);

	for (size_t at = 0; at < count && !status; at += AT_ONCE) {
		summaries.count = number_min(count - at, AT_ONCE);
		for (size_t i = 0; i < summaries.count; i++)
			summaries.all[i] = (struct one_summary) { .reader = traces[at + i],
								  .name = names[at + i] };
		atomic_store(&summaries.next, 0);
		helper_thread_start(helper);
		helper_thread_join(helper);
		for (size_t i = 0; i < summaries.count; i++) {
			struct one_summary *one = &summaries.all[i];

			if (!status)
				status = add_summary(sum, one, error);
			for (size_t j = 0; j < one->count; j++)
				table_free(one->tables[j]);
			free(one->tables);
			if (status == -EINVAL && options && options->skip) {
				options->skip(options->skip_context, error->text);
				status = 0;
				++*skipped;
			}
		}
		if (options && options->progress)
			options->progress(options->context, (double)(at + summaries.count) / count);
	}
	helper_thread_close(helper);
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
	if (!status)
		status = add_summaries(sum, traces + with_events, names + with_events,
				       trace_count - with_events, options, &skipped, error);
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
