// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls, faults and asynchronous operations in flight, and files open for writing, when the
 * recording ends. The task iterators run once, after all other programs are detached, so task
 * states no longer change.
 */
#include "async/async_cut.h"
#include "syscall/call_path.h"
#include "fault/fault.h"
#include "syscall/in_flight.h"
#include "stack/unfinished.h"
#include "core/sizes.h"

#define EINPROGRESS 115

/* Any recording that ends while a job runs cuts off some short calls; those are not waits. */
#define WAITING_MIN_NS 1000000

/* Set before the iterator runs. */
volatile __u64 waiting_end_ns = 0;

struct waiting_call {
	struct task_state *state;
	struct call_args args;
	struct call_end end;
};

/* Begins a call that started before its task was followed: its time counts from then on. */
static __always_inline bool waiting_since_before(struct waiting_call *call,
						 struct task_struct *task, __u64 number)
{
	struct task_state *state = call->state;
	struct call_row row = call_before(state, task, &call->args, number);
	struct file *file;

	if (!row.op)
		return false;
	call_open(state, task, number);
	if (row.fd && !row.path) {
		file = file_of_fd(task, call_arg(&call->args, row.fd));
		if (!file || !call_take_file(state, file, false))
			return false;
	}
	state->call.account.flags |= TRACE_OP_BEFORE;
	op_account_begin(&state->call.account, row.op, state->armed_ns);
	return true;
}

static __always_inline __u32 waiting_path(struct event_syscall_path *event,
					  struct task_struct *task, __u64 pointer)
{
	__u32 bytes = path_read_task(event->text, EVENT_PATH_BYTES, task, pointer);

	if (!bytes || bytes == EVENT_PATH_BYTES)
		event->call.flags |= TRACE_OP_PATH_CUT;
	return bytes ? bytes - 1 : 0;
}

static __always_inline void waiting_send_path(struct waiting_call *call, struct task_struct *task,
					      struct call_row row)
{
	struct event_syscall_path *event = scratch_get();
	__u64 bytes;

	if (!event) {
		ring_lose(RECORD_SYSCALL_PATH);
		return;
	}
	call_fill(&event->call, &call->state->call, task, &call->end);
	event->file2 = call->state->call.file2;
	event->dir = 0;
	event->dir2 = 0;
	event->path_bytes = 0;
	event->path2_bytes = 0;
	if (row.path) {
		event->path_bytes = waiting_path(event, task, call_arg(&call->args, row.path));
		event->dir =
			call_dir_id(call->state, task, &call->args, row.path_dir, event->text[0]);
	}
	bytes = event->path_bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_PATH_BYTES)
		bytes = EVENT_PATH_BYTES;
	ring_output(&event->call.header, RECORD_SYSCALL_PATH, call->state->call.account.start_ns,
		    sizeof(*event) + bytes, owner_of(task));
	scratch_put(event);
}

static __always_inline void waiting_send(struct waiting_call *call, struct task_struct *task)
{
	struct event_syscall *event = ring_reserve(RECORD_SYSCALL, sizeof(*event), owner_of(task));

	if (!event)
		return;
	call_fill(event, &call->state->call, task, &call->end);
	ring_submit(event);
}

/* Returns the operation that is in flight. */
static __always_inline __u32 waiting_call(struct waiting_call *call, struct task_struct *task,
					  __u64 number)
{
	struct op_account *account = &call->state->call.account;
	struct call_row row;
	__u32 op;

	if (!account->op && !waiting_since_before(call, task, number))
		return OP_NONE;
	if (waiting_end_ns < account->start_ns + WAITING_MIN_NS)
		return OP_NONE;
	op = account->op;
	row = call_row(call->state->call.number);
	account->offset = -1;
	account->flags |= TRACE_OP_UNFINISHED;
	call->end.duration_ns = waiting_end_ns - account->start_ns;
	op_account_done(account, call->end.duration_ns, call->end.result, false, true);
	if (row.path || row.traits & CALL_TRANSFER)
		waiting_send_path(call, task, row);
	else
		waiting_send(call, task);
	op_account_close(account);
	return op;
}

