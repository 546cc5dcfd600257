/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Unwinds copies of stacks in a process of its own: it parses files of other users, which may be
 * hostile, and takes longer than the thread that drains the buffers can wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/native/queue.h"

struct unwinder;

/* Whether this program was built with libdw. */
bool unwinder_is_built(void);

/* Starts the process. The caller must not have other threads. Returns 0 or a negative errno. */
int unwinder_start(struct unwinder **unwinder);
/* Kills the process; NULL is fine. */
void unwinder_stop(struct unwinder *unwinder);

/* Reports a process in the order of events, or code that it has mapped: see enum unwind_kind. If
 * that does not fit into the queue, all processes are inspected again later. */
void unwinder_note(struct unwinder *unwinder, enum unwind_kind kind, uint32_t pid, uint32_t parent,
		   uint64_t time_ns);
/* Requests a stack to be unwound. Returns false if the queue is full, or the process has ended. */
bool unwinder_ask(struct unwinder *unwinder, uint32_t pid, uint32_t tid,
		  const struct native_copy *copy);

/* Whether no more answers will come than there are. */
bool unwinder_has_ended(struct unwinder *unwinder);

/* An answer, with counts that are within their limits. */
struct unwound {
	enum unwind_status status;
	uint32_t count;
	uint32_t frames[UNWIND_FRAMES_MAX];
};

/* Takes the answer to the oldest request. Returns false if there is none yet, or none at all. */
bool unwinder_take(struct unwinder *unwinder, struct unwound *unwound);
/* Waits until there is an answer, at most until `end_ns` (0: not at all). Returns whether there is
 * one. */
bool unwinder_wait(struct unwinder *unwinder, uint64_t end_ns);

/* Texts are valid until unwinder_stop, and hostile. */
struct native_name {
	const char *path, *function;
	size_t path_bytes, function_bytes;
	uint32_t flags; /* NATIVE_FRAME_* */
};

/* Returns false if there is no such frame. */
bool unwinder_name(const struct unwinder *unwinder, uint32_t frame, struct native_name *name);
