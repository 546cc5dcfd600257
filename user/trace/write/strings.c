/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table with open addressing over one arena. */
#include "trace/write/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "collections/hash.h"

#define FIRST_SLOTS 1024

void strings_init(struct strings *strings)
{
	memset(strings, 0, sizeof(*strings));
	if (getrandom(&strings->seed, sizeof(strings->seed), GRND_NONBLOCK) < 0)
		strings->seed = (uintptr_t)strings; /* early in boot; the load address is random */
}

void strings_free(struct strings *strings)
{
	free(strings->slots);
	free(strings->bytes);
	free(strings->recent);
	memset(strings, 0, sizeof(*strings));
}

/* Eight bytes at a time by multiplication, as wyhash does. */
static uint32_t hash_bytes(const uint8_t *bytes, size_t length, uint64_t seed)
{
	uint64_t hash = seed ^ length * 0x9e3779b97f4a7c15u, word;

	for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = hash_mix(hash ^ 0xa0761d6478bd642fu, word ^ 0xe7037ed1a0b428dbu);
	}
	word = 0;
	memcpy(&word, bytes, length);
	return hash_mix(hash ^ 0x8ebc6af09c88c6e3u, word ^ 0x589965cc75374cc3u);
}

/* Returns the slot that holds the string, or the free one where it belongs. */
static struct strings_slot *find_slot(const struct strings *strings, uint32_t hash,
				      const void *bytes, size_t length)
{
	size_t mask = strings->slot_count - 1;

	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		struct strings_slot *slot = &strings->slots[at];

		if (!slot->id || (slot->hash == hash && slot->length == length &&
				  !memcmp(strings->bytes + slot->offset, bytes, length)))
			return slot;
	}
}

static void forget(struct strings *strings)
{
	memset(strings->slots, 0, strings->slot_count * sizeof(*strings->slots));
	strings->used = 0;
	strings->length = 0;
}

static int grow_slots(struct strings *strings)
{
	size_t count = strings->slot_count ? 2 * strings->slot_count : FIRST_SLOTS;
	struct strings_slot *old = strings->slots, *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < strings->slot_count; i++) {
		size_t at = old[i].hash & (count - 1);

		if (!old[i].id)
			continue;
		while (slots[at].id)
			at = (at + 1) & (count - 1);
		slots[at] = old[i];
	}
	free(old);
	strings->slots = slots;
	strings->slot_count = count;
	return 0;
}

static int grow_bytes(struct strings *strings)
{
	size_t capacity = strings->capacity ? 2 * strings->capacity : STRINGS_LENGTH_MAX;
	uint8_t *bytes;

	if (capacity > STRINGS_BYTES)
		capacity = STRINGS_BYTES;
	bytes = realloc(strings->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	strings->bytes = bytes;
	strings->capacity = capacity;
	return 0;
}

/* Makes room for one more string, dropping all others if necessary. */
static int make_room(struct strings *strings, size_t length)
{
	bool slots_full = strings->used >= strings->slot_count / 4 * 3;

	if ((slots_full && strings->slot_count >= STRINGS_SLOTS) ||
	    strings->length + length > STRINGS_BYTES) {
		forget(strings);
		slots_full = false;
	}
	if (slots_full && grow_slots(strings))
		return -ENOMEM;
	while (strings->capacity - strings->length < length)
		if (grow_bytes(strings))
			return -ENOMEM;
	return 0;
}

int strings_intern(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
		   bool *is_new)
{
	uint32_t hash = hash_bytes(bytes, length, strings->seed);
	struct strings_slot *slot;

	if (length <= STRINGS_LENGTH_MAX) {
		if (strings->slot_count) {
			slot = find_slot(strings, hash, bytes, length);
			if (slot->id) {
				*id = slot->id;
				*is_new = false;
				return 0;
			}
		}
		if (make_room(strings, length))
			return -ENOMEM;
	}
	if (strings->last_id == UINT32_MAX)
		return -ENOSPC;
	*id = ++strings->last_id;
	*is_new = true;
	if (length > STRINGS_LENGTH_MAX)
		return 0;
	slot = find_slot(strings, hash, bytes, length);
	*slot = (struct strings_slot) {
		.id = *id, .hash = hash, .offset = strings->length, .length = length
	};
	memcpy(strings->bytes + strings->length, bytes, length);
	strings->length += length;
	strings->used++;
	return 0;
}

int strings_intern_recent(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
			  bool *is_new)
{
	uint32_t hash = hash_bytes(bytes, length, strings->seed);
	struct strings_recent *recent;

	if (!strings->recent)
		strings->recent = calloc(STRINGS_RECENT, sizeof(*strings->recent));
	if (!strings->recent)
		return -ENOMEM;
	recent = &strings->recent[hash % STRINGS_RECENT];
	*is_new = !recent->id || recent->hash != hash || recent->length != length ||
		  memcmp(recent->bytes, bytes, length);
	if (!*is_new) {
		*id = recent->id;
		return 0;
	}
	if (strings->last_id == UINT32_MAX)
		return -ENOSPC;
	*id = ++strings->last_id;
	if (length > STRINGS_RECENT_BYTES)
		return 0;
	recent->id = *id;
	recent->hash = hash;
	recent->length = length;
	memcpy(recent->bytes, bytes, length);
	return 0;
}
