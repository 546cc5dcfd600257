/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations that were summed up: tables that can be made of sums have them whole, what sums cannot
 * tell is not known, and never 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask_report.h"

#define SECOND 1000000000ull
#define PID 10

struct sums {
	uint64_t time, over, op, file, file2, flags, count, errors, bytes, thread_time, fetched;
};

#define SUMS(made, ...) add_sums(made, &(struct sums) { __VA_ARGS__ })

static void add_sums(struct made_trace *made, const struct sums *sums)
{
	const uint64_t values[PROFILE_COLUMNS] = {
		[PROFILE_TIME] = sums->time,
		[PROFILE_OVER] = sums->over,
		[PROFILE_PID] = PID,
		[PROFILE_OP] = sums->op,
		[PROFILE_FILE] = sums->file,
		[PROFILE_FILE2] = sums->file2,
		[PROFILE_FLAGS] = sums->flags,
		[PROFILE_COUNT] = sums->count,
		[PROFILE_ERRORS] = sums->errors,
		[PROFILE_BYTES] = sums->bytes,
		[PROFILE_THREAD_TIME] = sums->thread_time,
		[PROFILE_FETCHED] = sums->fetched,
	};
	struct trace_operation_total *total = &made->operations[sums->op];

	made_row(made, TRACE_PROFILE, 0, values);
	total->count += sums->count;
	total->errors += sums->errors;
	total->bytes += sums->bytes;
	total->thread_time_ns += sums->thread_time;
	total->fetched_bytes += sums->fetched;
}

static void add_class(struct made_trace *made, uint64_t op, uint64_t what, uint64_t bits,
		      uint64_t count)
{
	const uint64_t values[PROFILE_CLASS_COLUMNS] = {
		[PROFILE_CLASS_TIME] = SECOND, [PROFILE_CLASS_WHAT] = what,
		[PROFILE_CLASS_PID] = PID,     [PROFILE_CLASS_OP] = op,
		[PROFILE_CLASS_FILE] = 1,      [PROFILE_CLASS_BITS] = bits,
		[PROFILE_CLASS_COUNT] = count,
	};

	made_row(made, TRACE_PROFILE_CLASS, 0, values);
}

static struct report *report_on(struct made_trace *made)
{
	static const char *const names[] = { "a.flt" };
	struct trace_error error = { "" };
	struct report *report;

	made_finish(made, 0, 2 * SECOND);
	if (report_make(&report, &made->reader, names, 1, NULL, &error))
		fail_msg("%s", error.text);
	return report;
}

static uint64_t number(const struct report *report, const char *table, size_t row,
		       const char *column)
{
	const struct cell *cell = ask(report, table, row, column);

	assert_int_equal(cell->type, CELL_UINT);
	return cell->uint;
}

static size_t row_of(const struct report *report, const char *table, const char *column,
		     const char *text)
{
	for (size_t i = 0; i < report_table(report, table)->row_count; i++) {
		const struct cell *cell = ask(report, table, i, column);

		if (cell->type == CELL_TEXT && cell->length == strlen(text) &&
		    !memcmp(cell->text, text, cell->length))
			return i;
	}
	fail_msg("%s has no row %s", table, text);
	return 0;
}

static void begin(struct made_trace *made)
{
	BEGIN(made, .lanes = 1, .spans = true);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
	FILE_ROW(made, .time = 1, .id = 2, .dev = 8, .ino = 2, .path = "/data/b");
	FILE_ROW(made, .time = 1, .id = TRACE_FILE_OTHER, .path = "(other files)");
	EXEC(made, .time = 1, .pid = PID, .comm = "job", .command = "job", .rank = -1);
}

