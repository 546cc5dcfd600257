/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writeback: who dirtied what, and how much of it reached a device and when. */
#include "unit_test.h"

#include "analysis/shared/rollup.h"
#include "ask_report.h"

#define PAGE 4096ull
#define FOLIO (64 * PAGE)
#define STORE (TRACE_FAULT_WRITE | TRACE_FAULT_SHARED)
#define CHECK_OF(row, column, expected) CHECK(report, "writeback", row, column, expected)

static void start(struct made_trace *made)
{
	BEGIN(made, .block = true, .spans = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	EXEC(made, .time = 11, .pid = 20, .comm = "b", .command = "b", .rank = -1);
	FILE_ROW(made, .time = 12, .id = 1, .dev = 1, .ino = 1, .path = "/data/a");
	FILE_ROW(made, .time = 12, .id = 2, .dev = 1, .ino = 2, .path = "/data/b");
}

static double real(const struct report *report, size_t row, const char *column)
{
	const struct cell *cell = ask(report, "writeback", row, column);

	assert_int_equal(cell->type, CELL_REAL);
	return cell->real;
}

/* A cell of a table nested in a file's row. */
static uint64_t within(const struct report *report, size_t row, const char *name, size_t line,
		       const char *column)
{
	const struct cell *cell = ask(report, "writeback", row, name);
	const struct table *table = cell->table;

	assert_int_equal(cell->type, CELL_TABLE);
	assert_true(line < table->row_count);
	cell = &table->cells[line * table->column_count + table_find_column(table, column)];
	assert_int_equal(cell->type, CELL_UINT);
	return cell->uint;
}

TEST(test_checkpoint)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	CALL(&made, .time = 1000, .dur = 100, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = 4 * PAGE, .result = 4 * PAGE);
	THROTTLE(&made, .time = 1010, .pause = 50, .pid = 10, .file = 1);
	CALL(&made, .time = 2000, .dur = 100, .pid = 10, .op = M_WRITE, .file = 1,
	     .offset = 4 * PAGE, .asked = 4 * PAGE, .result = 4 * PAGE);
	/* Failed and O_DIRECT writes dirty nothing. */
	CALL(&made, .time = 2200, .dur = 100, .pid = 10, .op = M_WRITE, .file = 1,
	     .offset = 8 * PAGE, .asked = PAGE, .result = -28);
	CALL(&made, .time = 2400, .dur = 100, .pid = 10, .op = M_WRITE, .file = 1,
	     .offset = 8 * PAGE, .asked = PAGE, .result = PAGE, .flags = TRACE_OP_DIRECT);
	BIO(&made, .time = 2450, .dur = 10, .file = 1, .offset = 8 * PAGE, .bytes = PAGE,
	    .flags = TRACE_BLOCK_DIRECT);
	BIO(&made, .time = 5000, .dur = 1000, .file = 1, .offset = 0, .bytes = 6 * PAGE);
	BIO(&made, .time = 5000, .dur = 3000, .file = 1, .offset = -1); /* a flush */
	/* File-system metadata is not the file's data. */
	BIO(&made, .time = 5001, .dur = 1000, .file = 1, .offset = 0, .bytes = 8 * PAGE,
	    .flags = TRACE_BLOCK_META);
	report = report_of(&made, 10000);
	assert_int_equal(report_table(report, "writeback")->row_count, 1);
	CHECK_OF(0, "written_bytes", 8 * PAGE);
	CHECK_OF(0, "stored_bytes", 0);
	CHECK_OF(0, "device_bytes", 6 * PAGE);
	CHECK_OF(0, "unwritten_bytes", 2 * PAGE);
	CHECK_OF(0, "delay_ns", (4 * 5000 + 2 * 4000) / 6);
	CHECK_OF(0, "longest_delay_ns", 5000);
	CHECK_OF(0, "after_ns", 6000 - 2100);
	CHECK_OF(0, "first_dirtied_ns", 1000);
	CHECK_OF(0, "last_dirtied_ns", 2100);
	CHECK_OF(0, "first_reached_ns", 6000);
	CHECK_OF(0, "last_reached_ns", 6000);
	CHECK_OF(0, "pauses", 1);
	CHECK_OF(0, "pause_ns", 50);
	CHECK(report, "totals", 0, "throttled.pauses", 1);
	CHECK(report, "totals", 0, "throttled.pause_ns", 50);
	assert_true(real(report, 0, "amplification") == 0.75);
	done(&made, report);
}

