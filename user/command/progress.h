/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How far a longer task is, as one line on stderr that goes away when it is done: only on a
 * terminal, only after a second, and not with --quiet. Knows nothing of the task.
 */
#ifndef FAULTLINE_PROGRESS_H
#define FAULTLINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_line {
	const char *what; /* "reading", "printing" */
	bool on;
	bool shown;
	uint64_t next_ns;
};

void progress_start(struct progress_line *progress, const char *what);
/* `progress` is a struct progress_line *: fits the callbacks of report_make and walk_run. */
void progress_update(void *progress, double done);
/* Takes the line away. */
void progress_end(struct progress_line *progress);

#endif
