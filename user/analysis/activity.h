/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What went on, and how much of it while something computed: exact measures of unions of intervals
 * and of their intersections with the union of all compute, for the job and for each rank, in a
 * pass over events in the order of their starts. Knows nothing of tables.
 *
 * From any moment on, until something new starts, each union is one stretch that ends at a known
 * time (interval.h says why) or when its open spans end. So the measure between two moments needs
 * no memory of earlier intervals: it is how far into that time the stretch reaches, and the measure
 * of the intersection is how far the shorter one of the two reaches.
 */
#ifndef FAULTLINE_ACTIVITY_H
#define FAULTLINE_ACTIVITY_H

#include "analysis/model/gpu.h"
#include "analysis/model/walk.h"

enum activity_of {
	ACTIVITY_IO,					  /* all operations on files, and faults */
	ACTIVITY_CLASS,					  /* + enum io_class */
	ACTIVITY_LARGE = ACTIVITY_CLASS + IO_CLASS_COUNT, /* calls that moved more than 4 KiB */
	ACTIVITY_SMALL,					  /* ... up to 4 KiB */
	ACTIVITY_OTHER,					  /* ... nothing */
	ACTIVITY_FAULT,
	ACTIVITY_COMPUTE, /* spans of category compute, and what a GPU did */
	ACTIVITY_APP_IO,  /* spans of categories io, data and its like, checkpoint */
	ACTIVITY_DATA,	  /* spans of category data, of processes that no span's process started */
	ACTIVITY_WORKER,  /* ... and of category preprocess, of such that one did */
	ACTIVITY_PREPROCESS, /* spans of that category, or of data whose names say so */
	ACTIVITY_ITEM, /* spans of data named so; those with such within are counted as these */
	ACTIVITY_CHECKPOINT, /* spans of category checkpoint */
	ACTIVITIES,
};

#define ACTIVITY_SMALL_BYTES 4096

struct activity {
	uint64_t time_ns;   /* measure of the union, up to `now_ns` */
	uint64_t hidden_ns; /* ... of its intersection with compute */
	uint64_t now_ns;
	uint64_t start_ns, end_ns; /* of the first and of the last; 0 of none */
	uint64_t open;		   /* spans */
	uint64_t count, bytes;
	uint64_t fetched_bytes; /* brought into the page cache for it */
};

/* The time that no compute hid. */
static inline uint64_t activity_unhidden_ns(const struct activity *activity)
{
	return activity->time_ns - activity->hidden_ns;
}

/* Activities that somebody waits for, of which is known how much I/O goes on meanwhile. */
enum activity_wait_of { ACTIVITY_WAITS_DATA, ACTIVITY_WAITS_CHECKPOINT, ACTIVITY_WAITS };

struct activity_wait {
	uint64_t io_ns; /* I/O while it was open and nothing computed, up to `now_ns` */
	uint64_t now_ns;
};

/* The job, or a rank. */
struct activity_group {
	int64_t rank;
	struct activity of[ACTIVITIES];
	struct activity_wait waits[ACTIVITY_WAITS];
};

#define ACTIVITY_JOB 0		       /* the group of the job */
#define ACTIVITY_RANKS_MOST (1u << 14) /* further ones count for the job alone */

/* What a process did as a worker, in spans of ACTIVITY_WORKER. */
struct activity_worker {
	uint64_t time_ns;  /* measure of the union of those that ended */
	uint64_t begun_ns; /* when the outermost that is open began */
	uint64_t count;	   /* outermost spans: those in others are their parts */
	uint64_t open;
};

struct activities {
	const struct job *job;
	bool wanted; /* there are spans, or a GPU; else nothing is followed */
	struct activity_group *groups;
	size_t group_count, group_room;
	struct map ranks;		 /* rank -> group */
	uint32_t *group_of;		 /* of each process; ACTIVITY_JOB for none of its own */
	bool *speaks;			 /* of each process: it began a span */
	struct activity_worker *workers; /* of each process */
	size_t process_room;
	uint32_t *kinds; /* of each open span: what it is activity of, a mask */
	size_t span_room;
	uint32_t *kinds_of_labels; /* of each label, outside of workers and in them */
	const struct gpu *gpu;	   /* NULL for none */
	size_t gpu_next;
	uint32_t gpu_group;
};

struct activity_sum {
	uint64_t time_ns, hidden_ns;
};

/* Functions that return int: 0 or -ENOMEM. `gpu` is NULL or outlives the rest. */
int activities_init(struct activities *all, const struct job *job, const struct gpu *gpu);
void activities_free(struct activities *all);

/* What it is told in passing; its state is a struct activities. It comes before consumers that ask
 * it. */
extern const struct walk_calls activities_calls;
/* Another state of the same, that events may be told while the job has its own (struct sampled). */
int activities_begin_again(const struct job *job, void **state);
void activities_end_again(void *state);
/* Lets everything end that is under way. */
void activities_finish(struct activities *all);

/* What a call or fault counts as, beside its class. */
enum activity_of activity_of_event(const struct event *event);
/* What a span that begins is activity of, a mask of 1 << enum activity_of; `kinds` has it until it
 * has ended. Events may pass again after activities_restart. */
uint32_t activities_of_span(struct activities *all, uint32_t slot);
void activities_restart(struct activities *all);

/* The wait that an activity is; ACTIVITY_WAITS for none. */
enum activity_wait_of activity_wait_of(enum activity_of activity);

/* The group to look at for what a process did: that of its rank, or of the job. */
uint32_t activities_group(const struct activities *all, uint32_t process);
/* Sums of some activities up to a moment, not before what was last told. */
void activities_at(struct activities *all, uint32_t group, uint64_t time_ns,
		   const enum activity_of *which, size_t count, struct activity_sum *sums);

#endif