TEST(test_two_writers)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	SPAN(&made, .begin = 900, .end = 1500, .pid = 10, .id = 1, .name = "save");
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = 3 * PAGE, .result = 3 * PAGE);
	CALL(&made, .time = 1100, .dur = 10, .pid = 20, .op = M_WRITE, .file = 1,
	     .offset = 3 * PAGE, .asked = PAGE, .result = PAGE);
	CALL(&made, .time = 1200, .dur = 10, .pid = 20, .op = M_WRITE, .file = 2, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	BIO(&made, .time = 5000, .dur = 1000, .file = 1, .offset = 0, .bytes = 4 * PAGE);
	report = report_of(&made, 10000);
	assert_int_equal(report_table(report, "writeback")->row_count, 2);
	CHECK_OF(0, "device_bytes", 4 * PAGE);
	assert_int_equal(ask(report, "writeback", 0, "processes")->table->row_count, 2);
	assert_int_equal(within(report, 0, "processes", 0, "pid"), 10);
	assert_int_equal(within(report, 0, "processes", 0, "written_bytes"), 3 * PAGE);
	assert_int_equal(within(report, 0, "processes", 0, "device_bytes"), 3 * PAGE);
	assert_int_equal(within(report, 0, "processes", 1, "pid"), 20);
	assert_int_equal(within(report, 0, "processes", 1, "device_bytes"), PAGE);
	assert_int_equal(ask(report, "writeback", 0, "spans")->table->row_count, 1);
	assert_int_equal(within(report, 0, "spans", 0, "written_bytes"), 3 * PAGE);
	assert_int_equal(within(report, 0, "spans", 0, "device_bytes"), 3 * PAGE);
	CHECK_OF(1, "device_bytes", 0);
	CHECK_OF(1, "unwritten_bytes", PAGE);
	check_null(report, "writeback", 1, "delay_ns");
	check_null(report, "writeback", 1, "after_ns");
	check_null(report, "writeback", 1, "last_reached_ns");
	check_null(report, "writeback", 1, "amplification");
	done(&made, report);
}

/* Folios mapped whole, and folios whose pages are mapped individually. */
TEST(test_stores)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	for (uint64_t i = 0; i < 4; i++)
		FAULT(&made, .time = 1000 + i * 100, .dur = 10, .pid = 10, .file = 1,
		      .offset = i * FOLIO, .flags = STORE, .dirtied = FOLIO);
	for (uint64_t i = 0; i < 8; i++)
		FAULT(&made, .time = 2000 + i * 100, .dur = 10, .pid = 10, .file = 2,
		      .offset = i * FOLIO / 4, .flags = STORE, .dirtied = i % 4 ? 0 : FOLIO);
	/* Unfinished faults and read faults store nothing. */
	FAULT(&made, .time = 3000, .dur = 10, .pid = 10, .file = 1, .offset = 5 * FOLIO,
	      .flags = STORE | TRACE_FAULT_UNFINISHED);
	FAULT(&made, .time = 3100, .dur = 10, .pid = 10, .file = 1, .offset = 5 * FOLIO);
	BIO(&made, .time = 5000, .dur = 1000, .file = 1, .offset = 0, .bytes = 4 * FOLIO);
	BIO(&made, .time = 5000, .dur = 1000, .file = 2, .offset = 0, .bytes = 2 * FOLIO);
	report = report_of(&made, 10000);
	CHECK_OF(0, "stored_bytes", 4 * PAGE);
	CHECK_OF(0, "dirtied_bytes", 4 * FOLIO);
	assert_true(real(report, 0, "amplification") == 1);
	assert_true(real(report, 0, "amplification_most") == 64);
	CHECK_OF(1, "stored_bytes", 8 * PAGE);
	assert_true(real(report, 1, "amplification") == 16);
	assert_true(real(report, 1, "amplification_most") == 16);
	CHECK(report, "totals", 0, "mmap_write.written_back_bytes", 6 * FOLIO);
	done(&made, report);
}

/* A file truncated to zero before writeback, and one written at unknown offsets (sendfile). */
TEST(test_elsewhere)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = 4 * PAGE, .result = 4 * PAGE);
	CALL(&made, .time = 1100, .dur = 10, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3,
	     .flags = TRACE_OP_TRUNCATE);
	CALL(&made, .time = 1200, .dur = 10, .pid = 10, .op = M_SENDFILE, .file = 1, .file2 = 2,
	     .asked = 4 * PAGE, .result = 4 * PAGE);
	BIO(&made, .time = 5000, .dur = 200, .file = 2, .offset = 0, .bytes = 3 * PAGE);
	report = report_of(&made, 10000);
	CHECK_OF(0, "written_bytes", 4 * PAGE);
	CHECK_OF(0, "unwritten_bytes", 0);
	CHECK_OF(1, "written_bytes", 4 * PAGE);
	CHECK_OF(1, "unwritten_bytes", PAGE);
	CHECK_OF(1, "delay_ns", 4000);
	done(&made, report);
}

