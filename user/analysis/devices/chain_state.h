/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* State of a chain, shared only by chain*.c. */
#pragma once

#include "analysis/devices/chain.h"
#include "collections/longest.h"
#include "collections/map.h"

struct thread;

/* A recently used thread, indexed by the low bits of process and thread. */
#define LATELY 256
struct found_thread {
	uint32_t process, thread;
	struct thread *is; /* NULL: no such thread */
};

struct chain {
	const struct job *job;
	struct arena *arena;
	struct map numbers; /* process, tid -> thread */
	struct thread **threads;
	size_t thread_count, thread_room;
	struct found_thread lately[LATELY];
	struct thread *listed; /* threads with latest operations */
	uint64_t overflow;     /* bios of threads beyond THREADS_MAX */
	uint64_t remote_requests;
	bool queue_unknown; /* of some of these */
	struct chain_time *files, *labels, names;
	size_t file_room, label_room;
	struct chain_replacing *replacing; /* by operation */
	size_t replacing_room;
	struct chain_pieces *pieces; /* by file */
	size_t piece_room;
	struct chain_late *late; /* by file */
	size_t late_room;
	struct chain_operation *slowest; /* a heap: the fastest of them first */
	size_t slowest_count;
	struct longest_choice choice; /* of files with a row, by time */
};

/* Callbacks of an analysis. */
void chain_begin(void *state, const struct job *job, struct arena *arena);
int chain_add_events(void *state, const struct event *events, size_t count);
/* Completes the operations that ended before `time_ns`: every event that started before then has
 * been passed, so their bios are all known. Returns 0 or -ENOMEM. */
int chain_settle_until(void *state, uint64_t time_ns);

/* For struct sampled: the entries of a list of times that have operations, and the values of
 * one. */
void chain_times_numbers(const struct chain_time *times, size_t room, uint64_t *numbers,
			 size_t count);
void chain_times_at(const struct chain_time *times, size_t room, uint64_t number,
		    uint64_t values[SAMPLED_MAX]);
/* Members that all these lists share. */
#define CHAIN_SAMPLED                                                                              \
	.columns = { "time_ns", "device_ns", "queue_ns", "other_ns", "count", "bios", "bytes" },   \
	.state_bytes = sizeof(struct chain), .begin = chain_begin,                                 \
	.consumer = &analysis_latency_breakdown.consumer, .settle = chain_settle_until,            \
	.filled = &analysis_latency_breakdown
