// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * At which lines findings are that are not about certain files: on imports, failed lookups,
 * devices, ranks and data loaders; and those over several summaries.
 */
#include "unit_test.h"

#include "findings_of_jobs.h"
#include "findings_of_mounts.h"
#include "findings_of_opens.h"
#include "report/random_job.h"

/* A sample of `time_ms` at a line; without a state, of an operation. */
struct at_line {
	uint64_t line, time_ms, pid, op, file, fetched;
	const char *state;
};

#define IO(line, ms, pid, op, file, fetched)                                                       \
	{                                                                                          \
		line, ms, pid, op, file, fetched, NULL                                             \
	}
#define STATE(line, ms, pid, state)                                                                \
	{                                                                                          \
		line, ms, pid, 0, 0, 0, state                                                      \
	}

#define DEV (8ull << 20) /* that of the cases; and another */
#define DEV2 (9ull << 20)

static void begin(struct made_trace *made, const char *host)
{
	BEGIN_RUN(made, .host = host, .boot_id = host, .spans = true, .block = true, .stacks = true,
		  .memory_bytes = 1ull << 30);
}

static void add_line(struct made_trace *made, const struct at_line *at)
{
	made_frame(made, 1, at->line, "/job/a.py", at->line, "f");
	made_stack(made, 1, at->line, 0, at->line);
	SAMPLE(made, .time = 300 * MS, .dur = at->time_ms * MS, .pid = at->pid, .op = at->op,
	       .file = at->file, .fetched = at->fetched, .state = at->state, .stack = at->line);
}

static void make_case(const char *id, struct made_trace *made)
{
	for (size_t i = 0; i < case_count; i++)
		if (!strcmp(cases[i].id, id)) {
			cases[i].make(made, false);
			return;
		}
	fail_msg("no case of %s", id);
}

TEST(test_where)
{
	static const struct {
		const char *id;
		struct at_line lines[6]; /* the last one is zeros */
		const char *where;	 /* NULL: no line */
	} wheres[] = {
		/* Files of no name, not those found, nor reads. */
		{ "failed-lookups",
		  { IO(1, 60, 10, M_OPENAT, 0, 0), IO(2, 30, 10, M_FSTAT, 5, 0),
		    IO(3, 90, 10, M_READ, 0, 0), IO(4, 40, 10, M_FSTAT, 0, 0) },
		  "a.py:1 in f, 60% of the time in calls by path; a.py:4 in f, 40%" },
		/* Modules and failed lookups, but not data. */
		{ "imports",
		  { IO(1, 60, 10, M_FSTAT, 1, 0), IO(2, 40, 10, M_FSTAT, 0, 0),
		    IO(3, 90, 10, M_FSTAT, 5, 0), IO(4, 50, 10, M_READ, 1, 0),
		    IO(5, 90, 10, M_READ, 5, 0) },
		  "a.py:1 in f, 40% of the time in calls on modules or by path; a.py:4 in f, "
		  "33%" },
		/* Only reads from storage. */
		{ "device-slow",
		  { IO(1, 60, 10, M_READ, 1, 4096), IO(2, 90, 10, M_WRITE, 1, 0),
		    IO(3, 90, 10, M_READ, 1, 0), IO(4, 20, 10, M_FAULT, 1, 4096),
		    STATE(5, 90, 10, "lock") },
		  "a.py:1 in f, 75% of the time in operations on it" },
		{ "device-overloaded",
		  { IO(1, 60, 11, M_READ, 1, 4096) },
		  "a.py:1 in f, 100% of the time in operations on it (in workers)" },
		{ "flushes",
		  { IO(1, 60, 10, M_FSYNC, 1, 0), IO(2, 90, 10, M_WRITE, 1, 0) },
		  "a.py:1 in f, 100% of it" },
		/* The rank's I/O. */
		{ "straggler",
		  { IO(1, 50, 31, M_READ, 1, 0), IO(2, 90, 30, M_READ, 1, 0),
		    IO(3, 50, 31, M_FSYNC, 1, 0), STATE(4, 90, 31, "lock") },
		  "a.py:1 in f, 50% of its I/O; a.py:3 in f, 50%" },
		{ "ranks-uneven",
		  { IO(1, 50, 32, M_READ, 1, 0), IO(2, 90, 33, M_READ, 1, 0) },
		  "a.py:1 in f, 100% of its I/O" },
		{ "rank-slow",
		  { IO(1, 50, 32, M_READ, 1, 0), IO(2, 90, 33, M_READ, 1, 0) },
		  "a.py:1 in f, 100% of its I/O" },
		/* Only reads by workers, if there are any. */
		{ "loader-io",
		  { IO(1, 50, 20, M_READ, 1, 0), IO(2, 90, 10, M_READ, 1, 0),
		    STATE(3, 90, 20, "cpu") },
		  "a.py:1 in f, 100% of the loader's I/O (in workers)" },
		{ "loader-preprocessing",
		  { STATE(1, 50, 20, "cpu"), STATE(1, 50, 20, "cpu"), STATE(1, 50, 20, "cpu"),
		    STATE(2, 90, 10, "cpu"), IO(3, 90, 20, M_READ, 1, 0) },
		  "a.py:1 in f, 100% ± 25% of the loader's time on CPUs (in workers)" },
		/* One sample is not enough. */
		{ "loader-preprocessing", { STATE(1, 50, 20, "cpu") }, NULL },
		{ "sync-checkpoint",
		  { IO(1, 50, 10, M_WRITE, 1, 0), IO(2, 50, 10, M_FSYNC, 1, 0),
		    IO(3, 90, 10, M_READ, 1, 0) },
		  "a.py:1 in f, 50% of it; a.py:2 in f, 50%" },
	};

	for (size_t i = 0; i < sizeof(wheres) / sizeof(wheres[0]); i++) {
		struct made_trace made;
		struct report *report;

		begin(&made, "node1");
		make_case(wheres[i].id, &made);
		FILE_ROW(&made, .time = 10, .id = 5, .dev = 1, .ino = 5, .path = "/data/b");
		for (const struct at_line *at = wheres[i].lines; at->line; at++)
			add_line(&made, at);
		report = report_between(&made, 10, END);
		if (wheres[i].where)
			check_finding_text(report, wheres[i].id, "where", wheres[i].where);
		else
			check_null(report, "findings", finding_row(report, wheres[i].id), "where");
		done(&made, report);
	}
}

