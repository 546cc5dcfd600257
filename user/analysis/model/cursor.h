/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The events of a job in the exact order of their starts, whatever block, buffer of a CPU or trace
 * they are in, each with the row that it comes from. Of those that start together, begins of spans
 * come first, ends of spans after operations, ends of programs and names of files last; then the
 * order of the traces and of their blocks decides. That order is what lets unions of intervals and
 * access patterns be told in passing. Everything that looks at events looks through here.
 *
 * Blocks are opened in the order of their earliest starts and merged; no event is given out before
 * every block that could hold an earlier one is open. In memory at a time are the blocks that
 * overlap the present moment (about one of each kind for each buffer of the writer, because rows
 * that last long stand in blocks of their own), as narrow as in their files. Should more overlap
 * than memory is meant for (hostile traces, or very many hosts), the later rows are dropped and
 * read again when their time comes.
 */
#ifndef FAULTLINE_CURSOR_H
#define FAULTLINE_CURSOR_H

#include "analysis/model/event.h"

#define CURSOR_BATCH 256
#define CURSOR_BATCH_MOST 8192
#define CURSOR_BYTES_MOST (512u << 20)

/* Kinds that change which spans are open. */
#define CURSOR_SPAN_KINDS                                                                          \
	(1u << TRACE_SPAN_BEGIN | 1u << TRACE_SPAN_END | 1u << TRACE_EXEC | 1u << TRACE_EXIT)

struct cursor;

/* Of which processes and files rows of a trace are wanted: keys (trace_key); all bits for any. */
struct cursor_keys {
	uint64_t pids, files;
};

struct cursor_options {
	uint64_t kinds;	 /* mask of 1 << enum trace_kind; 0 for all */
	bool whole_rows; /* all columns, not only those that events are made of */
	/*
	 * Blocks without a row that overlaps this time, both ends of it included, are passed over;
	 * of kinds that tell which spans are open only those that are later. Of other blocks rows
	 * that are earlier may come, later ones may not.
	 */
	uint64_t from_ns, until_ns; /* on the job's clock; 0 for the end */
	/*
	 * Of each trace; NULL: all rows are wanted. Blocks that have no such row are passed over,
	 * but not those of kinds that tell which spans are open. Rows of others may come.
	 */
	const struct cursor_keys *keys;
	uint64_t columns[TRACE_KIND_COUNT]; /* wanted besides those that events are made of */
	size_t bytes_most; /* in memory, or some blocks more; 0 for CURSOR_BYTES_MOST */
	/* CPUs to use: 1 for the caller's alone, 0 for as many as there are and are of use. */
	unsigned int threads;
	size_t most; /* events at a time, up to CURSOR_BATCH_MOST; 0 for CURSOR_BATCH */
};

/*
 * Returns 0 or -ENOMEM. The job must outlive the cursor. Until the cursor is closed, what
 * was read of the job's traces and lost with blocks that are damaged may change at any time, and
 * nothing else of the job but between two calls of cursor_next.
 */
int cursor_open(struct cursor **cursor, struct job *job, const struct cursor_options *options);
void cursor_close(struct cursor *cursor); /* NULL is fine */

/* Gives up to `most` events, valid with their rows until the next call; *count is 0 at the
 * end. Returns 0, -ENOMEM, or the reader's error, and then `error` says which trace and what. */
int cursor_next(struct cursor *cursor, const struct event **events, size_t *count,
		struct trace_error *error);

/* Whether it works on threads of its own: there are CPUs for it, and enough to do. */
bool cursor_is_threaded(const struct cursor *cursor);
/* Whether who takes the events holds up its threads: others may help with what was given out, on
 * the CPU that these leave. */
bool cursor_is_ahead(const struct cursor *cursor);

/* Share of the rows read so far, 0 to 1. */
double cursor_progress(const struct cursor *cursor);

#endif
