/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The thread of a writer: packs, compresses and writes queued jobs in order. Owns the memory of
 * rows, which is bounded. Private to user/trace.
 */
#pragma once

#include <pthread.h>

#include "trace/write/output.h"
#include "trace/write/rows.h"
#include "trace/write/writer.h"

enum job_type { JOB_ROWS, JOB_FRAME, JOB_STRINGS, JOB_OBJECT, JOB_SETTLE, JOB_TOTALS };

struct worker_job {
	enum job_type type;
	enum trace_kind kind;	   /* JOB_ROWS */
	struct rows rows;	   /* JOB_ROWS */
	struct pack object;	   /* all others: already packed; JOB_FRAME: compressed, too */
	struct format_entry entry; /* JOB_STRINGS, JOB_FRAME: their index entry */
};

/* A packed block of names that has found no room on the disk yet. */
struct waiting_block {
	struct waiting_block *next;
	struct pack object;
	struct format_entry entry;
};

#define WORKER_JOBS 256
#define WORKER_CHUNKS ((32u << 20) / ROWS_CHUNK_BYTES)

struct worker {
	/* Used only by the thread. */
	struct output output;
	struct pack block;
	struct waiting_block *held, **held_end; /* in order */
	size_t held_bytes;
	pthread_t thread;
	const struct trace_writer_options *options;

	/* Used only by the producer. */
	size_t chunk_count;

	/* Shared under the lock; the counts at the end are also read without it. */
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the thread: a job, or stop */
	pthread_cond_t done; /* for the producer: a job is done, or chunks are free */
	struct worker_job jobs[WORKER_JOBS];
	size_t first_job, job_count; /* a job in progress still counts */
	size_t object_bytes;	     /* packed objects of all jobs */
	struct rows_chunk *free_chunks;
	bool stop;
	uint64_t discarded[TRACE_KIND_COUNT]; /* rows */
	uint64_t bytes;			      /* of the file */
	uint64_t end_ns;		      /* latest end of a row */
	int error;			      /* the first one other than a full disk */
	int full;			      /* the error if the disk is full now, or 0 */
};

/* The following are called by one thread, the producer. Functions return 0 or -errno. */

/* The options must outlive the worker. */
int worker_start(struct worker *worker, int fd, const struct trace_writer_options *options);
/* Finishes what is queued, then ends the thread and frees everything. */
void worker_stop(struct worker *worker);

/* Takes over what the job points to. Waits for room. */
void worker_queue(struct worker *worker, const struct worker_job *job);
/* Waits until the queue is empty. Returns the worker's error, including that of a full disk. */
int worker_wait(struct worker *worker);

/*
 * Takes memory for rows, given back by queueing them or by worker_free_rows. Waits until some is
 * free. -EAGAIN if the producer itself holds all of it; -ENOMEM.
 */
int worker_take_chunk(struct worker *worker, struct rows_chunk **chunk);
void worker_free_rows(struct worker *worker, struct rows *rows);

/* Returns -errno if the last block found no room on the disk, else 0. A later block may find
 * some. */
static inline int worker_full(const struct worker *worker)
{
	return __atomic_load_n(&worker->full, __ATOMIC_RELAXED);
}

/* Returns the first error, after which jobs are discarded. */
static inline int worker_error(const struct worker *worker)
{
	return __atomic_load_n(&worker->error, __ATOMIC_RELAXED);
}