/* The second program computes longer, but at many lines. */
TEST(test_lines_of_program)
{
	static const struct {
		const char *first, *second;
		size_t lengths[2];
		const char *where;
	} programs[] = {
#define COMMANDS(first, second) first, second, { sizeof(first), sizeof(second) }
		{ COMMANDS("python3\0-u\0a.py\0x", "python3\0-u\0a.py\0y"),
		  "a.py:1 in f, 43% ± 19% of all CPU time; a.py:3 in f, 29% ± 17%" },
		{ COMMANDS("python3\0-u\0a.py\0x", "python3\0-u\0b.py\0x"),
		  "a.py:3 in f, 50% ± 25% of all CPU time; a.py:2 in f, 50% ± 25%" },
		{ COMMANDS("sh\0-c\0make", "sh\0-c\0train"),
		  "a.py:3 in f, 50% ± 25% of all CPU time; a.py:2 in f, 50% ± 25%" },
		{ COMMANDS("gzip\0a", "sort\0a"),
		  "a.py:3 in f, 50% ± 25% of all CPU time; a.py:2 in f, 50% ± 25%" },
#undef COMMANDS
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .threads = true, .stacks = true);
		EXEC(&made, .time = 11, .pid = 10, .comm = "sh", .command = "sh", .rank = -1);
		THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10,
			    .states = { [THREAD_CHILD] = END - 11 });
		add_program(&made, 20, 10 * MS, 400 * MS);
		add_program(&made, 21, 420 * MS, 500 * MS);
		EXEC(&made, .time = 10 * MS, .pid = 20, .ppid = 10, .comm = "p",
		     .command = programs[i].first, .command_length = programs[i].lengths[0],
		     .rank = -1);
		EXEC(&made, .time = 420 * MS, .pid = 21, .ppid = 10, .comm = "p",
		     .command = programs[i].second, .command_length = programs[i].lengths[1],
		     .rank = -1);
		for (uint64_t line = 1; line <= 3; line++) {
			made_frame(&made, 1, line, "/job/a.py", line, "f");
			made_stack(&made, 1, line, 0, line);
		}
		for (uint64_t j = 0; j < 7; j++)
			SAMPLE(&made, .time = (j < 3 ? 20 + j : 430 + j) * MS, .weight = 100 * MS,
			       .pid = j < 3 ? 20 : 21, .state = "cpu",
			       .stack = j < 3 ? 1 : 2 + j % 2);
		report = report_between(&made, 10, END);
		check_finding_text(report, "cpu-bound", "where", programs[i].where);
		done(&made, report);
	}
}

/* A worker loads its dataset where Python spawned it, at no line of the job: that is of the line
 * that started it. */
