/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table of types by name. */
#include "capture/support/type_names.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

struct type_names {
	const struct btf *btf;
	size_t mask;
	uint32_t *ids; /* 0: free slot; types with the same name are in order */
};

static uint32_t name_hash(const char *name, size_t bytes)
{
	uint64_t hash = bytes, word;

	for (; bytes > 8; name += 8, bytes -= 8) {
		memcpy(&word, name, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, name, bytes);
	return (hash ^ word) * 0x9e3779b97f4a7c15 >> 32;
}

/* Enters types in order, each in the first free slot from its name's hash on. */
static void enter(struct type_names *names, const uint32_t *ids, const size_t *slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t slot = slots[i];

		while (names->ids[slot])
			slot = (slot + 1) & names->mask;
		names->ids[slot] = ids[i];
	}
}

#define AHEAD 32 /* names whose slots are being prefetched */

int type_names_open(struct type_names **out, const struct btf *btf, uint32_t first)
{
	struct type_names *names = calloc(1, sizeof(*names));
	uint32_t end = btf__type_cnt(btf), ids[AHEAD];
	size_t room = 64, slots[AHEAD], count = 0;

	while (room < 2 * (size_t)(end - first))
		room *= 2;
	if (names)
		names->ids = calloc(room, sizeof(*names->ids));
	if (!names || !names->ids) {
		type_names_close(names);
		return -ENOMEM;
	}
	names->btf = btf;
	names->mask = room - 1;
	for (uint32_t id = first; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name;

		if (!type->name_off)
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		ids[count] = id;
		slots[count] = name_hash(name, strlen(name)) & names->mask;
		__builtin_prefetch(&names->ids[slots[count]], 1);
		if (++count == AHEAD) {
			enter(names, ids, slots, count);
			count = 0;
		}
	}
	enter(names, ids, slots, count);
	*out = names;
	return 0;
}

void type_names_close(struct type_names *names)
{
	if (!names)
		return;
	free(names->ids);
	free(names);
}

uint32_t type_names_next(const struct type_names *names, const char *name, size_t bytes,
			 size_t *slot)
{
	size_t start = name_hash(name, bytes);

	for (;;) {
		uint32_t id = names->ids[(start + (*slot)++) & names->mask];
		const char *text;

		if (!id)
			return 0;
		text = btf__name_by_offset(names->btf, btf__type_by_id(names->btf, id)->name_off);
		if (!strncmp(text, name, bytes) && !text[bytes])
			return id;
	}
}

int type_names_find(const struct type_names *names, const char *name, unsigned int kind)
{
	size_t slot = 0, bytes = strlen(name);
	uint32_t id;

	do
		id = type_names_next(names, name, bytes, &slot);
	while (id && btf_kind(btf__type_by_id(names->btf, id)) != kind);
	return id ? (int)id : -ENOENT;
}
