/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs write to storage, or read from it, in their first threads, which do nothing else
 * meanwhile. Knows nothing of what is too much.
 */
#ifndef FAULTLINE_PROCESS_WAITS_H
#define FAULTLINE_PROCESS_WAITS_H

#include "analysis/model/event.h"

enum process_waits_for {
	PROCESS_SAVES, /* writes of more than 4 KiB, but for such with O_SYNC, and syncs */
	PROCESS_LOADS, /* reads of more than THRESHOLD_SMALL_READ */
	PROCESS_WAITS,
};

struct process_wait {
	uint32_t process;
	uint64_t calls, bytes, syncs, time_ns; /* calls: that are no syncs */
	uint64_t fetched_bytes;		       /* from storage */
	uint64_t back;	 /* calls that lie before the end of the one before, on the same file; those
			  * that were summed up are none */
	uint64_t rows;	 /* of calls on the same file one after the other */
	uint32_t file;	 /* what most of the time in a row went to, or FILE_NONE */
	uint64_t row_ns; /* ... and that time */
};

struct process_waits {
	const struct job *job;
	enum process_waits_for what;
	uint64_t small_bytes; /* reads and writes of no more are none */
	struct map numbers;   /* process -> where it stands */
	struct process_waiting *all;
	size_t count, room;
};

void process_waits_init(struct process_waits *waits, const struct job *job,
			enum process_waits_for what);
void process_waits_free(struct process_waits *waits);
/* Use process_waits_add. */
int process_waits_take(struct process_waits *waits, const struct event *event);
/* Takes calls of the kind; others mean nothing to it. Returns 0 or -ENOMEM. */
static inline int process_waits_add(struct process_waits *waits, const struct event *event)
{
	return event->bytes <= waits->small_bytes && event->class != IO_SYNC
		       ? 0
		       : process_waits_take(waits, event);
}

/* False behind the last one. */
bool process_waits_view(const struct process_waits *waits, size_t number,
			struct process_wait *wait);

#endif
