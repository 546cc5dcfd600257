/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The measure of a union of intervals, checked by filling squares one by one. */
#include "unit_test.h"

#include <string.h>

#include "collections/intervals.h"
#include "tests/random.h"

#define WIDTH 200

static uint64_t random_state = 0x2545f4914f6cdd1d;

static uint32_t random_below(uint32_t limit)
{
	return (next_random(&random_state) >> 32) % limit;
}

TEST(test_known)
{
	struct interval_union whole = { 0 };

	interval_add(&whole, 10, 20);
	assert_int_equal(whole.measure, 10);
	interval_add(&whole, 10, 20); /* again */
	interval_add(&whole, 12, 15); /* inside */
	assert_int_equal(whole.measure, 10);
	interval_add(&whole, 20, 25); /* touching */
	assert_int_equal(whole.measure, 15);
	interval_add(&whole, 24, 30); /* overlapping */
	assert_int_equal(whole.measure, 20);
	interval_add(&whole, 40, 40); /* empty */
	interval_add(&whole, 40, 41); /* apart */
	assert_int_equal(whole.measure, 21);
	interval_add(&whole, 50, 45); /* reversed: ignored */
	assert_int_equal(whole.measure, 21);
	assert_int_equal(whole.end, 41);
}

TEST(test_largest)
{
	struct interval_union whole = { 0 };

	interval_add(&whole, 0, UINT64_MAX);
	interval_add(&whole, UINT64_MAX, UINT64_MAX);
	assert_int_equal(whole.measure, UINT64_MAX);
}

/* Out of order, the measure may fall short but never counts a moment twice. */
TEST(test_out_of_order)
{
	struct interval_union whole = { 0 };

	interval_add(&whole, 50, 60);
	interval_add(&whole, 10, 20);
	interval_add(&whole, 10, 70);
	assert_int_equal(whole.measure, 20);
}

TEST(test_painter)
{
	for (int round = 0; round < 2000; round++) {
		struct interval_union whole = { 0 };
		unsigned char painted[WIDTH] = { 0 };
		uint64_t measure = 0, start = random_below(20);

		while (start < WIDTH) {
			uint64_t end = start + random_below(round % 3 ? 10 : 60);

			end = end < WIDTH ? end : WIDTH;
			for (uint64_t i = start; i < end; i++) {
				measure += !painted[i];
				painted[i] = 1;
			}
			interval_add(&whole, start, end);
			assert_int_equal(whole.measure, measure);
			start += random_below(round % 5 ? 8 : 30);
		}
	}
}

/* --- in any order --- */

TEST(test_any_order)
{
	struct arena arena = { 0 };

	for (int round = 0; round < 500; round++) {
		struct intervals intervals = { 0 };
		unsigned char painted[WIDTH] = { 0 };
		uint64_t measure = 0;

		for (int i = 0; i < 30; i++) {
			uint64_t start = random_below(WIDTH), end = start + random_below(12);

			end = end < WIDTH ? end : WIDTH;
			for (uint64_t j = start; j < end; j++) {
				measure += !painted[j];
				painted[j] = 1;
			}
			intervals_add(&intervals, &arena, start, end);
			if (i % 10 == 9)
				assert_int_equal(intervals_measure(&intervals), measure);
		}
	}
	assert_int_equal(arena_status(&arena), 0);
	arena_free(&arena);
}

/* However many there are, room is bounded, and the measure exact if they come nearly in order. */
TEST(test_many)
{
	struct intervals intervals = { 0 };
	struct arena arena = { 0 };

	for (uint64_t i = 0; i < 3 * INTERVALS_MAX; i++)
		intervals_add(&intervals, &arena, 10 * (i ^ 7), 10 * (i ^ 7) + 3);
	assert_int_equal(intervals_measure(&intervals), 3 * 3 * (uint64_t)INTERVALS_MAX);
	assert_true(intervals.count <= INTERVALS_MAX && intervals.room <= 2 * INTERVALS_MAX);
	/* Long ago: counts as covered. */
	intervals_add(&intervals, &arena, 5, 6);
	assert_int_equal(intervals_measure(&intervals), 3 * 3 * (uint64_t)INTERVALS_MAX);
	/* The whole: only the forgotten part falls short. */
	intervals_add(&intervals, &arena, 0, 30ull * INTERVALS_MAX);
	assert_true(intervals_measure(&intervals) <= 30ull * INTERVALS_MAX);
	assert_true(intervals_measure(&intervals) >= 3 * 3 * (uint64_t)INTERVALS_MAX);
	arena_free(&arena);
}
