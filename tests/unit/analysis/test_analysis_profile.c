/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregated operations: tables computable from totals are complete; values that totals cannot give
 * are null, never 0.
 */

#include "unit_test.h"

#include "ask_report.h"

#define SECOND 1000000000ull
#define PID 10

struct sums {
	uint64_t time, over, op, file, file2, flags, count, errors, bytes, thread_time, fetched;
	uint64_t major;
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
		[PROFILE_MAJOR] = sums->major,
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
	return report_of(made, 2 * SECOND);
}

static uint64_t number(const struct report *report, const char *table, size_t row,
		       const char *column)
{
	const struct cell *cell = ask(report, table, row, column);

	assert_int_equal(cell->type, CELL_UINT);
	return cell->uint;
}

static void begin(struct made_trace *made)
{
	BEGIN(made, .lanes = 1, .spans = true);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
	FILE_ROW(made, .time = 1, .id = 2, .dev = 8, .ino = 2, .path = "/data/b");
	FILE_ROW(made, .time = 1, .id = TRACE_FILE_OTHER, .path = "(other files)");
	EXEC(made, .time = 1, .pid = PID, .comm = "job", .command = "job", .rank = -1);
}

/* Reads over 1.5 s, of a file and of files without a slot; a transfer between two. */
TEST(test_tables)
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

	row = find_row(report, "methods", "method", "direct");
	assert_int_equal(number(report, "methods", row, "bytes"), 40960);
	assert_int_equal(
		number(report, "files", find_row(report, "files", "path", "/data/a"), "read.count"),
		1012);
	row = find_row(report, "files", "path", "/data/b");
	assert_int_equal(number(report, "files", row, "write.bytes"), 500);
	assert_int_equal(number(report, "files", row, "opens"), 3);
	assert_int_equal(ask(report, "files", row, "pattern.random")->type, CELL_NULL);
	row = find_row(report, "files", "path", "(other files)");
	assert_int_equal(number(report, "files", row, "read.bytes"), 30);
	assert_int_equal(number(report, "processes", 0, "read.count"), 1015);

	row = find_row(report, "operations", "op", "read");
	assert_int_equal(number(report, "operations", row, "count"), 1013);
	assert_int_equal(number(report, "operations", row, "p50_ns"), 1023);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 1048575);
	assert_int_equal(ask(report, "operations", row, "max_ns")->type, CELL_NULL);
	assert_int_equal(number(report, "operations", row, "sizes.<=4KiB"), 1013);

	for (size_t i = 0; i < report_table(report, "timeline")->row_count; i++) {
		uint64_t here = number(report, "timeline", i, "operations");

		/* Evenly spread over the first second, except for instant events. */
		if (number(report, "timeline", i, "start_ns") < SECOND / 2)
			assert_in_range(here, 1, 20);
		operations += here;
	}
	assert_int_equal(operations, 1000 + 10 + 3 + 2 + 2 + 4 + 5);
	assert_true(report_table(report, "slowest")->absent);
	assert_false(report_table(report, "findings")->absent);
	done(&made, report);
}

