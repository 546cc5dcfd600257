// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames, stacks and samples of hostile traces, in reports and in all exports: no sample is lost,
 * and memory is bounded.
 */
#include "unit_test.h"

#include <stdlib.h>

#include "analysis/report/report.h"
#include "analysis/shared/sites.h"
#include "ask_report.h"
#include "base/number.h"
#include "output/base/export.h"
#include "analysis/stacks/stack_tree.h"
#include "output/tables/export_tables.h"
#include "output/text/text.h"

#define MS 1000000ull
#define S 1000000000ull
#define HIGH (1ull << 63)
#define NAME "a.flt"

enum { FRAME_MAIN = 1, FRAME_ITEM, FRAME_TORCH };

static const char *const names[] = { NAME };

static void begin(struct made_trace *made)
{
	BEGIN(made, .stacks = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "train", .command = "train", .rank = 3);
	made_frame(made, 1, FRAME_MAIN, "/job/train.py", 9, "<module>");
	made_frame(made, 1, FRAME_ITEM, "/job/loader.py", 42, "Data.get");
	made_frame(made, 1, FRAME_TORCH, "/usr/lib/python3/dist-packages/torch/utils.py", 7,
		   "load");
}

static void add_sample(struct made_trace *made, uint64_t weight_ns, uint64_t stack)
{
	SAMPLE(made, .time = 100, .dur = weight_ns, .pid = 10, .op = M_READ, .stack = stack);
}

static struct report *report_within(struct made_trace *made, uint64_t memory_bytes)
{
	const struct report_options options = { .memory_bytes = memory_bytes };

	return report_with(made, &options);
}

/* Writes an export to an open sink. */
static void export_to(struct sink *out, const struct export_format *format, struct made_trace *made)
{
	const struct export_options options = { .filter = NULL };
	const struct relation_options tables = { .only = NULL };
	struct trace_error error = { "" };
	int status = format->stream ? format->stream(format, out, &made->reader, names, 1, &options,
						     &error)
				    : export_tables_one(format->tables, out, &made->reader, names,
							1, &tables, &error);

	if (status)
		fail_msg("%s: %s", format->name, error.text);
}

/* Returns the sum of the numbers at the ends of folded stacks. */
static uint64_t sum_folded(const struct sink *out)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < out->used; i++)
		if (out->buffer[i] == '\n') {
			const char *number = memrchr(out->buffer, ' ', i);

			assert_non_null(number);
			sum_ns = number_add(sum_ns, strtoull(number, NULL, 10));
		} else {
			assert_true((unsigned char)out->buffer[i] >= ' ');
		}
	return sum_ns;
}

static bool has_text(const struct sink *out, const char *text)
{
	return memmem(out->buffer, out->used, text, strlen(text));
}

/* Ends the trace, writes all exports and the report as text, and checks that all of the samples'
 * time is in both tables and in folded stacks. Returns the report; `folded` is to be closed. */
static struct report *check(struct made_trace *made, uint64_t time_ns, struct sink *folded)
{
	static const struct export_format *const formats[] = { EXPORT_ADDRESSES };
	static const char *const tables[] = { "lines", "functions" };
	const struct style style = { .width = 100 };
	const struct grid_options grid = { .style = &style };
	struct report *report;
	struct sink out;

	made_finish(made, 0, 10 * S);
	report = report_within(made, 0);
	sink_open_memory(&out);
	assert_int_equal(text_report(&out, report, &grid), 0);
	sink_close(&out);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!formats[i]->file) {
			sink_open_memory(&out);
			export_to(&out, formats[i], made);
			sink_close(&out);
		}
	sink_open_memory(folded);
	export_to(folded, &export_collapsed, made);
	assert_int_equal(sum_folded(folded), time_ns);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		uint64_t sum_ns = 0;

		for (size_t row = 0; row < report_table(report, tables[i])->row_count; row++) {
			const struct cell *cell = ask(report, tables[i], row, "time_ns");

			sum_ns = number_add(sum_ns,
					    cell->type == CELL_NULL ? UINT64_MAX : cell->uint);
		}
		assert_int_equal(sum_ns, time_ns);
	}
	return report;
}

static void end(struct made_trace *made, struct report *report, struct sink *folded)
{
	sink_close(folded);
	done(made, report);
}

/* --- stacks --- */

