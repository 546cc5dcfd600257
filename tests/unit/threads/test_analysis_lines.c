// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Lines and functions from samples: which frame is named, sums and their uncertainty, filters,
 * several traces, and hostile traces.
 */
#include "unit_test.h"

#include <errno.h>
#include <inttypes.h>

#include "analysis/report/report.h"
#include "lines_made.h"

static struct report *report_filtered(struct made_trace *made, const struct filter *filter)
{
	made_finish(made, 0, 10 * S);
	return report_with(made, &(struct report_options) { .filter = filter });
}

static void check_filtered_out(struct made_trace *made, const struct filter *filter,
			       const char *words)
{
	made_finish(made, 0, 10 * S);
	check_refused(made->reader, &(struct report_options) { .filter = filter }, -ENODATA, words);
	made_close(made);
}

TEST(test_sums)
{
	struct made_trace made;
	struct report *report;
	const char *kinds[] = { "main", "helper" };

	begin(&made);
	/* One long read, and two samples of short ones: 4 us, and 10 us with 8 KiB. */
	SAMPLE(&made, .time = 100, .dur = 5 * MS, .pid = 10, .op = M_READ, .file = 1,
	       .fetched = 4096, .stack = STACK_ITEM);
	SAMPLE(&made, .time = 200, .dur = 4000, .weight = MS, .pid = 10, .op = M_READ, .file = 1,
	       .stack = STACK_ITEM);
	SAMPLE(&made, .time = 300, .dur = 10000, .weight = MS, .pid = 10, .op = M_READ, .file = 1,
	       .fetched = 8192, .stack = STACK_ITEM);
	SAMPLE(&made, .time = 400, .dur = MS, .pid = 10, .tid = 12, .op = M_READ, .file = 1,
	       .stack = STACK_ITEM);
	SAMPLE(&made, .time = 500, .dur = 2 * MS, .pid = 10, .state = "lock", .stack = STACK_ITEM);
	report = report_of(&made, 10 * S);
	assert_int_equal(report_table(report, "lines")->row_count, 3);
	CHECK(report, "lines", 0, "time_ns", 7 * MS);
	CHECK(report, "lines", 0, "estimated_ns", 2 * MS);
	CHECK(report, "lines", 0, "estimated_samples", 2);
	CHECK(report, "lines", 0, "uncertainty_ns", 1414214);
	CHECK(report, "lines", 0, "samples", 3);
	CHECK(report, "lines", 0, "count", 1 + 250 + 100);
	CHECK(report, "lines", 0, "fetched_bytes", 4096 + 100 * 8192);
	CHECK(report, "lines", 0, "line", 42);
	CHECK(report, "lines", 0, "rank", 3);
	check_text(report, "lines", 0, "file", LOADER);
	check_text(report, "lines", 0, "function", "TokenDataset.__getitem__");
	check_text(report, "lines", 0, "location", "loader.py:42 in TokenDataset.__getitem__");
	check_text(report, "lines", 0, "state", "io");
	check_null(report, "lines", 0, "library");
	check_null(report, "lines", 0, "reason");
	assert_true(ask(report, "lines", 0, "share")->real == 7.0 / 8);
	check_text(report, "lines", 1, "state", "lock");
	CHECK(report, "lines", 1, "uncertainty_ns", 0);
	CHECK(report, "lines", 1, "count", 1);
	check_null(report, "lines", 1, "fetched_bytes");
	assert_true(ask(report, "lines", 1, "share")->real == 1);
	for (size_t i = 0; i < 2; i++)
		check_text(report, "lines", i ? 2 : 0, "kind", kinds[i]);
	/* Functions are the same over threads. */
	assert_int_equal(report_table(report, "functions")->row_count, 2);
	CHECK(report, "functions", 0, "time_ns", 8 * MS);
	check_text(report, "functions", 0, "location", "TokenDataset.__getitem__ in loader.py");
	done(&made, report);
}

/* The application's innermost frame is named, and the library that it called. */
TEST(test_owners)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	begin(&made);
	for (uint64_t stack = STACK_MAIN; stack <= STACK_TEXT; stack++)
		SAMPLE(&made, .time = 100 * stack, .dur = stack * MS, .pid = 10, .op = M_READ,
		       .stack = stack);
	report = report_of(&made, 10 * S);
	assert_int_equal(report_table(report, "lines")->row_count, 5);
	check_text(report, "lines", 0, "file", "<string>");
	check_null(report, "lines", 0, "library");
	/* There is nothing else. */
	check_text(report, "lines", 1, "file", "<frozen importlib._bootstrap>");
	check_text(report, "lines", 2, "file", LOADER);
	check_text(report, "lines", 2, "library", "torch/utils.py:7");
	check_text(report, "lines", 3, "file", LOADER);
	check_null(report, "lines", 3, "library");
	row = find_row(report, "lines", "file", "/job/train.py");
	CHECK(report, "lines", row, "line", 9);
	done(&made, report);
}

