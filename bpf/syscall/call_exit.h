/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exit of a call: its offset, the size asked for, its flags and its record.
 */
#pragma once

#include "syscall/call_file.h"
#include "core/profile.h"

struct call_end {
	__u64 duration_ns;
	__s64 result;
	__u64 requested_bytes;
};

static __always_inline bool call_has_position(struct task_state *state)
{
	struct inode *inode = KREAD(file, state->call.file, f_inode);
	__u32 type = KREAD(inode, inode, i_mode) & S_IFMT;

	return type == S_IFREG || type == S_IFBLK;
}

/* Returns the file position before the call, or -1 if the call does not move it. Read at the exit,
 * minus the bytes moved: at the entry another thread may still be moving the same descriptor's
 * position. */
static __always_inline __s64 call_file_offset(struct task_state *state, __u32 traits, __s64 result)
{
	if (!(traits & CALL_FPOS) || !state->call.file || !call_has_position(state))
		return -1;
	return KREAD(file, state->call.file, f_pos) - (result > 0 ? result : 0);
}

static __always_inline bool call_appends(const struct task_state *state)
{
	return state->call.account.flags & TRACE_OP_APPEND && state->call.file;
}

/* On Linux even pwrite() ignores its offset and appends if the file is open with O_APPEND. The size
 * is read at the exit, so another writer may already have changed it. */
static __always_inline __s64 call_append_offset(struct task_state *state, __s64 result)
{
	struct inode *inode = KREAD(file, state->call.file, f_inode);

	return KREAD(inode, inode, i_size) - (result > 0 ? result : 0);
}

/* Stores the offset of the read or write. */
__noinline int call_exit_offset(struct task_state *state, const struct call_row *row,
				struct call_args *args, __s64 result)
{
	__u32 traits;

	if (!state || !row || !args)
		return 0;
	traits = row->traits;
	if (traits & CALL_SEEK) {
		if (result >= 0)
			state->call.account.offset = result;
		return 0;
	}
	if (traits & CALL_OFFSET_PTR) {
		__u64 pointer = call_arg(args, row->offset);

		if (pointer) {
			__s64 after;

			if (!bpf_probe_read_user(&after, sizeof(after), (void *)pointer))
				state->call.account.offset = after - (result > 0 ? result : 0);
			return 0;
		}
	} else if (row->offset) {
		/* pwritev2 has its own flags as the last argument. */
		if (traits & CALL_WRITE_FLAGS && call_arg(args, 6) & RWF_APPEND)
			state->call.account.flags |= TRACE_OP_APPEND;
		else if (traits & CALL_WRITE_FLAGS && call_arg(args, 6) & RWF_NOAPPEND)
			state->call.account.flags &= ~TRACE_OP_APPEND;
		if (traits & CALL_WRITES && call_appends(state)) {
			state->call.account.offset = call_append_offset(state, result);
			return 0;
		}
		state->call.account.offset = call_arg(args, row->offset);
		if (state->call.account.offset != -1 || !(traits & CALL_FPOS))
			return 0;
	}
	state->call.account.offset = call_file_offset(state, traits, result);
	return 0;
}

static __always_inline __u64 call_requested_bytes(const struct call_row *row,
						  struct call_args *args)
{
	if (row->traits & CALL_OPEN_FLAGS || !row->length)
		return 0;
	if (row->traits & CALL_VECTOR)
		return vector_bytes(call_arg(args, row->length), call_arg(args, row->length + 1));
	return call_arg(args, row->length);
}

__noinline int call_exit_flags(struct task_state *state, const struct call_row *row,
			       struct call_args *args)
{
	__u32 traits, flags = 0;

	if (!state || !row || !args)
		return 0;
	traits = row->traits;
	if (traits & (CALL_OPEN_FLAGS | CALL_OPEN_HOW)) {
		__u64 given = call_arg(args, row->length);

		if (traits & CALL_OPEN_HOW) {
			__u64 how = 0;

			bpf_probe_read_user(&how, sizeof(how), (void *)call_arg(args, 3));
			given = how;
		}
		flags = opening_flags(given);
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
	} else if (traits & CALL_ADVISES) {
		flags = advice_flags(call_arg(args, row->length + 1), traits & CALL_MAP);
	} else if (traits & CALL_FLOCK && call_arg(args, 2) & (LOCK_NB | LOCK_UN)) {
		flags = TRACE_OP_NOWAIT;
	}
	state->call.account.flags |= flags;
	return 0;
}

static __always_inline void call_count(const struct task_state *state, const struct call_end *end,
				       __u32 traits, const bool nonpreemptible)
{
	op_account_done(&state->call.account, end->duration_ns, end->result, traits & CALL_BYTES,
			!nonpreemptible && calls_preempted);
}

/* In a frame of its own: the exit of calls with paths leads into the deepest call chain. */
__noinline int call_count_any(struct task_state *state, struct call_end *end, __u32 traits)
{
	if (state && end)
		call_count(state, end, traits, false);
	return 0;
}

static __always_inline void call_count_submissions(__u32 op, __u64 submissions)
{
	struct op_total *total = op_total(op);

	if (total)
		count_add(&total->submissions, submissions, calls_preempted);
}

static __always_inline __u32 call_major_faults(const struct call_state *call,
					       struct task_struct *task)
{
	return (__u32)task->maj_flt - call->major_start - call->major_seen;
}

/* Whether the call is I/O, as the totals of reports count it: 1 or 0. Global, so it is verified
 * once. */
