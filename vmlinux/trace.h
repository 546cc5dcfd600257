/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of classic tracepoints, as far as they are used. What stands before the fields is longer
 * where PREEMPT_RT was a set of patches: it has a count of lazy preemption, too.
 */
#ifndef VMLINUX_TRACE_H
#define VMLINUX_TRACE_H

#include "types.h"

struct trace_event_raw_sys_enter {
	long id;
} CORE_STRUCT;

struct trace_event_raw_sys_exit {
	long ret;
} CORE_STRUCT;

struct trace_event_raw_signal_generate {
	int sig;
	int pid; /* of the thread that gets it */
} CORE_STRUCT;

/* What a raw tracepoint hands over: its arguments as numbers. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

struct trace_event_raw_io_uring_submit_req {
	void *req;
} CORE_STRUCT;

/* The same before 6.4. */
struct trace_event_raw_io_uring_submit_sqe {
	void *req;
} CORE_STRUCT;

struct trace_event_raw_io_uring_complete {
	void *ctx;
	void *req; /* NULL: one of many completions of a request */
	__u64 user_data;
	int res;
	__u32 cflags;
} CORE_STRUCT;

/* page_fault_user and page_fault_kernel, x86 only. */
struct trace_event_raw_exceptions {
	unsigned long address;
	unsigned long error_code;
} CORE_STRUCT;

/* The same in older kernels. */
struct trace_event_raw_x86_exceptions {
	unsigned long address;
	unsigned long error_code;
} CORE_STRUCT;

struct trace_event_raw_balance_dirty_pages {
	long pause; /* ms; not above 0: none */
} CORE_STRUCT;

#endif
