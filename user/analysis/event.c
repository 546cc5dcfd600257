/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows to events: the class and the door of each operation. Knows nothing of tables.
 */
#include "analysis/event.h"

#include <errno.h>
#include <string.h>

const char *const door_names[DOOR_COUNT + 1] = {
	[DOOR_SYSCALL] = "syscall", [DOOR_DIRECT] = "direct",	[DOOR_MMAP] = "mmap",
	[DOOR_SPLICE] = "splice",   [DOOR_URING] = "io_uring",	[DOOR_LIBAIO] = "libaio",
	[DOOR_KERNEL] = "kernel",   [DOOR_UNKNOWN] = "unknown",
};

/* What a family of operations is, flags and results aside. */
struct family_rule {
	uint8_t class, door;
	uint8_t flags;
	bool moves;  /* its result is a number of bytes */
	bool direct; /* another door where the file was open with O_DIRECT */
};

static const struct family_rule rules[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = { IO_READ, DOOR_SYSCALL, EVENT_COUNTED | EVENT_TIMED, true, true },
	[TRACE_WRITE] = { IO_WRITE, DOOR_SYSCALL, EVENT_COUNTED | EVENT_TIMED, true, true },
	[TRACE_METADATA] = { IO_METADATA, DOOR_NONE, EVENT_COUNTED | EVENT_TIMED, false, false },
	[TRACE_SYNC] = { IO_SYNC, DOOR_NONE, EVENT_COUNTED | EVENT_TIMED, false, false },
	/* Only if it brought something in: see decode_calls. Never a fault. */
	[TRACE_MAP] = { IO_MMAP_READ, DOOR_MMAP, EVENT_TIMED, false, false },
	[TRACE_TRANSFER] = { IO_READ, DOOR_SPLICE, EVENT_COUNTED | EVENT_TIMED, true, false },
	/* No operation of its class, but what it brings in is for reads through the same door. */
	[TRACE_ADVICE] = { IO_READ, DOOR_SYSCALL, 0, false, false },
	[TRACE_FILEFAULT] = { IO_MMAP_READ, DOOR_MMAP, EVENT_COUNTED | EVENT_TIMED, false, false },
	[TRACE_ANONFAULT] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_CACHE] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_INDIRECT] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_STORES] = { IO_NONE, DOOR_NONE, 0, true, false },
	[TRACE_UNDECODED] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_SUBMITS] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_OTHER] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_DELAY] = { IO_NONE, DOOR_NONE, 0, false, false },
	[TRACE_STORAGE] = { IO_NONE, DOOR_NONE, 0, true, false },
	[TRACE_KERNEL_READ] = { IO_READ, DOOR_KERNEL, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_KERNEL_WRITE] = { IO_WRITE, DOOR_KERNEL, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_SPLICE_READ] = { IO_READ, DOOR_SPLICE, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_SPLICE_WRITE] = { IO_WRITE, DOOR_SPLICE, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_APART] = { IO_NONE, DOOR_NONE, 0, true, false },
};

#define CALL_COLUMNS                                                                               \
	(1ull << SYSCALL_TIME | 1ull << SYSCALL_DUR | 1ull << SYSCALL_PID | 1ull << SYSCALL_TID |  \
	 1ull << SYSCALL_OP | 1ull << SYSCALL_FILE | 1ull << SYSCALL_OFFSET |                      \
	 1ull << SYSCALL_ASKED | 1ull << SYSCALL_RESULT | 1ull << SYSCALL_FLAGS |                  \
	 1ull << SYSCALL_FETCHED | 1ull << SYSCALL_CREATED | 1ull << SYSCALL_DIRTIED |             \
	 1ull << SYSCALL_MAJOR)

