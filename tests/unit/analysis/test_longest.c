// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Selecting the longest items, checked against a full sort. */
#include "unit_test.h"

#include <stdlib.h>

#include "base/longest.h"
#include "tests/random.h"

#define MANY 1000
#define MOST 37

struct item {
	uint64_t length, number;
};

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return a->length < b->length ? 1 : a->length > b->length ? -1 : 0;
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
