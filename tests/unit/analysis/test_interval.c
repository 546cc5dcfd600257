/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The measure of a union of intervals, checked by filling squares one by one. */
#include "unit_test.h"

#include <string.h>

#include "base/interval.h"
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
