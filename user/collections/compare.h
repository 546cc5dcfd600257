/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Comparisons for qsort() and bsearch(). */
#pragma once

#include <stdint.h>

/* Negative, 0 or positive, for numbers of one type. COMPARE(b, a) sorts the largest first, and
 * COMPARE(...) ?: COMPARE(...) by one number after the other. Arguments are evaluated twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines how to compare elements a and b of a type, for example
 * COMPARE_BY(compare_sizes, struct item, COMPARE(a->size, b->size)). */
#define COMPARE_BY(name, type, order)                                                              \
	static int name(const void *left, const void *right)                                       \
	{                                                                                          \
		const type *a = left, *b = right;                                                  \
                                                                                                   \
		return order;                                                                      \
	}

/* Sorts by an uint64_t, or by the one that an element begins with. */
static inline int compare_u64(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return COMPARE(*a, *b);
}