/* Callers that do not exist, are the stack itself, form a loop, or come later. */
TEST(test_callers)
{
	struct made_trace made;
	struct report *report;
	struct sink folded;

	begin(&made);
	made_stack(&made, 1, 20, 99, FRAME_TORCH);
	made_stack(&made, 1, 21, 21, FRAME_TORCH);
	made_stack(&made, 1, 22, 23, FRAME_TORCH);
	made_stack(&made, 1, 23, 22, FRAME_ITEM);
	made_stack(&made, 1, 24, 25, FRAME_TORCH);
	made_stack(&made, 1, 25, 0, FRAME_MAIN);
	made_stack(&made, 1, 25, 24, FRAME_ITEM); /* a second row of the id counts for nothing */
	for (uint64_t i = 0; i < 5; i++)
		add_sample(&made, MS << i, 20 + i);
	EXIT(&made, .time = S, .pid = 10, .code = 9, .comm = "train", .stack = 21);
	report = check(&made, 31 * MS, &folded);
	check_text(report, "processes", 0, "ended_at", "utils.py:7 in load");
	/* Without the application, the library's line is all there is. */
	CHECK(report, "lines", find_row(report, "lines", "location", "utils.py:7 in load"),
	      "time_ns", 3 * MS);
	CHECK(report, "functions", find_row(report, "functions", "function", "Data.get"), "time_ns",
	      12 * MS);
	CHECK(report, "lines", find_row(report, "lines", "file", "/job/train.py"), "time_ns",
	      16 * MS);
	assert_true(has_text(&folded, "train main;(cut);load (/usr/lib/python3/dist-packages/"
				      "torch/utils.py:7);[io] 1000000\n"));
	assert_true(has_text(&folded, "train main;<module> (/job/train.py:9);load (/usr/lib/"
				      "python3/dist-packages/torch/utils.py:7);[io] 16000000\n"));
	end(&made, report, &folded);
}

/* Any number is an id, except 0. */
TEST(test_ids)
{
	static const uint64_t ids[] = { HIGH, HIGH - 1, UINT64_MAX };
	struct made_trace made;
	struct report *report;
	struct sink folded;

	begin(&made);
	made_frame(&made, 1, 0, "/job/none.py", 1, "none");
	made_stack(&made, 1, 0, 0, FRAME_MAIN);
	made_stack(&made, 1, 30, 0, 0);
	made_stack(&made, 1, 31, 0, HIGH + 1); /* no such frame */
	for (size_t i = 0; i < 3; i++) {
		made_frame(&made, 1, ids[i], "/job/high.py", 1000 + i, "high");
		made_stack(&made, 1, ids[i], 0, ids[i]);
		add_sample(&made, MS, ids[i]);
	}
	add_sample(&made, 2 * MS, 0);
	add_sample(&made, 4 * MS, 30);
	add_sample(&made, 8 * MS, 31);
	report = check(&made, 17 * MS, &folded);
	for (size_t i = 0; i < 3; i++) {
		char location[64];

		snprintf(location, sizeof(location), "high.py:%zu in high", 1000 + i);
		CHECK(report, "lines", find_row(report, "lines", "location", location), "time_ns",
		      MS);
	}
	CHECK(report, "lines", find_row(report, "lines", "reason", "stack lost"), "time_ns",
	      2 * MS);
	CHECK(report, "lines", find_row(report, "lines", "location", "? in ?"), "time_ns", 12 * MS);
	assert_int_equal(row_with(report, "lines", "file", "/job/none.py"), -1);
	end(&made, report, &folded);
}

/* Texts that are empty, or longer than the recorder's, or full of separators. */
TEST(test_texts)
{
	static char longest[65536];
	struct made_trace made;
	struct report *report;
	const struct cell *cell;
	struct sink folded;

	begin(&made);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	made_frame(&made, 1, 10, "", 5, "");
	made_frame(&made, 1, 11, longest, 6, longest);
	longest[sizeof(longest) - 2] = 'y'; /* after the cut */
	made_frame(&made, 1, 12, longest, 6, longest);
	made_frame(&made, 1, 13, "/a;b\n.py", 7, ";\x1b[2J\xff");
	made_frame(&made, 1, 14, "/lib/python3.", UINT64_MAX, "/");
	for (uint64_t i = 10; i < 15; i++) {
		made_stack(&made, 1, i, 0, i);
		add_sample(&made, MS, i);
	}
	report = check(&made, 5 * MS, &folded);
	CHECK(report, "lines", find_row(report, "lines", "location", "?:5 in ?"), "time_ns", MS);
	cell = ask(report, "lines", 0, "file");
	CHECK(report, "lines", 0, "time_ns", 2 * MS);
	assert_int_equal(cell->length, STACK_TEXT_MAX);
	assert_true(ask(report, "lines", 0, "location")->length < LOCATION_BYTES);
	assert_true(has_text(&folded, "\\x3b\\x1b[2J\\xff (/a\\x3bb\\x0a.py:7);[io]"));
	end(&made, report, &folded);
}

