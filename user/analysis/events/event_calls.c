/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes rows of what a thread or the kernel did to a file: calls, asynchronous operations, faults
 * and VFS operations.
 */
#include "analysis/events/event_decode.h"
#include "base/number.h"

static bool truncates(const struct operation *operation, uint64_t flags)
{
	return operation->truncates || (operation->opens && flags & TRACE_OP_TRUNCATE);
}

/* Returns how many operations without rows, or polled rings, it submitted. */
static uint64_t submitted(const struct operation *operation, const struct event *event,
			  uint64_t result)
{
	if (event->flags & EVENT_SUBMITS)
		return result;
	return operation->polls && !(event->flags & EVENT_FAILED) ? 1 : 0;
}

/* What the rows of one operation have in common. */
struct call_rule {
	uint64_t column; /* operation number in the rows */
	uint16_t number; /* operation number in the job */
	const struct operation *operation;
	const struct family_rule *family;
	struct trace_operation_total *seen;
	struct trace_operation_total more; /* not yet added to `seen` */
	uint32_t done, failed;		   /* event flags on success, on failure */
	bool untraced;			   /* operations it submits have no rows */
};

static struct call_rule rule_of(const struct event_chunk *chunk, uint64_t column)
{
	const struct job_trace *trace = event_trace(chunk);
	const struct operation *operation = &chunk->job->operations[trace->operations[column]];
	const struct family_rule *family = &event_rules[operation->family];
	uint32_t what = chunk->block->kind == TRACE_ASYNC ? EVENT_ASYNC : EVENT_CALL;
	bool untraced = !(trace->layers & JOB_ASYNC);

	return (struct call_rule) {
		.column = column,
		.number = trace->operations[column],
		.operation = operation,
		.family = family,
		.seen = &trace->seen[column],
		.done = what | family->flags | (operation->opens ? EVENT_OPENS : 0) |
			(operation->advises ? EVENT_ADVISES : 0) |
			(operation->lists ? EVENT_LISTS : 0) |
			(operation->closes ? EVENT_CLOSES : 0) |
			(operation->submits && untraced ? EVENT_SUBMITS : 0),
		.failed = what | family->flags | EVENT_FAILED,
		.untraced = untraced,
	};
}

static void add_seen(const struct call_rule *rule)
{
	struct trace_operation_total *seen = rule->seen;

	seen->count += rule->more.count;
	seen->errors += rule->more.errors;
	seen->bytes += rule->more.bytes;
	seen->thread_time_ns += rule->more.thread_time_ns;
	seen->fetched_bytes += rule->more.fetched_bytes;
	seen->created_bytes += rule->more.created_bytes;
	seen->read_for_write_bytes += rule->more.read_for_write_bytes;
	seen->submissions += rule->more.submissions;
}

/* A map call is I/O only if it brought in or dirtied pages. */
static void set_map_call(const struct job_trace *trace, struct event *event, uint64_t major,
			 uint64_t others_fetched)
{
	event->major = major < UINT32_MAX ? major : UINT32_MAX;
	if (event->dirtied_bytes) {
		event->class = IO_MMAP_WRITE;
		event_count_dirtied(trace, event->dirtied_bytes);
	} else if (!event->fetched_bytes && !major && !others_fetched) {
		event->class = IO_NONE;
		event->method = METHOD_NONE;
	}
}

/* For fadvise calls whose advice is known. */
static inline void set_advice(struct event *event, bool drops)
{
	event->flags &= ~EVENT_ADVISES;
	if (drops && !(event->flags & EVENT_FAILED))
		event->flags |= EVENT_DROPS;
}

static inline void decode_call(const struct event_chunk *chunk, uint32_t i, struct call_rule *rule,
			       struct event *event)
{
	const uint64_t *const *columns = chunk->columns;
	uint64_t flags = columns[SYSCALL_FLAGS][i], result = columns[SYSCALL_RESULT][i];
	uint64_t duration = columns[SYSCALL_DUR][i];
	struct trace_operation_total *seen = &rule->more;
	bool failed = result_is_error(result);

