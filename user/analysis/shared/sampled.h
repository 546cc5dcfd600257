/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of a table's rows over time, for plots, for which events pass again after the tables are
 * filled: monotonic counters that are sampled at moments of the run, or what each event adds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/order/walk.h"
#include "collections/arena.h"

#define SAMPLED_MAX 8 /* columns of a table */

/* The part of a row's sum that comes from one event. */
struct sampled_sum {
	uint64_t number; /* of the row, as `numbers` sets it */
	uint64_t start_ns, end_ns;
	uint64_t values[SAMPLED_MAX]; /* in column order */
};

struct sampled {
	const char *columns[SAMPLED_MAX]; /* names of table columns */
	/* A second state, like that of an analysis. It gets the events that `consumer` asks for, in
	 * batches that never span a sample. Tables with the same `consumer` share the state. */
	size_t state_bytes;
	void (*begin)(void *state, const struct job *job, struct arena *arena);
	const struct walk_calls *consumer;
	/* Called when exactly the events that began before `now_ns` have passed: must count
	 * everything that has ended. Returns 0 or -ENOMEM; NULL: nothing to do. */
	int (*settle)(void *state, uint64_t now_ns);
	/* Sets the numbers by which `at` identifies the first `count` rows, from the state of the
	 * analysis that filled the table. */
	const struct analysis *filled;
	void (*numbers)(const void *filled, uint64_t *numbers, size_t count);
	/* Instead of `at` and all that is for it: called for events that `matters` (struct
	 * walk_calls) lets pass. Returns false if it adds to no row. The first `spread` columns are
	 * spread evenly from start to end, and the others belong to the start. */
	bool (*adds)(void *filled, const struct event *event, struct sampled_sum *sum);
	uint64_t matters;
	int spread;
	/* Sets a row's values at the moment, in column order. */
	void (*at)(const void *filled, void *state, uint64_t number, uint64_t now_ns,
		   uint64_t values[SAMPLED_MAX]);
};
