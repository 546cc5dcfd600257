/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Building blocks of analyses: the hash map against an array, the histogram against sorted values.
 */
#include <errno.h>

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "collections/arena.h"
#include "collections/compare.h"
#include "collections/histogram.h"
#include "collections/map.h"
#include "tests/random.h"

static uint64_t random_state = 88172645463325252;

static uint64_t random_bits(void)
{
	return next_random(&random_state);
}

/* Keys of three words that differ in only one, in its lowest or highest bits. */
static void make_key(uint64_t key[3], unsigned int number)
{
	key[0] = number % 3 == 0 ? number : 7;
	key[1] = number % 3 == 1 ? (uint64_t)number << 48 : 7;
	key[2] = number % 3 == 2 ? ~(uint64_t)number : 7;
}

TEST(test_map)
{
	enum { KEYS = 5000 };
	static uint64_t expected[KEYS];
	static bool present[KEYS];
	uint64_t key[3];
	struct map map;
	size_t count = 0;

	map_init(&map, 3, 2);
	make_key(key, 1);
	assert_null(map_find(&map, key));
	for (int i = 0; i < 20000; i++) {
		unsigned int number = random_bits() % KEYS;
		uint64_t *value;
		bool added;

		make_key(key, number);
		value = map_add(&map, key, &added);
		assert_non_null(value);
		assert_int_equal(added, !present[number]);
		assert_true(value[0] == expected[number] && value[1] == ~expected[number] * !added);
		count += added;
		present[number] = true;
		expected[number] = value[0] = random_bits();
		value[1] = ~value[0];
	}
	assert_int_equal(map.count, count);
	for (unsigned int i = 0; i < KEYS; i++) {
		uint64_t *value;

		make_key(key, i);
		value = map_find(&map, key);
		assert_int_equal(value != NULL, present[i]);
		if (value)
			assert_true(value[0] == expected[i] && value[1] == ~expected[i]);
	}
	map_free(&map);
	map_free(&map);
	assert_null(map_find(&map, key));
}

TEST(test_map_hash)
{
	struct map map;
	char text[64] = "/usr/lib/python3/dist-packages";
	uint64_t hash;

	map_init(&map, 1, 1);
	hash = map_hash_bytes(&map, text, strlen(text));
	assert_true(hash == map_hash_bytes(&map, text, strlen(text)));
	for (size_t i = 0; i < strlen(text); i++)
		assert_true(hash != map_hash_bytes(&map, text, i));
	/* Trailing zeros count. */
	assert_true(map_hash_bytes(&map, "\0\0", 1) != map_hash_bytes(&map, "\0\0", 2));
	map_free(&map);
}

static uint64_t random_value(int kind)
{
	switch (kind) {
	case 0:
		return random_bits() % 128; /* exact */
	case 1:
		return random_bits() % 1000000;
	default:
		return random_bits() >> (random_bits() % 64);
	}
}

TEST(test_percentiles)
{
	enum { VALUES = 999 };
	static struct histogram histogram;
	static uint64_t values[VALUES];

	for (int round = 0; round < 60; round++) {
		size_t count = 1 + random_bits() % VALUES;

		memset(&histogram, 0, sizeof(histogram));
		assert_int_equal(histogram_percentile(&histogram, 50), 0);
		for (size_t i = 0; i < count; i++) {
			values[i] = random_value(round % 3);
			histogram_add(&histogram, values[i]);
		}
		qsort(values, count, sizeof(*values), compare_u64);
		assert_int_equal(histogram.count, count);
		assert_true(histogram.max == values[count - 1]);
		for (unsigned int percent = 0; percent <= 100; percent++) {
			size_t rank = (count * percent + 99) / 100;
			uint64_t exact = values[rank ? rank - 1 : 0];
			uint64_t found = histogram_percentile(&histogram, percent);

			assert_true(found >= exact && found - exact <= exact / 64);
			if (round % 3 == 0)
				assert_int_equal(found, exact);
		}
		assert_true(histogram_percentile(&histogram, 100) == values[count - 1]);
	}
}

