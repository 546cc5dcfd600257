/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is given back all at once. Knows nothing of what it holds.
 */
#ifndef FAULTLINE_TRACE_ARENA_H
#define FAULTLINE_TRACE_ARENA_H

#include <stddef.h>

struct arena_piece;

struct arena {
	struct arena_piece *piece;
	size_t bytes; /* given out */
};

/* Aligned for anything; NULL when there is no memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* Copies bytes and adds a NUL, unaligned. */
char *arena_text(struct arena *arena, const void *bytes, size_t length);
void arena_free(struct arena *arena);

#endif