	event_place(chunk, i, duration, event);
	event->offset = (int64_t)columns[SYSCALL_OFFSET][i];
	event->bytes = rule->family->moves && !failed ? result : 0;
	event->fetched_bytes = columns[SYSCALL_FETCHED][i];
	event->created_bytes = columns[SYSCALL_CREATED][i];
	event->dirtied_bytes = columns[SYSCALL_DIRTIED][i];
	event->asked_bytes = columns[SYSCALL_ASKED][i];
	event->process = event_pid(columns[SYSCALL_PID][i]);
	event->file = event_find_file(chunk, columns[SYSCALL_FILE][i]);
	event->open_file = columns[SYSCALL_OPEN_FILE][i] & ((1u << EVENT_OPEN_FILE_BITS) - 1);
	event->thread = columns[SYSCALL_TID][i];
	event->major = 0;
	event->operation = rule->number;
	event->class = rule->family->class;
	event->method = event_method(rule->operation, rule->family, flags);
	event->flags = failed ? rule->failed : rule->done;
	if (flags) {
		event->flags |= (flags & TRACE_OP_DIRECT ? EVENT_DIRECT : 0) |
				(flags & TRACE_OP_UNLINKED ? EVENT_UNLINKED : 0) |
				(flags & TRACE_OP_NOWAIT ? EVENT_NOWAIT : 0);
		if (flags & TRACE_OP_ADVICE && rule->operation->advises)
			set_advice(event, flags & TRACE_OP_DONTNEED);
		if (flags & TRACE_OP_SILENT && event->flags & EVENT_ASYNC)
			event->flags &= ~EVENT_TIMED;
	}
	event->read_for_write_sectors = 0; /* few calls have any */
	if (columns[SYSCALL_READ_FOR_WRITE][i]) {
		event->read_for_write_sectors = event_sectors(columns[SYSCALL_READ_FOR_WRITE][i]);
		event->flags |= EVENT_READS_FOR_WRITE;
	}
	if (!failed && truncates(rule->operation, flags))
		event->flags |= EVENT_TRUNCATES;
	if (rule->operation->family == TRACE_MAP)
		set_map_call(event_trace(chunk), event, columns[SYSCALL_MAJOR][i],
			     columns[SYSCALL_FAULT_FETCHED][i]);
	seen->count++;
	seen->errors += failed && !(flags & TRACE_OP_UNFINISHED);
	seen->bytes += event->bytes;
	seen->thread_time_ns += duration;
	seen->fetched_bytes += event->fetched_bytes;
	seen->created_bytes += event->created_bytes;
	seen->read_for_write_bytes += event_read_for_write(event);
	if (rule->untraced)
		seen->submissions += submitted(rule->operation, event, result);
}

/* Columns in which repeated calls may differ, apart from the time. */
#define DIFFERING (1ull << SYSCALL_DUR | 1ull << SYSCALL_OFFSET)

/* True if all rows are the same call repeated, each a single event. A second file matters only to
 * transfers. */
static bool are_alike(const struct event_chunk *chunk, const struct call_rule *rule)
{
	uint64_t others = EVENT_CALL_COLUMNS & ~DIFFERING;

	if (rule->operation->family == TRACE_TRANSFER || rule->operation->family == TRACE_MAP)
		return false;
	for (; others; others &= others - 1)
		if (!loaded_block_is_same(chunk->block, __builtin_ctzll(others), chunk->row,
					  chunk->count))
			return false;
	return true;
}

static void repeat_call(const struct event_chunk *chunk, struct call_rule *rule,
			struct event *events)
{
	const uint64_t *const *columns = chunk->columns;
	struct trace_operation_total one;
	uint64_t duration_ns = 0;

	decode_call(chunk, 0, rule, events);
	one = rule->more;
	for (uint32_t i = 0; i < chunk->count; i++) {
		events[i] = events[0];
		event_place(chunk, i, columns[SYSCALL_DUR][i], &events[i]);
		events[i].offset = (int64_t)columns[SYSCALL_OFFSET][i];
		duration_ns += columns[SYSCALL_DUR][i];
	}
	rule->more = (struct trace_operation_total) {
		.count = one.count * chunk->count,
		.errors = one.errors * chunk->count,
		.bytes = one.bytes * chunk->count,
		.thread_time_ns = duration_ns,
		.fetched_bytes = one.fetched_bytes * chunk->count,
		.created_bytes = one.created_bytes * chunk->count,
		.read_for_write_bytes = one.read_for_write_bytes * chunk->count,
		.submissions = one.submissions * chunk->count,
	};
}

