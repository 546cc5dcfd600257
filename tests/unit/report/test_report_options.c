/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Report options: column and row selections, CSV, filters and grouping by a key. */
#include "unit_test.h"

#include <errno.h>

#include "analysis/order/filter.h"
#include "analysis/order/plan.h"
#include "analysis/shared/rollup.h"
#include "analysis/table/select.h"
#include "ask_report.h"
#include "output/tables/csv.h"
#include "ranks_sample.h"

/* --- selections --- */

struct thing {
	const char *name;
	uint64_t bytes;
	double share;
};

static struct table *new_things(void)
{
	static const struct table_column columns[] = {
		{ "name", "thing", UNIT_NONE, KIND_FACT, "its name",
		  TABLE_LITERAL(struct thing, name), 0 },
		{ "bytes", NULL, UNIT_BYTES, KIND_SUM, "its size", TABLE_UINT(struct thing, bytes),
		  0 },
		{ "share", "share", UNIT_SHARE, KIND_FACT, "its share",
		  TABLE_REAL(struct thing, share), 0 },
	};
	static const struct thing things[] = {
		{ "b", 5, 0.5 }, { "a", TABLE_NO_UINT, 0.25 }, { "c", 70, 0.0 / 0.0 }, { "d", 6, 1 }
	};
	struct table *table;

	table = table_new("things", "Things", TABLE_LIST);
	table_add_columns(table, TABLE_COLUMNS(columns));
	for (size_t i = 0; i < 4; i++)
		table_add(table, &things[i]);
	return table;
}

/* Names of the rows of a selection. */
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

TEST(test_select)
{
	struct table *table = new_things(), *made;
	const char *unknown;

	assert_string_equal(names(table, &(struct selection) { 0 }), "bacd");
	assert_string_equal(names(table, &(struct selection) { .top = 2 }), "ba");
	assert_string_equal(names(table, &(struct selection) { .sort = "name" }), "abcd");
	/* Largest first; null values last. */
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
	/* Columns shown in text have a title. */
	assert_int_equal(select_make(&made, table, &(struct selection) { .shown = true }, &unknown),
			 0);
	assert_int_equal(made->column_count, 2);
	table_free(made);
	table_free(table);
}

TEST(test_lists)
{
	struct table *table = new_things(), *list;

	assert_int_equal(select_list_columns(&list, table), 0);
	assert_int_equal(list->row_count, 3);
	assert_memory_equal(list->cells[5].text, "bytes", 5);
	assert_memory_equal(list->cells[6].text, "bytes", 5);
	assert_memory_equal(list->cells[7].text, "sum", 3);
	assert_memory_equal(list->cells[8].text, "integer", 7);
	assert_memory_equal(list->cells[9].text, "its size", 8);
	table_free(list);
	assert_int_equal(select_list_tables(&list, &table, 1), 0);
	assert_memory_equal(list->cells[0].text, "things", 6);
	assert_int_equal(list->cells[1].uint, 4);
	table_free(list);
	table_free(table);
}

