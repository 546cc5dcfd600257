/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as text: alignment, units, what is left out and said to be, and the first screen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "output/escape.h"
#include "output/summary.h"
#include "output/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char shown[1 << 16];

static void keep(struct sink *out)
{
	assert_int_equal(out->error, 0);
	assert_true(out->used < sizeof(shown));
	if (out->used)
		memcpy(shown, out->buffer, out->used);
	shown[out->used] = '\0';
	sink_close(out);
}

static const char *render(const struct table *table, size_t width, uint64_t top)
{
	const struct text_options options = { .width = width, .top = top };
	struct sink out;

	sink_open_memory(&out);
	text_table(&out, table, &options);
	keep(&out);
	return shown;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n"), columns = escape_columns(text, length);

		widest = columns > widest ? columns : widest;
		text += length + (text[length] == '\n');
	}
	return widest;
}

static struct table *new_list(const char *name, const char *title)
{
	struct table *table;

	assert_int_equal(table_new(&table, name, title, TABLE_LIST), 0);
	return table;
}

static void add_column(struct table *table, const char *name, const char *title,
		       enum table_unit unit)
{
	const struct table_column column = { .name = name, .title = title, .unit = unit };

	assert_int_equal(table_add_column(table, &column), 0);
}

static struct cell *add_row(struct table *table, const char *text)
{
	struct cell *row;

	assert_int_equal(table_add_row(table, &row), 0);
	if (text)
		assert_int_equal(table_set_text(table, &row[0], text, strlen(text)), 0);
	return row;
}

static void test_aligned(void **state)
{
	struct table *table = new_list("files", "Files");
	struct cell *row;

	add_column(table, "path", "path", UNIT_NONE);
	add_column(table, "read.bytes", "read", UNIT_BYTES);
	add_column(table, "hidden", NULL, UNIT_COUNT);
	add_column(table, "read.count", "calls", UNIT_COUNT);
	add_column(table, "share", "share", UNIT_SHARE);
	row = add_row(table, "/größe");
	cell_uint(&row[1], 1536);
	cell_uint(&row[3], 1234567);
	cell_real(&row[4], 0.123);
	row = add_row(table, "/数据/\033[2J");
	cell_uint(&row[1], 0);
	row = add_row(table, "/c");
	cell_int(&row[3], -5);
	assert_string_equal(render(table, 100, 0), "Files\n"
						   "path              read      calls  share\n"
						   "/größe         1.5 KiB  1,234,567  12.3%\n"
						   "/数据/\\x1b[2J        0          -      -\n"
						   "/c                   -         -5      -\n");
	table_free(table);
}

static void test_top(void **state)
{
	struct table *table = new_list("files", "Files");

	add_column(table, "path", "path", UNIT_NONE);
	for (int i = 0; i < 1234; i++)
		add_row(table, "/x");
	assert_int_equal(count_lines(render(table, 100, 0)), 2 + 1234);
	assert_int_equal(count_lines(render(table, 100, 1234)), 2 + 1234);
	assert_int_equal(count_lines(render(table, 100, 20)), 2 + 20 + 1);
	assert_non_null(strstr(shown, "… and 1,214 more (--top 0 shows all)\n"));
	table_free(table);
}

static void test_nothing_to_show(void **state)
{
	struct table *table = new_list("devices", "Devices");

	add_column(table, "name", "name", UNIT_NONE);
	assert_string_equal(render(table, 100, 0), "Devices: none\n");
	table->absent = true;
	assert_string_equal(render(table, 100, 0), "Devices: not recorded\n");
	table->note = "the block layer was off\033";
	assert_string_equal(render(table, 100, 0), "Devices: the block layer was off\\x1b\n");
	table->note = NULL;
	table_free(table);
}

static void test_record(void **state)
{
	struct cell arguments[] = { { .type = CELL_TEXT, .text = "sh", .length = 2 },
				    { .type = CELL_TEXT, .text = "-c\n", .length = 3 } };
	struct table *table;
	struct cell *row;

	assert_int_equal(table_new(&table, "trace", "Trace", TABLE_RECORD), 0);
	add_column(table, "command", "command", UNIT_NONE);
	add_column(table, "events", "events", UNIT_COUNT);
	add_column(table, "complete", "complete", UNIT_NONE);
	assert_int_equal(table_add_row(table, &row), 0);
	assert_int_equal(table_set_texts(table, &row[0], arguments, 2), 0);
	cell_bool(&row[2], true);
	assert_string_equal(render(table, 100, 0), "Trace\n"
						   "command   sh -c\\x0a\n"
						   "events    -\n"
						   "complete  yes\n");
	table_free(table);
}

