/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a report is asked for: selections of columns and rows, comma-separated values, filters and
 * groups by a key.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/against.h"
#include "analysis/filter.h"
#include "analysis/plan.h"
#include "analysis/rollup.h"
#include "analysis/select.h"
#include "ask_report.h"
#include "output/csv.h"
#include "output/escape.h"
#include "output/screen.h"

#define MS 1000000ull

/* --- selections --- */

struct thing {
	const char *name;
	uint64_t bytes;
	double share;
};

static struct table *new_things(void)
{
	static const struct table_column columns[] = {
		{ "name", "thing", UNIT_NONE, "its name", TABLE_LITERAL(struct thing, name), 0 },
		{ "bytes", NULL, UNIT_BYTES, "its size", TABLE_UINT(struct thing, bytes), 0 },
		{ "share", "share", UNIT_SHARE, "its share", TABLE_REAL(struct thing, share), 0 },
	};
	static const struct thing things[] = {
		{ "b", 5, 0.5 }, { "a", TABLE_NO_UINT, 0.25 }, { "c", 70, 0.0 / 0.0 }, { "d", 6, 1 }
	};
	struct table *table;

	assert_int_equal(table_new(&table, "things", "Things", TABLE_LIST), 0);
	assert_int_equal(table_add_columns(table, TABLE_COLUMNS(columns)), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(table_add(table, &things[i]), 0);
	return table;
}

/* The names of the rows of a selection. */
static const char *names(const struct table *table, const struct selection *selection)
{
	static char text[32];
	const char *unknown;
	struct table *made;
	int column;

	assert_int_equal(select_make(&made, table, selection, &unknown), 0);
	column = table_find_column(made, "name");
	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < made->row_count; i++)
		text[i] = made->cells[i * made->column_count + column].text[0];
	table_free(made);
	return text;
}

static void test_select(void **state)
{
	struct table *table = new_things(), *made;
	const char *unknown;

	(void)state;
	assert_string_equal(names(table, &(struct selection) { 0 }), "bacd");
	assert_string_equal(names(table, &(struct selection) { .top = 2 }), "ba");
	assert_string_equal(names(table, &(struct selection) { .sort = "name" }), "abcd");
	/* The largest first; what was not measured last. */
	assert_string_equal(names(table, &(struct selection) { .sort = "bytes" }), "cdba");
	assert_string_equal(names(table, &(struct selection) { .sort = "share", .top = 3 }), "dba");
	assert_int_equal(select_make(&made, table,
				     &(struct selection) { .columns = "share,name,share" },
				     &unknown),
			 0);
	assert_int_equal(made->column_count, 3);
	assert_string_equal(made->columns[1].name, "name");
	table_free(made);
	assert_int_equal(
		select_make(&made, table, &(struct selection) { .columns = "name,siz" }, &unknown),
		-EINVAL);
	assert_string_equal(unknown, "siz");
	assert_null(made);
	assert_int_equal(select_make(&made, table, &(struct selection) { .sort = "no" }, &unknown),
			 -EINVAL);
	/* What people are shown has a title. */
	assert_int_equal(select_make(&made, table, &(struct selection) { .shown = true }, &unknown),
			 0);
	assert_int_equal(made->column_count, 2);
	table_free(made);
	table_free(table);
}

static void test_lists(void **state)
{
	struct table *table = new_things(), *list;

	(void)state;
	assert_int_equal(select_list_columns(&list, table), 0);
	assert_int_equal(list->row_count, 3);
	assert_memory_equal(list->cells[3].text, "bytes", 5);
	assert_memory_equal(list->cells[4].text, "bytes", 5);
	assert_memory_equal(list->cells[5].text, "its size", 8);
	table_free(list);
	assert_int_equal(select_list_tables(&list, &table, 1), 0);
	assert_memory_equal(list->cells[0].text, "things", 6);
	assert_int_equal(list->cells[1].uint, 4);
	table_free(list);
	table_free(table);
}