static const uint64_t columns_of[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = CALL_COLUMNS,
	[TRACE_SYSCALL_PATH] = CALL_COLUMNS | 1ull << SYSCALL_PATH_FILE2,
	[TRACE_ASYNC] = CALL_COLUMNS | 1ull << SYSCALL_PATH_FILE2,
	[TRACE_FAULT] = 1ull << FAULT_TIME | 1ull << FAULT_DUR | 1ull << FAULT_PID |
			1ull << FAULT_TID | 1ull << FAULT_FILE | 1ull << FAULT_OFFSET |
			1ull << FAULT_FLAGS | 1ull << FAULT_FETCHED | 1ull << FAULT_DIRTIED,
	[TRACE_PAGECACHE] = 1ull << PAGECACHE_TIME | 1ull << PAGECACHE_FILE |
			    1ull << PAGECACHE_BYTES | 1ull << PAGECACHE_CREATED |
			    1ull << PAGECACHE_CALL,
	[TRACE_FORK] = 1ull << FORK_TIME,
	[TRACE_FILE] = 1ull << FILE_TIME,
	[TRACE_EXEC] = 1ull << EXEC_TIME | 1ull << EXEC_PID,
	[TRACE_EXIT] = 1ull << EXIT_TIME | 1ull << EXIT_PID | 1ull << EXIT_PROCESS,
	[TRACE_SPAN_BEGIN] = 1ull << SPAN_BEGIN_TIME | 1ull << SPAN_BEGIN_PID |
			     1ull << SPAN_BEGIN_TID | 1ull << SPAN_BEGIN_ID |
			     1ull << SPAN_BEGIN_NAME | 1ull << SPAN_BEGIN_CATEGORY,
	[TRACE_SPAN_END] = 1ull << SPAN_END_TIME | 1ull << SPAN_END_PID | 1ull << SPAN_END_TID |
			   1ull << SPAN_END_ID,
	[TRACE_INSTANT] = 1ull << INSTANT_TIME | 1ull << INSTANT_PID | 1ull << INSTANT_TID |
			  1ull << INSTANT_NAME | 1ull << INSTANT_CATEGORY,
	[TRACE_THROTTLE] = 1ull << THROTTLE_TIME | 1ull << THROTTLE_PAUSE | 1ull << THROTTLE_PID |
			   1ull << THROTTLE_TID | 1ull << THROTTLE_FILE,
	[TRACE_REQUEST] = 1ull << REQUEST_TIME | 1ull << REQUEST_DUR | 1ull << REQUEST_PID |
			  1ull << REQUEST_TID | 1ull << REQUEST_OP | 1ull << REQUEST_FILE |
			  1ull << REQUEST_OWN_BYTES | 1ull << REQUEST_STATUS |
			  1ull << REQUEST_FLAGS,
	[TRACE_BIO] = 1ull << BIO_TIME | 1ull << BIO_DUR | 1ull << BIO_PID | 1ull << BIO_TID |
		      1ull << BIO_OP | 1ull << BIO_FILE | 1ull << BIO_OFFSET | 1ull << BIO_BYTES,
	[TRACE_DEVICE] = 1ull << DEVICE_ROW_TIME,
	[TRACE_PROFILE] = (1ull << PROFILE_COLUMNS) - 1,
	[TRACE_PROFILE_CLASS] = (1ull << PROFILE_CLASS_COLUMNS) - 1,
	[TRACE_VFS] = 1ull << VFS_TIME | 1ull << VFS_DUR | 1ull << VFS_PID | 1ull << VFS_TID |
		      1ull << VFS_OP | 1ull << VFS_FILE | 1ull << VFS_OFFSET | 1ull << VFS_ASKED |
		      1ull << VFS_RESULT | 1ull << VFS_FLAGS,
};

uint64_t event_columns(enum trace_kind kind)
{
	return columns_of[kind];
}

