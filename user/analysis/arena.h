/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory for things that live and die together. Knows nothing of what is kept in it.
 */
#ifndef FAULTLINE_ARENA_H
#define FAULTLINE_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* All zeros is an empty arena. */
struct arena {
	struct arena_chunk *chunks;
	size_t left; /* bytes free at the end of the newest chunk */
};

/* `size` zeroed bytes, aligned for 64-bit values; NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t size);
/* A copy of `length` bytes with a NUL behind them; NULL when memory is out. */
char *arena_text(struct arena *arena, const char *bytes, size_t length);
/* Frees everything; the arena is empty afterwards. */
void arena_free(struct arena *arena);

#endif
