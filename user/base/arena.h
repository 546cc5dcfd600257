/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory for objects that are freed together.
 */
#ifndef FAULTLINE_ARENA_H
#define FAULTLINE_ARENA_H

#include <stddef.h>

struct arena_piece;

/* All zeros is an empty arena. */
struct arena {
	struct arena_piece *piece;
	size_t bytes; /* allocated */
};

/* Returns zeroed memory aligned for any type; NULL if out of memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* Copies bytes and adds a NUL, unaligned. */
char *arena_text(struct arena *arena, const void *bytes, size_t length);
void arena_free(struct arena *arena);

#endif
