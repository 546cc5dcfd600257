/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Allocates memory that is freed all at once.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the first and the largest piece: each piece is twice as large as the previous one, as
 * many arenas hold next to nothing. */
#define FIRST_BYTES 1024
#define PIECE_BYTES 65536

struct arena_piece {
	struct arena_piece *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void *take(struct arena *arena, size_t bytes, size_t align)
{
	struct arena_piece *piece = arena->piece;
	size_t start = piece ? (piece->used + align - 1) & ~(align - 1) : 0;

	if (!piece || start > piece->size || piece->size - start < bytes) {
		size_t next = piece ? 2 * piece->size : FIRST_BYTES, size;

		while (next < PIECE_BYTES && bytes > next / 4)
			next *= 2;
		next = next < PIECE_BYTES ? next : PIECE_BYTES;
		size = bytes > next / 4 ? bytes : next;
		if (size > SIZE_MAX - sizeof(*piece))
			return NULL;
		piece = calloc(1, sizeof(*piece) + size);
		if (!piece)
			return NULL;
		piece->used = 0;
		piece->size = size;
		start = 0;
		if (size == next || !arena->piece) {
			piece->next = arena->piece;
			arena->piece = piece;
		} else { /* full from the start: keep filling the previous one */
			piece->next = arena->piece->next;
			arena->piece->next = piece;
		}
	}
	piece->used = start + bytes;
	arena->bytes += bytes;
	return piece->bytes + start;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	return take(arena, bytes, _Alignof(max_align_t));
}

char *arena_text(struct arena *arena, const void *bytes, size_t length)
{
	char *text = length < SIZE_MAX ? take(arena, length + 1, 1) : NULL;

	if (!text)
		return NULL;
	if (length)
		memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

void arena_free(struct arena *arena)
{
	while (arena->piece) {
		struct arena_piece *piece = arena->piece;

		arena->piece = piece->next;
		free(piece);
	}
	arena->bytes = 0;
}
