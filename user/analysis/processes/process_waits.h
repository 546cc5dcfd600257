/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Saves and loads by process: storage I/O of a program's first thread, which blocks the program. */
#pragma once

#include "analysis/events/event.h"

enum process_waits_for {
	PROCESS_SAVES, /* writes of more than 4 KiB, but not with O_SYNC; syncs; opens that
			* truncate; closes of the file just written */
	PROCESS_LOADS, /* reads of more than THRESHOLD_SMALL_READ */
	PROCESS_WAITS,
};

struct process_wait {
	uint32_t process;
	uint64_t calls, bytes, syncs, time_ns; /* calls: without syncs */
	uint64_t class_ns[IO_CLASS_COUNT];     /* time_ns by class */
	uint64_t fetched_bytes;		       /* from storage */
	uint64_t back;	 /* calls that start before the previous end; not aggregated */
	uint64_t runs;	 /* runs of consecutive calls on one file */
	uint32_t file;	 /* file of the run that took longest, or FILE_NONE */
	uint64_t run_ns; /* ... and the time of that run */
	/* Time, start and end of the last run; 0: aggregated. */
	uint64_t last_run_ns, last_start_ns, last_end_ns;
	uint64_t first_start_ns; /* of the first run; 0: aggregated */
};

struct process_waits {
	const struct job *job;
	struct arena *arena;
	enum process_waits_for what;
	uint64_t small_bytes; /* reads and writes up to this size do not count */
	struct map numbers;   /* process -> index */
	struct process_waiting *all;
	size_t count, room;
};

void process_waits_init(struct process_waits *waits, struct arena *arena, const struct job *job,
			enum process_waits_for what);
/* Call process_waits_add instead. */
void process_waits_take(struct process_waits *waits, const struct event *event);
/* Adds a call of the right kind; ignores others. Errors are left in the arena. */
static inline void process_waits_add(struct process_waits *waits, const struct event *event)
{
	if (event->bytes > waits->small_bytes || event->class == IO_SYNC ||
	    event->flags & (EVENT_TRUNCATES | EVENT_CLOSES))
		process_waits_take(waits, event);
}

/* Returns false past the last one. */
bool process_waits_view(const struct process_waits *waits, size_t number,
			struct process_wait *wait);
