/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One pass through the events of a job, with the spans that are open between them: whatever is made
 * of traces is a consumer of it. Knows nothing of what consumers make of it.
 */
#ifndef FAULTLINE_WALK_H
#define FAULTLINE_WALK_H

#include "analysis/model/series.h"
#include "analysis/model/cursor.h"
#include "analysis/model/filter.h"

/* Events of a class, in walk_calls.matters. */
#define WALK_CLASS(class) (1ull << (32 + (class)))

/*
 * What a consumer is told. Any may be NULL. All return 0, or a value that ends the walk: a negative
 * errno, or a positive number of its own.
 */
struct walk_calls {
	/*
	 * What it makes of events takes nothing but them, and of the job what does not change while
	 * they are told: neither spans nor activities. It has no calls for spans, and may be told
	 * on another thread, of more at once and of EVENT_TURN, too.
	 */
	bool apart;
	/* Events in the order of their starts. The job's table of processes may have grown since
	 * the last call. */
	int (*events)(void *state, const struct event *events, size_t count);
	/* As `events`, of some that are alike, where that is quicker; NULL: `events` is told. */
	int (*series)(void *state, const struct event_series *series);
	bool sums; /* it is told of EVENT_SUMMED among them, too */
	/* EVENT_* and WALK_CLASS: an event that has none of these means nothing to it, and it is
	 * not told of some where there are no others among them. 0: any may mean something. */
	uint64_t matters;
	/*
	 * A span of the job's spans, by its place there, after it began and before it is closed:
	 * `event` began it, ended it, or ended its program (the span is then `unfinished`), and is
	 * NULL where the walk ends, or its trace. `events` never gets events of before and after in
	 * one call: which spans are open is the same for all of them.
	 */
	int (*span_begun)(void *state, uint32_t slot, const struct event *event);
	int (*span_ended)(void *state, uint32_t slot, const struct event *event);
	/* A span began that there is no room for: it has no place. */
	int (*span_refused)(void *state, const struct event *event);
};

struct walk_consumer {
	const struct walk_calls *calls;
	void *state;
};

struct walk {
	struct cursor_options cursor;
	bool turns; /* consumers are given EVENT_TURN among the events, too */
	const struct walk_consumer *consumers; /* told in this order */
	size_t consumer_count;
	struct filter_state *filter; /* NULL: consumers are told of all events */
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/* Returns 0, what a consumer returned, -ENOMEM or the reader's error; then `error` says which trace
 * and what. */
int walk_run(struct job *job, const struct walk *walk, struct trace_error *error);

#endif