/* Spans are recorded individually; their I/O is null, not 0. */
TEST(test_spans)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	begin(&made);
	SPAN(&made, .begin = 50, .end = 850, .pid = PID, .tid = PID, .id = 2, .name = "epoch");
	SPAN(&made, .begin = 100, .end = 600, .pid = PID, .tid = PID, .id = 1, .name = "step",
	     .category = "compute");
	SUMS(&made, .time = 500, .over = 400, .op = M_READ, .file = 1, .count = 10, .bytes = 99,
	     .thread_time = 77);
	report = report_on(&made);
	row = find_row(report, "spans", "name", "step");
	assert_int_equal(number(report, "spans", row, "count"), 1);
	assert_int_equal(number(report, "spans", row, "time_ns"), 500);
	assert_int_equal(ask(report, "spans", row, "io_time_ns")->type, CELL_NULL);
	assert_int_equal(ask(report, "spans", row, "read_bytes")->type, CELL_NULL);
	assert_int_equal(number(report, "overlap", 0, "compute_ns"), 500);
	assert_int_equal(ask(report, "overlap", 0, "io_ns")->type, CELL_NULL);
	assert_int_equal(ask(report, "overlap", 0, "unoverlapped_compute_ns")->type, CELL_NULL);
	assert_int_equal(ask(report, "overlap", 0, "read.time_ns")->type, CELL_NULL);
	assert_int_equal(number(report, "epochs", 0, "time_ns"), 800);
	assert_int_equal(number(report, "epochs", 0, "compute_ns"), 500);
	assert_int_equal(ask(report, "epochs", 0, "read_bytes")->type, CELL_NULL);
	assert_int_equal(ask(report, "epochs", 0, "io_ns")->type, CELL_NULL);
	assert_int_equal(number(report, "steps", 0, "time_ns"), 500);
	assert_int_equal(ask(report, "steps", 0, "io_ns")->type, CELL_NULL);
	row = find_row(report, "levels", "name", "compute");
	assert_int_equal(number(report, "levels", row, "time_ns"), 500);
	row = find_row(report, "levels", "name", "<= 4 KiB");
	assert_int_equal(ask(report, "levels", row, "time_ns")->type, CELL_NULL);
	assert_non_null(strstr(report_table(report, "epochs")->note, "I/O times require"));
	done(&made, report);
}

/* No operation is longer than the sum, and no half of them each exceed twice the mean. */
TEST(test_percentiles_are_possible)
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
	row = find_row(report, "operations", "op", "fsync");
	assert_int_equal(number(report, "operations", row, "p50_ns"), 13300000);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 13300000);
	row = find_row(report, "operations", "op", "read");
	assert_int_equal(number(report, "operations", row, "p50_ns"), 100);
	assert_int_equal(number(report, "operations", row, "p99_ns"), 127);
	/* Without histograms the percentiles are null, not 0. */
	row = find_row(report, "operations", "op", "openat");
	assert_int_equal(ask(report, "operations", row, "p50_ns")->type, CELL_NULL);
	done(&made, report);
}

/* Columns shown in text have a heading, not the column's name. */
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

TEST(test_titles)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	SUMS(&made, .time = SECOND, .op = M_OPENAT, .file = 1, .count = 2, .thread_time = 90);
	report = report_on(&made);
	assert_titled(report);
	done(&made, report);
	begin(&made);
	CALL(&made, .time = 50, .dur = 25, .pid = PID, .op = M_READ, .file = 1, .result = 5,
	     .asked = 5);
	report = report_on(&made);
	assert_titled(report);
	done(&made, report);
}

/* A note appears below a table and does not replace it. */
TEST(test_without_operations)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1, .mode = "profile");
	report = report_on(&made);
	assert_int_equal(report_table(report, "operations")->row_count, 0);
	assert_null(report_table(report, "operations")->note);
	done(&made, report);
}

/* Mode auto: one process's events and another's totals add up. */
TEST(test_with_events)
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
		number(report, "files", find_row(report, "files", "path", "/data/a"), "processes"),
		2);
	done(&made, report);
}

/* --- findings --- */

/* A file of 1 GiB: reads of a given size that fetch a given amount, faults, opens, syncs. */
static void begin_use(struct made_trace *made)
{
	BEGIN(made, .lanes = 1, .mode = "profile");
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .size = 1 << 30, .path = "/data/a");
	FILE_ROW(made, .time = 1, .id = TRACE_FILE_OTHER, .path = TRACE_OTHER_FILES);
	EXEC(made, .time = 1, .pid = PID, .comm = "job", .command = "job", .rank = -1);
}

