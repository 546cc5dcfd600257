/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Limits between runs: measures by name, allowed growth, lower bounds that prove nothing, new
 * findings.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/report/limits.h"
#include "ask_report.h"

#define MS 1000000ull

/* A run of `reads` reads of 100 bytes, `lost` of which are lost. */
struct run {
	uint64_t reads, lost, duration_ns;
};

static struct report *new_report(const struct run *run)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a");
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	for (uint64_t i = 0; i < run->reads; i++)
		CALL(&made, .time = 10 + (i + 1) * MS, .dur = MS / 10, .pid = 10, .op = M_READ,
		     .file = 1, .result = 100);
	made.kinds[TRACE_SYSCALL].events += run->lost;
	made.kinds[TRACE_SYSCALL].lost += run->lost;
	report = report_between(&made, 10, 10 + run->duration_ns);
	made_close(&made);
	return report;
}

/* Judges one measure; returns its state and puts the words into `says`. */
static enum limits_state judge(const struct limits *limits, const struct run *before,
			       const struct run *now, char says[256])
{
	struct report *reports[2] = { before ? new_report(before) : NULL, new_report(now) };
	enum limits_state state;
	struct table *table;
	const struct cell *cell;

	assert_int_equal(limits_make(&table, &state, limits, 1, reports[0], reports[1]), 0);
	assert_int_equal(table->row_count, 1);
	cell = &table->cells[table_find_column(table, "says")];
	snprintf(says, 256, "%.*s", (int)cell->length, cell->text);
	table_free(table);
	report_free(reports[0]);
	report_free(reports[1]);
	return state;
}

static struct limits measure(const char *name)
{
	struct report *report = new_report(&(struct run) { 1, 0, 20 * MS });
	struct limits limits;

	assert_int_equal(limits_find(&limits, report, name), 0);
	report_free(report);
	return limits;
}

/* Columns may belong to a layer that this trace lacks. */
TEST(test_names)
{
	struct report *report = new_report(&(struct run) { 1, 0, 20 * MS });
	struct limits limits;

	for (const struct limits_word *word = limits_words; word->name; word++) {
		assert_non_null(word->meaning);
		if (strcmp(word->name, "unoverlapped"))
			assert_int_equal(limits_find(&limits, report, word->name), 0);
	}
	assert_int_equal(limits_find(&limits, report, "totals.read.count"), 0);
	assert_int_equal(limits.unit, UNIT_COUNT);
	assert_int_equal(limits_find(&limits, report, "trace.duration_ns"), 0);
	assert_int_equal(limits.unit, UNIT_NS);
	assert_int_equal(limits_find(&limits, report, "trace.command"), -EINVAL);
	assert_int_equal(limits_find(&limits, report, "totals.nothing"), -ENOENT);
	assert_int_equal(limits_find(&limits, report, "files.size_bytes"), -ENOENT);
	assert_int_equal(limits_find(&limits, report, "nothing"), -ENOENT);
	assert_int_equal(limits_find(&limits, report, ""), -ENOENT);
	report_free(report);
}

TEST(test_allowances)
{
	const struct run ten = { 10, 0, 20 * MS }, eleven = { 11, 0, 22 * MS };
	struct limits read = measure("read"), duration = measure("time");
	char says[256];

	assert_int_equal(judge(&read, &ten, &ten, says), LIMIT_WITHIN);
	assert_int_equal(judge(&read, &eleven, &ten, says), LIMIT_WITHIN);
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_EXCEEDED);
	assert_string_equal(says, "1.1 KiB, before 1000 B; limit 1000 B");
	read.more = 99;
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_EXCEEDED);
	read.more = 100;
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_WITHIN);
	/* The relative and the absolute allowance add up. */
	read.share = 0.05;
	read.more = 50;
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_WITHIN);
	read.more = 49;
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_EXCEEDED);
	read.share = 1e300; /* no larger than the type can hold */
	assert_int_equal(judge(&read, &ten, &eleven, says), LIMIT_WITHIN);
	duration.share = 0.09;
	assert_int_equal(judge(&duration, &ten, &eleven, says), LIMIT_EXCEEDED);
	duration.share = 0.11;
	assert_int_equal(judge(&duration, &ten, &eleven, says), LIMIT_WITHIN);
	/* Without an earlier run, the allowance is the limit. */
	duration = measure("operations");
	duration.more = 10;
	assert_int_equal(judge(&duration, NULL, &ten, says), LIMIT_WITHIN);
	assert_int_equal(judge(&duration, NULL, &eleven, says), LIMIT_EXCEEDED);
	assert_string_equal(says, "11; limit 10");
}

/* Counts stay exact when events are lost, times do not. */
TEST(test_lower_bounds)
{
	const struct run whole = { 10, 0, 20 * MS }, lossy = { 10, 5, 20 * MS };
	const struct run more = { 12, 0, 20 * MS }, most = { 20, 5, 40 * MS };
	struct limits io = measure("io"), operations = measure("operations");
	char says[256];

	assert_int_equal(judge(&operations, &whole, &lossy, says), LIMIT_WITHIN);
	assert_int_equal(judge(&io, &whole, &lossy, says), LIMIT_UNKNOWN);
	assert_string_equal(says, "at least 1.0 ms, before 1.0 ms; limit 1.0 ms");
	assert_int_equal(judge(&io, &whole, &most, says), LIMIT_EXCEEDED);
	assert_int_equal(judge(&io, &lossy, &more, says), LIMIT_UNKNOWN);
	assert_int_equal(judge(&io, &lossy, &whole, says), LIMIT_WITHIN);
}

/* The trace has no block layer. */
TEST(test_not_reported)
{
	const struct run run = { 10, 0, 20 * MS };
	struct limits storage = measure("totals.read.count");
	char says[256];

	storage.columns[0] = "storage_read.requests";
	assert_int_equal(judge(&storage, &run, &run, says), LIMIT_UNKNOWN);
	assert_string_equal(says, "not known, before not known");
}

TEST(test_findings)
{
	const struct run whole = { 10, 0, 20 * MS }, lossy = { 10, 90, 20 * MS };
	struct limits findings = measure("findings");
	char says[256];

	findings.severity = FINDING_HIGH;
	assert_int_equal(judge(&findings, &whole, &whole, says), LIMIT_WITHIN);
	assert_string_equal(says, "no new findings of severity high or above");
	assert_int_equal(judge(&findings, &whole, &lossy, says), LIMIT_EXCEEDED);
	assert_string_equal(says, "new: loss");
	assert_int_equal(judge(&findings, NULL, &lossy, says), LIMIT_EXCEEDED);
	/* The finding existed before, or disappeared. */
	assert_int_equal(judge(&findings, &lossy, &lossy, says), LIMIT_WITHIN);
	assert_int_equal(judge(&findings, &lossy, &whole, says), LIMIT_WITHIN);
	findings.severity = FINDING_NOTE;
	assert_int_equal(judge(&findings, &whole, &lossy, says), LIMIT_EXCEEDED);
}
