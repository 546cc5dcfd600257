/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a trace: rows go into blocks of columns; a thread packs, compresses and writes full
 * blocks, one zstd frame each.
 *
 * All functions of a writer must be called from one thread, the producer. Functions return 0 or a
 * negative errno. While the disk is full (-ENOSPC, -EDQUOT, -EFBIG), rows that find no room are
 * discarded and counted, names wait for room, and writing resumes when there is some again; room
 * for the totals is reserved from the start. After any other write error the writer discards and
 * counts what it is given, and returns -errno from each call; the file stays readable up to that
 * point.
 */
#pragma once

#include <stdbool.h>

#include "trace/format/header.h"

struct trace_block_info;
struct trace_writer;

struct trace_writer_options {
	int level;	    /* zstd level; 0 for the default */
	unsigned int lanes; /* CPU buffers, whose rows are kept apart so that times in a block stay
			     * close together; 0 means 1; any above 64 are folded */
	bool in_memory;	    /* fd is memory: no room is reserved in it */
	void (*thread_begins)(void *context); /* called first in the thread that writes, for example
					       * to drop privileges; NULL for nothing */
	/* Receives the ids in each column of files of a block, in the thread that writes, before
	 * trace_writer_flush returns; NULL for nothing. */
	void (*files)(void *context, const uint64_t *files, size_t count);
	void *context;
};

/*
 * Starts a trace on fd, an empty regular file open for writing, which the caller closes after
 * trace_writer_close. The header is on disk when this returns.
 */
int trace_writer_open(struct trace_writer **writer, int fd, const struct trace_header *header,
		      const struct trace_writer_options *options);

/*
 * Appends one row: `values` holds the columns of trace_schemas[kind] in order. Waits when the disk
 * is slower than the producer, with at most 32 MiB of blocks in memory. Rows longer than 10 ms have
 * a separate block, so that other blocks stay close in time; those above 65 us have a second block
 * per CPU buffer, so that other blocks stay narrow.
 */
int trace_writer_append(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			const uint64_t *values);

/* Where the values of a column are in the records that rows are made of. */
struct trace_field {
	uint16_t offset;
	uint8_t bytes; /* of an unsigned number: 2, 4 or 8; 0: the column is 0 */
	uint8_t shift; /* left shift */
};

/*
 * Appends many rows at once, column by column, for a quarter of the cost of one by one: `count`
 * records, `stride` bytes apart, with a field for each column. Returns how many were appended:
 * fewer, or none, if the next one does not belong in the open block (its duration is long, a gap
 * precedes it, no block is open). Append that one with trace_writer_append.
 */
size_t trace_writer_append_run(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			       const void *records, size_t stride, size_t count,
			       const struct trace_field *fields);

/*
 * Appends a block of another trace as it is: `frame` is its frame, and `info` what that trace's
 * index says about it. Its kind must have no strings, whose ids would not be of this trace.
 */
int trace_writer_copy(struct trace_writer *writer, const struct trace_block_info *info,
		      const void *frame, size_t bytes);

/*
 * Returns the id of a string, which is written before the first row that uses the id. Never 0 for a
 * non-empty string except on error; 0 for the empty one. The table of known strings is bounded:
 * when it is full it is emptied, and a string may get a new id. Ids are never reused.
 */
uint32_t trace_writer_string(struct trace_writer *writer, const void *bytes, size_t length);

/*
 * The same for arguments of a span or an instant, which are mostly distinct: only the most recent
 * few are remembered, and a reader does not hold them in memory. The ids are from the same
 * sequence.
 */
uint32_t trace_writer_args(struct trace_writer *writer, const void *bytes, size_t length);

/* Returns the header's redaction, which the caller of trace_writer_open owns; NULL if none. */
const struct redaction *trace_writer_redaction(const struct trace_writer *writer);

/* Writes out blocks whose oldest row was appended a second or more before `now_ns` (on the rows'
 * clock), and about every second records how far the trace has come. Must be called often. */
int trace_writer_tick(struct trace_writer *writer, uint64_t now_ns);
/* True if an error means that the disk is full: later writes may find room. */
bool trace_writer_is_full(int error);

/* Rows of this kind written so far, or given to the thread that writes; rows discarded. */
uint64_t trace_writer_rows(const struct trace_writer *writer, enum trace_kind kind);
uint64_t trace_writer_discarded(const struct trace_writer *writer, enum trace_kind kind);
/* Bytes of the file so far; the latest end of its rows except pauses, 0 for none. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);
uint64_t trace_writer_end_ns(const struct trace_writer *writer);

/* Writes out every block and waits for the disk; afterwards the two counts above are final. An
 * error for which trace_writer_is_full is true only means that some of it found no room. */
int trace_writer_flush(struct trace_writer *writer);
/* Flushes, then ends the trace with its totals and its index; without this it reads as
 * incomplete. */
int trace_writer_finish(struct trace_writer *writer, const struct trace_totals *totals);
/* Ends the thread and frees the writer; NULL is fine. */
void trace_writer_close(struct trace_writer *writer);
