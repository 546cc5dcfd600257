/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hash map from a key of a few 64-bit words to a value of a few 64-bit words. Uses open
 * addressing and a random seed per map, so that no trace can provoke collisions. Entries are never
 * removed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/arena.h"

struct map {
	uint8_t *tags;	   /* 0: free; else TAG_USED (map.c) and seven bits of the hash */
	uint64_t *entries; /* key words, then value words */
	size_t slots;	   /* a power of two, or 0 */
	size_t count;
	uint32_t key_words, value_words;
	uint64_t seed[2];
	struct arena *arena; /* NULL: memory of its own */
};

/* Both allocate nothing, so they cannot fail. A map in an arena is freed with it. */
void map_init(struct map *map, unsigned int key_words, unsigned int value_words);
void map_init_in(struct map *map, struct arena *arena, unsigned int key_words,
		 unsigned int value_words);
void map_free(struct map *map);

/* Returns the value of a key, or NULL. Valid until the next map_add. */
uint64_t *map_find(const struct map *map, const uint64_t *key);
/* Returns the value of a key, or NULL if out of memory. A missing key is added with a value of
 * zeros, and *added set. Valid until the next map_add. */
uint64_t *map_add(struct map *map, const uint64_t *key, bool *added);

/* Finds or adds the item of a key: returns its address, or NULL if out of memory. The map, in an
 * arena, has the items' indices as values; `items`, an array of ARENA_GROW, and `count` grow with
 * it. *added is set for a new item, which is all zeros. */
#define MAP_ITEM(map, key, items, room, count, added)                                              \
	({                                                                                         \
		uint64_t *index_ = ARENA_GROW((map)->arena, items, room, (count) + 1)              \
					   ? map_add(map, key, added)                              \
					   : NULL;                                                 \
                                                                                                   \
		if (index_ && *(added))                                                            \
			*index_ = (count)++;                                                       \
		index_ ? &(items)[*index_] : NULL;                                                 \
	})

/* Iterates over the entries, in no order: *at starts at 0. Returns false after the last one. */
bool map_next(const struct map *map, size_t *at, const uint64_t **key, uint64_t **value);

/* Returns a 64-bit hash of bytes with the map's seed, for use as a key. */
uint64_t map_hash_bytes(const struct map *map, const void *bytes, size_t length);