/* Reads over a second and a half, of a file and of those without a slot; a transfer between two. */
static void test_tables(void **state)
{
	struct made_trace made;
	struct report *report;
	uint64_t operations = 0;
	size_t row;

	begin(&made);
	SUMS(&made, .time = SECOND, .over = SECOND, .op = M_READ, .file = 1, .count = 1000,
	     .errors = 7, .bytes = 4096000, .thread_time = 5 * SECOND, .fetched = 8192);
	SUMS(&made, .time = SECOND, .over = SECOND, .op = M_READ, .file = 1,
	     .flags = TRACE_PROFILE_DIRECT, .count = 10, .bytes = 40960, .thread_time = 100);
	SUMS(&made, .time = 3 * SECOND / 2, .over = 0, .op = M_READ, .file = TRACE_FILE_OTHER,
	     .count = 3, .bytes = 30, .thread_time = 30);
	SUMS(&made, .time = SECOND, .over = 10, .op = M_SENDFILE, .file = 1, .file2 = 2, .count = 2,
	     .bytes = 500, .thread_time = 60);
	SUMS(&made, .time = SECOND, .over = 10, .op = M_OPENAT, .file = 2, .count = 4, .errors = 1,
	     .thread_time = 9);
	SUMS(&made, .time = SECOND, .over = 10, .op = M_FAULT, .file = 2, .count = 5,
	     .thread_time = 11, .flags = TRACE_PROFILE_STORES);
	SUMS(&made, .time = SECOND, .over = 10, .op = M_MMAP, .file = 2, .count = 6,
	     .thread_time = 12);
	add_class(&made, M_READ, TRACE_CLASS_DURATION, 10, 900);
	add_class(&made, M_READ, TRACE_CLASS_DURATION, 20, 113);
	add_class(&made, M_READ, TRACE_CLASS_SIZE, 12, 1013);
	report = report_on(&made);

	assert_int_equal(number(report, "totals", 0, "read.count"), 1015);
	assert_int_equal(number(report, "totals", 0, "read.errors"), 7);
	assert_int_equal(number(report, "totals", 0, "read.bytes"), 4096000 + 40960 + 30 + 500);
	assert_int_equal(number(report, "totals", 0, "read.thread_time_ns"),
			 5 * SECOND + 100 + 30 + 60);
	assert_int_equal(number(report, "totals", 0, "write.bytes"), 500);
	assert_int_equal(number(report, "totals", 0, "mmap_write.faults"), 5);
	assert_int_equal(number(report, "totals", 0, "metadata.count"), 4);
	assert_true(ask(report, "totals", 0, "read.time_ns")->summed);
	assert_false(ask(report, "totals", 0, "read.thread_time_ns")->summed);

	row = row_of(report, "doors", "door", "direct");
	assert_int_equal(number(report, "doors", row, "bytes"), 40960);
	assert_int_equal(
		number(report, "files", row_of(report, "files", "path", "/data/a"), "read.count"),
		1012);
	row = row_of(report, "files", "path", "/data/b");
	assert_int_equal(number(report, "files", row, "write.bytes"), 500);
	assert_int_equal(number(report, "files", row, "opens"), 3);
	assert_int_equal(ask(report, "files", row, "pattern.random")->type, CELL_NULL);
	row = row_of(report, "files", "path", "(other files)");
	assert_int_equal(number(report, "files", row, "read.bytes"), 30);
	assert_int_equal(number(report, "processes", 0, "read.count"), 1015);

	row = row_of(report, "operations", "op", "read");
	assert_int_equal(number(report, "operations", row, "count"), 1013);
	assert_int_equal(number(report, "operations", row, "p50_ns"), 1023);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 1048575);
	assert_int_equal(ask(report, "operations", row, "max_ns")->type, CELL_NULL);
	assert_int_equal(number(report, "operations", row, "sizes.<=4KiB"), 1013);

	for (size_t i = 0; i < report_table(report, "timeline")->row_count; i++) {
		uint64_t here = number(report, "timeline", i, "operations");

		/* Evenly over the first second, but for what came at a moment. */
		if (number(report, "timeline", i, "start_ns") < SECOND / 2)
			assert_in_range(here, 1, 20);
		operations += here;
	}
	assert_int_equal(operations, 1000 + 10 + 3 + 2 + 2 + 4 + 5);
	assert_true(report_table(report, "slowest")->absent);
	assert_true(report_table(report, "findings")->absent);
	report_free(report);
	made_close(&made);
}