/* --- samples --- */

static void add_weight(struct made_trace *made, uint64_t dur_ns, uint64_t weight_ns,
		       uint64_t fetched_bytes, const char *state)
{
	const uint64_t values[SAMPLE_COLUMNS] = {
		[SAMPLE_TIME] = 100,
		[SAMPLE_DUR] = dur_ns,
		[SAMPLE_PID] = 10,
		[SAMPLE_TID] = 10,
		[SAMPLE_WEIGHT] = weight_ns,
		[SAMPLE_OP] = made_op(made, M_READ),
		[SAMPLE_FETCHED] = fetched_bytes,
		[SAMPLE_STACK] = 20,
		[SAMPLE_STATE] = made_string(made, state),
	};

	made_row(made, TRACE_SAMPLE, 0, values);
}

TEST(test_weights)
{
	struct made_trace made;
	struct report *report;
	struct sink folded;
	size_t row;

	begin(&made);
	made_stack(&made, 1, 20, 0, FRAME_MAIN);
	add_weight(&made, 5, 0, 7, "lock"); /* stands for nothing */
	add_weight(&made, 0, 0, 7, "cpu");
	report = check(&made, 0, &folded);
	row = find_row(report, "lines", "state", "lock");
	CHECK(report, "lines", row, "count", 0);
	CHECK(report, "lines", row, "uncertainty_ns", 0);
	check_null(report, "lines", row, "share");
	end(&made, report, &folded);

	begin(&made);
	made_stack(&made, 1, 20, 0, FRAME_MAIN);
	add_weight(&made, 1, UINT64_MAX, UINT64_MAX, "io");
	add_weight(&made, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, "io");
	add_weight(&made, 0, HIGH, 0, "un\nknown");
	add_weight(&made, 7, MS, 0, NULL);
	report = check(&made, UINT64_MAX, &folded);
	row = find_row(report, "lines", "state", "io");
	check_null(report, "lines", row, "time_ns"); /* too large */
	CHECK(report, "lines", row, "samples", 2);
	CHECK(report, "lines", row, "count", INT64_MAX);
	CHECK(report, "lines", row, "fetched_bytes", INT64_MAX);
	CHECK(report, "lines", row, "uncertainty_ns", INT64_MAX);
	assert_true(ask(report, "lines", row, "share")->real == 1);
	CHECK(report, "lines", find_row(report, "lines", "state", "other"), "time_ns", HIGH + MS);
	end(&made, report, &folded);
}

/* --- bounds --- */

#define MANY 1500 /* more than a report of a MiB keeps */

/* A chain of stacks, each the caller of the next. */
static void add_chain(struct made_trace *made)
{
	for (uint64_t i = 1; i <= MANY; i++) {
		made_frame(made, 1, 100 + i, "/job/deep.py", i, "f");
		made_stack(made, 1, 100 + i, i > 1 ? 99 + i : 0, 100 + i);
		add_sample(made, MS, 100 + i);
	}
}

/* Stacks beyond the memory limit are unknown, which the tables say. */
TEST(test_memory_limit)
{
	struct made_trace made;
	struct report *report;
	uint64_t sum_ns = 0;

	begin(&made);
	add_chain(&made);
	made_finish(&made, 0, 10 * S);
	report = report_within(&made, 1 << 20);
	for (size_t i = 0; i < report_table(report, "lines")->row_count; i++)
		sum_ns += ask(report, "lines", i, "time_ns")->uint;
	assert_int_equal(sum_ns, MANY * MS);
	/* The limit is for stacks as for frames, of which three have none. */
	CHECK(report, "lines", find_row(report, "lines", "reason", "too many stacks"), "time_ns",
	      (MANY - ((1 << 20) / 8 / 128 + 1)) * MS);
	assert_string_equal(report_table(report, "lines")->note,
			    "some stacks exceed the memory limit: their lines are unknown");
	assert_string_equal(report_table(report, "functions")->note,
			    report_table(report, "lines")->note);
	done(&made, report);
}

