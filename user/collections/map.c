/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The hash map. Linear probing over one-byte tags, so that a search reads few cache lines. */
#include "collections/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "collections/hash.h"

#define TAG_USED 0x80
#define SLOTS_MIN 16

static uint64_t hash_key(const struct map *map, const uint64_t *key)
{
	uint64_t hash = map->seed[0];

	for (uint32_t i = 0; i < map->key_words; i++)
		hash = hash_mix(hash ^ key[i], map->seed[1]);
	return hash;
}

static uint8_t tag_of(uint64_t hash)
{
	return TAG_USED | hash >> 57;
}

static bool key_equal(const struct map *map, const uint64_t *entry, const uint64_t *key)
{
	for (uint32_t i = 0; i < map->key_words; i++)
		if (entry[i] != key[i])
			return false;
	return true;
}

/* Returns the slot of a key, or the free slot for it. There is always a free one. */
static size_t find_slot(const struct map *map, const uint64_t *key, uint64_t hash)
{
	size_t width = map->key_words + map->value_words;
	uint8_t tag = tag_of(hash);

	for (size_t slot = hash & (map->slots - 1);; slot = (slot + 1) & (map->slots - 1)) {
		if (!map->tags[slot])
			return slot;
		if (map->tags[slot] == tag && key_equal(map, map->entries + slot * width, key))
			return slot;
	}
}

void map_init(struct map *map, unsigned int key_words, unsigned int value_words)
{
	*map = (struct map) { .key_words = key_words, .value_words = value_words };
	/* Without random numbers, address space randomization still makes seeds hard to guess. */
	if (getentropy(map->seed, sizeof(map->seed)))
		map->seed[0] = hash_mix((uintptr_t)map, 0x9e3779b97f4a7c15);
	map->seed[1] |= 1;
}

void map_init_in(struct map *map, struct arena *arena, unsigned int key_words,
		 unsigned int value_words)
{
	map_init(map, key_words, value_words);
	map->arena = arena;
}

static void *allocate(const struct map *map, size_t count, size_t bytes)
{
	return map->arena ? arena_resize(map->arena, NULL, 0, count * bytes) : calloc(count, bytes);
}

static void release(const struct map *map, void *memory)
{
	if (map->arena)
		arena_release(map->arena, memory);
	else
		free(memory);
}

void map_free(struct map *map)
{
	release(map, map->tags);
	release(map, map->entries);
	map->tags = NULL;
	map->entries = NULL;
	map->slots = 0;
	map->count = 0;
}

uint64_t *map_find(const struct map *map, const uint64_t *key)
{
	size_t slot;

	if (!map->slots)
		return NULL;
	slot = find_slot(map, key, hash_key(map, key));
	if (!map->tags[slot])
		return NULL;
	return map->entries + slot * (map->key_words + map->value_words) + map->key_words;
}

static bool grow(struct map *map)
{
	size_t width = map->key_words + map->value_words;
	struct map larger = *map;

	larger.slots = map->slots ? map->slots * 2 : SLOTS_MIN;
	larger.tags = allocate(map, larger.slots, 1);
	larger.entries = allocate(map, larger.slots, width * sizeof(uint64_t));
	if (!larger.tags || !larger.entries) {
		release(map, larger.tags);
		release(map, larger.entries);
		return false;
	}
	for (size_t i = 0; i < map->slots; i++) {
		const uint64_t *entry = map->entries + i * width;
		uint64_t hash;
		size_t slot;

		if (!map->tags[i])
			continue;
		hash = hash_key(map, entry);
		slot = find_slot(&larger, entry, hash);
		larger.tags[slot] = map->tags[i];
		memcpy(larger.entries + slot * width, entry, width * sizeof(uint64_t));
	}
	release(map, map->tags);
	release(map, map->entries);
	*map = larger;
	return true;
}

uint64_t *map_add(struct map *map, const uint64_t *key, bool *added)
{
	uint64_t hash, *entry;
	size_t slot;

	/* At most three quarters full. */
	if (map->count >= map->slots - map->slots / 4 && !grow(map))
		return NULL;
	hash = hash_key(map, key);
	slot = find_slot(map, key, hash);
	entry = map->entries + slot * (map->key_words + map->value_words);
	*added = !map->tags[slot];
	if (*added && map->arena && arena_status(map->arena))
		return NULL;
	if (*added) {
		map->tags[slot] = tag_of(hash);
		memcpy(entry, key, map->key_words * sizeof(*key));
		memset(entry + map->key_words, 0, map->value_words * sizeof(*key));
		map->count++;
	}
	return entry + map->key_words;
}

bool map_next(const struct map *map, size_t *at, const uint64_t **key, uint64_t **value)
{
	while (*at < map->slots && !map->tags[*at])
		(*at)++;
	if (*at == map->slots)
		return false;
	*key = map->entries + *at * (map->key_words + map->value_words);
	*value = map->entries + *at * (map->key_words + map->value_words) + map->key_words;
	(*at)++;
	return true;
}

uint64_t map_hash_bytes(const struct map *map, const void *bytes, size_t length)
{
	uint64_t hash = map->seed[0] ^ length, word;
	const char *at = bytes;

	for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_mix(hash ^ word, map->seed[1]);
	}
	word = 0;
	if (length) /* `bytes` may be NULL if empty */
		memcpy(&word, at, length);
	return hash_mix(hash ^ word, map->seed[1]);
}
