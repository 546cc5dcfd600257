// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writers that the kernel makes wait because too much is dirty. Knows nothing of what they wrote,
 * nor of when that reaches the device.
 */
#include "fault.h"
#include "vmlinux/trace.h"

/*
 * The operation that made the pages dirty, and its file: the fault in flight, when the store was to
 * the file that is mapped there, or else the call, which may have faulted on what it copies from.
 */
static __always_inline __u32 throttled_op(struct task_state *state, __u32 *file)
{
	__u64 vma = state->fault_start_ns ? vma_at(state->fault_address) : 0;
	struct file *mapped = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;

	if (mapped && (!state->call_op ||
		       state->fault_dirtied_mapping == (__u64)KREAD(file, mapped, f_mapping))) {
		*file = file_id_of(state, mapped);
		return OP_FAULT;
	}
	*file = state->call_file2_id ? state->call_file2_id : state->call_file_id;
	return state->call_op;
}

static __always_inline void count_throttled(__u64 pause_ns)
{
	__u32 op = OP_THROTTLED;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	count_add(&total->count, 1, true);
	count_add(&total->time_ns, pause_ns, true);
}

/*
 * balance_dirty_pages() tells each time it looks how long the task shall sleep now; a pause that is
 * not positive is none. It runs in the task that writes, inside of the call or fault.
 */
SEC("?tp/writeback/balance_dirty_pages")
int fl_throttled(struct trace_event_raw_balance_dirty_pages *told)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct event_throttle *event;
	__u32 op = OP_NONE, file = 0;
	__u64 pause_ns;
	long pause_ms;

	/* A worker of io_uring is made without a fork event; it works for its process. */
	if (recording_ended || (!state && !task_followed(task->group_leader)))
		return 0;
	pause_ms = told->pause;
	if (pause_ms <= 0)
		return 0;
	pause_ns = pause_ms * 1000000ull;
	if (state)
		op = throttled_op(state, &file);
	count_throttled(pause_ns);
	event = ring_reserve(EVENT_THROTTLE, sizeof(*event), task);
	if (!event)
		return 0;
	event->header.time_ns = bpf_ktime_get_ns();
	event->pause_ns = pause_ns;
	event->file = file;
	event->op = op;
	ring_submit(event);
	return 0;
}