static struct report *report_on_sums(struct made_trace *made, const struct sums *of, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sums sums = of[i];

		sums.time = SECOND;
		sums.over = SECOND / 2;
		sums.file = sums.file ? sums.file : 1;
		sums.thread_time = sums.thread_time ? sums.thread_time : SECOND / 4;
		add_sums(made, &sums);
	}
	return report_on(made);
}

static struct report *report_on_use(struct made_trace *made, const struct sums *of, size_t count)
{
	begin_use(made);
	return report_on_sums(made, of, count);
}

#define FETCHED (64u << 20)

/* Most files have no slot of their own: how many there are, and which has most of the time, is
 * unknown. */
TEST(test_files_without_slots)
{
	static const struct sums sums[] = {
		{ .op = M_WRITE, .count = 2000, .bytes = 2000, .thread_time = SECOND / 8 },
		{ .op = M_WRITE,
		  .count = 2000,
		  .bytes = 2000,
		  .file = TRACE_FILE_OTHER,
		  .fetched = 1 << 20 },
	};
	struct made_trace made;
	struct report *report = report_on_use(&made, sums, 2);
	const size_t row = find_row(report, "paths", "path", "operations not broken down by file");

	assert_int_equal(number(report, "paths", row, "fetched_bytes"), 1 << 20);
	check_null(report, "paths", row, "files");
	assert_int_equal(
		number(report, "paths", find_row(report, "paths", "path", "/data/a"), "files"), 1);
	assert_true(row_of_finding(report, "small-writes") >= 0);
	check_text(report, "findings", row_of_finding(report, "small-writes"), "title",
		   "Small writes");
	check_text(report, "findings", row_of_finding(report, "small-writes"), "says",
		   "4,000 writes of 1 B on average, 375 ms in total");
	done(&made, report);
}