/* Spans are told one by one; their I/O is not known, neither as 0. */
static void test_spans(void **state)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	SPAN(&made, .begin = 100, .end = 600, .pid = PID, .tid = PID, .id = 1, .name = "step",
	     .category = "compute");
	SUMS(&made, .time = 500, .over = 400, .op = M_READ, .file = 1, .count = 10, .bytes = 99,
	     .thread_time = 77);
	report = report_on(&made);
	assert_int_equal(number(report, "spans", 0, "count"), 1);
	assert_int_equal(number(report, "spans", 0, "time_ns"), 500);
	assert_int_equal(ask(report, "spans", 0, "io_time_ns")->type, CELL_NULL);
	assert_int_equal(ask(report, "spans", 0, "read_bytes")->type, CELL_NULL);
	assert_true(report_table(report, "overlap")->absent);
	report_free(report);
	made_close(&made);
}

/* No operation took longer than all together, nor half of them each more than twice the mean. */
static void test_percentiles_are_possible(void **state)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	begin(&made);
	SUMS(&made, .time = SECOND, .op = M_FSYNC, .file = 1, .count = 1, .thread_time = 13300000);
	add_class(&made, M_FSYNC, TRACE_CLASS_DURATION, 24, 1);
	SUMS(&made, .time = SECOND, .op = M_READ, .file = 1, .count = 4, .thread_time = 300);
	add_class(&made, M_READ, TRACE_CLASS_DURATION, 5, 1);
	add_class(&made, M_READ, TRACE_CLASS_DURATION, 7, 3);
	SUMS(&made, .time = SECOND, .op = M_OPENAT, .file = 1, .count = 2, .thread_time = 90);
	report = report_on(&made);
	row = row_of(report, "operations", "op", "fsync");
	assert_int_equal(number(report, "operations", row, "p50_ns"), 13300000);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 13300000);
	row = row_of(report, "operations", "op", "read");
	assert_int_equal(number(report, "operations", row, "p50_ns"), 100);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 127);
	/* Without classes nothing is known, and that is not 0. */
	row = row_of(report, "operations", "op", "openat");
	assert_int_equal(ask(report, "operations", row, "p50_ns")->type, CELL_NULL);
	report_free(report);
	made_close(&made);
}

/* What people are shown has a heading, not the name of a column. */
static void assert_titled(const struct report *report)
{
	for (size_t i = 0; i < report->table_count; i++) {
		const struct table *table = report->tables[i];

		for (size_t j = 0; table->title && j < table->view.shown_count; j++)
			if (!table->columns[table->view.shown[j]].title)
				fail_msg("%s: %s has no title", table->name,
					 table->columns[table->view.shown[j]].name);
	}
}

static void test_titles(void **state)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	SUMS(&made, .time = SECOND, .op = M_OPENAT, .file = 1, .count = 2, .thread_time = 90);
	report = report_on(&made);
	assert_titled(report);
	report_free(report);
	made_close(&made);
	begin(&made);
	CALL(&made, .time = 50, .dur = 25, .pid = PID, .op = M_READ, .file = 1, .result = 5,
	     .asked = 5);
	report = report_on(&made);
	assert_titled(report);
	report_free(report);
	made_close(&made);
}

/* A note stands below a table, not in its place. */
static void test_without_operations(void **state)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1, .mode = "profile");
	report = report_on(&made);
	assert_int_equal(report_table(report, "operations")->row_count, 0);
	assert_null(report_table(report, "operations")->note);
	report_free(report);
	made_close(&made);
}

/* Mode auto: events of one process beside sums of another add up. */
static void test_beside_events(void **state)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	CALL(&made, .time = 50, .dur = 25, .pid = 11, .op = M_READ, .file = 1, .result = 5,
	     .asked = 5);
	SUMS(&made, .time = 500, .over = 400, .op = M_READ, .file = 1, .count = 10, .bytes = 99,
	     .thread_time = 77);
	report = report_on(&made);
	assert_int_equal(number(report, "totals", 0, "read.count"), 11);
	assert_int_equal(number(report, "totals", 0, "read.bytes"), 104);
	assert_int_equal(number(report, "totals", 0, "read.thread_time_ns"), 102);
	assert_true(ask(report, "totals", 0, "read.time_ns")->summed);
	assert_int_equal(
		number(report, "files", row_of(report, "files", "path", "/data/a"), "processes"),
		2);
	report_free(report);
	made_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_percentiles_are_possible),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_without_operations),
		cmocka_unit_test(test_beside_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
