/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The measure of a union of intervals [start, end), exact, in sixteen bytes.
 *
 * Intervals must come in the order of their starts, as cursor.h delivers events. Then whatever
 * comes next starts where the newest one starts or later, and of the union from there on all that
 * matters is where it ends: the longest interval so far covers everything from the newest start up
 * to `end` without a gap. So nothing has to be remembered, sorted or merged.
 *
 * The same holds for two unions side by side: beyond the newest start, each is one stretch that
 * ends at its `end`. What a new interval adds to the one, [max(start, end of this), its end), meets
 * the other in exactly the part of it below the other's `end`; summed up that is the measure of
 * the intersection, and with it of every difference.
 *
 * An interval out of order cannot do harm: what lies below `end` counts as covered already.
 */
#ifndef FAULTLINE_INTERVAL_H
#define FAULTLINE_INTERVAL_H

#include <stdint.h>

/* All zeros is the empty union. */
struct interval_union {
	uint64_t measure; /* of the union of everything added so far */
	uint64_t end;	  /* the latest end */
};

static inline void interval_add(struct interval_union *whole, uint64_t start, uint64_t end)
{
	uint64_t from = start > whole->end ? start : whole->end;

	uint64_t longer = -(uint64_t)(end > from); /* all bits or none */

	/* Whether they overlap no processor can guess: nothing here branches. */
	whole->measure += (end - from) & longer;
	whole->end += (end - whole->end) & longer;
}

#endif
