/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How system calls block threads.
 */
#pragma once

#include "bpf/records/event_base.h"
#include "user/trace/format/thread_states.h"

#define WAIT_CALL_COUNT 512 /* system call numbers; a power of two */

/* Values besides the states. */
enum {
	/* The call that the thread last waited in goes on after a signal. */
	THREAD_RESTARTED = THREAD_STATE_COUNT,
	/* The number of descriptors decides, which is this argument. */
	THREAD_BY_FIRST,
	THREAD_BY_SECOND,
	/* The descriptor that is the first argument decides, or is unknown; for ioctl, too, which
	 * waits for the driver behind an anonymous file. */
	THREAD_BY_FILE,
	THREAD_BY_DRIVER,
};

/* A system call, by its number. */
struct wait_call {
	__u16 wakes; /* mask of enum thread_state: what waits of other threads it may end */
	__u8 state;  /* enum thread_state of a thread blocked in it, or a value above; 0: unknown */
	__u8 on;     /* WAIT_ON_*: what its first argument is */
};

enum {
	WAIT_ON_NOTHING, /* of interest; for a lock: its address or id */
	WAIT_ON_DESCRIPTOR,
	WAIT_ON_FUTEX, /* and the second argument is the operation */
	WAIT_ON_PID,   /* of a child; 0 or less: any, or any of a group */
	WAIT_ON_ID,    /* the kind of the second argument, which is a child's PID if P_PID */
};

/* A wait of at least this long is an event. */
#define WAIT_MIN_NS 1000000
/* Sums of times are sent once a second, when the thread leaves its CPU. */
#define THREAD_SEND_NS 1000000000

EVENT_SIZE(wait_call, 4);
