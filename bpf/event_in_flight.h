/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows that the iterator over operations in flight writes.
 */
#ifndef FAULTLINE_EVENT_IN_FLIGHT_H
#define FAULTLINE_EVENT_IN_FLIGHT_H

#include "event_base.h"

#define IN_FLIGHT_PATH_BYTES 256

#define IN_FLIGHT_BEFORE (1u << 0) /* it was in flight before the recording */
#define IN_FLIGHT_KEPT (1u << 1)   /* the flight recorder is to know what the process does */

/* A call, or a fault on a file, that a task is in, and has been for a while. */
struct event_in_flight {
	__u64 start_ns; /* CLOCK_MONOTONIC; when recording began, if it was in flight by then */
	__u64 process_start_ns;
	__u32 pid, tid;
	__u32 file; /* its id; 0: none, or not known */
	__u16 op;
	__u16 flags;			 /* IN_FLIGHT_* */
	char path[IN_FLIGHT_PATH_BYTES]; /* that the call was given, where that is all there is; its
					  * end is cut off where it is longer */
};

EVENT_SIZE(event_in_flight, 32 + IN_FLIGHT_PATH_BYTES);

#endif
