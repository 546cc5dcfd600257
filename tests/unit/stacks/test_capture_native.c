// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The parts that do not need libdw: frames of Python inside native ones, and perf maps. */
#include "unit_test.h"

#include <string.h>

#include "capture/native/mix.h"
#include "capture/native/perf_map.h"
#include "capture/native/queue.h"

/* --- mixed stacks --- */

#define LIBRARY 0
#define OTHER NATIVE_FRAME_INTERPRETER
#define EVAL (NATIVE_FRAME_INTERPRETER | NATIVE_FRAME_EVAL)

/* Native frames are numbered from 1, those of Python from 101. */
static const struct {
	uint32_t flags[8];
	size_t native, python;
	uint64_t entries;
	uint32_t mixed[12];
	size_t count;
	bool reached;
} stacks[] = {
	/* no Python: all stay */
	{ { LIBRARY, EVAL, OTHER }, 3, 0, 0, { 1, 2, 3 }, 3, true },
	/* three frames in one call of the interpreter; what is outside of it is left out */
	{ { LIBRARY, OTHER, EVAL, OTHER, LIBRARY }, 5, 3, 4, { 1, 101, 102, 103 }, 4, true },
	/* a library calls back */
	{ { LIBRARY, EVAL, LIBRARY, LIBRARY, EVAL, LIBRARY },
	  6,
	  3,
	  1 | 4,
	  { 1, 101, 3, 4, 102, 103 },
	  6,
	  true },
	/* the copy ends before the second call */
	{ { LIBRARY, EVAL, LIBRARY }, 3, 3, 1 | 4, { 1, 101, 3, 102, 103 }, 5, true },
	/* ... or before the first one */
	{ { LIBRARY, LIBRARY }, 2, 2, 2, { 1, 2, 101, 102 }, 4, false },
	/* calls of the interpreter have no names */
	{ { LIBRARY, OTHER, OTHER }, 3, 2, 2, { 1, 101, 102 }, 3, true },
	/* more calls than frames of Python */
	{ { EVAL, LIBRARY, EVAL, EVAL }, 4, 1, 1, { 101 }, 1, true },
	/* no entries are known */
	{ { EVAL, LIBRARY, EVAL }, 3, 2, 0, { 101, 102 }, 2, true },
	{ { LIBRARY }, 0, 2, 2, { 101, 102 }, 2, false },
	{ { LIBRARY }, 0, 0, 0, { 0 }, 0, true },
};

TEST(test_mixed_stacks)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		const uint64_t entries[2] = { stacks[i].entries };
		uint32_t frames[8], calls[8], mixed[16];
		bool reached;
		size_t count;

		for (uint32_t n = 0; n < 8; n++) {
			frames[n] = n + 1;
			calls[n] = n + 101;
		}
		count = mix_frames(
			&(struct mix_native) { frames, stacks[i].flags, stacks[i].native },
			&(struct mix_python) { calls, entries, stacks[i].python }, mixed, &reached);
		assert_int_equal(count, stacks[i].count);
		assert_memory_equal(mixed, stacks[i].mixed, count * sizeof(*mixed));
		assert_int_equal(reached, stacks[i].reached);
	}
}

/* An entry far out, in the second word. */
TEST(test_deep_python)
{
	const uint64_t entries[2] = { 0, 1ull << 6 };
	const uint32_t frames[] = { 1, 2, 3 }, flags[] = { EVAL, LIBRARY, EVAL };
	uint32_t calls[128], mixed[131];
	bool reached;

	for (uint32_t i = 0; i < 128; i++)
		calls[i] = 1000 + i;
	assert_int_equal(mix_frames(&(struct mix_native) { frames, flags, 3 },
				    &(struct mix_python) { calls, entries, 128 }, mixed, &reached),
			 129);
	assert_int_equal(mixed[70], 1070);
	assert_int_equal(mixed[71], 2);
	assert_int_equal(mixed[72], 1071);
}

/* --- perf maps --- */

static void expect(const struct perf_map *map, uint64_t address, const char *name)
{
	const struct perf_map_function *function = perf_map_find(map, address);

	if (!name) {
		assert_null(function);
		return;
	}
	assert_non_null(function);
	assert_int_equal(function->name_bytes, strlen(name));
	assert_memory_equal(function->name, name, strlen(name));
}

static void parse(struct perf_map *map, const char *text)
{
	perf_map_parse(map, strdup(text), strlen(text));
}

TEST(test_perf_map)
{
	struct perf_map map = { .count = 0 };

	parse(&map, "2000 10 second one\n"
		    "0x1000 0x20 first\n"
		    "\n"
		    "zz 10 no number\n"
		    "3000 no number\n"
		    "3000 10\n"
		    "3000 10 \n"
		    "11111111111111111 10 too long\n"
		    "ffffffffffffffff 1 last\n"
		    "2000 8 replaced\n"
		    "4000 10 still being writ");
	expect(&map, 0xfff, NULL);
	expect(&map, 0x1000, "first");
	expect(&map, 0x101f, "first");
	expect(&map, 0x1020, NULL);
	expect(&map, 0x2000, "replaced");
	expect(&map, 0x3000, NULL);
	expect(&map, 0x4000, NULL);
	expect(&map, UINT64_MAX, "last");
	parse(&map, "5000 1 other\n");
	expect(&map, 0x1000, NULL);
	expect(&map, 0x5000, "other");
	parse(&map, "");
	expect(&map, 0x5000, NULL);
	perf_map_free(&map);
}
