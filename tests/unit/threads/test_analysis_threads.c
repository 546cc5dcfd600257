// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Times of threads by state: per thread, by kind of thread, cut by a filter, and absent. */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/report.h"
#include "ask_report.h"

#define S 1000000000ull

/* A trainer with a helper thread, a forked worker, and a program that it waits for. */
static void begin(struct made_trace *made)
{
	BEGIN(made, .threads = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "train", .command = "train", .rank = 3);
	made_fork(made, 20, 10, 11);
	made_fork(made, 30, 10, 20);
	EXEC(made, .time = 40, .pid = 20, .comm = "sh", .command = "sh");
	THREAD_TIME(made, .time = 10, .dur = 2 * S, .pid = 10,
		    .states = { [THREAD_CPU] = S, [THREAD_PIPE] = S }, .user = 30, .system = 10);
	THREAD_TIME(made, .time = 10 + 2 * S, .dur = S, .pid = 10,
		    .states = { [THREAD_CHILD] = S });
	THREAD_TIME(made, .time = 10 + S, .dur = S, .pid = 10, .tid = 12,
		    .states = { [THREAD_LOCK] = S - 5, [THREAD_RUNNABLE] = 5 });
	THREAD_TIME(made, .time = 20, .dur = 3 * S, .pid = 11,
		    .states = { [THREAD_STORAGE] = 2 * S, [THREAD_CPU] = S }, .io_wait = 2 * S,
		    .io = 2 * S + S / 2);
	THREAD_TIME(made, .time = 30, .dur = S, .pid = 20, .states = { [THREAD_OTHER] = S });
}

static struct report *report_filtered(struct made_trace *made, const struct filter *filter)
{
	const struct report_options options = { .filter = filter };

	made_finish(made, 10, 10 + 3 * S);
	return report_with(made, &options);
}

TEST(test_threads)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	report = report_between(&made, 10, 10 + 3 * S);
	assert_int_equal(report_table(report, "threads")->row_count, 4);
	CHECK(report, "threads", 0, "tid", 10);
	CHECK(report, "threads", 0, "time_ns", 3 * S);
	CHECK(report, "threads", 0, "start_ns", 0);
	CHECK(report, "threads", 0, "end_ns", 3 * S);
	CHECK(report, "threads", 0, "states.cpu", S);
	CHECK(report, "threads", 0, "states.pipe", S);
	CHECK(report, "threads", 0, "states.child", S);
	CHECK(report, "threads", 0, "states.lock", 0);
	/* A quarter of what the kernel sampled. */
	CHECK(report, "threads", 0, "system_ns", S / 4);
	CHECK(report, "threads", 0, "rank", 3);
	CHECK(report, "threads", 1, "tid", 12);
	CHECK(report, "threads", 1, "pid", 10);
	CHECK(report, "threads", 1, "start_ns", S);
	CHECK(report, "threads", 1, "states.lock", S - 5);
	CHECK(report, "threads", 1, "states.runnable", 5);
	CHECK(report, "threads", 2, "tid", 11);
	CHECK(report, "threads", 2, "io_wait_ns", 2 * S);
	CHECK(report, "threads", 2, "io_cpu_ns", S / 2);
	CHECK(report, "threads", 2, "states.storage", 2 * S);
	done(&made, report);
}

TEST(test_kinds)
{
	struct made_trace made;
	struct report *report;
	const struct table *kinds;
	size_t row;

	begin(&made);
	report = report_between(&made, 10, 10 + 3 * S);
	kinds = report_table(report, "thread_kinds");
	assert_int_equal(kinds->row_count, 4);
	row = find_row(report, "thread_kinds", "kind", "helper");
	CHECK(report, "thread_kinds", row, "threads", 1);
	CHECK(report, "thread_kinds", row, "states.lock", S - 5);
	row = find_row(report, "thread_kinds", "kind", "worker");
	CHECK(report, "thread_kinds", row, "states.cpu", S);
	row = find_row(report, "thread_kinds", "comm", "sh");
	CHECK(report, "thread_kinds", row, "time_ns", S);
	row = find_row(report, "thread_kinds", "kind", "main");
	CHECK(report, "thread_kinds", row, "time_ns", 3 * S);
	done(&made, report);
}

/* multiprocessing starts workers, and processes that only serve these. */
TEST(test_multiprocessing)
{
	static const struct {
		const char *module, *kind;
	} started[] = {
		{ "spawn import spawn_main; spawn_main(tracker_fd=5", "worker" },
		{ "forkserver import main; main(4", "helper" },
		{ "resource_tracker import main; main(3)", "helper" },
		{ "pool import Pool", "main" },
	};
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .threads = true);
	for (size_t i = 0; i < sizeof(started) / sizeof(started[0]); i++) {
		char command[128];

		snprintf(command, sizeof(command), "python3\n-c\nfrom multiprocessing.%s",
			 started[i].module);
		EXEC(&made, .time = 10 + i, .pid = 10 + i, .comm = "python3", .command = command);
		THREAD_TIME(&made, .time = 20 + i, .dur = S, .pid = 10 + i,
			    .states = { [THREAD_PIPE] = S });
	}
	report = report_between(&made, 10, 10 + 2 * S);
	for (size_t i = 0; i < sizeof(started) / sizeof(started[0]); i++) {
		CHECK(report, "threads", i, "pid", 10 + i);
		check_text(report, "threads", i, "kind", started[i].kind);
	}
	done(&made, report);
}