/* What is no pid stays none. */
static uint32_t pid_of(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

static uint32_t find_file(const struct event_chunk *chunk, uint64_t id)
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

static const struct job_trace *trace_of(const struct event_chunk *chunk)
{
	return &chunk->job->traces[chunk->block->trace];
}

/* What every event has, and one that is no operation has no more. */
static inline void start_event(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	uint64_t start = clock_shifted(chunk->clock, chunk->columns[TRACE_COL_TIME][i]);

	*event = (struct event) {
		.start = start,
		.end = start,
		.block = chunk->block,
		.row = chunk->row + i,
		.file = FILE_NONE,
		.class = IO_NONE,
		.door = DOOR_NONE,
	};
}

/* Takes the side of a transfer that writes from the event. Where there is one that reads, too, that
 * one has the time: it was spent once. */
static void make_write_side(struct event *read, uint32_t file, struct event *write)
{
	*write = *read;
	write->class = IO_WRITE;
	write->file = file;
	if (!(read->flags & EVENT_SUMMED))
		write->offset = -1;
	write->flags &= ~(EVENT_UNLINKED | EVENT_DIRECT); /* those are of the other file */
	if (read->file == FILE_NONE)
		return;
	write->fetched_bytes = 0;
	write->flags &= ~EVENT_TIMED;
	write->flags |= EVENT_SECOND;
	read->created_bytes = 0;
}

static void count_dirtied(const struct job_trace *trace, uint64_t bytes)
{
	trace->seen[trace->dirtied].count++;
	trace->seen[trace->dirtied].bytes += bytes;
}

static bool truncates(const struct operation *operation, uint64_t flags)
{
	return operation->truncates || (operation->opens && flags & TRACE_OP_TRUNCATE);
}

/* Operations of io_uring and libaio go by these, whatever they do. */
static uint8_t door_of(const struct operation *operation, const struct family_rule *rule,
		       uint64_t flags)
{
	if (rule->door == DOOR_NONE)
		return DOOR_NONE;
	if (operation->uring)
		return DOOR_URING;
	if (operation->libaio)
		return DOOR_LIBAIO;
	return rule->direct && flags & TRACE_OP_DIRECT ? DOOR_DIRECT : rule->door;
}

/* How many operations it handed over that have no rows of their own, or rings. */
static uint64_t submitted(const struct operation *operation, const struct event *event,
			  uint64_t result)
{
	if (event->flags & EVENT_SUBMITS)
		return result;
	return operation->polls && !(event->flags & EVENT_FAILED) ? 1 : 0;
}

/* What the rows of one operation have alike. */
struct call_rule {
	uint64_t column; /* as the rows have it */
	uint16_t number; /* as the job has it */
	const struct operation *operation;
	const struct family_rule *family;
	struct trace_operation_total *seen;
	uint32_t done, failed; /* flags of an event */
	bool untraced;	       /* what it submits has no rows */
};

static struct call_rule rule_of(const struct event_chunk *chunk, uint64_t column)
{
	const struct job_trace *trace = trace_of(chunk);
	const struct operation *operation = &chunk->job->operations[trace->operations[column]];
	const struct family_rule *family = &rules[operation->family];
	uint32_t what = chunk->block->kind == TRACE_ASYNC ? EVENT_ASYNC : EVENT_CALL;
	bool untraced = !(trace->layers & JOB_ASYNC);

	return (struct call_rule) {
		.column = column,
		.number = trace->operations[column],
		.operation = operation,
		.family = family,
		.seen = &trace->seen[column],
		.done = what | family->flags | (operation->opens ? EVENT_OPENS : 0) |
			(operation->submits && untraced ? EVENT_SUBMITS : 0),
		.failed = what | family->flags | EVENT_FAILED,
		.untraced = untraced,
	};
}

/* Only a map call that brought something in, or dirtied, is I/O. */
static void set_map_call(const struct job_trace *trace, struct event *event, uint64_t major)
{
	event->major = major < UINT32_MAX ? major : UINT32_MAX;
	if (event->dirtied_bytes) {
		event->class = IO_MMAP_WRITE;
		count_dirtied(trace, event->dirtied_bytes);
	} else if (!event->fetched_bytes && !major) {
		event->class = IO_NONE;
		event->door = DOOR_NONE;
	}
}

static void decode_call(const struct event_chunk *chunk, uint32_t i, const struct call_rule *rule,
			struct event *event)
{
	const uint64_t *const *columns = chunk->columns;
	uint64_t flags = columns[SYSCALL_FLAGS][i], result = columns[SYSCALL_RESULT][i];
	uint64_t duration = columns[SYSCALL_DUR][i];
	struct trace_operation_total *seen = rule->seen;
	bool failed = result_is_error(result);

	start_event(chunk, i, event);
	event->end = clock_add(event->start, duration);
	event->offset = (int64_t)columns[SYSCALL_OFFSET][i];
	event->bytes = rule->family->moves && !failed ? result : 0;
	event->fetched_bytes = columns[SYSCALL_FETCHED][i];
	event->created_bytes = columns[SYSCALL_CREATED][i];
	event->dirtied_bytes = columns[SYSCALL_DIRTIED][i];
	event->asked_bytes = columns[SYSCALL_ASKED][i];
	event->process = pid_of(columns[SYSCALL_PID][i]);
	event->file = find_file(chunk, columns[SYSCALL_FILE][i]);
	event->thread = columns[SYSCALL_TID][i];
	event->operation = rule->number;
	event->class = rule->family->class;
	event->door = door_of(rule->operation, rule->family, flags);
	event->flags = failed ? rule->failed : rule->done;
	if (flags) {
		event->flags |= (flags & TRACE_OP_DIRECT ? EVENT_DIRECT : 0) |
				(flags & TRACE_OP_UNLINKED ? EVENT_UNLINKED : 0);
		if (flags & TRACE_OP_SILENT && event->flags & EVENT_ASYNC)
			event->flags &= ~EVENT_TIMED;
	}
	if (!failed && truncates(rule->operation, flags))
		event->flags |= EVENT_TRUNCATES;
	if (rule->operation->family == TRACE_MAP)
		set_map_call(trace_of(chunk), event, columns[SYSCALL_MAJOR][i]);
	seen->count++;
	seen->errors += failed;
	seen->bytes += event->bytes;
	seen->thread_time_ns += duration;
	seen->fetched_bytes += event->fetched_bytes;
	seen->created_bytes += event->created_bytes;
	if (rule->untraced)
		seen->submissions += submitted(rule->operation, event, result);
}

static void decode_calls(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	struct call_rule rule = rule_of(chunk, columns[SYSCALL_OP][0]);
	struct event *event = events;

	for (uint32_t i = 0; i < chunk->count; i++, event++) {
		uint32_t written;

		if (columns[SYSCALL_OP][i] != rule.column)
			rule = rule_of(chunk, columns[SYSCALL_OP][i]);
		decode_call(chunk, i, &rule, event);
		if (rule.operation->family != TRACE_TRANSFER || chunk->block->kind == TRACE_SYSCALL)
			continue;
		written = find_file(chunk, columns[SYSCALL_PATH_FILE2][i]);
		if (written == FILE_NONE)
			continue;
		make_write_side(event, written, event + 1);
		/* Out of a pipe or a socket there is only this side. */
		if (event->file == FILE_NONE)
			event[0] = event[1];
		else
			event++;
	}
	*count = event - events;
}

static void decode_faults(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t written = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED;
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = trace_of(chunk);
	struct trace_operation_total *seen = &trace->seen[trace->fault];

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t flags = columns[FAULT_FLAGS][i], duration = columns[FAULT_DUR][i];
		struct event *event = &events[i];

		start_event(chunk, i, event);
		event->end = clock_add(event->start, duration);
		event->offset = (int64_t)columns[FAULT_OFFSET][i];
		event->fetched_bytes = columns[FAULT_FETCHED][i];
		event->dirtied_bytes = columns[FAULT_DIRTIED][i];
		if (event->dirtied_bytes)
			count_dirtied(trace, event->dirtied_bytes);
		event->file = find_file(chunk, columns[FAULT_FILE][i]);
		event->thread = columns[FAULT_TID][i];
		event->major = flags & TRACE_FAULT_MAJOR ? 1 : 0;
		event->operation = trace->operations[trace->fault];
		event->class = (flags & written) == written ? IO_MMAP_WRITE : IO_MMAP_READ;
		event->door = DOOR_MMAP;
		event->flags = EVENT_COUNTED | EVENT_TIMED | EVENT_FAULT |
			       (flags & TRACE_FAULT_UNFINISHED ? EVENT_FAILED : 0) |
			       (flags & TRACE_FAULT_UNLINKED ? EVENT_UNLINKED : 0);
		seen->count++;
		seen->thread_time_ns += duration;
		seen->fetched_bytes += event->fetched_bytes;
		event->process = pid_of(columns[FAULT_PID][i]);
	}
	*count = chunk->count;
}

