/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * VFS operations in flight of followed tasks, of their io workers and of kernel threads, and how
 * they become records.
 *
 * A VFS function may be called inside another one: a read of an overlay file reads the layer's
 * file. The stack pointer shows which calls are still active: a nested call is below its caller,
 * and whatever is below a call that starts or ends has ended, seen or not.
 *
 * The functions are global: one copy serves all programs (bpf/core/file.h).
 */
#pragma once

#include "syscall/call_args.h"
#include "core/profile.h"

#define EIOCBQUEUED 529

/* a layer of its own records io_uring and libaio operations */
extern const volatile bool async_recorded;

/* One call of a function. The account's operation is that of the function, and its offset is the
 * one at the start. */
struct vfs_frame {
	__u64 at;	/* stack address that identifies the call */
	__u64 file;	/* addresses: read from, never trusted */
	__u64 position; /* 0: it has none */
	__u64 requested_bytes;
	struct op_account account;
};

/* The stack pointer of a kretprobe exceeds that of its kprobe by at most this much, for the return
 * address. Nested calls are further apart. */
#define RETURN_SLACK 16

#define VFS_DEPTH 4 /* overlays stack two deep, and splice comes on top */

struct vfs_task {
	__u32 depth;
	__u32 pad;
	struct vfs_frame frames[VFS_DEPTH]; /* outermost first */
};

/* Separate task storage: kernel threads have no other state. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct vfs_task);
} vfs_tasks SEC(".maps");

/* Whether the operations of a task are recorded: followed tasks, their io workers, and kernel
 * threads. */
static __always_inline bool vfs_is_recorded(struct task_struct *task)
{
	return task->flags & PF_KTHREAD || task_followed(task);
}

/* Drops the frames below a stack address. Their ends were not seen, so their results are unknown.
 * Not counted once the recording is ending: exit programs are detached before entry programs. */
static __always_inline void vfs_drop(struct vfs_task *all, __u64 at)
{
	for (int i = 0; i < VFS_DEPTH; i++) {
		__u32 top = all->depth - 1;

		if (top >= VFS_DEPTH || all->frames[top].at >= at)
			return;
		all->depth = top;
		if (!recording_ended)
			ring_lose(RECORD_VFS);
	}
}

/* Whether a sync continues one in flight: sync functions call each other for the same file, and one
 * that ends in a tail call does so at the same address. */
static __always_inline bool vfs_continues_sync(const struct vfs_task *all,
					       const struct vfs_frame *begin)
{
	__u32 top = all->depth - 1;

	return begin->account.op == OP_VFS + VFS_FSYNC_RANGE && top < VFS_DEPTH &&
	       all->frames[top].account.op == begin->account.op &&
	       all->frames[top].file == begin->file && all->frames[top].at >= begin->at;
}

/* A call starts; `begin` is its frame, except for the start time. */
__noinline int vfs_enter(struct vfs_frame *begin)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct vfs_frame *frame;
	struct vfs_task *all;
	struct inode *inode;
	__s64 offset;
	__u32 depth;
	bool wanted;

	if (!begin)
		return 0;
	inode = KREAD(file, begin->file, f_inode);
	wanted = file_class(inode) & file_classes;
	all = bpf_task_storage_get(&vfs_tasks, task, 0,
				   wanted ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!all)
		return wanted ? ring_lose(RECORD_VFS) : 0;
	if (wanted && vfs_continues_sync(all, begin))
		return 0;
	/* A call with an unseen end may have left a frame that the end of this call would match: at
	 * the same address, or a few bytes above it, because the kernel shifts the stack of each
	 * system call by a random offset (add_random_kstack_offset). Unrecorded calls match,
	 * too. */
	vfs_drop(all, begin->at + RETURN_SLACK + 1);
	if (!wanted)
		return 0;
	depth = all->depth;
	if (depth >= VFS_DEPTH)
		return ring_lose(RECORD_VFS);
	frame = &all->frames[depth];
	*frame = *begin;
	if (begin->position &&
	    !bpf_probe_read_kernel(&offset, sizeof(offset), (const void *)begin->position))
		frame->account.offset = offset;
	all->depth = depth + 1;
	frame->account.start_ns = bpf_ktime_get_ns();
	return 0;
}

/* --- end of a call --- */

/* Whether the operation is counted separately. That applies to work on behalf of a recorded call,
 * of another operation, or of a task that is not followed. */
static __always_inline bool vfs_is_separate(struct task_state *state, __u32 op, __u32 flags)
{
	__u32 traits;

	if (flags & (TRACE_VFS_NESTED | TRACE_VFS_THREAD) ||
	    (async_recorded && flags & TRACE_VFS_WORKER))
		return true;
	if (!state || !(flags & TRACE_VFS_IN_CALL))
		return false;
	traits = calls[state->call.number & (CALL_TABLE_SIZE - 1)].traits;
	if (traits & CALL_SUBMITS)
		return async_recorded;
	return op == OP_VFS + VFS_FSYNC_RANGE || traits & CALL_BYTES;
}

static __always_inline __u32 vfs_flags(struct task_struct *task, struct task_state *state,
				       struct file *file)
{
	__u32 flags = KREAD(file, file, f_flags);

