/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables as JSON, read back by two independent parsers: json-c and Python's. */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <json-c/json.h>

#include "output/base/json_tables.h"

#define TEXT(bytes)                                                                                \
	{                                                                                          \
		.type = CELL_TEXT, .length = sizeof(bytes) - 1, .text = bytes                      \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE_OF(shape_, columns_, column_count_, cells_, row_count_)                              \
	{                                                                                          \
		.name = "t", .shape = shape_, .columns = columns_, .column_count = column_count_,  \
		.cells = cells_, .row_count = row_count_                                           \
	}

static struct sink out;

static struct json_object *parse_tables(const struct table *const *tables, size_t count)
{
	struct json_object *object;

	sink_open_memory(&out);
	assert_int_equal(json_tables(&out, tables, count), 0);
	sink_bytes(&out, "", 1);
	object = json_tokener_parse(out.buffer);
	assert_non_null(object);
	assert_int_equal(json_object_get_int(json_object_object_get(object, "schema")), 2);
	return object;
}

static struct json_object *at(struct json_object *object, const char *path)
{
	char part[64];

	while (*path) {
		size_t n = strcspn(path, "/");

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		if (json_object_is_type(object, json_type_array))
			object = json_object_array_get_idx(object, atoi(part));
		else if (!json_object_object_get_ex(object, part, &object))
			fail_msg("no member %s", part);
		path += n + (path[n] == '/');
	}
	return object;
}

TEST(test_values)
{
	struct table_column columns[] = {
		{ .name = "max", .title = "max", .unit = UNIT_COUNT },
		{ .name = "read.bytes", .title = NULL, .unit = UNIT_BYTES },
		{ .name = "negative", .title = NULL, .unit = UNIT_NS },
		{ .name = "write.bytes", .title = NULL, .unit = UNIT_BYTES },
		{ .name = "read.time_ns", .title = NULL, .unit = UNIT_NS },
		{ .name = "nan", .title = NULL, .unit = UNIT_SHARE },
		{ .name = "real", .title = NULL, .unit = UNIT_SHARE },
		{ .name = "flag", .title = NULL, .unit = UNIT_NONE },
		{ .name = "sizes.<=4KiB", .title = NULL, .unit = UNIT_COUNT },
	};
	struct cell cells[] = {
		{ .type = CELL_UINT, .uint = UINT64_MAX }, { .type = CELL_UINT, .uint = 5 },
		{ .type = CELL_INT, .sint = INT64_MIN },   { .type = CELL_NULL },
		{ .type = CELL_UINT, .uint = 6 },	   { .type = CELL_REAL, .real = 0.0 / 0.0 },
		{ .type = CELL_REAL, .real = 0.25 },	   { .type = CELL_BOOL, .flag = true },
		{ .type = CELL_UINT, .uint = 7 },
	};
	struct table table = TABLE_OF(TABLE_RECORD, columns, COUNT(columns), cells, 1);
	struct table list = { .name = "empty", .shape = TABLE_LIST };
	struct table absent = { .name = "absent", .shape = TABLE_LIST, .absent = true };
	const struct table *tables[] = { &table, &list, &absent };
	struct json_object *object = parse_tables(tables, COUNT(tables));

	assert_true(json_object_get_uint64(at(object, "t/max")) == UINT64_MAX);
	assert_true(json_object_get_int64(at(object, "t/negative")) == INT64_MIN);
	assert_int_equal(json_object_get_int(at(object, "t/read/bytes")), 5);
	assert_int_equal(json_object_get_int(at(object, "t/read/time_ns")), 6);
	assert_int_equal(json_object_get_int(at(object, "t/sizes/<=4KiB")), 7);
	assert_null(at(object, "t/write/bytes"));
	assert_null(at(object, "t/nan"));
	assert_true(json_object_get_double(at(object, "t/real")) == 0.25);
	assert_true(json_object_get_boolean(at(object, "t/flag")));
	assert_int_equal(json_object_array_length(at(object, "empty")), 0);
	assert_null(at(object, "absent"));
	json_object_put(object);
	sink_close(&out);
}

/* Layer and operation names come from the trace and may be anything. */
TEST(test_hostile_names)
{
	struct table_column columns[] = {
		{ .name = "a", .title = NULL, .unit = UNIT_NONE },
		{ .name = "a.b", .title = NULL, .unit = UNIT_NONE },
		{ .name = "by.\xff", .title = NULL, .unit = UNIT_NONE },
		{ .name = "by.\"\n", .title = NULL, .unit = UNIT_NONE },
		{ .name = "..", .title = NULL, .unit = UNIT_NONE },
	};
	struct cell cells[COUNT(columns)];
	struct table table = TABLE_OF(TABLE_RECORD, columns, COUNT(columns), cells, 1);
	const struct table *tables[] = { &table };
	struct json_object *object;

	for (size_t i = 0; i < COUNT(cells); i++)
		cell_uint(&cells[i], i + 1);
	object = parse_tables(tables, 1);
	assert_int_equal(json_object_get_int(at(object, "t/a")), 1);
	assert_int_equal(json_object_get_int(at(object, "t/a.b")), 2);
	assert_int_equal(json_object_get_int(at(object, "t/by/\\xff")), 3);
	assert_int_equal(json_object_get_int(at(object, "t/by/\"\n")), 4);
	json_object_put(object);
	sink_close(&out);
}

TEST(test_texts)
{
	const struct cell arguments[] = { TEXT("sh"), TEXT("-c"), TEXT("\xff") };
	struct table_column columns[] = {
		{ .name = "path", .title = "path", .unit = UNIT_NONE },
		{ .name = "r.command", .title = NULL, .unit = UNIT_NONE },
	};
	struct cell cells[] = {
		TEXT("/a\nb\"\\\033[2J\xe2\x80\xae"),
		{ .type = CELL_TEXTS, .length = 3, .texts = arguments },
		TEXT("gr\xf6\xdf\0e"),
		{ .type = CELL_TEXTS, .length = 2, .texts = arguments },
		TEXT(""),
		{ .type = CELL_TEXTS, .length = 0 },
	};
	struct table table = TABLE_OF(TABLE_LIST, columns, COUNT(columns), cells, 3);
	const struct table *tables[] = { &table };
	struct json_object *object = parse_tables(tables, 1);

	assert_string_equal(json_object_get_string(at(object, "t/0/path")),
			    "/a\nb\"\\\033[2J\xe2\x80\xae");
	assert_false(json_object_object_get_ex(at(object, "t/0"), "path_hex", NULL));
	assert_string_equal(json_object_get_string(at(object, "t/0/r/command/2")), "\\xff");
	assert_null(at(object, "t/0/r/command_hex/1"));
	assert_string_equal(json_object_get_string(at(object, "t/0/r/command_hex/2")), "ff");
	assert_int_equal(json_object_get_string_len(at(object, "t/1/path")), 12);
	assert_memory_equal(json_object_get_string(at(object, "t/1/path")), "gr\\xf6\\xdf\0e", 12);
	assert_string_equal(json_object_get_string(at(object, "t/1/path_hex")), "6772f6df0065");
	assert_false(json_object_object_get_ex(at(object, "t/1/r"), "command_hex", NULL));
	assert_string_equal(json_object_get_string(at(object, "t/2/path")), "");
	assert_int_equal(json_object_array_length(at(object, "t/2/r/command")), 0);
	json_object_put(object);
	sink_close(&out);
}

/* A list of objects, an object, and a missing object. */
TEST(test_tables_within)
{
	struct table_column inner_columns[] = {
		{ .name = "n", .title = NULL, .unit = UNIT_COUNT },
		{ .name = "d.b", .title = NULL, .unit = UNIT_BYTES }
	};
	struct cell inner_cells[] = { { .type = CELL_UINT, .uint = 1 },
				      { .type = CELL_NULL },
				      { .type = CELL_INT, .sint = -2 },
				      { .type = CELL_UINT, .uint = 3 } };
	struct table list = { .shape = TABLE_LIST,
			      .columns = inner_columns,
			      .column_count = 2,
			      .cells = inner_cells,
			      .row_count = 2 };
	struct table record = list, nothing = list, empty = list;
	struct table_column columns[] = {
		{ .name = "in.list", .title = NULL, .unit = UNIT_NONE },
		{ .name = "in.record", .title = NULL, .unit = UNIT_NONE },
		{ .name = "in.nothing", .title = NULL, .unit = UNIT_NONE },
		{ .name = "in.empty", .title = NULL, .unit = UNIT_NONE }
	};
	struct cell cells[] = { { .type = CELL_TABLE, .table = &list },
				{ .type = CELL_TABLE, .table = &record },
				{ .type = CELL_TABLE, .table = &nothing },
				{ .type = CELL_TABLE, .table = &empty } };
	struct table table = TABLE_OF(TABLE_RECORD, columns, COUNT(columns), cells, 1);
	const struct table *tables[] = { &table };
	struct json_object *object;

	record.shape = nothing.shape = TABLE_RECORD;
	nothing.row_count = empty.row_count = 0;
	object = parse_tables(tables, 1);
	assert_int_equal(json_object_array_length(at(object, "t/in/list")), 2);
	assert_int_equal(json_object_get_int(at(object, "t/in/list/0/n")), 1);
	assert_null(at(object, "t/in/list/0/d/b"));
	assert_int_equal(json_object_get_int(at(object, "t/in/list/1/n")), -2);
	assert_int_equal(json_object_get_int(at(object, "t/in/list/1/d/b")), 3);
	assert_int_equal(json_object_get_int(at(object, "t/in/record/n")), 1);
	assert_null(at(object, "t/in/nothing"));
	assert_int_equal(json_object_array_length(at(object, "t/in/empty")), 0);
	json_object_put(object);
	sink_close(&out);
}

/* Random bytes, through Python: the text itself if it is UTF-8, otherwise its hex form. */
TEST(test_python)
{
	static const char program[] = "import json, sys\n"
				      "rows = json.load(open(sys.argv[1], encoding='utf-8'))['t']\n"
				      "raw = open(sys.argv[2]).read().split()\n"
				      "assert len(rows) == len(raw) == 500\n"
				      "for row, want in zip(rows, raw):\n"
				      "    want = bytes.fromhex(want[1:])\n"
				      "    try:\n"
				      "        assert row == {'x': want.decode('utf-8')}, row\n"
				      "    except UnicodeDecodeError:\n"
				      "        assert bytes.fromhex(row['x_hex']) == want, row\n";
	char json_path[] = "/tmp/faultline-json-XXXXXX", raw_path[] = "/tmp/faultline-raw-XXXXXX";
	char command[2048];
	struct table_column columns[] = { { .name = "x", .title = NULL, .unit = UNIT_NONE } };
	struct cell cells[500];
	static char bytes[500][24];
	struct table table = TABLE_OF(TABLE_LIST, columns, 1, cells, 500);
	const struct table *tables[] = { &table };
	int fd = mkstemp(json_path);
	FILE *raw = fdopen(mkstemp(raw_path), "w");

	assert_true(fd >= 0 && raw);
	srand(7);
	for (size_t i = 0; i < COUNT(cells); i++) {
		cells[i] = (struct cell) { .type = CELL_TEXT,
					   .text = bytes[i],
					   .length = rand() % 24 };
		fputc('x', raw);
		for (size_t j = 0; j < cells[i].length; j++) {
			bytes[i][j] = i % 2 ? rand() : rand() % 128;
			fprintf(raw, "%02x", (unsigned char)bytes[i][j]);
		}
		fputc('\n', raw);
	}
	assert_int_equal(fclose(raw), 0);
	assert_int_equal(sink_open(&out, fd), 0);
	assert_int_equal(json_tables(&out, tables, 1), 0);
	assert_int_equal(sink_flush(&out), 0);
	sink_close(&out);
	close(fd);
	snprintf(command, sizeof(command), "python3 -c \"%s\" %s %s", program, json_path, raw_path);
	assert_int_equal(system(command), 0);
	unlink(json_path);
	unlink(raw_path);
}

/* A single string, as `print` writes it. */
TEST(test_string)
{
	sink_open_memory(&out);
	assert_true(json_text(&out, "plain", 5));
	assert_true(json_text(&out, "a\"b", 3));
	assert_false(json_text(&out, "\xff", 1));
	json_hex(&out, "\xff\x01", 2);
	assert_int_equal(out.used, strlen("\"plain\"\"a\\\"b\"\"\\\\xff\"\"ff01\""));
	assert_memory_equal(out.buffer, "\"plain\"\"a\\\"b\"\"\\\\xff\"\"ff01\"", out.used);
	sink_close(&out);
}

TEST(test_full_disk)
{
	struct table table = { .name = "t", .shape = TABLE_LIST };
	const struct table *tables[] = { &table };
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_int_equal(sink_open(&out, fileno(full)), 0);
	json_tables(&out, tables, 1);
	assert_int_equal(sink_flush(&out), -ENOSPC);
	assert_int_equal(sink_flush(&out), -ENOSPC);
	sink_close(&out);
	fclose(full);
}
