/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of operations and waits that have not ended when the recording does.
 */
#pragma once

#include "core/blocked.h"
#include "core/ring.h"
#include "core/state.h"

/* An operation; or, if `op` is OP_NONE, a wait in the thread state `state`. */
struct unfinished {
	__u64 start_ns, duration_ns;
	__s64 offset;
	__u32 file, op, state, fetched_pages;
};

static __always_inline void sample_send_unfinished(struct task_state *state,
						   struct task_struct *task,
						   const struct unfinished *unfinished)
{
	struct event_sample *event = ring_reserve(RECORD_SAMPLE, sizeof(*event), owner_of(task));
	struct blocked_thread blocked;

	if (!event)
		return;
	state->stack.sampled = 1;
	event->header.time_ns = unfinished->start_ns;
	event->duration_ns = unfinished->duration_ns;
	event->weight_ns = unfinished->duration_ns;
	event->offset = unfinished->offset;
	event->file = unfinished->file;
	event->op = unfinished->op;
	event->fetched_pages = unfinished->fetched_pages;
	event->flags = TRACE_SAMPLE_UNFINISHED;
	event->state = unfinished->state;
	event->stack = 0;
	blocked = blocked_thread(task);
	event->thread_pointer = blocked.thread_pointer;
	event->tid_inside = blocked.tid_inside;
	event->runs = blocked.runs;
	ring_submit(event);
}
