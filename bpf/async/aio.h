/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations of libaio, from the call that submits them to the call that reaps their completions.
 * The kernel identifies an iocb by its address in the program's memory, and returns that address
 * with the event.
 */
#pragma once

#include "async/async.h"

#define AIO_MAX 65536 /* per call; above the limit of a context */

/* As in include/uapi/linux/aio_abi.h, little-endian. */
struct user_iocb {
	__u64 data;
	__u32 key, rw_flags;
	__u16 opcode, priority;
	__u32 fd;
	__u64 buffer;
	__u64 bytes;
	__s64 offset;
};

struct user_io_event {
	__u64 data;
	__u64 iocb;
	__s64 result;
	__s64 result2;
};

struct aio_walk {
	struct task_state *state;
	__u64 context;
	__u64 array; /* addresses of iocbs, or events */
	__u64 now_ns;
	__u64 mm;
};

static __always_inline struct async_row aio_row(__u32 opcode)
{
	return *(const struct async_row *)&aio_rows[opcode & (AIO_TABLE_SIZE - 1)];
}

/* In a frame of its own: looking up a file needs a deep stack. */
static __noinline int aio_begin(struct async_key *key, struct aio_walk *walk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct async_operation begun = { .context = walk->context, .owner = owner_of(task) };
	struct user_iocb iocb;

	if (bpf_probe_read_user(&iocb, sizeof(iocb), (void *)key->address))
		return -1;
	begun.row = aio_row(iocb.opcode);
	if (begun.row.shape == ASYNC_COUNTED) {
		async_count(begun.row.op);
		return -1;
	}
	walk->state->async.writes |= begun.row.traits & ASYNC_WRITES;
	begun.account.offset = begun.row.shape == ASYNC_RW ? iocb.offset : -1;
	begun.fd = iocb.fd;
	async_begin(&begun.account, begun.row.op, walk->now_ns);
	if (begun.row.traits & ASYNC_VECTOR)
		begun.requested_bytes = vector_bytes(iocb.buffer, iocb.bytes);
	else if (begun.row.shape == ASYNC_RW)
		begun.requested_bytes = iocb.bytes;
	return async_put(key, &begun);
}

static long aio_submit_step(__u32 i, struct aio_walk *walk)
{
	struct async_key key = { .mm = walk->mm };
	struct async_operation *operation;
	struct address file;

	if (bpf_probe_read_user(&key.address, sizeof(key.address),
				(void *)walk->array + i * sizeof(key.address)))
		return 1;
	operation = async_find(&key);
	if (operation)
		async_end_unseen(&key, operation);
	if (aio_begin(&key, walk))
		return 0;
	operation = async_find(&key);
	if (!operation)
		return 0;
	file.at = (__u64)file_of_fd(bpf_get_current_task_btf(), operation->fd);
	if (!file.at)
		operation->account.flags |= TRACE_OP_NO_FILE;
	else if (!async_take_file(operation, &file, walk->state))
		op_account_close(&operation->account);
	else
		async_range_put(&key, &file);
	/* It appends at the end of the file, whose position is not known yet. */
	if (operation->row.traits & ASYNC_WRITES && operation->account.flags & TRACE_OP_APPEND)
		operation->account.offset = -1;
	return 0;
}
LOOP_STEP(aio_submit_step)

/* The submitting call starts: operations may complete from here on. */
__noinline int aio_submit(struct task_state *state, struct call_args *args)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct aio_walk walk = { .state = state, .now_ns = bpf_ktime_get_ns() };
	__u64 count;

	if (!state || !args)
		return 0;
	count = call_arg(args, 2);
	walk.mm = (__u64)TASK_POINTER(task, mm);
	walk.context = call_arg(args, 1);
	walk.array = call_arg(args, 3);
	async_mark_user(&state->async, task->tgid);
	LOOP(count > AIO_MAX ? AIO_MAX : count, aio_submit_step, &walk);
	return 0;
}

static long aio_reject_step(__u32 i, struct aio_walk *walk)
{
	struct async_key key = { .mm = walk->mm };

	if (bpf_probe_read_user(&key.address, sizeof(key.address),
				(void *)walk->array + i * sizeof(key.address)))
		return 1;
	async_remove(&key);
	return 0;
}
LOOP_STEP(aio_reject_step)

/* The submitting call ends: the operations after those it accepted were not submitted. */
static __noinline int aio_end_submit(struct call_args *args, __s64 result)
{
	struct aio_walk walk = {
		.mm = (__u64)TASK_POINTER(bpf_get_current_task_btf(), mm),
		.array = call_arg(args, 3),
	};
	__u64 count = call_arg(args, 2), taken = result > 0 ? result : 0;

	if (taken >= count)
		return 0;
	count -= taken;
	walk.array += taken * sizeof(__u64);
	LOOP(count > AIO_MAX ? AIO_MAX : count, aio_reject_step, &walk);
	return 0;
}

/* Counts an operation for which there was no room when it was submitted. */
static __noinline int aio_count_unknown(struct user_io_event *event)
{
	struct async_row row;
	__u16 opcode;

	if (!async_overfull ||
	    bpf_probe_read_user(&opcode, sizeof(opcode),
				(void *)event->iocb + offsetof(struct user_iocb, opcode)))
		return 0;
	row = aio_row(opcode);
	return row.shape ? async_lose(row.op, event->result, row.traits & ASYNC_BYTES) : 0;
}

static long aio_reap_step(__u32 i, struct aio_walk *walk)
{
	struct user_io_event event;
	struct async_key key = { .mm = walk->mm };
	struct async_operation *done;

	if (bpf_probe_read_user(&event, sizeof(event), (void *)walk->array + i * sizeof(event)))
		return 1;
	key.address = event.iocb;
	done = async_find(&key);
	if (!done || done->context != walk->context) {
		aio_count_unknown(&event);
		return 0;
	}
	if (done->account.op)
		async_emit(&key, done, event.result, walk->now_ns);
	async_remove(&key);
	return 0;
}
LOOP_STEP(aio_reap_step)

static __always_inline int aio_reap(struct call_args *args, __s64 result)
{
	struct aio_walk walk = {
		.mm = (__u64)TASK_POINTER(bpf_get_current_task_btf(), mm),
		.context = call_arg(args, 1),
		.array = call_arg(args, 4),
		.now_ns = bpf_ktime_get_ns(),
	};

	if (result > 0)
		LOOP(result > AIO_MAX ? AIO_MAX : result, aio_reap_step, &walk);
	return 0;
}

/* Handles the end of a libaio call. Global, so it is verified once. */
__noinline int aio_end_call(struct call_args *args, __u32 traits, __s64 result)
{
	if (!args)
		return 0;
	if (traits & CALL_AIO_SUBMIT)
		return aio_end_submit(args, result);
	return aio_reap(args, result);
}
