/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Derives what a blocked task waits for from the operation it is in.
 */
#pragma once

#include "syscall/call_args.h"
#include "thread/thread_times.h"

extern const volatile struct wait_call wait_calls[WAIT_CALL_COUNT];

static __always_inline struct wait_call wait_call(__u32 number)
{
	struct wait_call none = {};

	if (number >= WAIT_CALL_COUNT)
		return none;
	BARRIER_VAR(number); /* the verifier needs the mask */
	return *(const struct wait_call *)&wait_calls[number & (WAIT_CALL_COUNT - 1)];
}

/* Returns the number of the system call that the task is in; in none, or in a call of a 32-bit
 * program: WAIT_CALL_COUNT or above. An io_uring worker has the registers of its creator's call. */
static __always_inline __u32 wait_call_number(struct task_struct *task, struct pt_regs *regs)
{
	return call_is_compat(task) || task->flags & PF_IO_WORKER ? WAIT_CALL_COUNT
								  : SYSCALL_NUMBER(regs);
}

static __always_inline struct inode *wait_inode(struct task_struct *task, struct pt_regs *regs)
{
	struct file *file = file_of_fd(task, SYSCALL_ARG0(regs));

	return file ? KREAD(file, file, f_inode) : NULL;
}

#define TTY_MAJOR 4
#define TTYAUX_MAJOR 5
#define UNIX98_PTY_MASTER_MAJOR 128
#define UNIX98_PTY_SLAVE_END 144

static __always_inline __u32 wait_state_of_inode(struct inode *inode, __u32 by)
{
	__u32 major;

	switch (file_class(inode)) {
	case FILE_CLASS_REG:
	case FILE_CLASS_DIR:
	case FILE_CLASS_BLK:
		return THREAD_STORAGE;
	case FILE_CLASS_FIFO:
	case FILE_CLASS_SOCK:
	case FILE_CLASS_ANON:
		return by == THREAD_BY_DRIVER ? THREAD_DEVICE : THREAD_PIPE;
	case FILE_CLASS_CHR:
		major = KREAD(inode, inode, i_rdev) >> 20;
		return major == TTY_MAJOR || major == TTYAUX_MAJOR ||
				       (major >= UNIX98_PTY_MASTER_MAJOR &&
					major < UNIX98_PTY_SLAVE_END)
			       ? THREAD_OTHER
			       : THREAD_DEVICE;
	}
	return THREAD_OTHER;
}

/* Programs also call poll and select without descriptors, to sleep. */
static __always_inline __u32 wait_state_of_count(__u64 descriptors)
{
	return (__u32)descriptors ? THREAD_PIPE : THREAD_SLEEP;
}

/* Whether the task is in a fault that has reached a file. */
static __always_inline bool wait_in_file_fault(const struct task_state *state,
					       struct task_struct *task)
{
	return state->fault.account.op && state->fault.account.mapping &&
	       (__u32)(task->maj_flt + task->min_flt) == state->fault.count_start;
}

/* A cgroup's freezer counts a task that waits in vfork() as frozen, but that wait is
 * uninterruptible. */
static __always_inline bool wait_is_stopped(struct task_struct *task)
{
	return task->__state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN) ||
	       (!(task->__state & TASK_UNINTERRUPTIBLE) && BPF_CORE_READ_BITFIELD(task, frozen));
}

static __always_inline bool wait_is_for_memory(struct task_struct *task, bool in_io)
{
	if (task->flags & PF_MEMALLOC)
		return true;
	return !in_io && bpf_core_field_exists(task->in_memstall) &&
	       BPF_CORE_READ_BITFIELD(task, in_memstall);
}

#define FUTEX_OP(op) ((op) & ~(1u << 7 | 1u << 8)) /* without private, and clock */
#define FUTEX_LOCK_PI 6
#define FUTEX_LOCK_PI2 13
#define RT_MUTEX_FLAGS 3ull

/* Notes which thread holds the lock that a task waits for. The kernel keeps the owner only of
 * futexes that lend priority; it keeps the task, so PID namespaces do not matter. */
static __always_inline void wait_note_owner(struct thread_account *thread, struct task_struct *task,
					    struct pt_regs *regs, const struct wait_call *call)
{
	__u32 op = FUTEX_OP((__u32)SYSCALL_ARG1(regs));
	struct rt_mutex_waiter *waiter;
	struct rt_mutex_base *lock;
	__u64 owner = 0;