/* A process that its parent forked before the recording has the parent's command: it is a worker.
 */
TEST(test_present)
{
	static const struct {
		uint64_t ppid;
		const char *command, *kind;
	} present[] = { { 1, "python3\nt.py", "main" },
			{ 10, "python3\nt.py", "worker" },
			{ 11, "python3\nt.py", "worker" },
			{ 10, "sh\n-c\nx", "main" } };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .threads = true);
	for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++) {
		EXEC(&made, .time = 10 + i, .pid = 10 + i, .ppid = present[i].ppid, .comm = "t",
		     .command = present[i].command, .flags = TRACE_EXEC_PRESENT, .rank = -1);
		THREAD_TIME(&made, .time = 20 + i, .dur = S, .pid = 10 + i,
			    .states = { [THREAD_PIPE] = S });
	}
	report = report_between(&made, 10, 10 + 2 * S);
	for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++) {
		CHECK(report, "threads", i, "pid", 10 + i);
		check_text(report, "threads", i, "kind", present[i].kind);
	}
	done(&made, report);
}

/* The wait of a thread in an unfinished operation does not hide another's CPU time in operations.
 */
TEST(test_unfinished)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made, .threads = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "train", .command = "train");
	THREAD_TIME(&made, .time = 10, .dur = 2 * S, .pid = 10, .tid = 12,
		    .states = { [THREAD_STORAGE] = 2 * S }, .io_wait = 2 * S);
	THREAD_TIME(&made, .time = 10, .dur = 2 * S, .pid = 10, .tid = 13,
		    .states = { [THREAD_CPU] = 2 * S }, .io = S / 2);
	report = report_between(&made, 10, 10 + 2 * S);
	row = find_row(report, "thread_kinds", "kind", "helper");
	CHECK(report, "thread_kinds", row, "threads", 2);
	CHECK(report, "thread_kinds", row, "io_wait_ns", 2 * S);
	CHECK(report, "thread_kinds", row, "io_cpu_ns", S / 2);
	done(&made, report);
}

/* Intervals that the range cuts count in proportion. */
TEST(test_cut)
{
	struct made_trace made;
	struct filter filter = FILTER_ALL;
	struct report *report;

	begin(&made);
	filter.from_ns = S;
	filter.until_ns = 5 * S / 2;
	report = report_filtered(&made, &filter);
	CHECK(report, "threads", 0, "time_ns", 3 * S / 2);
	CHECK(report, "threads", 0, "states.cpu", S / 2);
	CHECK(report, "threads", 0, "states.child", S / 2);
	done(&made, report);
}

/* At the ends of a range, waits that have rows are known; only the rest is spread evenly. */
TEST(test_cut_waits)
{
	struct made_trace made;
	struct filter filter = FILTER_ALL;
	struct report *report;

	BEGIN(&made, .threads = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "train", .command = "train");
	THREAD_TIME(&made, .time = 10, .dur = S, .pid = 10,
		    .states = { [THREAD_CPU] = S * 6 / 10, [THREAD_LOCK] = S * 4 / 10 },
		    .user = 1000);
	THREAD_TIME(&made, .time = 10 + S, .dur = S, .pid = 10,
		    .states = { [THREAD_CPU] = S / 4,
				[THREAD_STORAGE] = S / 4,
				[THREAD_SLEEP] = S / 2 },
		    .io = S / 4);
	/* Before the range, across its end, and of another thread. */
	WAIT(&made, .time = 10 + S / 10, .dur = S * 4 / 10, .pid = 10, .state = "lock");
	WAIT(&made, .time = 10 + S * 14 / 10, .dur = S / 2, .pid = 10, .state = "sleep");
	WAIT(&made, .time = 10 + S / 10, .dur = S, .pid = 10, .tid = 11, .state = "lock");
	filter.from_ns = S * 6 / 10;
	filter.until_ns = S * 15 / 10;
	report = report_filtered(&made, &filter);
	assert_int_equal(report_table(report, "threads")->row_count, 1);
	CHECK(report, "threads", 0, "time_ns", S * 9 / 10);
	CHECK(report, "threads", 0, "states.lock", 0);
	CHECK(report, "threads", 0, "states.sleep", S / 10);
	CHECK(report, "threads", 0, "states.storage", S / 5);
	CHECK(report, "threads", 0, "states.cpu", S * 4 / 10 + S / 5);
	CHECK(report, "threads", 0, "io_cpu_ns", S / 5);
	CHECK(report, "threads", 0, "system_ns", 0);
	assert_non_null(strstr(report_table(report, "threads")->note, "are estimated"));
	assert_non_null(strstr(report_table(report, "thread_kinds")->note, "are estimated"));
	done(&made, report);
}

/* A filter by operations leaves no thread whose time could be shown. */
TEST(test_absent)
{
	struct made_trace made;
	struct filter filter = FILTER_ALL;
	struct report *report;

	begin(&made);
	CALL(&made, .time = 50, .dur = 10, .pid = 10, .op = M_READ, .result = 5);
	filter.op = "read";
	report = report_filtered(&made, &filter);
	assert_true(report_table(report, "threads")->absent);
	assert_true(report_table(report, "thread_kinds")->absent);
	done(&made, report);
}

TEST(test_not_recorded)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "train", .command = "train");
	report = report_of(&made, S);
	assert_true(report_table(report, "threads")->absent);
	assert_string_equal(report_table(report, "threads")->note, "requires layer thread");
	done(&made, report);
}
