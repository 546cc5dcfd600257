/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * For iterators over tasks: whether another task is in a page fault, or in a call that began before
 * the task was followed; and the rows of operations in flight.
 */
#pragma once

#include "core/blocked.h"
#include "core/profile.h"
#include "fault/vma.h"
#include "syscall/call_args.h"

/*
 * Returns the row of a call that was already in flight when its task began to be followed; `op` 0:
 * none. The registers at the top of the stack belong to a call only while the task is blocked in
 * the kernel; in a fault, the call number is -1.
 */
static __always_inline struct call_row call_before(struct task_state *state,
						   struct task_struct *task, struct call_args *args,
						   __u64 number)
{
	struct call_row row = {};

	if (!attach_to || !(state->before & BEFORE_CALL) || !state->armed_ns)
		return row;
	if (!task->__state || call_is_compat(task) || number >= CALL_TABLE_SIZE)
		return row;
	row = call_row(number);
	if (row.traits & CALL_REQUEST)
		row = request_row(row, number, args);
	return row;
}

/*
 * Whether the task is really in the fault that its state holds. The kernel counts a fault once it
 * is done. An attempt with faults disabled, which the kernel repeats, never reaches a file.
 */
static __always_inline bool fault_is_in_flight(struct fault_state *fault, struct task_struct *task,
					       __u64 number)
{
	if (!fault->account.op || (__u32)(task->maj_flt + task->min_flt) != fault->count_start)
		return false;
	return fault->account.mapping || (!(fault->account.flags & TRACE_FAULT_KERNEL) &&
					  task->__state && number >= CALL_TABLE_SIZE);
}

/* Whether the task has been in a fault since before it was followed; its address is unknown. */
static __always_inline bool fault_before(struct task_state *state, struct task_struct *task,
					 __u64 number)
{
	return attach_to && state->before & BEFORE_FAULT && state->armed_ns &&
	       !state->fault.account.op && task->__state & TASK_UNINTERRUPTIBLE &&
	       number >= CALL_TABLE_SIZE && !call_is_compat(task);
}

/*
 * Reads a path of at most `size` bytes, a constant of at most a page, from the task's memory.
 * Returns its length with the NUL, 0 if it cannot be read. A longer path is cut. The helper copies
 * all or nothing, and the path may be in the last page of its mapping.
 */
static __always_inline __u32 path_read_task(char *text, const __u32 size, struct task_struct *task,
					    __u64 pointer)
{
	__u64 rest = PAGE_BYTES - (pointer & (PAGE_BYTES - 1));
	long bytes;

	text[0] = 0;
	if (!reads_other_tasks)
		return 0;
	if (bpf_copy_from_user_task(text, size, (void *)pointer, task, 0)) {
		BARRIER_VAR(rest);
		if (rest >= size || bpf_copy_from_user_task(text, rest, (void *)pointer, task, 0))
			return 0;
		text[rest] = 0;
	}
	/* Copying it onto itself finds its end without a loop to verify. */
	bytes = bpf_probe_read_kernel_str(text, size, text);
	return bytes > 0 ? bytes : 0;
}

/* --- rows of operations in flight --- */

/* An operation in flight of a task, or of its process. */
struct in_flight {
	struct op_account *account;
	struct task_struct *task;
	struct profile_key key;
	__u64 start_ns;
	__u64 summed_ns; /* the account's, read first */
	__u64 path;	 /* in the task's memory; 0: none */
	__u32 tid;
	__u32 flags; /* IN_FLIGHT_BEFORE, IN_FLIGHT_ASYNC */
	__u32 count; /* operations that its row stands for */
};

/* Adds the time since the last reading, unless the operation has just ended. */
static __always_inline void in_flight_sum(struct in_flight *found, __u64 now_ns)
{
	__u64 from_ns = found->summed_ns > found->start_ns ? found->summed_ns : found->start_ns;

	if (!in_flight_summed || now_ns <= from_ns)
		return;
	if (__sync_val_compare_and_swap(&found->account->summed_ns, found->summed_ns, now_ns) !=
	    found->summed_ns)
		return;
	profile_add_time(&found->key, found->task, found->start_ns, now_ns - from_ns);
}

/* Adds its time so far to the sums; false if it is too short to be listed. */
static __always_inline bool in_flight_is_due(struct in_flight *found)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (!found->key.op || now_ns < found->start_ns + IN_FLIGHT_MIN_NS)
		return false;
	in_flight_sum(found, now_ns);
	return true;
}

static __always_inline void in_flight_send(struct in_flight *found, struct seq_file *out)
{
	struct task_struct *leader = TASK_POINTER(found->task, group_leader);
	struct event_in_flight *row;

	row = scratch_get();
	if (!row)
		return;
	row->start_ns = found->start_ns;
	row->process_start_ns = TASK_POINTER(leader, start_time);
	row->pid = found->task->tgid;
	row->tid = found->tid;
	row->file = found->key.file;
	row->op = found->key.op;
	row->flags = found->flags | (flight_keeps(found->task->tgid) ? IN_FLIGHT_KEPT : 0);
	row->count = found->count;
	row->pad = 0;
	row->blocked = blocked_thread(found->task);
	row->path[0] = 0;
	if (found->path)
		path_read_task(row->path, sizeof(row->path), found->task, found->path);
	bpf_seq_write(out, row, sizeof(*row));
	scratch_put(row);
}
