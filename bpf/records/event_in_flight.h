/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows that the iterator over operations in flight writes.
 */
#ifndef FAULTLINE_EVENT_IN_FLIGHT_H
#define FAULTLINE_EVENT_IN_FLIGHT_H

#include "bpf/records/event_base.h"

#define IN_FLIGHT_PATH_BYTES 256

#define IN_FLIGHT_BEFORE (1u << 0) /* already in flight when recording began */
#define IN_FLIGHT_KEPT (1u << 1)   /* the flight recorder keeps events of the process */
#define IN_FLIGHT_ASYNC (1u << 2)  /* no thread waits in it; `tid` submitted it */

/* A call, file fault or asynchronous operation that has been in flight for some time. */
struct event_in_flight {
	__u64 start_ns; /* CLOCK_MONOTONIC; the start of recording for IN_FLIGHT_BEFORE */
	__u64 process_start_ns;
	__u32 pid, tid;
	__u32 file; /* id; 0: none or unknown */
	__u16 op;
	__u16 flags;			 /* IN_FLIGHT_* */
	char path[IN_FLIGHT_PATH_BYTES]; /* path argument, if it is all that is known; may be cut */
};

EVENT_SIZE(event_in_flight, 32 + IN_FLIGHT_PATH_BYTES);

#endif
