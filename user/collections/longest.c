/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "collections/longest.h"

#include <stdint.h>
#include <string.h>

static uint64_t length_of(const void *item)
{
	uint64_t length;

	memcpy(&length, item, sizeof(length));
	return length;
}

/* Replaces the first item, and moves the new one down until none below it is shorter. */
static void sink(char *items, size_t count, const void *item, size_t bytes)
{
	uint64_t length = length_of(item);
	size_t index = 0;

	for (;;) {
		size_t child = 2 * index + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    length_of(items + (child + 1) * bytes) < length_of(items + child * bytes))
			child++;
		if (length_of(items + child * bytes) >= length)
			break;
		memcpy(items + index * bytes, items + child * bytes, bytes);
		index = child;
	}
	memcpy(items + index * bytes, item, bytes);
}

/* Appends an item, and moves it up until none above it is longer. */
static void rise(char *items, size_t index, const void *item, size_t bytes)
{
	uint64_t length = length_of(item);

	while (index && length_of(items + (index - 1) / 2 * bytes) > length) {
		memcpy(items + index * bytes, items + (index - 1) / 2 * bytes, bytes);
		index = (index - 1) / 2;
	}
	memcpy(items + index * bytes, item, bytes);
}

void longest_put(void *items, size_t *count, size_t max, const void *item, size_t item_bytes)
{
	if (*count < max)
		rise(items, (*count)++, item, item_bytes);
	else
		sink(items, *count, item, item_bytes);
}

void longest_add(struct longest_choice *choice, struct arena *arena, size_t max, uint64_t length)
{
	choice->items++;
	if (choice->kept == max ||
	    ARENA_GROW(arena, choice->lengths, choice->room, choice->kept + 1))
		longest_keep(choice->lengths, &choice->kept, max, &length, sizeof(length));
}

void longest_decide(struct longest_choice *choice, size_t spared)
{
	choice->min = 0;
	choice->equals = choice->count = choice->items;
	if (choice->items <= choice->kept + spared || !choice->kept)
		return;
	choice->min = choice->lengths[0];
	choice->count = choice->kept;
	choice->equals = 0;
	for (size_t i = 0; i < choice->kept; i++)
		choice->equals += choice->lengths[i] == choice->min;
}
