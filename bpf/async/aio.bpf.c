// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libaio's system calls, for recordings without other system calls. Also ends asynchronous
 * operations that are in flight when their process exits.
 */
#include "async/aio.h"
#include "async/async_cut.h"

/* --- libaio calls --- */

static __always_inline int aio_enter(struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;
	struct call_args args;

	if ((unsigned long)number >= CALL_TABLE_SIZE ||
	    !(call_row(number).traits & CALL_AIO_SUBMIT) || call_is_compat(task))
		return 0;
	state = task_followed(task);
	if (!state)
		return 0;
	call_args_read(&args, regs);
	return aio_submit(state, &args);
}

static __always_inline int aio_exit(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	unsigned long number = SYSCALL_NUMBER(regs);
	struct call_args args;
	__u32 traits;

	if (number >= CALL_TABLE_SIZE)
		return 0;
	traits = call_row(number).traits;
	if (!(traits & (CALL_AIO_SUBMIT | CALL_AIO_REAP)) || call_is_compat(task) ||
	    !task_followed(task))
		return 0;
	call_args_read(&args, regs);
	return aio_end_call(&args, traits, result);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(fl_aio_enter, struct pt_regs *regs, long number)
{
	return aio_enter(regs, number);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_aio_exit, struct pt_regs *regs, long result)
{
	return aio_exit(regs, result);
}

SEC("?tp/raw_syscalls/sys_enter")
int fl_aio_enter_tp(struct trace_event_raw_sys_enter *call)
{
	return aio_enter(task_regs(bpf_get_current_task_btf()), call->id);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_aio_exit_tp(struct trace_event_raw_sys_exit *call)
{
	return aio_exit(task_regs(bpf_get_current_task_btf()), call->ret);
}

/* --- process exit --- */

static __always_inline int async_cut(struct task_struct *task)
{
	struct async_cut cut = { .pid = task->tgid, .result = -EINTR };

	if (TASK_POINTER(task, signal)->live.counter ||
	    !bpf_map_lookup_elem(&async_users, &cut.pid))
		return 0;
	bpf_map_delete_elem(&async_users, &cut.pid);
	cut.now_ns = bpf_ktime_get_ns();
	async_cut_all(&cut);
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