TEST(test_lines_of_spawn)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .threads = true, .stacks = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10,
		    .states = { [THREAD_CPU] = 300 * MS, [THREAD_CHILD] = END - 11 - 300 * MS });
	add_program(&made, 20, 400 * MS, 500 * MS);
	made_frame(&made, 1, 1, "/job/a.py", 7, "run");
	made_frame(&made, 1, 2, "/usr/lib/python3.11/multiprocessing/popen_spawn_posix.py", 47,
		   "Popen._launch");
	made_frame(&made, 1, 3, "<string>", 1, "<module>");
	made_frame(&made, 1, 4, "/usr/lib/python3.11/multiprocessing/spawn.py", 130, "_main");
	for (uint64_t i = 0; i < 4; i++)
		made_stack(&made, 1, i + 1, i == 2 ? 0 : i, i + 1);
	for (uint64_t i = 0; i < 30; i++)
		SAMPLE(&made, .time = (20 + i * 10) * MS, .weight = 10 * MS, .pid = 10,
		       .state = "cpu", .stack = 2);
	for (uint64_t i = 0; i < 50; i++)
		SAMPLE(&made, .time = (400 + i * 10) * MS, .weight = 10 * MS, .pid = 20,
		       .state = "cpu", .stack = 4);
	report = report_between(&made, 10, END);
	check_finding_text(
		report, "pickled-data", "where",
		"a.py:7 in run, 100% ± 1% of this CPU time (in the main thread and workers)");
	done(&made, report);
}

/* Forked workers take most of the faults, no more than their parent each or more, or only few. */
TEST(test_lines_of_faults)
{
	static const struct {
		uint64_t faults, parent_faults, unknown_faults;
		const char *where, *advice;
	} runs[] = {
#define AT(line, kind)                                                                             \
	"a.py:" line                                                                               \
	" in f, 100% ± 5% of the CPU time of processes with most of the faults (in " kind ")"
		{ 150000, 200000, 0, AT("2", "workers"),
		  "Do not write to what 2 forked processes inherited" },
		{ 300000, 200000, 0, AT("2", "workers"), "Keep buffers" },
		{ 50000, 200000, 0, AT("1", "the main thread"), "Keep buffers" },
		{ 150000, 100000, 500000, NULL, "Keep buffers" },
#undef AT
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		const struct cell *advice;
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .threads = true, .stacks = true);
		EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
		THREAD_TIME(
			&made, .time = 11, .dur = END - 11, .pid = 10,
			.states = {
				[THREAD_CPU] = 400 * MS, [THREAD_CHILD] = END - 11 - 400 * MS });
		add_program(&made, 20, 400 * MS, 500 * MS);
		made_fork(&made, 400 * MS, 10, 21);
		for (uint64_t line = 1; line <= 2; line++) {
			made_frame(&made, 1, line, "/job/a.py", line, "f");
			made_stack(&made, 1, line, 0, line);
		}
		for (uint64_t j = 0; j < 40; j++)
			SAMPLE(&made, .time = (j < 20 ? 20 : 200) * MS + j * 10 * MS,
			       .weight = 20 * MS, .pid = j < 20 ? 10 : 20, .state = "cpu",
			       .stack = j < 20 ? 1 : 2);
		made.operations[M_ANONYMOUS] = (struct trace_operation_total) {
			.count =
				2 * runs[i].faults + runs[i].parent_faults + runs[i].unknown_faults,
			.thread_time_ns = 500 * MS,
		};
		for (uint64_t pid = 20; pid < 22; pid++)
			EXIT(&made, .time = 920 * MS, .pid = pid, .minor = runs[i].faults);
		EXIT(&made, .time = 950 * MS, .pid = 10, .minor = runs[i].parent_faults);
		report = report_between(&made, 10, END);
		if (runs[i].where)
			check_finding_text(report, "fresh-memory", "where", runs[i].where);
		else
			assert_int_equal(ask(report, "findings",
					     finding_row(report, "fresh-memory"), "where")
						 ->type,
					 CELL_NULL);
		advice = ask(report, "findings", finding_row(report, "fresh-memory"), "advice");
		assert_memory_equal(advice->text, runs[i].advice, strlen(runs[i].advice));
		done(&made, report);
	}
}

/* The finding says that it excludes compute spans, although its lines include them. */
TEST(test_compute_left_out)
{
	static const char left_out[] =
		"on a CPU outside I/O and 400 ms of compute spans, mostly in job";
	const struct cell *says;
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .threads = true, .spans = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "job", .command = "job", .rank = -1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10,
		    .states = { [THREAD_CPU] = END - 11 });
	SPAN(&made, .begin = 20, .end = 20 + 400 * MS, .pid = 10, .tid = 10, .id = 1,
	     .name = "step", .category = "compute");
	report = report_between(&made, 10, END);
	says = ask(report, "findings", find_row(report, "findings", "id", "cpu-bound"), "says");
	assert_non_null(memmem(says->text, says->length, left_out, strlen(left_out)));
	done(&made, report);
}

