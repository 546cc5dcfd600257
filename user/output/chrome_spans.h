/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What nests on a thread and what does not. Spans are written when they end, when it is known how
 * long they took and whether they nest; only those that are open are in memory. Knows nothing of
 * calls and faults but when they begin and end. Private to the export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_SPANS_H
#define FAULTLINE_CHROME_SPANS_H

#include "output/chrome_threads.h"

#define SPANS_OPEN_MOST (1u << 18) /* that are remembered at a time */

/* A row of the kind TRACE_SPAN_BEGIN. */
struct chrome_span_begin {
	uint64_t time_ns; /* on the job's clock, as all times here */
	uint64_t id;
	uint64_t name, category, args; /* string ids of the trace */
	uint64_t flags;
	uint32_t trace;
	uint32_t thread;
};

struct open_span {
	struct chrome_span_begin begin;
	uint64_t limit_ns;     /* end of the slice that it began in; 0 for none */
	uint32_t below, above; /* on its thread's stack or list, or CHROME_NONE */
	uint32_t ended_by;     /* thread */
	bool aside;	       /* it is on the list: not drawn on the thread */
	/* Slices that begin when it does; they are to come behind it in the file. */
	struct sink waiting;
};

struct chrome_spans {
	struct chrome_threads *threads;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	uint64_t asyncs; /* how many were given numbers */
	struct open_span *spans;
	size_t count, room;
	uint32_t free; /* the first free one, linked by `below`, or CHROME_NONE */
	size_t open;
	struct map ids; /* process, id -> number + 1; 0 when it has ended */
};

void chrome_spans_init(struct chrome_spans *spans, struct chrome_threads *threads,
		       const struct chrome_window *window, uint64_t min_duration_ns);
void chrome_spans_free(struct chrome_spans *spans);

/* Functions return 0 or -ENOMEM. Times come in order. */

int chrome_spans_begin(struct chrome_spans *spans, const struct chrome_span_begin *begin);
/* `thread` is the one that ended it. Does nothing when no such span is open. */
int chrome_spans_end(struct chrome_spans *spans, uint32_t thread, uint64_t id, uint64_t time_ns);
/* The process came to its end: so do its spans, unfinished. */
void chrome_spans_end_process(struct chrome_spans *spans, uint32_t process, uint64_t time_ns);
/* Ends all that are open, where the trace ends (unfinished) or the window does (cut). */
void chrome_spans_end_all(struct chrome_spans *spans, uint64_t time_ns, bool window_ends);

/* A slice other than a span: finds out how it is to be drawn and where it is to be written. Slices
 * must have been cut. */
struct sink *chrome_spans_place(struct chrome_spans *spans, uint32_t thread,
				struct chrome_slice *slice);

#endif
