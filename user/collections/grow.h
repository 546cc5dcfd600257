/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arrays that grow. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_FIRST 16

/* Returns a room that is larger and holds at least `count` items. */
static inline size_t grow_room(size_t room, size_t count)
{
	size_t more = room ? room : GROW_FIRST;

	while (more < count)
		more = more > SIZE_MAX / 2 ? count : 2 * more;
	return more;
}

static inline void *grow_bytes(void *items, size_t *room, size_t count, size_t item_bytes)
{
	size_t more = grow_room(*room, count);
	char *grown;

	if (count <= *room)
		return items;
	grown = reallocarray(items, more, item_bytes);
	if (!grown)
		return NULL;
	memset(grown + *room * item_bytes, 0, (more - *room) * item_bytes);
	*room = more;
	return grown;
}

/*
 * Ensures that an array has room for `count` items: `items` is a pointer from malloc or NULL,
 * `room` is how many items fit, and both are updated. The room at least doubles, and new room is
 * zeroed. False, with nothing changed, if out of memory.
 */
#define GROW(items, room, count)                                                                   \
	({                                                                                         \
		void *grown_ = grow_bytes(items, &(room), count, sizeof(*(items)));                \
                                                                                                   \
		if (grown_)                                                                        \
			(items) = grown_;                                                          \
		grown_ != NULL;                                                                    \
	})
