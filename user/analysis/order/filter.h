/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Selects events of a job. Spans are never filtered out, only what happened in them. */
#pragma once

#include "analysis/order/cursor.h"

#define FILTER_NONE UINT64_MAX

/* NULL and FILTER_NONE: any. Times are relative to the start of the run; events that overlap the
 * range pass whole. Events that are not operations pass unless a condition on operations is set;
 * waits of threads can meet those on spans and duration, and samples all but those on methods. */
struct filter {
	uint64_t from_ns, until_ns;
	uint64_t pid, rank;
	uint64_t min_duration_ns; /* 0: any */
	const char *file;	  /* pattern that the path must match; * also matches / */
	const char *op;		  /* operation names or patterns, separated by commas */
	const char *method;
	const char *span; /* name of an enclosing span, at any depth */
	/* Patterns that a frame of a sample's stack must match: FILE:LINE, with or without the
	 * file's directories; and the function's qualified name. Only samples pass then. */
	const char *line, *function;
};

#define FILTER_ALL                                                                                 \
	{                                                                                          \
		.until_ns = FILTER_NONE, .pid = FILTER_NONE, .rank = FILTER_NONE                   \
	}

struct filter_state;

bool filter_is_any(const struct filter *filter);
/* True if only samples can pass. */
bool filter_is_of_lines(const struct filter *filter);
/* True if it filters by more than time and file: the kernel's own activity then does not pass. */
bool filter_chooses(const struct filter *filter);
/* Returns JOB_* of what was recorded but cannot be judged: events without rows (faults without a
 * file, untraced submissions), without a method, without a wanted name, or without a duration. */
unsigned int filter_cannot_emit(const struct filter_state *state);
/* Returns 0, -ENOMEM, -ESRCH for a name that no trace of the job has, or -ENODATA for lines if none
 * has stacks; `error` says which. */
int filter_open(struct filter_state **state, const struct filter *filter, const struct job *job,
		struct trace_error *error);
/* Narrows the job to the wanted time and opens the filter. *state is NULL if `filter` is NULL or
 * lets all events pass. Returns -ENODATA if the run has nothing in that time, or the result of
 * filter_open; `error` says which. */
int filter_start(struct filter_state **state, const struct filter *filter, struct job *job,
		 struct trace_error *error);
void filter_close(struct filter_state *state); /* NULL is fine */

/* Lets parts of requests pass even if requests do not, however short: they show where the
 * operations that pass have waited. They are not operations and are not counted. */
void filter_pass_parts(struct filter_state *state);
/* Lets the cursor skip blocks that have nothing of the wanted time, operation, process or file, nor
 * anything of the minimum duration. Must run after the kinds of the cursor are set; the filter must
 * outlive the cursor. If `state` is NULL, nothing is skipped. */
void filter_set_cursor(struct filter_state *state, struct cursor_options *options);

/* Must be called in the order of events, once for each: counts those that pass. */
bool filter_passes(struct filter_state *state, const struct event *event);
/* True if what a process did in a time range is wanted, judging only by time and process: for
 * exporters, which leave out spans, too. Times are on the job's clock; `start_ns` is the start of
 * the run before filter_start. A NULL filter wants all. */
bool filter_wants(const struct filter *filter, const struct process *process, uint64_t start_ns,
		  uint64_t from_ns, uint64_t until_ns);
/* Returns how many events passed. */
uint64_t filter_passed(const struct filter_state *state);
/* Sets the operations' totals to those that passed, with nothing unseen: the file and time of lost
 * events are unknown. */
void filter_set_operations(const struct filter_state *state, struct job *job);
