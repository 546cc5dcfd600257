/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the longest items of a stream, in a heap. */
#ifndef FAULTLINE_LONGEST_H
#define FAULTLINE_LONGEST_H

#include <stddef.h>
#include <stdint.h>

/* Use longest_keep. */
void longest_put(void *items, size_t *count, size_t most, const void *item, size_t item_bytes);

/*
 * Keeps an item if it is among the `most` longest. Each item begins with its length, a uint64_t.
 * `items` is a heap of `*count` items, the shortest first, with room for one more unless it has
 * `most`. Among equally long items, earlier ones stay.
 */
static inline void longest_keep(void *items, size_t *count, size_t most, const void *item,
				size_t item_bytes)
{
	if (*count < most || *(const uint64_t *)item > *(const uint64_t *)items)
		longest_put(items, count, most, item, item_bytes);
}

#endif
