/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Percentiles of histograms, and sparse histograms. */
#include "collections/histogram.h"

#include <errno.h>
#include <stdlib.h>

#include "collections/grow.h"
#include "base/number.h"

static uint64_t class_largest(unsigned int number)
{
	unsigned int shift;
	uint64_t step;

	if (number < 2u << HISTOGRAM_STEP_BITS)
		return number;
	shift = (number >> HISTOGRAM_STEP_BITS) - 1;
	step = number - (shift << HISTOGRAM_STEP_BITS);
	/* For the last class, this wraps around to 2^64 - 1. */
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

			return number_min(largest, histogram->max);
		}
	}
	return 0;
}

/* --- sparse histograms --- */

int sparse_histogram_of(struct sparse_histogram *sparse, const struct histogram *histogram)
{
	*sparse = (struct sparse_histogram) { .max = histogram->max };
	for (uint32_t i = 0; i < HISTOGRAM_CLASSES; i++) {
		if (!histogram->classes[i])
			continue;
		if (!GROW(sparse->classes, sparse->room, sparse->class_count + 1))
			return -ENOMEM;
		sparse->classes[sparse->class_count++] =
			(struct sparse_class) { i, histogram->classes[i] };
	}
	return 0;
}

void sparse_histogram_free(struct sparse_histogram *sparse)
{
	free(sparse->classes);
	*sparse = (struct sparse_histogram) { 0 };
}

/* Returns the number of classes in the union of both. */
static size_t count_classes(const struct sparse_histogram *a, const struct sparse_histogram *b)
{
	size_t count = a->class_count + b->class_count;

	for (size_t i = 0, j = 0; i < a->class_count && j < b->class_count;) {
		uint32_t first = a->classes[i].number, second = b->classes[j].number;

		count -= first == second;
		i += first <= second;
		j += second <= first;
	}
	return count;
}

/* Merges from the back, so that no class is overwritten before it is read. */
int sparse_histogram_merge(struct sparse_histogram *into, const struct sparse_histogram *from)
{
	size_t i = into->class_count, j = from->class_count, count = count_classes(into, from);

	if (from->max > into->max)
		into->max = from->max;
	if (!from->class_count)
		return 0;
	if (!GROW(into->classes, into->room, count))
		return -ENOMEM;
	into->class_count = count;
	while (j) {
		const struct sparse_class *more = &from->classes[j - 1];
		struct sparse_class *slot = &into->classes[--count];

		if (i && into->classes[i - 1].number >= more->number) {
			*slot = into->classes[--i];
			if (slot->number > more->number)
				continue;
			slot->count = number_add(slot->count, more->count);
		} else {
			*slot = *more;
		}
		j--;
	}
	return 0;
}

uint64_t sparse_histogram_percentile(const struct sparse_histogram *sparse, unsigned int percent)
{
	uint64_t all = 0, seen = 0, rank;

	for (size_t i = 0; i < sparse->class_count; i++)
		all = number_add(all, sparse->classes[i].count);
	rank = ((unsigned __int128)all * percent + 99) / 100;
	for (size_t i = 0; i < sparse->class_count; i++) {
		seen = number_add(seen, sparse->classes[i].count);
		if (seen && seen >= rank) {
			uint64_t largest = class_largest(sparse->classes[i].number);

			return number_min(largest, sparse->max);
		}
	}
	return 0;
}
