/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists the blocks of a job's traces to read, in the order of their earliest starts, and orders
 * events that start together.
 */
#pragma once

#include "analysis/job/job.h"

struct cursor_options;

struct planned_block {
	uint64_t start_ns; /* on the job's clock */
	uint32_t trace;
	uint32_t rows;
	size_t number;
	size_t order; /* its position among all blocks for events that start together */
};

struct plan {
	struct planned_block *blocks;
	size_t count;
	uint64_t rows; /* of all blocks */
};

/* Returns 0 or -ENOMEM. The plan must be freed after an error, too. */
int plan_make(struct plan *plan, const struct job *job, const struct cursor_options *options);
void plan_free(struct plan *plan);
