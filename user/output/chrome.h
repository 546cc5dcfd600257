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

#include "output/export.h"

#define CHROME_PID_STEP 10000000

/*
 * Writes traces as one timeline. What overlaps the time that is wanted is cut to it and marked so;
 * calls, faults and spans that are too short are left out. Bytes a second are those of what the
 * other wishes let pass. Memory grows with the number of processes, threads (up to
 * CHROME_THREADS_MOST: what further ones did stands on one of their process), files and strings,
 * and with that of the spans that are open at a time, not with that of events.
 */
export_stream chrome_write;

/* What there is in it, for people. */
void chrome_describe(struct sink *out);

#endif
