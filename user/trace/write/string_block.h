/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Strings with their ids, packed one after the other until they are written as one block. Private
 * to user/trace.
 */
#pragma once

#include "trace/format/pack.h"

struct string_block {
	struct pack texts;
	uint64_t *ids;
	size_t count, capacity;
};

/* Makes room for one more string of `length` bytes. Returns 0 or -ENOMEM. */
int string_block_reserve(struct string_block *block, size_t length);
/* Adds a string for which room was made. */
void string_block_add(struct string_block *block, uint64_t id, const void *bytes, size_t length);
/* Packs all strings as an object of a trace; `of` says what they are, NULL for nothing special.
 * Returns 0 or -ENOMEM. */
int string_block_pack(const struct string_block *block, const char *of, struct pack *object);
/* Empties the block. */
void string_block_clear(struct string_block *block);
void string_block_free(struct string_block *block);
