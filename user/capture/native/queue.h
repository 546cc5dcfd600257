/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that the tracer shares with the process that unwinds: a queue of requests, answered in
 * order and in place, and the frames that answers name. The tracer checks all that it reads: what
 * the other process has parsed may have taken it over.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "bpf/records/event.h"

#define UNWIND_SLOTS 1024     /* a power of two */
#define UNWIND_FRAMES_MAX 128 /* of one stack: the innermost ones */

#define NATIVE_FRAMES_MAX (1u << 18)  /* that are known */
#define NATIVE_TEXT_BYTES (64u << 20) /* of their names */
#define NATIVE_NAME_BYTES 512

enum unwind_kind {
	UNWIND_STACK,  /* unwind a copy */
	UNWIND_EXEC,   /* the process executes another program */
	UNWIND_FORK,   /* `parent` has created the process */
	UNWIND_CODE,   /* the process has mapped code */
	UNWIND_MISSED, /* some of these did not fit: what is known of processes may be wrong */
};

enum unwind_status {
	UNWIND_WHOLE,
	UNWIND_CUT,    /* the copy ends before the stack does, or too many frames */
	UNWIND_FAILED, /* the frames found end for another reason */
};

struct unwind_slot {
	uint32_t kind, pid, tid, parent;
	uint64_t time_ns;
	struct native_copy copy;
	/* The answer, for UNWIND_STACK: */
	uint32_t status, count;
	uint32_t frames[UNWIND_FRAMES_MAX]; /* ids from 1, the innermost first; 0: unknown */
};

#define NATIVE_FRAME_EVAL (1u << 0)	   /* the interpreter's function that runs code of Python */
#define NATIVE_FRAME_INTERPRETER (1u << 1) /* of the same file as that function */

/* Offsets and lengths are in `text`. */
struct native_frame {
	uint32_t path, path_bytes;
	uint32_t function, function_bytes;
	uint32_t flags; /* NATIVE_FRAME_* */
};

struct unwind_queue {
	_Atomic uint32_t given;	      /* requests, counted up forever; written by the tracer */
	_Atomic uint32_t done;	      /* written by the other side */
	_Atomic uint32_t over;	      /* the other side has given up */
	_Atomic uint32_t frame_count; /* written by the other side, as is what follows */
	_Atomic uint32_t text_bytes;
	struct unwind_slot slots[UNWIND_SLOTS];
	struct native_frame frames[NATIVE_FRAMES_MAX];
	char text[NATIVE_TEXT_BYTES];
};