/* A hook of this project calls the application's functions, and is called by them. */
TEST(test_hooks)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	made_frame(&made, 1, 20, "/opt/faultline/python/faultline/_hooks.py", 123, "wrapper");
	made_stack(&made, 1, 20, STACK_ITEM, 20);
	made_frame(&made, 1, 21, "/home/u/python/hook/train.py", 7, "main"); /* not ours */
	made_stack(&made, 1, 21, STACK_ITEM, 21);
	SAMPLE(&made, .time = 100, .dur = 2 * MS, .pid = 10, .op = M_READ, .stack = 20);
	SAMPLE(&made, .time = 5 * MS, .dur = MS, .pid = 10, .op = M_READ, .stack = 21);
	report = report_of(&made, 10 * S);
	check_text(report, "lines", 0, "file", LOADER);
	check_text(report, "lines", 0, "library", "faultline/_hooks.py:123");
	CHECK(report, "lines", 1, "line", 7);
	done(&made, report);
}

/* A function of Python whose line is unknown is no compiled code: its time is not its caller's. */
TEST(test_line_unknown)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	made_frame(&made, 1, 20, "/job/tables.py", 0, "fill");
	made_stack(&made, 1, 20, STACK_MAIN, 20);
	made_stack(&made, 1, 21, 20, 3);
	made_frame(&made, 1, 22, "/usr/lib/python3/dist-packages/sympy/tables.py", 0, "fill");
	made_stack(&made, 1, 22, STACK_ITEM, 22);
	SAMPLE(&made, .time = 100, .dur = 3 * MS, .pid = 10, .op = M_READ, .stack = 20);
	SAMPLE(&made, .time = 4 * MS, .dur = 2 * MS, .pid = 10, .op = M_READ, .stack = 21);
	SAMPLE(&made, .time = 7 * MS, .dur = MS, .pid = 10, .op = M_READ, .stack = 22);
	report = report_of(&made, 10 * S);
	assert_int_equal(report_table(report, "lines")->row_count, 3);
	for (size_t row = 0; row < 2; row++) {
		check_text(report, "lines", row, "file", "/job/tables.py");
		check_null(report, "lines", row, "line");
		check_text(report, "lines", row, "location", "fill in tables.py");
	}
	check_text(report, "lines", 1, "library", "torch/utils.py:7");
	check_text(report, "lines", 2, "file", LOADER);
	done(&made, report);
}

/* If the outer frames are missing, and with them the application's, a library's line is not taken
 * for the application's. */
TEST(test_cut)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	begin(&made);
	made_stack(&made, 1, 50, 0, 3);
	SAMPLE(&made, .time = 100, .dur = 4 * MS, .pid = 10, .op = M_READ, .stack = 50,
	       .flags = TRACE_SAMPLE_CUT);
	SAMPLE(&made, .time = 200, .dur = 3 * MS, .pid = 10, .op = M_READ, .stack = 50);
	SAMPLE(&made, .time = 300, .dur = 2 * MS, .pid = 10, .op = M_READ, .stack = STACK_LIBRARY,
	       .flags = TRACE_SAMPLE_CUT);
	SAMPLE(&made, .time = 400, .dur = MS, .pid = 10, .op = M_READ, .stack = STACK_TEXT,
	       .flags = TRACE_SAMPLE_CUT);
	report = report_of(&made, 10 * S);
	assert_int_equal(report_table(report, "lines")->row_count, 4);
	check_text(report, "lines", 0, "location", "(outer frames not recorded)");
	check_text(report, "lines", 0, "reason", "outer frames not recorded");
	check_text(report, "lines", 0, "library", "torch/utils.py:7");
	check_null(report, "lines", 0, "file");
	check_null(report, "lines", 0, "line");
	check_text(report, "lines", 1, "file", TORCH);
	check_null(report, "lines", 1, "library");
	check_text(report, "lines", 2, "file", LOADER);
	check_text(report, "lines", 3, "file", "<string>");
	row = find_row(report, "functions", "reason", "outer frames not recorded");
	CHECK(report, "functions", row, "time_ns", 4 * MS);
	done(&made, report);
}

