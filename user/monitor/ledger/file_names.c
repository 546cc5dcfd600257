/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two generations of a hash table: an entry that is used moves into the younger one. When that is
 * full, the older one is cleared and becomes the younger.
 */
#include "monitor/ledger/file_names.h"

#include <stdlib.h>

struct generation {
	struct file_name *slots; /* slots, at least twice as many as entries */
	unsigned int count;
};

struct file_names {
	struct generation young, old;
	unsigned int max, slots; /* places: a power of two */
};

struct file_names *file_names_open(unsigned int min)
{
	struct file_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->max = min;
	names->slots = 2;
	while (names->slots < 2 * min)
		names->slots *= 2;
	names->young.slots = calloc(names->slots, sizeof(*names->young.slots));
	names->old.slots = calloc(names->slots, sizeof(*names->old.slots));
	if (names->young.slots && names->old.slots)
		return names;
	file_names_close(names);
	return NULL;
}

static void forget(struct file_names *names, struct generation *generation)
{
	for (unsigned int i = 0; generation->slots && i < names->slots; i++) {
		free(generation->slots[i].path);
		generation->slots[i] = (struct file_name) { 0 };
	}
	generation->count = 0;
}

void file_names_close(struct file_names *names)
{
	if (!names)
		return;
	forget(names, &names->young);
	forget(names, &names->old);
	free(names->young.slots);
	free(names->old.slots);
	free(names);
}

/* Returns the entry's slot, or the free slot where it belongs. */
static struct file_name *slot_of(const struct file_names *names,
				 const struct generation *generation, uint32_t id)
{
	unsigned int at = id * 0x9e3779b1u & (names->slots - 1);

	while (generation->slots[at].id && generation->slots[at].id != id)
		at = (at + 1) & (names->slots - 1);
	return &generation->slots[at];
}

static struct file_name *put(struct file_names *names, const struct file_name *name)
{
	struct file_name *slot = slot_of(names, &names->young, name->id);

	if (!slot->id && names->young.count == names->max) {
		struct generation old = names->old;

		names->old = names->young;
		names->young = old;
		forget(names, &names->young);
		slot = slot_of(names, &names->young, name->id);
	}
	names->young.count += !slot->id;
	free(slot->path);
	*slot = *name;
	return slot;
}

void file_names_set(struct file_names *names, const struct file_name *name)
{
	if (name->id && name->path)
		put(names, name);
	else
		free(name->path);
}

const struct file_name *file_names_find(struct file_names *names, uint32_t id)
{
	struct file_name *slot, moved;

	if (!id)
		return NULL;
	slot = slot_of(names, &names->young, id);
	if (slot->id)
		return slot;
	slot = slot_of(names, &names->old, id);
	if (!slot->id || !slot->path)
		return NULL;
	/* The old slot keeps later entries findable; its NULL path marks it as moved. */
	moved = *slot;
	slot->path = NULL;
	return put(names, &moved);
}
