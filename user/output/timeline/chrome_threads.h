/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Processes and threads of a timeline: ids, names and open slices. Private to the Trace Event
 * Format export.
 */
#ifndef FAULTLINE_CHROME_THREADS_H
#define FAULTLINE_CHROME_THREADS_H

#include "analysis/job/job.h"
#include "output/timeline/chrome_event.h"

#define CHROME_NONE UINT32_MAX
#define CHROME_THREADS_MAX (1u << 17) /* further ones share one per process, and are counted */
#define CHROME_TID_SHARED 0	      /* tid of the shared thread; no real thread has it */
#define CHROME_DEPTH 4		      /* nested slices without spans: a fault in a call is two */

struct chrome_thread {
	uint64_t tid;	  /* as in the trace */
	uint32_t process; /* number in the job's table */
	uint32_t next;	  /* next thread of the process, or CHROME_NONE */
	uint32_t top;	  /* innermost open span, or CHROME_NONE */
	uint32_t aside;	  /* first open span that does not nest, or CHROME_NONE */
	uint32_t depth;
	uint64_t shared;	     /* events of other threads that share this one */
	uint64_t ends[CHROME_DEPTH]; /* of the open slices, innermost last */
};

/* A process on the timeline. */
struct chrome_process {
	uint64_t moved;	 /* offset of its pid and tids */
	uint32_t thread; /* its latest thread, or CHROME_NONE */
	bool used;	 /* numbered and named */
};

struct chrome_threads {
	struct job *job;
	struct sink *out;
	bool any; /* an event was written */
	struct chrome_process *processes;
	size_t process_room;
	struct chrome_thread *threads;
	size_t count, room;
	struct map numbers; /* process, tid -> thread */
	struct map pids;    /* pid -> number of processes that had it so far */
	uint32_t last;	    /* thread found last, or CHROME_NONE */
};

void chrome_threads_init(struct chrome_threads *threads, struct job *job, struct sink *out);
void chrome_threads_free(struct chrome_threads *threads);

/* Finds a thread's number, adding the thread if it is new. Returns 0 or -ENOMEM. */
int chrome_thread_find(struct chrome_threads *threads, uint32_t process, uint64_t tid,
		       uint32_t *thread);
/* Returns the number of a thread of a process in use, or CHROME_NONE. */
uint32_t chrome_thread_known(const struct chrome_threads *threads, uint32_t process, uint64_t tid);

/*
 * Returns the ids to write in a thread's events. The first call for a process assigns its ids and
 * writes its names. Out of memory is reported as the sink's error.
 */
struct chrome_place chrome_place_of(struct chrome_threads *threads, uint32_t thread);
/* The same for the process itself: the ids of its first thread. */
struct chrome_place chrome_process_place(struct chrome_threads *threads, uint32_t process);

/* Names each shared thread after the number of events it holds. */
void chrome_threads_emit_shared(struct chrome_threads *threads);

/* Writes a metadata event ("M") of a process or thread, with one member. */
void chrome_metadata(struct chrome_threads *threads, const char *what, struct chrome_place place,
		     const char *member, struct trace_string value);
/* Writes a thread's name. */
void chrome_thread_name(struct chrome_threads *threads, uint32_t thread, struct trace_string name);

#endif
