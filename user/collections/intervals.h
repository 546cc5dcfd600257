/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The measure of a union of intervals [start, end) that come in any order, in bounded memory.
 *
 * Intervals are collected, then sorted and merged. If more than half of INTERVALS_MAX remain apart,
 * the earlier half is measured and forgotten: below its last end, everything counts as covered. So
 * the measure is exact unless an interval comes later than so many others that lie behind it, and
 * never too large.
 */
#pragma once

#include "collections/arena.h"
#include "collections/interval.h"

#define INTERVALS_MAX (1u << 16)

/* Empty if all zeros. */
struct intervals {
	struct interval {
		uint64_t start, end;
	} * all;
	size_t count, room;
	struct interval_union before; /* of forgotten intervals */
};

/* Ignores empty intervals. Errors are left in the arena. */
void intervals_add(struct intervals *intervals, struct arena *arena, uint64_t start, uint64_t end);
uint64_t intervals_measure(struct intervals *intervals);