TEST(test_csv)
{
	struct table *table = new_things();
	struct sink out;

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

TEST(test_filters)
{
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
	FILTERED(16, 0, filter.method = "direct");
	FILTERED(0, 1, filter.method = "mmap");
	FILTERED(8, 0, filter.span = "step");
	FILTERED(2, 0, filter.min_duration_ns = 100);
	FILTERED(6, 0, filter.from_ns = 2 * MS; filter.until_ns = 3 * MS + 5);
	FILTERED(24, 0, filter.from_ns = 5 * MS);
	FILTERED(8, 0, filter.from_ns = 5 * MS; filter.op = "pread64");
}

/* The filter applies to all other tables too, and the run is as long as the filtered window. */
TEST(test_filtered_tables)
{
	struct filter filter = FILTER_ALL;
	struct report *report;

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

/*
 * Every other second belongs to one rank, which reads its own file and writes from it to another.
 */
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

/* Rows of calls that a filter reads. */
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

/* Blocks without rows of a process, rank or file are skipped, and the result is the same. */
TEST(test_blocks_read)
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

	assert_true(trace_key(10) != trace_key(20));
	assert_true(trace_key(1) != trace_key(2) && trace_key(2) != trace_key(3));
	make_turns(&made);
	assert_int_equal(job_load(&job, &made.reader, &name, 1, &error), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		filter.pid = cases[i].pid;
		filter.rank = cases[i].rank;
		filter.file = cases[i].file;
		assert_int_equal(rows_read(&job, &filter), cases[i].rows);
		report = report_with(&made, &options);
		CHECK(report, "totals", 0, "read.bytes", cases[i].bytes);
		CHECK(report, "totals", 0, "write.bytes", cases[i].written);
		report_free(report);
	}
	job_free(&job);
	made_close(&made);
}

/* Blocks in which no row can pass are skipped, except those needed to track open spans. */
TEST(test_kinds_read)
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

TEST(test_nothing_requested)
{
	struct filter filter = FILTER_ALL;
	struct report *report;

	filter.file = "/nowhere/*";
	assert_int_equal(ask_filtered(&filter, &report), -ENODATA);
	assert_null(report);
	filter.file = NULL;
	filter.from_ns = 20 * MS;
	assert_int_equal(ask_filtered(&filter, &report), -ENODATA);
	filter.from_ns = 0;
	filter.op = "preadd";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "pread64,preadd"; /* every name must be valid */
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "pread64,";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = "x*";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
	filter.op = NULL;
	filter.method = "window";
	assert_int_equal(ask_filtered(&filter, &report), -ESRCH);
}

/* --- groups --- */

TEST(test_groups)
{
	static const struct {
		const char *key;
		size_t groups;
	} cases[] = { { "job", 1 },	{ "rank", 2 },	 { "process", 2 },
		      { "program", 2 }, { "file", 2 },	 { "directory", 1 },
		      { "host", 1 },	{ "method", 3 }, { "second", 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct report_options options = { .key = rollup_find_key(cases[i].key) };
		struct made_trace made;
		struct report *report;
		uint64_t bytes = 0, faults = 0;
		int read, mmap;

		make_run(&made);
		made_finish(&made, 10, 10 + 10 * MS);
		report = report_with(&made, &options);
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
		/* Whatever the key, each byte is in exactly one group. */
		assert_int_equal(bytes, 31);
		assert_int_equal(faults, 1);
		done(&made, report);
	}
}

/* A process belongs to the program it runs: its parent's until it execs, then each in turn. */
TEST(test_programs)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} truth[] = { { "one", 1 + 10 + 1000 }, { "two", 100 + 10000 }, { "three", 100000 } };
	const struct report_options options = { .key = rollup_find_key("program") };
	struct made_trace made;
	struct report *report;
	int name, bytes;

	BEGIN(&made);
	EXEC(&made, .time = 1000, .pid = 10, .ppid = 5, .comm = "one", .command = "one",
	     .rank = -1);
	FILE_ROW(&made, .time = 1005, .id = 1, .size = 1 << 20, .path = "/data/file");
	CALL(&made, .time = 1010, .dur = 1, .pid = 10, .tid = 10, .op = M_READ, .file = 1,
	     .asked = 1, .result = 1);
	made_fork(&made, 1100, 10, 11);
	CALL(&made, .time = 1110, .dur = 1, .pid = 11, .tid = 11, .op = M_READ, .file = 1,
	     .asked = 10, .result = 10);
	EXEC(&made, .time = 1200, .pid = 11, .ppid = 10, .comm = "two", .command = "two",
	     .rank = -1);
	CALL(&made, .time = 1210, .dur = 1, .pid = 11, .tid = 11, .op = M_READ, .file = 1,
	     .asked = 100, .result = 100);
	CALL(&made, .time = 1220, .dur = 1, .pid = 10, .tid = 10, .op = M_READ, .file = 1,
	     .asked = 1000, .result = 1000);
	made_fork(&made, 1300, 11, 12);
	CALL(&made, .time = 1310, .dur = 1, .pid = 12, .tid = 12, .op = M_READ, .file = 1,
	     .asked = 10000, .result = 10000);
	EXEC(&made, .time = 1400, .pid = 11, .ppid = 10, .comm = "three", .command = "three",
	     .rank = -1);
	CALL(&made, .time = 1410, .dur = 1, .pid = 11, .tid = 11, .op = M_READ, .file = 1,
	     .asked = 100000, .result = 100000);
	made_finish(&made, 1000, 2000);
	report = report_with(&made, &options);
	assert_int_equal(report->groups->row_count, 3);
	name = table_find_column(report->groups, "name");
	bytes = table_find_column(report->groups, "read.bytes");
	for (size_t row = 0; row < 3; row++) {
		const struct cell *cells = table_row(report->groups, row);
		size_t i = 0;

		while (i < 3 && !cell_is(&cells[name], truth[i].name))
			i++;
		assert_true(i < 3);
		assert_int_equal(cells[bytes].uint, truth[i].bytes);
	}
	done(&made, report);
}

/* Listing a directory counts for itself, not for its parent; its files' reads count there, too. */
TEST(test_group_of_directory)
{
	const struct report_options options = { .key = rollup_find_key("directory") };
	struct made_trace made;
	struct report *report;
	const struct cell *cells;

	BEGIN(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/train",
		 .mode = S_IFDIR | 0755);
	FILE_ROW(&made, .time = 10, .id = 2, .dev = 1, .ino = 2, .path = "/data/train/0.jpg");
	for (uint64_t i = 0; i < 5; i++)
		CALL(&made, .time = 20 + i, .dur = 1, .pid = 10, .op = M_FSTAT, .file = 1);
	CALL(&made, .time = 30, .dur = 1, .pid = 10, .op = M_FSTAT, .file = 2);
	made_finish(&made, 10, 10 + 10 * MS);
	report = report_with(&made, &options);
	assert_int_equal(report->groups->row_count, 1);
	cells = report->groups->cells;
	assert_int_equal(cells[0].length, strlen("/data/train"));
	assert_memory_equal(cells[0].text, "/data/train", strlen("/data/train"));
	assert_int_equal(cells[table_find_column(report->groups, "metadata.count")].uint, 6);
	done(&made, report);
}

/* Share of page-cache reads that hit memory; O_DIRECT reads do not count. */
TEST(test_from_memory)
{
	const struct report_options options = { .key = rollup_find_key("process") };
	struct made_trace made;
	struct report *report;
	const struct table *groups;
	int column;

	BEGIN(&made, .spans = true);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	for (uint64_t pid = 1; pid <= 4; pid++)
		EXEC(&made, .time = 10, .pid = 10 * pid, .comm = "a", .command = "a");
	CALL(&made, .time = 1 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 4096,
	     .fetched = 4096);
	CALL(&made, .time = 2 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 1,
	     .result = 3 * 4096);
	/* Readahead: more is fetched than read. */
	CALL(&made, .time = 3 * MS, .dur = 10, .pid = 20, .op = M_READ, .file = 1, .result = 4096,
	     .fetched = 65536);
	CALL(&made, .time = 4 * MS, .dur = 10, .pid = 30, .op = M_READ, .file = 1, .result = 4096,
	     .flags = TRACE_OP_DIRECT);
	CALL(&made, .time = 5 * MS, .dur = 10, .pid = 40, .op = M_WRITE, .file = 1, .result = 4096);
	made_finish(&made, 0, 10 * MS);
	report = report_with(&made, &options);
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
	done(&made, report);
}
