/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The fault in flight, and how it becomes a record.
 *
 * The functions are global: one copy serves all programs (bpf/core/file.h).
 */
#pragma once

#include "pagecache/fetched.h"
#include "core/lane.h"
#include "core/profile.h"
#include "fault/vma.h"

/* Adds a fault to the totals of `op`. Faults without a file have no record. */
static __always_inline void fault_done(struct op_account *account, __u32 op, __u64 end_ns)
{
	account->op = op;
	op_account_done(account, op_account_duration_ns(account, end_ns), 0, false,
			faults_preempted);
	if (account->flags & TRACE_FAULT_MAJOR) {
		struct op_total *total = op_total(op);

		if (total)
			count_add(&total->major_faults, 1, faults_preempted);
	}
}

/* Adds a fault to its slot instead of sending a record. */
__noinline int profile_fault(struct op_account *account, __u64 end_ns)
{
	const __u32 stores = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED;
	__u64 duration_ns = account ? op_account_duration_ns(account, end_ns) : 0;
	struct profile_done done;

	if (!account)
		return 0;
	profile_fill(&done, account, bpf_get_current_task_btf()->tgid, duration_ns, 0, false);
	if (in_flight_summed && duration_ns >= IN_FLIGHT_ENDS_NS)
		done.summed_ns = op_account_end_summed(account, duration_ns);
	done.key.flags = ((account->flags & stores) == stores ? TRACE_PROFILE_STORES : 0) |
			 (account->flags & TRACE_FAULT_UNLINKED ? TRACE_PROFILE_UNLINKED : 0);
	done.failed = (account->flags & (TRACE_FAULT_UNFINISHED | TRACE_FAULT_WAITING)) ==
		      TRACE_FAULT_UNFINISHED;
	done.major_faults = account->flags & TRACE_FAULT_MAJOR ? 1 : 0;
	done.shared = faults_preempted;
	return profile_add(&done);
}

/* Sends the record of a fault on a file; the account has the file's id. */
static __always_inline void fault_record(const struct op_account *account, struct owner owner,
					 __u64 end_ns)
{
	struct lane_reservation reservation;
	struct lane_fault *fault;

	if (!lane_reserve(&reservation, RECORD_FAULT))
		return;
	lane_count(RECORD_FAULT, faults_preempted);
	fault = &reservation.slot->fault;
	fault->time_ns = account->start_ns;
	fault->offset = account->offset;
	fault->duration_ns = op_account_duration_ns(account, end_ns);
	fault->dirtied_pages = account->dirtied_pages;
	fault->pad = 0;
	fault->pid = owner.pid;
	fault->tid = owner.tid;
	fault->file = account->file;
	fault->flags = account->flags;
	fault->op = OP_FAULT;
	fault->pad2 = 0;
	fault->fetched_pages = account->fetched_pages;
	lane_publish(&reservation);
}

/* Records a fault on a file that has ended. */
static __always_inline void fault_send(struct op_account *account, __u64 end_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (profile_aggregates(task, account->start_ns)) {
		profile_fault(account, end_ns);
		if (!profile_also_records(task->tgid))
			return;
	}
	fault_record(account, owner_of(task), end_ns);
}

/* Fills in the fields that follow from the fault's mapping. */
static __always_inline void fault_take_mapping(struct task_state *state, __u64 vma,
					       struct file *file, struct address_space *cache)
{
	struct op_account *account = &state->fault.account;
	__u64 page = state->fault.address & ~(PAGE_BYTES - 1);
	unsigned long vm_flags = KREAD(vm_area_struct, vma, vm_flags);

	if (vm_flags & VM_SHARED)
		account->flags |= TRACE_FAULT_SHARED;
	if (vm_flags & VM_RAND_READ)
		account->flags |= TRACE_FAULT_RANDOM;
	if (vm_flags & VM_SEQ_READ)
		account->flags |= TRACE_FAULT_SEQUENTIAL;
	if (!KREAD(inode, KREAD(file, file, f_inode), i_nlink))
		account->flags |= TRACE_FAULT_UNLINKED;
	if (state->fault.dirtied_mapping != (__u64)cache)
		account->dirtied_pages = 0;
	account->offset = KREAD(vm_area_struct, vma, vm_pgoff) * PAGE_BYTES + page -
			  KREAD(vm_area_struct, vma, vm_start);
}

/* A failed fault on tmpfs is recorded like one on a file: if SIGBUS killed the process, it names
 * the file that was too short, or whose file system was full. */
static __always_inline bool fault_is_shmem(const struct op_account *account, struct inode *host)
{
	return inode_in_memory(host) && !(account->flags & TRACE_FAULT_UNFINISHED);
}

/* Ends the fault in flight on the mapping at `vma` (0: unknown). Returns the operation that it is
 * counted as, OP_*. */
__noinline int fault_close(struct task_state *state, __u64 vma, __u64 end_ns)
{
	struct op_account *account;
	struct address mapping;
	struct file *file;
	int op;

	if (!state)
		return OP_NONE;
	account = &state->fault.account;
	mapping.at = account->mapping;
	file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;
	if (file) {
		struct address_space *cache = KREAD(file, file, f_mapping);

		fault_take_mapping(state, vma, file, cache);
		if (fault_is_shmem(account, KREAD(address_space, cache, host))) {
			fault_done(account, OP_SHMEM_FAULT, end_ns);
		} else {
			account->file = file_id_of(state, file);
			fault_done(account, OP_FAULT, end_ns);
			fault_send(account, end_ns);
		}
	} else if (mapping.at) {
		if (state->fault.dirtied_mapping != mapping.at)
			account->dirtied_pages = 0;
		account->file = file_id_of_mapping(&mapping);
		fault_done(account, OP_FAULT, end_ns);
		fault_send(account, end_ns);
	} else {
		account->dirtied_pages = 0;
		fault_done(account, vma ? OP_ANONYMOUS_FAULT : OP_UNKNOWN_FAULT, end_ns);
	}
	if (state->call.account.op)
		state->call.fault_fetched_pages += account->fetched_pages;
	op = account->op;
	op_account_close(account);
	if (state->other_fill.account.op && !state->call.account.op)
		other_fill_send(state);
	return op;
}

/*
 * Ends a fault whose end was not seen. If the kernel has counted the fault for the task, it
 * finished, at an unknown time. Otherwise it was cut off at `end_ns` (0: unknown). An attempt with
 * faults disabled, which the kernel repeats, never reaches a file; `certain` says that this is not
 * one.
 */
__noinline int fault_end_unseen(struct task_state *state, __u64 end_ns, bool certain)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!state)
		return 0;
	if (state->fault.cut_ns) {
		end_ns = state->fault.cut_ns;
		certain = state->fault.cut_is_certain;
	}
	if ((__u32)(task->maj_flt + task->min_flt) != state->fault.count_start) {
		note_add(NOTE_FAULT_UNTIMED);
		end_ns = 0;
		if ((__u32)task->maj_flt != state->fault.major_start) {
			state->fault.account.flags |= TRACE_FAULT_MAJOR;
			state->call.major_seen++;
		}
	} else {
		if (!certain && !state->fault.account.mapping) {
			op_account_close(&state->fault.account);
			return state->other_fill.account.op ? other_fill_send(state) : 0;
		}
		state->fault.account.flags |= TRACE_FAULT_UNFINISHED;
	}
	if (!end_ns)
		state->fault.account.flags |= TRACE_FAULT_UNTIMED;
	fault_close(state, vma_at(state->fault.address), end_ns);
	return 0;
}
