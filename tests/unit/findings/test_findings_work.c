// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* CPU work at the lines of a finding's I/O, which the change saves as well. */
#include "unit_test.h"

#include "findings_made.h"

/* Two workers read all of a file, 400 ms each, and parse it at the same line for as long: half of
 * that is for nothing, on the path of the main thread, which waits for one of them. */
TEST(test_work_of_reads)
{
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns;

	BEGIN_RUN(&made, .threads = true, .stacks = true);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 40 * MIB,
		 .path = "/data/a");
	made_frame(&made, 1, 1, "/job/a.py", 1, "f");
	made_stack(&made, 1, 1, 0, 1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10,
		    .states = { [THREAD_CHILD] = END - 11 });
	for (uint64_t pid = 20; pid < 22; pid++) {
		add_program(&made, pid, 20 * MS, 900 * MS);
		THREAD_TIME(&made, .time = 920 * MS, .dur = MS, .pid = pid, .io = 400 * MS,
			    .io_wait = MS, .states = { [THREAD_CPU] = MS });
		for (uint64_t i = 0; i < 40; i++) {
			const uint64_t at = (30 + i * 20) * MS;

			CALL(&made, .time = at, .dur = 10 * MS, .pid = pid, .op = M_PREAD, .file = 1,
			     .offset = i * MIB, .asked = MIB, .result = MIB);
			SAMPLE(&made, .time = at, .dur = 10 * MS, .pid = pid, .op = M_PREAD,
			       .file = 1, .stack = 1);
			SAMPLE(&made, .time = at + 5 * MS, .weight = 10 * MS, .pid = pid,
			       .op = M_PREAD, .state = "cpu", .stack = 1);
			SAMPLE(&made, .time = at + 15 * MS, .weight = 10 * MS, .pid = pid,
			       .state = "cpu", .stack = 1);
		}
	}
	report = report_between(&made, 10, END);
	cost_ns = ask(report, "findings", finding_row(report, "read-by-several"), "cost_ns")->uint;
	assert_in_range(cost_ns, 390 * MS, 470 * MS);
	done(&made, report);
}

/* A file is opened and read at one line, again and again: for new data, or the same. */
static uint64_t cost_of_opens(bool is_new)
{
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns;

	BEGIN_RUN(&made, .threads = true, .stacks = true);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 40 * MIB,
		 .path = "/data/a");
	made_frame(&made, 1, 1, "/job/a.py", 1, "f");
	made_stack(&made, 1, 1, 0, 1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 400 * MS,
		    .io_wait = 400 * MS,
		    .states = { [THREAD_CPU] = END - 11 - 400 * MS, [THREAD_STORAGE] = 400 * MS });
	for (uint64_t i = 0; i < 200; i++) {
		const uint64_t at = 20 * MS + i * 4 * MS;

		CALL(&made, .time = at, .dur = MS, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
		SAMPLE(&made, .time = at, .dur = MS, .pid = 10, .op = M_OPENAT, .file = 1,
		       .stack = 1);
		CALL(&made, .time = at + MS, .dur = MS, .pid = 10, .op = M_READ, .file = 1,
		     .offset = is_new ? i * 64 * KIB : 0, .asked = 4 * KIB, .result = 4 * KIB);
		SAMPLE(&made, .time = at + MS, .dur = MS, .pid = 10, .op = M_READ, .file = 1,
		       .stack = 1);
		SAMPLE(&made, .time = at + 2 * MS, .weight = 2 * MS, .pid = 10, .state = "cpu",
		       .stack = 1);
	}
	report = report_between(&made, 10, END);
	cost_ns = ask(report, "findings", finding_row(report, "opened-again"), "cost_ns")->uint;
	done(&made, report);
	return cost_ns;
}

/* Reads of new data stay, and half of the CPU work with them. */
TEST(test_work_of_opens)
{
	assert_in_range(cost_of_opens(true), 380 * MS, 420 * MS);
	assert_in_range(cost_of_opens(false), 580 * MS, 620 * MS);
}

