// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs at the functions by which the kernel reads and writes files, for system calls and for
 * itself.
 *
 * Variants: entry and exit of a function; else kprobe and kretprobe. The kernel tracks a limited
 * number of returns at a time; one that it skips is counted as lost.
 */
#include "vfs/vfs.h"
#include "vfs/vfs_functions.h"
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

#define VFS_PROGRAMS(name, target, operation, shape)                                               \
	VFS_SHAPE_##shape(VFS_PROGRAMS_AT, name, target, VFS_##operation)
#define VFS_PROGRAMS_AT(name, target, function, signature, file, position, requested_bytes,        \
			result_type, ...)                                                          \
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

VFS_CALLS(VFS_PROGRAMS)
VFS_VECTORS(VFS_PROGRAMS)
VFS_KERNEL(VFS_PROGRAMS)
VFS_KERNEL_WRITE_OLD(VFS_PROGRAMS)
VFS_IOCBS(VFS_PROGRAMS)
VFS_SPLICES_IN(VFS_PROGRAMS)
VFS_SPLICES_IN_OLD(VFS_PROGRAMS)
VFS_SPLICES_OUT(VFS_PROGRAMS)
VFS_SYNCS(VFS_PROGRAMS)

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
