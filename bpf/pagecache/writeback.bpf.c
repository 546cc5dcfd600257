// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Dirty throttling: writers that the kernel makes wait because too many pages are dirty.
 */
#include "fault/fault.h"
#include "vmlinux/trace.h"

/*
 * Returns the operation that dirtied the pages, and its file: the fault in flight if the store was
 * to the file mapped there, else the call, which may have faulted on the memory it copies from.
 */
static __always_inline __u32 throttle_op(struct task_state *state, __u32 *file)
{
	__u64 vma = state->fault.account.op ? vma_at(state->fault.address) : 0;
	struct file *mapped = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;

	if (mapped && (!state->call.account.op ||
		       state->fault.dirtied_mapping == (__u64)KREAD(file, mapped, f_mapping))) {
		*file = file_id_of(state, mapped);
		return OP_FAULT;
	}
	*file = state->call.file2 ? state->call.file2 : state->call.account.file;
	return state->call.account.op;
}

/* Adds a pause to its profile slot instead of recording it. */
__noinline int profile_pause(struct op_account *pause, __u64 pause_ns)
{
	struct profile_done done = {};

	if (!pause)
		return 0;
	profile_fill(&done, pause, bpf_get_current_task_btf()->tgid, pause_ns, 0, false);
	done.shared = 1;
	return profile_add(&done);
}

/*
 * balance_dirty_pages() reports at each check how long the task will sleep now; a pause that is not
 * positive is none. It runs in the writing task, inside the call or fault.
 */
static __always_inline int throttle_send(__s64 pauses, __u64 unit_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct event_throttle *event;
	struct op_account pause = {};
	__u64 pause_ns;
	__u32 during;

	if (recording_ended || !state || pauses <= 0)
		return 0;
	pause_ns = pauses * unit_ns;
	op_account_open(&pause);
	during = throttle_op(state, &pause.file);
	op_account_begin(&pause, OP_THROTTLED, bpf_ktime_get_ns());
	op_account_done(&pause, pause_ns, 0, false, true);
	if (profile_aggregates(task, pause.start_ns)) {
		profile_pause(&pause, pause_ns);
		if (!profile_also_records(task->tgid))
			return 0;
	}
	event = ring_reserve(RECORD_THROTTLE, sizeof(*event), owner_of(task));
	if (!event)
		return 0;
	event->header.time_ns = pause.start_ns;
	event->pause_ns = pause_ns;
	event->file = pause.file;
	event->op = during;
	ring_submit(event);
	return 0;
}

/* The tracepoint has eight arguments, twelve in older kernels; the pause is in ticks. */
SEC("?tp_btf/balance_dirty_pages")
int fl_throttled(__u64 *arguments)
{
	return throttle_send(arguments[6], tick_ns);
}

SEC("?tp_btf/balance_dirty_pages")
int fl_throttled_12(__u64 *arguments)
{
	return throttle_send(arguments[10], tick_ns);
}

/* Never preempted, but detaching it takes several grace periods. */
SEC("?tp/writeback/balance_dirty_pages")
int fl_throttled_tp(struct trace_event_raw_balance_dirty_pages *event)
{
	return throttle_send(event->pause, 1000000);
}
