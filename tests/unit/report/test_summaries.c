/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports built from summaries must match a report of the traces, number by number, however the
 * traces are split among summaries. Any value that differs must be null.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/report_parts.h"
#include "analysis/report/summary.h"
#include "base/utf8.h"
#include "compare_reports.h"
#include "random_job.h"

static void check_random(size_t rounds, bool apart)
{
	size_t reported = 0, unreported = 0;

	for (size_t round = 0; round < rounds; round++) {
		struct report *whole, *parts;
		struct random_job job;
		struct parted parted;

		make_job(&job, apart);
		whole = report_on(job.traces, job.names, job.count);
		part(&parted, &job, apart);
		parts = report_on(parted.readers, parted.names, parted.count);
		compare(whole, parts, apart, &reported, &unreported);
		compare_findings(whole, parts, apart);
		report_free(whole);
		report_free(parts);
		free_parted(&parted);
		free_job(&job);
	}
	/* Most values are known. */
	assert_true(reported > 20 * rounds && reported > 9 * unreported);
	assert_true(found > rounds / 2);
}

/* The order of the tests determines their random jobs. */

static bool is_column(const struct table *table, const char *name, size_t length)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	return table_find_column(table, copy) >= 0;
}

/* Long texts are cut, but not inside a character. */
TEST(test_long_text)
{
	enum { BYTES = SUMMARY_TEXT_MAX + 100 };
	static const char *const names[] = { "a.flt" };
	char path[BYTES + 1] = "/x";
	struct made_trace made;
	struct trace_reader *summary;
	struct report *report;
	const struct cell *cell;
	int fd;

	for (size_t i = 2; i < BYTES; i += 2)
		memcpy(path + i, "\xc3\xa9", 2);
	BEGIN(&made, .lanes = 1);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = path);
	CALL(&made, .time = 10, .dur = 1, .pid = 10, .op = M_READ, .file = 1, .result = 1);
	made_finish(&made, 0, 100);
	report = report_with(&made, NULL);
	assert_int_equal(ask(report, "files", 0, "path")->length, BYTES);
	summary = summarized(report, 10, &fd);
	report = report_on(&summary, names, 1);
	cell = ask(report, "files", 0, "path");
	assert_in_range(cell->length, SUMMARY_TEXT_MAX - 3, SUMMARY_TEXT_MAX);
	assert_true(utf8_is_valid(cell->text, cell->length));
	report_free(report);
	trace_reader_close(summary);
	close(fd);
	made_close(&made);
}

/* Every column has a kind, and tables sort and choose by columns that exist. */
TEST(test_kinds)
{
	struct random_job job;
	struct report *whole;
	size_t count;
	const struct analysis *const *analyses = report_analyses(&count);

	make_job(&job, true);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < count; i++) {
		const struct merging *merging = &analyses[i]->merging;
		const struct table *table = whole->tables[i];
		const char *at = merging->costliest, *sorted = merging->sorted;

		for (size_t j = 0; j < table->column_count; j++)
			if (table->columns[j].kind == KIND_NONE)
				fail_msg("%s.%s has no kind", table->name, table->columns[j].name);
		if (table->absent || !table->column_count)
			continue;
		for (; at && *at; at += strcspn(at, ","), at += *at == ',')
			if (!is_column(table, at, strcspn(at, ",")))
				fail_msg("%s has no column %s", table->name, at);
		if (sorted && !is_column(table, sorted + (*sorted == '-'), strlen(sorted)))
			fail_msg("%s has no column %s", table->name, sorted);
	}
	report_free(whole);
	free_job(&job);
}

