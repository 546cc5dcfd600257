/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory for objects that are freed together. Errors are sticky: after the first allocation that
 * fails, all others do, and arena_status returns the error once the objects are complete.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_piece;
struct arena_block;

/* All zeros is an empty arena. */
struct arena {
	struct arena_piece *piece;
	struct arena_block *blocks; /* that grow */
	size_t bytes;		    /* allocated, without these */
	bool failed;
};

/* Returns 0 or -ENOMEM. */
static inline int arena_status(const struct arena *arena)
{
	return arena->failed ? -ENOMEM : 0;
}

/* Returns zeroed memory aligned for any type; NULL after an error. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* Copies bytes and adds a NUL, unaligned. Returns NULL after an error. */
char *arena_text(struct arena *arena, const void *bytes, size_t length);
/* Enlarges a block, or makes one if `old` is NULL. The added memory is zeroed. Returns NULL after
 * an error. */
void *arena_resize(struct arena *arena, void *old, size_t old_bytes, size_t bytes);
/* Frees a block of arena_resize early; NULL is fine. */
void arena_release(struct arena *arena, void *block);
void arena_free(struct arena *arena);

/* Use ARENA_GROW. */
void *arena_grow_bytes(struct arena *arena, void *items, size_t *room, size_t count,
		       size_t item_bytes);

static inline void *arena_grow(struct arena *arena, void *items, size_t *room, size_t count,
			       size_t item_bytes)
{
	if (count <= *room)
		return items;
	return arena_grow_bytes(arena, items, room, count, item_bytes);
}

/* Like GROW, for an array in an arena: `items` starts as NULL. */
#define ARENA_GROW(arena, items, room, count)                                                      \
	({                                                                                         \
		void *grown_ = arena_grow(arena, items, &(room), count, sizeof(*(items)));         \
                                                                                                   \
		if (grown_)                                                                        \
			(items) = grown_;                                                          \
		grown_ != NULL;                                                                    \
	})
