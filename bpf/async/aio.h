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

/* Writes of a call to the end of a file; holds no pointers, because the verifier forgets them in
 * memory that is passed to a global function. */
struct aio_append {
	__u64 inode;	/* of the first file; 0: none yet */
	__s64 end;	/* of that file, after the writes so far */
	__u32 others;	/* some go to another file */
	__u32 rw_flags; /* of the operation that begins */
};

struct aio_walk {
	struct task_state *state;
	__u64 context;
	__u64 array; /* addresses of iocbs, or events */
	__u64 now_ns;
	__u64 mm;
	struct aio_append append;
};

static __always_inline struct async_row aio_row(__u32 opcode)
{
	return *(const struct async_row *)&aio_rows[opcode & (AIO_TABLE_SIZE - 1)];
}

/* In a frame of its own: looking up a file needs a deep stack. */
static __noinline int aio_begin(struct async_key *key, struct aio_walk *walk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct async_operation operation = { .context = walk->context, .owner = owner_of(task) };
	struct user_iocb iocb;

	if (bpf_probe_read_user(&iocb, sizeof(iocb), (void *)key->address))
		return -1;
	operation.row = aio_row(iocb.opcode);
	if (operation.row.shape == ASYNC_COUNTED) {
		async_count(operation.row.op);
		return -1;
	}
	walk->state->async.writes |= operation.row.traits & ASYNC_WRITES;
	operation.account.offset = operation.row.shape == ASYNC_RW ? iocb.offset : -1;
	operation.fd = iocb.fd;
	walk->append.rw_flags = iocb.rw_flags;
	async_begin(&operation.account, operation.row.op, walk->now_ns);
	if (operation.row.traits & ASYNC_VECTOR)
		operation.requested_bytes = vector_bytes(iocb.buffer, iocb.bytes);
	else if (operation.row.shape == ASYNC_RW)
		operation.requested_bytes = iocb.bytes;
	return async_put(key, &operation);
}

/* Sets the offset of a write that appends; -1: not known. No program sees the kernel's own iocb, so
 * it is computed, although another process may append, too. Global, so it is verified once. */
__noinline int aio_set_append(struct async_operation *operation, struct address *file,
			      struct aio_append *append)
{
	__u64 inode;
	__s64 end;

	if (!operation || !file || !append)
		return 0;
	if (append->rw_flags & RWF_APPEND)
		operation->account.flags |= TRACE_OP_APPEND;
	else if (append->rw_flags & RWF_NOAPPEND)
		operation->account.flags &= ~TRACE_OP_APPEND;
	if (!(operation->account.flags & TRACE_OP_APPEND))
		return 0;
	operation->account.offset = -1;
	inode = KNUMBER(file, file->at, f_inode);
	end = append->end;
	BARRIER_VAR(end); /* up to 6.12, one load may not serve both kinds of memory */
	if (append->inode != inode) {
		if (append->others)
			return 0;
		append->others = !!append->inode;
		append->inode = inode;
		end = KREAD(inode, inode, i_size);
	}
	operation->account.offset = end;
	append->end = end + operation->requested_bytes;
	return 0;
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
	if (!file.at) {
		operation->account.flags |= TRACE_OP_NO_FILE;
		return 0;
	}
	if (!async_take_file(operation, &file, walk->state)) {
		op_account_close(&operation->account);
		return 0;
	}
	if (operation->row.traits & ASYNC_WRITES)
		aio_set_append(operation, &file, &walk->append);
	return async_range_put(&key, &file);
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
