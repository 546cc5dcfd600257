/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables: cells read back unchanged, whatever their bytes and however many rows there are. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "analysis/table/merging.h"

static void add_column(struct table *table, const char *name, const char *title,
		       enum table_unit unit)
{
	const struct table_column column = { .name = name, .title = title, .unit = unit };

	table_add_column(table, &column);
}

static struct table *new_table(void)
{
	struct table *table;

	table = table_new("things", "Things", TABLE_LIST);
	add_column(table, "name", "name", UNIT_NONE);
	add_column(table, "read.bytes", NULL, UNIT_BYTES);
	return table;
}

TEST(test_columns)
{
	struct table *table = new_table();
	char name[32];

	assert_string_equal(table->name, "things");
	assert_string_equal(table->title, "Things");
	assert_null(table->note);
	assert_null(table->columns[1].title);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "column%d", i);
		add_column(table, name, name, UNIT_COUNT);
	}
	assert_int_equal(table->column_count, 102);
	assert_int_equal(table_find_column(table, "name"), 0);
	assert_int_equal(table_find_column(table, "read.bytes"), 1);
	assert_int_equal(table_find_column(table, "column99"), 101);
	assert_int_equal(table_find_column(table, "read"), -1);
	table_set_note(table, "a note");
	assert_string_equal(table->note, "a note");
	table_free(table);
	table_free(NULL);
}

TEST(test_rows)
{
	struct table *table = new_table();
	struct cell *row;

	for (uint64_t i = 0; i < 1000; i++) {
		char text[32];

		row = table_add_row(table);
		assert_int_equal(row[0].type, CELL_NULL);
		assert_int_equal(row[1].type, CELL_NULL);
		snprintf(text, sizeof(text), "row %d", (int)i);
		table_set_text(table, &row[0], text, strlen(text));
		if (i % 2)
			cell_uint(&row[1], i);
	}
	assert_int_equal(table->row_count, 1000);
	row = &table->cells[501 * table->column_count];
	assert_int_equal(row[0].type, CELL_TEXT);
	assert_string_equal(row[0].text, "row 501");
	assert_int_equal(row[1].uint, 501);
	assert_int_equal(table->cells[500 * table->column_count + 1].type, CELL_NULL);
	table_free(table);
}

TEST(test_texts)
{
	static const char bytes[] = "a\0b\xff\n";
	struct table *table = new_table();
	struct cell parts[3] = {
		{ .type = CELL_TEXT, .length = 5, .text = bytes },
		{ .type = CELL_TEXT, .length = 0, .text = "" },
		{ .type = CELL_TEXT, .length = 1, .text = "z" },
	};
	char large[100000];
	struct cell *row;

	memset(large, 'x', sizeof(large));
	row = table_add_row(table);
	table_set_texts(table, &row[0], parts, 3);
	table_set_text(table, &row[1], large, sizeof(large));
	parts[2].text = NULL; /* they were copied */
	assert_int_equal(row[0].type, CELL_TEXTS);
	assert_int_equal(row[0].length, 3);
	assert_int_equal(row[0].texts[0].length, 5);
	assert_memory_equal(row[0].texts[0].text, bytes, 5);
	assert_int_equal(row[0].texts[1].length, 0);
	assert_string_equal(row[0].texts[2].text, "z");
	assert_int_equal(row[1].length, sizeof(large));
	assert_memory_equal(row[1].text, large, sizeof(large));
	assert_int_equal(row[1].text[sizeof(large)], 0);
	table_set_texts(table, &row[0], NULL, 0);
	assert_int_equal(row[0].length, 0);
	table_free(table);
}

/* Many rows may have the same long text, such as a command line: there is one copy of it. */
TEST(test_repeated_texts)
{
	struct table *table = new_table();
	const struct cell *first, *row;
	char large[5000];

	memset(large, 'x', sizeof(large));
	for (int i = 0; i < 4; i++) {
		struct cell *cells = table_add_row(table);

		large[1] = i < 3 ? 'x' : 'y';
		table_set_text(table, &cells[0], large, sizeof(large) - (i == 2));
		table_set_text(table, &cells[1], "short", 5);
	}
	first = table_row(table, 0);
	for (int i = 0; i < 4; i++) {
		row = table_row(table, i);
		assert_int_equal(row[0].length, sizeof(large) - (i == 2));
		assert_int_equal(row[0].text[1], i < 3 ? 'x' : 'y');
		assert_int_equal(row[0].text[row[0].length], 0);
		assert_int_equal(row[0].text == first[0].text, i < 2);
	}
	table_free(table);
}

