// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Page faults on file mappings, from start to end; on anonymous and shared memory as totals.
 *
 * Variants: entry and exit of handle_mm_fault where the kernel lets us attach there, which also
 * sees the faults that the kernel makes for populate and mlock; else the exception tracepoints (x86
 * has them), or a kprobe, for the start and software perf events, which the kernel raises once a
 * fault is done, for the end.
 */
#include "fault.h"
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

	/* An attempt with faults disabled, which the kernel makes again, or one that ended unseen.
	 */
	if (state->fault.account.op)
		fault_settle(state, 0, false);
	if (state->call.account.op)
		flags |= TRACE_FAULT_IN_CALL;
	if (attach_to)
		state->before &= ~BEFORE_FAULT;
	state->fault.address = address;
	account_open(&state->fault.account);
	state->fault.dirtied_mapping = 0;
	state->fault.cut_ns = 0;
	state->fault.account.flags = flags;
	state->fault.count_start = task->maj_flt + task->min_flt;
	state->fault.major_start = task->maj_flt;
	account_begin(&state->fault.account, OP_FAULT, bpf_ktime_get_ns());
}

/* --- end --- */

static __always_inline int fault_end(struct task_state *state, __u64 vma, bool major, __u64 now_ns)
{
	if (major) {
		state->fault.account.flags |= TRACE_FAULT_MAJOR;
		state->call.major_seen++;
	}
	return fault_close(state, vma, now_ns);
}

/* One whose start was not seen: it has no duration. That may have been before its task was
 * followed. */
static __always_inline void fault_begin_unseen(struct task_state *state, __u64 address,
					       __u64 now_ns)
{
	account_open(&state->fault.account);
	state->fault.dirtied_mapping = 0;
	state->fault.cut_ns = 0;
	state->fault.address = address;
	state->fault.account.flags = TRACE_FAULT_UNTIMED;
	if (attach_to && state->before & BEFORE_FAULT) {
		state->fault.account.flags |= TRACE_FAULT_BEFORE;
		state->before &= ~BEFORE_FAULT;
	} else {
		note(NOTE_FAULT_UNTIMED);
	}
	account_begin(&state->fault.account, OP_FAULT, now_ns);
}

/* --- variant: exception tracepoints and software perf events --- */

static __always_inline int exception(unsigned long address, unsigned long error)
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

/* Of both tracepoints, which the kernel tells apart by the registers; the error code does, too. */
SEC("?raw_tp")
int fl_fault_start(struct bpf_raw_tracepoint_args *event)
{
	return exception(event->args[0], event->args[2]);
}

/* Of both events; the cookie says which. */
SEC("?perf_event")
int fl_fault_end(struct bpf_perf_event_data *event)
{
	bool major = bpf_get_attach_cookie(event) == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	__u64 now_ns = bpf_ktime_get_ns(), page = ~(PAGE_BYTES - 1);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (!state)
		return 0;
	if (!state->fault.account.op || (state->fault.address & page) != (event->addr & page)) {
		if (state->fault.account.op)
			fault_settle(state, 0, false);
		fault_begin_unseen(state, event->addr, now_ns);
	}
	return fault_end(state, vma_of_fault(state, state->fault.address), major, now_ns);
}

/* The start from classic tracepoints, which are never preempted. */
SEC("?tp")
int fl_fault_tp(struct trace_event_raw_exceptions *fault)
{
	struct trace_event_raw_x86_exceptions *older = (void *)fault;

	if (bpf_core_type_exists(struct trace_event_raw_exceptions))
		return exception(fault->address, fault->error_code);
	return exception(older->address, older->error_code);
}

/* --- variant: entry and exit of handle_mm_fault --- */

static __always_inline int handling(unsigned long address, unsigned int flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	__u64 page = ~(PAGE_BYTES - 1);
	__u32 seen = 0;

	/* A fault that has to wait comes a second time: it is one fault, from the first entry on.
	 */
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
	return handling(address, flags);
}

SEC("?fexit/handle_mm_fault")
int BPF_PROG(fl_fault_leave, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs, unsigned int result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	__u64 vma_address;
	bool major;

	if (!state || (result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_RETRY)))
		return 0;
	if (attach_to && !state->fault.account.op && state->before & BEFORE_FAULT)
		fault_begin_unseen(state, address, bpf_ktime_get_ns());
	if (!state->fault.account.op)
		return 0;
	if (result & VM_FAULT_ERROR)
		return fault_settle(state, bpf_ktime_get_ns(), true);
	/* As mm_account_fault in mm/memory.c tells major from minor. */
	major = result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_MAJOR) ||
		flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_TRIED);
	/* As a number: the verifier lets no global function take a typed pointer for one. */
	if (bpf_get_func_arg(ctx, 0, &vma_address))
		vma_address = 0;
	return fault_end(state, vma_address, major, bpf_ktime_get_ns());
}

/*
 * The entry by a kprobe, the end by the perf events of the first variant. Those tell only of faults
 * that came as exceptions, so the ones that the kernel makes itself, without registers, are passed
 * over at the entry, too.
 */
SEC("?kprobe/handle_mm_fault")
int BPF_KPROBE(fl_fault_kprobe, struct vm_area_struct *vma, unsigned long address,
	       unsigned int flags, struct pt_regs *regs)
{
	return regs ? handling(address, flags) : 0;
}

/* --- what ends without an end --- */

/* A signal to the task itself, because of what it touched: SIGBUS ends the fault in flight, SIGSEGV
 * says that there was no mapping to make one on. It is settled by what the task does next. */
static __always_inline int signalled(int signal)
{
	struct task_state *state = task_followed(bpf_get_current_task_btf());

	if (!state || !state->fault.account.op)
		return 0;
	state->fault.cut_ns = bpf_ktime_get_ns();
	state->fault.cut_for_sure = signal == SIGBUS;
	return 0;
}

SEC("?tp_btf/signal_generate")
int BPF_PROG(fl_fault_signal, int signal, struct kernel_siginfo *info, struct task_struct *task)
{
	if ((signal != SIGBUS && signal != SIGSEGV) || task != bpf_get_current_task_btf())
		return 0;
	return signalled(signal);
}

SEC("?tp/signal/signal_generate")
int fl_fault_sig_tp(struct trace_event_raw_signal_generate *event)
{
	int signal = event->sig;

	if ((signal != SIGBUS && signal != SIGSEGV) ||
	    event->pid != bpf_get_current_task_btf()->pid)
		return 0;
	return signalled(signal);
}

/* The thread ends in the middle of a fault: it was killed while it waited. That of a call's may
 * have been an attempt. */
static __always_inline int fault_cut(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_state(task);

	if (!state || !state->fault.account.op)
		return 0;
	return fault_settle(state, bpf_ktime_get_ns(),
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
