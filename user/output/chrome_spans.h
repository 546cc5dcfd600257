/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What nests on a thread and what does not. Spans are written when they end, when it is known how
 * long they took and whether they nest; only those that are open are in memory. Knows nothing of
 * calls and faults but when they begin and end. Private to the export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_SPANS_H
#define FAULTLINE_CHROME_SPANS_H

#include "analysis/model/event.h"
#include "output/chrome_threads.h"

/* What is to be drawn of one of the job's open spans. */
struct chrome_span {
	uint64_t name, category, args; /* string ids of the trace */
	uint64_t flags;
	uint64_t limit_ns; /* end of the slice that it began in; 0 for none */
	uint32_t trace;
	uint32_t thread;
	uint32_t below, above; /* on its thread's stack or list, or CHROME_NONE */
	uint32_t ended_by;     /* thread */
	bool wanted;
	bool aside; /* it is on the list: not drawn on the thread */
	/* Slices that begin when it does; they are to come behind it in the file. */
	struct sink waiting;
};

struct chrome_spans {
	struct chrome_threads *threads;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	uint64_t asyncs;	   /* how many were given numbers */
	struct chrome_span *spans; /* by their places among the job's open spans */
	size_t room;
};

void chrome_spans_init(struct chrome_spans *spans, struct chrome_threads *threads,
		       const struct chrome_window *window, uint64_t min_duration_ns);
void chrome_spans_free(struct chrome_spans *spans);

/* The calls of walk.h: functions return 0 or -ENOMEM. Spans that are not wanted are not drawn. */
int chrome_spans_begin(struct chrome_spans *spans, uint32_t slot, const struct event *event,
		       bool wanted);
int chrome_spans_end(struct chrome_spans *spans, uint32_t slot, const struct event *event);
int chrome_spans_refuse(struct chrome_spans *spans, const struct event *event);

/* A slice other than a span: finds out how it is to be drawn and where it is to be written. Slices
 * must have been cut. */
struct sink *chrome_spans_place(struct chrome_spans *spans, uint32_t thread,
				struct chrome_slice *slice);
/* ... of what goes on while its thread does other things. */
struct sink *chrome_spans_place_aside(struct chrome_spans *spans, struct chrome_slice *slice);

#endif
