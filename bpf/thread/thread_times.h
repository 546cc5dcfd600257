/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Accounts for each nanosecond of a followed task. Between two moments when it leaves the CPU, a
 * task is blocked if it had to wait, then waits for a CPU, then runs. The kernel counts the last
 * two, as /proc/PID/schedstat shows them, and the rest is the wait. Settling both when a task
 * leaves the CPU finds the kernel's counts up to date.
 */
#pragma once

#include "core/number.h"
#include "core/profile.h"

extern const volatile bool threads_recorded;

/* --- beginning and end of what is summed up --- */

static __always_inline __u64 thread_runnable_count(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* A task begins to be followed. It may be running. */
static __always_inline void thread_begin(struct thread_account *thread, struct task_struct *task,
					 __u64 now_ns)
{
	thread->from_ns = thread->since_ns = now_ns;
	thread->in_ns = task->on_cpu ? now_ns : 0;
	thread->cpu_ns = task->se.sum_exec_runtime;
	thread->runnable_ns = thread_runnable_count(task);
	thread->user_ns = task->utime;
	thread->system_ns = task->stime;
	thread->state = THREAD_RUNNABLE;
	thread->flags = THREAD_NEW;
	thread->call = WAIT_CALL_COUNT;
}

static __always_inline __u64 thread_until(const struct thread_account *thread)
{
	return thread->since_ns + thread->ahead_ns;
}

static __always_inline void thread_fill(struct event_thread_time *event,
					const struct thread_account *thread,
					struct task_struct *task)
{
	event->header.time_ns = thread->from_ns;
	event->duration_ns = thread_until(thread) - thread->from_ns;
	__builtin_memcpy(&event->cpu_ns, thread->times, sizeof(thread->times));
	event->io_wait_ns = thread->io_wait_ns;
	event->io_ns = thread->io_ns;
	event->user_ns = task->utime - thread->user_ns;
	event->system_ns = task->stime - thread->system_ns;
}

/* Sends the sums and starts new ones. */
static __always_inline void thread_send(struct thread_account *thread, struct task_struct *task,
					struct owner owner)
{
	__u64 until_ns = thread_until(thread);
	struct event_thread_time *event;

	if (until_ns <= thread->from_ns)
		return;
	event = ring_reserve(RECORD_THREAD_TIME, sizeof(*event), owner);
	if (event) {
		thread_fill(event, thread, task);
		ring_submit(event);
	}
	thread->from_ns = until_ns;
	thread->user_ns = task->utime;
	thread->system_ns = task->stime;
	thread->io_wait_ns = thread->io_ns = 0;
	__builtin_memset(thread->times, 0, sizeof(thread->times));
}

/* --- settling --- */

/* A task's times since since_ns: first off CPU, then on one. The kernel's counts exclude time taken
 * by interrupts and the hypervisor. */
struct thread_lap {
	__u64 elapsed_ns, off_ns, cpu_ns, runnable_ns;
};

static __always_inline void thread_add(struct thread_account *thread, const struct thread_lap *lap)
{
	__u64 taken_ns = lap->cpu_ns + lap->runnable_ns + thread->ahead_ns, rest_ns = 0, waited_ns;
	__u32 state = thread->state == THREAD_RUNNABLE ? THREAD_OTHER : thread->state;

	thread->ahead_ns = 0;
	if (taken_ns > lap->elapsed_ns)
		thread->ahead_ns = taken_ns - lap->elapsed_ns;
	else
		rest_ns = lap->elapsed_ns - taken_ns;
	waited_ns = number_min(rest_ns, number_sub(lap->off_ns, lap->runnable_ns));
	thread->times[THREAD_CPU] += lap->cpu_ns;
	thread->times[THREAD_RUNNABLE] += lap->runnable_ns;
	if (state < THREAD_STATE_COUNT)
		thread->times[state] += waited_ns;
	thread->times[THREAD_OTHER] += rest_ns - waited_ns;
	if (thread->flags & THREAD_IN_IO)
		thread->io_wait_ns += lap->off_ns;
	thread->since_ns += lap->elapsed_ns;
}

#define WAKE_RACE_NS 20000 /* a task is woken on its way to leaving the CPU */

/* For how long a task that has got a CPU had waited for it. `count`: by the kernel. */
static __always_inline __u64 thread_runnable_lap(const struct thread_account *thread,
						 struct task_struct *task, __u64 count)
{
	if (bpf_core_field_exists(task->sched_info.run_delay))
		return count - thread->runnable_ns;
	if (thread->in_ns <= thread->since_ns)
		return 0;
	if (thread->woken_ns > thread->since_ns)
		return number_sub(thread->in_ns, thread->woken_ns);
	/* If it was blocked, the end of its wait is unknown. */
	return thread->state == THREAD_RUNNABLE ||
			       thread->woken_ns + WAKE_RACE_NS > thread->since_ns
		       ? thread->in_ns - thread->since_ns
		       : 0;
}

/* The task leaves its CPU. */
static __always_inline void thread_settle_switch(struct thread_account *thread,
						 struct task_struct *task, __u64 now_ns)
{
	__u64 cpu_ns = task->se.sum_exec_runtime, runnable_ns = thread_runnable_count(task);
	struct thread_lap lap = { .elapsed_ns = now_ns > thread->since_ns
							? now_ns - thread->since_ns
							: 0 };

	if (thread->in_ns > thread->since_ns)
		lap.off_ns = number_min(thread->in_ns - thread->since_ns, lap.elapsed_ns);
	lap.cpu_ns = cpu_ns - thread->cpu_ns;
	lap.runnable_ns = thread_runnable_lap(thread, task, runnable_ns);
	if (thread->flags & THREAD_NEW) {
		bool ran_at_once = thread->in_ns == thread->since_ns;

		lap.cpu_ns = ran_at_once ? lap.elapsed_ns : number_min(lap.cpu_ns, lap.elapsed_ns);
		lap.runnable_ns = number_min(lap.runnable_ns, lap.elapsed_ns - lap.cpu_ns);
		thread->flags &= ~THREAD_NEW;
	}
	thread_add(thread, &lap);
	thread->cpu_ns = cpu_ns;
	thread->runnable_ns = runnable_ns;
}

/* Settles a task that has a CPU, or none, without a switch. A task off CPU is not settled again. */
static __always_inline void thread_settle_now(struct thread_account *thread,
					      struct task_struct *task, __u64 now_ns)
{
	struct thread_lap lap = {};
	__u64 runnable_ns = thread_runnable_count(task), ahead_ns;

	if (now_ns <= thread->since_ns)
		return;
	lap.elapsed_ns = lap.off_ns = now_ns - thread->since_ns;
	if (thread->in_ns >= thread->since_ns) {
		lap.cpu_ns = number_sub(now_ns, thread->in_ns);
		lap.off_ns = lap.elapsed_ns - lap.cpu_ns;
		lap.runnable_ns =
			number_min(thread_runnable_lap(thread, task, runnable_ns), lap.off_ns);
		thread->in_ns = now_ns;
		thread->flags |= THREAD_NEW; /* the kernel counts what it ran at the next switch */
	} else if (thread->state == THREAD_RUNNABLE) {
		lap.runnable_ns = lap.elapsed_ns;
	} else if (thread->woken_ns > thread->since_ns) {
		lap.runnable_ns = number_sub(now_ns, thread->woken_ns);
	}
	thread_add(thread, &lap);
	thread->runnable_ns = runnable_ns;
	/* Nothing follows that would make up for what is ahead. */
	ahead_ns = number_min(thread->ahead_ns, thread->times[THREAD_CPU]);
	thread->times[THREAD_CPU] -= ahead_ns;
	thread->ahead_ns -= ahead_ns;
}

/* A thread, the current task, ends. */
static __always_inline void thread_end(struct thread_account *thread, struct task_struct *task,
				       __u64 now_ns, struct owner owner)
{
	if (!threads_recorded)
		return;
	thread_settle_now(thread, task, now_ns);
	thread_send(thread, task, owner);
}

/* A thread, the current task, continues under another id. It already had that when it was last
 * switched, so the switch was not seen. */
static __always_inline void thread_rename(struct thread_account *thread, struct task_struct *task,
					  __u64 now_ns, struct owner owner)
{
	if (!threads_recorded)
		return;
	thread_settle_switch(thread, task, now_ns);
	thread->in_ns = now_ns;
	thread->flags |= THREAD_NEW;
	thread_send(thread, task, owner);
}
