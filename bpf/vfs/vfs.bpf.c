// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The functions by which the kernel reads and writes files, for system calls and for itself: where
 * each has its file, position and length.
 *
 * Variants: entry and exit of a function; else kprobe and kretprobe. The kernel tracks a limited
 * number of returns at a time; one that it skips is counted as lost.
 */
#include "vfs/vfs.h"
#include "vmlinux/vfs.h"

static __always_inline int vfs_begin(void *at, __u32 function, struct file *file, void *position,
				     __u64 requested_bytes)
{
	struct vfs_frame begin = {
		.at = (__u64)at,
		.file = (__u64)file,
		.position = (__u64)position,
		.requested_bytes = requested_bytes,
		.account = { .op = OP_VFS + function, .offset = -1 },
	};

	vfs_enter(&begin);
	return 0;
}

static __always_inline int vfs_finish(void *at, __u32 slack, __s64 result)
{
	struct address stack = { (__u64)at };

	if (vfs_is_recorded(bpf_get_current_task_btf()))
		vfs_leave(&stack, slack, result);
	return 0;
}

#define ITER_BYTES(iter) KREAD(iov_iter, iter, count)

/* The programs of a function: fl_NAME_in and _out at its entry and exit, _kp and _kr by kprobes.
 * All parameters of the function must be listed, because its result follows them. */
#define VFS_PROGRAMS(name, target, function, file, position, requested_bytes, result_type, ...)    \
	SEC("?fentry/" #target)                                                                    \
	int BPF_PROG(fl_##name##_in, __VA_ARGS__)                                                  \
	{                                                                                          \
		if (!vfs_is_recorded(bpf_get_current_task_btf()))                                  \
			return 0;                                                                  \
		return vfs_begin(ctx, function, file, position, requested_bytes);                  \
	}                                                                                          \
	SEC("?fexit/" #target)                                                                     \
	int BPF_PROG(fl_##name##_out, __VA_ARGS__, result_type result)                             \
	{                                                                                          \
		return vfs_finish(ctx, 0, result);                                                 \
	}                                                                                          \
	SEC("?kprobe/" #target)                                                                    \
	int BPF_KPROBE(fl_##name##_kp, __VA_ARGS__)                                                \
	{                                                                                          \
		if (!vfs_is_recorded(bpf_get_current_task_btf()))                                  \
			return 0;                                                                  \
		return vfs_begin((void *)REGS_SP(ctx), function, file, position, requested_bytes); \
	}                                                                                          \
	SEC("?kretprobe/" #target)                                                                 \
	int BPF_KRETPROBE(fl_##name##_kr, result_type result)                                      \
	{                                                                                          \
		return vfs_finish((void *)REGS_SP(ctx), RETURN_SLACK, result);                     \
	}

/* --- for system calls --- */

VFS_PROGRAMS(vread, vfs_read, VFS_READ, file, position, count, long, struct file *file,
	     char *buffer, unsigned long count, long long *position)
VFS_PROGRAMS(vwrite, vfs_write, VFS_WRITE, file, position, count, long, struct file *file,
	     const char *buffer, unsigned long count, long long *position)
VFS_PROGRAMS(vreadv, vfs_readv, VFS_READV, file, position, vector_bytes((__u64)vector, count), long,
	     struct file *file, const struct iovec *vector, unsigned long count,
	     long long *position, int flags)
VFS_PROGRAMS(vwritev, vfs_writev, VFS_WRITEV, file, position, vector_bytes((__u64)vector, count),
	     long, struct file *file, const struct iovec *vector, unsigned long count,
	     long long *position, int flags)

/* --- for other parts of the kernel --- */

VFS_PROGRAMS(kread, __kernel_read, VFS_KERNEL_READ, file, position, count, long, struct file *file,
	     void *buffer, unsigned long count, long long *position)
VFS_PROGRAMS(kwrite, __kernel_write_iter, VFS_KERNEL_WRITE, file, position, ITER_BYTES(iter), long,
	     struct file *file, struct iov_iter *iter, long long *position)
VFS_PROGRAMS(iread, vfs_iter_read, VFS_ITER_READ, file, position, ITER_BYTES(iter), long,
	     struct file *file, struct iov_iter *iter, long long *position, int flags)
VFS_PROGRAMS(iwrite, vfs_iter_write, VFS_ITER_WRITE, file, position, ITER_BYTES(iter), long,
	     struct file *file, struct iov_iter *iter, long long *position, int flags)
VFS_PROGRAMS(cread, vfs_iocb_iter_read, VFS_IOCB_ITER_READ, file, KFIELD(kiocb, iocb, ki_pos),
	     ITER_BYTES(iter), long, struct file *file, struct kiocb *iocb, struct iov_iter *iter)
VFS_PROGRAMS(cwrite, vfs_iocb_iter_write, VFS_IOCB_ITER_WRITE, file, KFIELD(kiocb, iocb, ki_pos),
	     ITER_BYTES(iter), long, struct file *file, struct kiocb *iocb, struct iov_iter *iter)

/* --- from file to pipe and back: the halves of splice and similar calls --- */

VFS_PROGRAMS(sread, filemap_splice_read, VFS_SPLICE_READ, file, position, count, long,
	     struct file *file, long long *position, struct pipe_inode_info *pipe,
	     unsigned long count, unsigned int flags)
VFS_PROGRAMS(osread, generic_file_splice_read, VFS_SPLICE_READ, file, position, count, long,
	     struct file *file, long long *position, struct pipe_inode_info *pipe,
	     unsigned long count, unsigned int flags)
VFS_PROGRAMS(sreadc, copy_splice_read, VFS_SPLICE_READ, file, position, count, long,
	     struct file *file, long long *position, struct pipe_inode_info *pipe,
	     unsigned long count, unsigned int flags)
VFS_PROGRAMS(swrite, iter_file_splice_write, VFS_SPLICE_WRITE, file, position, count, long,
	     struct pipe_inode_info *pipe, struct file *file, long long *position,
	     unsigned long count, unsigned int flags)

/* --- to storage: each calls the next, unless the compiler has inlined it --- */

VFS_PROGRAMS(dsync, do_fsync, VFS_FSYNC_RANGE, file_of_fd(bpf_get_current_task_btf(), fd), NULL, 0,
	     int, unsigned int fd, int data_only)
VFS_PROGRAMS(fsync, vfs_fsync, VFS_FSYNC_RANGE, file, NULL, 0, int, struct file *file,
	     int data_only)
VFS_PROGRAMS(vsync, vfs_fsync_range, VFS_FSYNC_RANGE, file, NULL, 0, int, struct file *file,
	     long long start, long long end, int data_only)

/* --- task exit --- */

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(fl_vfs_cut, struct task_struct *task)
{
	return vfs_end_task();
}

SEC("?tp/sched/sched_process_exit")
int fl_vfs_cut_tp(void *event)
{
	return vfs_end_task();
}