	thread->owner_pid = thread->owner_tid = 0;
	if (call->on != WAIT_ON_FUTEX || (op != FUTEX_LOCK_PI && op != FUTEX_LOCK_PI2) ||
	    !bpf_core_field_exists(task->pi_blocked_on))
		return;
	waiter = TASK_POINTER(task, pi_blocked_on);
	lock = waiter ? KREAD(rt_mutex_waiter, waiter, lock) : NULL;
	if (lock) /* as a number: the verifier allows no bit operations on pointers */
		bpf_probe_read_kernel(&owner, sizeof(owner),
				      bpf_core_type_exists(struct rt_mutex_base)
					      ? KFIELD(rt_mutex_base, lock, owner)
					      : KFIELD(rt_mutex___owner, lock, owner));
	owner &= ~RT_MUTEX_FLAGS;
	if (!owner)
		return;
	thread->owner_pid = KREAD(task_struct, owner, tgid);
	thread->owner_tid = KREAD(task_struct, owner, pid);
}

/* Whether a call is an operation on files. Calls that map or unmap other memory wait for the lock
 * of the process's mappings. */
static __always_inline bool wait_is_on_files(const struct task_state *state, struct pt_regs *regs,
					     __u32 number)
{
	struct call_row row;

	if (number >= CALL_TABLE_SIZE)
		return state->call.account.op;
	row = call_row(number);
	if (row.traits & CALL_MMAP)
		return !(SYSCALL_ARG3(regs) & MAP_ANONYMOUS);
	if (row.traits & CALL_MAP)
		return state->call.account.file;
	return state->call.account.op || row.op;
}

/* Whether the call in flight is I/O. One on memory without a file is not. */
static __always_inline bool wait_in_io_call(const struct task_state *state)
{
	__u32 traits = calls[state->call.number & (CALL_TABLE_SIZE - 1)].traits;

	return state->call.account.op &&
	       (state->call.account.file || !(traits & (CALL_MAP | CALL_MMAP)));
}

/* Whether the path that the task opens has led to a FIFO. An open waits for the other end. */
static __always_inline bool wait_opens_fifo(struct task_struct *task)
{
	struct dentry *dentry = task_lookup_dentry(task);
	struct inode *inode = dentry ? KREAD(dentry, dentry, d_inode) : NULL;

	return inode && file_class(inode) == FILE_CLASS_FIFO;
}

/* Sets the state of a task that is blocked, and whether it is in an I/O operation. */
static __always_inline void wait_begin(struct task_state *state, struct task_struct *task)
{
	struct pt_regs *regs = task_regs(task);
	__u32 number = wait_call_number(task, regs);
	struct wait_call call = wait_call(number);
	bool in_fault = wait_in_file_fault(state, task);
	bool in_io = in_fault || wait_in_io_call(state);
	struct thread_account *thread = &state->thread;
	struct inode *inode;

	if (call.state == THREAD_RESTARTED) {
		number = thread->call;
		call = wait_call(number);
	}
	thread->call = number;
	thread->flags = (thread->flags & THREAD_NEW) | (in_io ? THREAD_IN_IO : 0);
	if (wait_is_stopped(task))
		thread->state = THREAD_STOPPED;
	else if (wait_is_for_memory(task, in_io))
		thread->state = THREAD_MEMORY;
	else if (call.state == THREAD_LOCK && !in_fault)
		thread->state = THREAD_LOCK;
	else if (in_fault)
		thread->state = THREAD_STORAGE;
	else if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		thread->state = state->fault.account.op ? THREAD_MEMORY : THREAD_STORAGE;
	else if (call.state >= THREAD_BY_FILE && (inode = wait_inode(task, regs)))
		thread->state = wait_state_of_inode(inode, call.state);
	else if (call.state == THREAD_BY_FIRST || call.state == THREAD_BY_SECOND)
		thread->state = wait_state_of_count(
			call.state == THREAD_BY_FIRST ? SYSCALL_ARG0(regs) : SYSCALL_ARG1(regs));
	else if (call.state && call.state < THREAD_BY_FIRST)
		thread->state = call.state;
	else if (wait_is_on_files(state, regs, number))
		thread->state = wait_opens_fifo(task) ? THREAD_PIPE : THREAD_STORAGE;
	else
		thread->state = THREAD_OTHER;
	wait_note_owner(thread, task, regs, &call);
}

#define P_PID 1