/* A wide table: headings of several lines, then columns without content go, then it comes in parts.
 * No line is too long and no number is missing. */
static void test_wide(void **state)
{
	struct table *table = new_list("files", NULL);
	const char *path = "/data/a/long/path/that/has/no/end/and/some/more/of/it/train.bin";
	struct cell *row;

	add_column(table, "path", "file", UNIT_NONE);
	for (int i = 0; i < 12; i++) {
		char name[24];

		snprintf(name, sizeof(name), "column %d", i);
		add_column(table, name, name, UNIT_BYTES);
	}
	row = add_row(table, path);
	for (int i = 0; i < 12; i += 2)
		cell_uint(&row[1 + i], (i + 1) * 1024);
	row = add_row(table, "/b");
	cell_uint(&row[1], 5);
	assert_int_equal(widest_line(render(table, 250, 0)), strlen(path) + 12 * (8 + 2) + 2);
	assert_int_equal(count_lines(shown), 3);

	assert_int_equal(widest_line(render(table, 160, 0)), 160);
	assert_int_equal(count_lines(shown), 4);
	assert_null(strstr(shown, "left out"));

	/* As on the screen. */
	/* clang-format off */
	assert_string_equal(render(table, 100, 0),
		"                                                column   column   column   column   column    column\n"
		"file                                                 0        2        4        6        8        10\n"
		"/data/a/long/p…/and/some/more/of/it/train.bin  1.0 KiB  3.0 KiB  5.0 KiB  7.0 KiB  9.0 KiB  11.0 KiB\n"
		"/b                                                 5 B        -        -        -        -         -\n"
		"(columns left out, with nothing but 0, no or -: column 1, column 3, column 5, column 7, column 9,\n"
		"column 11)\n");
	assert_string_equal(render(table, 60, 0),
		"                                            column   column\n"
		"file                                             0        2\n"
		"/data/a/long/…d/some/more/of/it/train.bin  1.0 KiB  3.0 KiB\n"
		"/b                                             5 B        -\n"
		"\n"
		"                                            column   column\n"
		"file                                             4        6\n"
		"/data/a/long/…d/some/more/of/it/train.bin  5.0 KiB  7.0 KiB\n"
		"\n"
		"                                            column    column\n"
		"file                                             8        10\n"
		"/data/a/long/…d/some/more/of/it/train.bin  9.0 KiB  11.0 KiB\n"
		"(columns left out, with nothing but 0, no or -: column 1,\n"
		"column 3, column 5, column 7, column 9, column 11)\n"
		"(rows of later parts left out, with nothing but 0, no or -)\n");
	/* clang-format on */
	table_free(table);
}

/* --- the first screen ----------------------------------------------------------------------------
 */

static struct table *new_record(const char *name)
{
	struct table *table;

	assert_int_equal(table_new(&table, name, NULL, TABLE_RECORD), 0);
	return table;
}

struct field {
	const char *name;
	struct cell cell;
};

#define UINT(value)                                                                                \
	{                                                                                          \
		.type = CELL_UINT, .uint = (value)                                                 \
	}
#define TEXT(value)                                                                                \
	{                                                                                          \
		.type = CELL_TEXT, .text = (value), .length = sizeof(value) - 1                    \
	}
#define FLAG(value)                                                                                \
	{                                                                                          \
		.type = CELL_BOOL, .flag = (value)                                                 \
	}

static void fill(struct table *table, const struct field *fields, size_t count)
{
	struct cell *row;

	if (!table->column_count)
		for (size_t i = 0; i < count; i++)
			add_column(table, fields[i].name, fields[i].name, UNIT_NONE);
	assert_int_equal(table_add_row(table, &row), 0);
	for (size_t i = 0; i < count; i++)
		row[i] = fields[i].cell;
}

static const struct field trace_fields[] = {
	{ "hosts", TEXT("node17") },
	{ "kernel", TEXT("6.1.0") },
	{ "command", TEXT("python3 train.py") },
	{ "exit_code", UINT(0) },
	{ "duration_ns", UINT(100000000000) },
	{ "complete", FLAG(false) },
	{ "incomplete_reason", TEXT("the tracer was killed") },
	{ "layers.syscall.state", TEXT("on") },
	{ "layers.block.state", TEXT("off") },
	{ "layers.block.reason", TEXT("not asked for") },
	{ "events", UINT(1234567) },
	{ "lost.total", UINT(1003) },
	{ "lost.by_layer.syscall", UINT(1000) },
	{ "lost.by_layer.fault", UINT(3) },
	{ "lost.by_layer.task", UINT(0) },
};

