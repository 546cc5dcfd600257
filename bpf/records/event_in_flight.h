/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows that the iterators over operations in flight and threads write. Included by event.h.
 */
#pragma once

/* Lets the user side find a blocked thread, and check that it has not run before its stack is
 * read. */
struct blocked_thread {
	__u64 thread_pointer; /* 0: unknown */
	__u32 tid_inside;     /* in its own PID namespace; 0: unknown */
	__u32 runs;	      /* how often it was on a CPU, or SAMPLE_RUNS_UNKNOWN */
};

EVENT_SIZE(blocked_thread, 16);

#define IN_FLIGHT_PATH_BYTES 256

/* Asynchronous operations of a process that have a row each; one more row stands for the rest. All
 * rows of a process are written in one visit, and must fit into the 32 KiB that it may write. */
#define IN_FLIGHT_ASYNC_MAX 64

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
	__u16 flags; /* IN_FLIGHT_* */
	__u32 count; /* operations that the row stands for; it describes the oldest of them */
	__u32 pad;
	struct blocked_thread blocked;
	char path[IN_FLIGHT_PATH_BYTES]; /* path argument, if it is all that is known; may be cut */
};

EVENT_SIZE(event_in_flight, 56 + IN_FLIGHT_PATH_BYTES);

/* A thread, as the records that it would send now. Their headers have times and ids only. */
struct event_thread_now {
	struct event_thread_time time; /* since its last record; time_ns 0: it was being changed */
	struct event_wait wait;	       /* up to now; duration_ns 0: none that is an event, only its
					* start and state are set */
	struct blocked_thread blocked; /* of the wait, if it takes 1 ms or more so far */
	__u64 process_start_ns;
	__u64 now_ns;
	__u32 flags; /* IN_FLIGHT_KEPT */
	__u32 pad;
};

EVENT_SIZE(event_thread_now, 256);
