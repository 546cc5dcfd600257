// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Where system calls are not recorded: those of libaio alone. And what ends operations without
 * their completion, the end of their process.
 */
#include "aio.h"

/* --- the calls of libaio --- */

static __always_inline int aio_entered(struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;
	struct call_args args;

	if ((unsigned long)number >= CALL_TABLE_SIZE ||
	    !(call_row(number).traits & CALL_AIO_SUBMIT) || in_compat_call(task))
		return 0;
	state = task_followed(task);
	if (!state)
		return 0;
	call_args_read(&args, regs);
	return aio_submit(state, &args);
}

static __always_inline int aio_exited(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	unsigned long number = SYSCALL_NUMBER(regs);
	struct call_args args;
	__u32 traits;

	if (number >= CALL_TABLE_SIZE)
		return 0;
	traits = call_row(number).traits;
	if (!(traits & (CALL_AIO_SUBMIT | CALL_AIO_REAP)) || in_compat_call(task) ||
	    !task_followed(task))
		return 0;
	call_args_read(&args, regs);
	return aio_left(&args, traits, result);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(fl_aio_enter, struct pt_regs *regs, long number)
{
	return aio_entered(regs, number);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_aio_exit, struct pt_regs *regs, long result)
{
	return aio_exited(regs, result);
}

SEC("?tp/raw_syscalls/sys_enter")
int fl_aio_enter_tp(struct trace_event_raw_sys_enter *call)
{
	return aio_entered(current_regs(), call->id);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_aio_exit_tp(struct trace_event_raw_sys_exit *call)
{
	return aio_exited(current_regs(), call->ret);
}

/* --- a process ends --- */

struct bpf_map;

struct async_cut {
	__u64 now_ns;
	__u32 pid;
};

/* The file of a request of io_uring that is not complete, if the run has met that: to look further
 * would be too deep here. False when its kind is not recorded. */
static __always_inline bool uring_cut_file(struct async_operation *operation, void *request)
{
	struct file *file = KREAD(io_kiocb, request, file);
	struct file_facts facts = {};
	struct address inode;

	if (!file || operation->row.shape >= ASYNC_SPLICE)
		return true;
	if (!(file_class(KREAD(file, file, f_inode)) & file_classes))
		return false;
	file_facts_of(file, &facts);
	inode.at = (__u64)facts.inode;
	operation->account.file = file_met(&inode);
	return true;
}

static __noinline int async_cut_one(struct async_key *key, struct async_operation *operation,
				    struct async_cut *cut)
{
	struct async_key at = *key;

	if (operation->account.flags & TRACE_OP_SILENT || !operation->account.op) {
		async_end_unseen(&at, operation);
		return 0;
	}
	operation->account.flags |= TRACE_OP_UNFINISHED;
	if (at.mm || uring_cut_file(operation, (void *)at.address))
		async_tell(&at, operation, -EINTR, cut->now_ns);
	async_take_out(&at);
	return 0;
}

static long async_cut_step(struct bpf_map *map, struct async_key *key,
			   struct async_operation *operation, struct async_cut *cut)
{
	if (operation->owner.pid == cut->pid)
		async_cut_one(key, operation, cut);
	return 0;
}

static long async_cut_place(struct bpf_map *map, __u32 *number, struct async_place *place,
			    struct async_cut *cut)
{
	if (place->key.address && place->operation.owner.pid == cut->pid)
		async_cut_one(&place->key, &place->operation, cut);
	return 0;
}

static __always_inline int async_cut(struct task_struct *task)
{
	struct async_cut cut = { .pid = task->tgid };

	if (TASK_POINTER(task, signal)->live.counter ||
	    !bpf_map_lookup_elem(&async_users, &cut.pid))
		return 0;
	bpf_map_delete_elem(&async_users, &cut.pid);
	cut.now_ns = bpf_ktime_get_ns();
	bpf_for_each_map_elem(&async_places, async_cut_place, &cut, 0);
	if (async_flight_count)
		bpf_for_each_map_elem(&async_flight, async_cut_step, &cut, 0);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(fl_async_cut, struct task_struct *task)
{
	return async_cut(task);
}

SEC("?tp/sched/sched_process_exit")
int fl_async_cut_tp(void *event)
{
	return async_cut(bpf_get_current_task_btf());
}
