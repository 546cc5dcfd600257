/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads blocks on helper threads before they are needed: decompressing and sorting a block depends
 * on nothing else.
 */
#pragma once

#include "analysis/events/loaded_block.h"
#include "analysis/order/plan.h"

#define AHEAD_THREADS_MAX 4

struct ahead;

/*
 * `columns` selects the wanted columns of each kind; `columns`, `job` and `plan` must outlive the
 * opened object. With no threads, blocks are loaded when they are requested. Returns 0 or -ENOMEM;
 * starting fewer threads than requested is not an error.
 */
int ahead_open(struct ahead **ahead, const struct job *job, const struct plan *plan,
	       const uint64_t columns[TRACE_KIND_COUNT], unsigned int threads,
	       struct loaded_pool *pool);
void ahead_close(struct ahead *ahead); /* NULL is fine */

/* Returns the blocks of the plan in order. Same return values as ahead_again. */
int ahead_next(struct ahead *ahead, struct loaded_block **block, struct trace_error *error);

/* Loads a block again. Returns 0, -ENOMEM, -EINVAL for a damaged block, or the reader's error; then
 * `error` has details and *block is NULL. Must be called by the thread that calls ahead_next. */
int ahead_again(struct ahead *ahead, const struct planned_block *planned,
		struct loaded_block **block, struct trace_error *error);
