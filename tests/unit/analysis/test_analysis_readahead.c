/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Readahead and how much of it is used: the page map, and the table built from it. */

#include "unit_test.h"

#include "analysis/readahead/fetched_map.h"
#include "ask_report.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

/* --- the map --- */

static struct fetched_rest rest_of(const struct fetched_map *map)
{
	struct fetched_rest sum = { 0 }, rest;

	for (size_t at = 0; fetched_map_next(map, &at, &rest);) {
		sum.file = rest.file;
		sum.unused += rest.unused;
		sum.unseen += rest.unseen;
	}
	return sum;
}

static struct page_range pages(uint64_t from, uint64_t to)
{
	return (struct page_range) { from, to };
}

/* Every range within two chunks plus a few pages, checked against one flag per page. */
TEST(test_ranges)
{
	enum { PAGES = 2 * FETCHED_CHUNK_PAGES + 3 };
	static const uint64_t ends[] = { 0, 1, 63, 64, 65, 511, 512, 513, 700, 1023, 1024, PAGES };
	const size_t count = sizeof(ends) / sizeof(ends[0]);

	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			for (size_t k = 0; k < count; k++)
				for (size_t l = k; l < count; l++) {
					bool flags[PAGES] = { false };
					uint64_t used = 0, left = 0;
					struct fetched_rest again = { 0 };
					struct arena arena = { 0 };
					struct fetched_map map;

					fetched_map_init(&map, &arena, MIB);
					assert_int_equal(fetched_map_add(&map, 5,
									 pages(ends[i], ends[j]),
									 false, &again),
							 0);
					for (uint64_t at = ends[i]; at < ends[j]; at++)
						flags[at] = true;
					for (uint64_t at = ends[k]; at < ends[l]; at++) {
						used += flags[at];
						flags[at] = false;
					}
					for (size_t at = 0; at < PAGES; at++)
						left += flags[at];
					assert_int_equal(
						fetched_map_use(&map, 5, pages(ends[k], ends[l])),
						used);
					assert_int_equal(rest_of(&map).unused, left);
					assert_int_equal(again.unused + again.unseen, 0);
					arena_free(&arena);
				}
}

TEST(test_unseen)
{
	struct arena arena = { 0 };
	struct fetched_map map;
	struct fetched_rest again = { 0 };

	fetched_map_init(&map, &arena, MIB);
	assert_int_equal(fetched_map_add(&map, 1, pages(0, 100), false, &again), 0);
	assert_int_equal(fetched_map_add(&map, 1, pages(200, 300), true, &again), 0);
	fetched_map_around(&map, 1, 20); /* pages 16 to 31, and those in large folios */
	assert_int_equal(rest_of(&map).unseen, 16 + 100);
	assert_int_equal(fetched_map_use(&map, 1, pages(16, 17)), 1);
	assert_int_equal(rest_of(&map).unseen, 15 + 100);
	fetched_map_unseen(&map, 1, pages(0, 16));
	assert_int_equal(rest_of(&map).unseen, 31 + 100);
	assert_int_equal(rest_of(&map).unused, 100 - 32);
	assert_int_equal(again.unused + again.unseen, 0);
	/* Refetched pages had not been mapped in between. */
	assert_int_equal(fetched_map_add(&map, 1, pages(0, 16), false, &again), 0);
	assert_int_equal(again.unseen, 16);
	assert_int_equal(again.unused, 0);
	assert_int_equal(fetched_map_add(&map, 1, pages(0, 16), false, &again), 0);
	assert_int_equal(again.unused, 16);
	assert_int_equal(rest_of(&map).unseen, 15 + 100);
	arena_free(&arena);
}

TEST(test_bounded)
{
	struct arena arena = { 0 };
	struct fetched_map map;
	struct fetched_rest again = { 0 };

	fetched_map_init(&map, &arena, 4096);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(
			fetched_map_add(&map, 1,
					pages(i * FETCHED_CHUNK_PAGES, i * FETCHED_CHUNK_PAGES + 1),
					false, &again),
			0);
	assert_in_range(map.chunks.count, 1, 20);
	assert_int_equal(rest_of(&map).unused + map.overflow, 1000);
	assert_int_equal(page_range_of(-1, 5).to, 0);
	assert_int_equal(page_range_of(4095, 2).to, 2);
	assert_int_equal(page_range_of(4095, 0).to, 0);
	assert_true(page_range_of(INT64_MAX, UINT64_MAX).to > page_range_of(INT64_MAX, 1).from);
	arena_free(&arena);
}

