/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The arguments of a system call, and the table row that gives their meaning.
 */
#pragma once

#include "fault/fault.h"
#include "core/task_regs.h"

#define AT_FDCWD (-100)
#define MAP_SHARED_OR_VALIDATE 0x3 /* MAP_SHARED 1, MAP_PRIVATE 2, MAP_SHARED_VALIDATE 3 */
#define MAP_PRIVATE 0x2
#define MAP_ANONYMOUS 0x20
#define MAP_POPULATE 0x8000
#define PROT_WRITE 0x2
#define PROT_EXEC 0x4
#define ADVICE_COMMON_END 6 /* advice below this has the same numbers in fadvise and madvise */
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#define LOCK_NB 4
#define LOCK_UN 8
#define F_UNLCK 2
#define EINTR 4
#define EBADF 9
#define ERESTART_FIRST 512 /* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND */
#define ERESTART_COUNT 3
#define IORING_SETUP_SQPOLL 0x2
#define IORING_PARAMS_FLAGS 8 /* offset of flags in struct io_uring_params */

struct user_iovec {
	__u64 base, length;
};

static __always_inline struct call_row call_row(__u32 number)
{
	return *(const struct call_row *)&calls[number & (CALL_TABLE_SIZE - 1)];
}

/* The arguments by number, counted from 1, for the functions that handle any call. */
struct call_args {
	__u64 at[8];
};

/* In a frame of its own if reads are calls. */
#ifdef FAULTLINE_PROBE_READ
static __noinline
#else
static __always_inline
#endif
	int
	call_args_read(struct call_args *args, struct pt_regs *regs)
{
	*args = (struct call_args) { { 0, SYSCALL_ARG0(regs), SYSCALL_ARG1(regs),
				       SYSCALL_ARG2(regs), SYSCALL_ARG3(regs), SYSCALL_ARG4(regs),
				       SYSCALL_ARG5(regs) } };
	return 0;
}

static __always_inline __u64 call_arg(const struct call_args *args, __u32 number)
{
	return args->at[number & 7];
}

/* Returns the index of a request's row, counted from 1; 0: none. */
__noinline __u32 request_find(__u32 number, __u32 request)
{
	for (__u32 i = 0; i < CALL_REQUESTS; i++)
		if (requests[i].number == number && requests[i].request == request)
			return i + 1;
	return 0;
}

/* Returns the row of a multiplexed call, selected by its request argument; op is 0 if that request
 * is not recorded. */
static __always_inline struct call_row request_row(struct call_row row, __u32 number,
						   const struct call_args *args)
{
	__u32 request = call_arg(args, row.request), found;

	if (row.traits & CALL_RING) {
		__u32 flags = 0;

		bpf_probe_read_user(&flags, sizeof(flags),
				    (void *)call_arg(args, row.request) + IORING_PARAMS_FLAGS);
		request = flags & IORING_SETUP_SQPOLL;
	}
	row.op = 0;
	found = request_find(number, request) - 1;
	if (found < CALL_REQUESTS)
		row = *(const struct call_row *)&requests[found].row;
	return row;
}

static __always_inline bool call_is_compat(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	return task->thread_info.status & X86_TS_COMPAT;
#else
	return task->thread_info.flags & ARM64_TIF_32BIT;
#endif
}

/* TRACE_OP_* for an advice to fadvise or madvise. */
static __always_inline __u32 advice_flags(__u32 advice, bool of_mapping)
{
	if (advice < ADVICE_COMMON_END)
		return TRACE_OP_ADVISED << advice;
	if (!of_mapping)
		return TRACE_OP_OTHER_ADVICE;
	if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE)
		return TRACE_OP_POPULATE;
	return advice == MADV_COLD	? TRACE_OP_COLD
	       : advice == MADV_PAGEOUT ? TRACE_OP_PAGEOUT
					: TRACE_OP_OTHER_ADVICE;
}

/* TRACE_OP_* for the request in a struct flock; 0 if it cannot be read. */
__noinline __u32 lock_flags(__u64 address)
{
	__s16 type; /* first member of struct flock */

	if (bpf_probe_read_user(&type, sizeof(type), (void *)address))
		return 0;
	return type == F_UNLCK ? TRACE_OP_NOWAIT : 0;
}

struct vector_sum {
	__u64 address, bytes;
};

static long vector_step(__u32 i, struct vector_sum *sum)
{
	struct user_iovec entry;

	if (bpf_probe_read_user(&entry, sizeof(entry), (void *)(sum->address + i * sizeof(entry))))
		return 1;
	sum->bytes += entry.length;
	return 0;
}
LOOP_STEP(vector_step)

static __noinline __u64 vector_bytes(__u64 address, __u32 count)
{
	struct vector_sum sum = { .address = address };

	LOOP(count > 1024 ? 1024 : count, vector_step, &sum);
	return sum.bytes;
}
