/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Registers at the entry and the exit of a system call.
 *
 * At the exit the arguments are still in their registers, except for arm64's first, which the
 * result overwrites and the kernel saves in orig_x0.
 *
 * These macros read a register by REG, as in bpf/core/kernel.h.
 */
#pragma once

#include "types.h"

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, sp;
} CORE_STRUCT;

#define SYSCALL_NUMBER(regs) REG(regs, orig_ax)
#define REGS_IP(regs) REG(regs, ip)
#define REGS_SP(regs) REG(regs, sp)
#define SYSCALL_ARG0(regs) REG(regs, di)
#define SYSCALL_ARG1(regs) REG(regs, si)
#define SYSCALL_ARG2(regs) REG(regs, dx)
#define SYSCALL_ARG3(regs) REG(regs, r10)
#define SYSCALL_ARG4(regs) REG(regs, r8)
#define SYSCALL_ARG5(regs) REG(regs, r9)

#elif defined(__TARGET_ARCH_arm64)

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
} CORE_STRUCT;

struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 orig_x0;
	int syscallno;
} CORE_STRUCT;

#define SYSCALL_NUMBER(regs) ((__u32)REG(regs, syscallno))
#define REGS_IP(regs) REG(regs, pc)
#define REGS_SP(regs) REG(regs, sp)
#define SYSCALL_ARG0(regs) REG(regs, orig_x0)
#define SYSCALL_ARG1(regs) REG(regs, regs[1])
#define SYSCALL_ARG2(regs) REG(regs, regs[2])
#define SYSCALL_ARG3(regs) REG(regs, regs[3])
#define SYSCALL_ARG4(regs) REG(regs, regs[4])
#define SYSCALL_ARG5(regs) REG(regs, regs[5])

#else
#error "x86 and arm64 are supported"
#endif

/* Context of a perf-event program; `addr` is the faulting address. */
struct bpf_perf_event_data {
#if defined(__TARGET_ARCH_x86)
	unsigned long regs[21];
#else
	__u64 regs[34];
#endif
	__u64 sample_period;
	__u64 addr;
};