	return (flags & O_DIRECT ? TRACE_VFS_DIRECT : 0) |
	       (flags & O_APPEND ? TRACE_VFS_APPEND : 0) | (flags & O_DSYNC ? TRACE_VFS_SYNC : 0) |
	       (KREAD(inode, KREAD(file, file, f_inode), i_nlink) ? 0 : TRACE_VFS_UNLINKED) |
	       (task->flags & PF_KTHREAD ? TRACE_VFS_THREAD : 0) |
	       (task->flags & PF_IO_WORKER ? TRACE_VFS_WORKER : 0) |
	       (state && state->call.account.op ? TRACE_VFS_IN_CALL : 0);
}

/* Returns the file as it was opened. Nested operations may use the layer's file, whatever name it
 * was opened by, and are recorded under that file. */
static __always_inline __u32 vfs_file(struct task_state *state, struct file *file, __u32 flags,
				      bool separate)
{
	struct file_facts facts = {};
	struct address inode;

	if (separate && flags & (TRACE_VFS_NESTED | TRACE_VFS_IN_CALL)) {
		inode.at = (__u64)KREAD(file, file, f_inode);
		return file_id_of_inode(&inode);
	}
	if (state)
		return file_id_of(state, file);
	file_facts_of(file, &facts);
	return file_id(&facts, false) & ~FILE_UNANNOUNCED;
}

/* Whether the result of a function is bytes. */
static __always_inline bool vfs_moves(__u32 op)
{
	return op != OP_VFS + VFS_FSYNC_RANGE && op != OP_VFS + VFS_FUNCTIONS + VFS_FSYNC_RANGE;
}

/* Adds a call to its slot instead of sending a record. */
static __noinline int vfs_profile(const struct vfs_frame *frame, __u32 pid, __u64 duration_ns,
				  __s64 result)
{
	const bool moves = vfs_moves(frame->account.op);
	__u32 flags = frame->account.flags;
	struct profile_done done;

	profile_fill(&done, &frame->account, pid, duration_ns, result, moves);
	done.key.flags = (flags & TRACE_VFS_DIRECT ? TRACE_PROFILE_DIRECT : 0) |
			 (flags & TRACE_VFS_UNLINKED ? TRACE_PROFILE_UNLINKED : 0) |
			 (flags & TRACE_VFS_IN_CALL ? TRACE_PROFILE_UNTIMED : 0);
	done.requested_bytes = frame->requested_bytes;
	done.sized = moves;
	done.shared = 1;
	return profile_add(&done);
}

static __always_inline void vfs_emit(const struct vfs_frame *frame, struct owner owner,
				     __u64 duration_ns, __s64 result)
{
	struct event_vfs *event;

	if (profile_aggregates_others()) {
		vfs_profile(frame, owner.pid, duration_ns, result);
		if (!profile_also_records(owner.pid))
			return;
	}
	event = ring_reserve(RECORD_VFS, sizeof(*event), owner);
	if (!event)
		return;
	event->header.time_ns = frame->account.start_ns;
	event->duration_ns = duration_ns;
	event->offset = frame->account.offset;
	event->asked_bytes = frame->requested_bytes;
	event->result = result;
	event->file = frame->account.file;
	event->op = frame->account.op;
	event->flags = frame->account.flags;
	ring_submit(event);
}

/* Ends the call with the innermost frame. */
__noinline int vfs_done(struct vfs_frame *frame, __s64 result, bool nested)
{
	__u64 now_ns = bpf_ktime_get_ns(), duration_ns;
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct owner owner = owner_of(task);
	struct op_account *account;
	struct file *file;
	__s64 after;
	bool separate;

	if (!frame)
		return 0;
	account = &frame->account;
	file = (struct file *)frame->file;
	account->flags = vfs_flags(task, state, file) | (nested ? TRACE_VFS_NESTED : 0);
	if (account->flags & TRACE_VFS_THREAD)
		owner.pid = 0;
	if (result == -EIOCBQUEUED) {
		result = 0;
		account->flags |= TRACE_VFS_QUEUED;
	}
	if (frame->position && result > 0 &&
	    !bpf_probe_read_kernel(&after, sizeof(after), (const void *)frame->position))
		account->offset = after - result;
	separate = vfs_is_separate(state, account->op, account->flags);
	if (separate)
		account->op += VFS_FUNCTIONS;
	duration_ns = op_account_duration_ns(account, now_ns);
	op_account_done(account, duration_ns, result, vfs_moves(account->op), true);
	account->file = vfs_file(state, file, account->flags, separate);
	vfs_emit(frame, owner, duration_ns, result);
	return 0;
}

/*
 * A call ends. `stack` is the address of its frame, or slightly above it: the caller's frame is
 * further than `slack` away. A call without a frame is not recorded, or was counted as lost when it
 * started.
 */
__noinline int vfs_leave(struct address *stack, __u32 slack, __s64 result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct vfs_task *all = bpf_task_storage_get(&vfs_tasks, task, 0, 0);
	__u32 top;

	if (!all || !stack)
		return 0;
	vfs_drop(all, stack->at - slack);
	top = all->depth - 1;
	if (top >= VFS_DEPTH || all->frames[top].at > stack->at)
		return 0;
	all->depth = top;
	return vfs_done(&all->frames[top], result, top > 0);
}

/* The task exits, so every call on its stack has ended. */
__noinline int vfs_end_task(void)
{
	struct vfs_task *all = bpf_task_storage_get(&vfs_tasks, bpf_get_current_task_btf(), 0, 0);

	if (all)
		vfs_drop(all, ~0ull);
	return 0;
}
