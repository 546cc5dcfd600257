/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Summaries used for something that needs events, and summaries that no report would write. */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/shared/rollup.h"
#include "random_job.h"

static void check_refused_by_name(struct trace_reader *reader, const struct report_options *options,
				  int status, const char *words)
{
	check_refused(reader, options, status, words);
	check_refused(reader, options, status, "a.flt");
}

TEST(test_needs_events)
{
	const struct filter filter = {
		.from_ns = 1, .until_ns = FILTER_NONE, .pid = FILTER_NONE, .rank = FILTER_NONE
	};
	const struct report_options filtered = { .filter = &filter };
	const struct report_options grouped = { .key = rollup_find_key("file") };
	const struct report_options drawn = { .pictures = true };
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;

	make_job(&job, true);
	summary = summarize(&parted, job.traces, job.names, job.count, 9);
	check_refused_by_name(summary, &filtered, -ENOTSUP, "filtered");
	check_refused_by_name(summary, &grouped, -ENOTSUP, "grouped");
	check_refused_by_name(summary, &drawn, -ENOTSUP, "shown as a page");
	free_parted(&parted);
	free_job(&job);
}

/* A truncated summary would otherwise pass for a smaller one. */
TEST(test_cut)
{
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct stat stat;

	make_job(&job, true);
	summarize(&parted, job.traces, job.names, job.count, 9);
	assert_int_equal(fstat(parted.fds[0], &stat), 0);
	assert_int_equal(ftruncate(parted.fds[0], stat.st_size - 60), 0);
	trace_reader_close(parted.opened[0]);
	parted.opened[0] = opened(parted.fds[0]);
	check_refused_by_name(parted.opened[0], NULL, -EINVAL,
			      "incomplete; make it again from its trace");
	free_parted(&parted);
	free_job(&job);
}

static void note_skipped(void *context, const char *why)
{
	assert_non_null(strstr(why, "incomplete; make it again from its trace"));
	++*(size_t *)context;
}

/* ... and among others it is left out, and named. */
TEST(test_cut_among_others)
{
	static const char *const names[] = { "a.flt", "b.flt", "c.flt" };
	struct trace_error error = { "" };
	struct report *report, *whole;
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *good[2];
	size_t skipped = 0;
	struct report_options options = { .skip = note_skipped, .skip_context = &skipped };
	struct stat stat;

	make_job(&job, true);
	for (int i = 0; i < 3; i++)
		summarize(&parted, job.traces, job.names, job.count, 9);
	assert_int_equal(fstat(parted.fds[1], &stat), 0);
	assert_int_equal(ftruncate(parted.fds[1], stat.st_size - 60), 0);
	trace_reader_close(parted.opened[1]);
	parted.opened[1] = opened(parted.fds[1]);
	assert_int_equal(report_make(&report, parted.opened, names, 3, NULL, &error), -EINVAL);
	assert_int_equal(report_make(&report, parted.opened, names, 3, &options, &error), 0);
	assert_int_equal(skipped, 1);
	good[0] = parted.opened[0];
	good[1] = parted.opened[2];
	assert_int_equal(report_make(&whole, good, names, 2, NULL, &error), 0);
	assert_int_equal(ask(report, "totals", 0, "io.thread_time_ns")->uint,
			 ask(whole, "totals", 0, "io.thread_time_ns")->uint);
	report_free(report);
	report_free(whole);
	/* With none left there is nothing to report. */
	assert_int_equal(report_make(&report, &parted.opened[1], names, 1, &options, &error),
			 -EINVAL);
	free_parted(&parted);
	free_job(&job);
}

/* Contradictory or dangling rows: an error or a report, within a summary's memory limit. */
static uint64_t hostile_value(void)
{
	static const uint64_t odd[] = { 0, 1, 2, 3, 5, 7, 8, 40, 1 << 21, UINT32_MAX, UINT64_MAX };

	return random_below(4) ? odd[random_below(sizeof(odd) / sizeof(odd[0]))]
			       : next_random(&random_state) >> random_below(60);
}

TEST(test_hostile)
{
	static const char *const texts[] = { "trace", "files",	 "findings",	  "access",
					     "title", "cost_ns", "start_unix_ns", "\xff" };
	static const char *const names[] = { "some.flt" };
	size_t refused = 0;

	for (int round = 0; round < 300; round++) {
		struct trace_error error = { "" };
		struct report *report;
		struct made_trace made;
		uint64_t values[TRACE_COLUMNS_MAX];
		int status;

		BEGIN(&made, .mode = SUMMARY_MODE);
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			trace_writer_string(made.writer, texts[i], strlen(texts[i]));
		for (int i = 0; i < 40; i++) {
			enum trace_kind kind = TRACE_SUMMARY_TABLE + random_below(4);

			for (unsigned int c = 0; c < trace_schemas[kind].column_count; c++)
				values[c] = random_below(2) ? hostile_value() : random_below(9);
			if (kind == TRACE_SUMMARY_TABLE)
				values[SUMMARY_TABLE_NUMBER] =
					made.kinds[TRACE_SUMMARY_TABLE].written;
			values[TRACE_COL_TIME] = i;
			made_row(&made, kind, 0, values);
		}
		made_finish(&made, 0, 40);
		status = report_make(&report, &made.reader, names, 1, NULL, &error);
		assert_true(!status || (error.text[0] && status == -EINVAL));
		refused += status != 0;
		done(&made, report);
	}
	assert_true(refused > 250);
}

