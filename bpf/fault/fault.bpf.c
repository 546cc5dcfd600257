// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Page faults on file mappings, from start to end; faults on anonymous and shared memory as totals.
 *
 * Variants: entry and exit of handle_mm_fault, if the kernel allows attaching there; this also
 * covers the faults that the kernel makes for populate and mlock. Otherwise, the exception
 * tracepoints (on x86) or a kprobe for the start, and for the end software perf events, which the
 * kernel raises once a fault is done.
 */
#include "fault/fault.h"
#include "stack/sample.h"
#include "thread/thread_in.h"
#include "vmlinux/ptrace.h"
#include "vmlinux/trace.h"

#define X86_PF_WRITE 0x2
#define X86_PF_USER 0x4
#define SIGBUS 7
#define SIGSEGV 11

struct kernel_siginfo;

/* --- start --- */

static __always_inline void fault_begin(struct task_state *state, __u64 address, __u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (state->stack.walking)
		return;
	/* An attempt with faults disabled, which the kernel repeats, or an unseen end. */
	if (state->fault.account.op)
		fault_end_unseen(state, 0, false);
	if (state->call.account.op)
		flags |= TRACE_FAULT_IN_CALL;
	if (attach_to)
		state->before &= ~BEFORE_FAULT;
	/* Earlier waits may be of the system call that the fault is in. */
	if (!(flags & TRACE_FAULT_KERNEL))
		state->stack.wait_ns = 0;
	state->stack.before_fault_ns = state->stack.wait_ns;
	state->fault.address = address;
	op_account_open(&state->fault.account);
	state->fault.dirtied_mapping = 0;
	state->fault.cut_ns = 0;
	state->fault.account.flags = flags;
	state->fault.count_start = task->maj_flt + task->min_flt;
	state->fault.major_start = task->maj_flt;
	op_account_begin(&state->fault.account, OP_FAULT, bpf_ktime_get_ns());
}

/* --- end --- */

static __always_inline int fault_end(struct task_state *state, __u64 vma, bool major, __u64 now_ns)
{
	struct op_account *account = &state->fault.account;
	__u64 duration_ns;
	__u32 op;

	if (major) {
		state->fault.account.flags |= TRACE_FAULT_MAJOR;
		state->call.major_seen++;
	}
	duration_ns = op_account_duration_ns(account, now_ns);
	op = fault_close(state, vma, now_ns);
	/* The time of a fault inside a call is part of the call's. One on no file is no I/O, but
	 * may have waited. */
	if (!(account->flags & TRACE_FAULT_IN_CALL)) {
		if (stack_period_ns)
			thread_check_seen(state, 0);
		if (op == OP_FAULT) {
			stack_operation(state, account, op, duration_ns);
			state->stack.wait_ns = state->stack.before_fault_ns;
		} else if (!state->stack.before_fault_ns) {
			stack_waits(state);
		}
	}
	return 0;
}

/* Begins a fault whose start was not seen, maybe because its task was not followed yet. It has no
 * duration. */
static __always_inline void fault_begin_unseen(struct task_state *state, __u64 address,
					       __u64 now_ns)
{
	state->stack.before_fault_ns = state->stack.wait_ns;
	op_account_open(&state->fault.account);
	state->fault.dirtied_mapping = 0;
	state->fault.cut_ns = 0;
	state->fault.address = address;
	state->fault.account.flags = TRACE_FAULT_UNTIMED;
	if (attach_to && state->before & BEFORE_FAULT) {
		state->fault.account.flags |= TRACE_FAULT_BEFORE;
		state->before &= ~BEFORE_FAULT;
	} else {
		note_add(NOTE_FAULT_UNTIMED);
	}
	op_account_begin(&state->fault.account, OP_FAULT, now_ns);
}

/* --- variant: exception tracepoints and software perf events --- */

static __always_inline int fault_begin_exception(unsigned long address, unsigned long error)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	__u32 flags = 0;

	if (!state)
		return 0;
	if (!(error & X86_PF_USER))
		flags |= TRACE_FAULT_KERNEL;
	if (error & X86_PF_WRITE)
		flags |= TRACE_FAULT_WRITE;
	fault_begin(state, address, flags);
	return 0;
}

/* Serves both tracepoints. The kernel picks one by the registers; the error code says the same. */
SEC("?raw_tp")
int fl_fault_start(struct bpf_raw_tracepoint_args *event)
{
	return fault_begin_exception(event->args[0], event->args[2]);
}

static __always_inline int fault_end_event(struct bpf_perf_event_data *event, bool major)
{
	__u64 now_ns = bpf_ktime_get_ns(), page = ~(PAGE_BYTES - 1);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (!state)
		return 0;
	if (!state->fault.account.op || (state->fault.address & page) != (event->addr & page)) {
		if (state->fault.account.op)
			fault_end_unseen(state, 0, false);
		fault_begin_unseen(state, event->addr, now_ns);
	}
	return fault_end(state, vma_of_fault(state, state->fault.address), major, now_ns);
}

