/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables as text: alignment, units, rows left out and their note, and the first screen. */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "output/base/escape.h"
#include "output/text/text.h"

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
	const struct style style = { .width = width };
	const struct grid_options options = { .style = &style, .top = top };
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

	table = table_new(name, title, TABLE_LIST);
	return table;
}

static void add_column(struct table *table, const char *name, const char *title,
		       enum table_unit unit)
{
	const struct table_column column = { .name = name, .title = title, .unit = unit };

	table_add_column(table, &column);
}

static struct cell *add_row(struct table *table, const char *text)
{
	struct cell *row;

	row = table_add_row(table);
	if (text)
		table_set_text(table, &row[0], text, strlen(text));
	return row;
}

TEST(test_aligned)
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

/* Rows below 0.5% of the sum, or beyond --top, are grouped into one. */
TEST(test_other)
{
	struct table *table = new_list("files", "Files");
	static const uint64_t times[] = { 5, 1000, 4, 1000000, 300000, 3, 2 };
	struct cell *row;

	add_column(table, "path", "file", UNIT_PATH);
	add_column(table, "time_ns", "time", UNIT_NS);
	add_column(table, "count", "calls", UNIT_COUNT);
	add_column(table, "max_ns", "longest", UNIT_NS);
	for (size_t i = 0; i < COUNT(times); i++) {
		row = add_row(table, "/data/x.bin");
		cell_uint(&row[1], times[i] * 1000);
		cell_uint(&row[2], i + 1);
		cell_uint(&row[3], times[i]);
	}
	assert_int_equal(table_show(table, "path,time_ns,count,max_ns", "time_ns", NULL, NULL), 0);
	assert_string_equal(render(table, 100, 20), "Files\n"
						    "  time  share  calls  longest  file\n"
						    " 1.0 s  76.9%      4   1.0 ms  /data/x.bin\n"
						    "300 ms  23.1%      5   300 us  /data/x.bin\n"
						    "1.0 ms   0.1%     19        -  other (5)\n");
	/* A single row is not replaced by a group. */
	assert_int_equal(count_lines(render(table, 100, 6)), 2 + 2 + 1);
	assert_int_equal(count_lines(render(table, 100, 1)), 2 + 1 + 1);
	assert_int_equal(count_lines(render(table, 100, 0)), 2 + COUNT(times));
	/* A row that stands for many joins the group, whatever its sum. */
	row = add_row(table, "other (8 files)");
	cell_uint(&row[1], 8700 * 1000);
	cell_uint(&row[2], 12);
	table->folded = 8;
	assert_string_equal(render(table, 100, 20), "Files\n"
						    "  time  share  calls  longest  file\n"
						    " 1.0 s  76.4%      4   1.0 ms  /data/x.bin\n"
						    "300 ms  22.9%      5   300 us  /data/x.bin\n"
						    "9.7 ms   0.7%     31        -  other (13)\n");
	assert_int_equal(count_lines(render(table, 100, 7)), 2 + 2 + 1);
	assert_int_equal(count_lines(render(table, 100, 0)), 2 + COUNT(times) + 1);
	row[2] = (struct cell) { .type = CELL_NULL }; /* unknown for one makes the group's unknown
						       */
	assert_non_null(strstr(render(table, 100, 20), "9.7 ms   0.7%      -        -  other"));
	table_free(table);
}

/* Shares "of I/O" have one denominator in all tables: the total I/O time, not a table's own sum. */
TEST(test_shares)
{
	const struct style style = { .width = 60 };
	const struct grid_options options = { .style = &style, .io_ns = 4000 };
	struct table *table = new_list("files", NULL);
	struct sink out;

	add_column(table, "time_ns", "time", UNIT_NS);
	cell_uint(&add_row(table, "")[0], 3000);
	cell_uint(&add_row(table, "")[0], 2000); /* partly concurrent */
	assert_int_equal(table_show(table, "time_ns", "time_ns", NULL, NULL), 0);
	sink_open_memory(&out);
	grid_write(&out, table, &options);
	keep(&out);
	assert_string_equal(shown, "  time  of I/O\n3.0 us   75.0%\n2.0 us   50.0%\n");
	table->view.share = "of all"; /* the view names its own denominator: the table's sum */
	sink_open_memory(&out);
	grid_write(&out, table, &options);
	keep(&out);
	assert_string_equal(shown, "  time  of all\n3.0 us   60.0%\n2.0 us   40.0%\n");
	table_free(table);
}