__noinline int call_is_io(struct task_state *state, __u32 major_faults)
{
	const struct call_state *call = &state->call;

	if (!state)
		return 0;
	return !(calls[call->number & (CALL_TABLE_SIZE - 1)].traits & CALL_MEMORY) ||
	       call->account.fetched_pages || call->account.dirtied_pages ||
	       call->fault_fetched_pages || major_faults;
}

static __always_inline void call_fill(struct event_syscall *event, const struct call_state *call,
				      struct task_struct *task, struct call_end *end)
{
	const struct op_account *account = &call->account;

	event->header.time_ns = account->start_ns;
	event->duration_ns = end->duration_ns;
	event->offset = account->offset;
	event->asked_bytes = end->requested_bytes;
	event->result = end->result;
	event->file = account->file;
	event->op = account->op;
	event->flags = account->flags;
	event->fetched_pages = account->fetched_pages;
	event->fault_fetched_pages = call->fault_fetched_pages;
	event->major_faults = call_major_faults(call, task);
	event->created_pages = account->created_pages;
	event->dirtied_pages = account->dirtied_pages;
	event->read_for_write_bytes = account->read_for_write_bytes;
	event->pad = 0;
	event->open_file = open_file_of(call->file);
}

/* Sends a call that does not fit into a slot. */
__noinline int call_send_wide(struct task_state *state, struct call_end *end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_syscall *event;

	if (!state || !end)
		return 0;
	event = ring_reserve(RECORD_SYSCALL, sizeof(*event), owner_of(task));
	if (!event)
		return 0;
	call_fill(event, &state->call, task, end);
	ring_submit(event);
	return 0;
}

static __always_inline void call_send(struct task_state *state, struct task_struct *task,
				      struct call_end *end)
{
	const struct op_account *account = &state->call.account;
	struct lane_reservation reservation;
	struct lane_call *call;

	if ((end->duration_ns | end->requested_bytes) >> 32 || state->call.fault_fetched_pages ||
	    account->dirtied_pages || account->read_for_write_bytes ||
	    (account->fetched_pages | account->created_pages | account->flags) >> 16 ||
	    call_major_faults(&state->call, task)) {
		call_send_wide(state, end);
		return;
	}
	if (!lane_reserve(&reservation, RECORD_SYSCALL))
		return;
	call = &reservation.slot->call;
	call->time_ns = account->start_ns;
	call->offset = account->offset;
	call->asked_bytes = end->requested_bytes;
	call->open_file = open_file_of(state->call.file);
	call->result = end->result;
	call->pid = state->pid;
	call->tid = state->tid;
	call->file = account->file;
	call->duration_ns = end->duration_ns;
	call->op = account->op;
	call->flags = account->flags;
	call->fetched_pages = account->fetched_pages;
	call->created_pages = account->created_pages;
	lane_publish(&reservation);
}

/* TRACE_PROFILE_* for a call. */
static __always_inline __u32 profile_call_flags(__u32 flags, __u32 traits)
{
	return (flags & TRACE_OP_DIRECT ? TRACE_PROFILE_DIRECT : 0) |
	       (flags & TRACE_OP_UNLINKED ? TRACE_PROFILE_UNLINKED : 0) |
	       (flags & TRACE_OP_NOWAIT ? TRACE_PROFILE_NOWAIT : 0) |
	       (traits & CALL_MAP ? 0 : profile_advice(flags));
}

/* Adds a call to its slot instead of sending a record. */
__noinline int profile_call(struct task_state *state, struct call_end *end, __u32 traits)
{
	struct profile_done done;

	if (!state || !end)
		return 0;
	profile_fill(&done, &state->call.account, state->pid, end->duration_ns, end->result,
		     traits & CALL_BYTES);
	if (in_flight_summed && end->duration_ns >= IN_FLIGHT_ENDS_NS)
		done.summed_ns = op_account_end_summed(&state->call.account, end->duration_ns);
	done.key.file2 = state->call.file2;
	done.key.flags = profile_call_flags(state->call.account.flags, traits);
	done.fault_fetched_pages = state->call.fault_fetched_pages;
	done.requested_bytes = end->requested_bytes;
	done.sized = traits & CALL_BYTES ? 1 : 0;
	done.waits = traits & (CALL_SUBMITS | CALL_AIO_REAP) ? 1 : 0;
	done.shared = calls_preempted;
	if (traits & (CALL_MAP | CALL_MMAP | CALL_MAPS_ANY)) {
		done.major_faults = call_major_faults(&state->call, bpf_get_current_task_btf());
		if (state->call.account.dirtied_pages)
			done.key.flags |= TRACE_PROFILE_DIRTIES;
		else if (state->call.account.fetched_pages || done.major_faults ||
			 (traits & CALL_MAPS_ANY && done.fault_fetched_pages))
			done.key.flags |= TRACE_PROFILE_BRINGS;
	}
	return profile_add(&done);
}

/* Ends a call: adds its account to the totals, and sends its record. */
static __always_inline void call_done(struct task_state *state, struct task_struct *task,
				      struct call_end *end, __u32 traits, const bool nonpreemptible)
{
	call_count(state, end, traits, nonpreemptible);
	if (profile_aggregates(task, state->call.account.start_ns)) {
		profile_call(state, end, traits);
		if (!profile_also_records(state->pid))
			return;
	}
	call_send(state, task, end);
}

/* The same for any call, in a frame of its own: its exit leads into the deepest call chain. */
__noinline int call_done_any(struct task_state *state, struct call_end *end, __u32 traits)
{
	if (state && end)
		call_done(state, bpf_get_current_task_btf(), end, traits, false);
	return 0;
}