static const struct field totals_fields[] = {
	{ "read.count", UINT(12) },
	{ "read.time_ns", UINT(1000000) },
	{ "write.count", UINT(0) },
	{ "sync.count", { .type = CELL_NULL } },
	{ "mmap_read.faults", UINT(4096) },
	{ "mmap_read.time_ns", UINT(12300000000) },
	{ "mmap_read.fetched_bytes", UINT(511ull << 20) },
	{ "io.time_ns", UINT(12301000000) },
};

static struct table *make_doors(size_t count)
{
	struct table *table = new_list("doors", NULL);

	for (size_t i = 0; i < count; i++) {
		const struct field fields[] = {
			{ "door",
			  { .type = CELL_TEXT, .text = "abcdefghij" + i % 10, .length = 1 } },
			{ "op", TEXT("read") },
			{ "count", UINT(5) },
			{ "bytes", UINT(4096) },
			{ "fetched_bytes", UINT(1024) },
			{ "time_ns", UINT(1000) },
		};

		fill(table, fields, COUNT(fields));
	}
	return table;
}

static struct table *make_files(size_t count)
{
	struct table *table = new_list("files", NULL);

	for (size_t i = 0; i < count; i++) {
		const struct field fields[] = {
			{ "path", TEXT("/data/train.bin") },  { "read.time_ns", UINT(1000) },
			{ "mmap.time_ns", UINT(2000) },	      { "mmap.faults", UINT(7) },
			{ "mmap.fetched_bytes", UINT(2048) },
		};

		fill(table, fields, COUNT(fields));
	}
	return table;
}

static const char *screen(size_t doors, size_t files, size_t width)
{
	struct table *tables[] = { new_record("trace"), new_record("totals"), make_doors(doors),
				   make_files(files) };
	struct sink out;

	fill(tables[0], trace_fields, COUNT(trace_fields));
	fill(tables[1], totals_fields, COUNT(totals_fields));
	sink_open_memory(&out);
	assert_int_equal(
		summary_write(&out, (const struct table *const *)tables, COUNT(tables), width), 0);
	keep(&out);
	for (size_t i = 0; i < COUNT(tables); i++)
		table_free(tables[i]);
	return shown;
}

static void test_screen(void **state)
{
	assert_string_equal(
		screen(1, 2, 100),
		"python3 train.py\n"
		"on node17, Linux 6.1.0, exit status 0, 1,234,567 events\n"
		"ran 1m 40s, in I/O for 12.3 s of it (12.3%)\n"
		"INCOMPLETE: the tracer was killed\n"
		"LOST: 1,003 events (syscall 1,000, fault 3); totals are exact, the other tables "
		"lack them\n"
		"not recorded: block (not asked for)\n"
		"\n"
		"                       time  of the run  calls  bytes  from storage  errors\n"
		"read                 1.0 ms       <0.1%     12      -             -       -\n"
		"metadata                  -           -      -      -             -       -\n"
		"sync                      -           -      -      -             -       -\n"
		"mmap read (faults)   12.3 s       12.3%  4,096      -       511 MiB       -\n"
		"mmap write (faults)       -           -      -      -             -       -\n"
		"\n"
		"door     read    time  from storage  written  time  created by writes\n"
		"a     4.0 KiB  1.0 us       1.0 KiB        -     -                  -\n"
		"\n"
		"file               time  read  faults  from storage  written\n"
		"/data/train.bin  3.0 us     -       7       2.0 KiB        -\n"
		"/data/train.bin  3.0 us     -       7       2.0 KiB        -\n");
}

/* However much there is to say: one screen. */
static void test_screen_is_one(void **state)
{
	for (size_t doors = 0; doors < 12; doors++) {
		for (size_t files = 0; files < 9; files++) {
			screen(doors, files, 80);
			assert_true(count_lines(shown) <= SUMMARY_LINES);
			assert_true(widest_line(shown) <= 80);
			assert_int_equal(!!strstr(shown, "/data/train.bin"), files > 0);
		}
	}
}

/* Without any table nothing is made up. */
static void test_screen_of_nothing(void **state)
{
	struct sink out;

	sink_open_memory(&out);
	assert_int_equal(summary_write(&out, NULL, 0, 100), 0);
	keep(&out);
	assert_non_null(strstr(shown, "LOST: unknown"));
	assert_null(strstr(shown, "0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_nothing_to_show),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_screen_is_one),
		cmocka_unit_test(test_screen_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
