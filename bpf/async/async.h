/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations that outlive the call that submits them: how they begin and end, and their records.
 * Shared by io_uring and libaio.
 */
#pragma once

#include "async/async_flight.h"
#include "async/async_ranges.h"
#include "syscall/call_path.h"
#include "vmlinux/uring.h"

extern const volatile struct async_row uring_rows[URING_TABLE_SIZE];
extern const volatile struct async_row aio_rows[AIO_TABLE_SIZE];
extern const volatile __u32 uring_enter_number; /* system call number */
extern const volatile bool async_recorded;

/* --- records --- */

/* Counts an operation for which no record can be made. Global, so it is verified once. */
__noinline int async_lose(__u32 op, __s64 result, bool moves)
{
	struct op_account account = { .op = op };

	op_account_done(&account, 0, result, moves, true);
	ring_lose(RECORD_ASYNC);
	return 0;
}

/* Counts an operation without a file. */
static __always_inline void async_count(__u32 op)
{
	struct op_total *total = op_total(op);

	if (total)
		count_add(&total->count, 1, true);
}

static __always_inline void async_fill(struct event_async *event, struct async_operation *done,
				       __s64 result, __u64 duration_ns)
{
	__builtin_memset(&event->call.duration_ns, 0, sizeof(*event) - sizeof(struct event_header));
	event->call.duration_ns = duration_ns;
	event->call.offset = done->account.offset;
	event->call.asked_bytes = done->requested_bytes;
	event->call.result = result;
	event->call.file = done->account.file;
	event->call.op = done->account.op;
	event->call.fetched_pages = done->account.fetched_pages;
	event->call.created_pages = done->account.created_pages;
	event->call.read_for_write_bytes = done->account.read_for_write_bytes;
	event->call.open_file = done->account.open_file;
	event->file2 = done->file2;
	event->call.flags = done->account.flags;
}

/* Sends the record of an operation with paths, from scratch memory. Global, as the following
 * functions are, so it is verified once instead of on every path. */
__noinline int async_send_names(struct async_operation *done, struct async_names *names,
				__s64 result, __u64 duration_ns)
{
	struct event_async *event;
	__u64 bytes, bytes2;

	if (!done || !names)
		return 0;
	bytes = names->bytes;
	bytes2 = names->bytes2;
	event = scratch_get();
	if (!event) {
		ring_lose(RECORD_ASYNC);
		return 0;
	}
	async_fill(event, done, result, duration_ns);
	event->dir = names->dir;
	event->dir2 = names->dir2;
	event->path_bytes = bytes;
	event->path2_bytes = bytes2;
	bytes += bytes2;
	BARRIER_VAR(bytes);
	if (bytes > sizeof(names->text))
		bytes = sizeof(names->text);
	read_kernel(event->text, bytes, names->text);
	ring_output(&event->call.header, RECORD_ASYNC, done->account.start_ns,
		    sizeof(*event) + bytes, done->owner);
	scratch_put(event);
	return 0;
}

__noinline int async_send(struct async_operation *done, __s64 result, __u64 duration_ns)
{
	struct event_async *event;

	if (!done)
		return 0;
	event = ring_reserve(RECORD_ASYNC, sizeof(*event), done->owner);
	if (!event)
		return 0;
	event->call.header.time_ns = done->account.start_ns;
	async_fill(event, done, result, duration_ns);
	ring_submit(event);
	return 0;
}

static __always_inline __u32 async_profile_flags(__u32 flags)
{
	return (flags & TRACE_OP_DIRECT ? TRACE_PROFILE_DIRECT : 0) |
	       (flags & TRACE_OP_UNLINKED ? TRACE_PROFILE_UNLINKED : 0) |
	       (flags & TRACE_OP_SILENT ? TRACE_PROFILE_UNTIMED : 0) | profile_advice(flags);
}

