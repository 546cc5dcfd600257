/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls that name paths: the path as passed, the directory it is relative to, and the record.
 */
#pragma once

#include "syscall/call_exit.h"

/* Returns the id of the directory that a path is relative to; 0 if the path is absolute or the
 * directory unknown. */
static __always_inline __u32 call_dir_id(struct task_state *state, struct task_struct *task,
					 struct call_args *args, __u32 argument, char first)
{
	struct file_facts facts = {};
	struct fs_struct *fs = TASK_POINTER(task, fs);
	struct known_file *known;
	int fd = AT_FDCWD;
	__u32 id;

	if (first == '/')
		return 0;
	if (argument)
		fd = call_arg(args, argument);
	if (fd != AT_FDCWD) {
		struct file *file = file_of_fd(task, fd);

		return file ? file_id_of(state, file) : 0;
	}
	if (!fs)
		return 0;
	facts.mnt = fs->pwd.mnt;
	facts.dentry = fs->pwd.dentry;
	facts.inode = KREAD(dentry, facts.dentry, d_inode);
	if (!facts.inode)
		return 0;
	known = file_known(state, (__u64)facts.dentry, facts.inode);
	if (known)
		return known->id;
	id = file_id(&facts, false);
	if (!(id & FILE_UNANNOUNCED))
		file_remember(state, (__u64)facts.dentry, facts.inode, 0, id);
	return id & ~FILE_UNANNOUNCED;
}

/* Appends a path to the record's text; returns its length without the NUL. Reads one byte more than
 * the kernel accepts, so that the longest one counts as whole. */
static __always_inline __u32 call_read_path(struct event_syscall_path *event, __u32 at,
					    __u64 pointer)
{
	long bytes = bpf_probe_read_user_str(event->text + (at & (EVENT_PATH_BYTES - 1)),
					     EVENT_PATH_BYTES + 1, (void *)pointer);

	if (bytes <= 0 || bytes > EVENT_PATH_BYTES)
		event->call.flags |= TRACE_OP_PATH_CUT;
	if (bytes > EVENT_PATH_BYTES)
		return EVENT_PATH_BYTES - 1;
	return bytes > 0 ? bytes - 1 : 0;
}

/* Ends a call: adds it to the totals, and sends its record with the paths. */
__noinline int call_done_path(struct task_state *state, const struct call_row *row,
			      struct call_end *end, struct call_args *args)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_syscall_path *event;
	__u64 bytes;

	if (!state || !row || !end || !args)
		return 0;
	call_count_any(state, end, row->traits);
	event = scratch_get();
	if (!event) {
		ring_lose(RECORD_SYSCALL_PATH);
		return 0;
	}
	call_fill(&event->call, &state->call, task, end);
	event->file2 = state->call.file2;
	event->dir = 0;
	event->dir2 = 0;
	event->path_bytes = 0;
	event->path2_bytes = 0;
	if (row->path) {
		event->path_bytes = call_read_path(event, 0, call_arg(args, row->path));
		event->dir = call_dir_id(state, task, args, row->path_dir, event->text[0]);
	}
	bytes = event->path_bytes;
	if (row->path2) {
		__u32 at = bytes & (EVENT_PATH_BYTES - 1);

		event->path2_bytes = call_read_path(event, at, call_arg(args, row->path2));
		event->dir2 = call_dir_id(state, task, args, row->path2_dir, event->text[at]);
		bytes += event->path2_bytes;
	}
	BARRIER_VAR(bytes);
	if (bytes > 2 * EVENT_PATH_BYTES)
		bytes = 2 * EVENT_PATH_BYTES;
	ring_output(&event->call.header, RECORD_SYSCALL_PATH, state->call.account.start_ns,
		    sizeof(*event) + bytes, owner_of(task));
	scratch_put(event);
	return 0;
}
