// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Follows every process and thread that the command creates, from its exec on. Records their names,
 * their environment (for the rank) and their exit.
 */
#include "task/attach.h"
#include "task/oom.h"
#include "core/flight.h"
#include "core/sizes.h"
#include "thread/thread_in.h"

/* --- fork --- */

static __always_inline int task_fork(struct task_struct *parent, struct task_struct *child,
				     __u32 copy)
{
	struct task_state *state = task_followed(parent);
	__u64 now_ns = bpf_ktime_get_ns();
	struct event_fork *event;

	if (child->tgid == child->pid)
		flight_inherit(parent->tgid, child->tgid);
	if (attach_to && !state)
		return attach_fork(parent, child, now_ns);
	if (!state || !task_copy_is_first(state, (__u64)child, copy))
		return 0;
	if (attach_to) {
		if (task_follow(child, now_ns, false) == FOLLOW_NO_MEMORY) {
			note_add(NOTE_UNFOLLOWED);
			return 0;
		}
	} else {
		state = task_take_state(child, now_ns);
		if (!state) {
			note_add(NOTE_UNFOLLOWED);
			return 0;
		}
		task_set_mode(child, state, TASK_FOLLOWED);
	}
	event = ring_reserve(RECORD_FORK, sizeof(*event), owner_of(parent));
	if (!event)
		return 0;
	event->header.time_ns = now_ns;
	event->child_pid = child->tgid;
	event->child_tid = child->pid;
	ring_submit(event);
	return 0;
}

/* io_uring workers are created without a fork event. They work for their process. */
static __always_inline int task_fork_worker(struct task_struct *worker, __u32 copy)
{
	if (!(worker->flags & PF_IO_WORKER))
		return 0;
	return task_fork(bpf_get_current_task_btf(), worker, copy);
}

/* --- exec --- */

#define ENVIRON_ENTRY_BYTES 4096
#define ENVIRON_ENTRIES_MAX 8192

/* The result of a walk through an environment. */
struct environ_scan {
	char text[ENVIRON_ENTRY_BYTES]; /* current entry */
	struct event_ranks ranks;
	__u32 seen; /* variables found, as a bit mask: the first of each name counts */
};

struct environ_walk {
	struct environ_scan *scan;
	__u64 at, end;
	__u32 inside; /* of an entry that was cut */
};

/* Returns 1 or 0, without branches: the verifier follows both sides of each. */
static __always_inline __u32 environ_is_variable(const char *text, const char *name,
						 const __u32 bytes)
{
	__u64 differ = text[bytes] ^ '=';

#pragma unroll
	for (__u32 i = 0; i < bytes; i++)
		differ |= text[i] ^ name[i];
	BARRIER_VAR(differ);
	return ((differ - 1) & ~differ) >> 63;
}

/* Keeps the value of an entry that gives a rank. Global, so that the verifier checks it once. */
__noinline int environ_take_rank(struct environ_scan *scan)
{
	__u32 found = 0, number = 0;

	if (!scan)
		return 0;
#define LOOK(name) found |= environ_is_variable(scan->text, name, sizeof(name) - 1) << number++;
	EVENT_RANK_VARIABLES(LOOK)
#undef LOOK
	if (!(found & ~scan->seen))
		return 0;
	scan->seen |= found;
	number = 0;
#define KEEP(name)                                                                                 \
	if (found == 1u << number)                                                                 \
		bpf_probe_read_kernel_str(scan->ranks.value[number], EVENT_RANK_BYTES,             \
					  scan->text + sizeof(name));                              \
	number++;
	EVENT_RANK_VARIABLES(KEEP)
#undef KEEP
	return 0;
}

static long environ_step(__u32 i, struct environ_walk *walk)
{
	long bytes;

	if (walk->at >= walk->end)
		return 1;
	bytes = bpf_probe_read_user_str(walk->scan->text, ENVIRON_ENTRY_BYTES, (void *)walk->at);
	if (bytes <= 0)
		return 1;
	if (!walk->inside)
		environ_take_rank(walk->scan);
	/* A longer entry is cut, but still ends with a NUL. */
	walk->inside = bytes == ENVIRON_ENTRY_BYTES;
	walk->at += bytes - walk->inside;
	return 0;
}
LOOP_STEP(environ_step)

/* Reads the rank variables from the program's environment. */
static __noinline void environ_ranks(struct mm_struct *mm, struct event_ranks *ranks)
{
	struct environ_walk walk = { .scan = scratch_get() };

	if (!walk.scan)
		return;
	__builtin_memset(&walk.scan->ranks, 0, sizeof(walk.scan->ranks));
	walk.scan->seen = 0;
	walk.at = mm->env_start;
	walk.end = mm->env_end;
	LOOP(ENVIRON_ENTRIES_MAX, environ_step, &walk);
	*ranks = walk.scan->ranks;
	scratch_put(walk.scan);
}

