/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waits while running processes are recorded: for their end, a signal to this process, or a time.
 * Sends no signals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_target;

struct watch {
	const int *pidfds; /* ends when all of these processes, if any, have ended */
	size_t count;
	const struct cgroup_target *cgroup; /* ... or when it is empty; NULL: none */
	uint64_t max_ns;		    /* 0: no limit */
	void (*tick)(void *context);	    /* about once a second; NULL for never */
	void (*on_signal)(void *context);   /* at SIGUSR2 */
	void *context;
};

enum watch_end { WATCH_ENDED, WATCH_TIME, WATCH_SIGNAL };

/* Blocks the signals that end the wait, and SIGUSR2. Must run before any thread is created. Returns
 * 0 or a negative errno. */
int watch_prepare(void);

/* Waits. Returns an enum watch_end or a negative errno. */
int watch_wait(const struct watch *watch);
