/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads a trace block by block, in any order, trusting nothing in it: a hostile file gets an
 * error, never a crash and never more memory than a block's limit and the file's own index and
 * strings (but arguments of spans) need. Knows nothing of BPF.
 *
 * A reader may be used from one thread at a time, but for trace_reader_view.
 */
#ifndef FAULTLINE_TRACE_READER_H
#define FAULTLINE_TRACE_READER_H

#include "column.h"
#include "header.h"

struct trace_reader;

/* One clear line for a person, without the file's name and without a newline. */
struct trace_error {
	char text[256];
};

struct trace_block_info {
	enum trace_kind kind;
	uint32_t rows;
	uint64_t offset;     /* of its frame in the file */
	uint64_t start, end; /* earliest start and latest end of its rows, ns */
	/* Keys (trace_key) of all pids and files in it; 0: the index does not tell, or there are
	 * none. */
	uint64_t pids, files;
};

struct trace_string {
	const char *bytes; /* NUL-terminated for convenience; may hold NULs and bytes that are not
			      UTF-8 */
	uint32_t length;
};

/*
 * Opens a trace; "-" is the standard input. Without its end (the tracer was killed, the disk was
 * full) it is read frame by frame up to the last whole one and trace_reader_incomplete says why; a
 * file of whose header neither can be read, nor the copy, is an error. Errors: -errno of open;
 * -EINVAL not a trace, empty, cut inside the header, or damaged; -ENOTSUP a newer version; -ENOMEM.
 * `error` says more, in words.
 */
int trace_reader_open(struct trace_reader **reader, const char *path, struct trace_error *error);
/* The same for bytes in memory, which stay the caller's and must outlive the reader. */
int trace_reader_open_memory(struct trace_reader **reader, const void *bytes, size_t length,
			     struct trace_error *error);
void trace_reader_close(struct trace_reader *reader);

const struct trace_header *trace_reader_header(const struct trace_reader *reader);
/* NULL when the trace is incomplete. Operation totals are as many as the header's operations. */
const struct trace_totals *trace_reader_totals(const struct trace_reader *reader);
/* NULL when complete, else why not, in words. */
const char *trace_reader_incomplete(const struct trace_reader *reader);
/* Up to when an incomplete trace was written, whether anything happened or not; 0 if it does not
 * say. */
uint64_t trace_reader_flushed_ns(const struct trace_reader *reader);

/*
 * Notes that a block could not be read (trace_reader_read and trace_reader_view said -EINVAL, and
 * `error` why) and is passed over: a damaged block is lost, not the trace. Returns how many rows
 * are lost by that, 0 for one that was noted before.
 */
uint32_t trace_reader_pass_over(struct trace_reader *reader, size_t number,
				const struct trace_error *error);
/* Rows of that kind in blocks that were passed over. */
uint64_t trace_reader_damaged_rows(const struct trace_reader *reader, enum trace_kind kind);
/* What was damaged so far, in words, or NULL. A trace that has its end may still be damaged. */
const char *trace_reader_damage(struct trace_reader *reader);

/* The header could not be read, but its copy: nothing is missing by that. */
bool trace_reader_header_is_copy(const struct trace_reader *reader);

/* Blocks of known kinds, in file order. */
size_t trace_reader_block_count(const struct trace_reader *reader);
const struct trace_block_info *trace_reader_block_info(const struct trace_reader *reader,
						       size_t number);

/*
 * Reads one block. `columns` is a mask of the columns wanted (1 << SYSCALL_DUR ...). Then
 * trace_reader_column gives each as an array of info->rows values, times absolute and summed up,
 * valid until the next trace_reader_read; a column that the file lacks reads as zeros.
 * Values of `op` columns are checked against the header's operations, string ids are not
 * (trace_reader_string answers for any id). A block is refused for damage to any of its columns,
 * so that all passes over a trace see the same rows.
 */
int trace_reader_read(struct trace_reader *reader, size_t number, uint64_t columns,
		      struct trace_error *error);
const uint64_t *trace_reader_column(const struct trace_reader *reader, unsigned int column);
/* Gives back the memory that reading blocks took; it comes again when it is needed. */
void trace_reader_release(struct trace_reader *reader);

/* A block whose columns are as narrow as the file has them; those that it lacks have width 0. */
struct trace_view {
	uint32_t rows;
	uint64_t t0; /* what differences of times start at */
	struct column_view columns[TRACE_COLUMNS_MOST];
};

/* What blocks are viewed in: one for each thread, for any number of readers. */
struct trace_buffers;
int trace_buffers_new(struct trace_buffers **buffers);	/* 0 or -ENOMEM */
void trace_buffers_free(struct trace_buffers *buffers); /* NULL is fine */

/* The same as trace_reader_read without widening anything, at any time and from any thread. The
 * view is valid until the buffers are used again. */
int trace_reader_view(const struct trace_reader *reader, struct trace_buffers *buffers,
		      size_t number, uint64_t columns, struct trace_view *view,
		      struct trace_error *error);
/* The times of a block that was viewed with them. */
void trace_view_times(const struct trace_view *view, uint64_t *times);

/*
 * The string of an id. Unknown ids and 0 give the empty string.
 *
 * Arguments of spans (trace_writer_args) are read from the file when they are asked for, and a few
 * blocks of them are kept; all other strings are loaded when the trace is opened. So the bytes of
 * a string are valid during the next TRACE_STRING_CALLS calls on this reader, and no longer: to
 * keep more, copy. Do not go by the column: in a forged trace any id may be one of arguments.
 */
#define TRACE_STRING_CALLS 7
struct trace_string trace_reader_string(const struct trace_reader *reader, uint64_t id);
/* Arguments that could not be read read as the empty string; then this says why, for the first of
 * them: "is damaged at byte ...". NULL if there are none. */
const char *trace_reader_string_error(const struct trace_reader *reader);

#endif