static void test_csv(void **state)
{
	struct table *table = new_things();
	struct sink out;

	(void)state;
	table->cells[0].text = "x,\"y\"\n\xff";
	table->cells[0].length = 7;
	sink_open_memory(&out);
	csv_table(&out, table);
	sink_bytes(&out, "", 1);
	assert_string_equal(out.buffer, "name,bytes,share\r\n"
					"\"x,\"\"y\"\"\n\\xff\",5,0.5\r\n"
					"a,,0.25\r\n"
					"c,70,\r\n"
					"d,6,1\r\n");
	sink_close(&out);
	table_free(table);
}

/* --- filters --- */

/* Two ranks that read and fault on two files, one call within a span. */
static void make_run(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	made_fork(made, 11, 10, 20);
	EXEC(made, .time = 12, .pid = 20, .comm = "b", .command = "b", .rank = 1);
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	FILE_ROW(made, .time = 10, .id = 2, .dev = 1, .ino = 2, .path = "/data/y.txt");
	CALL(made, .time = 10 + 1 * MS, .dur = 10, .pid = 10, .op = M_PREAD, .file = 1,
	     .result = 1);
	CALL(made, .time = 10 + 2 * MS, .dur = 500, .pid = 10, .op = M_READ, .file = 2,
	     .result = 2);
	CALL(made, .time = 10 + 3 * MS, .dur = 10, .pid = 20, .op = M_PREAD, .file = 1,
	     .result = 4);
	FAULT(made, .time = 10 + 4 * MS, .dur = 10, .pid = 20, .file = 1, .fetched = 4096);
	SPAN(made, .begin = 10 + 5 * MS, .end = 10 + 6 * MS, .pid = 10, .id = 1, .name = "step",
	     .category = "x");
	CALL(made, .time = 11 + 5 * MS, .dur = 10, .pid = 10, .op = M_PREAD, .file = 2,
	     .result = 8);
	CALL(made, .time = 10 + 7 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 2, .result = 16,
	     .flags = TRACE_OP_DIRECT);
}

static int ask_filtered(const struct filter *filter, struct report **report)
{
	static const char *const traces[] = { "a.flt" };
	const struct report_options options = { .filter = filter };
	struct trace_error error;
	struct made_trace made;
	int status;

	make_run(&made);
	made_finish(&made, 10, 10 + 10 * MS);
	status = report_make(report, &made.reader, traces, 1, &options, &error);
	if (status)
		assert_true(strlen(error.text) > 0);
	made_close(&made);
	return status;
}

#define FILTERED(bytes, faults, ...)                                                               \
	do {                                                                                       \
		struct filter filter = FILTER_ALL;                                                 \
		struct report *report;                                                             \
                                                                                                   \
		__VA_ARGS__;                                                                       \
		assert_int_equal(ask_filtered(&filter, &report), 0);                               \
		CHECK(report, "totals", 0, "read.bytes", bytes);                                   \
		CHECK(report, "totals", 0, "mmap_read.faults", faults);                            \
		report_free(report);                                                               \
	} while (0)

static void test_filters(void **state)
{
	(void)state;
	FILTERED(31, 1, (void)filter);
	FILTERED(27, 0, filter.pid = 10);
	FILTERED(4, 1, filter.rank = 1);
	FILTERED(5, 1, filter.file = "*.bin");
	FILTERED(13, 0, filter.op = "pread64");
	FILTERED(0, 1, filter.op = "fault");
	FILTERED(13, 1, filter.op = "pread64,fault");
	FILTERED(31, 0, filter.op = "*read*");
	FILTERED(13, 0, filter.op = "p*");
	FILTERED(18, 1, filter.op = "fault,?ead");
	FILTERED(16, 0, filter.door = "direct");
	FILTERED(0, 1, filter.door = "mmap");
	FILTERED(8, 0, filter.span = "step");
	FILTERED(2, 0, filter.min_duration_ns = 100);
	FILTERED(6, 0, filter.from_ns = 2 * MS; filter.until_ns = 3 * MS + 5);
	FILTERED(24, 0, filter.from_ns = 5 * MS);
	FILTERED(8, 0, filter.from_ns = 5 * MS; filter.op = "pread64");
}

