/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whether a task belongs to the target of a recording: processes and their descendants, a cgroup
 * and those below it, or everything. Unused if the recording runs a command.
 */
#pragma once

#include "task/follow.h"
#include "core/ring.h"
#include "vmlinux/cgroup.h"

#define ANCESTORS_MAX 32
#define TRACER_DEPTH 4
#define CGROUP_DEPTH_MAX 32
#define HIERARCHIES_MAX 32
#define MM_DUMPABLE 3 /* mask of mm_struct's flags */
#define MM_DUMPABLE_BY_USER 1

/* enum attach_mark, set on the named processes through their pidfds, so it works for PIDs of any
 * namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} attach_marks SEC(".maps");

/* The same by PID, once the iterator has found them; used for lookups that start at a
 * descendant. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ATTACH_FAMILY_MAX);
	__type(key, __u32);
	__type(value, __u32);
} attach_family SEC(".maps");

/* --- what a task belongs to --- */

static __always_inline bool attach_in_family(__u64 task)
{
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		__u32 process = KREAD(task_struct, task, tgid);

		if (bpf_map_lookup_elem(&attach_family, &process))
			return true;
		if (process <= 1)
			return false;
		task = (__u64)KREAD(task_struct, task, real_parent);
	}
	return false;
}

/* Returns the task's cgroup in the target's hierarchy, or 0. */
static __always_inline __u64 attach_cgroup_of(__u64 task)
{
	__u64 set = (__u64)KREAD(task_struct, task, cgroups), head, at;

	if (!attach_hierarchy)
		return (__u64)KREAD(css_set, set, dfl_cgrp);
	head = (__u64)KFIELD(css_set, set, cgrp_links);
	at = (__u64)KREAD(list_head, head, next);
	for (int i = 0; i < HIERARCHIES_MAX && at != head; i++) {
		__u64 link = at - bpf_core_field_offset(struct cgrp_cset_link, cgrp_link);
		__u64 cgroup = (__u64)KREAD(cgrp_cset_link, link, cgrp);
		__u64 root = (__u64)KREAD(cgroup, cgroup, root);

		if ((__u32)KREAD(cgroup_root, root, hierarchy_id) == attach_hierarchy)
			return cgroup;
		at = (__u64)KREAD(list_head, at, next);
	}
	return 0;
}

static __always_inline bool attach_in_cgroup(__u64 task)
{
	__u64 cgroup = attach_cgroup_of(task), parent;

	for (int i = 0; i < CGROUP_DEPTH_MAX && cgroup; i++) {
		__u64 node = (__u64)KREAD(cgroup, cgroup, kn);

		if (KREAD(kernfs_node, node, id) == attach_cgroup)
			return true;
		parent = (__u64)KREAD(cgroup, cgroup, self.parent);
		cgroup = parent ? (__u64)KREAD(cgroup_subsys_state, parent, cgroup) : 0;
	}
	return false;
}

/* --- whether it may be recorded --- */

/* Whether the task belongs to the user, has no more rights than the user has, and is dumpable. */
static __always_inline bool attach_may_record(__u64 task)
{
	__u64 cred = (__u64)KREAD(task_struct, task, real_cred);
	__u64 mm = (__u64)KREAD(task_struct, task, mm);
	unsigned long flags = 0;

	if (attach_uid == ATTACH_ANYBODY)
		return true;
	if (KREAD(cred, cred, uid.val) != attach_uid || KREAD(cred, cred, euid.val) != attach_uid ||
	    KREAD(cred, cred, suid.val) != attach_uid ||
	    KREAD(cred, cred, gid.val) != KREAD(cred, cred, egid.val) || !mm)
		return false;
	if (bpf_core_field_exists(struct mm_struct___word, flags))
		bpf_core_read(&flags, sizeof(flags), &((struct mm_struct___word *)mm)->flags);
	else if (bpf_core_field_exists(struct mm_struct___bitmap, flags.__mm_flags))
		bpf_core_read(&flags, sizeof(flags),
			      &((struct mm_struct___bitmap *)mm)->flags.__mm_flags);
	return (flags & MM_DUMPABLE) == MM_DUMPABLE_BY_USER;
}

/* Matches the tracer and its close descendants; only the tracer if its child is the target. */
static __always_inline bool attach_is_tracer(__u64 task)
{
	for (int i = 0; i < (attach_own_child ? 1 : TRACER_DEPTH); i++) {
		if ((__u32)KREAD(task_struct, task, tgid) == attach_tracer)
			return true;
		task = (__u64)KREAD(task_struct, task, real_parent);
	}
	return false;
}

