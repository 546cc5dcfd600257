/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The longest of many, kept in passing. Knows nothing of what they are.
 */
#ifndef FAULTLINE_LONGEST_H
#define FAULTLINE_LONGEST_H

#include <stddef.h>
#include <stdint.h>

/* Use longest_keep. */
void longest_put(void *items, size_t *count, size_t most, const void *item, size_t item_bytes);

/*
 * Keeps an item among the `most` longest. Each item begins with the uint64_t that it is long by;
 * `items` is a heap of `*count` of them, the shortest first, with room for one more unless it has
 * `most`. Of items that are equally long those that came first stay.
 */
static inline void longest_keep(void *items, size_t *count, size_t most, const void *item,
				size_t item_bytes)
{
	if (*count < most || *(const uint64_t *)item > *(const uint64_t *)items)
		longest_put(items, count, most, item, item_bytes);
}

#endif