/* A summary of a single trace loses nothing: timeline, findings and text are the same. */
TEST(test_one_trace)
{
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;
	struct report *whole, *parts;

	make_job(&job, true);
	whole = report_on(job.traces, job.names, 1);
	summary = summarize(&parted, job.traces, job.names, 1, SUMMARY_ROWS_MAX);
	assert_true(summary_is_file(summary));
	parts = report_on(&summary, job.names, 1);
	for (size_t i = 0; i < whole->table_count; i++) {
		const struct table *a = whole->tables[i], *b = parts->tables[i];

		assert_int_equal(a->absent, b->absent);
		if (!strcmp(a->name, "caveats") || a->absent)
			continue;
		if (!same_tables(a, b))
			fail_msg("%s differs", a->name);
		assert_string_equal(a->note ? a->note : "", b->note ? b->note : "");
		assert_int_equal(a->view.shown_count, b->view.shown_count);
	}
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

TEST(test_runs_apart)
{
	check_random(40, true);
}

TEST(test_runs_that_overlap)
{
	check_random(60, false);
}

/* --- details --- */

/* Summaries do not store column meanings; readers look them up by column name. */
TEST(test_meanings)
{
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;
	struct report *whole, *parts;
	struct random_job job;
	size_t meant = 0;

	make_job(&job, true);
	whole = report_on(job.traces, job.names, 1);
	summary = summarize(&parted, job.traces, job.names, 1, SUMMARY_ROWS_MAX);
	parts = report_on(&summary, job.names, 1);
	assert_null(report_table(parts, "files")->columns[0].meaning);
	assert_int_equal(report_take_meanings(parts, whole), 0);
	for (size_t i = 0; i < whole->table_count; i++)
		for (size_t j = 0; j < whole->tables[i]->column_count; j++) {
			const char *meaning = whole->tables[i]->columns[j].meaning;

			if (!meaning)
				continue;
			assert_string_equal(parts->tables[i]->columns[j].meaning, meaning);
			meant++;
		}
	assert_true(meant > 200);
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

static uint64_t sum_of(const struct report *report, const char *table, const char *column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report_table(report, table)->row_count; i++) {
		const struct cell *cell = ask(report, table, i, column);

		sum += cell->type == CELL_UINT ? cell->uint : 0;
	}
	return sum;
}

/* Rows beyond the limit are folded into one: only their names are lost. */
TEST(test_folded_rows)
{
	static const char *const sums[][2] = {
		{ "files", "read.bytes" },	{ "files", "opens" },
		{ "files", "mmap.faults" },	{ "operations", "count" },
		{ "operations", "errors" },	{ "processes", "read.bytes" },
		{ "processes", "write.count" }, { "failed_lookups", "count" },
	};
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summaries[TRACES_MAX];
	struct report *whole, *parts;
	size_t bounds = 0;

	make_job(&job, false);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < job.count; i++) {
		summaries[i] = summarize(&parted, job.traces + i, job.names + i, 1, 1);
		assert_true(trace_reader_block_count(summaries[i]) < 64);
	}
	parts = report_on(summaries, job.names, job.count);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sum_of(whole, sums[i][0], sums[i][1]) != sum_of(parts, sums[i][0], sums[i][1]))
			fail_msg("%s.%s differs", sums[i][0], sums[i][1]);
	assert_true(report_table(parts, "files")->folded >= job.count);
	assert_non_null(strstr(report_table(parts, "files")->note, "share the last row"));
	/* A row folded in one summary may be named in another: its value is then a lower bound. */
	for (size_t row = 0; row + 1 < report_table(parts, "files")->row_count; row++)
		bounds += ask(parts, "files", row, "opens")->at_least;
	assert_true(bounds || report_table(parts, "files")->row_count == 2);
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* True if a report says that the hosts were recorded at different times. */
static bool emits_apart(const struct report *report)
{
	int row = row_with(report, "caveats", "id", "clocks");

	if (row >= 0)
		assert_non_null(
			strstr(ask(report, "caveats", row, "text")->text,
			       "59m 59s passed between the end on late and the start on early"));
	return row >= 0;
}

/* Two hosts whose clocks are an hour apart: the run's length follows their clocks, and the report
 * states the difference if it is at least a second.
 */
TEST(test_clocks_apart)
{
	struct made_trace made[2];
	struct trace_reader *readers[2], *summaries[2];
	static const char *const names[] = { "a", "b" };
	struct parted parted = { .count = 0 };
	const uint64_t hour_ns = 3600ull * 1000000000;
	struct report *report;

	for (int i = 0; i < 2; i++) {
		BEGIN(&made[i], .host = i ? "late" : "early", .boot_id = i ? "two" : "one",
		      .monotonic_ns = 5, .realtime_ns = 1700000000000000000ull + (1 - i) * hour_ns);
		EXEC(&made[i], .time = 10, .pid = 7, .comm = "x", .rank = i);
		readers[i] = made_finish(&made[i], 10, 10 + 1000 * MS);
		summaries[i] = summarize(&parted, &readers[i], names + i, 1, 9);
	}
	report = report_on(summaries, names, 2);
	CHECK(report, "trace", 0, "start_unix_ns", 1700000000000000005ull);
	CHECK(report, "trace", 0, "duration_ns", hour_ns + 1000 * MS);
	CHECK(report, "processes", find_row(report, "processes", "host", "early"), "start_ns",
	      hour_ns);
	CHECK(report, "processes", find_row(report, "processes", "host", "late"), "start_ns", 0);
	CHECK(report, "trace", 0, "ranks", 2);
	assert_true(emits_apart(report));
	report_free(report);
	report = made_report(readers, 2);
	assert_true(emits_apart(report));
	report_free(report);
	free_parted(&parted);
	made_close(&made[0]);
	made_close(&made[1]);
}
