// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Lines from tables that CPython's compiler made, and from hostile ones. */
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "capture/python/lines.h"

/*
 * One function, compiled by each version, with the first instruction of each stretch of one line as
 * co_lines() or dis.findlinestarts() reports it:
 *
 *	1	def f(a):
 *	2-3	    x = (a +
 *		         1)
 *	204	    for i in a:
 *	205-206	        g(i,
 *		          2)
 *	207	    try:
 *	208	        return x
 *	209	    except E:
 *	210	        h(x)
 */
static const struct {
	uint16_t version;
	uint8_t table[120];
	size_t bytes;
	int32_t end; /* of the code, in bytes */
	struct {
		int32_t offset, line;
	} starts[20];
} made
	[] = {
		{ 0x308,
		  { 0, 1, 2, 1, 2, 255, 4, 127, 0, 75, 8, 1, 4, 1, 2, 255, 6, 2, 2, 1, 6, 1, 14, 1 },
		  24,
		  68,
		  { { 0, 2 },
		    { 2, 3 },
		    { 4, 2 },
		    { 8, 204 },
		    { 16, 205 },
		    { 20, 206 },
		    { 22, 205 },
		    { 28, 207 },
		    { 30, 208 },
		    { 36, 209 },
		    { 50, 210 } } },
		{ 0x309,
		  { 0, 1, 2, 1, 2, 255, 4, 127, 0, 75, 8, 1, 4, 1, 2, 255, 6, 2, 2, 1, 6, 1, 12, 1 },
		  24,
		  66,
		  { { 0, 2 },
		    { 2, 3 },
		    { 4, 2 },
		    { 8, 204 },
		    { 16, 205 },
		    { 20, 206 },
		    { 22, 205 },
		    { 28, 207 },
		    { 30, 208 },
		    { 36, 209 },
		    { 48, 210 } } },
		{ 0x30a,
		  { 2, 1, 2,   1, 4, 255, 0, 127, 8, 75, 4, 1, 2,
		    1, 6, 255, 2, 2, 6,	  1, 12,  1, 14, 1, 2, 255 },
		  26,
		  64,
		  { { 0, 2 },
		    { 2, 3 },
		    { 4, 2 },
		    { 8, 204 },
		    { 16, 205 },
		    { 20, 206 },
		    { 22, 205 },
		    { 28, 207 },
		    { 30, 208 },
		    { 36, 209 },
		    { 48, 210 },
		    { 62, 209 } } },
		{ 0x30b,
		  { 128, 0,   216, 9,	10, 216, 9,   10,  241, 3,   1,	  10,  11,  128, 65,
		    240, 84,  6,   0,	14, 15,	 240, 0,   2,	5,   13,  240, 0,   2,	 5,
		    13,	 136, 1,   221, 8,  9,	 136, 33,  216, 10,  11,  241, 3,   1,	 9,
		    13,	 244, 0,   1,	9,  13,	 240, 0,   1,	9,   13,  240, 0,   1,	 9,
		    13,	 240, 4,   3,	5,  13,	 216, 15,  16,	136, 8,	  248, 221, 11,	 12,
		    240, 0,   1,   5,	13, 240, 0,   1,   5,	13,  240, 0,   1,   5,	 13,
		    221, 8,   9,   136, 33, 137, 4,   140, 4,	136, 4,	  136, 4,   136, 4,
		    136, 4,   240, 3,	1,  5,	 13,  248, 248, 248 },
		  115,
		  124,
		  { { 0, 1 },
		    { 2, 2 },
		    { 4, 3 },
		    { 6, 2 },
		    { 12, 204 },
		    { 20, 205 },
		    { 34, 206 },
		    { 36, 205 },
		    { 54, 207 },
		    { 56, 208 },
		    { 60, PYTHON_LINE_NONE },
		    { 62, 209 },
		    { 80, 210 },
		    { 116, 209 },
		    { 118, PYTHON_LINE_NONE } } },
		{ 0x30c,
		  { 128, 0,   216, 9,	10,  216, 9,   10, 241, 3,   1,	  10, 11,  128, 65,  240,
		    84,	 6,   0,   14,	15,  242, 0,   2,  5,	13,  136, 1,  220, 8,	9,   136,
		    33,	 216, 10,  11,	245, 3,	  1,   9,  13,	240, 3,	  2,  5,   13,	240, 6,
		    3,	 5,   13,  216, 15,  16,  136, 8,  248, 220, 11,  12, 242, 0,	1,   5,
		    13,	 220, 8,   9,	136, 33,  142, 4,  240, 3,   1,	  5,  13,  250 },
		  78,
		  108,
		  { { 0, 1 },
		    { 2, 2 },
		    { 4, 3 },
		    { 6, 2 },
		    { 12, 204 },
		    { 22, 205 },
		    { 34, 206 },
		    { 36, 205 },
		    { 48, 204 },
		    { 50, 207 },
		    { 52, 208 },
		    { 56, PYTHON_LINE_NONE },
		    { 58, 209 },
		    { 74, 210 },
		    { 100, 209 },
		    { 102, PYTHON_LINE_NONE } } },
	};
#define MADE (sizeof(made) / sizeof(made[0]))

static struct python_lines lines_of(size_t i)
{
	return (struct python_lines) { .table = made[i].table,
				       .bytes = made[i].bytes,
				       .first_line = 1,
				       .version = made[i].version };
}