/* Files of the same name show as many directories as it takes to distinguish them. */
TEST(test_same_names)
{
	static const struct {
		const char *path, *shown;
	} files[] = {
		{ "/job/pa/model.py", "job/pa/model.py" },
		{ "/other/pa/model.py", "other/pa/model.py" },
		{ "/job/pb/model.py", "pb/model.py" },
		{ "/model.py", "/model.py" },
		{ "model.py", "model.py" },
		{ "/job/pa/a-model.py", "a-model.py" },
		{ "/job/1a/m.py", "1a/m.py" },
		{ "/job/a/m.py", "a/m.py" },
		{ "/job/a/m.py", "a/m.py" },
		{ "/job/xa/-m.py", "-m.py" },
		{ "", "?" },
	};
	struct made_trace made;
	struct report *report;

	begin(&made);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		made_frame(&made, 1, 100 + i, files[i].path, 1 + i, "f");
		made_stack(&made, 1, 100 + i, 0, 100 + i);
		SAMPLE(&made, .time = 100 + i, .dur = (99 - i) * MS, .pid = 10, .op = M_READ,
		       .stack = 100 + i);
	}
	report = report_of(&made, 10 * S);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char location[64];

		snprintf(location, sizeof(location), "%s:%zu in f", files[i].shown, 1 + i);
		check_text(report, "lines", i, "location", location);
		snprintf(location, sizeof(location), "f in %s", files[i].shown);
		find_row(report, "functions", "location", location);
	}
	done(&made, report);
}

/* Compiled code: the innermost function outside of system libraries is named, unless there is a
 * line of Python. Functions of the C library are never named. */
TEST(test_native_owners)
{
	static const struct {
		const char *path, *function;
	} frames[] = { { "/usr/lib/libc.so.6", "pread" },  { "/usr/lib/libhdf5.so.1", "H5Dread" },
		       { "/job/solver", "load_mesh" },	   { "/lib/libc.so.6", "start_thread" },
		       { "/job/libfast.so", "fast_read" }, { "[jit]", "compiled" } };
	/* From the outermost on: numbers of frames; 7: the line of Python. */
	static const struct {
		unsigned int frames[4];
		const char *location, *library;
	} stacks[] = {
		{ { 4, 3, 2, 1 }, "load_mesh in solver", "H5Dread in libhdf5.so.1" },
		{ { 4, 3, 1 }, "load_mesh in solver", NULL },
		{ { 4, 2, 1 }, "H5Dread in libhdf5.so.1", NULL },
		{ { 4, 1 }, "pread in libc.so.6", NULL },
		{ { 7, 1 }, "loader.py:42 in TokenDataset.__getitem__", NULL },
		{ { 7, 2, 1 },
		  "loader.py:42 in TokenDataset.__getitem__",
		  "H5Dread in libhdf5.so.1" },
		{ { 7, 5, 1 },
		  "loader.py:42 in TokenDataset.__getitem__",
		  "fast_read in libfast.so" },
		{ { 3, 6, 1 }, "compiled in [jit]", NULL },
	};
	enum { STACKS = sizeof(stacks) / sizeof(stacks[0]) };
	struct made_trace made;
	struct report *report;
	uint64_t id = 100;

	begin(&made);
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		made_frame(&made, 1, 11 + i, frames[i].path, 0, frames[i].function);
	made_frame(&made, 1, 17, LOADER, 42, "TokenDataset.__getitem__");
	for (size_t i = 0; i < STACKS; i++) {
		uint64_t caller = 0;

		for (size_t n = 0; n < 4 && stacks[i].frames[n]; n++, caller = id++)
			made_stack(&made, 1, id, caller, 10 + stacks[i].frames[n]);
		SAMPLE(&made, .time = 100 + i, .dur = (STACKS - i) * MS, .pid = 10, .op = M_READ,
		       .stack = caller);
	}
	report = report_of(&made, 10 * S);
	assert_int_equal(report_table(report, "lines")->row_count, STACKS);
	for (size_t i = 0; i < STACKS; i++) {
		check_text(report, "lines", i, "location", stacks[i].location);
		if (stacks[i].library)
			check_text(report, "lines", i, "library", stacks[i].library);
		else
			check_null(report, "lines", i, "library");
	}
	check_null(report, "lines", 0, "line");
	done(&made, report);
}

