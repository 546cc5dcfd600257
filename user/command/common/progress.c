/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A line of progress on stderr. */
#include "command/common/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/base/style.h"

#define FIRST_NS 1000000000
#define AGAIN_NS 200000000

void progress_start(struct progress_line *progress, const char *what)
{
	*progress = (struct progress_line) {
		.what = what,
		.on = style_escapes(STDERR_FILENO) && log_get_level() >= LOG_INFO,
		.next_ns = clock_now_ns(CLOCK_MONOTONIC) + FIRST_NS,
	};
}

void progress_update(void *context, double done)
{
	struct progress_line *progress = context;
	uint64_t now;

	if (!progress->on)
		return;
	now = clock_now_ns(CLOCK_MONOTONIC);
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + AGAIN_NS;
	progress->shown = true;
	dprintf(STDERR_FILENO, "\r%s %.0f%%\033[K", progress->what, done * 100);
}

void progress_end(struct progress_line *progress)
{
	if (progress->shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	progress->on = false;
	progress->shown = false;
}