/* What happens inside a recorded call is part of that call's time. */
static void decode_vfs(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = trace_of(chunk);

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t number = columns[VFS_OP][i], flags = columns[VFS_FLAGS][i];
		uint64_t result = columns[VFS_RESULT][i], duration = columns[VFS_DUR][i];
		enum trace_family family = chunk->job->operations[trace->operations[number]].family;
		const struct family_rule *rule = &rules[family];
		struct trace_operation_total *seen = &trace->seen[number];
		bool failed = result_is_error(result);
		struct event *event = &events[i];

		start_event(chunk, i, event);
		event->end = clock_add(event->start, duration);
		event->offset = (int64_t)columns[VFS_OFFSET][i];
		event->bytes = rule->moves && !failed ? result : 0;
		event->asked_bytes = columns[VFS_ASKED][i];
		event->file = find_file(chunk, columns[VFS_FILE][i]);
		event->thread = columns[VFS_TID][i];
		event->operation = trace->operations[number];
		event->class = rule->class;
		event->door = rule->direct && flags & TRACE_VFS_DIRECT ? DOOR_DIRECT : rule->door;
		event->flags = EVENT_VFS | rule->flags | (failed ? EVENT_FAILED : 0) |
			       (flags & TRACE_VFS_UNLINKED ? EVENT_UNLINKED : 0);
		if (flags & TRACE_VFS_IN_CALL)
			event->flags &= ~EVENT_TIMED;
		seen->count++;
		seen->errors += failed;
		seen->bytes += event->bytes;
		seen->thread_time_ns += duration;
		event->process = pid_of(columns[VFS_PID][i]);
	}
	*count = chunk->count;
}

