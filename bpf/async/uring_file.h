/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files that io_uring requests use: descriptors, and files registered with the ring.
 */
#pragma once

#include "async/async.h"

/* Returns a registered file, or NULL. */
static __always_inline struct file *uring_slot_file(void *ring, __u32 slot)
{
	void *at;

	if (bpf_core_field_exists(struct io_file_table, data)) {
		if (slot >= KREAD(io_ring_ctx, ring, file_table.data.nr))
			return NULL;
		at = (void *)KREAD(io_ring_ctx, ring, file_table.data.nodes) + slot * sizeof(at);
		at = KREAD_POINTER(at);
		return at ? (void *)(KREAD(io_rsrc_node, at, file_ptr) & ~SLOT_FLAGS) : NULL;
	}
	if (slot >= KREAD(io_ring_ctx___addresses, ring, nr_user_files))
		return NULL;
	at = (void *)KNUMBER(io_ring_ctx___addresses, ring, file_table.files);
	at += slot * bpf_core_type_size(struct io_fixed_file);
	return (void *)(KREAD(io_fixed_file, at, file_ptr) & ~SLOT_FLAGS);
}

static __always_inline struct file *uring_file_of(void *ring, __u32 fd, bool fixed)
{
	return fixed ? uring_slot_file(ring, fd) : file_of_fd(bpf_get_current_task_btf(), fd);
}

/* Since 5.17 a request may get its file late. */
static __always_inline bool uring_has_fd(void)
{
	return bpf_core_field_exists(struct io_kiocb, cqe) ||
	       bpf_core_field_exists(struct io_kiocb___old, fd);
}

static __always_inline int uring_fd(void *request)
{
	if (bpf_core_field_exists(struct io_kiocb, cqe))
		return KREAD(io_kiocb, request, cqe.fd);
	return uring_has_fd() ? KREAD(io_kiocb___old, request, fd) : -1;
}

static __always_inline __u64 uring_user_data(void *request)
{
	if (bpf_core_field_exists(struct io_kiocb, cqe))
		return KREAD(io_kiocb, request, cqe.user_data);
	return KREAD(io_kiocb___old, request, user_data);
}

/* Returns the file of a request in flight, or NULL. */
static __always_inline struct file *uring_own_file(struct async_operation *operation, void *request)
{
	if (!uring_has_fd())
		return KREAD(io_kiocb, request, file);
	return uring_file_of((void *)operation->context, operation->fd,
			     operation->account.flags & TRACE_OP_FIXED_FILE);
}

/* Returns the file that a splice request reads from. */
static __always_inline __u64 uring_spliced_file(void *ring, __u64 request)
{
	return (__u64)uring_file_of(ring, KREAD(io_splice, request, splice_fd_in),
				    KREAD(io_splice, request, flags) & SPLICE_F_FD_IN_FIXED);
}

/* Returns where a request that uses the file position read or wrote; -1: the file has none. */
static __always_inline __s64 uring_position(struct async_operation *done, void *request,
					    struct file *file, __s64 result)
{
	__u32 class = file_class(KREAD(file, file, f_inode));

	if (!(class & (FILE_CLASS_REG | FILE_CLASS_BLK)))
		return -1;
	if (!bpf_core_field_exists(struct io_kiocb___old, compl ))
		return KREAD(io_rw, request, kiocb.ki_pos) - result;
	return done->account.offset == -1 ? KREAD(file, file, f_pos) - result : -1;
}

/* Returns the file of a completed operation, or NULL. */
static __always_inline struct file *uring_file(struct async_operation *done, void *request,
					       __s64 result)
{
	void *ring = (void *)done->context;
	struct file *file;

	if (done->row.shape == ASYNC_OPEN) {
		if (result < 0)
			return NULL;
		if (done->slot && done->slot != IORING_FILE_INDEX_ALLOC)
			result = done->slot - 1;
		return uring_file_of(ring, result, done->slot);
	}
	if (done->row.shape >= ASYNC_CLOSE)
		return NULL;
	file = KREAD(io_kiocb, request, file);
	/* NULL: it was cancelled before it had one. */
	return file ? file : uring_own_file(done, request);
}
