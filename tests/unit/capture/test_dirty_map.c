/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Data waiting for writeback, checked against a model that tracks every page. */
#include "unit_test.h"

#include <string.h>

#include "analysis/devices/dirty_map.h"
#include "tests/random.h"

#define PAGE 4096ull
#define PAGES DIRTY_REGIONS_MAX /* tracked individually */

static struct arena arena; /* of the maps */

static uint64_t random_state = 0x2545f4914f6cdd1d;

static uint32_t random_below(uint32_t limit)
{
	return (next_random(&random_state) >> 32) % limit;
}

static void add(struct dirty_map *map, uint64_t offset, uint64_t bytes, uint64_t time_ns)
{
	size_t left = SIZE_MAX;

	assert_int_equal(dirty_map_add(map, &arena, &left, offset, bytes, time_ns), 0);
}

TEST(test_one_after_the_other)
{
	struct dirty_wait wait = { 0 };
	struct dirty_map map = { 0 };

	assert_int_equal(dirty_map_bytes(&map), 0);
	dirty_map_take(&map, 0, PAGE, 5, 10, &wait); /* dirtied before the recording */
	assert_int_equal(wait.bytes, 0);
	add(&map, 0, 2 * PAGE, 100);
	add(&map, 100, 50, 200); /* already dirty */
	assert_int_equal(dirty_map_bytes(&map), 2 * PAGE);
	dirty_map_take(&map, 0, PAGE, 300, 350, &wait);
	assert_int_equal(dirty_map_bytes(&map), PAGE);
	assert_int_equal(wait.bytes, PAGE);
	assert_int_equal(wait.byte_ns / wait.bytes, 250);
	add(&map, 0, 10, 400); /* dirty again */
	dirty_map_take(&map, 0, 2 * PAGE, 500, 600, &wait);
	assert_int_equal(dirty_map_bytes(&map), 0);
	assert_int_equal(wait.bytes, 3 * PAGE);
	assert_int_equal(wait.byte_ns / PAGE, 250 + 200 + 500);
	assert_int_equal(wait.longest_ns, 500);
	arena_free(&arena);
}

TEST(test_cut)
{
	struct dirty_wait wait = { 0 };
	struct dirty_map map = { 0 };

	add(&map, 0, 4 * PAGE, 1);
	dirty_map_cut(&map, PAGE + 1);
	assert_int_equal(dirty_map_bytes(&map), 2 * PAGE);
	dirty_map_take(&map, 2 * PAGE, 2 * PAGE, 5, 6, &wait);
	assert_int_equal(wait.bytes, 0);
	arena_free(&arena);
}

/* Whole pages in any order: exact as long as a region per page fits. */
TEST(test_against_single_pages)
{
	uint64_t since[PAGES] = { 0 }, dirty = 0, waited_ns = 0, taken = 0;
	bool waits[PAGES] = { false };
	struct dirty_wait wait = { 0 };
	struct dirty_map map = { 0 };

	for (uint64_t now = 1; now < 20000; now++) {
		uint32_t first = random_below(PAGES), count = 1 + random_below(PAGES - first);
		bool stores = random_below(2);

		if (stores)
			add(&map, first * PAGE, count * PAGE, now);
		else
			dirty_map_take(&map, first * PAGE, count * PAGE, now, now + 7, &wait);
		for (uint32_t i = first; i < first + count; i++) {
			if (stores && !waits[i])
				since[i] = now;
			if (!stores && since[i]) {
				waited_ns += now + 7 - since[i];
				taken++;
			}
			waits[i] = stores;
		}
		for (uint32_t i = dirty = 0; i < PAGES; i++)
			dirty += waits[i];
		assert_int_equal(dirty_map_bytes(&map), dirty * PAGE);
	}
	assert_int_equal(wait.bytes, taken * PAGE);
	assert_true(wait.byte_ns == (unsigned __int128)waited_ns * PAGE);
	arena_free(&arena);
}

/* However large the file and however little memory: memory is bounded, and pending data is never
 * underestimated.
 */
TEST(test_bounded)
{
	static const uint64_t offsets[] = { 0, PAGE, 1ull << 30, 1ull << 40, UINT64_MAX - 10 };
	struct dirty_map map = { 0 }, none = { 0 };
	struct dirty_wait wait = { 0 };
	size_t left = 3;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		add(&map, offsets[i], PAGE, i + 1);
		assert_true(map.count <= DIRTY_REGIONS_MAX);
		assert_int_equal(dirty_map_add(&none, &arena, &left, offsets[i], PAGE, i + 1), 0);
		assert_true(none.count <= 4);
	}
	assert_int_equal(dirty_map_bytes(&map), 4 * PAGE); /* the last is beyond any file */
	assert_int_equal(dirty_map_bytes(&none), 4 * PAGE);
	dirty_map_take(&map, 0, UINT64_MAX, 10, 11, &wait);
	assert_int_equal(dirty_map_bytes(&map), 0);
	assert_int_equal(wait.longest_ns, 10); /* the oldest */
	arena_free(&arena);
}

TEST(test_everything)
{
	struct dirty_wait wait = { 0 };
	struct dirty_map map = { 0 };

	add(&map, 0, UINT64_MAX, 1);
	add(&map, UINT64_MAX, UINT64_MAX, 1);
	add(&map, 7, 0, 1);
	dirty_map_take(&map, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, &wait);
	assert_int_equal(dirty_map_bytes(&map), 0);
	arena_free(&arena);
}