/* On nobody's account, or on that of an operation whose file it is not: whose task it was says
 * nothing. */
static void decode_pagecache(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const struct job_trace *trace = trace_of(chunk);

	for (uint32_t i = 0; i < chunk->count; i++) {
		bool indirect = chunk->columns[PAGECACHE_CALL][i];
		uint16_t number = indirect ? trace->indirect : trace->pagecache;
		struct trace_operation_total *seen = &trace->seen[number];

		start_event(chunk, i, &events[i]);
		events[i].file = find_file(chunk, chunk->columns[PAGECACHE_FILE][i]);
		events[i].fetched_bytes = chunk->columns[PAGECACHE_BYTES][i];
		events[i].created_bytes = chunk->columns[PAGECACHE_CREATED][i];
		events[i].operation = trace->operations[number];
		events[i].flags = EVENT_PAGECACHE | (indirect ? EVENT_INDIRECT : 0);
		seen->count++;
		seen->fetched_bytes += events[i].fetched_bytes;
		seen->created_bytes += events[i].created_bytes;
	}
	*count = chunk->count;
}

static void decode_throttles(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = trace_of(chunk);
	struct trace_operation_total *seen = &trace->seen[trace->throttled];

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t pause_ns = columns[THROTTLE_PAUSE][i];

		start_event(chunk, i, &events[i]);
		events[i].end = clock_add(events[i].start, pause_ns);
		events[i].file = find_file(chunk, columns[THROTTLE_FILE][i]);
		events[i].thread = columns[THROTTLE_TID][i];
		events[i].operation = trace->operations[trace->throttled];
		events[i].flags = EVENT_THROTTLED;
		seen->count++;
		seen->thread_time_ns += pause_ns;
		events[i].process = pid_of(columns[THROTTLE_PID][i]);
	}
	*count = chunk->count;
}

/* What requests and bios have alike. */
static void start_storage(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	const struct job_trace *trace = trace_of(chunk);

	start_event(chunk, i, event);
	event->end = clock_add(event->start, chunk->columns[REQUEST_DUR][i]);
	event->thread = chunk->columns[REQUEST_TID][i];
	event->operation = trace->operations[chunk->columns[REQUEST_OP][i]];
	event->file = find_file(chunk, chunk->columns[REQUEST_FILE][i]);
	event->offset = -1;
	event->process = pid_of(chunk->columns[REQUEST_PID][i]);
}

#define SAME(a, b) ((int)(a) == (int)(b))
_Static_assert(SAME(BIO_DUR, REQUEST_DUR) && SAME(BIO_PID, REQUEST_PID) &&
		       SAME(BIO_TID, REQUEST_TID) && SAME(BIO_OP, REQUEST_OP) &&
		       SAME(BIO_FILE, REQUEST_FILE),
	       "start_storage reads both alike");