/* Every bucket is at most 1/64 of its values wide, and buckets are contiguous. */
TEST(test_classes)
{
	uint64_t value = 0;

	assert_int_equal(histogram_class(0), 0);
	assert_int_equal(histogram_class(UINT64_MAX), HISTOGRAM_CLASSES - 1);
	for (int shift = 0; shift < 64; shift++) {
		value = 1ull << shift;
		assert_true(histogram_class(value) - histogram_class(value - 1) <= 1);
		assert_true(histogram_class(value + value / 64) <= histogram_class(value) + 1);
	}
}

TEST(test_arena)
{
	struct arena arena = { 0 };
	static char *pieces[3000];
	static size_t sizes[3000];

	for (int i = 0; i < 3000; i++) {
		sizes[i] = random_bits() % (i % 100 ? 200 : 100000);
		pieces[i] = arena_alloc(&arena, sizes[i]);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 8, 0);
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], i, sizes[i]);
	}
	for (int i = 0; i < 3000; i++)
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(pieces[i][j], (char)i);
	assert_memory_equal(arena_text(&arena, "ab\0c", 4), "ab\0c", 5);
	assert_string_equal(arena_text(&arena, NULL, 0), "");
	assert_null(arena_alloc(&arena, SIZE_MAX));
	arena_free(&arena);
	arena_free(&arena);
}

/* Blocks that grow and are freed early, next to each other. */
TEST(test_arena_blocks)
{
	enum { ARRAYS = 20 };
	struct arena arena = { 0 };
	uint32_t *items[ARRAYS] = { 0 };
	size_t room[ARRAYS] = { 0 }, count[ARRAYS] = { 0 };
	struct map map;

	map_init_in(&map, &arena, 1, 1);
	for (uint64_t i = 0; i < 100000; i++) {
		unsigned int number = random_bits() % ARRAYS;
		bool added;

		if (!(random_bits() % 500)) {
			arena_release(&arena, items[number]);
			items[number] = NULL;
			room[number] = count[number] = 0;
		}
		assert_true(ARENA_GROW(&arena, items[number], room[number], count[number] + 1));
		assert_int_equal(items[number][count[number]], 0);
		assert_true(!count[number] ||
			    items[number][count[number] - 1] == count[number] - 1 + number);
		items[number][count[number]] = count[number] + number;
		count[number]++;
		*map_add(&map, &i, &added) = i;
		assert_true(added);
	}
	for (uint64_t i = 0; i < 100000; i++)
		assert_true(*map_find(&map, &i) == i);
	arena_free(&arena);
}

/* After the first error nothing is allocated, and nothing that exists is lost. */
TEST(test_arena_fails)
{
	const uint64_t key = 1, other = 2;
	struct arena arena = { 0 };
	struct map map;
	int *items = NULL;
	size_t room = 0;
	bool added;

	map_init_in(&map, &arena, 1, 1);
	*map_add(&map, &key, &added) = 5;
	assert_true(ARENA_GROW(&arena, items, room, 3));
	items[2] = 7;
	assert_int_equal(arena_status(&arena), 0);
	assert_false(ARENA_GROW(&arena, items, room, SIZE_MAX / 2));
	assert_int_equal(arena_status(&arena), -ENOMEM);
	assert_int_equal(items[2], 7);
	assert_null(arena_alloc(&arena, 1));
	assert_null(arena_text(&arena, "a", 1));
	assert_null(map_add(&map, &other, &added));
	assert_true(*map_add(&map, &key, &added) == 5);
	assert_true(ARENA_GROW(&arena, items, room, 3));
	arena_free(&arena);
	assert_int_equal(arena_status(&arena), 0);
	assert_non_null(arena_alloc(&arena, 1));
	arena_free(&arena);
}
