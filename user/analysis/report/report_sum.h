/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges reports of several runs, table by table. */
#pragma once

#include "analysis/report/report.h"

struct report_sum;

/* The numbers of summaries and traces are only for messages. Returns 0 or -ENOMEM. */
int report_sum_new(struct report_sum **sum, size_t summaries, size_t traces);
void report_sum_free(struct report_sum *sum);
/* Announces a report whose first trace has this header: of each boot, the first one announced sets
 * the clock. Returns 0 or -ENOMEM. */
int report_sum_expect(struct report_sum *sum, const struct trace_header *like);
/* Facts about a report that its tables do not have. */
struct report_run {
	const struct trace_header *header; /* of its first trace */
	uint64_t first_ns, last_ns;	   /* as in struct report, on that trace's wall clock */
};

/* Folds rows of a summary's tables where most are merged with no other run's, and all summaries
 * together may have too many of them. Returns 0 or -ENOMEM. */
int report_sum_bound(struct report_sum *sum, struct table **tables, size_t count);
/* Adds the tables of a report. Returns -EINVAL for tables that no report has; `error` says why. */
int report_sum_add(struct report_sum *sum, struct table *const *tables, size_t count,
		   const struct report_run *run, struct trace_error *error);
/* Makes the merged report; nothing may be added after it. */
int report_sum_finish(struct report_sum *sum, struct report **report, struct trace_error *error);
