// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Attaching to what runs already: the kernel's iterator over tasks finds every thread of what is
 * wanted, as often as it is run; who moves into the cgroup is met on the way. Knows nothing of I/O.
 */
#include "attach.h"

/* Of the pass that runs; the user side sets them to 0 before. */
__u64 attach_found = 0;	  /* tasks that are followed since */
__u64 attach_unarmed = 0; /* ... that could not be: no memory */
__u64 attach_pass_ns = 0; /* when it began */

/* Somebody has come that may have threads which are not followed. */
volatile bool attach_again = false;

/* A thread whose process's first one is followed, and so has been told of. */
static __always_inline bool attach_is_told(struct task_struct *task)
{
	struct task_slot *slot = task_slot(task->tgid);
	__u64 leader = (__u64)TASK_POINTER(task, group_leader);

	return leader != (__u64)task && slot && slot->owner == leader &&
	       slot->state.mode == TASK_FOLLOWED;
}

/* The number that a process has for who reads the iterator, who sees none but those of the own
 * namespace and of those within. */
static __always_inline __u32 attach_local_pid(__u64 task)
{
	__u64 reader = (__u64)bpf_get_current_task_btf();
	__u64 own = (__u64)KREAD(task_struct, reader, thread_pid);
	__u64 leader = (__u64)KREAD(task_struct, task, group_leader);
	__u64 numbers = (__u64)KREAD(task_struct, leader, thread_pid);
	__u32 level = own ? KREAD(pid, own, level) : 0, number = 0;

	if (!numbers || level > KREAD(pid, numbers, level))
		return 0;
	numbers += bpf_core_field_offset(struct pid, numbers) +
		   (__u64)level * bpf_core_type_size(struct upid) +
		   bpf_core_field_offset(struct upid, nr);
	bpf_probe_read_kernel(&number, sizeof(number), (void *)numbers);
	return number;
}

/*
 * A row that finds no room makes the kernel show the same task again, when there is some: what was
 * armed in this pass is told as often as it is asked for.
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
	/* Who reads the iterator is the tracer, by the number that the kernel has for it. */
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
	if (task->flags & PF_EXITING || !attach_wants(&address))
		return 0;
	now_ns = bpf_ktime_get_ns();
	begun = follow(task, now_ns, true);
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
	if (attach_is_told(task))
		return 0;
	attach_describe(&row, (__u64)task);
	row.local_pid = attach_local_pid((__u64)task);
	row.armed_ns = bpf_ktime_get_ns();
	bpf_seq_write(context->meta->seq, &row, sizeof(row));
	return 0;
}

/* How often a task has come to another cgroup, at least. */
volatile __u64 attach_moves = 0;

/* --- what cgroups are called --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, struct cgroup_place);
} cgroup_places SEC(".maps");

/* The kernel holds cgroup_mutex here, so writers are serialized. */
static __noinline int cgroup_keep_path(struct address *cgroup, struct address *path)
{
	__u64 root = (__u64)KREAD(cgroup, cgroup->at, root);
	__u64 node = (__u64)KREAD(cgroup, cgroup->at, kn);
	__u64 id = KREAD(kernfs_node, node, id);
	__u32 index = id & (CGROUP_PLACES - 1);
	struct cgroup_place *place = bpf_map_lookup_elem(&cgroup_places, &index);
	long length;

	if (!place || place->id == id || KREAD(cgroup_root, root, hierarchy_id))
		return 0;
	__sync_lock_test_and_set(&place->id, 0);
	length = bpf_probe_read_kernel_str(place->path, sizeof(place->path), (void *)path->at);
	if (length > 0 && length < (long)sizeof(place->path)) /* else it may be cut */
		__sync_lock_test_and_set(&place->id, id);
	return 0;
}

SEC("?tp_btf/cgroup_mkdir")
int BPF_PROG(fl_cgroup, struct cgroup *made, const char *path)
{
	struct address cgroup = { (__u64)made }, its_path = { (__u64)path };

	return cgroup_keep_path(&cgroup, &its_path);
}

/* --- who moves --- */

/* The first of a process, or a single thread, has moved. */
static __always_inline int joined(struct task_struct *task, bool threadgroup)
{
	struct address address = { (__u64)task };

	__sync_fetch_and_add(&attach_moves, 1);
	if (attach_to != ATTACH_CGROUP || !attach_wants(&address))
		return 0;
	switch (follow(task, bpf_ktime_get_ns(), true)) {
	case FOLLOW_BEGUN:
		attach_tell(&address, task->tgid == bpf_get_current_task_btf()->tgid);
		if (!threadgroup)
			ring_wake();
		break;
	case FOLLOW_NO_MEMORY:
		note(NOTE_UNFOLLOWED);
		break;
	}
	if (threadgroup) {
		attach_again = true;
		ring_wake();
	}
	return 0;
}

/* ... and copies, for kernels that pass over one that is preempted: it joins once. */
#define JOIN_PROGRAM(name)                                                                         \
	SEC("?tp_btf/cgroup_attach_task")                                                          \
	int BPF_PROG(name, struct cgroup *to, const char *path, struct task_struct *task,          \
		     bool threadgroup)                                                             \
	{                                                                                          \
		struct address cgroup = { (__u64)to }, its_path = { (__u64)path };                 \
                                                                                                   \
		cgroup_keep_path(&cgroup, &its_path);                                              \
		return joined(task, threadgroup);                                                  \
	}

JOIN_PROGRAM(fl_join)
JOIN_PROGRAM(fl_join_2)
JOIN_PROGRAM(fl_join_3)
