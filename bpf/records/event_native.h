/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A copy of a thread's user stack, which the user side unwinds.
 */
#pragma once

#include "bpf/records/event_base.h"

/* Copied in pieces that do not cross a page, whatever the page size: a read fails as a whole. The
 * first piece ends at a multiple of its size, so that at least all but one of them are copied. */
#define NATIVE_PIECE_BYTES 4096
#define NATIVE_PIECES 3
#define NATIVE_STACK_BYTES (NATIVE_PIECES * NATIVE_PIECE_BYTES)

/* struct pt_regs of the kernel (x86-64), or the part of it that is struct user_pt_regs (arm64). */
#define NATIVE_REGISTERS 34
#define NATIVE_REGISTERS_X86 21

struct native_copy {
	__u64 registers[NATIVE_REGISTERS];
	__u32 end; /* of what was copied, in `stack`; 0: nothing */
	__u32 pad;
	/* From the stack pointer on, which points to the first piece: to `stack` plus the pointer's
	 * offset in a piece. */
	__u8 stack[NATIVE_STACK_BYTES];
};

EVENT_SIZE(native_copy, 280 + NATIVE_STACK_BYTES);
