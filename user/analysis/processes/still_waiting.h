/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls and page faults that had not returned when the recording ended: how many, and the one in
 * flight longest.
 */
#pragma once

#include "analysis/events/path.h"

struct still_waiting {
	uint64_t calls;
	/* The longest wait: */
	uint64_t time_ns;
	struct path_argument argument; /* its path argument, if it has no file; path 0: none */
	uint32_t process, thread, file;
	uint16_t operation;
	bool fault;
	bool before; /* it began before the recording: its age is a lower bound */
};

#define STILL_WAITING_CALL (1ull << SYSCALL_FLAGS | 1ull << SYSCALL_RESULT)
#define STILL_WAITING_PATH                                                                         \
	(STILL_WAITING_CALL | 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH)

/* Whether the event is a call or a file fault that had not returned when the recording ended. */
bool still_waiting_is(const struct event *event);
/* Must be called only for events with EVENT_FAILED; the caller checks, because few events have
 * it. */
void still_waiting_add(struct still_waiting *waiting, const struct event *event);
