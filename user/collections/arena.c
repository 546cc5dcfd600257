/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Allocates memory that is freed all at once. */
#include "collections/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "collections/grow.h"

/* Sizes of the first and the largest piece: each piece is twice as large as the previous one, as
 * many arenas hold next to nothing. */
#define FIRST_BYTES 1024
#define PIECE_BYTES 65536

struct arena_piece {
	struct arena_piece *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

/* In a list with links in both directions, as blocks move and may be freed early. */
struct arena_block {
	struct arena_block *next, *last;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void *take_piece(struct arena *arena, size_t bytes, size_t align)
{
	struct arena_piece *piece = arena->piece;
	size_t start = piece ? (piece->used + align - 1) & ~(align - 1) : 0;

	if (!piece || start > piece->size || piece->size - start < bytes) {
		size_t next = piece ? 2 * piece->size : FIRST_BYTES, size;

		while (next < PIECE_BYTES && bytes > next / 4)
			next *= 2;
		next = number_min(next, PIECE_BYTES);
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

static void *take(struct arena *arena, size_t bytes, size_t align)
{
	void *memory = arena->failed ? NULL : take_piece(arena, bytes, align);

	arena->failed = !memory;
	return memory;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	return take(arena, bytes, _Alignof(max_align_t));
}

char *arena_text(struct arena *arena, const void *bytes, size_t length)
{
	char *text = take(arena, length < SIZE_MAX ? length + 1 : length, 1);

	if (!text)
		return NULL;
	if (length)
		memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

static struct arena_block *block_of(void *bytes)
{
	return (struct arena_block *)((char *)bytes - offsetof(struct arena_block, bytes));
}

static void unlink_block(struct arena *arena, struct arena_block *block)
{
	if (block->next)
		block->next->last = block->last;
	*(block->last ? &block->last->next : &arena->blocks) = block->next;
}

void *arena_resize(struct arena *arena, void *old, size_t old_bytes, size_t bytes)
{
	struct arena_block *block = NULL;

	if (arena->failed)
		return NULL;
	if (old)
		unlink_block(arena, block_of(old));
	if (bytes <= SIZE_MAX - sizeof(*block))
		block = old ? realloc(block_of(old), sizeof(*block) + bytes)
			    : calloc(1, sizeof(*block) + bytes);
	arena->failed = !block;
	if (!block && !old)
		return NULL;
	if (block && old && bytes > old_bytes)
		memset(block->bytes + old_bytes, 0, bytes - old_bytes);
	if (!block)
		block = block_of(old); /* still there */
	block->next = arena->blocks;
	block->last = NULL;
	if (block->next)
		block->next->last = block;
	arena->blocks = block;
	return arena->failed ? NULL : block->bytes;
}

void arena_release(struct arena *arena, void *block)
{
	if (!block)
		return;
	unlink_block(arena, block_of(block));
	free(block_of(block));
}

void *arena_grow_bytes(struct arena *arena, void *items, size_t *room, size_t count,
		       size_t item_bytes)
{
	size_t more = grow_room(*room, count), bytes;
	void *grown;

	if (__builtin_mul_overflow(more, item_bytes, &bytes))
		bytes = SIZE_MAX;
	grown = arena_resize(arena, items, *room * item_bytes, bytes);
	if (grown)
		*room = more;
	return grown;
}

void arena_free(struct arena *arena)
{
	while (arena->blocks)
		arena_release(arena, arena->blocks->bytes);
	while (arena->piece) {
		struct arena_piece *piece = arena->piece;

		arena->piece = piece->next;
		free(piece);
	}
	*arena = (struct arena) { 0 };
}