/* Returns the PID of the child that the task waits for; 0: any child, or unknown. It is as the task
 * counts PIDs: unknown unless its namespace is the initial one, which the records use. */
static __always_inline __u64 wait_child(struct task_struct *task, struct pt_regs *regs,
					const struct wait_call *call)
{
	__s32 child = call->on == WAIT_ON_PID ? SYSCALL_ARG0(regs) : SYSCALL_ARG1(regs);
	__u64 own = (__u64)TASK_POINTER(task, thread_pid);

	if (child <= 0 || (call->on == WAIT_ON_ID && (__u32)SYSCALL_ARG0(regs) != P_PID))
		return 0;
	return own && !KREAD(pid, own, level) ? child : 0;
}

/* Returns what the task waits for, as in the record; 0 if unknown. */
static __always_inline __u64 wait_object(struct task_struct *task, struct pt_regs *regs,
					 const struct wait_call *call)
{
	struct inode *inode;

	if (call->state == THREAD_LOCK && call->on != WAIT_ON_DESCRIPTOR)
		return SYSCALL_ARG0(regs);
	if (call->on == WAIT_ON_PID || call->on == WAIT_ON_ID)
		return wait_child(task, regs, call);
	inode = call->on == WAIT_ON_DESCRIPTOR ? wait_inode(task, regs) : NULL;
	/* All anonymous files have the same inode. */
	if (!inode || file_class(inode) == FILE_CLASS_ANON)
		return 0;
	if (file_class(inode) == FILE_CLASS_CHR)
		return KREAD(inode, inode, i_rdev);
	return KREAD(inode, inode, i_ino);
}

/* Whether waits of this length are sent as events. */
static __always_inline bool wait_is_event(const struct thread_account *thread, __u64 until_ns,
					  __u32 pid)
{
	return thread->state != THREAD_RUNNABLE && thread->state != THREAD_STORAGE &&
	       until_ns >= thread->since_ns + WAIT_MIN_NS &&
	       (!profile_aggregates_others() || profile_also_records(pid));
}

#define WAIT_HAS_LEFT (1u << 31) /* it is no longer in the call, whose arguments are gone */

static __always_inline void wait_fill(struct event_wait *event, const struct thread_account *thread,
				      struct task_struct *task, __u64 until_ns, __u32 flags)
{
	struct wait_call call = wait_call(thread->call);

	event->header.time_ns = thread->since_ns;
	event->duration_ns = until_ns - thread->since_ns;
	event->object = flags & WAIT_HAS_LEFT ? 0 : wait_object(task, task_regs(task), &call);
	event->waker_pid = thread->waker_pid;
	event->waker_tid = thread->waker_tid;
	event->state = thread->state;
	event->call = number_min(thread->call, WAIT_CALL_COUNT);
	event->owner_pid = thread->state == THREAD_LOCK ? thread->owner_pid : 0;
	event->owner_tid = thread->state == THREAD_LOCK ? thread->owner_tid : 0;
	event->flags =
		(flags & ~WAIT_HAS_LEFT) | (thread->flags & THREAD_NEW ? TRACE_WAIT_BEFORE : 0);
}

static __always_inline void wait_send(const struct thread_account *thread, struct task_struct *task,
				      __u64 until_ns, __u32 flags)
{
	struct event_wait *event = ring_reserve(RECORD_WAIT, sizeof(*event), owner_of(task));

	if (!event) /* at once: 6.1 does not know that a record checked before is not NULL */
		return;
	wait_fill(event, thread, task, until_ns, flags);
	ring_submit(event);
}

/* An exit closes files, gives up locks and ends the process. */
#define WAKES_BY_EXIT (1u << THREAD_LOCK | 1u << THREAD_PIPE | 1u << THREAD_CHILD)

/*
 * A task is woken by the current one, if that is in a call that ends such waits, or exits. An
 * interrupt may do it, too: a network packet or a timer. Then the current task is usually in no
 * such call.
 */
static __always_inline void wait_note_waker(struct thread_account *thread)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct pt_regs *regs = task_regs(waker);
	__u32 wakes = WAKES_BY_EXIT;

	if (!waker->pid || waker->flags & PF_KTHREAD)
		wakes = 0;
	else if (!(waker->flags & PF_EXITING))
		wakes = wait_call(wait_call_number(waker, regs)).wakes;
	wakes = wakes >> thread->state & 1;
	thread->waker_pid = wakes ? waker->tgid : 0;
	thread->waker_tid = wakes ? waker->pid : 0;
}
