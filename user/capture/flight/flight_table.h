/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table from two numbers to values, which it owns: it frees removed and replaced values. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct flight_item {
	uint64_t key, key2;
	void *value; /* NULL: the slot is free */
};

struct flight_table {
	struct flight_item *items;
	size_t slots, count;
	uint64_t seed;
};

void flight_table_free(struct flight_table *table); /* zero-initialized is empty */
void *flight_table_find(const struct flight_table *table, uint64_t key, uint64_t key2);
/* Takes ownership of `value`, allocated by malloc; frees it on failure. Returns 0 or -ENOMEM. */
int flight_table_put(struct flight_table *table, uint64_t key, uint64_t key2, void *value);
void flight_table_remove(struct flight_table *table, uint64_t key, uint64_t key2);
/* Iterates over the items, in no order: *at starts at 0. Returns NULL after the last one. */
const struct flight_item *flight_table_next(const struct flight_table *table, size_t *at);
