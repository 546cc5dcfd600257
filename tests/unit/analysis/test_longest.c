// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Selecting the longest items, checked against a full sort. */
#include "unit_test.h"

#include <stdlib.h>

#include "collections/compare.h"
#include "collections/longest.h"
#include "tests/random.h"

#define MANY 1000
#define MOST 37

struct item {
	uint64_t length, number;
};

COMPARE_BY(compare, struct item, COMPARE(b->length, a->length))

/* The choice of two passes is the same as that of the heap. */
static void check_choice(uint64_t modulus, size_t many, size_t spared)
{
	struct longest_choice choice = { 0 };
	struct arena arena = { 0 };
	uint64_t random = 12345, lengths[MANY], all[MANY], last = 0;
	size_t taken = 0, equals = 0;

	for (size_t i = 0; i < many; i++) {
		lengths[i] = all[i] = next_random(&random) % modulus;
		longest_add(&choice, &arena, MOST, lengths[i]);
	}
	longest_decide(&choice, spared);
	qsort(all, many, sizeof(all[0]), compare);
	assert_int_equal(choice.count, many <= MOST + spared ? many : MOST);
	last = choice.count ? all[choice.count - 1] : 0;
	for (size_t i = 0; i < choice.count; i++)
		equals += all[i] == last;
	for (size_t i = 0; i < many; i++) {
		bool expected = lengths[i] > last || (lengths[i] == last && equals);

		equals -= lengths[i] == last && equals;
		assert_int_equal(longest_takes(&choice, lengths[i]), expected);
		taken += expected;
	}
	assert_int_equal(taken, choice.count);
	arena_free(&arena);
}

TEST(test_choice)
{
	static const size_t counts[] = { 0, 1, MOST - 1, MOST, MOST + 1, MOST + 2, MANY };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (size_t spared = 0; spared < 2; spared++) {
			check_choice(5, counts[i], spared);
			check_choice(1, counts[i], spared);
			check_choice(1000000, counts[i], spared);
		}
}

static void check(uint64_t modulus, size_t many)
{
	struct item all[MANY], kept[MOST];
	uint64_t random = 12345;
	size_t count = 0;

	for (size_t i = 0; i < many; i++) {
		all[i] = (struct item) { next_random(&random) % modulus, i };
		longest_keep(kept, &count, MOST, &all[i], sizeof(all[i]));
	}
	assert_int_equal(count, many < MOST ? many : MOST);
	for (size_t i = 0; i < count; i++) {
		/* A heap of the items as they were given. */
		assert_true(kept[i].length >= kept[(i - (i > 0)) / 2].length);
		assert_int_equal(kept[i].length, all[kept[i].number].length);
	}
	qsort(all, many, sizeof(all[0]), compare);
	qsort(kept, count, sizeof(kept[0]), compare);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(kept[i].length, all[i].length);
}

TEST(test_longest)
{
	check(UINT64_MAX, MANY);
	check(5, MANY);
	check(UINT64_MAX, MOST - 1);
	check(UINT64_MAX, MOST);
	check(UINT64_MAX, 0);
}

/* Among items of equal length the first ones stay. */
TEST(test_first_of_equals)
{
	struct item kept[2];
	size_t count = 0;

	for (uint64_t i = 0; i < 4; i++) {
		struct item item = { 7, i };

		longest_keep(kept, &count, 2, &item, sizeof(item));
	}
	assert_int_equal(kept[0].number + kept[1].number, 1);
}
