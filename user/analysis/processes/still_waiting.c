/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Recognizes operations that were still in progress when the recording ended: a call has the result
 * EINPROGRESS, a fault has a flag.
 */
#include "analysis/processes/still_waiting.h"

#include <errno.h>

bool still_waiting_is(const struct event *event)
{
	enum trace_kind kind;

	if (event->flags & EVENT_SUMMED)
		return false;
	kind = event_kind(event);
	if (event->flags & EVENT_FAULT)
		return kind == TRACE_FAULT && event_value(event, FAULT_FLAGS) & TRACE_FAULT_WAITING;
	return (kind == TRACE_SYSCALL || kind == TRACE_SYSCALL_PATH || kind == TRACE_ASYNC) &&
	       event_value(event, SYSCALL_RESULT) == (uint64_t)-EINPROGRESS &&
	       event_value(event, SYSCALL_FLAGS) & TRACE_OP_UNFINISHED;
}

/* Operations on files come first: a thread blocked in io_uring_enter waits for one of those, but
 * its own call has no file. */
static bool is_worse(const struct still_waiting *waiting, const struct event *event)
{
	const bool was_file = waiting->file != FILE_NONE || waiting->argument.path;
	const bool is_file = event->file != FILE_NONE || event_kind(event) != TRACE_SYSCALL;

	if (!waiting->calls || is_file != was_file)
		return !waiting->calls || is_file;
	return event->end - event->start > waiting->time_ns;
}

void still_waiting_add(struct still_waiting *waiting, const struct event *event)
{
	bool worse;

	if (!still_waiting_is(event))
		return;
	worse = is_worse(waiting, event);
	waiting->calls++;
	if (!worse)
		return;
	waiting->time_ns = event->end - event->start;
	waiting->process = event->process;
	waiting->thread = event->thread;
	waiting->file = event->file;
	waiting->operation = event->operation;
	waiting->fault = event->flags & EVENT_FAULT;
	waiting->before = event->flags & EVENT_FAULT
				  ? event_value(event, FAULT_FLAGS) & TRACE_FAULT_BEFORE
				  : event_value(event, SYSCALL_FLAGS) & TRACE_OP_BEFORE;
	waiting->argument = (struct path_argument) { 0 };
	if (!(event->flags & EVENT_FAULT) && event_kind(event) != TRACE_SYSCALL)
		waiting->argument = path_argument_of(event);
}
