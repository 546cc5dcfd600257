/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Percentiles of a histogram. Knows nothing of what is measured.
 */
#include "analysis/histogram.h"

static uint64_t class_largest(unsigned int number)
{
	unsigned int shift;
	uint64_t step;

	if (number < 2u << HISTOGRAM_STEP_BITS)
		return number;
	shift = (number >> HISTOGRAM_STEP_BITS) - 1;
	step = number - (shift << HISTOGRAM_STEP_BITS);
	/* Of the last class the sum is 2^64 - 1, by wrapping around. */
	return ((step + 1) << shift) - 1;
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent)
{
	uint64_t rank = ((unsigned __int128)histogram->count * percent + 99) / 100;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < HISTOGRAM_CLASSES; i++) {
		seen += histogram->classes[i];
		if (seen && seen >= rank) {
			uint64_t largest = class_largest(i);

			return largest < histogram->max ? largest : histogram->max;
		}
	}
	return 0;
}
