/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of a chain, for what finds it and what tells it: chain*.c alone.
 */
#ifndef FAULTLINE_CHAIN_STATE_H
#define FAULTLINE_CHAIN_STATE_H

#include "analysis/chain.h"
#include "analysis/base/map.h"

struct thread;

/* A thread that was looked for lately, by the low bits of both. */
#define LATELY 256
struct found_thread {
	uint32_t process, thread;
	struct thread *is; /* NULL: none was */
};

struct chain {
	const struct job *job;
	struct map numbers; /* process, tid -> thread */
	struct thread **threads;
	size_t thread_count, thread_room;
	struct found_thread lately[LATELY];
	struct thread *listed; /* those with latest operations */
	uint64_t beyond;       /* bios of threads that there was no room for */
	struct chain_time *files, *labels, names;
	size_t file_room, label_room;
	struct chain_pieces *pieces; /* by file */
	size_t piece_room;
	struct chain_late *late; /* by file */
	size_t late_room;
	struct chain_operation *slowest; /* a heap: the least slow one first */
	size_t slowest_count;
};

/* As of an analysis. */
int chain_begin(const struct job *job, void **state);
int chain_add_events(void *state, const struct event *events, size_t count);
void chain_end(void *state);
/* Operations that ended before a moment are over: what they waited for is known, as all that began
 * before it was told. Returns 0 or -ENOMEM. */
int chain_settle_until(void *state, uint64_t time_ns);

/* Of a list of times those that have operations, and the numbers of one (struct sampled). */
void chain_times_numbers(const struct chain_time *times, size_t room, uint64_t *numbers,
			 size_t count);
void chain_times_at(const struct chain_time *times, size_t room, uint64_t number,
		    uint64_t values[SAMPLED_MOST]);
/* What is the same of all such lists. */
#define CHAIN_SAMPLED                                                                              \
	.columns = { "time_ns", "device_ns", "queue_ns", "other_ns", "count", "bios", "bytes" },   \
	.begin = chain_begin, .passing = &analysis_latency_breakdown.passing, .end = chain_end,    \
	.settle = chain_settle_until, .filled = &analysis_latency_breakdown

#endif