/* Each stack deeper than the recorder's is a chain of its own, without outer frames: the tree stops
 * growing, and knows the others no more. */
TEST(test_tree_limit)
{
	struct stack_tree tree;
	struct made_trace made;
	struct report *report;
	struct trace_error error;
	struct sink folded;
	size_t found = 0;
	struct job job;

	begin(&made);
	add_chain(&made);
	report = check(&made, MANY * MS, &folded);
	assert_true(has_text(&folded, "train main;(no stack);[io]"));
	assert_int_equal(job_load(&job, &made.reader, names, 1, &error), 0);
	stack_tree_init(&tree, &job.stacks);
	for (uint64_t i = 1; i <= MANY; i++) {
		uint32_t frames[STACK_DEPTH_MAX], stack = stack_tree_find(&tree, 0, 100 + i);
		const size_t depth = stack_tree_chain(&tree, stack, frames);

		assert_true(stack == STACK_NONE || depth == (i < STACK_DEPTH_MAX ? i : 128));
		assert_true(stack != STACK_NONE || i > STACK_DEPTH_MAX);
		assert_int_equal(stack_tree_find(&tree, 0, 100 + i), stack);
		found += stack != STACK_NONE;
	}
	assert_true(found > STACK_DEPTH_MAX && found < MANY);
	assert_true(tree.stack_count <= 2 * MANY + STACK_DEPTH_MAX + 2);
	assert_int_equal(arena_status(&tree.arena), 0);
	stack_tree_free(&tree);
	job_free(&job);
	end(&made, report, &folded);
}

static void write_table(struct sink *out, const struct report *report, const char *name)
{
	const struct style style = { .width = 200 };
	const struct grid_options grid = { .style = &style, .whole = true };

	text_table(out, report_table(report, name), &grid);
}

/* Rows that are summed up over states have no share. */
TEST(test_folded_share)
{
	struct made_trace made;
	struct report *report;
	const struct table *lines;
	const char *row;
	struct sink out;

	begin(&made);
	for (uint64_t i = 1; i <= 1000; i++) {
		made_frame(&made, 1, 100 + i, "/job/deep.py", i, "f");
		made_stack(&made, 1, 100 + i, 0, 100 + i);
		SAMPLE(&made, .time = 100, .dur = MS, .pid = 10, .op = M_READ, .stack = 100 + i,
		       .state = i % 2 ? "lock" : NULL);
	}
	made_finish(&made, 0, 10 * S);
	report = report_within(&made, 1 << 20);
	lines = report_table(report, "lines");
	assert_true(lines->folded > 1);
	check_null(report, "lines", lines->row_count - 1, "share");
	check_null(report, "lines", lines->row_count - 1, "state");
	sink_open_memory(&out);
	write_table(&out, report, "lines");
	sink_char(&out, '\0');
	row = strstr(out.buffer, "other (");
	assert_non_null(row);
	row = strstr(row, " ms ") ?: strstr(row, " s ");
	assert_non_null(row);
	assert_int_equal(row[strcspn(row + 3, "-0123456789") + 3], '-');
	sink_close(&out);
	done(&made, report);
}

/* Text shows the table only if it has a line of Python, or may have. */
TEST(test_shown)
{
	static const struct {
		bool sample;
		uint64_t flags, stack;
		bool shown;
	} cases[] = {
		{ .sample = false },
		{ .sample = true, .flags = TRACE_SAMPLE_NO_PYTHON },
		{ .sample = true, .flags = TRACE_SAMPLE_LOST, .shown = true },
		{ .sample = true, .stack = 20, .shown = true },
	};
	const struct style style = { .width = 100 };
	const struct grid_options grid = { .style = &style };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;
		struct sink out;

		begin(&made);
		made_stack(&made, 1, 20, 0, FRAME_MAIN);
		if (cases[i].sample)
			SAMPLE(&made, .time = 100, .dur = MS, .pid = 10, .op = M_READ,
			       .stack = cases[i].stack, .flags = cases[i].flags);
		report = report_of(&made, 10 * S);
		sink_open_memory(&out);
		assert_int_equal(text_report(&out, report, &grid), 0);
		assert_int_equal(has_text(&out, "\nLines\n"), cases[i].shown);
		assert_false(has_text(&out, "unavailable: lines"));
		sink_close(&out);
		done(&made, report);
	}
}
