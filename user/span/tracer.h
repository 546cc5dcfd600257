/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The protocol by which a program with markers asks its tracer to listen and waits for the answer,
 * so that no span is missed. Programs with probes of provider "faultline" but without our library
 * may use it, too.
 *
 * The environment variable FAULTLINE_RUN names the tracers of the process, outermost first,
 * separated by semicolons. Each is NAME@NETNS:
 *	NAME	a listening Unix socket of type SOCK_SEQPACKET in the abstract namespace
 *	NETNS	the inode number of the name's network namespace
 * An address is inherited rather than a descriptor, because programs may close or count those.
 *
 * The program connects to each, sends one struct tracer_ask and receives one struct tracer_answer.
 * The tracer identifies the process by the socket. It finds the file that is mapped at `address`,
 * attaches to the markers in it, and answers when it listens to all of them: the first span after
 * the answer is recorded. A semaphore does not prove that: another tracer may have raised it.
 *
 *	no answer, connection closed	the tracer has exited or ignores the process: continue
 *	connection refused		the tracer has exited: continue; but see below
 *	no answer for TRACER_ANSWER_MS	continue; the tracer counts what it may have missed
 *
 * If the tracer cannot be reached at all (the name belongs to another network namespace, or the
 * entry is not an address: "1" for a tracer without a socket), the program waits for its semaphores
 * to be raised, for TRACER_RAISE_MS at most.
 */
#pragma once

#include <stdint.h>

#define TRACER_VARIABLE "FAULTLINE_RUN"
#define TRACER_NAME_BYTES 64 /* size of a NAME, NUL included */
#define TRACER_MAX 8	     /* nested tracers that are asked */
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
	int32_t status; /* 0: listening; negative errno: will never listen */
};