/* The other tables go by the same events, and the run is as long as what was asked for. */
static void test_filtered_tables(void **state)
{
	struct filter filter = FILTER_ALL;
	struct report *report;

	(void)state;
	filter.from_ns = 2 * MS;
	filter.until_ns = 5 * MS;
	assert_int_equal(ask_filtered(&filter, &report), 0);
	CHECK(report, "trace", 0, "duration_ns", 3 * MS);
	CHECK(report, "operations", find_row(report, "operations", "op", "read"), "count", 1);
	CHECK(report, "operations", find_row(report, "operations", "op", "pread64"), "bytes", 4);
	CHECK(report, "operations", find_row(report, "operations", "op", "fault"), "count", 1);
	assert_int_equal(report_table(report, "operations")->row_count, 3);
	report_free(report);
}

/* Every other second is one rank's, which reads its own file, and writes from it to another. */
#define SECONDS 20

static void make_turns(struct made_trace *made)
{
	BEGIN(made, .lanes = 1);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	made_fork(made, 11, 10, 20);
	EXEC(made, .time = 12, .pid = 20, .comm = "b", .command = "b", .rank = 1);
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	FILE_ROW(made, .time = 10, .id = 2, .dev = 1, .ino = 2, .path = "/data/y.txt");
	FILE_ROW(made, .time = 10, .id = 3, .dev = 1, .ino = 3, .path = "/data/z.out");
	for (uint64_t i = 0; i < SECONDS; i++) {
		uint64_t time = (2 * i + 1) * 1000 * MS;

		CALL(made, .time = time, .dur = 10, .pid = i % 2 ? 20 : 10, .op = M_READ,
		     .file = 1 + i % 2, .result = 1);
		if (!(i % 5))
			CALL(made, .time = time + 100, .dur = 10, .pid = i % 2 ? 20 : 10,
			     .op = M_SENDFILE, .file = 1 + i % 2, .file2 = 3, .result = 100);
		assert_int_equal(trace_writer_tick(made->writer, time + 1000), 0);
	}
	made_finish(made, 10, 2 * SECONDS * 1000 * MS);
}

/* Rows of calls that a filter has read. */
static uint64_t rows_read(struct job *job, const struct filter *filter)
{
	struct cursor_options options = {
		.kinds = 1ull << TRACE_SYSCALL | 1ull << TRACE_SYSCALL_PATH, .until_ns = UINT64_MAX
	};
	struct filter_state *state;
	struct trace_error error;
	struct plan plan;
	uint64_t rows;

	assert_int_equal(filter_open(&state, filter, job, &error), 0);
	filter_set_cursor(state, &options);
	options.kinds &= ~CURSOR_SPAN_KINDS;
	options.until_ns = UINT64_MAX;
	assert_int_equal(plan_make(&plan, job, &options), 0);
	rows = plan.rows;
	plan_free(&plan);
	filter_close(state);
	return rows;
}

/* Blocks in which there is no row of a process, a rank or a file are not read, and nothing of what
 * is asked for is left out with them. */
static void test_blocks_read(void **state)
{
	static const char *const name = "a.flt";
	const uint64_t transfers = SECONDS / 5;
	struct filter filter = FILTER_ALL;
	const struct report_options options = { .filter = &filter };
	const struct {
		uint64_t pid, rank;
		const char *file;
		uint64_t rows, bytes, written;
	} cases[] = {
		{ FILTER_NONE, FILTER_NONE, NULL, SECONDS + transfers, SECONDS + 100 * transfers,
		  100 * transfers },
		{ 10, FILTER_NONE, NULL, (SECONDS + transfers) / 2, (SECONDS + 100 * transfers) / 2,
		  50 * transfers },
		{ FILTER_NONE, 1, NULL, (SECONDS + transfers) / 2, (SECONDS + 100 * transfers) / 2,
		  50 * transfers },
		{ FILTER_NONE, FILTER_NONE, "*.txt", (SECONDS + transfers) / 2,
		  (SECONDS + 100 * transfers) / 2, 0 },
		{ FILTER_NONE, FILTER_NONE, "*.out", transfers, 0, 100 * transfers },
	};
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	struct job job;

	(void)state;
	assert_true(trace_key(10) != trace_key(20));
	assert_true(trace_key(1) != trace_key(2) && trace_key(2) != trace_key(3));
	make_turns(&made);
	assert_int_equal(job_load(&job, &made.reader, &name, 1, &error), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		filter.pid = cases[i].pid;
		filter.rank = cases[i].rank;
		filter.file = cases[i].file;
		assert_int_equal(rows_read(&job, &filter), cases[i].rows);
		assert_int_equal(report_make(&report, &made.reader, &name, 1, &options, &error), 0);
		CHECK(report, "totals", 0, "read.bytes", cases[i].bytes);
		CHECK(report, "totals", 0, "write.bytes", cases[i].written);
		report_free(report);
	}
	job_free(&job);
	made_close(&made);
}

