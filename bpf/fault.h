/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The fault in flight, and how it becomes a record. Knows nothing of how its start and end are
 * seen.
 *
 * The functions are global: one copy serves all programs (bpf/file.h).
 */
#ifndef FAULTLINE_BPF_FAULT_H
#define FAULTLINE_BPF_FAULT_H

#include "fetched.h"
#include "lane.h"
#include "vma.h"

static __always_inline void count_fault(__u32 op, struct task_state *state, __u64 duration_ns)
{
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	count_add(&total->count, 1, faults_preempted);
	count_add(&total->time_ns, duration_ns, faults_preempted);
	if (state->fault_fetched_pages)
		count_add(&total->fetched_pages, state->fault_fetched_pages, faults_preempted);
}

/* A fault on the file with that id. */
static __always_inline void send_fault(struct task_state *state, __u32 file, __u64 offset,
				       __u64 duration_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct lane_place place;
	struct lane_fault *fault;

	count_fault(OP_FAULT, state, duration_ns);
	if (!lane_take(&place, EVENT_FAULT))
		return;
	lane_count(EVENT_FAULT, faults_preempted);
	fault = &place.slot->fault;
	fault->time_ns = state->fault_start_ns;
	fault->offset = offset;
	fault->duration_ns = duration_ns;
	fault->dirtied_pages = state->fault_dirtied_pages;
	fault->pad = 0;
	fault->pid = task->tgid;
	fault->tid = task->pid;
	fault->file = file;
	fault->flags = state->fault_flags;
	fault->op = OP_FAULT;
	fault->pad2 = 0;
	fault->fetched_pages = state->fault_fetched_pages;
	lane_give(&place);
}

/* Ends the fault in flight on the mapping at `vma` (0: not known). */
__noinline int fault_close(struct task_state *state, __u64 vma, __u64 end_ns)
{
	struct address mapping;
	struct file *file;
	__u64 duration_ns;

	if (!state)
		return 0;
	mapping.at = state->fault_mapping;
	file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;
	duration_ns = end_ns > state->fault_start_ns ? end_ns - state->fault_start_ns : 0;
	if (file) {
		struct address_space *cache = KREAD(file, file, f_mapping);
		struct inode *host = KREAD(address_space, cache, host);
		__u64 page = state->fault_address & ~(PAGE_BYTES - 1);
		unsigned long vm_flags = KREAD(vm_area_struct, vma, vm_flags);

		if (vm_flags & VM_SHARED)
			state->fault_flags |= TRACE_FAULT_SHARED;
		if (vm_flags & VM_RAND_READ)
			state->fault_flags |= TRACE_FAULT_RANDOM;
		if (vm_flags & VM_SEQ_READ)
			state->fault_flags |= TRACE_FAULT_SEQUENTIAL;
		if (!KREAD(inode, KREAD(file, file, f_inode), i_nlink))
			state->fault_flags |= TRACE_FAULT_UNLINKED;
		if (state->fault_dirtied_mapping != (__u64)cache)
			state->fault_dirtied_pages = 0;
		if (state->fault_dirtied_pages)
			count_dirtied(state->fault_dirtied_pages);
		if (inode_in_memory(host))
			count_fault(OP_SHMEM_FAULT, state, duration_ns);
		else
			send_fault(state, file_id_of(state, file),
				   KREAD(vm_area_struct, vma, vm_pgoff) * PAGE_BYTES + page -
					   KREAD(vm_area_struct, vma, vm_start),
				   duration_ns);
	} else if (mapping.at) {
		send_fault(state, file_id_of_mapping(&mapping), state->fault_index * PAGE_BYTES,
			   duration_ns);
	} else {
		count_fault(vma ? OP_ANONYMOUS_FAULT : OP_UNKNOWN_FAULT, state, duration_ns);
	}
	if (state->call_op)
		state->call_fault_fetched_pages += state->fault_fetched_pages;
	state->fault_start_ns = 0;
	state->fault_mapping = 0;
	state->fault_fetched_pages = 0;
	state->fault_dirtied_pages = 0;
	state->fault_dirtied_mapping = 0;
	if (state->aside_mapping && !state->call_op)
		aside_send(state);
	return 0;
}

/*
 * Ends a fault whose end was not told. The kernel counts a fault for its task once it is done: one
 * that was counted ended at a time that nobody knows; any other was cut off, `end_ns` says when
 * (0: not known). An attempt with faults disabled, which the kernel makes again, leaves no trace of
 * having reached a file; `sure` says that this is none.
 */
__noinline int fault_settle(struct task_state *state, __u64 end_ns, bool sure)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!state)
		return 0;
	if ((__u32)(task->maj_flt + task->min_flt) != state->fault_count_start) {
		note(NOTE_FAULT_UNTIMED);
		end_ns = 0;
		if ((__u32)task->maj_flt != state->fault_major_start) {
			state->fault_flags |= TRACE_FAULT_MAJOR;
			state->call_major_seen++;
		}
	} else {
		if (!sure && !state->fault_mapping) {
			state->fault_start_ns = 0;
			return state->aside_mapping ? aside_send(state) : 0;
		}
		state->fault_flags |= TRACE_FAULT_UNFINISHED;
	}
	if (!end_ns)
		state->fault_flags |= TRACE_FAULT_UNTIMED;
	return fault_close(state, vma_at(state->fault_address), end_ns);
}

#endif
