/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is given back all at once. Knows nothing of what it holds.
 */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 65536

struct pool_piece {
	struct pool_piece *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void *take(struct pool *pool, size_t bytes, size_t align)
{
	struct pool_piece *piece = pool->piece;
	size_t start = piece ? (piece->used + align - 1) & ~(align - 1) : 0;

	if (!piece || start > piece->size || piece->size - start < bytes) {
		size_t size = bytes > PIECE_BYTES / 4 ? bytes : PIECE_BYTES;

		if (size > SIZE_MAX - sizeof(*piece))
			return NULL;
		piece = malloc(sizeof(*piece) + size);
		if (!piece)
			return NULL;
		piece->used = 0;
		piece->size = size;
		start = 0;
		if (size == PIECE_BYTES || !pool->piece) {
			piece->next = pool->piece;
			pool->piece = piece;
		} else { /* full from the start: keep filling the one before */
			piece->next = pool->piece->next;
			pool->piece->next = piece;
		}
	}
	piece->used = start + bytes;
	pool->bytes += bytes;
	return piece->bytes + start;
}

void *pool_alloc(struct pool *pool, size_t bytes)
{
	return take(pool, bytes, _Alignof(max_align_t));
}

char *pool_text(struct pool *pool, const void *bytes, size_t length)
{
	char *text = length < SIZE_MAX ? take(pool, length + 1, 1) : NULL;

	if (!text)
		return NULL;
	if (length)
		memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

void pool_free(struct pool *pool)
{
	while (pool->piece) {
		struct pool_piece *piece = pool->piece;

		pool->piece = piece->next;
		free(piece);
	}
	pool->bytes = 0;
}
