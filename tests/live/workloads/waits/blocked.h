/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether a thread is blocked. */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "../live.h"

#define PAUSE_NS 2000000 /* waits of 1 ms or longer are recorded */

static inline pid_t own_tid(void)
{
	return syscall(SYS_gettid);
}

static inline void rest(void)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };

	require(!nanosleep(&pause, NULL));
}

/* Waits until a thread has no CPU and is blocked. Its status says so before it leaves the CPU; this
 * file does when it has. */
static inline void wait_until_blocked(pid_t pid, pid_t tid)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	for (;; sched_yield()) {
		int file = open(path, O_RDONLY | O_CLOEXEC);

		require(file >= 0);
		require(read(file, text, sizeof(text)) > 0);
		close(file);
		if (memcmp(text, "running", strlen("running")))
			return;
	}
}
