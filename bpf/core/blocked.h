/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How user space finds a blocked thread, whose stack it then reads: programs here cannot read the
 * memory of a task that is not the current one, and the stack of a blocked one does not change.
 * `runs` is unknown if the thread is not blocked.
 */
#pragma once

#include "bpf/records/event.h"
#include "core/pid.h"

static __always_inline struct blocked_thread blocked_thread(struct task_struct *task)
{
	__u64 pid = (__u64)TASK_POINTER(task, thread_pid);
	struct blocked_thread blocked = { .runs = SAMPLE_RUNS_UNKNOWN };

#ifdef __TARGET_ARCH_x86
	blocked.thread_pointer = task->thread.fsbase;
#endif
	blocked.tid_inside = pid ? pid_at_level(pid, KREAD(pid, pid, level)) : 0;
	if (task->__state && bpf_core_field_exists(task->sched_info.pcount))
		blocked.runs = task->sched_info.pcount;
	return blocked;
}