/* --- the table --- */

static void fetch(struct made_trace *made, uint64_t time, uint64_t file, int64_t offset,
		  uint64_t bytes, uint64_t flags)
{
	BIO(made, .time = time, .dur = 100, .file = file, .offset = offset, .bytes = bytes,
	    .flags = flags, .pid = 100, .op = M_REQUEST_READ);
}

TEST(test_reads)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
	/* 16 KiB requested, 128 fetched ... */
	CALL(&made, .time = 1000, .dur = 500, .pid = 100, .op = M_PREAD, .file = 1, .offset = 0,
	     .asked = 16 * KIB, .result = 16 * KIB, .fetched = 128 * KIB);
	fetch(&made, 1100, 1, 0, 128 * KIB, 0);
	/* ... of which the next calls read 8, half of it twice, and part of a page; */
	CALL(&made, .time = 2000, .dur = 5, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 16 * KIB, .asked = 8 * KIB, .result = 8 * KIB);
	CALL(&made, .time = 2100, .dur = 5, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 20 * KIB, .asked = 5 * KIB, .result = 5 * KIB);
	/* O_DIRECT reads, writes and failed calls use nothing. */
	CALL(&made, .time = 2200, .dur = 5, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 40 * KIB, .asked = 4 * KIB, .result = 4 * KIB, .flags = TRACE_OP_DIRECT);
	CALL(&made, .time = 2300, .dur = 5, .pid = 100, .op = M_WRITE, .file = 1,
	     .offset = 40 * KIB, .asked = 4 * KIB, .result = 4 * KIB);
	CALL(&made, .time = 2400, .dur = 5, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 40 * KIB, .asked = 4 * KIB, .result = -5);
	/* None of these enters the page cache; the last one's location is unknown. */
	fetch(&made, 2500, 1, MIB, 4 * KIB, TRACE_BLOCK_DIRECT);
	fetch(&made, 2501, 1, MIB, 4 * KIB, TRACE_BLOCK_META);
	fetch(&made, 2502, 1, MIB, 4 * KIB, TRACE_BLOCK_COMPRESSED);
	report = report_of(&made, 10000);
	CHECK(report, "readahead", 0, "fetched_bytes", 132 * KIB);
	CHECK(report, "readahead", 0, "asked_bytes", 16 * KIB);
	CHECK(report, "readahead", 0, "ahead_bytes", 112 * KIB);
	CHECK(report, "readahead", 0, "used_bytes", 12 * KIB);
	CHECK(report, "readahead", 0, "unused_bytes", 100 * KIB);
	CHECK(report, "readahead", 0, "unseen_bytes", 0);
	CHECK(report, "readahead", 0, "advised_bytes", 0);
	CHECK(report, "readahead", 0, "unplaced_bytes", 4 * KIB);
	done(&made, report);
}

/* Two waiters for one bio, and one that began before it was queued. */
TEST(test_at_once)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
	CALL(&made, .time = 1000, .dur = 50000, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 64 * KIB, .asked = 4 * KIB, .result = 4 * KIB);
	CALL(&made, .time = 1001, .dur = 500, .pid = 101, .op = M_PREAD, .file = 1,
	     .asked = 4 * KIB, .result = 4 * KIB, .fetched = 128 * KIB);
	fetch(&made, 1100, 1, 0, 128 * KIB, 0);
	report = report_of(&made, 100000);
	CHECK(report, "readahead", 0, "asked_bytes", 8 * KIB);
	CHECK(report, "readahead", 0, "unused_bytes", 120 * KIB);
	done(&made, report);
}

