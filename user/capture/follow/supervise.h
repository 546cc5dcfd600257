/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for the command and forwards the signals meant for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct supervision {
	pid_t pid;
	bool wait_children; /* go on until every descendant has ended */
	/* Called about once a second; NULL for never. */
	void (*tick)(void *context);
	void (*on_signal)(void *context); /* at SIGUSR2, which is never forwarded */
	/* Called once after begin_ns; tick and on_signal are not called before. 0: from the
	 * beginning. */
	void (*begin)(void *context);
	uint64_t begin_ns;
	/* Called once after over_ns; tick and on_signal are not called after that. 0: never. */
	void (*over)(void *context);
	uint64_t over_ns;
	void *context;
};

/* Blocks the signals that are handled here. Must run before any thread is created. With `adopt`,
 * descendants that lose their parent become children of this process. Returns 0 or a negative
 * errno. */
int supervise_prepare(bool adopt);

/* Undoes supervise_prepare, except for the adoption, in a child before its exec. */
void supervise_undo(void);

/*
 * Waits. `*status` receives the command's wait status. Returns 0; 1 after a second SIGINT or
 * SIGTERM (*status is -1 if the command still runs); or a negative errno.
 */
int supervise(const struct supervision *supervision, int *status);

/* Returns the exit code of a shell: the exit status, or 128+N for signal N. */
int supervise_exit_code(int status);
