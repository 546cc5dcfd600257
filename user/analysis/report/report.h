/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A report: makes neutral tables from traces, in the order of the JSON report: trace, totals,
 * methods, operations, files, failed_lookups, processes, devices, spans, overlap, levels, steps,
 * findings.
 */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/job/gpu.h"
#include "trace/read/reader.h"

struct report_options {
	/* Called now and then with the share of the work done, 0 to 1; NULL: none. */
	void (*progress)(void *context, double done);
	void *context;
	/* Called with the reason for each damaged summary, which is then left out; NULL: it is an
	 * error. */
	void (*skip)(void *context, const char *why);
	void *skip_context;
	const struct gpu *gpu;	      /* when it computed; NULL: none */
	const struct rollup_key *key; /* NULL: no table of groups */
	const struct filter *filter;  /* NULL: all events */
	uint64_t memory_bytes;	      /* for the report; 0: JOB_MEMORY_BYTES */
	uint64_t slowest;	      /* operations to list individually; 0: a few */
	uint64_t file_rows;	      /* files to list one by one; 0: as memory allows */
	bool pictures;		      /* collect what a page is drawn from */
};

/*
 * Analyzes traces as one job. Returns 0, -ENOMEM, -EINVAL for a damaged block, -ERANGE if the GPU
 * was busy at no time of the job, -ESRCH if a filter names what no trace has, -ENODATA if no event
 * passes it, or -ENOTSUP if a summary cannot provide what is requested; `error` says which trace
 * and what. Memory depends on the number of files, processes and names, not on the number of
 * events. Summaries (summary.h) may be among the traces; they are read on two threads, so no reader
 * may be given twice.
 */
int report_make(struct report **report, struct trace_reader *const *traces,
		const char *const *names, size_t trace_count, const struct report_options *options,
		struct trace_error *error);
void report_free(struct report *report); /* NULL is fine */
/* Returns a sentence, without its period, for a report whose table of findings is empty. */
const char *report_why_no_findings(const struct report *report);
/* Limits a table to that many rows and one for the rest. Returns 0 or -ENOMEM. */
int report_fold(struct report *report, size_t number, size_t rows);
/* Takes the meanings of columns, which summaries do not store, from a report with such tables.
 * Returns 0 or -ENOMEM. */
int report_take_meanings(struct report *report, const struct report *like);
