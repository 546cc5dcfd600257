/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decodes rows that stand for many operations, as aggregated by profile mode. */
#include "analysis/events/event_decode.h"

#include <string.h>

/* Refines the family's rule by the operation and its flags. */
static void class_summed(const struct operation *operation, uint64_t flags, struct event_summed *as)
{
	switch (operation->family) {
	case TRACE_FILEFAULT:
		as->flags |= EVENT_FAULT;
		if (flags & TRACE_PROFILE_STORES)
			as->class = IO_MMAP_WRITE;
		break;
	case TRACE_MAP:
		as->flags |= EVENT_CALL;
		if (flags & TRACE_PROFILE_DIRTIES) {
			as->class = IO_MMAP_WRITE;
		} else if (!(flags & TRACE_PROFILE_BRINGS)) {
			as->class = IO_NONE;
			as->method = METHOD_NONE;
		}
		break;
	case TRACE_CACHE:
	case TRACE_INDIRECT:
		as->flags |= EVENT_PAGECACHE |
			     (operation->family == TRACE_INDIRECT ? EVENT_INDIRECT : 0);
		break;
	case TRACE_DELAY:
		as->flags |= EVENT_THROTTLED;
		break;
	default:
		as->flags |= operation->uring || operation->libaio ? EVENT_ASYNC
			     : !strcmp(operation->layer, "vfs")	   ? EVENT_VFS
								   : EVENT_CALL;
	}
}

struct event_summed event_summed_as(const struct operation *operation, uint64_t flags)
{
	const struct family_rule *rule = &event_rules[operation->family];
	struct event_summed as = {
		.class = rule->class,
		.method = event_method(operation, rule,
				       flags & TRACE_PROFILE_DIRECT ? TRACE_OP_DIRECT : 0),
		.flags = EVENT_SUMMED | rule->flags |
			 (flags & TRACE_PROFILE_DIRECT ? EVENT_DIRECT : 0) |
			 (flags & TRACE_PROFILE_UNLINKED ? EVENT_UNLINKED : 0) |
			 (flags & TRACE_PROFILE_NOWAIT ? EVENT_NOWAIT : 0),
	};

	if (flags & TRACE_PROFILE_UNTIMED)
		as.flags &= ~EVENT_TIMED;
	class_summed(operation, flags, &as);
	return as;
}

/* Sets which operations a row stands for: common to both kinds of aggregated rows. */
static void start_summed(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	const struct job_trace *trace = event_trace(chunk);
	struct event_summed as;

	event_start(chunk, i, event);
	event->operation = trace->operations[chunk->columns[PROFILE_OP][i]];
	as = event_summed_as(&chunk->job->operations[event->operation],
			     chunk->columns[PROFILE_FLAGS][i]);
	event->process = event_pid(chunk->columns[PROFILE_PID][i]);
	if (as.flags & EVENT_PAGECACHE)
		event->process = 0; /* the task it ran in is meaningless */
	event->file = event_find_file(chunk, chunk->columns[PROFILE_FILE][i]);
	event->class = as.class;
	event->method = as.method;
	event->flags = as.flags;
}

#define SAME_IN_BOTH(column) EVENT_SAME(PROFILE_##column, PROFILE_CLASS_##column)
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
	event->bytes = event_rules[operation->family].moves ? columns[PROFILE_BYTES][i] : 0;
	event->fetched_bytes = columns[PROFILE_FETCHED][i];
	event->created_bytes = columns[PROFILE_CREATED][i];
	event->dirtied_bytes = columns[PROFILE_DIRTIED][i];
	event->read_for_write_sectors = event_sectors(columns[PROFILE_READ_FOR_WRITE][i]);
	if (operation->family == TRACE_FILEFAULT || operation->family == TRACE_MAP)
		event->major = major < UINT32_MAX ? major : UINT32_MAX;
	if (operation->opens && event->summed_count > errors)
		event->flags |= EVENT_OPENS;
	if (operation->lists && event->summed_count > errors)
		event->flags |= EVENT_LISTS;
	if (operation->advises && event->summed_count > errors &&
	    !(columns[PROFILE_FLAGS][i] & TRACE_PROFILE_KEEPS))
		event->flags |= EVENT_ADVISES;
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
	seen->read_for_write_bytes += event_read_for_write(event);
	trace->seen[trace->dirtied].bytes += event->dirtied_bytes;
}

void event_decode_profile(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	struct event *event = events;

	for (uint32_t i = 0; i < chunk->count; i++, event++) {
		const struct operation *operation;
		uint32_t written;

		start_summed(chunk, i, event);
		operation = &chunk->job->operations[event->operation];
		fill_summed(chunk, i, operation, event);
		see_summed(event_trace(chunk), columns[PROFILE_OP][i], event);
		written = operation->family == TRACE_TRANSFER
				  ? event_find_file(chunk, columns[PROFILE_FILE2][i])
				  : FILE_NONE;
		if (written != FILE_NONE)
			event = event_split_transfer(event, written);
	}
	*count = event - events;
}

void event_decode_classes(const struct event_chunk *chunk, struct event *events, size_t *count)
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
