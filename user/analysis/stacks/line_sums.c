/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The operations and the time that a sample represents.
 *
 * The recorder adds up the time of a thread's short operations, and takes a sample each time the
 * sum reaches a fixed weight; an operation that takes that long itself has a sample of its own,
 * which is exact. So each sample stands for its weight. One with weight w of an operation that took
 * d stands for w/d such operations, with w/d times its bytes.
 */
#include "analysis/stacks/line_sums.h"

#include <math.h>

#include "base/number.h"

const char *line_unknown(const struct job *job, const struct event *event)
{
	static const struct {
		uint64_t flag;
		const char *reason;
	} reasons[] = {
		{ TRACE_SAMPLE_NO_PYTHON, LINES_NO_PYTHON },
		{ TRACE_SAMPLE_NO_THREAD, "thread unknown to Python" },
		{ TRACE_SAMPLE_NO_FRAME, "thread outside Python code" },
		{ TRACE_SAMPLE_UNREAD, "stack unreadable" },
		{ TRACE_SAMPLE_MANY_THREADS, "too many threads" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (event_value(event, SAMPLE_FLAGS) & reasons[i].flag)
			return reasons[i].reason;
	return job->stacks.overflow && event_value(event, SAMPLE_STACK) ? "too many stacks"
									: "stack lost";
}

void line_interval(const struct job *job, const struct event *event, const struct line_sums *sums,
		   uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = event->start;
	*end_ns = sums->estimated_samples ? event->start : event->end;
	if (sums->estimated_samples || !job->cut)
		return;
	*start_ns = number_max(*start_ns, job->start_ns);
	*end_ns = number_min(*end_ns, job->end_ns);
	*end_ns = *end_ns > *start_ns ? *end_ns : *start_ns;
}

struct line_sums line_sums_of(const struct job *job, const struct event *event, unsigned int state)
{
	const double each = event_sample_operations(event);
	bool exact;
	const uint64_t time_ns = event_sample_time(job, event, state, &exact);

	return (struct line_sums) {
		.time_ns = time_ns,
		.samples = 1,
		.estimated_ns = exact ? 0 : time_ns,
		.estimated_samples = !exact,
		.count = state == THREAD_CPU ? 0 : each,
		.fetched_bytes = event_value(event, SAMPLE_FETCHED) * each,
	};
}

void line_sums_add(struct line_sums *sums, const struct line_sums *more)
{
	sums->time_ns = number_add(sums->time_ns, more->time_ns);
	sums->estimated_ns = number_add(sums->estimated_ns, more->estimated_ns);
	sums->samples += more->samples;
	sums->estimated_samples += more->estimated_samples;
	sums->count += more->count;
	sums->fetched_bytes += more->fetched_bytes;
}

/* Each sample is an operation chosen with a probability in proportion to its time
 * (Horvitz-Thompson, Poisson). */
double line_sums_error(const struct line_sums *sums)
{
	return sums->estimated_samples ? sums->estimated_ns / sqrt(sums->estimated_samples) : 0;
}
