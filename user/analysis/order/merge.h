/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merges blocks into events in order, on one thread: which blocks are open, and how much of them is
 * kept in memory.
 */
#pragma once

#include "analysis/order/cursor.h"
#include "analysis/order/plan.h"

struct merge;
struct source;

struct merge_options {
	struct cursor_options cursor; /* with all defaults filled in */
	unsigned int threads;	      /* that load blocks ahead; 0 for none */
	size_t batch;		      /* maximum events per call */
	struct loaded_pool *pool;     /* for blocks; must outlive those handed out, too */
	/* Waits until the rows of earlier batches are no longer in use; NULL: nothing uses them.
	 * Called before rows are moved. */
	void (*settle)(void *context);
	void *context;
};

/* Returns 0 or -ENOMEM. The job must outlive the merge. */
int merge_open(struct merge **merge, struct job *job, const struct merge_options *options);
void merge_close(struct merge *merge); /* NULL is fine */

/*
 * Writes the next events, at most `batch`, to `events`: none at the end. `retired` receives the
 * blocks whose last rows are among them, to be freed when these events are no longer in use.
 * Returns the same as cursor_next.
 */
int merge_next(struct merge *merge, struct event *events, size_t *count, struct source **retired,
	       struct trace_error *error);
void merge_free_retired(struct source *retired); /* NULL is fine */

/* Rows of the plan, and rows in the blocks opened so far. */
uint64_t merge_rows(const struct merge *merge);
uint64_t merge_rows_read(const struct merge *merge);