/* Calls at one line, in a module, take 100 ms; CPU work there is sampled after each of the 2,000
 * calls, and the thread waits for a CPU in between. */
static void make_working_calls(struct made_trace *made, const char *module, uint64_t call,
			       uint64_t work_ns, uint64_t cpu_ns, uint64_t runnable_ns)
{
	BEGIN(made, .threads = true, .stacks = true);
	EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = MIB, .path = "/data/a");
	made_frame(made, 1, 1, "/job/a.py", 1, "f");
	made_frame(made, 1, 2, module, 2, "g");
	made_stack(made, 1, 1, 0, 1);
	made_stack(made, 1, 2, 1, 2);
	THREAD_TIME(made, .time = 11, .dur = END - 11, .pid = 10, .io = 100 * MS,
		    .io_wait = 100 * MS,
		    .states = { [THREAD_CPU] = cpu_ns,
				[THREAD_RUNNABLE] = runnable_ns,
				[THREAD_SLEEP] = END - 11 - cpu_ns - runnable_ns - 100 * MS,
				[THREAD_STORAGE] = 100 * MS });
	for (uint64_t i = 0; i < 2000; i++) {
		const uint64_t at = 20 * MS + i * 400 * US;

		CALL(made, .time = at, .dur = 50 * US, .pid = 10, .op = call, .file = 1);
		SAMPLE(made, .time = at, .dur = 50 * US, .pid = 10, .op = call, .file = 1,
		       .stack = 2);
		SAMPLE(made, .time = at + 60 * US, .weight = work_ns, .pid = 10, .state = "cpu",
		       .stack = 2);
	}
}

/* The CPU work at these lines takes 600 ms. */
static uint64_t cost_of_calls(const char *module, uint64_t call)
{
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns, row;

	make_working_calls(&made, module, call, 300 * US, 600 * MS, 0);
	report = report_between(&made, 10, END);
	row = find_row(report, "findings", "id", "metadata-heavy");
	cost_ns = ask(report, "findings", row, "cost_ns")->uint;
	CHECK(report, "findings", row, "cost_cpu_ns", cost_ns - 100 * MS);
	done(&made, report);
	return cost_ns;
}

/* The thread waits for a CPU for three quarters of that time; that part is not CPU work. */
TEST(test_work_that_waits)
{
	struct made_trace made;
	struct report *report;
	uint64_t row, cost_ns, cpu_ns;

	make_working_calls(&made, "<frozen posixpath>", M_FSTAT, 100 * US, 200 * MS, 600 * MS);
	report = report_between(&made, 10, END);
	row = find_row(report, "findings", "id", "metadata-heavy");
	cost_ns = ask(report, "findings", row, "cost_ns")->uint;
	cpu_ns = ask(report, "findings", row, "cost_cpu_ns")->uint;
	assert_in_range(cost_ns, 850 * MS, 950 * MS);
	assert_in_range(cpu_ns, 190 * MS, 210 * MS);
	CHECK(report, "findings", row, "cost_cpu_wait_ns", cost_ns - 100 * MS - cpu_ns);
	done(&made, report);
}

/* Work in Python's own modules for paths, or where a text file is sought, goes with the calls;
 * other work may stay. */
TEST(test_work_of_calls)
{
	assert_in_range(cost_of_calls("<frozen posixpath>", M_FSTAT), 650 * MS, 750 * MS);
	assert_in_range(cost_of_calls("/job/b.py", M_FSTAT), 250 * MS, 350 * MS);
	assert_in_range(cost_of_calls("/job/b.py", M_LSEEK), 650 * MS, 750 * MS);
}

