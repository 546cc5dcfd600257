// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Lines of two runs compared: which changes are larger than their uncertainty. */
#include "unit_test.h"

#include "analysis/report/compare_lines.h"
#include "ask_report.h"

#define MS 1000000ull
#define S 1000000000ull

/* How long a line took: one exact sample, and short operations of a millisecond each. */
struct line_time {
	uint64_t line, exact_ms, estimated;
	const char *state; /* NULL: io */
};

struct run {
	struct made_trace made;
	struct report *report;
};

static void make_run(struct run *run, const struct line_time *times, size_t count,
		     uint64_t memory_bytes)
{
	const struct report_options options = { .memory_bytes = memory_bytes };
	const char *name = "a.flt";
	struct trace_error error;

	BEGIN(&run->made, .stacks = true);
	EXEC(&run->made, .time = 10, .pid = 10, .comm = "train", .command = "train");
	for (size_t i = 0; i < count; i++) {
		made_frame(&run->made, 1, i + 1, "/job/loader.py", times[i].line, "get");
		made_stack(&run->made, 1, i + 1, 0, i + 1);
		if (times[i].exact_ms)
			SAMPLE(&run->made, .time = 100, .dur = times[i].exact_ms * MS, .pid = 10,
			       .op = M_READ, .state = times[i].state, .stack = i + 1);
		/* In several threads, whose rows are one line. */
		for (uint64_t j = 0; j < times[i].estimated; j++)
			SAMPLE(&run->made, .time = 100, .dur = 1000, .weight = MS, .pid = 10,
			       .tid = 10 + j % 2, .op = M_READ, .state = times[i].state,
			       .stack = i + 1);
	}
	made_finish(&run->made, 0, 10 * S);
	assert_int_equal(report_make(&run->report, &run->made.reader, &name, 1, &options, &error),
			 0);
}

#define RUN(run, memory_bytes, ...)                                                                \
	make_run(run, (const struct line_time[]) { __VA_ARGS__ },                                  \
		 sizeof((const struct line_time[]) { __VA_ARGS__ }) / sizeof(struct line_time),    \
		 memory_bytes)

static void end_runs(struct run runs[2])
{
	for (int i = 0; i < 2; i++)
		done(&runs[i].made, runs[i].report);
}

static const struct cell *cell_of(const struct table *table, size_t row, const char *column)
{
	const int number = table_find_column(table, column);

	assert_true(number >= 0 && row < table->row_count);
	return &table_row(table, row)[number];
}

TEST(test_changes)
{
	static const struct {
		const char *location, *state;
		int64_t change_ms;
		uint64_t before_ms, now_ms, error_ns;
	} expected[] = {
		{ "loader.py:5 in get", "io", -100, 100, 0, 0 },
		{ "loader.py:4 in get", "lock", 50, 10, 60, 0 },
		/* sqrt(4 + 36) ms */
		{ "loader.py:3 in get", "io", 32, 4, 36, 6324555 },
		{ "loader.py:6 in get", "io", 5, 0, 5, 2236068 },
	};
	struct table *table;
	struct run runs[2];

	/* Line 2 differs by less than its uncertainty, and so does one sample more of line 6's. */
	RUN(&runs[0], 0, { 1, 10, 0, NULL }, { 2, 0, 4, NULL }, { 3, 0, 4, NULL },
	    { 4, 10, 0, "lock" }, { 5, 100, 0, NULL }, { 7, 0, 4, NULL });
	RUN(&runs[1], 0, { 1, 10, 0, NULL }, { 2, 0, 9, NULL }, { 3, 0, 36, NULL },
	    { 4, 60, 0, "lock" }, { 6, 0, 5, NULL });
	assert_int_equal(compare_lines_make(&table, runs[0].report, runs[1].report), 0);
	assert_int_equal(table->row_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < table->row_count; i++) {
		assert_true(cell_is(cell_of(table, i, "location"), expected[i].location));
		assert_true(cell_is(cell_of(table, i, "file"), "/job/loader.py"));
		assert_true(cell_is(cell_of(table, i, "state"), expected[i].state));
		assert_int_equal(cell_of(table, i, "change_ns")->sint,
				 expected[i].change_ms * (int64_t)MS);
		assert_int_equal(cell_of(table, i, "before.time_ns")->uint,
				 expected[i].before_ms * MS);
		assert_int_equal(cell_of(table, i, "now.time_ns")->uint, expected[i].now_ms * MS);
		/* In each thread, half of the samples: the errors add up as squares. */
		assert_in_range(cell_of(table, i, "change_uncertainty_ns")->uint,
				expected[i].error_ns ? expected[i].error_ns - 2 : 0,
				expected[i].error_ns + 2);
	}
	assert_true(cell_of(table, 1, "times")->real == 6);
	assert_int_equal(cell_of(table, 3, "times")->type, CELL_NULL);
	assert_true(cell_of(table, 0, "before.share")->real == 100.0 / 122);
	assert_true(cell_of(table, 2, "now.share")->real == 36.0 / 60);
	assert_true(cell_of(table, 1, "now.share")->real == 1);
	table_free(table);
	/* A run is the same as itself. */
	assert_int_equal(compare_lines_make(&table, runs[0].report, runs[0].report), 0);
	assert_int_equal(table->row_count, 0);
	table_free(table);
	end_runs(runs);
}

/* A line that one report lacks may be in its row of the rest. */
TEST(test_folded)
{
	struct line_time many[1000];
	struct table *table;
	struct run runs[2];

	for (size_t i = 0; i < 1000; i++)
		many[i] = (struct line_time) { .line = 100 + i, .exact_ms = 1 };
	many[0].exact_ms = 100;
	make_run(&runs[0], many, 1000, 1 << 20);
	assert_true(report_table(runs[0].report, "lines")->folded > 1);
	RUN(&runs[1], 0, { 100, 50, 0, NULL }, { 1, 500, 0, NULL });
	for (int reversed = 0; reversed < 2; reversed++) {
		assert_int_equal(
			compare_lines_make(&table, runs[reversed].report, runs[!reversed].report),
			0);
		/* All lines that the long report has are in the short one's, which has all. */
		for (size_t i = 0; i < table->row_count; i++)
			assert_false(cell_is(cell_of(table, i, "location"), "loader.py:1 in get"));
		assert_true(cell_is(cell_of(table, 0, "location"), "loader.py:100 in get"));
		assert_int_equal(cell_of(table, 0, reversed ? "now.share" : "before.share")->type,
				 CELL_NULL);
		table_free(table);
	}
	end_runs(runs);
}

TEST(test_absent)
{
	const char *name = "a.flt";
	struct trace_error error;
	struct table *table;
	struct run runs[2];

	RUN(&runs[0], 0, { 1, 10, 0, NULL });
	BEGIN(&runs[1].made);
	EXEC(&runs[1].made, .time = 10, .pid = 10, .comm = "train", .command = "train");
	made_finish(&runs[1].made, 0, 10 * S);
	assert_int_equal(report_make(&runs[1].report, &runs[1].made.reader, &name, 1, NULL, &error),
			 0);
	for (int reversed = 0; reversed < 2; reversed++) {
		assert_int_equal(
			compare_lines_make(&table, runs[reversed].report, runs[!reversed].report),
			0);
		assert_true(table->absent);
		assert_string_equal(table->note, "requires layer stack in both runs");
		table_free(table);
	}
	end_runs(runs);
}
