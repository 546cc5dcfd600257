/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes the stack of a thread at the end of an operation or wait that took a period or more, with
 * that time as its weight. The time of shorter ones is added up; each time the sum reaches a
 * period, a stack is taken for one period, and the rest is carried over. Resetting the sum instead,
 * or leaving out short operations, would put ten times as much time on the wrong line.
 */
#pragma once

#include "stack/native.h"
#include "stack/walk.h"

/* Returns where the current process runs an interpreter that is known. Sets *runtime to the address
 * of its _PyRuntime. */
static __always_inline struct python_layout *python_layout_here(__u32 process, __u64 *runtime)
{
	struct python_process *known = bpf_map_lookup_elem(&python_processes, &process);
	struct python_layout *layout;

	if (!known)
		return NULL;
	*runtime = known->program.address;
	layout = python_layout_of(&known->program);
	if (!layout || !layout->version) {
		*runtime = known->library.address;
		layout = python_layout_of(&known->library);
	}
	if (!layout) {
		python_ask_again(process);
		return NULL;
	}
	if (!layout->version)
		return NULL;
	*runtime += layout->runtime;
	return layout;
}

/* Returns TRACE_SAMPLE_*, and sets draft->id. */
static __always_inline __u32 stack_name(struct task_state *state, struct stack_draft *draft)
{
	struct python_layout *layout;
	__u64 runtime;
	__u32 flags;

	draft->id = 0;
	layout = python_layout_here(state->pid, &runtime);
	if (!layout)
		return TRACE_SAMPLE_NO_PYTHON;
	flags = python_find_thread(state, layout, runtime);
	return flags ? flags : frames_walk(draft, layout, state->stack.thread);
}

static __always_inline void sample_set_operation(struct event_sample *event,
						 const struct task_state *state,
						 const struct op_account *account, __u32 op)
{
	event->header.time_ns = account->start_ns;
	event->offset = account->offset;
	event->file = account->file;
	event->op = op;
	event->state = SAMPLE_IO;
	event->fetched_pages = account->fetched_pages;
	if (account == &state->call.account)
		event->fetched_pages += state->call.fault_fetched_pages;
}

static __always_inline void sample_set_state(struct event_sample *event,
					     const struct task_state *state, __u32 thread_state)
{
	bool on_cpu = thread_state == THREAD_CPU;

	event->header.time_ns = on_cpu ? bpf_ktime_get_ns() : state->stack.wait_start_ns;
	event->offset = -1;
	event->file = 0;
	event->op = on_cpu ? state->call.account.op : OP_NONE;
	event->state = thread_state;
	event->fetched_pages = 0;
}

/* Sets the draft's id for the stack of the current thread. Returns TRACE_SAMPLE_*. */
static __always_inline __u32 stack_walk(struct task_state *state, struct stack_draft *draft)
{
	__u32 flags;

	state->stack.walking++;
	flags = stack_name(state, draft);
	state->stack.walking--;
	return flags;
}

/* Sends a sample of an operation; or, if `account` is NULL, of the thread state `what`. Global, so
 * that it is verified once. */
__noinline int stack_take(struct task_state *state, const struct op_account *account, __u32 what,
			  __u64 duration_ns, __u64 weight_ns)
{
	struct stack_draft *draft = stack_draft_get();
	struct event_sample *event;

	if (!draft)
		return ring_lose(RECORD_SAMPLE);
	if (state) {
		event = &draft->sample;
		event->duration_ns = duration_ns;
		event->weight_ns = weight_ns;
		if (account)
			sample_set_operation(event, state, account, what);
		else
			sample_set_state(event, state, what);
		event->flags = stack_walk(state, draft);
		event->stack = draft->id;
		if ((draft->id || !stack_required) && (!stacks_native || !native_send(event)))
			ring_output(&event->header, RECORD_SAMPLE, event->header.time_ns,
				    sizeof(*event), owner_of(bpf_get_current_task_btf()));
	}
	stack_draft_put(draft);
	return 0;
}

/* The current thread ends its process; by the time it exits, its memory is gone. Global, like
 * stack_take. */
__noinline int stack_end(struct task_state *state)
{
	struct stack_draft *draft = stack_draft_get();

	if (!draft)
		return 0;
	if (state) {
		stack_walk(state, draft);
		state->stack.ended_at = draft->id;
	}
	stack_draft_put(draft);
	return 0;
}

/* Returns the weight of the sample that is due after this time, or 0 if none is. *rest_ns is the
 * time that earlier samples did not cover. */
static __always_inline __u64 sample_weight(__u64 *rest_ns, __u64 duration_ns)
{
	if (duration_ns >= stack_period_ns)
		return duration_ns;
	*rest_ns += duration_ns;
	if (*rest_ns < stack_period_ns)
		return 0;
	*rest_ns -= stack_period_ns;
	return stack_period_ns;
}

/* An operation outside of others has ended; `account` may be closed, but not reused. Its time
 * includes its waits. */
static __always_inline void stack_operation(struct task_state *state,
					    const struct op_account *account, __u32 op,
					    __u64 duration_ns)
{
	__u64 weight_ns;

	state->thread.io_ns += duration_ns;
	if (!stack_period_ns)
		return;
	state->stack.wait_ns = 0;
	weight_ns = sample_weight(&state->stack.operations_ns, duration_ns);
	if (weight_ns)
		stack_take(state, account, op, duration_ns, weight_ns);
}

/* A system call that is not a recorded operation has ended. Its stack stands for its waits. */
static __always_inline void stack_waits(struct task_state *state)
{
	__u64 duration_ns = state->stack.wait_ns, weight_ns;

	if (!stack_period_ns || !duration_ns)
		return;
	state->stack.wait_ns = 0;
	weight_ns = sample_weight(&state->stack.waits_ns, duration_ns);
	if (weight_ns)
		stack_take(state, NULL, state->stack.wait_state, duration_ns, weight_ns);
}