/* Blocks that nothing of can pass are not read, but for those that tell which spans are open. */
static void test_kinds_read(void **state)
{
	static const char *const names[] = { "a.flt" };
	const uint64_t spans = 1ull << TRACE_SPAN_BEGIN | 1ull << TRACE_SPAN_END;
	const uint64_t calls = 1ull << TRACE_SYSCALL | 1ull << TRACE_SYSCALL_PATH;
	const uint64_t fault = 1ull << TRACE_FAULT, pagecache = 1ull << TRACE_PAGECACHE;
	struct filter all = FILTER_ALL, faults = FILTER_ALL, reads = FILTER_ALL, slow = FILTER_ALL;
	const struct {
		const struct filter *filter;
		uint64_t read, passed_over;
	} cases[] = {
		{ &all, spans | calls | fault | pagecache, 0 },
		{ &faults, spans | fault, calls | pagecache },
		{ &reads, spans | calls, fault | pagecache },
		{ &slow, spans | calls | fault, pagecache },
	};
	struct trace_error error = { "" };
	struct made_trace made;
	struct job job;

	(void)state;
	faults.op = "fault";
	reads.op = "pread64";
	slow.min_duration_ns = 1;
	BEGIN(&made, .spans = true);
	made_finish(&made, 0, MS);
	assert_int_equal(job_load(&job, &made.reader, names, 1, &error), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cursor_options options = { .kinds = ~0ull };
		struct filter_state *filter;

		assert_int_equal(filter_open(&filter, cases[i].filter, &job, &error), 0);
		filter_set_cursor(filter, &options);
		assert_true((options.kinds & cases[i].read) == cases[i].read);
		assert_false(options.kinds & cases[i].passed_over);
		filter_close(filter);
	}
	job_free(&job);
	made_close(&made);
}

static void test_nothing_asked_for(void **state)
{
	struct filter filter = FILTER_ALL;
	struct report *report;

	(void)state;
	filter.file = "/nowhere/*";
	assert_int_equal(ask_filtered(&filter, &report), -ENODATA);
	assert_null(report);
	filter.file = NULL;
	filter.from_ns = 20 * MS;
	assert_int_equal(ask_filtered(&filter, &report), -ENODATA);
	filter.from_ns = 0;
	filter.op = "preadd";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "pread64,preadd"; /* each must mean something */
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "pread64,";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "x*";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = NULL;
	filter.door = "window";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
}

/* --- groups --- */

