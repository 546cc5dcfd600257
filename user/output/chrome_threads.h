/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The processes and threads of a timeline: their numbers, their names, and what is open on them.
 * Knows nothing of events. Private to the export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_THREADS_H
#define FAULTLINE_CHROME_THREADS_H

#include "analysis/model/job.h"
#include "output/chrome_event.h"

#define CHROME_NONE UINT32_MAX
#define CHROME_THREADS_MOST                                                                        \
	(1u << 17)	    /* further ones share one for each process, and are counted */
#define CHROME_TID_SHARED 0 /* its tid: no thread of a program has that */
#define CHROME_DEPTH 4	    /* slices in each other, spans aside: a fault in a call is two */

struct chrome_thread {
	uint64_t tid;	  /* as in the trace */
	uint32_t process; /* number in the job's table */
	uint32_t next;	  /* of the same process, or CHROME_NONE */
	uint32_t top;	  /* the innermost open span, or CHROME_NONE */
	uint32_t aside;	  /* the first open span that is not drawn on the thread, or CHROME_NONE */
	uint32_t depth;
	uint64_t shared;	     /* events of other threads that it has in their place */
	uint64_t ends[CHROME_DEPTH]; /* of the slices that are open, the innermost last */
};

/* What a timeline knows of a process. */
struct chrome_process {
	uint64_t moved;	 /* added to its pid and tids */
	uint32_t thread; /* its latest, or CHROME_NONE */
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
	struct map pids;    /* pid -> how many processes had it so far */
	uint32_t last;	    /* found last, or CHROME_NONE */
};

void chrome_threads_init(struct chrome_threads *threads, struct job *job, struct sink *out);
void chrome_threads_free(struct chrome_threads *threads);

/* The number of a thread, added when it is new. Returns 0 or -ENOMEM. */
int chrome_thread_find(struct chrome_threads *threads, uint32_t process, uint64_t tid,
		       uint32_t *thread);
/* The number of a thread of a process that is in use, or CHROME_NONE. */
uint32_t chrome_thread_known(const struct chrome_threads *threads, uint32_t process, uint64_t tid);

/*
 * How an event of the thread says where it belongs. With the first one its process comes into use:
 * it is numbered and its names are written. Being out of memory is an error of the sink.
 */
struct chrome_place chrome_place_of(struct chrome_threads *threads, uint32_t thread);
/* The same for a process as a whole: that of its first thread. */
struct chrome_place chrome_process_place(struct chrome_threads *threads, uint32_t process);

/* Says of threads that stand for others how many events they have. */
void chrome_threads_tell_shared(struct chrome_threads *threads);

/* Writes something that is known of a process or a thread: an "M" with one member. */
void chrome_metadata(struct chrome_threads *threads, const char *what, struct chrome_place place,
		     const char *member, struct trace_string value);
/* Writes the name of a thread. */
void chrome_thread_name(struct chrome_threads *threads, uint32_t thread, struct trace_string name);

#endif