TEST(test_lines)
{
	for (size_t i = 0; i < MADE; i++) {
		struct python_lines lines = lines_of(i);
		size_t next = 0;
		int32_t line = 0;

		assert_int_equal(python_line(&lines, -2), 1);
		for (int32_t at = 0; at < made[i].end; at += 2) {
			if (next < 20 && made[i].starts[next].line &&
			    made[i].starts[next].offset == at)
				line = made[i].starts[next++].line;
			if (python_line(&lines, at) != line)
				fail_msg("%x: line %d at %d, not %d", made[i].version,
					 python_line(&lines, at), at, line);
		}
	}
}

/* Ranges without a line, as in the code of a `with` block. */
TEST(test_ranges_without_a_line)
{
	static const uint8_t table[] = { 2, 1, 4, 128, 2, 1 };
	struct python_lines lines = {
		.table = table, .bytes = sizeof(table), .first_line = 10, .version = 0x30a
	};

	assert_int_equal(python_line(&lines, 0), 11);
	assert_int_equal(python_line(&lines, 4), PYTHON_LINE_NONE);
	assert_int_equal(python_line(&lines, 6), 12);
	assert_int_equal(python_line(&lines, 8), PYTHON_LINE_UNKNOWN);
}

/* The copy ends where the table does, so that a sanitizer sees a read beyond it. */
TEST(test_tables_that_end_early)
{
	for (size_t i = 0; i < MADE; i++)
		for (size_t bytes = 0; bytes <= made[i].bytes; bytes++) {
			struct python_lines lines = lines_of(i);
			uint8_t *copy = malloc(bytes + !bytes);

			memcpy(copy, made[i].table, bytes);
			lines.table = copy;
			lines.bytes = bytes;
			for (int32_t at = 0; at < made[i].end; at += 2) {
				int32_t line = python_line(&lines, at);

				assert_true(line >= PYTHON_LINE_UNKNOWN && line <= 210);
			}
			if (!bytes && made[i].version >= 0x30a)
				assert_int_equal(python_line(&lines, 0), PYTHON_LINE_UNKNOWN);
			free(copy);
		}
}

/* Fills a table with entries of all forms, or with pairs of numbers. Returns its length. */
static size_t fill_table(uint8_t *table, size_t room, uint16_t version, unsigned int *seed)
{
	static const uint8_t numbers[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 4, 0 };
	size_t bytes = 0;

	while (bytes + 5 <= room) {
		uint8_t form = rand_r(seed) % 16;

		if (version < 0x30b) {
			table[bytes++] = rand_r(seed);
			continue;
		}
		table[bytes++] = 128 | form << 3 | rand_r(seed) % 8;
		for (int i = 0; i < numbers[form]; i++)
			table[bytes++] = rand_r(seed) % 64;
	}
	return bytes;
}

/* Marks change no line, and long tables have some. */
TEST(test_marks)
{
	static const uint16_t versions[] = { 0x308, 0x30a, 0x30b };
	static uint8_t table[20000];
	unsigned int seed = 1;

	for (int i = 0; i < 3; i++) {
		size_t bytes = fill_table(table, sizeof(table), versions[i], &seed);
		struct python_position marks[sizeof(table) / PYTHON_MARK_BYTES];
		struct python_lines plain = { .table = table,
					      .bytes = bytes,
					      .first_line = 1000000,
					      .version = versions[i] };
		struct python_lines marked = plain;
		uint32_t end;

		marked.marks = marks;
		marked.marks_count = python_lines_mark(&plain, marks);
		assert_true(marked.marks_count > bytes / PYTHON_MARK_BYTES - 2);
		assert_true(marked.marks_count <= bytes / PYTHON_MARK_BYTES);
		end = marks[marked.marks_count - 1].end + 100;
		for (uint32_t at = 0; at < end; at += 1 + rand_r(&seed) % 20)
			assert_int_equal(python_line(&marked, at), python_line(&plain, at));
	}
}

TEST(test_hostile_tables)
{
	static const uint16_t versions[] = { 0x308, 0x30a, 0x30b, 0x30d };
	static const int32_t offsets[] = { 0, 1, 1000, INT32_MAX, INT32_MIN };
	unsigned int seed = 1;

	for (int round = 0; round < 2000; round++) {
		size_t bytes = rand_r(&seed) % 1500;
		struct python_position *marks =
			malloc(bytes / PYTHON_MARK_BYTES * sizeof(*marks) + 1);
		uint8_t *table = malloc(bytes + 1);
		struct python_lines lines = { .bytes = bytes,
					      .first_line = rand_r(&seed),
					      .version = versions[round % 4] },
				    marked;

		for (size_t i = 0; i < bytes; i++)
			table[i] = round % 3 ? rand_r(&seed) : 0xff;
		table = realloc(table, bytes + !bytes);
		lines.table = table;
		marked = lines;
		marked.marks = marks;
		marked.marks_count = python_lines_mark(&lines, marks);
		for (size_t i = 0; i < 5; i++) {
			int32_t line = python_line(&lines, offsets[i]);

			assert_true(line >= PYTHON_LINE_UNKNOWN);
			assert_int_equal(python_line(&marked, offsets[i]), line);
		}
		free(table);
		free(marks);
	}
}
