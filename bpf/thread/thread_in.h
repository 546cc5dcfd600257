/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A thread gets a CPU: its wait is over.
 */
#pragma once

#include "thread/thread_wait.h"

/* Waits are attributed to a stack when their system call ends: the stack is still the same then,
 * and its memory that of the current task. */
static __always_inline void wait_note_for_stack(struct stack_task *stack,
						const struct thread_account *thread)
{
	__u64 waited_ns = thread->woken_ns - thread->since_ns;

	if (thread->woken_ns <= thread->since_ns)
		return;
	if (!stack->wait_ns) {
		stack->wait_start_ns = thread->since_ns;
		stack->wait_longest_ns = 0;
	}
	stack->wait_ns += waited_ns;
	if (waited_ns > stack->wait_longest_ns) {
		stack->wait_longest_ns = waited_ns;
		stack->wait_state = thread->state;
	}
}

static __always_inline void thread_in(struct task_state *state, struct task_struct *task,
				      __u64 now_ns, __u32 flags)
{
	struct thread_account *thread = &state->thread;

	if (thread->woken_ns > thread->since_ns &&
	    wait_is_event(thread, thread->woken_ns, task->tgid))
		wait_send(thread, task, thread->woken_ns, flags);
	if (stack_period_ns && thread->state != THREAD_RUNNABLE)
		wait_note_for_stack(&state->stack, thread);
	thread->in_ns = now_ns;
}

/* Catches up if the switch to the current thread was not seen, or what woke it: a virtual machine's
 * tasks may be switched and woken without an event. If the wakeup is missing, the wait is taken to
 * have ended before the time that the kernel has counted since, of waiting for a CPU and, if the
 * switch is missing, on one. Global, so that it is verified once. */
__noinline int thread_check_seen(struct task_state *state, __u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_account *thread;
	__u64 counted_ns, ended_ns;
	bool woken, switched;

	if (!state)
		return 0;
	thread = &state->thread;
	woken = thread->woken_ns > thread->since_ns;
	switched = thread->in_ns >= thread->since_ns;
	if ((woken && switched) || thread->state == THREAD_RUNNABLE)
		return 0;
	if (!woken) {
		counted_ns = thread_runnable_lap(thread, task, thread_runnable_count(task));
		if (!switched)
			counted_ns += task->se.sum_exec_runtime - thread->cpu_ns;
		ended_ns = number_sub(switched ? thread->in_ns : bpf_ktime_get_ns(), counted_ns);
		thread->woken_ns = ended_ns > thread->since_ns ? ended_ns : thread->since_ns + 1;
		thread->waker_pid = thread->waker_tid = 0;
	}
	thread_in(state, task, switched ? thread->in_ns : thread->woken_ns, flags);
	return 0;
}
