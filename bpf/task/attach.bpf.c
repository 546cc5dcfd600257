// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Attaches to running tasks. Each run of the kernel's task iterator finds all threads of the
 * target; tasks that move into the cgroup are followed as they move.
 */
#include "task/attach.h"
#include "core/pid.h"

/* State of the current pass; the user side sets these before it. */
__u64 attach_found = 0;	  /* tasks newly followed */
__u64 attach_unarmed = 0; /* tasks not followed for lack of memory */
__u64 attach_pass_ns = 0; /* start of the pass */

/* A process has joined whose threads may not all be followed yet. */
volatile bool attach_again = false;

/* Returns whether a thread's process has been reported: its leader is followed. */
static __always_inline bool attach_is_reported(struct task_struct *task)
{
	struct task_slot *slot = task_slot(task->tgid);
	__u64 leader = (__u64)TASK_POINTER(task, group_leader);

	return leader != (__u64)task && slot && slot->owner == leader &&
	       slot->state.mode == TASK_FOLLOWED;
}

/* Returns a process's PID in the namespace of the iterator's reader, who sees only processes of
 * that namespace and those below; 0: not visible. */
static __always_inline __u32 attach_local_pid(__u64 task)
{
	__u64 reader = (__u64)bpf_get_current_task_btf();
	__u64 own = (__u64)KREAD(task_struct, reader, thread_pid);
	__u64 leader = (__u64)KREAD(task_struct, task, group_leader);
	__u64 numbers = (__u64)KREAD(task_struct, leader, thread_pid);

	return pid_at_level(numbers, own ? KREAD(pid, own, level) : 0);
}

/*
 * If a row does not fit, the kernel visits the same task again once there is room, so a task armed
 * in this pass is reported at every visit.
 */
SEC("?iter/task")
int fl_arm(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct attach_row row = {};
	struct task_state *state;
	struct address address;
	__u64 now_ns;
	int begun;

	if (!task)
		return 0;
	/* The iterator's reader is the tracer; this is its PID in the initial namespace. */
	attach_tracer = bpf_get_current_task_btf()->tgid;
	if (attach_to == ATTACH_PROCESSES) {
		__u32 *mark = bpf_task_storage_get(&attach_marks, task, 0, 0);
		__u32 process = task->tgid, one = 1;

		if (mark && *mark) {
			*mark = ATTACH_MET;
			bpf_map_update_elem(&attach_family, &process, &one, BPF_ANY);
		}
	}
	address.at = (__u64)task;
	if (task->flags & PF_EXITING || !attach_is_target(&address))
		return 0;
	now_ns = bpf_ktime_get_ns();
	begun = task_follow(task, now_ns, true);
	if (begun == FOLLOW_NO_MEMORY)
		attach_unarmed++;
	if (begun == FOLLOW_BEGUN) {
		attach_found++;
		state = task_state(task);
		if (state)
			state->armed_ns = now_ns;
	} else if (begun == FOLLOW_ALREADY) {
		state = task_state(task);
		if (!state || state->armed_ns < attach_pass_ns)
			return 0;
	} else {
		return 0;
	}
	if (attach_is_reported(task))
		return 0;
	attach_describe(&row, (__u64)task);
	row.local_pid = attach_local_pid((__u64)task);
	row.armed_ns = bpf_ktime_get_ns();
	bpf_seq_write(context->meta->seq, &row, sizeof(row));
	return 0;
}

/* A lower bound on how many times tasks moved to another cgroup. */
volatile __u64 attach_moves = 0;

/* --- cgroup paths --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, struct cgroup_slot);
} cgroup_slots SEC(".maps");

/* The kernel holds cgroup_mutex here, so writers are serialized. */
static __noinline int cgroup_store_path(struct address *cgroup, struct address *path)
{
	__u64 root = (__u64)KREAD(cgroup, cgroup->at, root);
	__u64 node = (__u64)KREAD(cgroup, cgroup->at, kn);
	__u64 id = KREAD(kernfs_node, node, id);
	__u32 index = id & (CGROUP_SLOTS - 1);
	struct cgroup_slot *entry = bpf_map_lookup_elem(&cgroup_slots, &index);
	long length;

	if (!entry || entry->id == id || KREAD(cgroup_root, root, hierarchy_id))
		return 0;
	__sync_lock_test_and_set(&entry->id, 0);
	length = bpf_probe_read_kernel_str(entry->path, sizeof(entry->path), (void *)path->at);
	if (length > 0 && length < (long)sizeof(entry->path)) /* otherwise it may be cut */
		__sync_lock_test_and_set(&entry->id, id);
	return 0;
}

SEC("?tp_btf/cgroup_mkdir")
int BPF_PROG(fl_cgroup, struct cgroup *made, const char *path)
{
	struct address cgroup = { (__u64)made }, path_address = { (__u64)path };

	return cgroup_store_path(&cgroup, &path_address);
}

/* --- moves between cgroups --- */

/* A process's first thread, or a single thread, has moved. */
static __always_inline int attach_join(struct task_struct *task, bool threadgroup)
{
	struct address address = { (__u64)task };

	__sync_fetch_and_add(&attach_moves, 1);
	if (attach_to != ATTACH_CGROUP || !attach_is_target(&address))
		return 0;
	switch (task_follow(task, bpf_ktime_get_ns(), true)) {
	case FOLLOW_BEGUN:
		attach_report(&address, task->tgid == bpf_get_current_task_btf()->tgid);
		if (!threadgroup)
			ring_wake();
		break;
	case FOLLOW_NO_MEMORY:
		note_add(NOTE_UNFOLLOWED);
		break;
	}
	if (threadgroup) {
		attach_again = true;
		ring_wake();
	}
	return 0;
}

static __always_inline int attach_move(struct cgroup *to, const char *path,
				       struct task_struct *task, bool threadgroup)
{
	struct address cgroup = { (__u64)to }, path_address = { (__u64)path };

	cgroup_store_path(&cgroup, &path_address);
	return attach_join(task, threadgroup);
}

/* Several copies may run for one event; a task still joins only once. */
COPIED_PROGRAM("?tp_btf/cgroup_attach_task", fl_join, attach_move(to, path, task, threadgroup),
	       struct cgroup *to, const char *path, struct task_struct *task, bool threadgroup)
