/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Open addressing; removal moves later items up. */
#include "capture/flight/flight_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#define SLOTS_FIRST 64

static size_t place(const struct flight_table *table, uint64_t key, uint64_t key2)
{
	uint64_t hash = (key ^ table->seed) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 31 ^ key2) * 0xbf58476d1ce4e5b9ull;
	return (hash ^ hash >> 29) & (table->slots - 1);
}

static size_t next_place(const struct flight_table *table, size_t at)
{
	return (at + 1) & (table->slots - 1);
}

/* Returns the slot of the key, or the free slot where it belongs. */
static size_t find(const struct flight_table *table, uint64_t key, uint64_t key2)
{
	size_t at = place(table, key, key2);

	while (table->items[at].value &&
	       (table->items[at].key != key || table->items[at].key2 != key2))
		at = next_place(table, at);
	return at;
}

void flight_table_free(struct flight_table *table)
{
	for (size_t i = 0; i < table->slots; i++)
		free(table->items[i].value);
	free(table->items);
	*table = (struct flight_table) { 0 };
}

void *flight_table_find(const struct flight_table *table, uint64_t key, uint64_t key2)
{
	return table->slots ? table->items[find(table, key, key2)].value : NULL;
}

static bool grow(struct flight_table *table)
{
	struct flight_table larger = { .slots = table->slots ? 2 * table->slots : SLOTS_FIRST,
				       .count = table->count,
				       .seed = table->seed };

	/* Programs may choose the ids used as keys, so slots must not be predictable. */
	if (!larger.seed && getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = (uintptr_t)table;
	larger.items = calloc(larger.slots, sizeof(*larger.items));
	if (!larger.items)
		return false;
	for (size_t i = 0; i < table->slots; i++)
		if (table->items[i].value)
			larger.items[find(&larger, table->items[i].key, table->items[i].key2)] =
				table->items[i];
	free(table->items);
	*table = larger;
	return true;
}

int flight_table_put(struct flight_table *table, uint64_t key, uint64_t key2, void *value)
{
	struct flight_item *item;

	if (table->count >= table->slots / 4 * 3 && !grow(table)) {
		free(value);
		return -ENOMEM;
	}
	item = &table->items[find(table, key, key2)];
	if (!item->value)
		table->count++;
	free(item->value);
	*item = (struct flight_item) { key, key2, value };
	return 0;
}

void flight_table_remove(struct flight_table *table, uint64_t key, uint64_t key2)
{
	size_t hole, at;

	if (!flight_table_find(table, key, key2))
		return;
	hole = at = find(table, key, key2);
	free(table->items[hole].value);
	table->count--;
	for (;;) {
		size_t home;

		table->items[hole].value = NULL;
		do {
			at = next_place(table, at);
			if (!table->items[at].value)
				return;
			home = place(table, table->items[at].key, table->items[at].key2);
			/* An item may move to the hole unless its home slot is after the hole. */
		} while (hole <= at ? hole < home && home <= at : hole < home || home <= at);
		table->items[hole] = table->items[at];
		hole = at;
	}
}

const struct flight_item *flight_table_next(const struct flight_table *table, size_t *at)
{
	while (*at < table->slots) {
		const struct flight_item *item = &table->items[(*at)++];

		if (item->value)
			return item;
	}
	return NULL;
}