/* A text that wraps continues below itself; without that it stays on one line. */
TEST(test_wraps)
{
	const struct style style = { .width = 40 };
	struct grid_options options = { .style = &style, .whole = true };
	struct table *table = new_list("tables", NULL);
	static const char meaning[] = "calls that failed as their path does not exist";
	struct sink out;

	add_column(table, "name", "table", UNIT_NONE);
	add_column(table, "meaning", "contents", UNIT_NONE);
	table_set_text(table, &add_row(table, "lookups")[1], meaning, strlen(meaning));
	sink_open_memory(&out);
	grid_write(&out, table, &options);
	keep(&out);
	assert_string_equal(shown, "table    contents\n"
				   "lookups  calls that failed as their path does not exist\n");
	options.wraps = true;
	sink_open_memory(&out);
	grid_write(&out, table, &options);
	keep(&out);
	assert_string_equal(shown, "table    contents\n"
				   "lookups  calls that failed as their path\n"
				   "         does not exist\n");
	table_free(table);
}

/* Rows that differ only in a column for which there is no room are one row. */
TEST(test_merges)
{
	static const struct {
		const char *line, *state, *library;
		uint64_t time_ns, error_ns;
		double share;
	} rows[] = {
		{ "loader.py:42", "io", "torch/utils.py:7", 5000, 300, 0.5 },
		{ "train.py:9", "io", NULL, 4000, 0, 0.4 },
		{ "loader.py:42", "lock", NULL, 2000, 0, 1 },
		{ "loader.py:42", "io", "numpy/core.py:3", 1000, 400, 0.1 },
	};
	struct table *table = new_list("lines", NULL);
	struct cell *cells;

	add_column(table, "line", "line", UNIT_NONE);
	add_column(table, "time_ns", "time", UNIT_NS);
	add_column(table, "share", "of state", UNIT_SHARE);
	add_column(table, "error_ns", "±", UNIT_NS);
	add_column(table, "state", "state", UNIT_NONE);
	add_column(table, "library", "in library", UNIT_NONE);
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].kind = i == 1		    ? KIND_THREAD
					 : i == 2 || i == 3 ? KIND_DERIVED
							    : KIND_KEY;
	for (size_t i = 0; i < COUNT(rows); i++) {
		cells = add_row(table, rows[i].line);
		cell_uint(&cells[1], rows[i].time_ns);
		cell_real(&cells[2], rows[i].share);
		cell_uint(&cells[3], rows[i].error_ns);
		table_set_literal(table, &cells[4], rows[i].state);
		table_set_literal(table, &cells[5], rows[i].library);
	}
	assert_int_equal(table_show(table, "line,time_ns,share,error_ns,state,library", "time_ns",
				    NULL, NULL),
			 0);
	table->view.merges = true;
	assert_string_equal(render(table, 50, 20),
			    "line            time  of state       ±  state\n"
			    "loader.py:42  6.0 us     60.0%  500 ns  io\n"
			    "train.py:9    4.0 us     40.0%       0  io\n"
			    "loader.py:42  2.0 us    100.0%       0  lock\n");
	assert_int_equal(count_lines(render(table, 100, 20)), 1 + COUNT(rows));
	table->view.merges = false;
	assert_int_equal(count_lines(render(table, 50, 20)), 2 + COUNT(rows));
	table_free(table);
}

