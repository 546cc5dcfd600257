/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of classic tracepoints; only the fields in use. The header before the fields is longer on
 * kernels with the PREEMPT_RT patches, which add a lazy preemption count.
 */
#pragma once

#include "types.h"

struct trace_event_raw_sys_enter {
	long id;
} CORE_STRUCT;

struct trace_event_raw_sys_exit {
	long ret;
} CORE_STRUCT;

struct trace_event_raw_signal_generate {
	int sig;
	int pid; /* of the receiving thread */
} CORE_STRUCT;

/* Context of a raw tracepoint: its arguments as numbers. */
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
	void *req; /* since 5.18; NULL: one of several completions of a request */
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
	long pause; /* ms; 0 or less: no pause */
} CORE_STRUCT;
