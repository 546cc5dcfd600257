/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A report: traces in, neutral tables out. The tables stand in the order of the JSON report:
 * trace, totals, methods, operations, files, failed_lookups, processes, devices, spans, overlap,
 * levels, steps, findings.
 */
#ifndef FAULTLINE_REPORT_H
#define FAULTLINE_REPORT_H

#include "analysis/measured.h"
#include "analysis/model/gpu.h"
#include "trace/reader.h"

struct report_options {
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
	/* Called with the reason for each summary that is damaged, which is left out then; NULL: it
	 * is an error. */
	void (*skip)(void *context, const char *why);
	void *skip_context;
	const struct gpu *gpu;	      /* when it computed; NULL for none */
	const struct rollup_key *key; /* NULL: no table of groups */
	const struct filter *filter;  /* NULL: all events */
	uint64_t memory_bytes;	      /* meant for the report; 0 for JOB_MEMORY_BYTES */
	uint64_t slowest;	      /* operations to tell one by one; 0: a few */
	uint64_t file_rows; /* files to tell one by one; 0: as many as there is memory for */
	bool pictures;	    /* what a page is drawn from, by a second pass */
};

/*
 * Analyses traces as one job. Returns 0, -ENOMEM, -EINVAL for a damaged block, or -ERANGE when the
 * GPU was busy at no time of the job, -ESRCH when a filter names what no trace has, -ENODATA when
 * no event passes it, -ENOTSUP for what cannot be asked of a summary; `error` says which trace and
 * what. Memory does not depend on the number of events, only on the number of files, processes and
 * names. Summaries (summary.h) may be among the traces.
 */
int report_make(struct report **report, struct trace_reader *const *traces,
		const char *const *names, size_t trace_count, const struct report_options *options,
		struct trace_error *error);
void report_free(struct report *report); /* NULL is fine */
/* Leaves a table no more than so many rows and one for the rest. Returns 0 or -ENOMEM. */
int report_fold(struct report *report, size_t number, size_t rows);
/* Summaries do not say what columns mean: they get it from a report that has such tables. Returns 0
 * or -ENOMEM. */
int report_take_meanings(struct report *report, const struct report *like);

#endif
