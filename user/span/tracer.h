/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How a program with markers is not missed: it asks its tracer to listen, and waits for the answer.
 * Programs with probes of provider "faultline", but without our library, may do the same.
 *
 * FAULTLINE_RUN in the environment names the tracers of the process, the outermost first, separated
 * by semicolons. Each is NAME@NETNS:
 *	NAME	a listening Unix socket of type SOCK_SEQPACKET in the abstract namespace
 *	NETNS	the inode number of the network namespace that the name belongs to
 * The address is inherited, not a descriptor: programs may close or count theirs.
 *
 * The program connects to each, sends one struct tracer_ask and receives one struct tracer_answer.
 * The tracer identifies the process by the socket. It finds the file that is mapped at `address`,
 * attaches to the markers in it, and answers when it listens to all of them: the first span after
 * the answer is recorded. A semaphore proves less, because another tracer may have raised it.
 *
 *	no answer, connection closed	the tracer has gone, or knows no such process: go on
 *	connection refused		it has gone: go on; but see below
 *	no answer for TRACER_ANSWER_MS	go on; the tracer counts what it may have missed
 *
 * If the tracer cannot be reached at all (the name belongs to another network namespace, or the
 * entry is not an address: "1" for a tracer without a socket), the program waits for its semaphores
 * to be raised, for TRACER_RAISE_MS at most.
 */
#ifndef FAULTLINE_SPAN_TRACER_H
#define FAULTLINE_SPAN_TRACER_H

#include <stdint.h>

#define TRACER_VARIABLE "FAULTLINE_RUN"
#define TRACER_NAME_BYTES 64 /* of a NAME, NUL included */
#define TRACER_MOST 8	     /* nested tracers that are asked */
#define TRACER_ANSWER_MS 20000
#define TRACER_RAISE_MS 500

#define TRACER_MAGIC 0x316b7361u /* "ask1" */

struct tracer_ask {
	uint32_t magic;
	uint32_t bytes;	  /* size of this structure, which may grow */
	uint64_t address; /* of code in the file with the markers, as the process sees it */
};

struct tracer_answer {
	uint32_t magic;
	int32_t status; /* 0: listening; else a negative errno: it never will */
};

#endif
