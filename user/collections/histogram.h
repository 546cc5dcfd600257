/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts of 64-bit values in classes that are linear within each power of two (like HdrHistogram,
 * Gil Tene, 2012). Values below 128 are exact; above that, the width of a class is at most 1/64 of
 * its values, which bounds the relative error of percentiles. The maximum is exact.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_STEP_BITS 6 /* 64 classes per power of two */
#define HISTOGRAM_CLASSES ((64 - HISTOGRAM_STEP_BITS + 1) << HISTOGRAM_STEP_BITS)

/* Empty if all zeros. */
struct histogram {
	uint64_t count, max;
	uint64_t classes[HISTOGRAM_CLASSES];
};

static inline unsigned int histogram_class(uint64_t value)
{
	unsigned int shift;

	if (value < 2u << HISTOGRAM_STEP_BITS)
		return value;
	shift = 63 - __builtin_clzll(value) - HISTOGRAM_STEP_BITS;
	return (shift << HISTOGRAM_STEP_BITS) + (value >> shift);
}

/* Adds a value `count` times. */
static inline void histogram_add_many(struct histogram *histogram, uint64_t value, uint64_t count)
{
	histogram->count += count;
	if (value > histogram->max)
		histogram->max = value;
	histogram->classes[histogram_class(value)] += count;
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram_add_many(histogram, value, 1);
}

/*
 * Returns the smallest value that at least `percent` % of the values do not exceed (nearest rank),
 * rounded up to the largest value of its class but never above the maximum. 0 for an empty
 * histogram.
 */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

/*
 * A histogram without its empty classes, for storing completed ones and merging them. Empty if all
 * zeros; the classes are in ascending order.
 */
struct sparse_class {
	uint32_t number;
	uint64_t count;
};

struct sparse_histogram {
	struct sparse_class *classes;
	size_t class_count, room;
	uint64_t max;
};

/* Return 0 or -ENOMEM. */
int sparse_histogram_of(struct sparse_histogram *sparse, const struct histogram *histogram);
int sparse_histogram_merge(struct sparse_histogram *into, const struct sparse_histogram *from);
void sparse_histogram_free(struct sparse_histogram *sparse);
/* Like histogram_percentile. */
uint64_t sparse_histogram_percentile(const struct sparse_histogram *sparse, unsigned int percent);