/* Rows without a sort value belong to another layer: adding them up would count their bytes twice.
 * An explicit --top lists them, however small.
 */
TEST(test_apart)
{
	struct table *table = new_list("operations", "Operations");
	static const char *const untimed[] = { "request_read", "request_write", "request_flush",
					       "indirect", "add_to_page_cache" };
	const struct style style = { .width = 60 };
	struct grid_options options = { .style = &style, .top = 6, .top_said = true };
	struct sink out;
	struct cell *row;

	add_column(table, "op", "operation", UNIT_NONE);
	add_column(table, "time_ns", "time", UNIT_NS);
	add_column(table, "bytes", "bytes", UNIT_BYTES);
	for (size_t i = 0; i < 4; i++) {
		row = add_row(table, "read");
		cell_uint(&row[1], i ? 1000 : 1000 * 1000);
		cell_uint(&row[2], 1024);
	}
	for (size_t i = 0; i < COUNT(untimed); i++)
		cell_uint(&add_row(table, untimed[i])[2], 1 << 20);
	assert_int_equal(table_show(table, "op,time_ns,bytes", "time_ns", NULL, NULL), 0);
	assert_string_equal(render(table, 60, 20),
			    "Operations\n"
			    "operation    time  share    bytes\n"
			    "read       1.0 ms  99.7%  1.0 KiB\n"
			    "other (3)  3.0 us   0.3%  3.0 KiB\n"
			    "without a time, excluded from these sums: request_read,\n"
			    "request_write, request_flush, indirect and 1 more\n");
	assert_int_equal(count_lines(render(table, 60, 0)), 2 + 4 + COUNT(untimed));
	sink_open_memory(&out);
	text_table(&out, table, &options);
	keep(&out);
	assert_int_equal(count_lines(shown), 2 + 4 + 2);
	options.top = 4 + COUNT(untimed);
	sink_open_memory(&out);
	text_table(&out, table, &options);
	keep(&out);
	assert_int_equal(count_lines(shown), 2 + 4 + COUNT(untimed));
	table_free(table);
}

/* A view that names a nonexistent column is an error; one that was not recorded is not. */
TEST(test_view)
{
	struct table *table = new_list("files", NULL);
	const char *unknown = NULL;

	add_column(table, "path", "file", UNIT_PATH);
	add_column(table, "read", NULL, UNIT_NONE);
	add_column(table, "write.bytes", "written", UNIT_BYTES);
	add_row(table, "/x");
	assert_int_equal(
		table_show(table, "path,read.bytes,write.bytes", "read.bytes", NULL, &unknown), 0);
	assert_int_equal(table->view.shown_count, 2);
	assert_int_equal(table->view.by, TABLE_NO_COLUMN);
	assert_int_equal(table_show(table, "path,writ.bytes", NULL, NULL, &unknown), -EINVAL);
	assert_string_equal(unknown, "writ.bytes");
	assert_int_equal(table_show(table, "path", "nothing", NULL, &unknown), -EINVAL);
	assert_int_equal(table_show(table, "path", NULL, "nothing", &unknown), -EINVAL);
	table_free(table);
}

TEST(test_nothing_to_show)
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

TEST(test_record)
{
	struct cell arguments[] = { { .type = CELL_TEXT, .text = "sh", .length = 2 },
				    { .type = CELL_TEXT, .text = "-c\n", .length = 3 } };
	struct table *table;
	struct cell *row;

	table = table_new("trace", "Trace", TABLE_RECORD);
	add_column(table, "command", "command", UNIT_NONE);
	add_column(table, "events", "events", UNIT_COUNT);
	add_column(table, "complete", "complete", UNIT_NONE);
	row = table_add_row(table);
	table_set_texts(table, &row[0], arguments, 2);
	cell_bool(&row[2], true);
	assert_string_equal(render(table, 100, 0), "Trace\n"
						   "command   sh -c\\x0a\n"
						   "events    -\n"
						   "complete  yes\n");
	table_free(table);
}