/* Adds an operation to its slot instead of sending a record. */
static __noinline int async_profile(struct async_operation *ended, __s64 result, __u64 duration_ns)
{
	struct profile_done done;

	profile_fill(&done, &ended->account, ended->owner.pid, duration_ns, result,
		     ended->row.traits & ASYNC_BYTES);
	if (in_flight_summed && duration_ns >= IN_FLIGHT_ENDS_NS)
		done.summed_ns = op_account_end_summed(&ended->account, duration_ns);
	done.key.file2 = ended->file2;
	done.key.flags = async_profile_flags(ended->account.flags);
	done.requested_bytes = ended->requested_bytes;
	done.sized = ended->row.traits & ASYNC_BYTES ? 1 : 0;
	done.shared = 1;
	return profile_add(&done);
}

/* Counts and records an operation that ends, or a part of it. */
__noinline int async_emit(struct async_key *key, struct async_operation *done, __s64 result,
			  __u64 now_ns)
{
	struct async_names *names = NULL;
	struct async_key at; /* on the stack: up to 6.1, maps accept no other key */
	__u64 duration_ns;

	if (!key || !done)
		return 0;
	at = *key;
	duration_ns = op_account_duration_ns(&done->account, now_ns);
	op_account_done(&done->account, duration_ns, result, done->row.traits & ASYNC_BYTES, true);
	if (profile_aggregates_others()) {
		async_profile(done, result, duration_ns);
		if (!profile_also_records(done->owner.pid))
			return 0;
	}
	if (done->row.shape >= ASYNC_OPEN)
		names = bpf_map_lookup_elem(&async_names, &at);
	if (!names) {
		if (done->row.shape >= ASYNC_OPEN)
			done->account.flags |= TRACE_OP_PATH_CUT;
		async_send(done, result, duration_ns);
		return 0;
	}
	async_send_names(done, names, result, duration_ns);
	return 0;
}

/* --- beginning and ending --- */

/* Begins an operation. Its slot may just have been another operation's: a summed_ns of its own
 * makes an iterator's claim on the previous one fail (op_account.h). */
static __always_inline void async_begin(struct op_account *account, __u32 op, __u64 now_ns)
{
	op_account_begin(account, op, now_ns);
	account->summed_ns = now_ns;
}

/* Result of an operation that succeeded silently. Short reads and writes always complete
 * visibly. */
static __always_inline __s64 async_silent_result(struct async_operation *done)
{
	return done->row.traits & ASYNC_BYTES ? done->requested_bytes : 0;
}

/* Removes an operation whose end was not seen. */
static __noinline int async_end_unseen(struct async_key *key, struct async_operation *done)
{
	const __u32 op = done->account.op; /* 0: its kind is not recorded */

	if (op && done->account.flags & TRACE_OP_SILENT)
		async_emit(key, done, async_silent_result(done), 0);
	else if (op)
		async_lose(op, 0, false);
	async_remove(key);
	return 0;
}

/* Notes that the process may have operations in flight when it exits. */
static __always_inline void async_mark_user(struct async_task *task, __u32 pid)
{
	if (task->user == pid)
		return;
	bpf_map_update_elem(&async_users, &pid, &pid, BPF_ANY);
	task->user = pid;
}

/* Takes `file` as the file of an operation; returns false if its class is not recorded. `state`
 * belongs to the current task, if it has one. */
__noinline int async_take_file(struct async_operation *operation, struct address *address,
			       struct task_state *state)
{
	struct file_facts facts = {};
	struct inode *inode;
	struct file *file;

	if (!operation || !address)
		return 0;
	file = (struct file *)address->at;
	inode = KREAD(file, file, f_inode);
	if (!(file_class(inode) & file_classes))
		return 0;
	operation->account.open_file = open_file_of(address->at);
	operation->account.flags |= open_flags(KREAD(file, file, f_flags));
	if (!KREAD(inode, inode, i_nlink))
		operation->account.flags |= TRACE_OP_UNLINKED;
	if (state) {
		operation->account.file = file_id_of(state, file);
		return 1;
	}
	file_facts_of(file, &facts);
	operation->account.file = file_id(&facts, false) & ~FILE_UNANNOUNCED;
	return 1;
}