/* --- summaries made row by row --- */

static void put_table(struct made_trace *made, uint64_t number, const char *name, bool list,
		      uint64_t rows)
{
	const uint64_t values[SUMMARY_TABLE_COLUMNS] = {
		[SUMMARY_TABLE_NUMBER] = number,
		[SUMMARY_TABLE_NAME] = made_string(made, name),
		[SUMMARY_TABLE_SHAPE] = list,
		[SUMMARY_TABLE_ROWS] = rows,
	};

	made_row(made, TRACE_SUMMARY_TABLE, 0, values);
}

static void put_column(struct made_trace *made, uint64_t table, const char *name)
{
	const uint64_t values[SUMMARY_COLUMN_COLUMNS] = {
		[SUMMARY_COLUMN_TABLE] = table,
		[SUMMARY_COLUMN_NAME] = made_string(made, name),
		[SUMMARY_COLUMN_UNIT] = strstr(name, "_bytes") ? UNIT_BYTES : UNIT_NONE,
		[SUMMARY_COLUMN_KIND] = strstr(name, "_bytes") ? KIND_SUM
					: !strcmp(name, "old") ? KIND_NONE
					: strstr(name, "_ns")  ? KIND_FACT
							       : KIND_KEY,
	};

	made_row(made, TRACE_SUMMARY_COLUMN, 0, values);
}

struct put_cell {
	uint64_t table, row, column, type, value;
	const char *text;
};

static void put_cell(struct made_trace *made, const struct put_cell *cell)
{
	const uint64_t values[SUMMARY_CELL_COLUMNS] = {
		[SUMMARY_CELL_TABLE] = cell->table,
		[SUMMARY_CELL_ROW] = cell->row,
		[SUMMARY_CELL_COLUMN] = cell->column,
		[SUMMARY_CELL_TYPE] = cell->type,
		[SUMMARY_CELL_VALUE] = cell->value,
		[SUMMARY_CELL_TEXT] = made_string(made, cell->text),
	};

	made_row(made, TRACE_SUMMARY_CELL, 0, values);
}

#define CELL(made, ...) put_cell(made, &(struct put_cell) { __VA_ARGS__ })

/* The part common to all summaries: the run's times. Its table is number 0. */
static void begin_summary(struct made_trace *made)
{
	BEGIN(made, .mode = SUMMARY_MODE);
	put_table(made, 0, "trace", false, 1);
	put_column(made, 0, "start_unix_ns");
	put_column(made, 0, "duration_ns");
	CELL(made, .type = CELL_UINT, .value = 1000);
	CELL(made, .column = 1, .type = CELL_UINT, .value = 50);
}

/* A summary of a newer version may have unknown columns. */
TEST(test_more_columns)
{
	static const char *const names[] = { "a" };
	struct made_trace made;
	struct trace_reader *again;
	struct report *report;
	char name[16];
	int fd;

	begin_summary(&made);
	put_table(&made, 1, "access", true, 90);
	put_column(&made, 1, "name");
	for (int i = 1; i < 60; i++) {
		snprintf(name, sizeof(name), "new%d", i);
		put_column(&made, 1, name);
	}
	for (int row = 0; row < 90; row++) {
		snprintf(name, sizeof(name), "row %d", row);
		CELL(&made, .table = 1, .row = row, .type = CELL_TEXT, .text = name);
		for (int i = 1; i < 60; i++)
			CELL(&made, .table = 1, .row = row, .column = i, .type = CELL_UINT,
			     .value = row);
	}
	made_finish(&made, 0, 9);
	again = summarized(report_on(&made.reader, names, 1), 80, &fd);
	report = report_on(&again, names, 1);
	assert_int_equal(report_table(report, "access")->row_count, 81);
	assert_int_equal(ask(report, "access", 79, "new59")->uint, 79);
	report_free(report);
	trace_reader_close(again);
	close(fd);
	made_close(&made);
}

