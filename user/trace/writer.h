/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a trace: rows go into blocks of columns, full blocks go to a thread that packs,
 * compresses and writes them, one zstd frame each. Knows nothing of BPF.
 *
 * One producer: all functions of a writer are called from one thread. Functions return 0 or a
 * negative errno. While the disk is full (-ENOSPC, -EDQUOT, -EFBIG) rows that find no room are
 * discarded and counted, names wait for room, and writing goes on when there is some again; for the
 * totals there is room from the start. After another failure to write the writer discards what it
 * is given, counts it, and says -errno at each call; the file stays readable up to there.
 */
#ifndef FAULTLINE_TRACE_WRITER_H
#define FAULTLINE_TRACE_WRITER_H

#include <stdbool.h>

#include "header.h"

struct trace_writer;

/* Longer strings are cut. */
#define TRACE_STRING_BYTES_MAX (1u << 20)

struct trace_writer_options {
	int level;	    /* zstd level; 0 means the default */
	unsigned int lanes; /* rows are kept apart by lane (a CPU, say) so that times in a block
			     * stay close together; 0 means 1; lanes above 64 are folded */
	void (*thread_begins)(void *context); /* the first that the thread that writes does: to
					       * give up rights, say; NULL for nothing */
	void *context;
};

/*
 * Starts a trace on fd, an empty regular file open for writing, which stays the caller's to close
 * after trace_writer_close. The header is on disk when this returns.
 */
int trace_writer_open(struct trace_writer **writer, int fd, const struct trace_header *header,
		      const struct trace_writer_options *options);

/*
 * Appends one row: `values` holds the columns of trace_schemas[kind] in order. Waits when the
 * disk is slower than the producer, with at most 32 MiB of blocks in memory. A row whose duration
 * is longer than 10 ms goes into a lane of its own, so that other blocks stay tight in time; one
 * above 65 us into a second lane beside its own, so that other blocks stay narrow.
 */
int trace_writer_append(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			const uint64_t *values);

/* Where the values of a column stand in the records that rows are made of. */
struct trace_field {
	uint16_t offset;
	uint8_t bytes; /* of an unsigned number: 2, 4 or 8; 0: the column is 0 */
	uint8_t shift; /* to the left */
};

/*
 * Appends many rows at once, column by column, for a quarter of what that costs one by one: `count`
 * records, `stride` bytes apart, with a field for each column. Returns how many were appended:
 * fewer, or none, where the next one does not belong into the block that is open (its duration is
 * long, a gap is before it, none is open). That one is to be appended by trace_writer_append.
 */
size_t trace_writer_append_run(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			       const void *records, size_t stride, size_t count,
			       const struct trace_field *fields);

/*
 * The id of a string, which is written before the first row that uses the id. Never 0 for a
 * non-empty string; 0 for the empty one and on error. The table of known strings is bounded: when
 * it is full it is emptied, and a string may come again under a new id. Ids are never reused.
 */
uint32_t trace_writer_string(struct trace_writer *writer, const void *bytes, size_t length);

/*
 * The same for arguments of a span or an instant, which are mostly distinct: only the few that came
 * last are known, and a reader does not hold them in memory. Ids are of the same numbers.
 */
uint32_t trace_writer_args(struct trace_writer *writer, const void *bytes, size_t length);

/* Writes out blocks whose oldest row was appended a second or more before `now_ns` (of the clock of
 * the rows), and about every second that it has come so far. To be called often. */
int trace_writer_tick(struct trace_writer *writer, uint64_t now_ns);
/* Whether an error means that the disk is full: more may find room later. */
bool trace_writer_is_full(int error);

/* Rows of this kind written so far, or given to the thread that writes; rows discarded. */
uint64_t trace_writer_rows(const struct trace_writer *writer, enum trace_kind kind);
uint64_t trace_writer_discarded(const struct trace_writer *writer, enum trace_kind kind);
/* Bytes of the file so far. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

/* Writes out every block and waits for the disk; afterwards the two counts above are final. An
 * error that trace_writer_is_full says only that some of it found no room. */
int trace_writer_flush(struct trace_writer *writer);
/* Flushes, then ends the trace with its totals and its index; without this it reads as incomplete.
 */
int trace_writer_finish(struct trace_writer *writer, const struct trace_totals *totals);
/* Ends the thread and frees the writer; NULL is fine. */
void trace_writer_close(struct trace_writer *writer);

#endif
