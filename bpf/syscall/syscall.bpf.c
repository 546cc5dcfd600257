// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * System calls that access files, decoded by the table of calls.
 *
 * The file is looked up at entry, because the descriptor may be closed or reused before the exit.
 * Everything else is read at the exit, when the arguments are still in their registers and the
 * strings that they point to are in memory.
 *
 * The programs themselves handle plain calls (CALL_PLAIN) on files that the task knows; global
 * functions handle all others.
 */
#include "async/aio.h"
#include "syscall/call_suspended.h"
#include "syscall/call_path.h"
#include "stack/sample.h"
#include "thread/thread_in.h"
#include "vmlinux/trace.h"

/* --- entry --- */

static __always_inline void call_count_undecoded(void)
{
	struct op_total *total = op_total(OP_UNDECODED);

	if (total)
		count_add(&total->count, 1, calls_preempted);
}

static __always_inline int call_enter(struct pt_regs *regs, long number, const bool nonpreemptible)
{
	struct task_struct *task;
	struct task_state *state;
	struct caller caller;
	struct call_row row;

	caller_find(&caller, regs, nonpreemptible);
	state = caller.state;
	if (!state)
		return 0;
	state->stack.wait_ns = 0; /* waits between calls belong to none */
	task = caller.task;
	if (call_is_compat(task)) {
		call_count_undecoded();
		return 0;
	}
	if (state->call_suspended)
		call_begins_suspended(state, number, REGS_IP(regs), REGS_SP(regs));
	if ((unsigned long)number >= CALL_TABLE_SIZE)
		return 0;
	row = call_row(number);
	if (!row.op) {
		if (number == exit_group_number && stack_period_ns &&
		    SYSCALL_ARG0(regs) & EXIT_STATUS_MASK)
			stack_end(state);
		return 0;
	}
	if (state->call.account.op)
		call_end_unseen(state);
	if (attach_to)
		state->before &= ~BEFORE_CALL;

	call_open(state, task, number);
	if (state->fault.account.op)
		fault_end_unseen(state, 0, false);
	if (row.traits & CALL_PLAIN) {
		if (!call_enter_plain(state, task, row.traits, SYSCALL_ARG0(regs)))
			return 0;
	} else if (row.fd && !row.path) {
		struct call_args args;

		call_args_read(&args, regs);
		row.op = call_enter_any(state, &args, state->call.number);
		if (!row.op)
			return 0;
	} else if (row.traits & CALL_AIO_SUBMIT && async_recorded) {
		struct call_args args;

		call_args_read(&args, regs);
		aio_submit(state, &args);
	}
	op_account_begin(&state->call.account, row.op, bpf_ktime_get_ns());
	if (state->call_suspended == SUSPENDED_RESUMES)
		call_restore(state);
	return 0;
}

/* --- exit --- */

/* Takes the executable that the task runs now as the call's file. */
static __always_inline bool call_take_program(struct task_state *state)
{
	struct mm_struct *mm = TASK_POINTER(bpf_get_current_task_btf(), mm);
	struct address file = { (__u64)KREAD(mm_struct, mm, exe_file) };

	return !file.at || call_take_any_file(state, &file);
}

/*
 * Sets the file of a call with a path: the one it opened or executed, or the directory descriptor's
 * if the path is empty (fstat by another name). Returns false if it must not be recorded.
 */
static __always_inline bool call_take_path_file(struct task_state *state,
						const struct call_row *row, struct call_args *args,
						__s64 result)
{
	bool opens = row->traits & CALL_OPENS;
	__u32 fd = result;
	char first = 1;

	if (row->traits & CALL_EXECS && result >= 0)
		return call_take_program(state);
	if (opens) {
		if (result < 0)
			return true;
	} else {
		if (!row->path_dir || row->path2)
			return true;
		if (!call_arg(args, row->path))
			first = 0; /* since 6.11, NULL means an empty path */
		else
			bpf_probe_read_user(&first, sizeof(first),
					    (void *)call_arg(args, row->path));
		if (first)
			return true;
		fd = call_arg(args, row->path_dir);
	}
	return call_take_fd(state, bpf_get_current_task_btf(), fd, opens);
}