/* Caveats of two runs by a newer version: unknown ones are not merged. */
TEST(test_more_caveats)
{
	static const char *const names[] = { "a", "b" },
				 *const columns[] = { "id", "weight", "text" },
				 *const rows[][3] = { { "new one", "warning", "a" },
						      { "new two", "warning", "b" } };
	struct made_trace made[2];
	struct trace_reader *readers[2];
	struct report *report;

	for (int i = 0; i < 2; i++) {
		begin_summary(&made[i]);
		put_table(&made[i], 1, "caveats", true, 2);
		for (int column = 0; column < 3; column++)
			put_column(&made[i], 1, columns[column]);
		for (int row = 0; row < 2; row++)
			for (int column = 0; column < 3; column++)
				CELL(&made[i], .table = 1, .row = row, .column = column,
				     .type = CELL_TEXT, .text = rows[row][column]);
		made_finish(&made[i], 0, 9);
		readers[i] = made[i].reader;
	}
	report = report_on(readers, names, 2);
	check_text(report, "caveats", find_row(report, "caveats", "id", "new one"), "text", "a");
	check_text(report, "caveats", find_row(report, "caveats", "id", "new two"), "text", "b");
	report_free(report);
	made_close(&made[0]);
	made_close(&made[1]);
}

/* Rows that never merge do not grow without bound: those beyond the limit are summed. */
TEST(test_single_rows)
{
	enum { SUMMARIES = 300, ROWS = 512, MOST = 1 << 17 };
	static const char *names[SUMMARIES];
	struct trace_reader *readers[SUMMARIES];
	struct trace_error error;
	const struct table *table;
	struct made_trace made;
	struct report *report;
	uint64_t bytes = 0;
	char path[16];

	begin_summary(&made);
	put_table(&made, 1, "writeback", true, ROWS);
	put_column(&made, 1, "path");
	put_column(&made, 1, "device_bytes");
	put_table(&made, 2, "files", true, ROWS);
	put_column(&made, 2, "path");
	for (int row = 0; row < ROWS; row++) {
		snprintf(path, sizeof(path), "/f%d", row);
		CELL(&made, .table = 1, .row = row, .type = CELL_TEXT, .text = path);
		CELL(&made, .table = 1, .row = row, .column = 1, .type = CELL_UINT, .value = row);
		CELL(&made, .table = 2, .row = row, .type = CELL_TEXT, .text = path);
	}
	made_finish(&made, 0, 9);
	for (int i = 0; i < SUMMARIES; i++) {
		names[i] = "some.flt";
		assert_int_equal(
			trace_reader_open_memory(&readers[i], made.bytes, made.length, &error), 0);
	}
	report = report_on(readers, names, SUMMARIES);
	table = report_table(report, "writeback");
	assert_true(table->row_count > MOST / 2 && table->row_count <= MOST + 1);
	check_text(report, "writeback", 0, "path", "/f511");
	for (size_t row = 0; row < table->row_count; row++)
		bytes += ask(report, "writeback", row, "device_bytes")->uint;
	assert_int_equal(bytes, SUMMARIES * ROWS * (ROWS - 1) / 2);
	assert_int_equal(table->folded + table->row_count - 1, SUMMARIES * ROWS);
	/* Files of one host merge; those of a thousand hosts would not. */
	assert_int_equal(report_table(report, "files")->row_count, MOST / SUMMARIES + 1);
	report_free(report);
	for (int i = 0; i < SUMMARIES; i++)
		trace_reader_close(readers[i]);
	made_close(&made);
}

/* A summary from before columns had kinds. */
TEST(test_no_kinds)
{
	struct made_trace made;

	begin_summary(&made);
	put_table(&made, 1, "paths", true, 0);
	put_column(&made, 1, "old");
	made_finish(&made, 0, 9);
	check_refused_by_name(made.reader, NULL, -EINVAL, "older version");
	made_close(&made);
}

/* Tables nested in each other's cells, deeply enough to overflow a stack. */
TEST(test_deep_tables)
{
	struct made_trace made;
	const uint64_t deep = 60000;

	begin_summary(&made);
	for (uint64_t i = 1; i <= deep; i++) {
		put_table(&made, i, i < deep ? "" : "slowest", true, 1);
		put_column(&made, i, "within");
	}
	for (uint64_t i = 2; i <= deep; i++)
		CELL(&made, .table = i, .type = CELL_TABLE, .value = i - 1);
	made_finish(&made, 0, 9);
	check_refused_by_name(made.reader, NULL, -EINVAL, "contradict");
	made_close(&made);
}

/* Columns count for the limit even if their tables are empty; and their names differ. */
TEST(test_empty_tables)
{
	struct made_trace made;
	char name[16];

	begin_summary(&made);
	for (uint64_t i = 1; i <= 2100; i++) {
		put_table(&made, i, "", true, 0);
		for (int j = 0; j < 1000; j++) {
			snprintf(name, sizeof(name), "c%d", j);
			put_column(&made, i, name);
		}
	}
	made_finish(&made, 0, 9);
	check_refused_by_name(made.reader, NULL, -EINVAL, "contradict");
	made_close(&made);
}

TEST(test_same_names)
{
	struct made_trace made;

	begin_summary(&made);
	put_table(&made, 1, "paths", true, 0);
	put_column(&made, 1, "path");
	put_column(&made, 1, "read_bytes");
	put_column(&made, 1, "path");
	made_finish(&made, 0, 9);
	check_refused_by_name(made.reader, NULL, -EINVAL, "contradict");
	made_close(&made);
}
