// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Accounts for the time of every followed thread, and records its long waits.
 */
#include "stack/unfinished.h"
#include "thread/thread_in.h"

const volatile bool threads_recorded = false;
const volatile struct wait_call wait_calls[WAIT_CALL_COUNT] __weak = {};

static __always_inline void thread_out(struct task_state *state, struct task_struct *task,
				       bool preempted, __u64 now_ns)
{
	struct thread_account *thread = &state->thread;

	thread_check_seen(state, WAIT_HAS_LEFT);
	thread_settle_switch(thread, task, now_ns);
	if (now_ns >= thread->from_ns + THREAD_SEND_NS)
		thread_send(thread, task, owner_of(task));
	if (preempted || !(task->__state & ~TASK_WAKING)) {
		thread->state = THREAD_RUNNABLE;
		thread->flags = wait_in_file_fault(state, task) || wait_in_io_call(state)
					? THREAD_IN_IO
					: 0;
	} else {
		wait_begin(state, task);
	}
}

/* Runs with interrupts disabled. `prev` is still the current task. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(fl_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct task_state *state = task_followed(prev);

	if (state)
		thread_out(state, prev, preempt, bpf_ktime_get_ns());
	state = task_followed(next);
	if (state)
		thread_in(state, next, bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(fl_waking, struct task_struct *task)
{
	struct task_state *state = task_followed(task);

	if (!state)
		return 0;
	state->thread.woken_ns = bpf_ktime_get_ns();
	wait_note_waker(&state->thread);
	return 0;
}

/* --- threads that are alive at the end of the recording, or when it is read --- */

#define THREAD_COPIES_MAX 4

/* Set before the iterator runs: 0 while a recording goes on. */
volatile __u64 threads_end_ns = 0;

/* Samples a wait in a system call that is no recorded operation, with the earlier waits of this
 * call: they have no sample yet. */
static __always_inline void thread_sample(struct task_state *state, struct task_struct *task)
{
	const struct thread_account *thread = &state->thread;
	const struct unfinished unfinished = {
		.start_ns = state->stack.wait_ns ? state->stack.wait_start_ns : thread->since_ns,
		.duration_ns = state->stack.wait_ns + threads_end_ns - thread->since_ns,
		.offset = -1,
		.op = OP_NONE,
		.state = thread->state,
	};

	sample_send_unfinished(state, task, &unfinished);
}

/* Whether it has had no CPU since it was blocked, and nothing has woken it. */
static __always_inline bool thread_is_blocked(const struct thread_account *thread)
{
	return thread->in_ns < thread->since_ns && thread->woken_ns <= thread->since_ns &&
	       thread->state != THREAD_RUNNABLE;
}

static __always_inline void thread_finish(struct task_state *state, struct task_struct *task)
{
	struct thread_account *thread = &state->thread;
	bool woken = thread->woken_ns > thread->since_ns;
	__u64 until_ns = woken ? thread->woken_ns : threads_end_ns;

	/* It has no CPU: see thread_in. */
	if (thread->in_ns < thread->since_ns && wait_is_event(thread, until_ns, task->tgid))
		wait_send(thread, task, until_ns, woken ? 0 : TRACE_WAIT_UNFINISHED);
	if (stack_period_ns && thread_is_blocked(thread) && !state->stack.sampled &&
	    threads_end_ns >= thread->since_ns + WAIT_MIN_NS)
		thread_sample(state, task);
	thread_settle_now(thread, task, threads_end_ns);
	thread_send(thread, task, owner_of(task));
}

/*
 * Copies an account that its task may be changing. Returns false if every attempt met a change. The
 * times add up to what they cover, except during a change, and since_ns is different after it.
 */
static __always_inline bool thread_copy(struct thread_account *copy,
					const struct thread_account *thread)
{
	for (int attempt = 0; attempt < THREAD_COPIES_MAX; attempt++) {
		__u64 sum_ns = 0;

		*copy = *thread;
		barrier();
		for (int state = 0; state < THREAD_STATE_COUNT; state++)
			sum_ns += copy->times[state];
		if (sum_ns == copy->since_ns + copy->ahead_ns - copy->from_ns &&
		    copy->since_ns == *(const volatile __u64 *)&thread->since_ns)
			return true;
	}
	return false;
}

/* Writes what a thread has done since its last record. The task may be running, so only a
 * copy is settled. */
static __always_inline void thread_show(struct task_state *state, struct task_struct *task,
					struct seq_file *out)
{
	struct task_struct *leader = TASK_POINTER(task, group_leader);
	struct thread_account *copy = scratch_get();
	struct event_thread_now row = {
		.process_start_ns = TASK_POINTER(leader, start_time),
		.now_ns = bpf_ktime_get_ns(),
		.flags = flight_keeps(task->tgid) ? IN_FLIGHT_KEPT : 0,
	};

	row.time.header.pid = row.wait.header.pid = task->tgid;
	row.time.header.tid = row.wait.header.tid = task->pid;
	if (copy && thread_copy(copy, &state->thread)) {
		if (thread_is_blocked(copy) && row.now_ns >= copy->since_ns + WAIT_MIN_NS) {
			row.wait.header.time_ns = copy->since_ns;
			row.wait.state = copy->state;
			if (wait_is_event(copy, row.now_ns, task->tgid))
				wait_fill(&row.wait, copy, task, row.now_ns, TRACE_WAIT_UNFINISHED);
			row.blocked = blocked_thread(task);
			if (state->thread.since_ns != copy->since_ns ||
			    state->thread.woken_ns != copy->woken_ns)
				row.blocked.runs = SAMPLE_RUNS_UNKNOWN;
		}
		thread_settle_now(copy, task, row.now_ns);
		thread_fill(&row.time, copy, task);
	}
	if (copy)
		scratch_put(copy);
	bpf_seq_write(out, &row, sizeof(row));
}

SEC("?iter/task")
int fl_threads(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task)
		return 0;
	state = task_state(task);
	if (!state || state->mode != TASK_FOLLOWED)
		return 0;
	if (threads_end_ns)
		thread_finish(state, task);
	else
		thread_show(state, task, context->meta->seq);
	return 0;
}
