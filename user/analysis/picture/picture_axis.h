/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Divides a run into stretches of equal length for pictures: fine ones for areas, coarse ones of
 * PICTURE_FINER fine ones each for sums by file, process and the like.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"

#define PICTURE_COARSE 160
#define PICTURE_FINER 3
#define PICTURE_FINE (PICTURE_COARSE * PICTURE_FINER)

struct picture_axis {
	uint64_t start_ns, end_ns; /* of the run, on the job's clock */
	uint64_t fine_ns;	   /* length of a fine stretch */
};

static inline struct picture_axis picture_axis_of(uint64_t start_ns, uint64_t end_ns)
{
	return (struct picture_axis) { start_ns, end_ns,
				       number_sub(end_ns, start_ns) / PICTURE_FINE + 1 };
}

/* Times outside the run belong to its first or last stretch. */
static inline unsigned int picture_fine(const struct picture_axis *axis, uint64_t time_ns)
{
	uint64_t stretch = number_sub(time_ns, axis->start_ns) / axis->fine_ns;

	return number_min(stretch, PICTURE_FINE - 1);
}

/* An interval and its stretches. */
struct picture_stretches {
	uint64_t start_ns, end_ns;
	uint16_t first, last;		/* coarse ones, both included */
	uint16_t first_fine, last_fine; /* fine ones */
};

static inline struct picture_stretches picture_stretches_of(const struct picture_axis *axis,
							    uint64_t start_ns, uint64_t end_ns)
{
	unsigned int first = picture_fine(axis, start_ns), last = picture_fine(axis, end_ns);

	return (struct picture_stretches) {
		start_ns, end_ns, first / PICTURE_FINER, last / PICTURE_FINER, first, last
	};
}

/*
 * Spreads an amount evenly over [start_ns, end_ns): `bins` are numbers `step` bytes apart, one for
 * each stretch of `length_ns`. Changes those from `first` to `last`.
 */
static inline void picture_spread(uint64_t *bins, size_t step, const struct picture_axis *axis,
				  uint64_t length_ns, const struct picture_stretches *over,
				  unsigned int first, unsigned int last, uint64_t amount)
{
	char *bin = (char *)bins + first * step;
	uint64_t before = 0, until_ns = number_add(axis->start_ns, (first + 1) * length_ns);

	for (unsigned int i = first; i < last; i++, bin += step) {
		uint64_t part = number_part(amount, over->start_ns, over->end_ns, until_ns);

		*(uint64_t *)bin += part - before;
		before = part;
		until_ns = number_add(until_ns, length_ns);
	}
	*(uint64_t *)bin += amount - before;
}

static inline void picture_spread_coarse(uint64_t *bins, size_t step,
					 const struct picture_axis *axis,
					 const struct picture_stretches *over, uint64_t amount)
{
	if (amount)
		picture_spread(bins, step, axis, axis->fine_ns * PICTURE_FINER, over, over->first,
			       over->last, amount);
}

static inline void picture_spread_fine(uint64_t *bins, size_t step, const struct picture_axis *axis,
				       const struct picture_stretches *over, uint64_t amount)
{
	if (amount)
		picture_spread(bins, step, axis, axis->fine_ns, over, over->first_fine,
			       over->last_fine, amount);
}