/* Nested tables are freed with the outer one, two levels deep as well. */
TEST(test_within)
{
	struct table *table = new_table(), *first, *second, *deep;
	struct cell *row, *inner;

	row = table_add_row(table);
	first = table_set_table(table, &row[0], TABLE_LIST);
	second = table_set_table(table, &row[1], TABLE_RECORD);
	assert_int_equal(row[0].type, CELL_TABLE);
	assert_ptr_equal(row[0].table, first);
	assert_ptr_equal(row[1].table, second);
	assert_int_equal(second->shape, TABLE_RECORD);
	add_column(first, "a", NULL, UNIT_COUNT);
	inner = table_add_row(first);
	deep = table_set_table(first, &inner[0], TABLE_LIST);
	assert_ptr_equal(first->cells[0].table, deep);
	table_free(table);
}

TEST(test_cells)
{
	struct cell cell = { 0 };

	cell_uint(&cell, UINT64_MAX);
	assert_int_equal(cell.type, CELL_UINT);
	assert_true(cell.uint == UINT64_MAX);
	cell_int(&cell, -1);
	assert_int_equal(cell.type, CELL_INT);
	assert_int_equal(cell.sint, -1);
	cell_bool(&cell, true);
	assert_int_equal(cell.type, CELL_BOOL);
	assert_true(cell.flag);
	cell_real(&cell, 0.5);
	assert_int_equal(cell.type, CELL_REAL);
	assert_true(cell.real == 0.5);
}

/* --- columns with getters --- */

struct thing {
	const char *name;
	struct table_text path;
	uint64_t count, unknown;
	int64_t rank;
	double share;
	bool flag;
	struct {
		uint64_t bytes, time_ns;
	} read, write;
};

#define LAYER 1u
#define OTHER_LAYER 2u

static void get_twice(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	const struct thing *thing = row;

	(void)table;
	cell_uint(cell, thing->count * 2 + column->key);
}

static const struct cell *cell_of(const struct table *table, size_t row, const char *name)
{
	int number = table_find_column(table, name);

	assert_int_not_equal(number, -1);
	return &table->cells[row * table->column_count + number];
}

TEST(test_getters)
{
	static const struct table_column columns[] = {
		{ "name", NULL, UNIT_NONE, KIND_FACT, "a name", TABLE_LITERAL(struct thing, name),
		  0 },
		{ "path", NULL, UNIT_NONE, KIND_FACT, "a path", TABLE_TEXT(struct thing, path), 0 },
		{ "count", NULL, UNIT_COUNT, KIND_FACT, "a count", TABLE_UINT(struct thing, count),
		  0 },
		{ "unknown", NULL, UNIT_COUNT, KIND_FACT, "unknown",
		  TABLE_UINT(struct thing, unknown), 0 },
		{ "rank", NULL, UNIT_NONE, KIND_FACT, "a rank", TABLE_INT(struct thing, rank), 0 },
		{ "share", NULL, UNIT_SHARE, KIND_FACT, "a share", TABLE_REAL(struct thing, share),
		  0 },
		{ "flag", NULL, UNIT_NONE, KIND_FACT, "a flag", TABLE_BOOL(struct thing, flag), 0 },
		{ "twice", NULL, UNIT_COUNT, KIND_FACT, "twice and 7", .get = get_twice, .key = 7 },
		{ "seen", NULL, UNIT_COUNT, KIND_FACT, "of LAYER", TABLE_UINT(struct thing, count),
		  LAYER },
		{ "unseen", NULL, UNIT_COUNT, KIND_FACT, "of OTHER_LAYER",
		  TABLE_UINT(struct thing, count), OTHER_LAYER },
	};
	static const struct table_column sums[] = {
		{ "bytes", "bytes", UNIT_BYTES, KIND_FACT, "bytes", .get = table_get_uint },
		{ "time_ns", "time", UNIT_NS, KIND_FACT, "time", .get = table_get_uint,
		  .key = sizeof(uint64_t) },
	};
	const struct table_group read = { "read", "read", LAYER, TABLE_COLUMNS(sums) };
	const struct table_group write = { "write", "write", OTHER_LAYER, TABLE_COLUMNS(sums) };
	const struct thing thing = {
		.name = "thing",
		.path = { "path and more", 4 },
		.count = 21,
		.unknown = TABLE_NO_UINT,
		.rank = -3,
		.share = 0.5,
		.flag = true,
		.read = { 4096, 1000 },
	};
	const struct thing nothing = { .rank = TABLE_NO_INT, .share = 0.0 / 0.0 };
	struct table *table;

	table = table_new("things", NULL, TABLE_LIST);
	table->recorded = LAYER;
	table_add_columns(table, TABLE_COLUMNS(columns));
	table_add_group(table, &read, offsetof(struct thing, read));
	table_add_group(table, &write, offsetof(struct thing, write));
	assert_int_equal(table->column_count, 10 + 2 + 1);
	table_add(table, &thing);
	table_add(table, &nothing);

	assert_memory_equal(cell_of(table, 0, "name")->text, "thing", 5);
	assert_int_equal(cell_of(table, 0, "path")->length, 4);
	assert_int_equal(cell_of(table, 0, "count")->uint, 21);
	assert_int_equal(cell_of(table, 0, "unknown")->type, CELL_NULL);
	assert_int_equal(cell_of(table, 0, "rank")->sint, -3);
	assert_true(cell_of(table, 0, "share")->real == 0.5);
	assert_true(cell_of(table, 0, "flag")->flag);
	assert_int_equal(cell_of(table, 0, "twice")->uint, 49);
	assert_int_equal(cell_of(table, 0, "seen")->uint, 21);
	assert_int_equal(cell_of(table, 0, "unseen")->type, CELL_NULL);
	assert_int_equal(cell_of(table, 0, "read.bytes")->uint, 4096);
	assert_int_equal(cell_of(table, 0, "read.time_ns")->uint, 1000);
	assert_string_equal(table->columns[11].title, "read time");
	assert_int_equal(cell_of(table, 0, "write")->type, CELL_NULL);

	assert_int_equal(cell_of(table, 1, "name")->type, CELL_NULL);
	assert_int_equal(cell_of(table, 1, "path")->type, CELL_NULL);
	assert_int_equal(cell_of(table, 1, "count")->type, CELL_UINT);
	assert_int_equal(cell_of(table, 1, "rank")->type, CELL_NULL);
	assert_int_equal(cell_of(table, 1, "share")->type, CELL_NULL);
	table_free(table);
}