static __always_inline void task_send_exec(struct task_struct *task, struct mm_struct *mm,
					   __u32 flags, __u64 now_ns)
{
	struct event_exec *record = scratch_get();
	__u64 bytes = mm->arg_end - mm->arg_start;

	if (!record) {
		ring_lose(RECORD_EXEC);
		goto out;
	}
	record->cgroup_id = bpf_get_current_cgroup_id();
	record->cgroup_set = (__u64)TASK_POINTER(task, cgroups);
	record->started_ns = TASK_POINTER(task, group_leader)->start_time;
	record->ppid = TASK_POINTER(task, real_parent)->tgid;
	record->uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->flags = flags;
	__builtin_memset(&record->ranks, 0, sizeof(record->ranks));
	if (!(flags & TRACE_EXEC_NOT_FOLLOWED))
		environ_ranks(mm, &record->ranks);
	if (bytes > EVENT_COMMAND_BYTES)
		bytes = EVENT_COMMAND_BYTES;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_COMMAND_BYTES)
		goto out;
	if (read_user(record->command, bytes, (void *)mm->arg_start))
		bytes = 0;
	record->command_bytes = bytes;
	ring_output(&record->header, RECORD_EXEC, now_ns, sizeof(*record) + bytes, owner_of(task));
out:
	scratch_put(record);
}

/*
 * Returns whether the program gains privileges. The trace's owner may then not see its reads, since
 * they can neither read nor trace the program otherwise. Follows the kernel's own decision: user or
 * group changed, capabilities gained, a security module said so, or the caller may not read it.
 */
static __always_inline bool task_gains_privileges(struct linux_binprm *bprm)
{
	return BPF_CORE_READ_BITFIELD_PROBED(bprm, secureexec) ||
	       bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP;
}

/*
 * A thread other than its process's first that executes a program continues under the first one's
 * id; its own id ends here. Its faults are recorded when the thread exits.
 */
static __always_inline void task_send_id_end(struct task_struct *task, int tid, __u64 now_ns)
{
	struct event_exit *event = ring_reserve(RECORD_EXIT, sizeof(*event), owner_of(task));

	if (!event)
		return;
	event->header.tid = tid;
	event->header.time_ns = now_ns;
	event->major_faults = 0;
	event->minor_faults = 0;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	event->process_ends = 0;
	event->code = 0;
	event->oom = 0;
	event->oom_limit_bytes = 0;
	event->peak_rss_bytes = 0;
	event->stack = 0;
	ring_submit(event);
}

/*
 * Returns the state of a task that has just executed a program, or NULL. Starts to follow an armed
 * task. A thread other than its process's first continues under the first one's id, with its state.
 */
static __always_inline struct task_state *task_state_of_exec(struct task_struct *task,
							     __u32 old_tid, __u64 now_ns)
{
	__u32 *mode = bpf_task_storage_get(&tasks, task, 0, 0);
	struct task_state *state = task_state(task), *old;
	struct task_slot *slot = task_slot(old_tid);

	if (!mode || *mode == TASK_IGNORED || !slot)
		return NULL;
	if (state)
		return state;
	if (*mode == TASK_ARMED)
		return task_take_state(task, now_ns);
	old = task_slot_matches(slot, task, old_tid)
		      ? &slot->state
		      : bpf_task_storage_get(&overflow_states, task, 0, 0);
	if (!old)
		return task_take_state(task, now_ns);
	state = task_place_state(task, now_ns);
	if (!state || state == old)
		return state;
	__builtin_memcpy(state, old, sizeof(*state));
	if (old == &slot->state) {
		old->mode = TASK_IGNORED;
		slot->owner = 0;
	}
	return state;
}

/* Stops following a task that goes on. Its call in flight is the execve, which is not recorded. The
 * slot can be taken at once, by another task or by this one if it is followed again. */
static __always_inline void task_unfollow(struct task_struct *task, struct task_state *state)
{
	struct task_slot *slot = task_slot(task->pid);

	task_set_mode(task, state, TASK_IGNORED);
	op_account_close(&state->call.account);
	op_account_close(&state->fault.account);
	state->call_suspended = 0;
	if (slot && task_slot_matches(slot, task, task->pid)) {
		slot->regs = 0;
		slot->owner = 0;
	}
}

