/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads a trace block by block, in any order, trusting nothing in it: a hostile file causes an
 * error, never a crash, and memory is bounded by the block limit plus the size of the file's index
 * and strings (span arguments excepted).
 *
 * A reader may be used from one thread at a time, except for trace_reader_view.
 */
#pragma once

#include "trace/format/column.h"
#include "trace/format/header.h"

struct trace_reader;

/* One clear line for a person, without the file name and without a newline. */
struct trace_error {
	char text[256];
};

struct trace_block_info {
	enum trace_kind kind;
	uint32_t rows;
	uint64_t offset;     /* of its frame in the file */
	uint64_t start, end; /* earliest start and latest end of its rows, ns */
	/* Keys (trace_key) of all pids and files in it; 0: not in the index, or none. */
	uint64_t pids, files;
};

struct trace_string {
	const char *bytes; /* NUL-terminated; may hold NULs and invalid UTF-8 */
	uint32_t length;
};

/*
 * Opens a trace; "-" is standard input. Without its end (the tracer was killed, the disk was full),
 * the trace is read frame by frame up to the last whole one, and trace_reader_incomplete says why.
 * It is an error if neither the header nor its copy can be read. Errors: -errno of open; -EINVAL:
 * not a trace, empty, cut inside the header, or damaged; -ENOTSUP: a newer version; -ENOMEM.
 * `error` has the details.
 */
int trace_reader_open(struct trace_reader **reader, const char *path, struct trace_error *error);
/* The same for the caller's bytes in memory, which must outlive the reader. */
int trace_reader_open_memory(struct trace_reader **reader, const void *bytes, size_t length,
			     struct trace_error *error);
void trace_reader_close(struct trace_reader *reader);

const struct trace_header *trace_reader_header(const struct trace_reader *reader);
/* NULL if the trace is incomplete. There are as many operation totals as operations in the
 * header. */
const struct trace_totals *trace_reader_totals(const struct trace_reader *reader);
/* NULL if complete, else the reason in words. */
const char *trace_reader_incomplete(const struct trace_reader *reader);
/* Time up to which an incomplete trace was written, with or without events; 0 if unknown. */
uint64_t trace_reader_flushed_ns(const struct trace_reader *reader);

/*
 * Records that a block could not be read (trace_reader_read or trace_reader_view returned -EINVAL,
 * and `error` has the cause) and is skipped: a damaged block is lost, not the trace. Returns how
 * many rows are lost, 0 for a block recorded before.
 */
uint32_t trace_reader_pass_over(struct trace_reader *reader, size_t number,
				const struct trace_error *error);
/* Rows of that kind in skipped blocks. */
uint64_t trace_reader_damaged_rows(const struct trace_reader *reader, enum trace_kind kind);
/* Returns what was damaged so far, in words, or NULL. A trace with an end may still be damaged. */
const char *trace_reader_damage(struct trace_reader *reader);

/* True if the header could not be read and its copy was used: nothing is missing. */
bool trace_reader_header_is_copy(const struct trace_reader *reader);

/* Blocks of known kinds, in file order. */
size_t trace_reader_block_count(const struct trace_reader *reader);
const struct trace_block_info *trace_reader_block_info(const struct trace_reader *reader,
						       size_t number);

/*
 * Reads one block. `columns` is a mask of the wanted columns (1 << SYSCALL_DUR ...).
 * trace_reader_column then returns each as an array of info->rows values, times absolute, valid
 * until the next trace_reader_read; a column that the file lacks reads as zeros. Values of `op`
 * columns are checked against the header's operations, string ids are not (trace_reader_string
 * accepts any id). A block is rejected for damage to any of its columns, so that all passes over a
 * trace see the same rows.
 */
int trace_reader_read(struct trace_reader *reader, size_t number, uint64_t columns,
		      struct trace_error *error);
const uint64_t *trace_reader_column(const struct trace_reader *reader, unsigned int column);
/* Frees the memory for reading blocks; it is allocated again when needed. */
void trace_reader_release(struct trace_reader *reader);

/* A block with columns as narrow as in the file; missing ones have width 0. */
struct trace_view {
	uint32_t rows;
	uint64_t t0; /* base of the time differences */
	struct column_view columns[TRACE_COLUMNS_MAX];
};

/* Buffers for viewing blocks: one per thread, for any number of readers. */
struct trace_buffers;
int trace_buffers_new(struct trace_buffers **buffers);	/* 0 or -ENOMEM */
void trace_buffers_free(struct trace_buffers *buffers); /* NULL is fine */

/* Like trace_reader_read, but without widening, at any time and from any thread. The view is valid
 * until the buffers are used again. */
int trace_reader_view(const struct trace_reader *reader, struct trace_buffers *buffers,
		      size_t number, uint64_t columns, struct trace_view *view,
		      struct trace_error *error);
/* Returns the times of a block that was viewed with its time column. */
void trace_view_times(const struct trace_view *view, uint64_t *times);

/* Returns the string of an id; the empty string for 0, unknown ids and those of arguments of spans.
 * All are loaded when the trace is opened, so it may be called from any thread. */
struct trace_string trace_reader_string(const struct trace_reader *reader, uint64_t id);
/*
 * The same, but also finds arguments of spans (trace_writer_args). These are read from the file
 * when needed, and a few of their blocks are kept: the bytes are valid only during the next
 * TRACE_STRING_CALLS calls on this reader. Not to be called by parallel-safe consumers.
 */
#define TRACE_STRING_CALLS 7
struct trace_string trace_reader_args(const struct trace_reader *reader, uint64_t id);
/* Unreadable arguments yield the empty string. Returns the first cause, such as "is damaged at byte
 * ..."; NULL if all were readable. */
const char *trace_reader_string_error(const struct trace_reader *reader);
