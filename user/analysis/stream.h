/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The events of a job in the exact order of their starts, whatever block, lane or trace they are
 * in. Of those that start together, begins of spans come first, ends last. That order is what lets
 * unions of intervals and access patterns be told in passing.
 *
 * Blocks are opened in the order of their earliest starts and merged; no event is given out before
 * every block that could hold an earlier one is open. In memory at a time are the blocks that
 * overlap the present moment: about one of each kind for each lane of the writer, because rows that
 * last long stand in blocks of their own. Should more overlap than memory is meant for (hostile
 * traces, or hundreds of hosts), the later events are dropped and read again when their time comes.
 */
#ifndef FAULTLINE_STREAM_H
#define FAULTLINE_STREAM_H

#include "analysis/event.h"

#define STREAM_BATCH 256
/* Events in memory at most, 512 MiB; a block more than that for a moment. */
#define STREAM_EVENTS_MOST (8u << 20)

struct stream;

struct stream_options {
	/* Called once for each block, with its rows as they are, before its events come out. */
	int (*rows)(void *context, const struct rows *rows);
	void *context;
	size_t events_most; /* 0 for STREAM_EVENTS_MOST */
};

/* Returns 0 or -ENOMEM. The job must outlive the stream. */
int stream_open(struct stream **stream, struct job *job, const struct stream_options *options);
void stream_close(struct stream *stream); /* NULL is fine */

/* Gives up to STREAM_BATCH events, valid until the next call; *count is 0 at the end. Returns 0,
 * -ENOMEM, what `rows` returned, or the reader's error, and then `error` says which trace and what.
 */
int stream_next(struct stream *stream, const struct event **events, size_t *count,
		struct trace_error *error);

/* Share of the rows read so far, 0 to 1. */
double stream_progress(const struct stream *stream);

#endif
