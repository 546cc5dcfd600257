/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports of several runs made one, table by table. Knows nothing of what a table is about, but of
 * those that tell when the runs were and what is to be said of them.
 */
#ifndef FAULTLINE_REPORT_SUM_H
#define FAULTLINE_REPORT_SUM_H

#include "analysis/report/report.h"

struct report_sum;

/* How many summaries and traces it will be of, in words only. Return 0 or -ENOMEM. */
int report_sum_new(struct report_sum **sum, size_t summaries, size_t traces);
void report_sum_free(struct report_sum *sum);
/* Says that one will come whose first trace has this header: of each boot the first that is
 * expected tells the time. Returns 0 or -ENOMEM. */
int report_sum_expect(struct report_sum *sum, const struct trace_header *like);
/* What of a report its tables do not tell. */
struct report_run {
	const struct trace_header *header; /* of the first trace that it is of */
	uint64_t first_ns, last_ns;	   /* as in struct report, on that trace's wall clock */
};

/* Folds rows of a summary's tables that no other run's will be merged with, where all summaries
 * together may have too many of them. Returns 0 or -ENOMEM. */
int report_sum_bound(struct report_sum *sum, struct table **tables, size_t count);
/* Adds the tables of a report. -EINVAL for tables that no report has; `error` says why. */
int report_sum_add(struct report_sum *sum, struct table *const *tables, size_t count,
		   const struct report_run *run, struct trace_error *error);
/* What they are together; nothing may be added after it. */
int report_sum_finish(struct report_sum *sum, struct report **report, struct trace_error *error);

#endif