static void test_groups(void **state)
{
	static const char *const traces[] = { "a.flt" };
	static const struct {
		const char *key;
		size_t groups;
	} cases[] = { { "job", 1 },	{ "rank", 2 }, { "process", 2 },
		      { "program", 2 }, { "file", 2 }, { "directory", 1 },
		      { "host", 1 },	{ "door", 3 }, { "second", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct report_options options = { .key = rollup_find_key(cases[i].key) };
		struct trace_error error;
		struct made_trace made;
		struct report *report;
		uint64_t bytes = 0, faults = 0;
		int read, mmap;

		make_run(&made);
		made_finish(&made, 10, 10 + 10 * MS);
		assert_int_equal(report_make(&report, &made.reader, traces, 1, &options, &error),
				 0);
		assert_non_null(report->groups);
		if (report->groups->row_count != cases[i].groups)
			fail_msg("%s: %zu groups", cases[i].key, report->groups->row_count);
		read = table_find_column(report->groups, "read.bytes");
		mmap = table_find_column(report->groups, "mmap.faults");
		for (size_t row = 0; row < report->groups->row_count; row++) {
			const struct cell *cells =
				&report->groups->cells[row * report->groups->column_count];

			bytes += cells[read].uint;
			faults += cells[mmap].uint;
		}
		/* Whatever the key: each byte is in one group. */
		assert_int_equal(bytes, 31);
		assert_int_equal(faults, 1);
		report_free(report);
		made_close(&made);
	}
}

/* Of what calls read through the page cache; what is read by O_DIRECT is nothing to it. */
static void test_from_memory(void **state)
{
	static const char *const traces[] = { "a.flt" };
	const struct report_options options = { .key = rollup_find_key("process") };
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	const struct table *groups;
	int column;

	(void)state;
	BEGIN(&made, .spans = true);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	for (uint64_t pid = 1; pid <= 4; pid++)
		EXEC(&made, .time = 10, .pid = 10 * pid, .comm = "a", .command = "a");
	CALL(&made, .time = 1 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 4096,
	     .fetched = 4096);
	CALL(&made, .time = 2 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 1,
	     .result = 3 * 4096);
	/* Read ahead: more comes than is read. */
	CALL(&made, .time = 3 * MS, .dur = 10, .pid = 20, .op = M_READ, .file = 1, .result = 4096,
	     .fetched = 65536);
	CALL(&made, .time = 4 * MS, .dur = 10, .pid = 30, .op = M_READ, .file = 1, .result = 4096,
	     .flags = TRACE_OP_DIRECT);
	CALL(&made, .time = 5 * MS, .dur = 10, .pid = 40, .op = M_WRITE, .file = 1, .result = 4096);
	made_finish(&made, 0, 10 * MS);
	assert_int_equal(report_make(&report, &made.reader, traces, 1, &options, &error), 0);
	groups = report->groups;
	column = table_find_column(groups, "from_memory");
	assert_int_equal(groups->row_count, 4);
	for (size_t row = 0; row < 4; row++) {
		const struct cell *cells = &groups->cells[row * groups->column_count];

		switch (cells[0].text[0]) {
		case '1':
			assert_true(cells[column].real == 0.75);
			break;
		case '2':
			assert_true(cells[column].real == 0);
			break;
		default:
			assert_int_equal(cells[column].type, CELL_NULL);
		}
	}
	report_free(report);
	made_close(&made);
}

/* --- places, and what to know before --- */

/* Files that are alike are one place; what a program is made of, too; others stand alone. */
static void test_places(void **state)
{
	static const struct {
		const char *format;
		unsigned int files;
		const char *place;
		uint64_t bytes; /* of each */
	} kinds[] = {
		{ "/data/img/%u.jpg", 10, "/data/img/*.jpg", 1 },
		{ "/data/few/%u.bin", 3, NULL, 2 },
		{ "/data/deep/c%u/x.png", 20, "/data/deep/**.png", 4 },
		{ "/usr/lib/python3/m%u.py", 5, "programs, libraries and modules", 8 },
		{ "/usr/share/doc/p%u/copyright", 12, "/usr/share/doc/**", 64 },
		{ "/proc/%u/stat", 4, "/proc and /sys", 16 },
		{ "socket:[%u]", 2, "sockets, pipes and what has no path", 32 },
	};
	struct made_trace made;
	struct report *report;
	uint64_t id = 0, places = 0;
	char path[64];

	(void)state;
	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned int j = 0; j < kinds[i].files; j++) {
			snprintf(path, sizeof(path), kinds[i].format, j);
			id++;
			FILE_ROW(&made, .time = 10, .id = id, .dev = 1, .ino = id, .path = path);
			CALL(&made, .time = 100 + id * 100, .dur = 10, .pid = 10, .op = M_READ,
			     .file = id, .result = kinds[i].bytes);
		}
	made_finish(&made, 10, 100000);
	report = made_report(&made.reader, 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t row;

		places += kinds[i].place ? 1 : kinds[i].files;
		if (!kinds[i].place)
			continue;
		row = find_row(report, "places", "path", kinds[i].place);
		CHECK(report, "places", row, "files", kinds[i].files);
		CHECK(report, "places", row, "time_ns", kinds[i].files * 10);
		CHECK(report, "places", row, "read_bytes", kinds[i].files * kinds[i].bytes);
	}
	CHECK(report, "places", find_row(report, "places", "path", "/data/few/2.bin"), "files", 1);
	assert_int_equal(report_table(report, "places")->row_count, places);
	report_free(report);
	made_close(&made);
}

