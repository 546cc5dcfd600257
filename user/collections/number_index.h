/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds items of an array by content, with about eight bytes per item: a hash table of their
 * numbers only. Each index has a random seed, so that no trace can provoke collisions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_index {
	uint32_t *slots; /* number + 1; 0: free */
	size_t room;	 /* slots: a power of two, or 0 */
	size_t count;
	uint64_t seed;
	uint64_t (*hash_of)(const void *items, uint32_t number, uint64_t seed);
};

/* `hash_of` hashes an item in the index; it must match the number_index_hash of a search. Allocates
 * nothing, so it cannot fail. */
void number_index_init(struct number_index *index,
		       uint64_t (*hash_of)(const void *items, uint32_t number, uint64_t seed));
void number_index_free(struct number_index *index);

/* Returns a hash of words with a seed. */
uint64_t number_index_hash(uint64_t seed, const uint64_t *words, size_t count);

/* Iterates over the items that may have a hash: returns the number of the next one, or UINT32_MAX
 * after the last. *at starts as the hash. */
uint32_t number_index_next(const struct number_index *index, uint64_t *at);

/* Makes room for `count` items. Returns false if out of memory. */
bool number_index_reserve(struct number_index *index, const void *items, size_t count);
/* Adds an item that is already in the array. Returns false if out of memory. */
bool number_index_add(struct number_index *index, const void *items, uint32_t number);
