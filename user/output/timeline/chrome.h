/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces as a timeline in the Trace Event Format (JSON), for ui.perfetto.dev and
 * chrome://tracing: "Trace Event Format", Google, 2016, docs.google.com/document/d/
 * 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 *   M     processes by rank, with command lines; thread names
 *   X     calls and faults; spans that nest within their thread; block requests, in one
 *         process per device
 *   b, e  spans (and calls of damaged traces) that do not nest: ended by another thread, or while
 *         a later span is still open. Viewers would drop or misplace them as X.
 *   s, f  arrows from calls and faults to the requests that they made
 *   i     marked instants, forks, execs and exits, unattributed page-cache fill
 *   C     bytes read, written and brought into the cache per second, by process
 *
 * Times are in us, to the ns, since the start of the earliest trace; "otherData" has the wall-clock
 * time of that start. Processes are identified by pid; if several had the same pid, on one host or
 * on several, a multiple of CHROME_PID_STEP is added to the pids and tids of the later ones.
 */
#ifndef FAULTLINE_CHROME_H
#define FAULTLINE_CHROME_H

#include "output/base/export.h"

#define CHROME_PID_STEP 10000000

/*
 * Writes traces as one timeline. Events that overlap the window's edges are cut and marked; calls,
 * faults and spans that are too short are left out. Byte rates ignore the minimum duration but obey
 * the other filters. Memory grows with processes, threads (up to CHROME_THREADS_MOST; further
 * threads of a process share one), files, strings and open spans, not with events.
 */
export_stream chrome_write;

/* Writes a description of the format, for people. */
void chrome_describe(struct sink *out);

#endif
