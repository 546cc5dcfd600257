// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Lists operations in flight while a recording runs, and adds their time so far to the sums, so
 * that an operation that hangs counts before it ends. The iterator runs while the tasks do, and
 * writes only summed_ns of their state (op_account.h).
 */
#include "async/async_in_flight.h"
#include "syscall/call_exit.h"

/* Returns the id of a descriptor's file; 0: files of its kind are not recorded. */
static __always_inline __u32 in_flight_file(struct task_struct *task, __u32 fd)
{
	struct file *file = file_of_fd(task, fd);
	struct inode *inode = file ? KREAD(file, file, f_inode) : NULL;
	struct file_facts facts = {};

	if (!inode || !(file_class(inode) & file_classes))
		return 0;
	file_facts_of(file, &facts);
	return file_id(&facts, true) & ~FILE_UNANNOUNCED;
}

static __always_inline void in_flight_find_call(struct in_flight *found, struct task_state *state,
						struct call_args *args, __u64 number)
{
	struct op_account *account = &state->call.account;
	struct call_row row;

	found->account = account;
	found->summed_ns = *(volatile __u64 *)&account->summed_ns;
	found->key.op = account->op;
	found->start_ns = account->start_ns;
	found->key.file = account->file;
	found->key.file2 = state->call.file2;
	if (found->key.op) {
		row = call_row(state->call.number);
	} else {
		row = call_before(state, found->task, args, number);
		found->key.op = row.op;
		found->flags = IN_FLIGHT_BEFORE;
		found->start_ns = state->armed_ns;
		found->key.file2 = 0;
		found->key.file = 0;
		if (row.op && row.fd && !row.path) {
			found->key.file = in_flight_file(found->task, call_arg(args, row.fd));
			if (!found->key.file)
				found->key.op = 0;
		}
	}
	/* Waiting for asynchronous operations is not an operation on a file. */
	if (row.traits & (CALL_SUBMITS | CALL_AIO_REAP))
		found->key.op = 0;
	found->key.flags = profile_call_flags(found->flags ? 0 : account->flags, row.traits);
	found->path = row.path && !found->key.file ? call_arg(args, row.path) : 0;
}

/* Finds the file of a fault; false if the fault is not on a file on storage. */
static __always_inline bool in_flight_find_fault_file(struct in_flight *found,
						      struct fault_state *fault)
{
	__u64 vma = vma_of_task_at(found->task, fault->address);
	struct file *file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;
	struct address mapping = { fault->account.mapping };

	if (file) {
		mapping.at = (__u64)KREAD(file, file, f_mapping);
		if (inode_in_memory(KREAD(address_space, mapping.at, host)))
			return false;
		if (fault->account.flags & TRACE_FAULT_WRITE &&
		    KREAD(vm_area_struct, vma, vm_flags) & VM_SHARED)
			found->key.flags = TRACE_PROFILE_STORES;
	}
	if (mapping.at)
		found->key.file = file_id_of_mapping(&mapping);
	return mapping.at;
}

static __always_inline void in_flight_find_fault(struct in_flight *found, struct task_state *state,
						 __u64 number)
{
	struct op_account *account = &state->fault.account;

	found->account = account;
	found->summed_ns = *(volatile __u64 *)&account->summed_ns;
	found->start_ns = account->start_ns;
	if (fault_before(state, found->task, number)) {
		found->start_ns = state->armed_ns;
		found->flags = IN_FLIGHT_BEFORE;
		found->key.op = OP_FAULT;
	} else if (fault_is_in_flight(&state->fault, found->task, number) &&
		   in_flight_find_fault_file(found, &state->fault)) {
		found->key.op = OP_FAULT;
	}
}

/* Not inlined, as the three parts of a visit need different stack frames. */
static __noinline int in_flight_call(struct task_struct *task, struct task_state *state,
				     struct seq_file *out)
{
	struct in_flight call = {
		.task = task, .tid = task->pid, .key.pid = task->tgid, .count = 1
	};
	struct pt_regs *regs = task_regs(task);
	struct call_args args;

	call_args_read(&args, regs);
	in_flight_find_call(&call, state, &args, SYSCALL_NUMBER(regs));
	if (in_flight_is_due(&call))
		in_flight_send(&call, out);
	return 0;
}

static __noinline int in_flight_fault(struct task_struct *task, struct task_state *state,
				      struct seq_file *out)
{
	struct in_flight fault = {
		.task = task, .tid = task->pid, .key.pid = task->tgid, .count = 1
	};

	in_flight_find_fault(&fault, state, SYSCALL_NUMBER(task_regs(task)));
	if (in_flight_is_due(&fault))
		in_flight_send(&fault, out);
	return 0;
}

SEC("?iter.s/task")
int fl_in_flight(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task)
		return 0;
	state = task_state(task);
	if (!state || state->mode != TASK_FOLLOWED)
		return 0;
	in_flight_call(task, state, context->meta->seq);
	in_flight_fault(task, state, context->meta->seq);
	async_in_flight(task, context->meta->seq);
	return 0;
}