/* Fewer bytes reach the device than leave the cache. */
TEST(test_compressed)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = 40 * PAGE, .result = 40 * PAGE);
	BIO(&made, .time = 5000, .dur = 1000, .file = 1, .offset = 0, .bytes = 4 * PAGE,
	    .flags = TRACE_BLOCK_COMPRESSED);
	report = report_of(&made, 10000);
	CHECK_OF(0, "device_bytes", 4 * PAGE);
	CHECK_OF(0, "unwritten_bytes", 8 * PAGE);
	CHECK_OF(0, "delay_ns", 5000);
	assert_true(real(report, 0, "amplification") == 0.1);
	done(&made, report);
}

/* Values that were not recorded are null. */
TEST(test_layers)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .off = "fault");
	FILE_ROW(&made, .time = 12, .id = 1, .dev = 1, .ino = 1, .path = "/data/a");
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	report = report_of(&made, 10000);
	CHECK_OF(0, "written_bytes", PAGE);
	check_null(report, "writeback", 0, "stored_bytes");
	check_null(report, "writeback", 0, "device_bytes");
	check_null(report, "writeback", 0, "unwritten_bytes");
	check_null(report, "writeback", 0, "spans");
	check_null(report, "totals", 0, "mmap_write");
	done(&made, report);
}

TEST(test_groups)
{
	const struct report_options options = { .key = rollup_find_key("span") };
	struct made_trace made;
	struct report *report;
	const struct table *table;

	start(&made);
	SPAN(&made, .begin = 900, .end = 1500, .pid = 10, .id = 1, .name = "save");
	CALL(&made, .time = 1000, .dur = 100, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	THROTTLE(&made, .time = 1010, .pause = 50, .pid = 10, .file = 1);
	CALL(&made, .time = 2000, .dur = 100, .pid = 20, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	THROTTLE(&made, .time = 2010, .pause = 70, .pid = 20, .file = 1);
	made_finish(&made, 0, 10000);
	report = report_with(&made, &options);
	table = report->groups;
	assert_int_equal(table->row_count, 2);
	for (size_t row = 0; row < 2; row++) {
		const struct cell *cells = table_row(table, row);
		const struct cell *span = &cells[table_find_column(table, "name")];
		bool in_span = span->length == 4 && !memcmp(span->text, "save", 4);

		assert_true(in_span || (span->length == 9 && !memcmp(span->text, "(no span)", 9)));
		assert_int_equal(cells[table_find_column(table, "pause_ns")].uint,
				 in_span ? 50 : 70);
		assert_int_equal(cells[table_find_column(table, "write.bytes")].uint, PAGE);
	}
	done(&made, report);
}

/* Filtered by one process: the kernel's writes and their times have no owner, so they are null. */
TEST(test_filter)
{
	const struct filter filter = { .until_ns = FILTER_NONE, .pid = 10, .rank = FILTER_NONE };
	const struct report_options options = { .filter = &filter };
	struct made_trace made;
	struct report *report;

	start(&made);
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	CALL(&made, .time = 1100, .dur = 10, .pid = 20, .op = M_WRITE, .file = 1, .offset = 0,
	     .asked = PAGE, .result = PAGE);
	BIO(&made, .time = 5000, .dur = 200, .file = 1, .offset = 0, .bytes = PAGE);
	made_finish(&made, 0, 10000);
	report = report_with(&made, &options);
	CHECK_OF(0, "written_bytes", PAGE);
	check_null(report, "writeback", 0, "device_bytes");
	check_null(report, "writeback", 0, "unwritten_bytes");
	check_null(report, "totals", 0, "mmap_write.written_back_bytes");
	done(&made, report);
}

/* Memory-only files are never written back, so nothing of them is pending. */
TEST(test_in_memory)
{
	struct made_trace made;
	struct report *report;

	start(&made);
	FILE_ROW(&made, .time = 12, .id = 3, .dev = 2, .ino = 1, .path = "/dev/shm/sem.a",
		 .filesystem = "tmpfs");
	FILE_ROW(&made, .time = 12, .id = 4, .dev = 3, .ino = 1, .path = "/data/c",
		 .filesystem = "ext4");
	for (uint64_t file = 3; file <= 4; file++)
		CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_WRITE, .file = file,
		     .offset = 0, .asked = PAGE, .result = PAGE);
	report = report_of(&made, 10000);
	assert_int_equal(report_table(report, "writeback")->row_count, 1);
	check_text(report, "writeback", 0, "path", "/data/c");
	CHECK_OF(0, "unwritten_bytes", PAGE);
	done(&made, report);
}
