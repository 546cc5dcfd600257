/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which limit on memory made the kernel kill a process.
 */
#pragma once

#include "core/kernel.h"
#include "core/settings.h"
#include "vmlinux/cgroup.h"
#include "vmlinux/sched.h"

#define MEMORY_GROUPS_MAX 32
#define MEMORY_UNLIMITED (0x7fffffffffffffffull / PAGE_BYTES)

/* Returns the current task's cgroup that limits memory, as its cgroup_subsys_state; 0: none. */
static __always_inline __u64 oom_cgroup(void)
{
	__u64 set = (__u64)TASK_POINTER(bpf_get_current_task_btf(), cgroups), state = 0;

	if (!bpf_core_type_exists(struct mem_cgroup) ||
	    !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return 0;
	bpf_probe_read_kernel(
		&state, sizeof(state),
		KFIELD(css_set, set, subsys) +
			sizeof(state) * bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
	return state;
}

/*
 * Called by the task whose allocation makes the kernel kill a process. Returns the limit that it
 * ran into, in bytes; 0: unknown, or the machine itself was out of memory. The kernel marks the
 * cgroup that is out of memory, and all below it. Where it lacks the mark, because it is built
 * without cgroup v1, the first full cgroup is taken instead.
 */
static __always_inline __u64 oom_limit_bytes(void)
{
	__u64 state = oom_cgroup(), limit = 0;

	for (int i = 0; i < MEMORY_GROUPS_MAX && state; i++) {
		__u64 group = state - bpf_core_field_offset(struct mem_cgroup, css);
		__u64 max = KREAD(mem_cgroup, group, memory.max);
		bool marks = bpf_core_field_exists(struct mem_cgroup___first, oom_lock);

		if (marks && !KREAD(mem_cgroup___first, group, oom_lock))
			break;
		if (marks ||
		    (__u64)KREAD(mem_cgroup, group, memory.usage.counter) >= max - max / 16)
			limit = max;
		if (limit && !marks)
			break;
		state = (__u64)KREAD(cgroup_subsys_state, state, parent);
	}
	return limit < MEMORY_UNLIMITED ? limit * PAGE_BYTES : 0;
}
