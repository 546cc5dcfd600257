/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Intervals of threads that an end of the chosen range cuts: what of their times is inside. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/processes/threads.h"

struct thread_cut {
	uint32_t thread; /* as given */
	uint64_t start_ns, end_ns;
	struct thread_times times; /* of the interval; after thread_cuts_finish, the part inside */
	/* By its waits that have rows: all, and the part inside. */
	uint64_t waited_ns[THREAD_STATE_COUNT], inside_ns[THREAD_STATE_COUNT];
};

/* Errors are left in the arena. */
struct thread_cuts {
	const struct job *job;
	struct arena *arena;
	struct thread_cut *all;
	size_t count, room;
	struct map numbers; /* trace and tid, whether it is the start that is cut -> index in all */
};

void thread_cuts_init(struct thread_cuts *cuts, struct arena *arena, const struct job *job);
/* Takes an interval with its times, for the caller's number of a thread. Returns false if there are
 * too many; then `times` are reduced to what is inside, as if spread evenly. */
bool thread_cuts_add(struct thread_cuts *cuts, const struct event *event, uint32_t thread,
		     struct thread_times *times);
/* Reduces the times to what is inside: waits that have rows are known, the rest is spread evenly.
 * Returns 0 or -ENOMEM. */
int thread_cuts_finish(struct thread_cuts *cuts);
