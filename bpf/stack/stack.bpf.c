// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Which line of Python waited or computed. The programs that record operations take stacks at their
 * end; those here keep track of which processes run an interpreter, and sample what runs on a CPU.
 */
#include "stack/sample.h"
#include "vmlinux/ptrace.h"
#include "vmlinux/trace.h"

static __always_inline int stack_exec(struct task_struct *task)
{
	struct task_state *state = task_followed(task);
	struct mm_struct *mm = TASK_POINTER(task, mm);

	if (!state || !mm)
		return 0;
	state->stack.thread = 0;
	python_exec(mm);
	if (stacks_native) /* what the process maps is looked up while it runs */
		ring_wake();
	return 0;
}

/* A new process runs the same interpreter, at the same address. */
static __always_inline int stack_fork(__u32 parent, __u32 child)
{
	struct python_process *known;

	if (parent == child)
		return 0;
	known = bpf_map_lookup_elem(&python_processes, &parent);
	if (known) {
		struct python_process made = *known;

		bpf_map_update_elem(&python_processes, &child, &made, BPF_ANY);
	}
	return 0;
}

static __always_inline int stack_exit(struct task_struct *task)
{
	__u32 process = task->tgid;

	if (!TASK_POINTER(task, signal)->live.counter)
		bpf_map_delete_elem(&python_processes, &process);
	return 0;
}

COPIED_PROGRAM("?tp_btf/sched_process_exec", fl_py_exec, stack_exec(task), struct task_struct *task,
	       int old_tid, struct linux_binprm *bprm)
COPIED_PROGRAM("?tp_btf/sched_process_fork", fl_py_fork, stack_fork(parent->tgid, child->tgid),
	       struct task_struct *parent, struct task_struct *child)
COPIED_PROGRAM("?tp_btf/sched_process_exit", fl_py_exit, stack_exit(task), struct task_struct *task)

/* Which line computes. Interrupts whatever runs on the CPU. */
SEC("?perf_event")
int fl_cpu_sample(struct bpf_perf_event_data *event)
{
	struct task_state *state = task_followed(bpf_get_current_task_btf());

	if (state)
		stack_take(state, NULL, THREAD_CPU, 0, STACK_CPU_NS);
	return 0;
}

/* --- the line at which a process ended --- */

static __always_inline bool signal_is_in(int signal, __u64 mask)
{
	return signal > 0 && signal <= 64 && SIGNAL_BIT(signal) & mask;
}

/* Whether a signal ends the current thread. The kernel ends all threads of a process by SIGKILL. */
static __always_inline bool signal_kills(int signal, void *handler)
{
	return signal == SIGNAL_KILL || (!handler && !signal_is_in(signal, SIGNALS_HARMLESS));
}

/* One thread's stack says where the process was: that of the thread that crashed; otherwise the
 * first one. */
static __always_inline bool signal_shows_end(struct task_struct *task, int signal)
{
	int ends;

	if (signal != SIGNAL_KILL)
		return true;
	ends = SIGNAL_OF_STATUS(TASK_POINTER(task, signal)->group_exit_code);
	return task->pid == task->tgid && ends && !signal_is_in(ends, SIGNALS_DUMPING);
}

/* The signal kills the thread, so its suspended call will not be restarted. */
static __always_inline void signal_cuts_call(struct task_state *state)
{
	const struct op_account *account = &state->suspended.call.account;

	if (state->call_suspended)
		stack_operation(state, account, account->op,
				state->suspended.end_ns - account->start_ns);
}

SEC("?tp_btf/signal_deliver")
int BPF_PROG(fl_py_signal, int signal, struct kernel_siginfo *info, struct k_sigaction *action)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (!state || !signal_kills(signal, action->sa.sa_handler))
		return 0;
	signal_cuts_call(state);
	if (signal_shows_end(task, signal))
		stack_end(state);
	return 0;
}

/* If calls are not recorded: follows only mappings of code. */
static __always_inline int stack_map(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct address file;

	if (SYSCALL_NUMBER(regs) != mmap_number || call_is_compat(task) || !task_followed(task) ||
	    !(SYSCALL_ARG2(regs) & PROT_EXEC) || SYSCALL_ARG3(regs) & MAP_ANONYMOUS || result <= 0)
		return 0;
	file.at = (__u64)file_of_fd(task, SYSCALL_ARG4(regs));
	if (!python_map(result, SYSCALL_ARG1(regs), &file) && stacks_native)
		code_send(result, SYSCALL_ARG1(regs), NULL);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_py_map, struct pt_regs *regs, long result)
{
	return stack_map(regs, result);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_py_map_tp(struct trace_event_raw_sys_exit *call)
{
	return stack_map(task_regs(bpf_get_current_task_btf()), call->ret);
}
