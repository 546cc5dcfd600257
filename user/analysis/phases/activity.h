/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Time of activities, and how much of it overlaps compute: exact measures of unions of intervals
 * and of their intersections with the compute union, for the job and for each rank, in one pass
 * over events in order of start time.
 *
 * From any moment until something new starts, each union is one stretch that ends at a known time
 * (see interval.h) or when its open spans end. The measure between two moments therefore needs no
 * earlier intervals: it is how far the stretch reaches into that time, and the measure of the
 * intersection is how far the shorter of the two stretches reaches.
 */
#pragma once

#include "analysis/job/gpu.h"
#include "analysis/order/walk.h"

enum activity_of {
	ACTIVITY_IO,					  /* all file operations and faults */
	ACTIVITY_CLASS,					  /* + enum io_class */
	ACTIVITY_LARGE = ACTIVITY_CLASS + IO_CLASS_COUNT, /* calls that moved more than 4 KiB */
	ACTIVITY_SMALL,					  /* ... up to 4 KiB */
	ACTIVITY_OTHER,					  /* ... none */
	ACTIVITY_FAULT,
	ACTIVITY_COMPUTE,    /* compute spans and GPU activity */
	ACTIVITY_APP_IO,     /* io, data, dataloader and checkpoint spans */
	ACTIVITY_DATA,	     /* data spans in processes without an ancestor with spans */
	ACTIVITY_WORKER,     /* ... data and preprocess spans in processes with one */
	ACTIVITY_PREPROCESS, /* preprocess spans, and data spans named like one */
	ACTIVITY_ITEM,	     /* data spans named "item"; of nested ones the innermost count */
	ACTIVITY_CHECKPOINT, /* checkpoint spans */
	ACTIVITIES,
};

#define ACTIVITY_SMALL_BYTES 4096

struct activity {
	uint64_t time_ns;   /* measure of the union up to `now_ns` */
	uint64_t hidden_ns; /* ... of its intersection with compute */
	uint64_t now_ns;
	uint64_t start_ns, end_ns; /* first start and last end; 0: none */
	uint64_t open;		   /* open spans */
	uint64_t count, bytes;
	uint64_t fetched_bytes; /* brought into the page cache on its behalf */
};

/* Time outside compute. */
static inline uint64_t activity_unhidden_ns(const struct activity *activity)
{
	return activity->time_ns - activity->hidden_ns;
}

/* Activities that the job waits for, with the I/O that runs during the wait. */
enum activity_wait_of { ACTIVITY_WAITS_DATA, ACTIVITY_WAITS_CHECKPOINT, ACTIVITY_WAITS };

struct activity_wait {
	uint64_t io_ns; /* I/O while the wait was open and nothing computed, up to `now_ns` */
	uint64_t now_ns;
};

/* The job, or a rank. */
struct activity_group {
	int64_t rank;
	struct activity of[ACTIVITIES];
	struct activity_wait waits[ACTIVITY_WAITS];
};

#define ACTIVITY_JOB 0		      /* the job's group */
#define ACTIVITY_RANKS_MAX (1u << 14) /* processes of further ranks count only for the job */

/* A process's work as a worker: its ACTIVITY_WORKER spans. */
struct activity_worker {
	uint64_t time_ns;  /* measure of the union of the ended spans */
	uint64_t begun_ns; /* start of the outermost open span */
	uint64_t count;	   /* outermost spans; nested spans are their parts */
	uint64_t open;
};

struct activities {
	const struct job *job;
	struct arena *arena;
	bool wanted; /* there are spans or a GPU; otherwise nothing is measured */
	struct activity_group *groups;
	size_t group_count, group_room;
	struct map ranks;		 /* rank -> group */
	uint32_t *group_of;		 /* per process; ACTIVITY_JOB: no group of its own */
	bool *speaks;			 /* per process: it began a span */
	struct activity_worker *workers; /* per process */
	size_t process_room;
	uint32_t *kinds; /* per open span: mask of its activities */
	size_t span_room;
	uint32_t *kinds_of_labels; /* two per label: outside workers, in workers */
	const struct gpu *gpu;	   /* NULL: none */
	size_t gpu_next;
	uint32_t gpu_group;
};

struct activity_sum {
	uint64_t time_ns, hidden_ns;
};

/* Errors are left in the arena. `gpu` may be NULL and must outlive `all`. */
void activities_init(struct activities *all, const struct job *job, struct arena *arena,
		     const struct gpu *gpu);

/* Callbacks for the walk; the state is a struct activities. Must come before consumers that query
 * it. */
extern const struct walk_calls activities_calls;
/* A second state, for passing events again while the job keeps its own (struct sampled). */
void activities_begin_again(void *state, const struct job *job, struct arena *arena);
/* Ends everything that is still open. */
void activities_finish(struct activities *all);

/* What a call or fault counts as, in addition to its class. */
enum activity_of activity_of_event(const struct event *event);
/* Returns the activities of a span that begins, as a mask of 1 << enum activity_of; `kinds` holds
 * the mask until the span has ended. Call activities_restart before passing the events again. */
uint32_t activities_of_span(struct activities *all, uint32_t slot);
void activities_restart(struct activities *all);

/* Returns the wait that corresponds to an activity; ACTIVITY_WAITS: none. */
enum activity_wait_of activity_wait_of(enum activity_of activity);

/* Returns the group that a process belongs to: that of its rank, or the job's. */
uint32_t activities_group(const struct activities *all, uint32_t process);
/* Sums of an activity up to `time_ns`, which must not precede the last event passed. */
struct activity_sum activities_at(struct activities *all, uint32_t group, uint64_t time_ns,
				  enum activity_of which);