static __always_inline int task_exec(struct task_struct *task, int old_tid,
				     struct linux_binprm *bprm, __u32 copy)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct task_state *state = task_state_of_exec(task, old_tid, now_ns);
	struct mm_struct *mm = TASK_POINTER(task, mm);

	if (!state || !task_copy_is_first(state, (__u64)mm, copy))
		return 0;
	state->tid = task->pid;
	if (state->mode == TASK_FOLLOWED && old_tid != task->pid) {
		thread_rename(&state->thread, task, now_ns,
			      (struct owner) { .pid = task->tgid, .tid = old_tid });
		task_send_id_end(task, old_tid, now_ns);
	}
	if (!follow_privileged && task_gains_privileges(bprm)) {
		if (state->mode == TASK_FOLLOWED)
			thread_end(&state->thread, task, now_ns, owner_of(task));
		task_unfollow(task, state);
		note_add(NOTE_PRIVILEGED);
		if (mm)
			task_send_exec(task, mm, TRACE_EXEC_NOT_FOLLOWED, now_ns);
		return 0;
	}
	task_set_mode(task, state, TASK_FOLLOWED);
	__builtin_memset(state->known_vmas, 0, sizeof(state->known_vmas));
	if (!mm)
		return 0;
	task_send_exec(task, mm, 0, now_ns);
	return 0;
}

/* --- exit --- */

/* The limits that the OOM killer's victims ran into, by thread. Used only for processes that the
 * kernel marks as chosen, so stale entries do no harm. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} oom_limits SEC(".maps");

static __always_inline int oom_store(__u32 tid)
{
	__u64 bytes = oom_limit_bytes();

	bpf_map_update_elem(&oom_limits, &tid, &bytes, BPF_ANY);
	return 0;
}

static __always_inline __u64 oom_take(__u32 tid)
{
	__u64 *found = bpf_map_lookup_elem(&oom_limits, &tid), bytes;

	if (!found)
		return 0;
	bytes = *found;
	bpf_map_delete_elem(&oom_limits, &tid);
	return bytes;
}

SEC("?tp_btf/mark_victim")
int BPF_PROG(fl_oom, struct task_struct *victim)
{
	return oom_store(victim->pid);
}

/* The same before 72ba14deb40a (6.9), which passes the task instead. */
SEC("?tp_btf/mark_victim")
int BPF_PROG(fl_oom_pid, int tid)
{
	return oom_store(tid);
}

/* Returns the process's exit status as wait() reports it: its leader's, unless a signal or
 * exit_group ended the whole process. */
static __always_inline int task_exit_status(struct task_struct *task)
{
	struct signal_struct *signal = TASK_POINTER(task, signal);

	if (signal->flags & SIGNAL_GROUP_EXIT)
		return signal->group_exit_code;
	return TASK_POINTER(task, group_leader)->exit_code;
}

static __always_inline int task_exit(struct task_struct *task)
{
	struct task_state *state = task_followed(task);
	struct task_slot *slot = task_slot(task->pid);
	__u64 now_ns = bpf_ktime_get_ns();
	struct event_exit *event;

	if (!state || !slot)
		return 0;
	event = ring_reserve(RECORD_EXIT, sizeof(*event), owner_of(task));
	if (event) {
		event->header.time_ns = now_ns;
		event->major_faults = task->maj_flt - state->major_before;
		event->minor_faults = task->min_flt - state->minor_before;
		bpf_get_current_comm(event->comm, sizeof(event->comm));
		if (task->flags & PF_IO_WORKER) /* the kernel named it */
			bpf_probe_read_kernel_str(event->comm, sizeof(event->comm),
						  TASK_POINTER(task, group_leader)->comm);
		event->process_ends = TASK_POINTER(task, signal)->live.counter == 0;
		event->peak_rss_bytes =
			event->process_ends ? TASK_POINTER(task, signal)->maxrss * PAGE_BYTES : 0;
		event->code = task_exit_status(task);
		event->oom = TASK_POINTER(task, signal)->oom_mm != NULL;
		event->oom_limit_bytes = event->oom ? oom_take(task->pid) : 0;
		event->stack = state->stack.ended_at;
		ring_submit(event);
	}
	if (!TASK_POINTER(task, signal)->live.counter) {
		sizes_check_task(state, task);
		flight_forget(task->tgid);
	}
	if (threads_recorded)
		thread_check_seen(state, WAIT_HAS_LEFT);
	thread_end(&state->thread, task, now_ns, owner_of(task));
	task_set_mode(task, state, TASK_IGNORED);
	if (task_slot_matches(slot, task, task->pid))
		slot->exited_ns = now_ns;
	return 0;
}

/* --- programs, and their copies for kernels that skip a preempted program --- */

COPIED_PROGRAM("?tp_btf/sched_process_fork", fl_fork, task_fork(parent, child, copy),
	       struct task_struct *parent, struct task_struct *child)
COPIED_PROGRAM("?tp_btf/task_newtask", fl_worker, task_fork_worker(worker, copy),
	       struct task_struct *worker, unsigned long flags)
COPIED_PROGRAM("?tp_btf/sched_process_exec", fl_exec, task_exec(task, old_tid, bprm, copy),
	       struct task_struct *task, int old_tid, struct linux_binprm *bprm)
/* Runs once: an exited task is not followed. */
COPIED_PROGRAM("?tp_btf/sched_process_exit", fl_exit, task_exit(task), struct task_struct *task)
