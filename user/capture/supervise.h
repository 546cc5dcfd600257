/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting for the command, and handing on the signals meant for it.
 */
#ifndef FAULTLINE_SUPERVISE_H
#define FAULTLINE_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct supervision {
	pid_t pid;
	bool wait_children; /* go on until every descendant has ended */
	/* Called about once a second; NULL for never. */
	void (*tick)(void *context);
	void (*asked)(void *context); /* at SIGUSR2, which is never handed on */
	/* Called once, after so long; neither of the others is before. NULL: from the beginning. */
	void (*begin)(void *context);
	uint64_t begin_ns;
	/* Called once, after so long; from then on neither of the others is. 0: never. */
	void (*over)(void *context);
	uint64_t over_ns;
	void *context;
};

/* Blocks the signals that are handled here; to be called before any thread is made. Descendants
 * that lose their parent become ours when `adopt`. Returns 0 or a negative errno. */
int supervise_prepare(bool adopt);

/* Undoes it, but for the adoption, in a child before its exec. */
void supervise_undo(void);

/*
 * Waits. `*status` receives the command's wait status. Returns 0, 1 when a second SIGINT or SIGTERM
 * asked to end at once (the command may then still run, and *status is -1), or a negative errno.
 */
int supervise(const struct supervision *supervision, int *status);

/* As a shell tells it: the exit status, or 128+N for signal N. */
int supervise_exit_code(int status);

#endif