/* Findings whose evidence is totals: each with its sound counterpart, and none triggers another. */
TEST(test_findings)
{
	static const struct {
		const char *id;
		struct sums of, sound;
	} cases[] = {
		{ "small-reads-storage",
		  { .op = M_READ, .count = 9000, .bytes = FETCHED, .fetched = FETCHED },
		  { .op = M_READ, .count = 90, .bytes = FETCHED, .fetched = FETCHED } },
		{ "small-reads-cached",
		  { .op = M_READ, .count = 90000, .bytes = FETCHED },
		  { .op = M_READ, .count = 90, .bytes = FETCHED } },
		{ "read-again",
		  { .op = M_READ, .count = 900, .bytes = 3ull << 30 },
		  { .op = M_READ, .count = 900, .bytes = 1ull << 30 } },
		{ "fetched-again",
		  { .op = M_READ, .count = 900, .bytes = 1ull << 30, .fetched = 2ull << 30 },
		  { .op = M_READ, .count = 900, .bytes = 1ull << 30, .fetched = 1ull << 30 } },
		{ "mmap-faults",
		  { .op = M_FAULT, .count = 500, .major = 400, .fetched = FETCHED },
		  { .op = M_FAULT, .count = 500, .major = 4, .fetched = 1 << 20 } },
		{ "mmap-single",
		  { .op = M_FAULT, .count = 9000, .major = 9000, .fetched = 9000 << 12 },
		  { .op = M_FAULT, .count = 9000, .major = 9, .fetched = 9 << 12 } },
		{ "opened-again",
		  { .op = M_OPENAT, .count = 20000 },
		  { .op = M_OPENAT, .count = 5 } },
		{ "opened-again",
		  { .op = M_OPENAT, .count = 20000 },
		  { .op = M_OPENAT, .count = 20000, .file = TRACE_FILE_OTHER } },
		{ "metadata-heavy",
		  { .op = M_FSTAT, .count = 20000 },
		  { .op = M_FSTAT, .count = 5 } },
		{ "fsync-often", { .op = M_FSYNC, .count = 500 }, { .op = M_FSTAT, .count = 500 } },
		{ "small-writes",
		  { .op = M_WRITE, .count = 9000, .bytes = 9000 * 100 },
		  { .op = M_WRITE, .count = 9000, .bytes = 9000 * 8192 } },
		{ "lock-wait",
		  { .op = M_FLOCK, .count = 500 },
		  { .op = M_FLOCK, .count = 500000 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *unknown[] = { "backward", "consecutive", "bandwidth", "time_ns" };
		struct made_trace made;
		struct report *report = report_on_use(&made, &cases[i].sound, 1);
		const struct table *table = report_table(report, "findings"), *record;
		int row = row_of_finding(report, cases[i].id);

		assert_false(table->absent);
		assert_non_null(strstr(table->note, "require --mode trace"));
		if (row >= 0)
			fail_msg("%s, which is sound", cases[i].id);
		done(&made, report);

		report = report_on_use(&made, &cases[i].of, 1);
		row = row_of_finding(report, cases[i].id);
		if (row < 0)
			fail_msg("no %s", cases[i].id);
		assert_true(ask(report, "findings", row, "cost_ns")->summed);
		/* The first of several reads remains, and so do copies: of 746 bytes here, a call
		 * takes as long as 4 KiB. */
		assert_int_equal(ask(report, "findings", row, "cost_ns")->uint,
				 !strcmp(cases[i].id, "fetched-again") ? SECOND / 8
				 : !strcmp(cases[i].id, "read-again")  ? SECOND / 6
				 : !strcmp(cases[i].id, "small-reads-cached")
					 ? SECOND / 4 - (uint64_t)(SECOND / 4 * (746.0 / 4842))
					 : SECOND / 4);
		record = ask(report, "findings", row, "evidence")->table;
		for (size_t j = 0; j < sizeof(unknown) / sizeof(unknown[0]); j++) {
			int column = table_find_column(record, unknown[j]);

			assert_true(column < 0 || record->cells[column].type == CELL_NULL ||
				    record->cells[column].summed);
		}
		assert_null(memmem(ask(report, "findings", row, "says")->text,
				   ask(report, "findings", row, "says")->length, " - ", 3));
		done(&made, report);
	}
}

/* Lock waits of four concurrent processes are not counted again as metadata. */
TEST(test_reported_once)
{
	const struct sums of = { .op = M_FLOCK, .count = 2000, .thread_time = 4 * SECOND };
	struct made_trace made;
	struct report *report = report_on_use(&made, &of, 1);

	assert_true(row_of_finding(report, "lock-wait") >= 0);
	assert_true(row_of_finding(report, "metadata-heavy") < 0);
	done(&made, report);
}

/* A single-threaded process blocks while it reads or writes; with several threads it is unknown. */
TEST(test_single_threaded_waits)
{
	static const struct {
		const char *id;
		struct sums of;
		bool threads, found;
	} cases[] = {
		{ "load-waits",
		  { .op = M_READ, .count = 256, .bytes = 256 << 20, .fetched = 256 << 20 },
		  false,
		  true },
		{ "load-waits",
		  { .op = M_READ, .count = 256, .bytes = 256 << 20, .fetched = 256 << 20 },
		  true,
		  false },
		{ "load-waits", { .op = M_READ, .count = 256, .bytes = 256 << 20 }, false, false },
		{ "save-waits", { .op = M_WRITE, .count = 64, .bytes = 64 << 20 }, false, true },
		{ "save-waits", { .op = M_WRITE, .count = 64, .bytes = 64 << 20 }, true, false },
		{ "save-waits",
		  { .op = M_WRITE, .count = 64000, .bytes = 64 << 20 },
		  false,
		  false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;

		begin_use(&made);
		if (cases[i].threads)
			made_fork(&made, 2, PID, PID);
		report = report_on_sums(&made, &cases[i].of, 1);
		if ((row_of_finding(report, cases[i].id) >= 0) != cases[i].found)
			fail_msg("%s, case %zu", cases[i].id, i);
		done(&made, report);
	}
}

/* Threads wait in parallel: a cost never exceeds the run. */
TEST(test_cost_is_bounded)
{
	const struct sums of = {
		.op = M_READ, .count = 90000, .bytes = 90000, .thread_time = 64 * SECOND
	};
	struct made_trace made;
	struct report *report = report_on_use(&made, &of, 1);
	int row = row_of_finding(report, "small-reads-cached");

	assert_int_not_equal(row, -1);
	assert_int_equal(ask(report, "findings", row, "cost_ns")->uint,
			 ask(report, "trace", 0, "duration_ns")->uint);
	done(&made, report);
}

/* Spans are events in every mode: findings based only on them are exact. */
TEST(test_findings_of_spans)
{
	const struct table *record;
	struct made_trace made;
	struct report *report;
	int row;

	begin(&made);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = i * SECOND / 4;

		SPAN(&made, .begin = at + 1, .end = at + SECOND / 8, .pid = PID, .id = 1,
		     .name = "step", .category = "compute");
		SPAN(&made, .begin = at + SECOND / 8, .end = at + SECOND / 5, .pid = PID, .id = 2,
		     .name = "save", .category = "checkpoint");
	}
	SUMS(&made, .time = SECOND, .over = SECOND, .op = M_WRITE, .file = 1, .count = 10,
	     .bytes = 99, .thread_time = 77);
	report = report_on(&made);
	row = row_of_finding(report, "sync-checkpoint");
	assert_int_not_equal(row, -1);
	assert_false(ask(report, "findings", row, "cost_ns")->summed);
	assert_int_equal(ask(report, "findings", row, "cost_ns")->uint,
			 4 * (SECOND / 5 - SECOND / 8));
	/* How much of that was I/O is unknown: the advice must not claim that it was none. */
	record = ask(report, "findings", row, "evidence")->table;
	assert_int_equal(record->cells[table_find_column(record, "io_ns")].type, CELL_NULL);
	assert_int_equal(record->cells[table_find_column(record, "work_ns")].type, CELL_NULL);
	assert_int_not_equal(row_of_finding(report, "accelerator-idle"), -1);
	assert_int_equal(row_of_finding(report, "loader-preprocessing"), -1);
	done(&made, report);
}

/* A thread that writes for a part of the run, and sleeps otherwise. */
static void add_writer(struct made_trace *made, uint64_t tid, uint64_t writes_ns)
{
	struct made_thread_time row = {
		.time = 1,
		.dur = 2 * SECOND - 1,
		.pid = PID,
		.tid = tid,
		.io = writes_ns,
		.io_wait = writes_ns,
	};

	row.states[THREAD_STORAGE] = writes_ns;
	row.states[THREAD_SLEEP] = row.dur - writes_ns;
	made_thread_time(made, &row);
}

/* Mode profile does not record which thread ends a wait, but it has the main thread's states. */
TEST(test_findings_of_main_thread)
{
	for (unsigned int helps = 0; helps < 2; helps++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .lanes = 1, .threads = true);
		FILE_ROW(&made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
		EXEC(&made, .time = 1, .pid = PID, .comm = "job", .command = "job", .rank = -1);
		add_writer(&made, PID, helps ? 0 : SECOND);
		add_writer(&made, PID + 1, helps ? SECOND : 0);
		SUMS(&made, .time = SECOND, .over = SECOND, .op = M_WRITE, .file = 1, .count = 10,
		     .bytes = 40960, .thread_time = SECOND);
		report = report_on(&made);
		assert_int_equal(row_of_finding(report, "write-bound") >= 0, !helps);
		CHECK(report, "critical_path", 0, "io_ns", helps ? 0 : SECOND);
		CHECK(report, "critical_path", 0, "time_ns", 2 * SECOND - 1);
		assert_int_equal(row_of_finding(report, "sleeps") >= 0, !helps);
		done(&made, report);
	}
}