void event_decode_calls(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	struct call_rule rule = rule_of(chunk, columns[SYSCALL_OP][0]);
	struct event *event = events;

	if (are_alike(chunk, &rule)) {
		repeat_call(chunk, &rule, events);
		add_seen(&rule);
		*count = chunk->count;
		return;
	}
	for (uint32_t i = 0; i < chunk->count; i++, event++) {
		uint32_t written;

		if (columns[SYSCALL_OP][i] != rule.column) {
			add_seen(&rule);
			rule = rule_of(chunk, columns[SYSCALL_OP][i]);
		}
		decode_call(chunk, i, &rule, event);
		if (rule.operation->family != TRACE_TRANSFER || chunk->block->kind == TRACE_SYSCALL)
			continue;
		written = event_find_file(chunk, columns[SYSCALL_PATH_FILE2][i]);
		if (written != FILE_NONE)
			event = event_split_transfer(event, written);
	}
	add_seen(&rule);
	*count = event - events;
}

void event_decode_faults(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t written = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED;
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = event_trace(chunk);
	struct trace_operation_total *seen = &trace->seen[trace->fault];

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t flags = columns[FAULT_FLAGS][i], duration = columns[FAULT_DUR][i];
		struct event *event = &events[i];

		event_place(chunk, i, duration, event);
		event->offset = (int64_t)columns[FAULT_OFFSET][i];
		event->bytes = event->created_bytes = event->asked_bytes = 0;
		event->fetched_bytes = columns[FAULT_FETCHED][i];
		event->dirtied_bytes = columns[FAULT_DIRTIED][i];
		if (event->dirtied_bytes)
			event_count_dirtied(trace, event->dirtied_bytes);
		event->file = event_find_file(chunk, columns[FAULT_FILE][i]);
		event->thread = columns[FAULT_TID][i];
		event->open_file = 0;
		event->major = flags & TRACE_FAULT_MAJOR ? 1 : 0;
		event->read_for_write_sectors = 0;
		event->operation = trace->operations[trace->fault];
		event->class = (flags & written) == written ? IO_MMAP_WRITE : IO_MMAP_READ;
		event->method = METHOD_MMAP;
		event->flags = EVENT_COUNTED | EVENT_TIMED | EVENT_FAULT |
			       (flags & TRACE_FAULT_UNFINISHED ? EVENT_FAILED : 0) |
			       (flags & TRACE_FAULT_UNLINKED ? EVENT_UNLINKED : 0) |
			       ((flags & written) == TRACE_FAULT_WRITE ? EVENT_COPIES : 0);
		seen->count++;
		seen->thread_time_ns += duration;
		seen->fetched_bytes += event->fetched_bytes;
		event->process = event_pid(columns[FAULT_PID][i]);
	}
	*count = chunk->count;
}

/* Time inside a recorded call belongs to that call. */
void event_decode_vfs(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = event_trace(chunk);

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t number = columns[VFS_OP][i], flags = columns[VFS_FLAGS][i];
		uint64_t result = columns[VFS_RESULT][i], duration = columns[VFS_DUR][i];
		enum trace_family family = chunk->job->operations[trace->operations[number]].family;
		const struct family_rule *rule = &event_rules[family];
		struct trace_operation_total *seen = &trace->seen[number];
		bool failed = result_is_error(result);
		struct event *event = &events[i];

		event_start(chunk, i, event);
		event->end = number_add(event->start, duration);
		event->offset = (int64_t)columns[VFS_OFFSET][i];
		event->bytes = rule->moves && !failed ? result : 0;
		event->asked_bytes = columns[VFS_ASKED][i];
		event->file = event_find_file(chunk, columns[VFS_FILE][i]);
		event->thread = columns[VFS_TID][i];
		event->operation = trace->operations[number];
		event->class = rule->class;
		event->method =
			rule->direct && flags & TRACE_VFS_DIRECT ? METHOD_DIRECT : rule->method;
		event->flags = EVENT_VFS | rule->flags | (failed ? EVENT_FAILED : 0) |
			       (flags & TRACE_VFS_UNLINKED ? EVENT_UNLINKED : 0);
		if (flags & TRACE_VFS_IN_CALL)
			event->flags &= ~EVENT_TIMED;
		seen->count++;
		seen->errors += failed;
		seen->bytes += event->bytes;
		seen->thread_time_ns += duration;
		event->process = event_pid(columns[VFS_PID][i]);
	}
	*count = chunk->count;
}