/* Finds the file of a fault; false if the fault is not on a file on storage. */
static __always_inline bool waiting_fault_file(struct task_state *state, struct task_struct *task)
{
	struct op_account *account = &state->fault.account;
	__u64 vma = vma_of_task_at(task, state->fault.address);
	struct file *file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;
	struct address mapping = { account->mapping };

	if (file) {
		struct address_space *cache = KREAD(file, file, f_mapping);

		if (inode_in_memory(KREAD(address_space, cache, host)))
			return false;
		fault_take_mapping(state, vma, file, cache);
		mapping.at = (__u64)cache;
	}
	if (mapping.at)
		account->file = file_id_of_mapping(&mapping);
	return mapping.at;
}

/* The same for a fault. */
static __always_inline __u32 waiting_fault(struct task_state *state, struct task_struct *task,
					   __u64 number)
{
	struct op_account *account = &state->fault.account;

	if (fault_before(state, task, number)) {
		op_account_open(account);
		account->flags = TRACE_FAULT_BEFORE;
		account->offset = 0;
		op_account_begin(account, OP_FAULT, state->armed_ns);
	} else if (!fault_is_in_flight(&state->fault, task, number) ||
		   !waiting_fault_file(state, task)) {
		return OP_NONE;
	}
	if (waiting_end_ns < account->start_ns + WAITING_MIN_NS)
		return OP_NONE;
	account->flags |= TRACE_FAULT_UNFINISHED | TRACE_FAULT_WAITING;
	fault_done(account, OP_FAULT, waiting_end_ns);
	fault_record(account, owner_of(task), waiting_end_ns);
	op_account_close(account);
	return OP_FAULT;
}

/* A closed account still says which operation it was of. */
static __always_inline void waiting_sample(struct task_state *state, struct task_struct *task,
					   const struct op_account *account, __u32 op)
{
	const struct unfinished unfinished = {
		.start_ns = account->start_ns,
		.duration_ns = waiting_end_ns - account->start_ns,
		.offset = account->offset,
		.file = account->file,
		.op = op,
		.state = SAMPLE_IO,
		.fetched_pages = account->fetched_pages,
	};

	sample_send_unfinished(state, task, &unfinished);
}

SEC("?iter.s/task")
int fl_waiting(struct bpf_iter__task *context)
{
	struct waiting_call call = { .end.result = -EINPROGRESS };
	struct task_struct *task = context->task;
	struct pt_regs *regs;
	__u32 call_op, fault_op;
	__u64 number;

	if (!task)
		return 0;
	call.state = task_state(task);
	if (!call.state || call.state->mode != TASK_FOLLOWED)
		return 0;
	if (task->pid == task->tgid)
		sizes_check_task(call.state, task);
	regs = task_regs(task);
	call_args_read(&call.args, regs);
	number = SYSCALL_NUMBER(regs);
	fault_op = waiting_fault(call.state, task, number);
	call_op = waiting_call(&call, task, number);
	if (!stack_period_ns)
		return 0;
	/* The time of a fault inside a call is the call's. */
	if (call_op) {
		if (call_is_io(call.state, call_major_faults(&call.state->call, task)))
			waiting_sample(call.state, task, &call.state->call.account, call_op);
	} else if (fault_op) {
		waiting_sample(call.state, task, &call.state->fault.account, fault_op);
	}
	return 0;
}

/* Asynchronous operations, one process at a time. */
SEC("?iter.s/task")
int fl_async_waits(struct bpf_iter__task *context)
{
	struct async_cut cut = { .now_ns = waiting_end_ns,
				 .min_ns = WAITING_MIN_NS,
				 .result = -EINPROGRESS };
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task || task->pid != task->tgid)
		return 0;
	cut.pid = task->tgid;
	state = task_state(task);
	if (state && state->mode == TASK_FOLLOWED && bpf_map_lookup_elem(&async_users, &cut.pid))
		async_cut_all(&cut);
	return 0;
}
