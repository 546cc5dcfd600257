/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of a table's rows that only grow: what they were at moments of the run, for pictures,
 * which tell events once more when tables are filled. Knows nothing of what they measure.
 */
#ifndef FAULTLINE_SAMPLED_H
#define FAULTLINE_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/model/walk.h"

#define SAMPLED_MOST 8 /* columns of a table */

struct sampled {
	const char *columns[SAMPLED_MOST]; /* names of the table's */
	/* A state of its own is told events as `passing` has it, those of one moment at most once:
	 * tables with the same `passing` share it. As of an analysis. */
	int (*begin)(const struct job *job, void **state);
	const struct walk_calls *passing;
	void (*end)(void *state);
	/* All that began before the moment was told, and nothing else: what has ended is to be
	 * counted. Returns 0 or -ENOMEM; NULL for nothing. */
	int (*settle)(void *state, uint64_t now_ns);
	/* What the first `count` rows are of, by numbers that `at` knows them by; of the state of
	 * this analysis, which filled the table. */
	const struct analysis *filled;
	void (*numbers)(const void *filled, uint64_t *numbers, size_t count);
	/* The numbers of a row at the moment, in the order of the columns. */
	void (*at)(const void *filled, void *state, uint64_t number, uint64_t now_ns,
		   uint64_t values[SAMPLED_MOST]);
};

#endif