/* --- rows beyond the limit --- */

enum { NAME, BYTES, FIRST, TIME, HOST, DEVICE, COLUMNS };

/* `count` rows with 1, 2, 3 ... bytes and the same times; `view` sorts by bytes. */
static struct table *things(uint64_t first, uint64_t count)
{
	static const struct table_column columns[] = {
		[NAME] = { .name = "name", .kind = KIND_KEY },
		[BYTES] = { .name = "bytes", .unit = UNIT_BYTES, .kind = KIND_SUM },
		[FIRST] = { .name = "first_ns", .unit = UNIT_NS, .kind = KIND_MOMENT },
		[TIME] = { .name = "time_ns", .unit = UNIT_NS, .kind = KIND_UNION },
		[HOST] = { .name = "host", .kind = KIND_FACT },
		[DEVICE] = { .name = "dev", .kind = KIND_FACT },
	};
	struct table *table;
	struct cell *row;
	char name[32];

	table = table_new("things", "Things", TABLE_LIST);
	table_add_columns(table, columns, COLUMNS);
	table->view.by = BYTES;
	for (uint64_t i = first; i < first + count; i++) {
		row = table_add_row(table);
		snprintf(name, sizeof(name), "thing %d", (int)i);
		table_set_text(table, &row[NAME], name, strlen(name));
		cell_uint(&row[BYTES], i);
		cell_uint(&row[FIRST], i);
		cell_uint(&row[TIME], i);
		table_set_text(table, &row[HOST], "h", 1);
		cell_uint(&row[DEVICE], 8);
	}
	return table;
}

static const struct merging by_name = { .sorted = "-bytes", .many = "things" };

static const struct cell *last_row(const struct table *table)
{
	return &table->cells[(table->row_count - 1) * table->column_count];
}

TEST(test_folded)
{
	struct table *table = things(1, 6);
	const struct cell *other;

	assert_int_equal(merging_fold(&by_name, &table, 3), 0);
	assert_int_equal(table->row_count, 4);
	assert_int_equal(table->folded, 3);
	other = last_row(table);
	assert_string_equal(other[NAME].text, "other (3 things)");
	assert_int_equal(other[BYTES].uint, 1 + 2 + 3);
	/* Folding loses the rows' keys, and whether their times overlapped. */
	assert_int_equal(other[FIRST].type, CELL_NULL);
	assert_int_equal(other[HOST].type, CELL_NULL);
	assert_int_equal(other[DEVICE].type, CELL_NULL);
	assert_int_equal(other[TIME].uint, 1 + 2 + 3);
	assert_true(other[TIME].summed);
	assert_false(last_row(table)[BYTES].summed);

	/* Folding again: folded rows stay folded and count once. */
	assert_int_equal(merging_fold(&by_name, &table, 1), 0);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->folded, 5);
	assert_int_equal(table->cells[BYTES].uint, 6);
	assert_string_equal(last_row(table)[NAME].text, "other (5 things)");
	assert_int_equal(last_row(table)[BYTES].uint, 1 + 2 + 3 + 4 + 5);
	table_free(table);
}

/* Rows that belong to a single run are cut off. */
TEST(test_cut)
{
	struct merging own = by_name;
	struct table *table = things(1, 6);

	own.own = true;
	table->cut = 7;
	assert_int_equal(merging_fold(&own, &table, 2), 0);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->cut, 7 + 4);
	assert_int_equal(table->folded, 0);
	assert_int_equal(last_row(table)[BYTES].uint, 6);
	table_free(table);
}

