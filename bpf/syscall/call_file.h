/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the file of a call at the call's entry.
 */
#pragma once

#include "syscall/call_args.h"

static __always_inline __u32 open_flags(__u32 flags)
{
	return (flags & O_DIRECT ? TRACE_OP_DIRECT : 0) | (flags & O_APPEND ? TRACE_OP_APPEND : 0) |
	       (flags & O_DSYNC ? TRACE_OP_SYNC : 0);
}

/* TRACE_OP_* for the flags of a call that opens a file, including those of open_flags. */
static __always_inline __u32 opening_flags(__u32 flags)
{
	return open_flags(flags) | (flags & O_ACCMODE ? TRACE_OP_WRITABLE : 0) |
	       (flags & O_CREAT ? TRACE_OP_CREATE : 0) | (flags & O_TRUNC ? TRACE_OP_TRUNCATE : 0);
}

/* Resets the state for a call that begins; op_account_begin follows when its file is known. */
static __always_inline void call_open(struct task_state *state, struct task_struct *task,
				      __u32 number)
{
	op_account_open(&state->call.account);
	state->call.number = number;
	state->call.file = 0;
	state->call.file2 = 0;
	state->call.fault_fetched_pages = 0;
	state->call.major_seen = 0;
	state->call.major_start = task->maj_flt;
}

/* Takes `file` as the file of the call in flight; returns false if its class is not recorded.
 * `refresh` checks whether the file's name or size has changed. */
static __always_inline bool call_take_file(struct task_state *state, struct file *file,
					   bool refresh)
{
	struct inode *inode = KREAD(file, file, f_inode);
	struct known_file *known = refresh ? NULL : file_known(state, (__u64)file, inode);

	if (known) {
		if (!(known->class & file_classes))
			return false;
		state->call.account.file = known->id;
		state->call.account.mapping = known->mapping;
	} else {
		struct address address = { (__u64)file };

		state->call.account.file = file_intern(state, &address, file_classes, refresh);
		if (!state->call.account.file)
			return false;
		state->call.account.mapping = file_mapping(file, inode);
	}
	state->call.file = (__u64)file;
	state->call.account.flags |= open_flags(KREAD(file, file, f_flags));
	if (!KREAD(inode, inode, i_nlink))
		state->call.account.flags |= TRACE_OP_UNLINKED;
	return true;
}

/* The same for the file of a descriptor. */
static __always_inline bool call_take_fd(struct task_state *state, struct task_struct *task,
					 __u32 fd, bool refresh)
{
	struct file *file = file_of_fd(task, fd);

	if (!file) {
		state->call.account.flags |= TRACE_OP_NO_FILE;
		return true;
	}
	return call_take_file(state, file, refresh);
}

/* The same, as global functions, for calls of any kind. */
__noinline int call_take_any_file(struct task_state *state, struct address *address)
{
	return state && address ? call_take_file(state, (struct file *)address->at, false) : 0;
}

__noinline int call_take_any_fd(struct task_state *state, __u32 fd)
{
	return state ? call_take_fd(state, bpf_get_current_task_btf(), fd, false) : 0;
}

/* Takes the file of a plain call. A close is the last chance to see the final size of a file that
 * was written. */
static __always_inline bool call_enter_plain(struct task_state *state, struct task_struct *task,
					     __u32 traits, __u32 fd)
{
	struct file *file = file_of_fd(task, fd);

	if (!file) {
		state->call.account.flags = TRACE_OP_NO_FILE;
		return true;
	}
	return call_take_file(state, file,
			      traits & CALL_CLOSES && KREAD(file, file, f_mode) & FMODE_WRITE);
}

/* Takes the files of any call. Returns its operation, 0 if it or the file's class is not
 * recorded. */
__noinline int call_enter_any(struct task_state *state, struct call_args *args, __u32 number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_row row = call_row(number);

	if (!state || !args)
		return 0;
	if (row.traits & CALL_REQUEST) {
		row = request_row(row, number, args);
		if (!row.op)
			return 0;
		/* At the entry: another thread may overwrite the struct while the call waits. */
		if (row.traits & CALL_LOCK_WAITS)
			state->call.account.flags |= lock_flags(call_arg(args, 3));
	}
	if (row.traits & CALL_TRANSFER) {
		bool wanted = file_of_fd(task, call_arg(args, row.fd2)) &&
			      call_take_any_fd(state, call_arg(args, row.fd2));

		/* Recorded if the class of either file is. */
		state->call.file2 = state->call.account.file;
		state->call.mapping2 = state->call.account.mapping;
		state->call.account.file = 0;
		state->call.account.flags = 0;
		state->call.file = 0;
		state->call.account.mapping = 0;
		return call_take_any_fd(state, call_arg(args, row.fd)) || wanted ? row.op : 0;
	}
	if (row.traits & CALL_MAP) {
		struct vm_area_struct *vma = vma_find(call_arg(args, 1));
		struct address file = { vma ? (__u64)KREAD(vm_area_struct, vma, vm_file) : 0 };

		/* Shared anonymous memory is backed by an internal file of the kernel. */
		if (file.at && !(KREAD(inode, KREAD(file, file.at, f_inode), i_flags) & S_PRIVATE))
			call_take_any_file(state, &file);
		return row.op;
	}
	if (row.traits & CALL_MMAP) {
		if (!(call_arg(args, 4) & MAP_ANONYMOUS))
			call_take_any_fd(state, call_arg(args, row.fd));
		return row.op;
	}
	return call_take_any_fd(state, call_arg(args, row.fd)) ? row.op : 0;
}

/*
 * Handles the end of a call that was in flight when its task began to be followed, as if the call
 * had begun now. A descriptor that is closed by now was valid when the call was made. A call
 * interrupted by a signal ends later, or is restarted. Returns 0 if the call is not recorded.
 */
__noinline int call_enter_late(struct task_state *state, struct call_args *args, __u32 number,
			       __s64 result)
{
	struct call_row row;

	if (!state || !args || number >= CALL_TABLE_SIZE ||
	    (__u64)(-ERESTART_FIRST - result) < ERESTART_COUNT)
		return 0;
	row = call_row(number);
	if (!row.op)
		return 0;
	call_open(state, bpf_get_current_task_btf(), number);
	if (row.fd && !row.path)
		row.op = call_enter_any(state, args, number);
	if (!row.op)
		return 0;
	if (result != -EBADF)
		state->call.account.flags &= ~TRACE_OP_NO_FILE;
	state->call.account.flags |= TRACE_OP_BEFORE;
	op_account_begin(&state->call.account, row.op, bpf_ktime_get_ns());
	return 1;
}