/* The call has mapped code of its file. */
static __always_inline void call_map_code(struct task_state *state, __u64 address, __u64 bytes)
{
	struct address file = { state->call.file };

	if (!(stack_period_ns && python_map(address, bytes, &file)) && code_reported)
		code_send(address, bytes, NULL);
}

/* Handles the exit of any call. Returns whether it is recorded, and I/O. */
__noinline int call_exit_any(struct task_state *state, struct call_args *args, struct call_end *end)
{
	struct call_row row;
	__s64 result;

	if (!state || !args || !end)
		return 0;
	result = end->result;
	row = call_row(state->call.number);
	if (row.traits & CALL_REQUEST) {
		row = request_row(row, state->call.number, args);
		if (!row.op)
			return 0;
	}
	if ((row.path || row.traits & CALL_OPENS) &&
	    !call_take_path_file(state, &row, args, result))
		return 0;
	state->call.account.op = row.op;
	state->call.account.offset = -1;
	if (row.offset || row.traits & (CALL_SEEK | CALL_FPOS))
		call_exit_offset(state, &row, args, result);
	end->requested_bytes = call_requested_bytes(&row, args);
	if (row.traits & (CALL_OPEN_FLAGS | CALL_OPEN_HOW | CALL_MMAP | CALL_ADVISES | CALL_FLOCK))
		call_exit_flags(state, &row, args);
	if (row.traits & CALL_SUBMITS && result > 0)
		call_count_submissions(row.op, result);
	if (state->call.account.flags & TRACE_OP_EXECUTABLE && state->call.file && result > 0)
		call_map_code(state, result, call_arg(args, 2));
	if (!(row.traits & CALL_TRANSFER) &&
	    (!row.path || state->call.file || state->call.account.flags & TRACE_OP_NO_FILE)) {
		call_done_any(state, end, row.traits);
		return call_is_io(state,
				  call_major_faults(&state->call, bpf_get_current_task_btf()));
	}
	if (profile_aggregates(bpf_get_current_task_btf(), state->call.account.start_ns)) {
		profile_call(state, end, row.traits);
		if (!profile_also_records(state->pid)) {
			call_count_any(state, end, row.traits);
			return 1;
		}
	}
	call_done_path(state, &row, end, args);
	return 1;
}

/* Handles the exit of a plain call: argument 3 is its length, argument 4 its offset. */
static __always_inline void call_exit_plain(struct task_state *state, struct task_struct *task,
					    struct pt_regs *regs, struct call_row row,
					    struct call_end *end, const bool nonpreemptible)
{
	end->requested_bytes = row.length ? SYSCALL_ARG2(regs) : 0;
	if (row.offset && !(row.traits & CALL_WRITES && call_appends(state)))
		state->call.account.offset = SYSCALL_ARG3(regs);
	else if (row.offset)
		state->call.account.offset = call_append_offset(state, end->result);
	else
		state->call.account.offset = call_file_offset(state, row.traits, end->result);
	call_done(state, task, end, row.traits, nonpreemptible);
}

