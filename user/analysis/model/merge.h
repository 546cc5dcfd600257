/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Blocks to events in their one order, on one thread: what is open at the present moment, and how
 * much of it is kept in memory. Knows nothing of what the events mean, nor who looks at them.
 */
#ifndef FAULTLINE_MERGE_H
#define FAULTLINE_MERGE_H

#include "analysis/model/cursor.h"
#include "analysis/model/plan.h"

struct merge;
struct source;

struct merge_options {
	struct cursor_options cursor; /* with no zeros that stand for something else */
	unsigned int threads;	      /* that take blocks in ahead; 0 for none */
	size_t batch;		      /* events given out at a time, at the most */
	struct held_pool *pool;	      /* of the blocks: outlives those that were given out, too */
	/* Waits until nobody looks at the rows of batches before the one being made; NULL: nobody
	 * does. Called before rows are moved. */
	void (*settle)(void *context);
	void *context;
};

/* Returns 0 or -ENOMEM. The job must outlive it. */
int merge_open(struct merge **merge, struct job *job, const struct merge_options *options);
void merge_close(struct merge *merge); /* NULL is fine */

/*
 * Puts the next events, `batch` at the most, into `events`: none at the end. `retired` receives the
 * blocks whose last rows are among them, to be freed when nobody looks at these any more. Returns
 * what cursor_next does.
 */
int merge_next(struct merge *merge, struct event *events, size_t *count, struct source **retired,
	       struct trace_error *error);
void merge_free_retired(struct source *retired); /* NULL is fine */

/* Rows of the plan, and how many of them are in blocks that were opened. */
uint64_t merge_rows(const struct merge *merge);
uint64_t merge_rows_read(const struct merge *merge);

#endif
