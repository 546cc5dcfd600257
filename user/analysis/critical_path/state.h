/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The critical path while it is followed: walk.c; the I/O on it: io.c; file locks: locks.c; its
 * table: critical_path.c. */
#pragma once

#include "analysis/critical_path/critical_path.h"
#include "analysis/shared/analysis.h"
#include "collections/map.h"

#define RECENT 256 /* recently found threads */

struct path_thread {
	uint32_t process, tid, trace;
	bool is_root;
	uint64_t until_ns; /* it is on the path until then */
	uint64_t last_ns;  /* its last known end */
	uint64_t time_ns;  /* on the path; of that: */
	uint64_t passed_ns, io_ns, waits_ns[THREAD_STATE_COUNT];
	uint64_t stays, first_ns;  /* how often it entered the path, and for how long first */
	uint64_t joins, joined_ns; /* stays while another thread waited for its end; their time */
	uint64_t joined_until_ns;  /* end of the latest */
	uint64_t all_waits_ns[THREAD_STATE_COUNT];	/* of its whole life */
	uint64_t op_end_ns, wait_start_ns, wait_end_ns; /* of the latest operation and wait */
	uint64_t holds_ns;   /* until then, another one waits for a file lock that it releases */
	uint64_t pieces_ns;  /* of waits for locks that ended by timers, since one that did not */
	uint64_t counted_ns; /* if the operation counts: since then */
	uint64_t change_ns;  /* then it begins or ends to count ... */
	size_t slot;	     /* ... in critical_path.changes; 0: not there */
	uint32_t waker;
	uint32_t awaited_tid, awaited_pid; /* of a waker not seen yet; 0: none */
	uint32_t op_file;
	uint8_t op_class, wait_state;
	bool op_locks;	/* the latest operation takes or releases a file lock */
	bool counts;	/* it is in an operation, and waits for nothing else */
	bool is_passed; /* the latest wait's time went to the waker */
	struct path_sample {
		uint64_t stack, start_ns, end_ns;
		bool cut;
	} sample,	/* the latest exact one, unless of a lock */
		waited; /* the latest one of a wait */
};

/* Operations of a class on the path, asynchronous ones, and until blocked_until_ns also those off
 * the path. Each moment counts once. */
struct path_io {
	uint64_t time_ns, counted_ns; /* until counted_ns */
	size_t threads;		      /* on the path that are in one */
	uint64_t other_end_ns;	      /* latest end of the others */
};

/* By process: the branch that it belongs to, and if it is the top of one, the branch's calls that
 * lock files. */
struct path_branch {
	uint32_t root, top;	     /* processes; root NO_THREAD: none */
	uint32_t main;		     /* of a root: its main thread; NO_THREAD: not seen yet */
	uint64_t until_ns, locks_ns; /* end of the latest; time that counts */
	bool is_listed;		     /* in critical_path.locking */
};

/* Time by thread and stack, without double entries. */
struct path_stacks {
	struct path_stack *all;
	size_t count, room;
	struct map numbers;
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
	struct map parents;  /* trace and pid -> pid of the process that started it; 0: unknown */
	struct map expected; /* trace and tid -> a thread that waits for one not seen yet */
	struct {
		uint64_t key;
		uint32_t number;
	} recent[RECENT];
	size_t root_count;
	uint64_t blocked_until_ns; /* until then, a main thread waits for something unknown */
	uint64_t now_ns;	   /* start of the latest event */
	struct path_io io[IO_CLASS_COUNT];
	uint64_t (*files)[IO_CLASS_COUNT]; /* the same by file, summed */
	size_t file_room;
	uint32_t *changes; /* a heap of threads by change_ns; begins at 1 */
	size_t change_count, change_room;
	struct path_stacks stacks[PATH_STACKS];
	struct path_branch *branches;
	uint32_t *locking; /* tops of branches in a call that locks a file, and some before */
	size_t locking_count, locking_room;
	uint64_t locks_blocked_ns; /* on the path, in THREAD_LOCK, for file locks */
	/* Made at the end: */
	struct path_share *shares;
	size_t share_count;
	uint64_t whole_ns;
};

/* A key of the maps `numbers`, `parents` and `expected`. */
static inline uint64_t critical_path_key(uint32_t trace, uint32_t tid)
{
	return (uint64_t)trace << 32 | tid;
}

void critical_path_begin(void *state, const struct job *job, struct arena *arena);
int critical_path_events(void *state, const struct event *events, size_t count);
int critical_path_series(void *state, const struct event_series *series);

/* Counts I/O up to a time; earlier ones change nothing. To be called before anything changes. */
void critical_path_io_advance(struct critical_path *path, uint64_t now_ns);
/* Counts what is left at the end of the job. */
void critical_path_io_end(struct critical_path *path);
/* Ends to count a thread's operation, before another one begins. */
void critical_path_io_stop(struct critical_path *path, uint32_t number);
/* Begins to count a thread's operation, now or after its wait, while it is on the path. */
void critical_path_io_resume(struct critical_path *path, uint32_t number);
/* Both: its wait or its stay on the path has changed. */
void critical_path_io_renew(struct critical_path *path, uint32_t number);
/* Adds time of an operation off the path that the run does, or may, wait for. */
void critical_path_io_other(struct critical_path *path, unsigned int class, uint32_t file,
			    uint64_t from_ns, uint64_t until_ns);
/* Adds time that a thread on the path spent in operations like its latest one until now, while
 * nothing else counted in that class. */
void critical_path_io_add(struct critical_path *path, uint32_t number, uint64_t time_ns);
/* Returns whether nothing changes before a time but what a thread does, and nothing else counts in
 * the class of its latest operation. */
bool critical_path_io_is_only(const struct critical_path *path, uint32_t number, uint64_t until_ns);

void critical_path_stacks_init(struct path_stacks *stacks, struct arena *arena);
/* Adds a sample's time to that of its stack. */
void critical_path_stacks_add(struct critical_path *path, struct path_stacks *stacks,
			      uint32_t number, uint64_t stack, bool cut, uint64_t time_ns);
/* Takes some of it back. */
void critical_path_stacks_take(struct critical_path *path, struct path_stacks *stacks,
			       uint32_t number, uint64_t stack, bool cut, uint64_t time_ns);

void critical_path_locks_begin(struct critical_path *path);
/* Counts a thread's latest operation from then on, if it locks or unlocks a file. */
void critical_path_locks_add(struct critical_path *path, uint32_t number, uint64_t from_ns);
/* Counts calls in progress during a main thread's new wait. */
void critical_path_locks_main_waits(struct critical_path *path, uint32_t number);
/* Returns the time of the branch with most of it. */
uint64_t critical_path_locks_ns(const struct critical_path *path);
/* Returns whether a thread's latest wait is for a file lock. */
bool critical_path_locks_wait(const struct path_thread *thread);
/* Notes that a thread waits for a file lock that its waker releases then. */
void critical_path_locks_held(struct critical_path *path, const struct path_thread *waiter);
/* Takes a sample: what a thread does while it holds a file lock. */
void critical_path_locks_sample(struct critical_path *path, const struct event *event,
				uint32_t number);

#define NO_THREAD UINT32_MAX

#define CRITICAL_PATH_WAIT_COLUMNS                                                                 \
	(1ull << WAIT_STATE | 1ull << WAIT_WAKER_PID | 1ull << WAIT_WAKER_TID)
#define CRITICAL_PATH_SAMPLE_COLUMNS                                                               \
	(1ull << SAMPLE_STACK | 1ull << SAMPLE_FLAGS | 1ull << SAMPLE_WEIGHT | 1ull << SAMPLE_STATE)
