/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the event decoders: the rule of each family, and the fields that all events have.
 * Private to event*.c.
 */
#pragma once

#include "analysis/events/event.h"
#include "base/number.h"

/* How operations of a family count, regardless of flags and results. */
struct family_rule {
	uint8_t class, method;
	uint8_t flags;
	bool moves;  /* its result is a number of bytes */
	bool direct; /* METHOD_DIRECT if the file was open with O_DIRECT */
};

/* One per family: operations are classified by family only here. */
extern const struct family_rule event_rules[TRACE_FAMILY_COUNT];

/* Columns that events need of rows of calls. */
#define EVENT_CALL_COLUMNS                                                                         \
	(1ull << SYSCALL_DUR | 1ull << SYSCALL_PID | 1ull << SYSCALL_TID | 1ull << SYSCALL_OP |    \
	 1ull << SYSCALL_FILE | 1ull << SYSCALL_OFFSET | 1ull << SYSCALL_ASKED |                   \
	 1ull << SYSCALL_RESULT | 1ull << SYSCALL_FLAGS | 1ull << SYSCALL_FETCHED |                \
	 1ull << SYSCALL_CREATED | 1ull << SYSCALL_DIRTIED | 1ull << SYSCALL_READ_FOR_WRITE |      \
	 1ull << SYSCALL_MAJOR | 1ull << SYSCALL_FAULT_FETCHED | 1ull << SYSCALL_OPEN_FILE)

/* True if columns of two kinds have the same number, so that one function may read both. */
#define EVENT_SAME(a, b) ((int)(a) == (int)(b))

/* Values that are not pids stay invalid. */
static inline uint32_t event_pid(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

/* Returns the number in the job's table of a file of the chunk's trace, or FILE_NONE. */
static inline uint32_t event_find_file(const struct event_chunk *chunk, uint64_t id)
{
	struct file_memory *memory = chunk->memory;
	uint32_t trace = chunk->block->trace;
	unsigned int slot = (id + 61 * (uint64_t)trace) % FILE_MEMORY_SLOTS;

	if (!id)
		return FILE_NONE;
	if (id != memory->ids[slot] || trace != memory->traces[slot]) {
		memory->ids[slot] = id;
		memory->traces[slot] = trace;
		memory->files[slot] = file_table_find(&chunk->job->files, trace, id);
	}
	return memory->files[slot];
}

/* The trace that the rows belong to. */
static inline const struct job_trace *event_trace(const struct event_chunk *chunk)
{
	return &chunk->job->traces[chunk->block->trace];
}

/* Sets what every operation takes from its row. The caller sets all other fields: there are too
 * many operations to zero each event first. */
static inline void event_place(const struct event_chunk *chunk, uint32_t i, uint64_t duration,
			       struct event *event)
{
	event->start = clock_shifted(chunk->clock, chunk->columns[TRACE_COL_TIME][i]);
	event->end = number_add(event->start, duration);
	event->block = chunk->block;
	event->row = chunk->row + i;
}

/* Sets what every event has; enough for an event that is not an operation. */
static inline void event_start(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	uint64_t start = clock_shifted(chunk->clock, chunk->columns[TRACE_COL_TIME][i]);

	*event = (struct event) {
		.start = start,
		.end = start,
		.block = chunk->block,
		.row = chunk->row + i,
		.file = FILE_NONE,
		.class = IO_NONE,
		.method = METHOD_NONE,
	};
}

/* Moves the write side of a transfer to the next event. If there is also a read side, it keeps the
 * time, which was spent once. A transfer from a pipe or socket has only the write side. Returns the
 * last event. */
static inline struct event *event_split_transfer(struct event *read, uint32_t file)
{
	struct event *write = read->file == FILE_NONE ? read : read + 1;

	*write = *read;
	write->class = IO_WRITE;
	write->file = file;
	write->open_file = 0;
	if (!(read->flags & EVENT_SUMMED))
		write->offset = -1;
	write->flags &= ~(EVENT_UNLINKED | EVENT_DIRECT); /* these describe the other file */
	if (write == read)
		return write;
	write->fetched_bytes = 0;
	write->flags &= ~EVENT_TIMED;
	write->flags |= EVENT_SECOND;
	read->created_bytes = 0;
	read->read_for_write_sectors = 0;
	read->flags &= ~EVENT_READS_FOR_WRITE;
	return write;
}

/* Adds to the bytes that stores dirtied in the trace. */
static inline void event_count_dirtied(const struct job_trace *trace, uint64_t bytes)
{
	trace->seen[trace->dirtied].count++;
	trace->seen[trace->dirtied].bytes += bytes;
}

/* io_uring and libaio operations always have these as methods. */
static inline uint8_t event_method(const struct operation *operation,
				   const struct family_rule *rule, uint64_t flags)
{
	if (rule->method == METHOD_NONE)
		return METHOD_NONE;
	if (operation->uring)
		return METHOD_URING;
	if (operation->libaio)
		return METHOD_LIBAIO;
	return rule->direct && flags & TRACE_OP_DIRECT ? METHOD_DIRECT : rule->method;
}

/*
 * The decoders, one per row kind: see event_decode. They add to the operation totals of their
 * trace.
 */

/* event_calls.c */
void event_decode_calls(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_faults(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_vfs(const struct event_chunk *chunk, struct event *events, size_t *count);

/* event_threads.c */
void event_decode_threads(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_samples(const struct event_chunk *chunk, struct event *events, size_t *count);

/* event_storage.c */
void event_decode_pagecache(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_throttles(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_requests(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_bios(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_remote(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_devices(const struct event_chunk *chunk, struct event *events, size_t *count);

/* event_summed.c */
void event_decode_profile(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_classes(const struct event_chunk *chunk, struct event *events, size_t *count);

/* event_marks.c */
void event_decode_span_begins(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_span_ends(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_instants(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_execs(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_exits(const struct event_chunk *chunk, struct event *events, size_t *count);
void event_decode_names(const struct event_chunk *chunk, struct event *events, size_t *count);