/* Every sample is in some row. */
TEST(test_unknown)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	begin(&made);
	made_stack(&made, 1, 50, 50, 2); /* its own caller */
	made_stack(&made, 1, 51, 52, 3); /* a loop without the application */
	made_stack(&made, 1, 52, 51, 3);
	made_stack(&made, 1, 53, 99, 99); /* no such caller, nor such a frame */
	SAMPLE(&made, .time = 100, .dur = 1 * MS, .pid = 10, .op = M_READ, .stack = 50);
	SAMPLE(&made, .time = 200, .dur = 2 * MS, .pid = 10, .op = M_READ, .stack = 51);
	SAMPLE(&made, .time = 300, .dur = 3 * MS, .pid = 10, .op = M_READ, .stack = 53);
	SAMPLE(&made, .time = 400, .dur = 4 * MS, .pid = 10, .op = M_READ, .stack = 77);
	SAMPLE(&made, .time = 500, .dur = 5 * MS, .pid = 10, .op = M_READ,
	       .flags = TRACE_SAMPLE_NO_PYTHON);
	SAMPLE(&made, .time = 600, .dur = 6 * MS, .pid = 10, .op = M_READ,
	       .flags = TRACE_SAMPLE_LOST);
	SAMPLE(&made, .time = 700, .dur = 0, .weight = MS, .pid = 10, .state = "whatever",
	       .stack = STACK_MAIN);
	report = report_of(&made, 10 * S);
	row = find_row(report, "lines", "file", LOADER);
	CHECK(report, "lines", row, "time_ns", 1 * MS);
	row = find_row(report, "lines", "file", TORCH);
	CHECK(report, "lines", row, "time_ns", 2 * MS);
	row = find_row(report, "lines", "location", "? in ?");
	CHECK(report, "lines", row, "time_ns", 3 * MS);
	row = find_row(report, "lines", "reason", "stack lost");
	CHECK(report, "lines", row, "time_ns", 10 * MS);
	check_null(report, "lines", row, "file");
	row = find_row(report, "lines", "reason", "not Python, or not yet known to be");
	CHECK(report, "lines", row, "time_ns", 5 * MS);
	row = find_row(report, "lines", "state", "other");
	CHECK(report, "lines", row, "time_ns", 1 * MS);
	CHECK(report, "lines", row, "count", 1);
	done(&made, report);
}

/* Ids are those of one trace; lines are the same in all. */
TEST(test_traces)
{
	struct made_trace made[2];
	struct trace_reader *readers[2];
	struct report *report;

	for (int i = 0; i < 2; i++) {
		BEGIN(&made[i], .stacks = true);
		EXEC(&made[i], .time = 10, .pid = 10, .comm = "train", .command = "train");
		add_stacks(&made[i], i * 3);
		SAMPLE(&made[i], .time = 100, .dur = MS, .pid = 10, .op = M_READ,
		       .stack = STACK_LIBRARY);
		readers[i] = made_finish(&made[i], 0, 10 * S);
	}
	report = made_report(readers, 2);
	/* The second trace lacks STACK_LIBRARY: its ids are other numbers. */
	assert_int_equal(report_table(report, "lines")->row_count, 2);
	CHECK(report, "lines", find_row(report, "lines", "file", LOADER), "time_ns", MS);
	CHECK(report, "lines", find_row(report, "lines", "reason", "stack lost"), "time_ns", MS);
	report_free(report);
	made_close(&made[0]);
	made_close(&made[1]);
}

static void add_filtered(struct made_trace *made)
{
	begin(made);
	SAMPLE(made, .time = 1 * S, .dur = 8 * MS, .pid = 10, .op = M_READ, .file = 1,
	       .stack = STACK_LIBRARY);
	SAMPLE(made, .time = 2 * S, .dur = 4 * MS, .pid = 10, .op = M_WRITE, .file = 2,
	       .stack = STACK_ITEM);
	SAMPLE(made, .time = 3 * S, .dur = 2 * MS, .pid = 10, .state = "lock", .stack = STACK_MAIN);
	SAMPLE(made, .time = 4 * S, .dur = MS, .pid = 10, .op = M_READ, .stack = STACK_TEXT);
	CALL(made, .time = 5 * S, .dur = 8 * MS, .pid = 10, .op = M_READ, .file = 1);
	SAMPLE(made, .time = 6 * S, .dur = 20 * MS, .pid = 10, .state = "cpu", .stack = STACK_TEXT);
}

static void check_filter(const struct filter *filter, uint64_t time_ns)
{
	struct made_trace made;
	struct report *report;
	uint64_t sum_ns = 0;

	add_filtered(&made);
	report = report_filtered(&made, filter);
	for (size_t i = 0; i < report_table(report, "lines")->row_count; i++)
		sum_ns += ask(report, "lines", i, "time_ns")->uint;
	assert_int_equal(sum_ns, time_ns);
	done(&made, report);
}

