/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PIDs in the namespaces of a task.
 */
#pragma once

#include "core/kernel.h"
#include "vmlinux/sched.h"

/* Returns the PID of a struct pid (its address, or 0) in the namespace at `level`; 0: it has
 * none. */
static __always_inline __u32 pid_at_level(__u64 numbers, __u32 level)
{
	struct address pid = { numbers };
	__u32 number = 0;

	if (!numbers || level > KREAD(pid, numbers, level))
		return 0;
	/* As a number: before 5.15, the verifier rejects variable offsets on pointers. */
	numbers = address_number(&pid) + bpf_core_field_offset(struct pid, numbers) +
		  (__u64)level * bpf_core_type_size(struct upid) +
		  bpf_core_field_offset(struct upid, nr);
	bpf_probe_read_kernel(&number, sizeof(number), (void *)numbers);
	return number;
}
