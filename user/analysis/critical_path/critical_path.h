/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The critical path: what the main threads of the run did or waited for, at every moment. While one
 * of them waits for a thread of the run (a worker that writes to its pipe, the holder of a lock, a
 * child), the path is what that thread does, and so on; so I/O that no main thread waits for is not
 * on it.
 */
#pragma once

#include "analysis/events/io_class.h"
#include "analysis/processes/threads.h"
#include "collections/map.h"

struct results;

/* How a thread on the path spends its time: by its state, but all time in I/O operations, on a CPU
 * or blocked, is one part, and it is not blocked while it waits for a thread of the run. */
#define PATH_IO THREAD_STORAGE

struct path_share {
	uint32_t process, tid;
	uint64_t time_ns; /* the parts add up to it */
	uint64_t parts[THREAD_STATE_COUNT];
	uint64_t io_runnable_ns; /* the part of PATH_IO in which it waited for a CPU */
	/* Time to get ready: by how much its first stay on the path exceeds the average of the
	 * later ones. 0 if there is only one, which may be work as well. */
	uint64_t ready_ns;
	uint64_t joined_ns; /* the part of time_ns in which others waited for it to end */
	bool is_once;	    /* it was on the path only once, or once more while it ended */
};

/* Returns the key of a thread, for maps. */
static inline uint64_t path_thread_key(uint32_t process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

/* Returns the threads on the path, those with most of it first; `whole_ns`: the lifetimes of the
 * `roots` main threads, which the threads' times add up to. Main threads are those of processes
 * with a rank whose parent has none, or another; without ranks, those of processes without a
 * parent. NULL and 0: the path is unknown. To be called in conclude(), after the table is made. */
const struct path_share *critical_path_threads(const struct results *results, size_t *count,
					       uint64_t *whole_ns, uint64_t *roots);

/* Adds to `numbers`, a map with keys and values of one word: path_thread_key -> number in `shares`.
 * Returns 0 or -ENOMEM. */
int critical_path_number(struct map *numbers, const struct path_share *shares, size_t count);
/* Returns the share of a thread; NULL if it is not on the path. */
const struct path_share *critical_path_share(const struct map *numbers,
					     const struct path_share *shares, uint32_t process,
					     uint32_t tid);

/* Returns by how much the run would be shorter without some time on the path, given by process: by
 * that of all main threads on average; by more if the others wait as long for the one that has most
 * of it. */
uint64_t critical_path_saved_ns(const struct results *results, const uint64_t *process_ns);

/* Returns the time with operations of a class on the path of any main thread, or that one may have
 * waited for: asynchronous ones, and those of other threads while what it waits for is unknown.
 * UINT64_MAX if the path is unknown. */
uint64_t critical_path_io_ns(const struct results *results, enum io_class class);

/* The same for operations on a file (its number), as a sum. */
uint64_t critical_path_file_ns(const struct results *results, uint32_t file, enum io_class class);

/* Returns the part of the I/O on the path in which its thread waited for a CPU; 0 if unknown. */
double critical_path_io_runnable(const struct results *results);

/* Time on the path in one state, by thread and stack. On a CPU, it is estimated from samples. */
struct path_stack {
	uint32_t trace;
	uint32_t process, tid;
	uint64_t stack;
	bool cut; /* outer frames are missing */
	uint64_t time_ns, samples;
};
/* Sets of them, after one for each thread_state. */
enum {
	PATH_LOCKED = THREAD_STATE_COUNT, /* the time, on the path or not, in which threads held a
					   * file lock (flock, fcntl) that another one waited for */
	PATH_IN_CALLS,			  /* CPU time on the path in calls that operate on files */
	PATH_JOINED, /* CPU time on the path while another thread waited for this one to end */
	PATH_STACKS,
};
/* Returns all of a set, in no order; NULL and 0: none. */
const struct path_stack *critical_path_stacks(const struct results *results, unsigned int set,
					      size_t *count);

/* Calls that lock files. */
struct path_file_locks {
	uint64_t time_ns;    /* by how much they delay the run: see locks.c */
	uint64_t blocked_ns; /* the part in THREAD_LOCK, of one main thread on average */
};
/* Returns false if they are unknown. */
bool critical_path_file_locks(const struct results *results, struct path_file_locks *locks);