static void decode_requests(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t number = chunk->columns[REQUEST_OP][i];
		struct trace_operation_total *seen = &trace_of(chunk)->seen[number];
		bool part = chunk->columns[REQUEST_FLAGS][i] & TRACE_BLOCK_PART;
		bool failed = !part && chunk->columns[REQUEST_STATUS][i];

		start_storage(chunk, i, &events[i]);
		events[i].bytes = chunk->columns[REQUEST_OWN_BYTES][i];
		events[i].flags =
			EVENT_REQUEST | (failed ? EVENT_FAILED : 0) | (part ? EVENT_SECOND : 0);
		seen->count += !part;
		seen->errors += failed;
		seen->bytes += events[i].bytes;
		seen->thread_time_ns += events[i].end - events[i].start;
	}
	*count = chunk->count;
}

static void decode_bios(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		start_storage(chunk, i, &events[i]);
		events[i].offset = (int64_t)chunk->columns[BIO_OFFSET][i];
		events[i].bytes = chunk->columns[BIO_BYTES][i];
		events[i].flags = EVENT_BIO;
	}
	*count = chunk->count;
}

static void decode_devices(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		start_event(chunk, i, &events[i]);
		events[i].flags = EVENT_DEVICE;
	}
	*count = chunk->count;
}

/* --- operations that were summed up --- */

/* What a family is beyond its rule. */
static void class_summed(const struct operation *operation, uint64_t flags, struct event *event)
{
	switch (operation->family) {
	case TRACE_FILEFAULT:
		event->flags |= EVENT_FAULT;
		if (flags & TRACE_PROFILE_STORES)
			event->class = IO_MMAP_WRITE;
		break;
	case TRACE_MAP:
		event->flags |= EVENT_CALL;
		if (flags & TRACE_PROFILE_DIRTIES) {
			event->class = IO_MMAP_WRITE;
		} else if (!(flags & TRACE_PROFILE_BRINGS)) {
			event->class = IO_NONE;
			event->door = DOOR_NONE;
		}
		break;
	case TRACE_CACHE:
	case TRACE_INDIRECT:
		event->process = 0; /* whose task it was says nothing */
		event->flags |= EVENT_PAGECACHE |
				(operation->family == TRACE_INDIRECT ? EVENT_INDIRECT : 0);
		break;
	case TRACE_DELAY:
		event->flags |= EVENT_THROTTLED;
		break;
	default:
		event->flags |= operation->uring || operation->libaio ? EVENT_ASYNC
				: !strcmp(operation->layer, "vfs")    ? EVENT_VFS
								      : EVENT_CALL;
	}
}

/* Which operations it stands for: what both kinds of such rows have alike. */
static void start_summed(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	const struct job_trace *trace = trace_of(chunk);
	uint64_t flags = chunk->columns[PROFILE_FLAGS][i];
	const struct operation *operation;
	const struct family_rule *rule;

	start_event(chunk, i, event);
	event->operation = trace->operations[chunk->columns[PROFILE_OP][i]];
	operation = &chunk->job->operations[event->operation];
	rule = &rules[operation->family];
	event->process = pid_of(chunk->columns[PROFILE_PID][i]);
	event->file = find_file(chunk, chunk->columns[PROFILE_FILE][i]);
	event->class = rule->class;
	event->door = door_of(operation, rule, flags & TRACE_PROFILE_DIRECT ? TRACE_OP_DIRECT : 0);
	event->flags = EVENT_SUMMED | rule->flags |
		       (flags & TRACE_PROFILE_DIRECT ? EVENT_DIRECT : 0) |
		       (flags & TRACE_PROFILE_UNLINKED ? EVENT_UNLINKED : 0);
	if (flags & TRACE_PROFILE_UNTIMED)
		event->flags &= ~EVENT_TIMED;
	class_summed(operation, flags, event);
}

#define SAME_IN_BOTH(column) SAME(PROFILE_##column, PROFILE_CLASS_##column)
_Static_assert(SAME_IN_BOTH(TIME) && SAME_IN_BOTH(PID) && SAME_IN_BOTH(OP) && SAME_IN_BOTH(FILE) &&
		       SAME_IN_BOTH(FILE2) && SAME_IN_BOTH(FLAGS),
	       "start_summed reads both alike");

