/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of operations and waits that have not ended when the recording does. Their stacks are
 * read by the user side: the memory of a task that is not the current one is out of reach here, and
 * the stack of a blocked one does not change.
 */
#ifndef FAULTLINE_BPF_UNFINISHED_H
#define FAULTLINE_BPF_UNFINISHED_H

#include "core/pid.h"
#include "core/ring.h"
#include "core/settings.h"
#include "core/state.h"

/* Fills in what the user side needs to find the thread, and to see that it has not run since. */
static __always_inline void sample_set_thread(struct event_sample *event, struct task_struct *task)
{
	__u64 pid = (__u64)TASK_POINTER(task, thread_pid);

	event->thread_pointer = 0;
#ifdef __TARGET_ARCH_x86
	event->thread_pointer = task->thread.fsbase;
#endif
	event->tid_inside = pid ? pid_at_level(pid, KREAD(pid, pid, level)) : 0;
	event->runs = SAMPLE_RUNS_UNKNOWN;
	if (bpf_core_field_exists(task->sched_info.pcount))
		event->runs = task->sched_info.pcount;
}

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
	sample_set_thread(event, task);
	ring_submit(event);
}

#endif
