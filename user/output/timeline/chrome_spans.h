/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decides what nests on a thread. Spans are written when they end, when their duration and nesting
 * are known; only open spans are in memory. Private to the Trace Event Format export.
 */
#ifndef FAULTLINE_CHROME_SPANS_H
#define FAULTLINE_CHROME_SPANS_H

#include "analysis/events/event.h"
#include "output/timeline/chrome_threads.h"

/* Drawing state of one of the job's open spans. */
struct chrome_span {
	uint64_t name, category, args; /* string ids of the trace */
	uint64_t flags;
	uint64_t limit_ns; /* end of the slice it began in; 0 for none */
	uint32_t trace;
	uint32_t thread;
	uint32_t below, above; /* on its thread's stack or list, or CHROME_NONE */
	uint32_t ended_by;     /* thread */
	bool wanted;
	bool aside; /* on the list of spans that do not nest */
	/* Slices that begin with the span and must follow it in the file. */
	struct sink waiting;
};

struct chrome_spans {
	struct chrome_threads *threads;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	uint64_t asyncs;	   /* async ids used so far */
	struct chrome_span *spans; /* by slot of the job's open spans */
	size_t room;
};

void chrome_spans_init(struct chrome_spans *spans, struct chrome_threads *threads,
		       const struct chrome_window *window, uint64_t min_duration_ns);
void chrome_spans_free(struct chrome_spans *spans);

/* Walk callbacks (walk.h): return 0 or -ENOMEM. Unwanted spans are not drawn. */
int chrome_spans_begin(struct chrome_spans *spans, uint32_t slot, const struct event *event,
		       bool wanted);
int chrome_spans_end(struct chrome_spans *spans, uint32_t slot, const struct event *event);
int chrome_spans_refuse(struct chrome_spans *spans, const struct event *event);

/* Decides how to draw a slice that is not a span, and returns the sink for it. The slice must have
 * been cut. */
struct sink *chrome_spans_place(struct chrome_spans *spans, uint32_t thread,
				struct chrome_slice *slice);
/* The same for an operation that runs asynchronously to its thread. */
struct sink *chrome_spans_place_aside(struct chrome_spans *spans, struct chrome_slice *slice);

#endif