/* A folded table may have lost rows that another table lists; the row of the rest still includes
 * them.
 */
TEST(test_merged_with_folded)
{
	const struct merge_source source = { .disjoint = true };
	struct table *lacking = things(1, 6), *whole = things(2, 5), *table;
	struct merged merged;
	const struct cell *row;

	assert_int_equal(merging_fold(&by_name, &lacking, 2), 0);
	assert_int_equal(merged_begin(&merged, &by_name, lacking), 0);
	assert_int_equal(merged_add(&merged, lacking, &source), 0);
	assert_int_equal(merged_add(&merged, whole, &source), 0);
	assert_int_equal(merged_finish(&merged), 0);
	table = merged_take(&merged);
	assert_int_equal(table->row_count, 6);
	assert_int_equal(table->folded, 4);
	for (size_t i = 0; i + 1 < table->row_count; i++) {
		row = &table->cells[i * table->column_count];
		assert_int_equal(row[BYTES].uint, i < 2 ? 2 * (6 - i) : 6 - i);
		assert_int_equal(row[BYTES].at_least, i >= 2);
	}
	assert_string_equal(last_row(table)[NAME].text, "other (4 things)");
	assert_int_equal(last_row(table)[BYTES].uint, 1 + 2 + 3 + 4);
	assert_false(last_row(table)[BYTES].at_least);
	merged_free(&merged);
	table_free(table);
	table_free(lacking);
	table_free(whole);
}

#define KNOWN(number) ((struct cell) { .type = CELL_UINT, .uint = (number) })
#define UNCERTAIN(number) ((struct cell) { .type = CELL_UINT, .uint = (number), .summed = true })
#define FORGOTTEN ((struct cell) { .summed = true })

/* By kind, 3 in one run merged with 5 in a run that starts 10 later: if the runs do not overlap,
 * and if they do. */
TEST(test_kinds)
{
	static const struct {
		enum table_kind kind;
		struct cell apart, overlapping;
	} kinds[] = {
		{ KIND_FACT, FORGOTTEN, FORGOTTEN },
		{ KIND_SUM, KNOWN(8), KNOWN(8) },
		{ KIND_THREAD, KNOWN(8), KNOWN(8) },
		{ KIND_UNION, KNOWN(8), UNCERTAIN(8) },
		{ KIND_COVERED, KNOWN(8), UNCERTAIN(8) },
		{ KIND_UNOVERLAPPED, KNOWN(8), UNCERTAIN(8) },
		{ KIND_REMAINDER, KNOWN(8), UNCERTAIN(8) },
		{ KIND_RATIO, FORGOTTEN, FORGOTTEN },
		{ KIND_DERIVED, FORGOTTEN, FORGOTTEN },
		{ KIND_PERCENTILE, FORGOTTEN, FORGOTTEN }, /* without its values */
		{ KIND_MAX, KNOWN(5), KNOWN(5) },
		{ KIND_MIN, KNOWN(3), KNOWN(3) },
		{ KIND_MOMENT, KNOWN(3), KNOWN(3) },
		{ KIND_DURATION, FORGOTTEN, FORGOTTEN },
		{ KIND_FIRST, KNOWN(3), KNOWN(3) },
		{ KIND_STATUS, KNOWN(3), KNOWN(3) },
		{ KIND_SHARED, FORGOTTEN, FORGOTTEN },
		{ KIND_LARGEST, KNOWN(3), KNOWN(3) },
		{ KIND_TOTAL, KNOWN(8), KNOWN(8) },
	};
	static const struct merging none = { .many = NULL };

	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct table_column column = { .name = "n", .kind = kinds[i / 2].kind };
		const struct merge_source sources[] = { { 0, true }, { 10, i % 2 == 0 } };
		const struct cell *expected =
			i % 2 ? &kinds[i / 2].overlapping : &kinds[i / 2].apart;
		struct table *table;
		struct merged merged;
		struct cell *row;

		for (size_t run = 0; run < 2; run++) {
			table = table_new("things", NULL, TABLE_RECORD);
			table_add_column(table, &column);
			row = table_add_row(table);
			cell_uint(row, run ? 5 : 3);
			if (!run)
				assert_int_equal(merged_begin(&merged, &none, table), 0);
			assert_int_equal(merged_add(&merged, table, &sources[run]), 0);
			table_free(table);
		}
		assert_int_equal(merged_finish(&merged), 0);
		row = merged.table->cells;
		if (row->type != expected->type || row->summed != expected->summed ||
		    (row->type && row->uint != expected->uint))
			fail_msg("%s: type %d, %llu", table_kinds[column.kind].name, row->type,
				 (unsigned long long)row->uint);
		merged_free(&merged);
	}
}