/* Files that had one path are one place, and not alike however many they are. */
static void test_places_of_one_path(void **state)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	(void)state;
	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t id = 1; id <= 14; id++) {
		FILE_ROW(&made, .time = 10, .id = id, .dev = 1, .ino = id,
			 .path = id > 12 ? "/data/job.db" : "/data/job.db-journal");
		CALL(&made, .time = 100 + id * 100, .dur = 10, .pid = 10, .op = M_READ, .file = id,
		     .result = 5);
	}
	made_finish(&made, 10, 100000);
	report = made_report(&made.reader, 1);
	assert_int_equal(report_table(report, "places")->row_count, 2);
	row = find_row(report, "places", "path", "/data/job.db-journal");
	CHECK(report, "places", row, "files", 12);
	CHECK(report, "places", row, "time_ns", 12 * 10);
	CHECK(report, "places", row, "read_bytes", 12 * 5);
	CHECK(report, "places", find_row(report, "places", "path", "/data/job.db"), "files", 2);
	report_free(report);
	made_close(&made);
}

/* Where looking files up takes the most time, the screen names the calls and the directories. */
static void test_metadata_leads(void **state)
{
	struct made_trace made;
	struct report *report;
	const char *note;

	(void)state;
	BEGIN(&made, .lanes = 1);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t i = 0; i < 100; i++)
		CALL(&made, .time = 100 + 20000 * i, .dur = 10000, .pid = 10, .op = M_FSTAT,
		     .path = i % 4 ? "/data/images/x.jpg" : "/data/labels/x.txt");
	CALL(&made, .time = 3 * MS, .dur = 1000, .pid = 10, .op = M_OPENAT, .result = -2,
	     .path = "/none/x");
	made_finish(&made, 10, 10 + 10 * MS);
	report = made_report(&made.reader, 1);
	note = report_by(report, &analysis_access)->note;
	assert_non_null(note);
	assert_non_null(strstr(note, "newfstatat 1.0 ms of 100 calls"));
	assert_non_null(strstr(note, "in the directories /data/images 750 us of 75 calls, "
				     "/data/labels 250 us of 25 calls"));
	assert_null(strstr(note, "/none"));
	report_free(report);
	made_close(&made);
}

static void test_caveats(void **state)
{
	const uint64_t survivors[] = { 11, 12 };
	struct made_trace made;
	struct report *report;

	(void)state;
	make_run(&made);
	made_finish(&made, 10, 10 + 10 * MS);
	report = made_report(&made.reader, 1);
	assert_int_equal(report_table(report, "caveats")->row_count, 0);
	report_free(report);
	made_close(&made);

	make_run(&made);
	made.kinds[TRACE_SYSCALL].lost = 3;
	made.kinds[TRACE_SYSCALL].events += 3;
	made.totals.survivors = survivors;
	made.totals.survivor_count = 2;
	made_finish(&made, 10, 10 + 10 * MS);
	report = made_report(&made.reader, 1);
	check_text(report, "caveats", find_row(report, "caveats", "id", "lost"), "weight",
		   "warning");
	check_text(report, "caveats", find_row(report, "caveats", "id", "survivors"), "text",
		   "2 processes outlived the run, untraced from then on");
	report_free(report);
	made_close(&made);

	make_run(&made);
	made_abandon(&made);
	report = made_report(&made.reader, 1);
	check_text(report, "caveats", find_row(report, "caveats", "id", "incomplete"), "weight",
		   "warning");
	report_free(report);
	made_close(&made);
}

/* --- two runs --- */