static __always_inline int call_return(struct pt_regs *regs, long result, const bool nonpreemptible)
{
	struct call_end end = { .result = result };
	struct task_struct *task;
	struct task_state *state;
	struct caller caller;
	struct call_row row;
	int is_io = 1;

	caller_find(&caller, regs, nonpreemptible);
	state = caller.state;
	if (!state)
		return 0;
	if (stack_period_ns)
		thread_check_seen(state, 0);
	task = caller.task;
	if (attach_to && state->before & BEFORE_CALL) {
		struct call_args args;

		state->before &= ~BEFORE_CALL;
		call_args_read(&args, regs);
		if (call_is_compat(task) ||
		    !call_enter_late(state, &args, SYSCALL_NUMBER(regs), result)) {
			stack_waits(state);
			return 0;
		}
		end.duration_ns = state->call.account.start_ns;
	} else if (!state->call.account.op) {
		if (!state->call_suspended ||
		    !call_interrupted(state, REGS_IP(regs), REGS_SP(regs), result)) {
			stack_waits(state);
			return 0;
		}
		end.duration_ns = state->suspended.end_ns;
	} else {
		if (SYSCALL_NUMBER(regs) != state->call.number) {
			call_end_unseen(state);
			return 0;
		}
		if ((__u64)(-ERESTART_FIRST - result) < ERESTART_COUNT)
			return call_suspend(state, REGS_IP(regs), REGS_SP(regs));
		end.duration_ns = bpf_ktime_get_ns();
	}
	end.duration_ns -= state->call.account.start_ns;
	if (state->fault.account.op)
		fault_end_unseen(state, 0, false);
	row = call_row(state->call.number);
	if (row.traits & CALL_PLAIN) {
		call_exit_plain(state, task, regs, row, &end, nonpreemptible);
	} else {
		struct call_args args;

		call_args_read(&args, regs);
		is_io = call_exit_any(state, &args, &end);
		if (row.traits & (CALL_AIO_SUBMIT | CALL_AIO_REAP) && async_recorded)
			aio_end_call(&args, row.traits, result);
	}
	if (state->other_fill.account.op)
		other_fill_send(state);
	if (is_io)
		stack_operation(state, &state->call.account, state->call.account.op,
				end.duration_ns);
	else
		stack_waits(state);
	op_account_close(&state->call.account);
	return 0;
}

/* If calls are not recorded: reports only mappings of code, which may contain markers. */
static __always_inline int code_send_mapping(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (SYSCALL_NUMBER(regs) != mmap_number || call_is_compat(task) || !task_followed(task))
		return 0;
	if (SYSCALL_ARG2(regs) & PROT_EXEC && !(SYSCALL_ARG3(regs) & MAP_ANONYMOUS) && result > 0)
		code_send(result, SYSCALL_ARG1(regs), NULL);
	return 0;
}

/*
 * Ends the call of a thread that exits inside it: a signal interrupted the call and killed the
 * thread. That may be a call of a signal handler, and the call that the handler interrupted is
 * suspended. If the exit was recorded first, the thread is no longer followed.
 */
static __always_inline int call_cut(struct task_struct *task)
{
	struct task_state *state = task_state(task);

	if (!state)
		return 0;
	if (state->call.account.op)
		call_cut_at(state, bpf_ktime_get_ns());
	if (state->call_suspended)
		call_cut_suspended(state);
	return 0;
}

/* --- variant: tracepoints with typed arguments --- */

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(fl_call_cut, struct task_struct *task)
{
	return call_cut(task);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(fl_sys_enter, struct pt_regs *regs, long number)
{
	return calls_fast_path ? call_enter(regs, number, true) : call_enter(regs, number, false);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_sys_exit, struct pt_regs *regs, long result)
{
	return calls_fast_path ? call_return(regs, result, true) : call_return(regs, result, false);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_code, struct pt_regs *regs, long result)
{
	return code_send_mapping(regs, result);
}

/* --- variant: classic tracepoints, which cost a little more and are never preempted --- */

SEC("?tp/sched/sched_process_exit")
int fl_call_cut_tp(void *event)
{
	return call_cut(bpf_get_current_task_btf());
}

SEC("?tp/raw_syscalls/sys_enter")
int fl_enter_tp(struct trace_event_raw_sys_enter *call)
{
	return call_enter(task_regs(bpf_get_current_task_btf()), call->id, false);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_exit_tp(struct trace_event_raw_sys_exit *call)
{
	return call_return(task_regs(bpf_get_current_task_btf()), call->ret, false);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_code_tp(struct trace_event_raw_sys_exit *call)
{
	return code_send_mapping(task_regs(bpf_get_current_task_btf()), call->ret);
}
