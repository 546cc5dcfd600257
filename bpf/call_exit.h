/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is told of a call at its exit: where it was, what it asked for, its flags, and its record.
 */
#ifndef FAULTLINE_BPF_CALL_EXIT_H
#define FAULTLINE_BPF_CALL_EXIT_H

#include "call_file.h"

struct call_end {
	struct call_row row;
	__u64 now_ns;
	__s64 result;
	__s64 offset;
	__u64 asked;
};

static __always_inline bool has_position(struct task_state *state)
{
	struct inode *inode = KREAD(file, state->call_file, f_inode);
	__u32 type = KREAD(inode, inode, i_mode) & S_IFMT;

	return type == S_IFREG || type == S_IFBLK;
}

/* The file position before the call, where it has moved that, or -1. It is read at the exit, less
 * what was moved: at the entry it may be another thread's turn with the same descriptor. */
static __always_inline __s64 file_offset(struct task_state *state, struct call_end *end)
{
	if (!(end->row.traits & CALL_FPOS) || !state->call_file || !has_position(state))
		return -1;
	return KREAD(file, state->call_file, f_pos) - (end->result > 0 ? end->result : 0);
}

/* Where the call read or wrote. */
__noinline int exit_offset(struct task_state *state, struct call_end *end, struct call_args *args)
{
	const struct call_row *row = &end->row;
	__u32 traits;

	if (!state || !end || !args)
		return 0;
	traits = row->traits;
	end->offset = -1;
	if (traits & CALL_SEEK) {
		if (end->result >= 0)
			end->offset = end->result;
		return 0;
	}
	if (traits & CALL_OFFSET_PTR) {
		__u64 pointer = call_arg(args, row->offset);

		if (pointer) {
			__s64 after;

			if (!bpf_probe_read_user(&after, sizeof(after), (void *)pointer))
				end->offset = after - (end->result > 0 ? end->result : 0);
			return 0;
		}
	} else if (row->offset) {
		end->offset = call_arg(args, row->offset);
		if (end->offset != -1 || !(traits & CALL_FPOS))
			return 0;
	}
	end->offset = file_offset(state, end);
	return 0;
}

static __always_inline void exit_asked(struct call_end *end, struct call_args *args)
{
	const struct call_row *row = &end->row;

	end->asked = 0;
	if (row->traits & CALL_OPEN_FLAGS)
		return;
	if (row->traits & CALL_VECTOR)
		end->asked =
			vector_bytes(call_arg(args, row->length), call_arg(args, row->length + 1));
	else if (row->length)
		end->asked = call_arg(args, row->length);
}

__noinline int exit_flags(struct task_state *state, struct call_end *end, struct call_args *args)
{
	__u32 traits, flags = 0;

	if (!state || !end || !args)
		return 0;
	traits = end->row.traits;
	if (traits & (CALL_OPEN_FLAGS | CALL_OPEN_HOW)) {
		__u64 given = call_arg(args, end->row.length);

		if (traits & CALL_OPEN_HOW) {
			__u64 how = 0;

			bpf_probe_read_user(&how, sizeof(how), (void *)call_arg(args, 3));
			given = how;
		}
		flags = open_flags(given) | (given & O_ACCMODE ? TRACE_OP_WRITABLE : 0) |
			(given & O_CREAT ? TRACE_OP_CREATE : 0) |
			(given & O_TRUNC ? TRACE_OP_TRUNCATE : 0);
	} else if (traits & CALL_MMAP) {
		__u64 map_flags = call_arg(args, 4);

		if ((map_flags & MAP_SHARED_OR_VALIDATE) != MAP_PRIVATE)
			flags |= TRACE_OP_SHARED;
		if (map_flags & MAP_POPULATE)
			flags |= TRACE_OP_POPULATE;
		if (call_arg(args, 3) & PROT_WRITE)
			flags |= TRACE_OP_WRITABLE;
		if (call_arg(args, 3) & PROT_EXEC)
			flags |= TRACE_OP_EXECUTABLE;
	} else if (traits & CALL_MADVISE) {
		__u64 advice = call_arg(args, 3);

		if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE)
			flags |= TRACE_OP_POPULATE;
	}
	state->call_flags |= flags;
	return 0;
}

static __always_inline void count_call(struct task_state *state, struct call_end *end)
{
	__u32 op = end->row.op;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	count_add(&total->count, 1, calls_preempted);
	count_add(&total->time_ns, end->now_ns - state->call_start_ns, calls_preempted);
	if (state->call_fetched_pages)
		count_add(&total->fetched_pages, state->call_fetched_pages, calls_preempted);
	if (state->call_created_pages)
		count_add(&total->created_pages, state->call_created_pages, calls_preempted);
	if (state->call_dirtied_pages)
		count_dirtied(state->call_dirtied_pages);
	if (end->result < 0 && end->result >= -4095)
		count_add(&total->errors, 1, calls_preempted);
	else if (end->row.traits & CALL_BYTES)
		count_add(&total->bytes, end->result, calls_preempted);
}

static __always_inline void count_submissions(__u32 op, __u64 submissions)
{
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (total)
		count_add(&total->submissions, submissions, calls_preempted);
}

static __always_inline void fill_call(struct event_syscall *event, struct task_state *state,
				      struct task_struct *task, struct call_end *end)
{
	event->header.time_ns = state->call_start_ns;
	event->duration_ns = end->now_ns - state->call_start_ns;
	event->offset = end->offset;
	event->asked_bytes = end->asked;
	event->result = end->result;
	event->file = state->call_file_id;
	event->op = end->row.op;
	event->flags = state->call_flags;
	event->fetched_pages = state->call_fetched_pages;
	event->fault_fetched_pages = state->call_fault_fetched_pages;
	event->major_faults =
		(__u32)task->maj_flt - state->call_major_start - state->call_major_seen;
	event->created_pages = state->call_created_pages;
	event->dirtied_pages = state->call_dirtied_pages;
	event->pad = 0;
}

/* A call that has no room in a slot. */
__noinline int send_wide_call(struct task_state *state, struct call_end *end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_syscall *event;

	if (!state || !end)
		return 0;
	event = ring_reserve(EVENT_SYSCALL, sizeof(*event), task);
	if (!event)
		return 0;
	fill_call(event, state, task, end);
	ring_submit(event);
	return 0;
}

static __always_inline void send_call(struct task_state *state, struct task_struct *task,
				      struct call_end *end)
{
	__u64 duration_ns = end->now_ns - state->call_start_ns;
	struct lane_place place;
	struct lane_call *call;

	if (duration_ns >> 32 || state->call_fault_fetched_pages || state->call_dirtied_pages ||
	    (state->call_fetched_pages | state->call_created_pages) >> 16 ||
	    (__u32)task->maj_flt != state->call_major_start + state->call_major_seen) {
		send_wide_call(state, end);
		return;
	}
	if (!lane_take(&place, EVENT_SYSCALL))
		return;
	call = &place.slot->call;
	call->time_ns = state->call_start_ns;
	call->offset = end->offset;
	call->asked_bytes = end->asked;
	call->result = end->result;
	call->pid = task->tgid;
	call->tid = task->pid;
	call->file = state->call_file_id;
	call->duration_ns = duration_ns;
	call->op = end->row.op;
	call->flags = state->call_flags;
	call->fetched_pages = state->call_fetched_pages;
	call->created_pages = state->call_created_pages;
	lane_give(&place);
}

#endif