/* Whether to follow a task. Global, so it is verified once. */
__noinline int attach_is_target(struct address *task)
{
	__u64 at;

	if (!task || !attach_tracer)
		return 0;
	at = task->at;
	if (KREAD(task_struct, at, flags) & PF_KTHREAD || attach_is_tracer(at) ||
	    !attach_may_record(at))
		return 0;
	switch (attach_to) {
	case ATTACH_PROCESSES:
		return attach_arming && attach_in_family(at);
	case ATTACH_CGROUP:
		return attach_in_cgroup(at);
	case ATTACH_ALL:
		return 1;
	}
	return 0;
}

/* --- records --- */

/* Fills in the task and its process, but not armed_ns. */
static __always_inline void attach_describe(struct attach_row *row, __u64 task)
{
	__u64 leader = (__u64)KREAD(task_struct, task, group_leader), at;

	row->pid = KREAD(task_struct, task, tgid);
	row->tid = KREAD(task_struct, task, pid);
	row->started_ns = KREAD(task_struct, leader, start_time);
	at = (__u64)KREAD(task_struct, leader, cgroups);
	row->cgroup_set = at;
	at = (__u64)KREAD(css_set, at, dfl_cgrp);
	at = (__u64)KREAD(cgroup, at, kn);
	row->cgroup_id = KREAD(kernfs_node, at, id);
	at = (__u64)KREAD(task_struct, leader, real_parent);
	row->ppid = KREAD(task_struct, at, tgid);
	at = (__u64)KREAD(task_struct, leader, real_cred);
	row->uid = KREAD(cred, at, uid.val);
	bpf_probe_read_kernel(row->comm, sizeof(row->comm), KFIELD(task_struct, leader, comm));
}

/* Copies the current process's command line into a record; returns its length. */
static __always_inline __u32 attach_command(struct event_exec *record)
{
	struct mm_struct *mm = TASK_POINTER(bpf_get_current_task_btf(), mm);
	__u64 bytes;

	if (!mm)
		return 0;
	bytes = mm->arg_end - mm->arg_start;
	if (bytes > EVENT_COMMAND_BYTES)
		bytes = EVENT_COMMAND_BYTES;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_COMMAND_BYTES || read_user(record->command, bytes, (void *)mm->arg_start))
		return 0;
	return bytes;
}

/* Reports a process that joins the recording other than by a recorded fork. The command line of a
 * process other than the current one cannot be read here: the user side looks it up. */
__noinline int attach_report(struct address *task, bool is_current)
{
	struct event_exec *record = scratch_get();
	struct attach_row row;
	__u64 bytes;

	if (!record || !task) {
		ring_lose(RECORD_EXEC);
		goto out;
	}
	attach_describe(&row, task->at);
	record->cgroup_id = row.cgroup_id;
	record->cgroup_set = row.cgroup_set;
	record->started_ns = row.started_ns;
	__builtin_memset(&record->ranks, 0, sizeof(record->ranks));
	record->ppid = row.ppid;
	record->uid = row.uid;
	__builtin_memcpy(record->comm, row.comm, sizeof(record->comm));
	record->flags = TRACE_EXEC_JOINED;
	bytes = is_current ? attach_command(record) : 0;
	record->command_bytes = bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_COMMAND_BYTES)
		goto out;
	ring_output(&record->header, RECORD_EXEC, bpf_ktime_get_ns(), sizeof(*record) + bytes,
		    (struct owner) { .pid = row.pid, .tid = row.tid });
out:
	scratch_put(record);
	return 0;
}

/*
 * A task that is not followed creates another one. If the parent is about to be followed, so is the
 * child, and the parent, reported later, identifies it. Otherwise the child may start inside the
 * target.
 */
static __always_inline int attach_fork(struct task_struct *parent, struct task_struct *child,
				       __u64 now_ns)
{
	struct address of_parent = { (__u64)parent }, of_child = { (__u64)child };
	bool parent_wanted = attach_is_target(&of_parent);
	struct event_fork *event;
	int begun;

	if (!parent_wanted && !attach_is_target(&of_child))
		return 0;
	begun = task_follow(child, now_ns, false);
	if (begun == FOLLOW_NO_MEMORY)
		note_add(NOTE_UNFOLLOWED);
	if (begun != FOLLOW_BEGUN)
		return 0;
	event = ring_reserve(RECORD_FORK, sizeof(*event), owner_of(parent));
	if (event) {
		event->header.time_ns = now_ns;
		event->child_pid = child->tgid;
		event->child_tid = child->pid;
		ring_submit(event);
	}
	if (!parent_wanted && child->tgid == child->pid)
		attach_report(&of_child, true); /* the child still has its parent's command line */
	return 0;
}