static void fill_summed(const struct event_chunk *chunk, uint32_t i,
			const struct operation *operation, struct event *event)
{
	const uint64_t *const *columns = chunk->columns;
	uint64_t errors = columns[PROFILE_ERRORS][i], major = columns[PROFILE_MAJOR][i];

	event->summed_count = columns[PROFILE_COUNT][i];
	event->summed_errors = errors < UINT32_MAX ? errors : UINT32_MAX;
	event->summed_ns = columns[PROFILE_THREAD_TIME][i];
	event->bytes = rules[operation->family].moves ? columns[PROFILE_BYTES][i] : 0;
	event->fetched_bytes = columns[PROFILE_FETCHED][i];
	event->created_bytes = columns[PROFILE_CREATED][i];
	event->dirtied_bytes = columns[PROFILE_DIRTIED][i];
	if (operation->family == TRACE_FILEFAULT || operation->family == TRACE_MAP)
		event->major = major < UINT32_MAX ? major : UINT32_MAX;
	if (operation->opens && event->summed_count > errors)
		event->flags |= EVENT_OPENS;
}

static void see_summed(const struct job_trace *trace, uint64_t number, const struct event *event)
{
	struct trace_operation_total *seen = &trace->seen[number];

	seen->count += event->summed_count;
	seen->errors += event->flags & EVENT_FAULT ? 0 : event->summed_errors;
	seen->bytes += event->bytes;
	seen->thread_time_ns += event->summed_ns;
	seen->fetched_bytes += event->fetched_bytes;
	seen->created_bytes += event->created_bytes;
	trace->seen[trace->dirtied].bytes += event->dirtied_bytes;
}

static void decode_profile(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	struct event *event = events;

	for (uint32_t i = 0; i < chunk->count; i++) {
		const struct operation *operation;
		uint32_t written;

		start_summed(chunk, i, event);
		operation = &chunk->job->operations[event->operation];
		fill_summed(chunk, i, operation, event);
		see_summed(trace_of(chunk), columns[PROFILE_OP][i], event);
		written = operation->family == TRACE_TRANSFER
				  ? find_file(chunk, columns[PROFILE_FILE2][i])
				  : FILE_NONE;
		if (written != FILE_NONE) {
			make_write_side(event, written, event + 1);
			/* Out of a pipe or a socket there is only this side. */
			if (event->file == FILE_NONE)
				event[0] = event[1];
			else
				event++;
		}
		event++;
	}
	*count = event - events;
}

static void decode_classes(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		start_summed(chunk, i, &events[i]);
		events[i].class = IO_NONE;
		events[i].flags &=
			~(EVENT_COUNTED | EVENT_TIMED | EVENT_THROTTLED | EVENT_PAGECACHE);
		events[i].flags |= EVENT_CLASSES;
		events[i].summed_count = chunk->columns[PROFILE_CLASS_COUNT][i];
	}
	*count = chunk->count;
}

/* What a thread did or said at a moment. Columns 0 to 2 are those of time, pid and tid. */
static void make_mark(const struct event_chunk *chunk, uint32_t i, uint32_t flags,
		      struct event *event)
{
	start_event(chunk, i, event);
	event->flags = flags;
	event->process = pid_of(chunk->columns[SPAN_BEGIN_PID][i]);
	if (chunk->columns[SPAN_BEGIN_TID])
		event->thread = chunk->columns[SPAN_BEGIN_TID][i];
}

_Static_assert(SAME(SPAN_END_PID, SPAN_BEGIN_PID) && SAME(INSTANT_PID, SPAN_BEGIN_PID) &&
		       SAME(EXEC_PID, SPAN_BEGIN_PID) && SAME(EXIT_PID, SPAN_BEGIN_PID) &&
		       SAME(SPAN_END_TID, SPAN_BEGIN_TID) && SAME(INSTANT_TID, SPAN_BEGIN_TID),
	       "make_mark reads all of these alike");