/* Two helper threads sleep at different lines; the main thread waits for one of them. */
TEST(test_sleep_on_path)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .threads = true, .stacks = true);
	for (uint64_t tid = 10; tid < 13; tid++) {
		const bool locked = tid == 10;

		THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .tid = tid,
			    .states = { [THREAD_OTHER] = END - 11 - 600 * MS,
					[THREAD_LOCK] = locked ? 600 * MS : 0,
					[THREAD_SLEEP] = locked ? 0 : 600 * MS });
		WAIT(&made, .time = 100 * MS, .dur = 600 * MS, .pid = 10, .tid = tid,
		     .state = locked ? "lock" : "sleep",
		     .call = locked ? "futex" : "clock_nanosleep", .waker_pid = locked ? 10 : 0,
		     .waker_tid = locked ? 12 : 0);
		made_frame(&made, 1, tid, "/job/a.py", tid, "f");
		made_stack(&made, 1, tid, 0, tid);
		SAMPLE(&made, .time = 100 * MS, .dur = 600 * MS, .pid = 10, .tid = tid,
		       .state = locked ? "lock" : "sleep", .stack = tid);
	}
	report = report_between(&made, 10, END);
	check_finding_text(report, "sleeps", "where", "a.py:12 in f, 100% of its sleep");
	check_finding_text(report, "sleeps", "says",
			   "600 ms (60.0% of the critical path), mostly in a helper thread 12");
	done(&made, report);
}

/* With several devices, each finding is about the files on its own device. */
TEST(test_devices)
{
	struct made_trace made;
	struct report *report;

	begin(&made, "node1");
	make_case("device-slow", &made);
	FILE_ROW(&made, .time = 10, .id = 2, .dev = DEV2, .ino = 2, .path = "/data/b");
	for (uint64_t i = 0; i < 60; i++) {
		BIO(&made, .time = 100 + i * 15 * MS, .dur = 14 * MS, .pid = 10,
		    .op = M_REQUEST_READ, .file = 2, .offset = i * 4096, .bytes = 4096,
		    .request = 100 + i, .dev = DEV2);
		REQUEST(&made, .time = 100 + i * 15 * MS, .dur = 14 * MS, .pid = 10,
			.op = M_REQUEST_READ, .file = 2, .bytes = 4096, .dev = DEV2);
	}
	DEVICE(&made, .time = END - 1, .dev = DEV, .name = "sda");
	DEVICE(&made, .time = END - 1, .dev = DEV2, .name = "sdb");
	add_line(&made, &(struct at_line)IO(1, 90, 10, M_READ, 1, 4096));
	add_line(&made, &(struct at_line)IO(2, 10, 10, M_READ, 2, 4096));
	report = report_between(&made, 10, END);
	for (size_t row = 0; row < report_table(report, "findings")->row_count; row++) {
		const struct cell *title = ask(report, "findings", row, "title");

		if (memmem(title->text, title->length, "sdb: slow", 9))
			check_text(report, "findings", row, "where",
				   "a.py:2 in f, 100% of the time in operations on it");
		else if (memmem(title->text, title->length, "sda: slow", 9))
			check_null(report, "findings", row, "where");
	}
	find_row(report, "findings", "title", "sda: slow read requests");
	find_row(report, "findings", "title", "sdb: slow read requests");
	done(&made, report);
}

/* A finding over several summaries has the lines of the run in which it costs most. */
TEST(test_summaries)
{
	static const char *const names[] = { "a", "b" };
	struct trace_reader *summaries[2];
	struct parted parted = { 0 };
	struct made_trace made[2];
	struct report *report;

	for (int i = 0; i < 2; i++) {
		begin(&made[i], names[i]);
		make_case("failed-lookups", &made[i]);
		for (uint64_t j = 0; j < 2000 && i; j++)
			CALL(&made[i], .time = 300 * MS + j * 10 * US, .dur = 5 * US, .pid = 10,
			     .op = M_OPENAT, .path = "/usr/none/module.py", .result = -2);
		add_line(&made[i], &(struct at_line)IO(1 + i, 60, 10, M_OPENAT, 0, 0));
		made_finish(&made[i], 10, END);
		summaries[i] = summarize(&parted, &made[i].reader, names + i, 1, 9);
	}
	report = report_on(summaries, names, 2);
	check_finding_text(report, "failed-lookups", "where",
			   "a.py:2 in f, 100% of the time in calls by path");
	report_free(report);
	free_parted(&parted);
	made_close(&made[0]);
	made_close(&made[1]);
}
