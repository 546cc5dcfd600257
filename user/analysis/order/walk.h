/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One pass over the events of a job and the spans open between them: everything computed from
 * traces is a consumer.
 */
#pragma once

#include "analysis/events/series.h"
#include "analysis/order/cursor.h"
#include "analysis/order/filter.h"

/* Events of a class, in walk_calls.matters. */
#define WALK_CLASS(class) (1ull << (32 + (class)))

/*
 * Callbacks of a consumer. Any may be NULL. All return 0, or a value that ends the walk: a negative
 * errno, or a positive number of the consumer's own.
 */
struct walk_calls {
	/*
	 * Parallel-safe: the consumer uses only the events, and of the job only what does not
	 * change during the walk: neither spans nor activities. It has no span callbacks, and may
	 * be called on another thread, with more events at once and with EVENT_SPAN_CHANGE, too.
	 */
	bool parallel;
	/* Events in the order of their starts. The job's process table may have grown since the
	 * last call. */
	int (*events)(void *state, const struct event *events, size_t count);
	/* Like `events`, for a series, if that is faster; NULL: `events` is called. */
	int (*series)(void *state, const struct event_series *series);
	bool sums; /* `events` accepts EVENT_SUMMED, too */
	/* EVENT_* and WALK_CLASS: events with none of these do not matter to the consumer, and it
	 * is not called for batches of only such events. 0: any event may matter. */
	uint64_t matters;
	/*
	 * A span, by its slot in the job's spans, after it began and before it is closed: `event`
	 * began it, ended it, or ended its program (the span is then `unfinished`); NULL at the end
	 * of the walk or of the trace. A call of `events` never mixes events from before and after:
	 * the same spans are open for all of them.
	 */
	int (*span_begun)(void *state, uint32_t slot, const struct event *event);
	int (*span_ended)(void *state, uint32_t slot, const struct event *event);
	/* A span began for which there was no room: it has no slot. */
	int (*span_refused)(void *state, const struct event *event);
};

struct walk_consumer {
	const struct walk_calls *calls;
	void *state;
};

struct walk {
	struct cursor_options cursor;
	bool turns;			       /* consumers receive EVENT_SPAN_CHANGE events, too */
	const struct walk_consumer *consumers; /* called in this order */
	size_t consumer_count;
	struct filter_state *filter; /* NULL: consumers receive all events */
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/* Returns 0, a consumer's result, -ENOMEM or the reader's error; then `error` names the trace and
 * the cause. */
int walk_run(struct job *job, const struct walk *walk, struct trace_error *error);