static void decode_span_begins(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_SPAN_BEGIN, &events[i]);
		events[i].id = chunk->columns[SPAN_BEGIN_ID][i];
		events[i].name = chunk->columns[SPAN_BEGIN_NAME][i];
		events[i].category = chunk->columns[SPAN_BEGIN_CATEGORY][i];
	}
	*count = chunk->count;
}

static void decode_span_ends(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_SPAN_END, &events[i]);
		events[i].id = chunk->columns[SPAN_END_ID][i];
	}
	*count = chunk->count;
}

static void decode_instants(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_INSTANT, &events[i]);
		events[i].name = chunk->columns[INSTANT_NAME][i];
		events[i].category = chunk->columns[INSTANT_CATEGORY][i];
	}
	*count = chunk->count;
}

static void decode_execs(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++)
		make_mark(chunk, i, EVENT_PROGRAM_END, &events[i]);
	*count = chunk->count;
}

/* Of threads only the last one ends its process. */
static void decode_exits(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (chunk->columns[EXIT_PROCESS][i])
			make_mark(chunk, i, EVENT_PROGRAM_END, &events[i]);
		else
			start_event(chunk, i, &events[i]);
	}
	*count = chunk->count;
}

static void decode_names(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++)
		start_event(chunk, i, &events[i]);
	*count = chunk->count;
}

void event_decode(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	static void (*const decoders[TRACE_KIND_COUNT])(const struct event_chunk *, struct event *,
							size_t *) = {
		[TRACE_SYSCALL] = decode_calls,
		[TRACE_SYSCALL_PATH] = decode_calls,
		[TRACE_ASYNC] = decode_calls,
		[TRACE_FAULT] = decode_faults,
		[TRACE_PAGECACHE] = decode_pagecache,
		[TRACE_FORK] = decode_names,
		[TRACE_EXEC] = decode_execs,
		[TRACE_EXIT] = decode_exits,
		[TRACE_FILE] = decode_names,
		[TRACE_SPAN_BEGIN] = decode_span_begins,
		[TRACE_SPAN_END] = decode_span_ends,
		[TRACE_INSTANT] = decode_instants,
		[TRACE_THROTTLE] = decode_throttles,
		[TRACE_REQUEST] = decode_requests,
		[TRACE_BIO] = decode_bios,
		[TRACE_DEVICE] = decode_devices,
		[TRACE_PROFILE] = decode_profile,
		[TRACE_PROFILE_CLASS] = decode_classes,
		[TRACE_VFS] = decode_vfs,
	};

	decoders[chunk->block->kind](chunk, events, count);
}

/* The label of a span or moment takes the place of what tells it. */
static int resolve_label(struct job *job, struct event *event)
{
	uint64_t name = event->name, category = event->category;

	event->name = event->category = 0;
	return labels_find(&job->labels, event->block->trace, name, category, &event->label);
}

int event_resolve(struct job *job, struct event *events, size_t count)
{
	int status = 0;

	for (struct event *event = events; event < events + count && !status; event++) {
		status = process_table_find(&job->processes, event->block->trace, event->process,
					    event->start, &event->process);
		if (!status && event->flags & (EVENT_SPAN_BEGIN | EVENT_INSTANT))
			status = resolve_label(job, event);
	}
	return status;
}

size_t event_unseen(const struct operation *operation, struct event_unseen places[2])
{
	const struct family_rule *rule = &rules[operation->family];
	bool asynchronous = operation->uring || operation->libaio;

	if (operation->family == TRACE_STORES) {
		places[0] = (struct event_unseen) { .class = IO_MMAP_WRITE,
						    .door = DOOR_MMAP,
						    .dirtied = true };
		return 1;
	}
	if (rule->class == IO_NONE)
		return 0;
	places[0] = (struct event_unseen) {
		.class = rule->class,
		.door = rule->direct && !asynchronous ? DOOR_UNKNOWN : door_of(operation, rule, 0),
		.whole = rule->flags & EVENT_COUNTED,
		.timed = true,
		.fetched = true,
		.created = true,
	};
	if (operation->family != TRACE_TRANSFER)
		return 1;
	places[1] = places[0];
	places[1].class = IO_WRITE;
	places[1].timed = places[1].fetched = places[0].created = false;
	return 2;
}

bool event_moves_bytes(enum trace_family family)
{
	return rules[family].moves;
}