/* A save writes for 200 ms and pickles for 120 ms at the same line; the job computes at another. */
TEST(test_work_of_saves)
{
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns;

	BEGIN(&made, .threads = true, .stacks = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 80 * MIB,
		 .path = "/data/a.pkl");
	for (uint64_t line = 1; line <= 2; line++) {
		made_frame(&made, 1, line, "/job/a.py", line, "f");
		made_stack(&made, 1, line, 0, line);
	}
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 200 * MS,
		    .io_wait = 200 * MS,
		    .states = { [THREAD_CPU] = END - 11 - 200 * MS, [THREAD_STORAGE] = 200 * MS });
	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t at = 20 * MS + i * 200 * MS;

		CALL(&made, .time = at, .dur = 50 * MS, .pid = 10, .op = M_WRITE, .file = 1,
		     .offset = i * 20 * MIB, .asked = 20 * MIB, .result = 20 * MIB);
		SAMPLE(&made, .time = at, .dur = 50 * MS, .pid = 10, .op = M_WRITE, .file = 1,
		       .stack = 1);
		for (uint64_t j = 0; j < 2; j++)
			SAMPLE(&made, .time = at + (60 + j) * MS, .weight = 15 * MS, .pid = 10,
			       .state = "cpu", .stack = 1);
		SAMPLE(&made, .time = at + 90 * MS, .weight = 170 * MS, .pid = 10, .state = "cpu",
		       .stack = 2);
	}
	report = report_between(&made, 10, END);
	cost_ns =
		ask(report, "findings", find_row(report, "findings", "id", "save-waits"), "cost_ns")
			->uint;
	assert_in_range(cost_ns, 300 * MS, 340 * MS);
	done(&made, report);
}

/* Writes of 6 bytes take 40 ms, in the kernel; the loop around them takes 700 ms, of which entering
 * and leaving the kernel takes `entry_ns`. */
static uint64_t cost_of_small_writes(uint64_t entry_ns)
{
	const uint64_t calls = 20000, samples = 200, begin_ns = 20 * MS, each_ns = 40 * US;
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns;

	BEGIN(&made, .threads = true, .stacks = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = MIB, .path = "/data/a");
	made_frame(&made, 1, 1, "/job/a.py", 1, "f");
	made_stack(&made, 1, 1, 0, 1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 40 * MS,
		    .user = 700 * MS - entry_ns, .system = 40 * MS + entry_ns,
		    .states = { [THREAD_CPU] = 740 * MS, [THREAD_SLEEP] = END - 11 - 740 * MS });
	for (uint64_t i = 0; i < calls; i++)
		CALL(&made, .time = begin_ns + i * each_ns, .dur = 2 * US, .pid = 10, .op = M_WRITE,
		     .file = 1, .offset = i * 6, .asked = 6, .result = 6);
	for (uint64_t i = 0; i < samples; i++) {
		const uint64_t at = begin_ns + i * each_ns * (calls / samples);

		SAMPLE(&made, .time = at, .dur = 2 * US, .weight = 40 * MS / samples, .pid = 10,
		       .op = M_WRITE, .file = 1, .stack = 1);
		SAMPLE(&made, .time = at + 10 * US, .weight = 700 * MS / samples, .pid = 10,
		       .state = "cpu", .stack = 1);
	}
	report = report_between(&made, 10, END);
	cost_ns = ask(report, "findings", find_row(report, "findings", "id", "small-writes"),
		      "cost_ns")
			  ->uint;
	done(&made, report);
	return cost_ns;
}

/* A buffer saves the calls and the kernel's time around them, but not all of the loop: as much of
 * it as the calls take. The kernel's time is at most 2 us a call; more has other causes. */
TEST(test_work_around_calls)
{
	assert_in_range(cost_of_small_writes(0), 76 * MS, 84 * MS);
	assert_in_range(cost_of_small_writes(20 * MS), 95 * MS, 105 * MS);
	assert_in_range(cost_of_small_writes(400 * MS), 114 * MS, 126 * MS);
}