/* The change of a row's time, by its name. */
static int64_t change(const struct table *table, const char *name)
{
	int key = table_find_column(table, "name"), column = table_find_column(table, "change_ns");

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cells = &table->cells[i * table->column_count];

		if (cells[key].length == strlen(name) &&
		    !memcmp(cells[key].text, name, cells[key].length))
			return cells[column].type == CELL_INT ? cells[column].sint : -1;
	}
	fail_msg("no row %s", name);
	return 0;
}

static void test_against(void **state)
{
	struct table *tables[AGAINST_TABLES];
	struct made_trace made[2];
	struct report *reports[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		make_run(&made[i]);
		if (i)
			CALL(&made[i], .time = 10 + 8 * MS, .dur = 1000, .pid = 10, .op = M_READ,
			     .file = 2, .result = 1);
		/* A loss that one run has is a finding that came. */
		made[i].kinds[TRACE_SYSCALL].events += i * 90;
		made[i].kinds[TRACE_SYSCALL].lost += i * 90;
		made_finish(&made[i], 10, 10 + (10 + 5 * i) * MS);
		reports[i] = made_report(&made[i].reader, 1);
	}
	assert_int_equal(against_make(tables, reports[0], reports[1]), 0);
	assert_int_equal(change(tables[0], "the run"), 5 * MS);
	assert_int_equal(change(tables[0], "read"), 1000);
	assert_int_equal(change(tables[0], "faults on mapped files"), 0);
	assert_int_equal(change(tables[2], "/data/y.txt"), 1000);
	assert_int_equal(change(tables[2], "/data/x.bin"), 0);
	assert_memory_equal(tables[1]->cells[0].text, "came", 4);
	assert_memory_equal(tables[1]->cells[1].text, "loss", 4);
	for (size_t i = 0; i < AGAINST_TABLES; i++)
		table_free(tables[i]);
	/* The other way round. */
	assert_int_equal(against_make(tables, reports[1], reports[0]), 0);
	assert_int_equal(change(tables[0], "the run"), -5 * (int64_t)MS);
	assert_memory_equal(tables[1]->cells[0].text, "went", 4);
	for (size_t i = 0; i < AGAINST_TABLES; i++)
		table_free(tables[i]);
	for (int i = 0; i < 2; i++) {
		report_free(reports[i]);
		made_close(&made[i]);
	}
}

/* --- the first screen --- */

/* Whatever the width: no line is wider; colour is what was asked for and comes to its end. */
static void test_screen(void **state)
{
	struct made_trace made;
	struct report *report;

	(void)state;
	make_run(&made);
	made_finish(&made, 10, 10 + 10 * MS);
	report = made_report(&made.reader, 1);
	for (size_t width = 60; width <= 200; width += 20) {
		const struct style plain = { .width = width };
		const struct style colour = { .width = width, .colour = true };
		struct sink out;
		size_t lines = 0;

		sink_open_memory(&out);
		screen_write(&out, report, &plain);
		sink_bytes(&out, "", 1);
		assert_int_equal(out.error, 0);
		for (const char *at = out.buffer; *at; lines++) {
			size_t length = strcspn(at, "\n");

			assert_true(escape_columns(at, length) <= width);
			at += length + 1;
		}
		assert_true(lines <= 40);
		assert_null(strchr(out.buffer, '\033'));
		assert_non_null(strstr(out.buffer, "ran 10.0 ms, exit 0, 2 processes, 2 ranks"));
		assert_non_null(strstr(out.buffer, "faults on mapped files"));
		assert_non_null(strstr(out.buffer, "/data/x.bin"));
		out.used = 0;
		screen_write(&out, report, &colour);
		sink_bytes(&out, "", 1);
		assert_non_null(strstr(out.buffer, "\033[1m"));
		assert_string_equal(strrchr(out.buffer, '\033') + 1,
				    strstr(strrchr(out.buffer, '\033'), "[0m"));
		sink_close(&out);
	}
	report_free(report);
	made_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_filtered_tables),
		cmocka_unit_test(test_blocks_read),
		cmocka_unit_test(test_kinds_read),
		cmocka_unit_test(test_nothing_asked_for),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_from_memory),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_places_of_one_path),
		cmocka_unit_test(test_metadata_leads),
		cmocka_unit_test(test_caveats),
		cmocka_unit_test(test_against),
		cmocka_unit_test(test_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