#define FILTERED(time_ns, ...)                                                                     \
	({                                                                                         \
		struct filter filter_ = FILTER_ALL;                                                \
		struct filter *f = &filter_;                                                       \
		__VA_ARGS__;                                                                       \
		check_filter(f, time_ns);                                                          \
	})

TEST(test_filters)
{
	FILTERED(8 * MS, f->file = "*/a.bin");
	FILTERED(9 * MS, f->op = "read");
	FILTERED(12 * MS, f->min_duration_ns = 4 * MS); /* time on a CPU has none */
	FILTERED(20 * MS, f->from_ns = 5 * S + S / 2);
	FILTERED(35 * MS, f->pid = 10);
	/* A part of an operation is in the range. */
	FILTERED(2 * MS, f->from_ns = 2 * S + 2 * MS, f->until_ns = 2 * S + 500 * MS);
	/* By any line of the stack, with all, some or no directories. */
	FILTERED(14 * MS, f->line = "train.py:9");
	FILTERED(12 * MS, f->line = "loader.py:*");
	FILTERED(8 * MS, f->line = TORCH ":7");
	FILTERED(8 * MS, f->line = "torch/utils.py:7");
	FILTERED(12 * MS, f->function = "TokenDataset.*");
	FILTERED(35 * MS, f->function = "*");
	FILTERED(4 * MS, f->line = "loader.py:42", f->op = "write");
}

/* A frame without names matches only what anything does. */
TEST(test_nameless)
{
	static const struct {
		const char *line, *function;
		bool matches;
	} cases[] = { { "*", "*", true }, { ":0", "", true }, { "*", "?*", false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter filter = FILTER_ALL;
		struct made_trace made;

		begin(&made);
		made_frame(&made, 1, 90, NULL, 0, NULL);
		made_stack(&made, 1, 90, 0, 90);
		SAMPLE(&made, .time = S, .dur = MS, .pid = 10, .op = M_READ, .stack = 90);
		filter.line = cases[i].line;
		filter.function = cases[i].function;
		if (cases[i].matches)
			done(&made, report_filtered(&made, &filter));
		else
			check_filtered_out(&made, &filter, "no events match");
	}
}

/* The file and the function are of one frame. */
TEST(test_filter_nothing)
{
	struct filter filter = FILTER_ALL;
	struct made_trace made;

	add_filtered(&made);
	filter.line = "train.py:*";
	filter.function = "load";
	check_filtered_out(&made, &filter, "no events match");
}

TEST(test_absent)
{
	struct filter filter = FILTER_ALL;
	struct made_trace made;
	struct report *report;

	add_filtered(&made);
	filter.method = "syscall";
	report = report_filtered(&made, &filter);
	assert_true(report_table(report, "lines")->absent);
	assert_true(report_table(report, "functions")->absent);
	done(&made, report);
	BEGIN(&made);
	report = report_of(&made, S);
	assert_string_equal(report_table(report, "lines")->note, "requires layer stack");
	done(&made, report);
}

TEST(test_filter_absent)
{
	struct filter filter = FILTER_ALL;
	struct made_trace made;

	BEGIN(&made);
	CALL(&made, .time = 50, .dur = 10, .pid = 10, .op = M_READ, .result = 5);
	filter.function = "*";
	check_filtered_out(&made, &filter, "require the layer stack");
}

/* Beyond the memory limit, rows are summed up in the last one. */
TEST(test_bound)
{
	const struct report_options options = { .memory_bytes = 1 << 20 };
	struct made_trace made;
	struct report *report;
	uint64_t sum_ns = 0;
	const struct table *lines;

	begin(&made);
	for (uint64_t i = 0; i < 1000; i++) {
		made_frame(&made, 2, 100 + i, LOADER, 100 + i, "f");
		made_stack(&made, 2, 100 + i, 0, 100 + i);
		SAMPLE(&made, .time = 100 + i, .dur = MS + i, .pid = 10, .op = M_READ,
		       .stack = 100 + i);
	}
	made_finish(&made, 0, 10 * S);
	report = report_with(&made, &options);
	lines = report_table(report, "lines");
	assert_true(lines->folded > 1);
	assert_true(lines->row_count + lines->folded == 1001);
	for (size_t i = 0; i < lines->row_count; i++)
		sum_ns += ask(report, "lines", i, "time_ns")->uint;
	assert_int_equal(sum_ns, 1000 * MS + 999 * 1000 / 2);
	done(&made, report);
}
