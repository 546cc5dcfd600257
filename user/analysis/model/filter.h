/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which events of a job are wanted. Spans are never left out, only what happened in them.
 */
#ifndef FAULTLINE_FILTER_H
#define FAULTLINE_FILTER_H

#include "analysis/model/cursor.h"

#define FILTER_NONE UINT64_MAX

/* NULL and FILTER_NONE: any. Times are from the start of the run; what overlaps them is wanted,
 * whole. Without a wish of what an operation is about, everything else passes, too. */
struct filter {
	uint64_t from_ns, until_ns;
	uint64_t pid, rank;
	uint64_t min_duration_ns; /* 0: any */
	const char *file;	  /* a pattern that the path matches; * matches / as well */
	const char *op;		  /* names of operations, or patterns, separated by commas */
	const char *method;
	const char *span; /* the name of a span that it happened in, or in one within */
};

#define FILTER_ALL                                                                                 \
	{                                                                                          \
		.until_ns = FILTER_NONE, .pid = FILTER_NONE, .rank = FILTER_NONE                   \
	}

struct filter_state;

bool filter_is_any(const struct filter *filter);
/* By more than time and file: what the kernel does by itself then passes no more. */
bool filter_chooses(const struct filter *filter);
/* JOB_* of what a filter cannot judge, though it was recorded: what has no rows (faults without a
 * file, submissions that were not traced), no method, no name that is asked for, or no duration. */
unsigned int filter_cannot_tell(const struct filter_state *state);
/* Returns 0, -ENOMEM, or -ESRCH for a name that no trace of the job has; `error` says which. */
int filter_open(struct filter_state **state, const struct filter *filter, const struct job *job,
		struct trace_error *error);
/* Makes the job as long as the time that is wanted, and opens the filter. *state is NULL where all
 * events are wanted, by `filter` or because that is NULL. Returns -ENODATA when there is nothing of
 * that time, or what filter_open does; `error` says which. */
int filter_start(struct filter_state **state, const struct filter *filter, struct job *job,
		 struct trace_error *error);
void filter_close(struct filter_state *state); /* NULL is fine */

/* Lets parts of requests pass where requests do not, and short ones: they tell where the operations
 * that pass have waited. They are no operations, and are counted as none. */
void filter_pass_parts(struct filter_state *state);
/* Lets blocks be passed over that hold nothing of the time that is wanted, nor of the operation,
 * the process or the file, nor anything that takes as long. To be called once the kinds of the
 * cursor are set; the filter must outlive it. Without a filter (NULL) nothing is. */
void filter_set_cursor(struct filter_state *state, struct cursor_options *options);

/* To be asked in the order of events, once for each: it counts those that pass. */
bool filter_passes(struct filter_state *state, const struct event *event);
/* Whether what a process did from one time to another is wanted, by its time and process alone:
 * for exporters, which leave out spans, too. Times are on the job's clock, `start_ns` is what the
 * run began with, before filter_start. A filter that is NULL wants all. */
bool filter_wants(const struct filter *filter, const struct process *process, uint64_t start_ns,
		  uint64_t from_ns, uint64_t until_ns);
/* How many events passed. */
uint64_t filter_passed(const struct filter_state *state);
/* Makes the operations' sums those of what passed, with nothing unseen: what was lost is of no
 * known file or time. */
void filter_set_operations(const struct filter_state *state, struct job *job);

#endif
