/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs write to storage in their first threads, which do nothing else meanwhile. Knows
 * nothing of what is too much.
 */
#ifndef FAULTLINE_PROCESS_SAVES_H
#define FAULTLINE_PROCESS_SAVES_H

#include "analysis/event.h"

/* Of a process: its writes of more than 4 KiB, but for such with O_SYNC, and its syncs. */
struct process_save {
	uint32_t process;
	uint64_t writes, bytes, syncs, time_ns;
	uint32_t file; /* what most of the time in a row went to, or FILE_NONE */
};

struct process_saves {
	const struct job *job;
	struct map numbers; /* process -> where it stands */
	struct process_saving *all;
	size_t count, room;
};

void process_saves_init(struct process_saves *saves, const struct job *job);
void process_saves_free(struct process_saves *saves);
/* Takes calls that write or sync; others mean nothing to it. Returns 0 or -ENOMEM. */
int process_saves_add(struct process_saves *saves, const struct event *event);
/* False behind the last one. */
bool process_saves_view(const struct process_saves *saves, size_t number,
			struct process_save *save);

#endif
