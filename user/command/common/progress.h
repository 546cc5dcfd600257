/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Progress of a longer task, as a line on stderr that is removed at the end: only on a terminal,
 * only after a second, and not with --quiet.
 */
#pragma once

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
/* Removes the line. */
void progress_end(struct progress_line *progress);
