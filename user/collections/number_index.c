/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The index. Linear probing over numbers; callers compare the items themselves. */
#include "collections/number_index.h"

#include <stdlib.h>
#include <sys/random.h>

#include "collections/hash.h"

#define SLOTS_MIN 64

void number_index_init(struct number_index *index,
		       uint64_t (*hash_of)(const void *items, uint32_t number, uint64_t seed))
{
	*index = (struct number_index) { .hash_of = hash_of };
	/* Without random numbers, address space randomization still makes the seed hard to guess.
	 */
	if (getentropy(&index->seed, sizeof(index->seed)))
		index->seed = hash_mix((uintptr_t)index, 0x9e3779b97f4a7c15);
	index->seed |= 1;
}

void number_index_free(struct number_index *index)
{
	free(index->slots);
	index->slots = NULL;
	index->room = index->count = 0;
}

uint64_t number_index_hash(uint64_t seed, const uint64_t *words, size_t count)
{
	uint64_t hash = seed ^ 0x9e3779b97f4a7c15;

	for (size_t i = 0; i < count; i++)
		hash = hash_mix(hash ^ words[i], seed);
	return hash;
}

uint32_t number_index_next(const struct number_index *index, uint64_t *at)
{
	uint32_t number;

	if (!index->room)
		return UINT32_MAX;
	number = index->slots[(*at)++ & (index->room - 1)];
	return number ? number - 1 : UINT32_MAX;
}

static void put(uint32_t *slots, size_t room, uint64_t hash, uint32_t number)
{
	size_t slot = hash & (room - 1);

	while (slots[slot])
		slot = (slot + 1) & (room - 1);
	slots[slot] = number + 1;
}

bool number_index_reserve(struct number_index *index, const void *items, size_t count)
{
	size_t room = index->room ? index->room : SLOTS_MIN;
	uint32_t *slots;

	while (count > room - room / 4) /* at most three quarters full */
		room *= 2;
	if (room == index->room)
		return true;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i])
			put(slots, room, index->hash_of(items, index->slots[i] - 1, index->seed),
			    index->slots[i] - 1);
	free(index->slots);
	index->slots = slots;
	index->room = room;
	return true;
}

bool number_index_add(struct number_index *index, const void *items, uint32_t number)
{
	if (!number_index_reserve(index, items, index->count + 1))
		return false;
	put(index->slots, index->room, index->hash_of(items, number, index->seed), number);
	index->count++;
	return true;
}
