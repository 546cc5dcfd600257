/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is handed out piece by piece and freed at once. Knows nothing of what is kept in it.
 */
#include "analysis/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64u << 10)
#define ALIGN 8

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(ALIGN) char bytes[];
};

static struct arena_chunk *new_chunk(size_t size)
{
	struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (chunk)
		chunk->size = size;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk;
	char *piece;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (size <= arena->left) {
		piece = arena->chunks->bytes + arena->chunks->size - arena->left;
		arena->left -= size;
		return piece;
	}
	chunk = new_chunk(size > CHUNK_BYTES / 4 ? size : CHUNK_BYTES);
	if (!chunk)
		return NULL;
	if (chunk->size == size && arena->chunks) {
		/* A large piece fills a chunk of its own; the newest goes on being filled. */
		chunk->next = arena->chunks->next;
		arena->chunks->next = chunk;
		return chunk->bytes;
	}
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->left = chunk->size - size;
	return chunk->bytes;
}

char *arena_text(struct arena *arena, const char *bytes, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (copy && length)
		memcpy(copy, bytes, length);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->left = 0;
}
