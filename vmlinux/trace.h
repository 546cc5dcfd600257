/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of classic tracepoints, as their `format` files in tracefs lay them out: the layout is
 * what user space relies on, so it is not relocated, but where it differs between kernels.
 */
#ifndef VMLINUX_TRACE_H
#define VMLINUX_TRACE_H

#include "types.h"

/* raw_syscalls:sys_enter (the first argument) and sys_exit (the result). */
struct trace_raw_syscall {
	__u64 common;
	long number;
	long value;
};

/* signal:signal_generate, as far as it is used. */
struct trace_signal_generate {
	__u64 common;
	int signal;
	int error;
	int code;
	char comm[16];
	int tid;
};

/* What a raw tracepoint hands over: its arguments as numbers. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* io_uring:io_uring_submit_req (submit_sqe before 6.4), as far as it is used. */
struct trace_uring_request {
	__u64 common;
	void *ring;
	void *request;
};

/* io_uring:io_uring_complete, likewise. */
struct trace_uring_complete {
	__u64 common;
	void *ring;
	void *request; /* NULL: one of many completions of a request */
	__u64 user_data;
	int result;
	__u32 flags;
};

/* exceptions:page_fault_user and page_fault_kernel, x86 only. */
struct trace_page_fault {
	__u64 common;
	unsigned long address;
	unsigned long instruction;
	unsigned long error;
};

/* writeback:balance_dirty_pages, as far as it is used: the length of what stands before differs. */
struct trace_event_raw_balance_dirty_pages {
	long pause; /* ms; not above 0: none */
} CORE_STRUCT;

#endif
