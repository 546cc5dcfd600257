/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as a timeline in the Trace Event Format (JSON), which ui.perfetto.dev and chrome://tracing
 * open: "Trace Event Format", Google, 2016, docs.google.com/document/d/
 * 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 *   M     processes by rank, with their command lines; names of threads
 *   X     calls and faults; spans that nest within their thread
 *   b, e  spans (and calls of damaged traces) that do not nest: ended by another thread, or
 *         after one that began later has not ended. As X a viewer would drop or misplace them.
 *         requests, below a process for each device
 *   s, f  arrows from calls and faults to the requests that they made
 *   i     marked moments, forks, execs and exits, pages that came into the cache on no
 *         operation's account
 *   C     bytes read, written and brought into the cache, a second, of each process
 *
 * Times are in us, with all digits of the ns, since the start of the earliest trace; what that is
 * on the wall clock is in "otherData". A process is known by its pid; should several have had the
 * same one, on one host or on several, the later ones are known by their pid and a multiple of
 * CHROME_PID_STEP. Their threads' ids are moved as far.
 */
#ifndef FAULTLINE_CHROME_H
#define FAULTLINE_CHROME_H

#include "analysis/filter.h"
#include "output/sink.h"

#define CHROME_PID_STEP 10000000
#define CHROME_ANY_PID UINT64_MAX

struct chrome_options {
	/* What overlaps this time, in ns since the start, is written, cut to it and marked so. */
	uint64_t from_ns, until_ns; /* UINT64_MAX: to the end */
	uint64_t min_duration_ns;   /* calls, faults and spans that took less are left out */
	uint64_t pid;		    /* only of this process, or CHROME_ANY_PID */
	/* Of it the rank, file, operation, door and span; NULL: any. Bytes a second are then those
	 * of what it lets pass. */
	const struct filter *filter;
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/*
 * Writes traces as one timeline. Memory grows with the number of processes, threads (up to
 * CHROME_THREADS_MOST: what further ones did stands on one of their process), files and strings,
 * and with that of the spans that are open at a time, not with that of events. Returns 0, the
 * sink's error, -ENOMEM, or -EINVAL for a damaged block, and then `error` says which and what.
 */
int chrome_write(struct sink *out, struct trace_reader *const *traces, const char *const *names,
		 size_t trace_count, const struct chrome_options *options,
		 struct trace_error *error);

/* What there is in it, for people. */
void chrome_describe(struct sink *out);

#endif
