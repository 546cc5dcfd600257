/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exact measure of a union of intervals [start, end), in sixteen bytes.
 *
 * Intervals must be added in the order of their starts, as cursor.h delivers events. No later
 * interval starts before the newest one, and from the newest start up to `end` the union has no
 * gap: the interval that ends last covers all of it. So nothing has to be stored, sorted or merged.
 *
 * The same holds for two unions: beyond the newest start, each is one stretch that ends at its
 * `end`. A new interval adds [max(start, `end`), its end) to the first union; the part of that
 * below the other's `end` is the overlap. The sum of these parts is the measure of the
 * intersection, from which every difference follows.
 *
 * Intervals out of order are harmless: anything below `end` counts as already covered.
 */
#pragma once

#include <stdint.h>

#include "base/number.h"

/* Empty if all zeros. */
struct interval_union {
	uint64_t measure; /* of the union of everything added so far */
	uint64_t end;	  /* the latest end */
};

static inline void interval_add(struct interval_union *whole, uint64_t start, uint64_t end)
{
	uint64_t from = number_max(start, whole->end);

	uint64_t longer = -(uint64_t)(end > from); /* all bits or none */

	/* Branchless: whether intervals overlap is unpredictable. */
	whole->measure += (end - from) & longer;
	whole->end += (end - whole->end) & longer;
}
