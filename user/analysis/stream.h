/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The events of a job in the exact order of their starts, whatever block, lane or trace they are
 * in. That order is what lets unions of intervals and access patterns be told in passing.
 *
 * Blocks are opened in the order of their earliest starts and merged; no event is given out before
 * every block that could hold an earlier one is open. In memory at a time are the blocks that
 * overlap the present moment: about one of each kind for each lane of the writer, because rows that
 * last long stand in blocks of their own.
 */
#ifndef FAULTLINE_STREAM_H
#define FAULTLINE_STREAM_H

#include "analysis/event.h"

#define STREAM_BATCH 256

struct stream;

/* `rows` is called once for each block, with its rows as they are, before their events come out. */
struct stream_observer {
	int (*rows)(void *context, const struct rows *rows);
	void *context;
};

int stream_open(struct stream **stream, struct job *job, const struct stream_observer *observer);
void stream_close(struct stream *stream);

/* Gives up to STREAM_BATCH events, valid until the next call; *count is 0 at the end. Returns 0,
 * -ENOMEM, the observer's error, or the reader's, and then `error` says which trace and what. */
int stream_next(struct stream *stream, const struct event **events, size_t *count,
		struct trace_error *error);

/* Share of the rows read so far, 0 to 1. */
double stream_progress(const struct stream *stream);
/* True when so many blocks overlapped that some had to wait: order, and with it times, may be a
 * little off. No tracer writes such a trace. */
bool stream_disordered(const struct stream *stream);

#endif
