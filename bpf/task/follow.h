/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Starts to follow a task: a new child, or a running task at any point of its execution.
 */
#pragma once

#include "core/settings.h"
#include "core/state.h"
#include "thread/thread_wait.h"

/* Takes the slot of a task that begins to be followed; NULL if another task holds it. */
static __always_inline struct task_slot *task_take_slot(struct task_struct *task, __u64 now_ns)
{
	struct task_slot *slot = task_slot(task->pid);
	__u64 owner;

	if (!slot)
		return NULL;
	owner = slot->owner;
	/* A task that exited and had the same address and thread id leaves a slot that looks like
	 * this task's; nothing uses it any more. */
	if (owner && !(slot->exited_ns && (now_ns - slot->exited_ns > SLOT_REST_NS ||
					   task_slot_matches(slot, task, task->pid))))
		return NULL;
	if (__sync_val_compare_and_swap(&slot->owner, owner, (__u64)task) != owner)
		return NULL;
	slot->exited_ns = 0;
	slot->regs = 0;
	slot->tid = task->pid;
	return slot;
}

/* Makes the address of the task's registers lead to its slot, or to nothing if `slot` is NULL. */
static __always_inline void call_slot_take(struct task_struct *task, struct task_slot *slot)
{
	struct pt_regs *regs = task_regs(task);
	struct call_slot *entry = call_slot(regs);
	__u64 owner;

	if (!entry)
		return;
	owner = entry->regs;
	if (slot && owner != (__u64)regs) {
		struct task_slot *other = task_slot(entry->tid);

		/* An entry is only taken from a task that has exited. */
		if (owner && other && other->regs == owner && !other->exited_ns)
			slot = NULL;
		else if (__sync_val_compare_and_swap(&entry->regs, owner, (__u64)regs) != owner)
			slot = NULL;
	}
	if (!slot) {
		entry->overflow = 1;
		if (owner == (__u64)regs)
			entry->regs = 0; /* it belongs to a task that had this stack before */
		return;
	}
	slot->regs = (__u64)regs;
	entry->tid = slot->tid;
}

/* Returns the memory for the state of a task that begins to be followed or gets another id: zeroed
 * if it is a slot; NULL if there is none. */
static __always_inline struct task_state *task_place_state(struct task_struct *task, __u64 now_ns)
{
	struct task_slot *slot = task_take_slot(task, now_ns);

	if (slot)
		__builtin_memset(&slot->state, 0, sizeof(slot->state));
	call_slot_take(task, slot);
	if (slot)
		return &slot->state;
	slot = task_slot(task->pid);
	if (slot)
		slot->overflow = 1;
	return bpf_task_storage_get(&overflow_states, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Returns a fresh state for a task that begins to be followed; NULL if there is no memory. */
static __always_inline struct task_state *task_take_state(struct task_struct *task, __u64 now_ns)
{
	struct task_state *state = task_place_state(task, now_ns);

	if (!state)
		return NULL;
	state->pid = task->tgid;
	state->tid = task->pid;
	thread_begin(&state->thread, task, now_ns);
	/* Sums begin at a random part of a period. This makes up, on average, for the part that is
	 * left when the thread ends, so many short threads get their share of samples. */
	if (stack_period_ns) {
		state->stack.operations_ns = bpf_get_prandom_u32() % stack_period_ns;
		state->stack.waits_ns = bpf_get_prandom_u32() % stack_period_ns;
	}
	return state;
}

static __always_inline void task_set_mode(struct task_struct *task, struct task_state *state,
					  __u32 mode)
{
	__u32 *stored_mode = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	state->mode = mode;
	if (stored_mode)
		*stored_mode = mode;
}

/*
 * Follows a task from now on. Only the first caller for a task succeeds: when recordings attach,
 * the iterator over tasks and a fork may race. `running`: the task may be in the middle of a call
 * or a fault. The state is valid once its mode is set, which happens last.
 */
enum { FOLLOW_BEGUN, FOLLOW_ALREADY, FOLLOW_ENDED, FOLLOW_NO_MEMORY };

static __always_inline int task_follow(struct task_struct *task, __u64 now_ns, bool running)
{
	__u32 *stored_mode = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct task_state *state;
	struct task_slot *slot;

	if (!stored_mode)
		return FOLLOW_NO_MEMORY;
	if (__sync_val_compare_and_swap(stored_mode, TASK_IGNORED, TASK_FOLLOWED) != TASK_IGNORED)
		return FOLLOW_ALREADY;
	state = task_take_state(task, now_ns);
	if (!state) {
		*stored_mode = TASK_IGNORED;
		return FOLLOW_NO_MEMORY;
	}
	if (running) {
		state->before = BEFORE_CALL | BEFORE_FAULT;
		state->major_before = task->maj_flt;
		state->minor_before = task->min_flt;
		if (threads_recorded && !task->on_cpu && task->__state)
			wait_begin(state, task);
	}
	__sync_val_compare_and_swap(&state->mode, TASK_IGNORED, TASK_FOLLOWED);
	/* If the task is already exiting, its exit program may have run before. */
	if (!(task->flags & PF_EXITING))
		return FOLLOW_BEGUN;
	state->mode = TASK_IGNORED;
	slot = task_slot(task->pid);
	if (slot && task_slot_matches(slot, task, task->pid))
		slot->exited_ns = now_ns;
	return FOLLOW_ENDED;
}
