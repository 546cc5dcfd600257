/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How a program that carries markers is not missed: it asks its tracer to listen, and waits for its
 * word. Whoever carries probes of provider "faultline" without our library may do the same.
 *
 * FAULTLINE_RUN in the environment names the tracers of the process, the outermost first, with a
 * semicolon between two. Each is NAME@NETNS:
 *	NAME	a listening Unix socket of type SOCK_SEQPACKET in the abstract namespace
 *	NETNS	the inode number of the network namespace that the name belongs to
 * The address is inherited, not a descriptor: programs may close or count theirs.
 *
 * The program connects to each, sends one struct tracer_ask and receives one struct tracer_answer.
 * The tracer knows by the socket who asks. It looks for the file that is mapped at `address`,
 * attaches to the markers in it, and answers when each of them is listened to: the first span
 * after the answer is recorded. A semaphore says less, for another tracer may have raised it.
 *
 *	no answer, connection closed	the tracer has gone, or knows no such process: go on
 *	connection refused		it has gone: go on; but see below
 *	no answer for TRACER_ANSWER_MS	go on; the tracer counts what it may have missed
 *
 * Where the tracer cannot be reached at all (the name belongs to another network namespace, or an
 * entry is none: "1" of a tracer that has no socket), the program waits for its semaphores to be
 * raised, for TRACER_RAISE_MS at most.
 */
#ifndef FAULTLINE_SPAN_TRACER_H
#define FAULTLINE_SPAN_TRACER_H

#include <stdint.h>

#define TRACER_VARIABLE "FAULTLINE_RUN"
#define TRACER_NAME_BYTES 64 /* of a NAME, with a NUL */
#define TRACER_MOST 8	     /* tracers around each other that are asked */
#define TRACER_ANSWER_MS 20000
#define TRACER_RAISE_MS 500

#define TRACER_MAGIC 0x316b7361u /* "ask1" */

struct tracer_ask {
	uint32_t magic;
	uint32_t bytes;	  /* of this structure: it may grow */
	uint64_t address; /* of code in the file that carries the markers, as the process sees it */
};

struct tracer_answer {
	uint32_t magic;
	int32_t status; /* 0: listening; else a negative errno: it never will */
};

#endif
