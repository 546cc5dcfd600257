/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user registers of a task, as its last entry into the kernel has left them.
 */
#pragma once

#include "core/settings.h"
#include "vmlinux/ptrace.h"
#include "vmlinux/sched.h"

#define KERNEL_STACK_BYTES 16384ull

static __always_inline struct pt_regs *task_regs(struct task_struct *task)
{
#ifdef FAULTLINE_PROBE_READ
	/* Before 5.15. The registers are at the top of the kernel stack, which is at least a page,
	 * and twice as large with KASAN. */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		__u64 bytes = PAGE_BYTES > KERNEL_STACK_BYTES ? PAGE_BYTES : KERNEL_STACK_BYTES;

		if (bpf_core_field_exists(struct task_struct___kasan, kasan_depth))
			bytes *= 2;
		return (struct pt_regs *)((__u64)task->stack + bytes -
					  bpf_core_type_size(struct pt_regs));
	}
#endif
	return (struct pt_regs *)bpf_task_pt_regs(task);
}