/* A wide table: headings of several lines; empty columns are dropped first, then the least
 * important. One line per row; no line is too long; paths are shortened in their directories.
 */
TEST(test_wide)
{
	struct table *table = new_list("files", NULL);
	const char *path = "/data/a/long/path/that/has/no/end/and/some/more/of/it/train.bin";
	struct cell *row;

	add_column(table, "path", "file", UNIT_PATH);
	for (int i = 0; i < 16; i++) {
		char name[24];

		snprintf(name, sizeof(name), "column %d", i);
		add_column(table, name, name, UNIT_BYTES);
	}
	row = add_row(table, path);
	for (int i = 0; i < 16; i += 2)
		cell_uint(&row[1 + i], (i + 1) * 1024);
	row = add_row(table, "/b");
	cell_uint(&row[1], 5);
	/* Eight columns with content: seven numbers and the path. */
	assert_int_equal(widest_line(render(table, 250, 0)),
			 5 * (8 + 2) + 2 * (9 + 2) + strlen(path));
	assert_int_equal(count_lines(shown), 3);
	assert_null(strstr(shown, "column 14"));
	assert_null(strstr(shown, "column 1 "));
	/* clang-format off */
	assert_string_equal(render(table, 100, 0),
		" column   column   column   column   column    column    column\n"
		"      0        2        4        6        8        10        12  file\n"
		"1.0 KiB  3.0 KiB  5.0 KiB  7.0 KiB  9.0 KiB  11.0 KiB  13.0 KiB  /data/…/some/more/of/it/train.bin\n"
		"    5 B        -        -        -        -         -         -  /b\n");
	assert_string_equal(render(table, 60, 0),
		" column   column   column\n"
		"      0        2        4  file\n"
		"1.0 KiB  3.0 KiB  5.0 KiB  /data/…/some/more/of/it/train.bin\n"
		"    5 B        -        -  /b\n");
	/* clang-format on */
	for (size_t width = 60; width < 200; width++)
		assert_true(widest_line(render(table, width, 0)) <= width);
	table_free(table);
}

/* Directories are shortened first, the file name never: it is what readers look for. */
TEST(test_paths)
{
	static const struct {
		const char *path, *shown;
		size_t columns;
	} cases[] = {
		{ "/data/train.bin", "/data/train.bin", 15 },
		{ "/data/a/b/train.bin", "/data/…/train.bin", 17 },
		{ "/data/a/b/train.bin", "…/b/train.bin", 14 },
		{ "/data/a/b/train.bin", "…/train.bin", 11 },
		{ "/data/a/b/train.bin", "…/train.bin", 3 },
		{ "train.bin", "train.bin", 3 },
		{ "/train.bin", "…/train.bin", 5 },
		{ "/données/größe/x/train.bin", "/données/…/train.bin", 20 },
		{ "other (1,234)", "other (1,234)", 13 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sink out;

		sink_open_memory(&out);
		escape_path(&out, cases[i].path, strlen(cases[i].path), cases[i].columns);
		keep(&out);
		assert_string_equal(shown, cases[i].shown);
	}
}

/* Colour appears only if enabled, and is always reset. */
TEST(test_colour)
{
	const struct style style = { .width = 80, .colour = true };
	const struct grid_options options = { .style = &style };
	struct table *table = new_list("files", "Files");
	struct sink out;

	add_column(table, "path", "file", UNIT_PATH);
	add_row(table, "/data/x");
	sink_open_memory(&out);
	text_table(&out, table, &options);
	keep(&out);
	assert_string_equal(shown, "\033[1mFiles\033[0m\n\033[2mfile\033[0m\n/data/x\n");
	assert_null(strchr(render(table, 80, 0), '\033'));
	assert_true(style_colour("always", -1));
	assert_false(style_colour("never", -1));
	assert_false(style_colour("auto", -1));
	table_free(table);
}
