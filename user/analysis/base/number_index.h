/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds items of an array by what they are, in some eight bytes an item: a hash table of their
 * numbers alone, seeded anew each time so that no trace can choose its collisions. Knows nothing of
 * what the items are.
 */
#ifndef FAULTLINE_NUMBER_INDEX_H
#define FAULTLINE_NUMBER_INDEX_H

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

/* `hash_of` hashes an item that is in the index, as number_index_hash hashes what is looked for.
 * Needs no memory, so it cannot fail. */
void number_index_init(struct number_index *index,
		       uint64_t (*hash_of)(const void *items, uint32_t number, uint64_t seed));
void number_index_free(struct number_index *index);

/* A hash of some words under a seed. */
uint64_t number_index_hash(uint64_t seed, const uint64_t *words, size_t count);

/* Goes through the items that may have a hash: the number of the next one, or UINT32_MAX behind the
 * last. *at is the hash at first. */
uint32_t number_index_next(const struct number_index *index, uint64_t *at);

/* Sees that there is room for so many items. False when memory is out. */
bool number_index_reserve(struct number_index *index, const void *items, size_t count);
/* Adds an item of an array that it is in. False when memory is out. */
bool number_index_add(struct number_index *index, const void *items, uint32_t number);

#endif
