/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The events of a job in the exact order of their starts, across all blocks, CPU buffers and
 * traces, each with the row that it comes from. Among events that start together, span begins come
 * first, then samples, span ends after operations, program ends and file names last; then the order
 * of the traces and of their blocks decides. This order allows interval unions and access patterns
 * to be computed in one pass. Everything that reads events uses this cursor.
 *
 * Blocks are opened in the order of their earliest starts and merged; no event is returned before
 * every block that could hold an earlier one is open. Memory holds the blocks that overlap the
 * current time (about one of each kind per writer buffer, because long-lasting rows go to separate
 * blocks), as narrow as in their files. If more blocks overlap than the memory limit allows
 * (hostile traces, or very many hosts), the later rows are dropped and read again when they are
 * due.
 */
#pragma once

#include "analysis/events/event.h"

#define CURSOR_BATCH 256
#define CURSOR_BATCH_MAX 8192
#define CURSOR_BYTES_MAX (512u << 20)

/* Kinds that change which spans are open. */
#define CURSOR_SPAN_KINDS                                                                          \
	(1u << TRACE_SPAN_BEGIN | 1u << TRACE_SPAN_END | 1u << TRACE_EXEC | 1u << TRACE_EXIT)

struct cursor;

/* Processes and files whose rows are wanted from a trace: keys (trace_key); all bits for any. */
struct cursor_keys {
	uint64_t pids, files;
};

struct cursor_options {
	uint64_t kinds;	 /* mask of 1 << enum trace_kind; 0 for all */
	bool whole_rows; /* all columns, not only those that events need */
	/*
	 * Blocks without a row that overlaps this time range (inclusive) are skipped; blocks of
	 * CURSOR_SPAN_KINDS only if they are later. Other blocks may yield rows from before the
	 * range, but none from after it.
	 */
	uint64_t from_ns, until_ns; /* on the job's clock; 0 for the end */
	/*
	 * One per trace; NULL: all rows are wanted. Blocks without a matching row are skipped,
	 * except those of CURSOR_SPAN_KINDS. Other rows may be returned as well.
	 */
	const struct cursor_keys *keys;
	uint64_t columns[TRACE_KIND_COUNT]; /* wanted in addition to those that events need */
	size_t bytes_max;		    /* memory, plus a few blocks; 0: CURSOR_BYTES_MAX */
	/* CPUs to use: 1 for only the caller's, 0 for as many as exist and help. */
	unsigned int threads;
	size_t max; /* events per call, up to CURSOR_BATCH_MAX; 0 for CURSOR_BATCH */
};

/*
 * Returns 0 or -ENOMEM. The job must outlive the cursor. While the cursor is open, the job's counts
 * of rows read from its traces and rows lost in damaged blocks may change at any time; the rest of
 * the job changes only inside cursor_next.
 */
int cursor_open(struct cursor **cursor, struct job *job, const struct cursor_options *options);
void cursor_close(struct cursor *cursor); /* NULL is fine */

/* Sets *events to up to `max` events, valid with their rows until the next call; *count is 0 at
 * the end. Returns 0, -ENOMEM, or the reader's error; then `error` names the trace and the
 * cause. */
int cursor_next(struct cursor *cursor, const struct event **events, size_t *count,
		struct trace_error *error);

/* True if the cursor uses its own threads: there are CPUs for them and enough work. */
bool cursor_is_threaded(const struct cursor *cursor);
/* True if the consumer is the bottleneck: helper threads may then process events on the CPUs that
 * the cursor's threads leave idle. */
bool cursor_is_ahead(const struct cursor *cursor);

/* Share of the rows read so far, 0 to 1. */
double cursor_progress(const struct cursor *cursor);
