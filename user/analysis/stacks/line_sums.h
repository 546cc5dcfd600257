/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums over samples of stacks: time, operations and bytes, and how uncertain they are. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/job/job.h"

#define LINES_NO_PYTHON "not Python, or not yet known to be" /* a reason */

struct line_sums {
	uint64_t time_ns, samples;
	/* The part of the time that is estimated, and the number of its samples. */
	uint64_t estimated_ns, estimated_samples;
	double count, fetched_bytes;
};

void line_sums_add(struct line_sums *sums, const struct line_sums *more);

/* Returns the sums of one sample. `state` is that of event_sample_state. */
struct line_sums line_sums_of(const struct job *job, const struct event *event, unsigned int state);
/* Gets the interval that its time and bytes are of, on the job's clock: that of the operation or
 * wait if the sample is exact, cut by a filter; if not, the moment when it was taken. */
void line_interval(const struct job *job, const struct event *event, const struct line_sums *sums,
		   uint64_t *start_ns, uint64_t *end_ns);
/* Returns why a sample has no stack, a static text. */
const char *line_unknown(const struct job *job, const struct event *event);

/* Returns the standard error of the time, in ns: with n samples that stand for a time t, it is
 * t / sqrt(n). */
double line_sums_error(const struct line_sums *sums);
