/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hash map from a key of a few 64-bit words to a value of a few 64-bit words: open addressing,
 * seeded anew for each map so that no trace can choose its collisions. Nothing is ever removed.
 * Knows nothing of what keys and values mean.
 */
#ifndef FAULTLINE_MAP_H
#define FAULTLINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	uint8_t *tags;	   /* 0: free; else TAG_USED (map.c) and seven bits of the hash */
	uint64_t *entries; /* key words, then value words */
	size_t slots;	   /* a power of two, or 0 */
	size_t count;
	uint32_t key_words, value_words;
	uint64_t seed[2];
};

/* Needs no memory, so it cannot fail. */
void map_init(struct map *map, unsigned int key_words, unsigned int value_words);
void map_free(struct map *map);

/* The value of a key, or NULL. Valid until the next map_add. */
uint64_t *map_find(const struct map *map, const uint64_t *key);
/* The value of a key, added with zeros when it was not there, which *added tells; NULL when memory
 * is out. Valid until the next map_add. */
uint64_t *map_add(struct map *map, const uint64_t *key, bool *added);

/* Goes through the entries, in no order: *at starts at 0. False behind the last one. */
bool map_next(const struct map *map, size_t *at, const uint64_t **key, uint64_t **value);

/* A 64-bit hash of bytes under the map's seed, to be used as a key for them. */
uint64_t map_hash_bytes(const struct map *map, const void *bytes, size_t length);

#endif
