// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls in flight and files open for writing when the recording ends. The iterator over
 * tasks runs once, after every other program is detached, so that the states of tasks stand still.
 */
#include "call_path.h"
#include "sizes.h"

#define EINPROGRESS 115

/* Any recording that ends while a job works cuts off some short calls; those are not waits. */
#define WAITING_MIN_NS 1000000

const volatile bool reads_other_tasks = false; /* bpf_copy_from_user_task is there */

/* Set before the iterator runs. */
volatile __u64 waiting_end_ns = 0;

struct waiting_call {
	struct task_state *state;
	struct call_args args;
	struct call_end end;
};

/*
 * A call that was in flight already when its task began to be followed. The registers on top of the
 * stack are those of a call only while the task is blocked in the kernel; in a fault, the number of
 * the call is -1. Its age is not known: it counts from when the task began to be followed.
 */
static __always_inline bool waiting_since_before(struct waiting_call *call,
						 struct task_struct *task, __u64 number)
{
	struct task_state *state = call->state;
	struct call_row row;
	struct file *file;

	if (!attach_to || !(state->before & BEFORE_CALL) || !state->armed_ns)
		return false;
	if (!task->__state || in_compat_call(task) || number >= CALL_TABLE_SIZE)
		return false;
	row = call_row(number);
	if (row.traits & CALL_REQUEST)
		row = request_row(row, number, &call->args);
	if (!row.op)
		return false;
	account_open(&state->call.account);
	state->call.number = number;
	state->call.file = 0;
	state->call.file2 = 0;
	state->call.fault_fetched_pages = 0;
	state->call.major_seen = 0;
	state->call.major_start = task->maj_flt;
	if (row.fd && !row.path) {
		file = file_of_fd(task, call_arg(&call->args, row.fd));
		if (!file || !call_take_file(state, file, false, false))
			return false;
	}
	state->call.account.flags |= TRACE_OP_BEFORE;
	account_begin(&state->call.account, row.op, state->armed_ns);
	return true;
}

static __always_inline __u32 waiting_path(struct event_syscall_path *event,
					  struct task_struct *task, __u64 pointer)
{
	long bytes;

	event->call.flags |= TRACE_OP_PATH_CUT;
	if (!reads_other_tasks ||
	    bpf_copy_from_user_task(event->text, EVENT_PATH_BYTES, (void *)pointer, task, 0))
		return 0;
	/* Onto itself: that tells where the path ends, without a loop to verify. */
	bytes = bpf_probe_read_kernel_str(event->text, EVENT_PATH_BYTES, event->text);
	if (bytes <= 0)
		return 0;
	if (bytes < EVENT_PATH_BYTES)
		event->call.flags &= ~TRACE_OP_PATH_CUT;
	return bytes - 1;
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
	fill_call(&event->call, &call->state->call, task, &call->end);
	event->file2 = call->state->call.file2;
	event->dir = 0;
	event->dir2 = 0;
	event->path_bytes = 0;
	event->path2_bytes = 0;
	if (row.path) {
		event->path_bytes = waiting_path(event, task, call_arg(&call->args, row.path));
		event->dir = dir_id(call->state, task, &call->args, row.path_dir, event->text[0]);
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
	fill_call(event, &call->state->call, task, &call->end);
	ring_submit(event);
}

SEC("?iter.s/task")
int fl_waiting(struct bpf_iter__task *context)
{
	struct waiting_call call = { .end.result = -EINPROGRESS };
	struct task_struct *task = context->task;
	struct account *account;
	struct pt_regs *regs;
	struct call_row row;

	if (!task)
		return 0;
	call.state = task_state(task);
	if (!call.state || call.state->mode != TASK_FOLLOWED)
		return 0;
	if (task->pid == task->tgid)
		sizes_look_last(call.state, task);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	call_args_read(&call.args, regs);
	account = &call.state->call.account;
	if (!account->op && !waiting_since_before(&call, task, SYSCALL_NUMBER(regs)))
		return 0;
	if (waiting_end_ns < account->start_ns + WAITING_MIN_NS)
		return 0;
	row = call_row(call.state->call.number);
	account->offset = -1;
	account->flags |= TRACE_OP_UNFINISHED;
	call.end.duration_ns = waiting_end_ns - account->start_ns;
	account_done(account, call.end.duration_ns, call.end.result, false, true);
	if (row.path || row.traits & CALL_TRANSFER)
		waiting_send_path(&call, task, row);
	else
		waiting_send(&call, task);
	account_close(account);
	return 0;
}
