/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Blocks taken into memory ahead of the moment that they are needed, by threads of their own:
 * decompressing and sorting a block needs nothing that others do. Knows nothing of events.
 */
#ifndef FAULTLINE_AHEAD_H
#define FAULTLINE_AHEAD_H

#include "analysis/model/held_block.h"
#include "analysis/model/plan.h"

#define AHEAD_THREADS_MOST 4

struct ahead;

/*
 * `columns` says which columns of each kind are wanted; it, job and plan must outlive what is
 * opened. With no threads blocks are taken in when they are asked for. Returns 0 or -ENOMEM; fewer
 * threads than were asked for are no error.
 */
int ahead_open(struct ahead **ahead, const struct job *job, const struct plan *plan,
	       const uint64_t columns[TRACE_KIND_COUNT], unsigned int threads,
	       struct held_pool *pool);
void ahead_close(struct ahead *ahead); /* NULL is fine */

/* Gives the blocks of the plan, one after the other. Returns what ahead_again would. */
int ahead_next(struct ahead *ahead, struct held_block **block, struct trace_error *error);

/* Gives a block once more. Returns 0, -ENOMEM, -EINVAL for a damaged block, or the reader's error;
 * `error` says more, *block is NULL then. To be called by the thread that calls ahead_next. */
int ahead_again(struct ahead *ahead, const struct planned_block *planned, struct held_block **block,
		struct trace_error *error);

#endif
