/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two generations of a hash table: an entry that is used moves into the younger one. When that is
 * full, the older one is cleared and becomes the younger.
 */
#include "monitor/ledger/file_names.h"

#include <stdlib.h>

struct generation {
	struct file_name *places; /* slots, at least twice as many as entries */
	unsigned int count;
};

struct file_names {
	struct generation young, old;
	unsigned int most, places; /* places: a power of two */
};

struct file_names *file_names_open(unsigned int least)
{
	struct file_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->most = least;
	names->places = 2;
	while (names->places < 2 * least)
		names->places *= 2;
	names->young.places = calloc(names->places, sizeof(*names->young.places));
	names->old.places = calloc(names->places, sizeof(*names->old.places));
	if (names->young.places && names->old.places)
		return names;
	file_names_close(names);
	return NULL;
}

static void forget(struct file_names *names, struct generation *generation)
{
	for (unsigned int i = 0; generation->places && i < names->places; i++) {
		free(generation->places[i].path);
		generation->places[i] = (struct file_name) { 0 };
	}
	generation->count = 0;
}

void file_names_close(struct file_names *names)
{
	if (!names)
		return;
	forget(names, &names->young);
	forget(names, &names->old);
	free(names->young.places);
	free(names->old.places);
	free(names);
}

/* Returns the entry's slot, or the free slot where it belongs. */
static struct file_name *place_of(const struct file_names *names,
				  const struct generation *generation, uint32_t id)
{
	unsigned int at = id * 0x9e3779b1u & (names->places - 1);

	while (generation->places[at].id && generation->places[at].id != id)
		at = (at + 1) & (names->places - 1);
	return &generation->places[at];
}

static struct file_name *put(struct file_names *names, const struct file_name *name)
{
	struct file_name *place = place_of(names, &names->young, name->id);

	if (!place->id && names->young.count == names->most) {
		struct generation old = names->old;

		names->old = names->young;
		names->young = old;
		forget(names, &names->young);
		place = place_of(names, &names->young, name->id);
	}
	names->young.count += !place->id;
	free(place->path);
	*place = *name;
	return place;
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
	struct file_name *place, moved;

	if (!id)
		return NULL;
	place = place_of(names, &names->young, id);
	if (place->id)
		return place;
	place = place_of(names, &names->old, id);
	if (!place->id || !place->path)
		return NULL;
	/* The old slot keeps later entries findable; its NULL path marks it as moved. */
	moved = *place;
	place->path = NULL;
	return put(names, &moved);
}