TEST(test_faults)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/major");
	FILE_ROW(&made, .id = 2, .ino = 2, .path = "/read");
	FILE_ROW(&made, .id = 3, .ino = 3, .path = "/threads");
	/* A fault maps 64 KiB of what it fetched. */
	FAULT(&made, .time = 1000, .dur = 500, .pid = 100, .file = 1, .offset = 260 * KIB,
	      .flags = TRACE_FAULT_MAJOR, .fetched = 512 * KIB);
	fetch(&made, 1100, 1, 0, 512 * KIB, 0);
	FAULT(&made, .time = 2000, .dur = 1, .pid = 100, .file = 1, .offset = 128 * KIB);
	/* Folios fetched by calls may be large. */
	CALL(&made, .time = 3000, .dur = 500, .pid = 100, .op = M_PREAD, .file = 2,
	     .asked = 4 * KIB, .result = 4 * KIB, .fetched = 512 * KIB);
	fetch(&made, 3100, 2, 0, 512 * KIB, 0);
	FAULT(&made, .time = 4000, .dur = 1, .pid = 100, .file = 2, .offset = 128 * KIB);
	/* A concurrent single-page wait does not make another thread's readahead small. */
	FAULT(&made, .time = 5000, .dur = 500, .pid = 100, .tid = 101, .file = 3,
	      .offset = 900 * KIB, .flags = TRACE_FAULT_MAJOR, .fetched = 4 * KIB);
	fetch(&made, 5100, 3, 0, 512 * KIB, 0);
	FAULT(&made, .time = 6000, .dur = 1, .pid = 100, .file = 3, .offset = 128 * KIB);
	report = report_of(&made, 10000);
	CHECK(report, "readahead", 0, "asked_bytes", 4 * KIB);
	CHECK(report, "readahead", 0, "used_bytes", 4 * KIB);
	CHECK(report, "readahead", 0, "unseen_bytes", 2 * 60 * KIB);
	CHECK(report, "readahead", 0, "unused_bytes", 512 * KIB - 2 * 64 * KIB);
	CHECK(report, "readahead", 1, "used_bytes", 4 * KIB);
	CHECK(report, "readahead", 1, "unseen_bytes", 504 * KIB);
	CHECK(report, "readahead", 1, "unused_bytes", 0);
	CHECK(report, "readahead", 2, "unseen_bytes", 508 * KIB);
	CHECK(report, "readahead", 2, "unused_bytes", 0);
	done(&made, report);
}

/* A fault uses its page, and so does a read of a part of one. */
TEST(test_large_pages)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true, .page_bytes = 64 * KIB);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/mapped");
	FILE_ROW(&made, .id = 2, .ino = 2, .path = "/read");
	FAULT(&made, .time = 1000, .dur = 500, .pid = 100, .file = 1, .offset = 64 * KIB,
	      .flags = TRACE_FAULT_MAJOR, .fetched = 256 * KIB);
	fetch(&made, 1100, 1, 0, 256 * KIB, 0);
	FAULT(&made, .time = 2000, .dur = 1, .pid = 100, .file = 1, .offset = 128 * KIB);
	CALL(&made, .time = 3000, .dur = 500, .pid = 100, .op = M_PREAD, .file = 2,
	     .offset = 68 * KIB, .asked = 100, .result = 100, .fetched = 256 * KIB);
	fetch(&made, 3100, 2, 0, 256 * KIB, 0);
	CALL(&made, .time = 4000, .dur = 1, .pid = 100, .op = M_PREAD, .file = 2,
	     .offset = 190 * KIB, .asked = 4 * KIB, .result = 4 * KIB);
	report = report_of(&made, 10000);
	for (size_t i = 0; i < 2; i++)
		CHECK(report, "readahead", i, "asked_bytes", 64 * KIB);
	CHECK(report, "readahead", 0, "used_bytes", 64 * KIB);
	CHECK(report, "readahead", 0, "unseen_bytes", 0);
	CHECK(report, "readahead", 0, "unused_bytes", 128 * KIB);
	CHECK(report, "readahead", 1, "used_bytes", 128 * KIB);
	CHECK(report, "readahead", 1, "unused_bytes", 64 * KIB);
	done(&made, report);
}

TEST(test_advice)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
	CALL(&made, .time = 1000, .dur = 500, .pid = 100, .op = M_READAHEAD, .file = 1,
	     .asked = 64 * KIB, .fetched = 64 * KIB);
	fetch(&made, 1100, 1, 0, 64 * KIB, 0);
	CALL(&made, .time = 2000, .dur = 5, .pid = 100, .op = M_PREAD, .file = 1, .asked = 16 * KIB,
	     .result = 16 * KIB);
	report = report_of(&made, 10000);
	CHECK(report, "readahead", 0, "ahead_bytes", 64 * KIB);
	CHECK(report, "readahead", 0, "advised_bytes", 64 * KIB);
	CHECK(report, "readahead", 0, "used_bytes", 16 * KIB);
	CHECK(report, "readahead", 0, "unused_bytes", 48 * KIB);
	done(&made, report);
}
