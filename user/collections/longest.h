/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the longest items of a stream, in a heap, or chooses them in two passes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/arena.h"

/* Use longest_keep. */
void longest_put(void *items, size_t *count, size_t max, const void *item, size_t item_bytes);

/*
 * Keeps an item if it is among the `max` longest. Each item begins with its length, a uint64_t.
 * `items` is a heap of `*count` items, the shortest first, with room for one more unless it has
 * `max`. Among equally long items, earlier ones stay.
 */
static inline void longest_keep(void *items, size_t *count, size_t max, const void *item,
				size_t item_bytes)
{
	if (*count < max || *(const uint64_t *)item > *(const uint64_t *)items)
		longest_put(items, count, max, item, item_bytes);
}

/*
 * Chooses the longest of many items, and the earlier ones among equally long items: pass all of
 * them to longest_add, then longest_decide, then all again, in the same order, to longest_takes.
 */
struct longest_choice {
	uint64_t *lengths; /* a heap */
	size_t kept, room;
	size_t items; /* in all */
	size_t count; /* chosen ones */
	uint64_t min;
	size_t equals; /* items of this length that are still to be taken */
};

/* Errors are left in the arena. */
void longest_add(struct longest_choice *choice, struct arena *arena, size_t max, uint64_t length);
/* If no more than `spared` items would be left out, all are chosen. */
void longest_decide(struct longest_choice *choice, size_t spared);

static inline bool longest_takes(struct longest_choice *choice, uint64_t length)
{
	return length > choice->min ||
	       (length == choice->min && choice->equals && choice->equals--);
}
