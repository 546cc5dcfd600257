// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Page faults on file mappings, from start to end; on anonymous and shared memory as totals.
 *
 * Variants: entry and exit of handle_mm_fault where the kernel lets us attach there, which also
 * sees the faults that the kernel makes for populate and mlock; else the exception tracepoints (x86
 * has them), or a kprobe, for the start and software perf events, which the kernel raises once a
 * fault is done, for the end.
 */
#include "fetched.h"
#include "lane.h"
#include "vma.h"
#include "vmlinux/ptrace.h"
#include "vmlinux/trace.h"

#define X86_PF_WRITE 0x2

/* --- start --- */

static __always_inline void fault_begin(struct task_state *state, __u64 address, __u32 flags)
{
	/* One that never ended: an attempt with faults disabled, which the kernel makes again. */
	if (state->fault_start_ns)
		fault_abandon(state);
	if (state->call_op)
		flags |= TRACE_FAULT_IN_CALL;
	state->fault_address = address;
	state->fault_flags = flags;
	state->fault_start_ns = bpf_ktime_get_ns();
}

/* --- end --- */

static __always_inline void count_fault(__u32 op, struct task_state *state, __u64 duration_ns)
{
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	total->count++;
	total->time_ns += duration_ns;
	total->fetched_pages += state->fault_fetched_pages;
}

/* A fault on `file` (NULL when only the page cache it reached is known), done now. */
static __always_inline void send_fault(struct task_state *state, struct task_struct *task,
				       struct file *file, __u64 offset, __u64 now_ns)
{
	__u64 duration_ns = now_ns - state->fault_start_ns;
	struct event_fault *event;
	struct lane_slot *slot;
	__u32 id;

	if (file) {
		id = file_id_of(state, file);
		if (!KREAD(inode, KREAD(file, file, f_inode), i_nlink))
			state->fault_flags |= TRACE_FAULT_UNLINKED;
	} else {
		struct address mapping = { state->fault_mapping };

		id = file_id_of_mapping(&mapping);
	}
	count_fault(OP_FAULT, state, duration_ns);
	slot = lane_take(EVENT_FAULT, sizeof(*event), task);
	if (!slot)
		return;
	event = &slot->fault;
	event->header.time_ns = state->fault_start_ns;
	event->duration_ns = duration_ns;
	event->offset = offset;
	event->file = id;
	event->flags = state->fault_flags;
	event->fetched_pages = state->fault_fetched_pages;
	event->pad = 0;
	lane_give(slot);
}

static __always_inline int fault_end(struct task_state *state, struct task_struct *task,
				     struct vm_area_struct *vma, bool major, __u64 now_ns)
{
	struct file *file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;

	if (major) {
		state->fault_flags |= TRACE_FAULT_MAJOR;
		state->call_major_seen++;
	}
	if (file) {
		struct address_space *mapping = KREAD(file, file, f_mapping);
		__u64 page = state->fault_address & ~(PAGE_BYTES - 1);

		if (KREAD(vm_area_struct, vma, vm_flags) & VM_SHARED)
			state->fault_flags |= TRACE_FAULT_SHARED;
		if (inode_in_memory(KREAD(address_space, mapping, host)))
			count_fault(OP_SHMEM_FAULT, state, now_ns - state->fault_start_ns);
		else
			send_fault(state, task, file,
				   KREAD(vm_area_struct, vma, vm_pgoff) * PAGE_BYTES + page -
					   KREAD(vm_area_struct, vma, vm_start),
				   now_ns);
	} else if (state->fault_mapping) {
		note(NOTE_VMA_MISSED);
		send_fault(state, task, NULL, state->fault_index * PAGE_BYTES, now_ns);
	} else {
		if (!vma)
			note(NOTE_VMA_MISSED);
		count_fault(OP_ANONYMOUS_FAULT, state, now_ns - state->fault_start_ns);
	}
	if (state->call_op)
		state->call_fault_fetched_pages += state->fault_fetched_pages;
	state->fault_start_ns = 0;
	state->fault_mapping = 0;
	state->fault_fetched_pages = 0;
	return 0;
}

/* --- variant: exception tracepoints and software perf events --- */

static __always_inline int exception(unsigned long address, unsigned long error, __u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (!state)
		return 0;
	if (error & X86_PF_WRITE)
		flags |= TRACE_FAULT_WRITE;
	fault_begin(state, address, flags);
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(fl_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return exception(address, error, 0);
}

SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(fl_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return exception(address, error, TRACE_FAULT_KERNEL);
}

static __always_inline int counted(struct bpf_perf_event_data *event, bool major)
{
	__u64 now_ns = bpf_ktime_get_ns(), page = ~(PAGE_BYTES - 1);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (!state)
		return 0;
	if (!state->fault_start_ns || (state->fault_address & page) != (event->addr & page)) {
		note(NOTE_FAULT_UNPAIRED);
		state->fault_address = event->addr;
		state->fault_start_ns = now_ns;
		state->fault_flags = 0;
	}
	return fault_end(state, task, vma_find(state->fault_address), major, now_ns);
}

SEC("?perf_event")
int fl_fault_major(struct bpf_perf_event_data *event)
{
	return counted(event, true);
}

SEC("?perf_event")
int fl_fault_minor(struct bpf_perf_event_data *event)
{
	return counted(event, false);
}

/* The same from classic tracepoints, which are never preempted. */

SEC("?tp/exceptions/page_fault_user")
int fl_fault_u_tp(struct trace_page_fault *fault)
{
	return exception(fault->address, fault->error, 0);
}

SEC("?tp/exceptions/page_fault_kernel")
int fl_fault_k_tp(struct trace_page_fault *fault)
{
	return exception(fault->address, fault->error, TRACE_FAULT_KERNEL);
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
	if (!state || (state->fault_start_ns && (state->fault_address & page) == (address & page)))
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
	bool major;

	if (!state || !state->fault_start_ns ||
	    (result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_RETRY)))
		return 0;
	if (result & VM_FAULT_ERROR) {
		fault_abandon(state);
		return 0;
	}
	/* As mm_account_fault in mm/memory.c tells major from minor. */
	major = result & bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_MAJOR) ||
		flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_TRIED);
	return fault_end(state, task, vma, major, bpf_ktime_get_ns());
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
