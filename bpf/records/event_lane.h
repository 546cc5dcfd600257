/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared mapped memory for the most frequent records.
 */
#pragma once

#include "bpf/records/event_base.h"

/*
 * CPU buffers (lanes): slots of one size for the most frequent records. Records of a CPU buffer are
 * numbered from 0; record n goes to slot n modulo the number of slots. A slot's `ready` is n + 1
 * once it holds record n.
 *
 * A slot is one cache line, which moves from the CPU that writes it to the CPU that reads it. `op`
 * gives the type of its record. Calls that do not fit (long duration, faults inside the call) go
 * through the ring as event_syscall.
 */
struct lane_call {
	__u64 time_ns;
	__s64 offset;
	__s64 result;
	__u32 asked_bytes;
	__u32 open_file;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 duration_ns;
	__u16 op;
	__u16 flags; /* TRACE_OP_* */
	__u16 fetched_pages;
	__u16 created_pages;
};

struct lane_fault {
	__u64 time_ns;
	__u64 offset;
	__u64 duration_ns;
	__u32 dirtied_pages;
	__u32 pad;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 flags; /* TRACE_FAULT_* */
	__u16 op;    /* OP_FAULT */
	__u16 pad2;
	__u32 fetched_pages;
};

struct lane_slot {
	__u64 ready;
	union {
		struct lane_call call;
		struct lane_fault fault;
	};
};

/* One cache line per writing side. */
struct lane_control {
	__u64 given; /* next number; written by the kernel side */
	__u64 pad[7];
	__u64 taken; /* first number not consumed yet; written by the user side */
	__u64 pad2[7];
};

#define FLIGHT_CHOSEN_MAX 65536 /* processes whose events a flight recorder keeps, unless all */

/* The first slow operation since the reader last looked. */
enum flight_slow_state { FLIGHT_SLOW_NONE, FLIGHT_SLOW_FILLING, FLIGHT_SLOW_READY };

struct flight_slow {
	__u64 state; /* enum flight_slow_state; reset by the reader */
	__u64 start_ns;
	__u64 duration_ns;
	__u32 pid;
	__u32 file;
	__u32 op;
	__u32 pad;
	char comm[EVENT_COMM_BYTES]; /* the process; "": another one ended the operation */
};

_Static_assert(__builtin_offsetof(struct lane_call, op) ==
		       __builtin_offsetof(struct lane_fault, op),
	       "op distinguishes them");
EVENT_SIZE(lane_call, 56);
EVENT_SIZE(lane_fault, 56);
EVENT_SIZE(lane_slot, 64);
EVENT_SIZE(lane_control, 128);
EVENT_SIZE(flight_slow, 56);