SEC("?perf_event")
int fl_fault_major(struct bpf_perf_event_data *event)
{
	return fault_end_event(event, true);
}

SEC("?perf_event")
int fl_fault_minor(struct bpf_perf_event_data *event)
{
	return fault_end_event(event, false);
}

/* The start, by classic tracepoints, which are never preempted. */
SEC("?tp")
int fl_fault_tp(struct trace_event_raw_exceptions *fault)
{
	struct trace_event_raw_x86_exceptions *older = (void *)fault;

	if (bpf_core_type_exists(struct trace_event_raw_exceptions))
		return fault_begin_exception(fault->address, fault->error_code);
	return fault_begin_exception(older->address, older->error_code);
}

/* --- variant: entry and exit of handle_mm_fault --- */

static __always_inline int fault_begin_handling(unsigned long address, unsigned int flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	__u64 page = ~(PAGE_BYTES - 1);
	__u32 seen = 0;

	/* A fault that has to wait enters again; it is one fault, from the first entry on. */
	if (!state ||
	    (state->fault.account.op && (state->fault.address & page) == (address & page)))
		return 0;
	if (flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_WRITE))
		seen |= TRACE_FAULT_WRITE;
	if (!(flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_USER)))
		seen |= TRACE_FAULT_KERNEL;
	fault_begin(state, address, seen);
	return 0;
}

SEC("?fentry/handle_mm_fault")
int BPF_PROG(fl_fault_enter, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs)
{
	return fault_begin_handling(address, flags);
}

SEC("?fexit/handle_mm_fault")
int BPF_PROG(fl_fault_leave, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs, unsigned int result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct address mapping = { (__u64)vma };
	bool major;

	if (!state || (result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_RETRY)))
		return 0;
	if (attach_to && !state->fault.account.op && state->before & BEFORE_FAULT)
		fault_begin_unseen(state, address, bpf_ktime_get_ns());
	if (!state->fault.account.op)
		return 0;
	if (result & VM_FAULT_ERROR)
		return fault_end_unseen(state, bpf_ktime_get_ns(), true);
	/* Major or minor, as mm_account_fault in mm/memory.c decides. */
	major = result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_MAJOR) ||
		flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_TRIED);
	/* As a number: the verifier does not let global functions take a typed pointer for one. */
	return fault_end(state, address_number(&mapping), major, bpf_ktime_get_ns());
}

/*
 * The entry by a kprobe, the end by the perf events of the first variant. The perf events cover
 * only faults that came as exceptions, so the entry skips those that the kernel makes itself,
 * without registers.
 */
SEC("?kprobe/handle_mm_fault")
int BPF_KPROBE(fl_fault_kprobe, struct vm_area_struct *vma, unsigned long address,
	       unsigned int flags, struct pt_regs *regs)
{
	return regs ? fault_begin_handling(address, flags) : 0;
}

/* --- faults without a regular end --- */

/* The task gets a signal for its own memory access: SIGBUS ends the fault in flight, SIGSEGV means
 * that there was no mapping to fault on. The task's next event ends the fault. */
static __always_inline int fault_signal(int signal)
{
	struct task_state *state = task_followed(bpf_get_current_task_btf());

	if (!state || !state->fault.account.op)
		return 0;
	state->fault.cut_ns = bpf_ktime_get_ns();
	state->fault.cut_is_certain = signal == SIGBUS;
	return 0;
}

SEC("?tp_btf/signal_generate")
int BPF_PROG(fl_fault_signal, int signal, struct kernel_siginfo *info, struct task_struct *task)
{
	if ((signal != SIGBUS && signal != SIGSEGV) || task != bpf_get_current_task_btf())
		return 0;
	return fault_signal(signal);
}

SEC("?tp/signal/signal_generate")
int fl_fault_sig_tp(struct trace_event_raw_signal_generate *event)
{
	int signal = event->sig;

	if ((signal != SIGBUS && signal != SIGSEGV) ||
	    event->pid != bpf_get_current_task_btf()->pid)
		return 0;
	return fault_signal(signal);
}

/* The thread exits in the middle of a fault: it was killed while it waited. A fault in kernel mode
 * may have been only an attempt. */
static __always_inline int fault_cut(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_state(task);

	if (!state || !state->fault.account.op)
		return 0;
	return fault_end_unseen(state, bpf_ktime_get_ns(),
				!(state->fault.account.flags & TRACE_FAULT_KERNEL));
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(fl_fault_cut, struct task_struct *task)
{
	return fault_cut();
}

SEC("?tp/sched/sched_process_exit")
int fl_fault_cut_tp(void *context)
{
	return fault_cut();
}
