/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The critical path while it is followed: critical_path_walk.c; its table: critical_path.c. */
#ifndef FAULTLINE_CRITICAL_PATH_STATE_H
#define FAULTLINE_CRITICAL_PATH_STATE_H

#include "analysis/processes/critical_path.h"
#include "analysis/shared/analysis.h"
#include "base/map.h"

#define RECENT 256 /* recently found threads */

struct path_thread {
	uint32_t process, tid, trace;
	bool is_root;
	uint64_t until_ns; /* it is on the path until then */
	uint64_t last_ns;  /* its last known end */
	uint64_t time_ns;  /* on the path; of that: */
	uint64_t passed_ns, io_ns, waits_ns[THREAD_STATE_COUNT];
	uint64_t stays, first_ns; /* how often it entered the path, and for how long first */
	uint64_t all_waits_ns[THREAD_STATE_COUNT];  /* of its whole life */
	uint64_t op_end_ns, wait_end_ns;	    /* of the latest operation and wait */
	uint64_t counted_from_ns, counted_until_ns; /* of the operation, in critical_path.io_ns */
	uint32_t waker;
	uint32_t awaited_tid, awaited_pid; /* of a waker not seen yet; 0: none */
	uint32_t op_file;
	uint8_t op_class, wait_state;
};

struct critical_path {
	const struct job *job;
	struct arena *arena;
	uint32_t *root_pids; /* of processes with a main thread of the run; 0: others */
	uint32_t *launchers; /* of those above ranks that have no parent; 0: others */
	size_t process_count;
	struct path_thread *threads;
	size_t count, room;
	struct map numbers;  /* trace and tid -> the latest thread with it */
	struct map expected; /* trace and tid -> a thread that waits for one not seen yet */
	struct {
		uint64_t key;
		uint32_t number;
	} recent[RECENT];
	size_t root_count;
	uint64_t blocked_until_ns; /* until then, a main thread waits for something unknown */
	/* By class: operations on the path, asynchronous ones, and until blocked_until_ns also
	 * those off the path. Each moment counts once; `io_end_ns` is the end of what counted. */
	uint64_t io_ns[IO_CLASS_COUNT], io_end_ns[IO_CLASS_COUNT];
	uint64_t (*files)[IO_CLASS_COUNT]; /* the same by file, summed */
	size_t file_room;
	struct path_stack *stacks;
	size_t stack_count, stack_room;
	struct map stack_numbers;
	/* Made at the end: */
	struct path_share *shares;
	size_t share_count;
	uint64_t whole_ns;
};

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void critical_path_begin(void *state, const struct job *job, struct arena *arena);
int critical_path_events(void *state, const struct event *events, size_t count);
#define CRITICAL_PATH_WAIT_COLUMNS                                                                 \
	(1ull << WAIT_STATE | 1ull << WAIT_WAKER_PID | 1ull << WAIT_WAKER_TID)
#define CRITICAL_PATH_SAMPLE_COLUMNS                                                               \
	(1ull << SAMPLE_STACK | 1ull << SAMPLE_FLAGS | 1ull << SAMPLE_WEIGHT | 1ull << SAMPLE_STATE)

#endif
