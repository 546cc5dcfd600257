/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes: lifetimes, names, ranks, reused PIDs; jobs of several traces. */
#include "unit_test.h"

#include <errno.h>
#include <sys/stat.h>

#include "ask_report.h"

#define MS 1000000ull

/* The only process with a PID, or the one that started at the given time. */
static size_t find_process(const struct report *report, uint64_t pid, int64_t start)
{
	const struct table *table = report_table(report, "processes");

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cell = ask(report, "processes", i, "pid");

		if (cell->type == CELL_UINT && cell->uint == pid &&
		    (start < 0 || ask(report, "processes", i, "start_ns")->uint == (uint64_t)start))
			return i;
	}
	fail_msg("no process %d", (int)pid);
	return 0;
}

static void check_command(const struct report *report, size_t row, size_t count,
			  const char *const *arguments)
{
	const struct cell *cell = ask(report, "processes", row, "command");

	assert_int_equal(cell->type, CELL_TEXTS);
	assert_int_equal(cell->length, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(cell->texts[i].length, strlen(arguments[i]));
		assert_memory_equal(cell->texts[i].text, arguments[i], cell->texts[i].length);
	}
}

TEST(test_lives)
{
	static const char command[] = "python3\0train.py\0--empty\0"; /* including the last
								       * argument's NUL */
	static const char *const arguments[] = { "python3", "train.py", "--empty", "" };
	static const char *const short_name[] = { "ls" };
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made);
	EXEC(&made, .time = 1000, .pid = 10, .ppid = 5, .comm = "python3", .command = command,
	     .command_length = sizeof(command), .rank = -1);
	made_fork(&made, 1100, 10, 10); /* a thread */
	made_fork(&made, 1200, 10, 11); /* never execs */
	made_fork(&made, 1300, 10, 12);
	EXEC(&made, .time = 1310, .pid = 12, .ppid = 10, .comm = "ls", .command = "ls", .rank = -1);
	made_fork(&made, 1400, 10, 13);
	EXIT(&made, .time = 1500, .pid = 11, .comm = "worker", .code = 3 << 8);
	EXIT(&made, .time = 1600, .pid = 12, .comm = "thread", .tid = 14, .code = 9);
	EXIT(&made, .time = 1900, .pid = 10, .comm = "python3", .thread_only = 1);
	EXIT(&made, .time = 2000, .pid = 10, .tid = 19, .comm = "last thread", .code = 0);
	report = report_between(&made, 1000, 2000);
	assert_int_equal(report_table(report, "processes")->row_count, 4);

	CHECK(report, "processes", 0, "pid", 10); /* ordered by start time */
	CHECK(report, "processes", 0, "ppid", 5);
	CHECK(report, "processes", 0, "start_ns", 0);
	CHECK(report, "processes", 0, "end_ns", 1000);
	CHECK(report, "processes", 0, "exit_code", 0);
	check_null(report, "processes", 0, "signal");
	check_null(report, "processes", 0, "rank");
	check_text(report, "processes", 0, "comm", "python3");
	check_text(report, "processes", 0, "host", "node1");
	check_command(report, 0, 4, arguments);

	CHECK(report, "processes", 1, "pid", 11);
	CHECK(report, "processes", 1, "ppid", 10);
	CHECK(report, "processes", 1, "start_ns", 200);
	CHECK(report, "processes", 1, "end_ns", 500);
	CHECK(report, "processes", 1, "exit_code", 3);
	check_text(report, "processes", 1, "comm", "worker"); /* a comm it may have set itself */
	check_command(report, 1, 4, arguments);

	row = find_process(report, 12, -1);
	CHECK(report, "processes", row, "exit_code", 137);
	CHECK(report, "processes", row, "signal", 9);
	check_text(report, "processes", row, "comm", "ls");
	check_command(report, row, 1, short_name);

	row = find_process(report, 13, -1); /* still alive at the end */
	check_null(report, "processes", row, "end_ns");
	check_null(report, "processes", row, "exit_code");
	check_text(report, "processes", row, "comm", "python3");
	done(&made, report);
}

TEST(test_ranks)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	EXEC(&made, .time = 100, .pid = 10, .comm = "launch", .command = "l", .rank = -1);
	made_fork(&made, 110, 10, 11);
	made_fork(&made, 120, 10, 12);
	EXEC(&made, .time = 130, .pid = 11, .comm = "rank0", .command = "r", .rank = 0);
	EXEC(&made, .time = 140, .pid = 12, .comm = "rank7", .command = "r", .rank = 7);
	made_fork(&made, 150, 11, 21); /* a data loader of rank 0 */
	made_fork(&made, 160, 12, 22); /* of rank 7: execs without a rank in its environment */
	EXEC(&made, .time = 170, .pid = 22, .comm = "tar", .command = "tar", .rank = -1);
	made_fork(&made, 180, 22, 32);
	EXEC(&made, .time = 190, .pid = 32, .comm = "odd", .command = "odd", .rank = 3);
	made_fork(&made, 200, 10, 13);
	report = report_between(&made, 100, 1000);
	check_null(report, "processes", find_process(report, 10, -1), "rank");
	CHECK(report, "processes", find_process(report, 11, -1), "rank", 0);
	CHECK(report, "processes", find_process(report, 21, -1), "rank", 0);
	CHECK(report, "processes", find_process(report, 12, -1), "rank", 7);
	CHECK(report, "processes", find_process(report, 22, -1), "rank", 7);
	CHECK(report, "processes", find_process(report, 32, -1), "rank", 3);
	check_null(report, "processes", find_process(report, 13, -1), "rank");
	done(&made, report);
}

TEST(test_own_numbers)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	EXEC(&made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_fork(&made, 50, 10, 20);
	FILE_ROW(&made, .time = 0, .id = 1, .ino = 1, .path = "/f");
	/* Two threads of one process overlap by half; another process runs at the same time. */
	CALL(&made, .time = 100, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .result = 10,
	     .fetched = 4096);
	CALL(&made, .time = 150, .dur = 100, .pid = 10, .tid = 11, .op = M_READ, .file = 1,
	     .result = -5);
	CALL(&made, .time = 100, .dur = 150, .pid = 20, .op = M_WRITE, .file = 1, .result = 7);
	CALL(&made, .time = 300, .dur = 5, .pid = 20, .op = M_FSYNC, .file = 1);
	CALL(&made, .time = 310, .dur = 6, .pid = 20, .op = M_FSTAT, .file = 1);
	FAULT(&made, .time = 400, .dur = 8, .pid = 20, .file = 1, .flags = TRACE_FAULT_MAJOR,
	      .fetched = 8192);
	report = report_of(&made, 1000);
	CHECK(report, "processes", 0, "read.count", 2);
	CHECK(report, "processes", 0, "read.errors", 1);
	CHECK(report, "processes", 0, "read.bytes", 10);
	CHECK(report, "processes", 0, "read.time_ns", 150);
	CHECK(report, "processes", 0, "read.thread_time_ns", 200);
	CHECK(report, "processes", 0, "read.fetched_bytes", 4096);
	CHECK(report, "processes", 0, "write.count", 0);
	CHECK(report, "processes", 1, "read.count", 0);
	CHECK(report, "processes", 1, "write.bytes", 7);
	CHECK(report, "processes", 1, "write.time_ns", 150);
	CHECK(report, "processes", 1, "sync.time_ns", 5);
	CHECK(report, "processes", 1, "metadata.time_ns", 6);
	CHECK(report, "processes", 1, "mmap_read.faults", 1);
	CHECK(report, "processes", 1, "mmap_read.major", 1);
	CHECK(report, "processes", 1, "mmap_read.fetched_bytes", 8192);
	CHECK(report, "processes", 1, "mmap_read.time_ns", 8);
	CHECK(report, "processes", 1, "mmap_write.faults", 0);
	done(&made, report);
}

static void read_once(struct made_trace *made, uint64_t time, uint64_t pid, int64_t result)
{
	CALL(made, .time = time, .dur = 5, .pid = pid, .op = M_READ, .file = 1, .result = result);
}

TEST(test_pid_reuse)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made);
	EXEC(&made, .time = 100, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 100, .id = 1, .ino = 1, .path = "/f");
	/* Written out of order, as rows of several CPUs are. */
	read_once(&made, 700, 11, 100);
	read_once(&made, 250, 11, 1);
	read_once(&made, 450, 11, 10);
	EXIT(&made, .time = 500, .pid = 11, .comm = "second", .code = 2 << 8);
	made_fork(&made, 400, 10, 11);
	EXIT(&made, .time = 300, .pid = 11, .comm = "first", .code = 1 << 8);
	made_fork(&made, 200, 10, 11);
	/* The fork of the third process was lost. */
	EXEC(&made, .time = 600, .pid = 11, .ppid = 10, .comm = "third", .command = "c",
	     .rank = -1);
	/* Two threads that exit at once both consider themselves the last. */
	EXIT(&made, .time = 800, .pid = 11, .comm = "third", .code = 3 << 8);
	EXIT(&made, .time = 801, .pid = 11, .tid = 99, .comm = "third", .code = 3 << 8);
	report = report_between(&made, 100, 1000);
	assert_int_equal(report_table(report, "processes")->row_count, 4);
	row = find_process(report, 11, 100);
	check_text(report, "processes", row, "comm", "first");
	CHECK(report, "processes", row, "end_ns", 200);
	CHECK(report, "processes", row, "exit_code", 1);
	CHECK(report, "processes", row, "read.bytes", 1);
	row = find_process(report, 11, 300);
	check_text(report, "processes", row, "comm", "second");
	CHECK(report, "processes", row, "read.bytes", 10);
	row = find_process(report, 11, 500);
	check_text(report, "processes", row, "comm", "third");
	CHECK(report, "processes", row, "ppid", 10);
	CHECK(report, "processes", row, "end_ns", 700);
	CHECK(report, "processes", row, "read.bytes", 100);
	done(&made, report);
}

/* Rows of a PID without a fork or exec, and of an invalid PID. */
TEST(test_unknown_pids)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	FILE_ROW(&made, .time = 100, .id = 1, .ino = 1, .path = "/f");
	read_once(&made, 400, 33, 2);
	read_once(&made, 300, 33, 1);
	read_once(&made, 500, UINT64_MAX, 4);
	read_once(&made, 600, 0, 8);
	EXIT(&made, .time = 700, .pid = 44, .comm = "late", .code = 0);
	read_once(&made, 650, 44, 16);
	report = report_between(&made, 100, 1000);
	assert_int_equal(report_table(report, "processes")->row_count, 3);
	CHECK(report, "processes", 0, "pid", 33);
	CHECK(report, "processes", 0, "start_ns", 200);
	CHECK(report, "processes", 0, "read.bytes", 3);
	check_null(report, "processes", 0, "ppid");
	check_null(report, "processes", 0, "comm");
	check_null(report, "processes", 0, "command");
	check_null(report, "processes", 1, "pid");
	CHECK(report, "processes", 1, "read.bytes", 12);
	CHECK(report, "processes", 2, "pid", 44);
	CHECK(report, "processes", 2, "start_ns", 550);
	CHECK(report, "processes", 2, "end_ns", 600);
	CHECK(report, "processes", 2, "read.bytes", 16);
	done(&made, report);
}

/* --- several traces --- */

static void make_rank(struct made_trace *made, const struct made_options *options, uint64_t at,
		      int64_t rank)
{
	made_begin(made, options);
	EXEC(made, .time = at, .pid = 10, .ppid = 1, .comm = "train", .command = "train",
	     .rank = rank);
	FILE_ROW(made, .time = at, .id = 1, .dev = 1, .ino = 1, .path = "/data/x");
	CALL(made, .time = at + 100, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .result = 10);
	made->operations[M_ANONYMOUS].count = 5;
}

TEST(test_two_hosts)
{
	static const char *const command[] = { "srun", "train", NULL };
	/* The second host booted an hour later; its wall clock is 50 ns behind the first's. */
	const struct made_options one = { .host = "node1",
					  .boot_id = "x",
					  .monotonic_ns = 7200,
					  .realtime_ns = 1000007200,
					  .command = command };
	const struct made_options two = { .host = "node2",
					  .boot_id = "y",
					  .monotonic_ns = 3600,
					  .realtime_ns = 1000007150,
					  .kernel = "5.10.0" };
	struct made_trace made[2];
	struct trace_reader *readers[2];
	const struct cell *cell;
	struct report *report;

	make_rank(&made[0], &one, 7200, 0);
	made[0].totals.exit_code = 0;
	readers[0] = made_finish(&made[0], 7200, 8000);
	make_rank(&made[1], &two, 3600, 1);
	made[1].totals.exit_code = 3;
	readers[1] = made_finish(&made[1], 3600, 4500);
	report = made_report(readers, 2);
	CHECK(report, "trace", 0, "start_unix_ns", 1000007150);
	CHECK(report, "trace", 0, "duration_ns", 900);
	assert_int_equal(row_with(report, "caveats", "id", "clocks"), -1);
	CHECK(report, "trace", 0, "exit_code", 3);
	check_text(report, "trace", 0, "kernel", "6.1.0, 5.10.0");
	cell = ask(report, "trace", 0, "hosts");
	assert_int_equal(cell->length, 2);
	assert_string_equal(cell->texts[0].text, "node1");
	assert_string_equal(cell->texts[1].text, "node2");
	cell = ask(report, "trace", 0, "files");
	assert_int_equal(cell->length, 2);
	assert_string_equal(cell->texts[1].text, "b.flt");
	cell = ask(report, "trace", 0, "command");
	assert_int_equal(cell->length, 2);
	assert_string_equal(cell->texts[0].text, "srun");
	/* [7250, 7350) on the first's clock and [7300, 7400): they overlap by half. */
	CHECK(report, "totals", 0, "read.count", 2);
	CHECK(report, "totals", 0, "read.time_ns", 150);
	CHECK(report, "totals", 0, "read.thread_time_ns", 200);
	CHECK(report, "totals", 0, "anonymous_faults.count", 10);
	/* Same PID and same inode, but different processes and files. */
	assert_int_equal(report_table(report, "processes")->row_count, 2);
	CHECK(report, "processes", 0, "rank", 1);
	CHECK(report, "processes", 0, "start_ns", 0);
	check_text(report, "processes", 0, "host", "node2");
	CHECK(report, "processes", 1, "rank", 0);
	CHECK(report, "processes", 1, "start_ns", 50);
	assert_int_equal(report_table(report, "files")->row_count, 2);
	CHECK(report, "files", 0, "read.bytes", 10);
	CHECK(report, "files", 1, "read.bytes", 10);
	report_free(report);
	made_close(&made[0]);
	made_close(&made[1]);
}

/* Traces of one boot share one clock, whatever their clock pairs say (NTP moved the wall clock in
 * between), and the same files; one of them has no end.
 */
TEST(test_one_host_twice)
{
	const struct made_options one = { .monotonic_ns = 1000, .realtime_ns = 5000 };
	const struct made_options two = { .monotonic_ns = 1500, .realtime_ns = 9999 };
	struct made_trace made[2];
	struct trace_reader *readers[2];
	struct report *report;

	make_rank(&made[0], &one, 1000, 0);
	readers[0] = made_finish(&made[0], 1000, 2000);
	make_rank(&made[1], &two, 1050, 1);
	readers[1] = made_abandon(&made[1]);
	report = made_report(readers, 2);
	CHECK(report, "totals", 0, "read.time_ns", 150);
	CHECK(report, "trace", 0, "start_unix_ns", 5000);
	CHECK(report, "trace", 0, "duration_ns", 1000);
	assert_int_equal(ask(report, "trace", 0, "hosts")->length, 1);
	assert_false(ask(report, "trace", 0, "complete")->flag);
	check_null(report, "trace", 0, "lost.total");
	check_null(report, "trace", 0, "exit_code");
	check_null(report, "totals", 0, "anonymous_faults");
	CHECK(report, "trace", 0, "events", 3 + 3);
	assert_int_equal(report_table(report, "files")->row_count, 1);
	CHECK(report, "files", 0, "read.bytes", 20);
	CHECK(report, "files", 0, "processes", 2);
	CHECK(report, "files", 0, "read.time_ns", 150);
	assert_int_equal(report_table(report, "processes")->row_count, 2);
	report_free(report);
	made_close(&made[0]);
	made_close(&made[1]);
}

/* Tables have unique names, those that cannot be filled say why, and records have one row. */
TEST(test_tables)
{
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	size_t absent = 0;

	BEGIN(&made);
	report = report_of(&made, 0);
	for (size_t i = 0; i < report->table_count; i++) {
		const struct table *table = report->tables[i];

		/* The first one of that name. */
		assert_ptr_equal(report_table(report, table->name), table);
		if (table->absent && !table->note)
			fail_msg("%s is absent without a note", table->name);
		if (!table->absent && table->shape == TABLE_RECORD)
			assert_int_equal(table->row_count, 1);
		absent += table->absent;
	}
	assert_in_range(absent, 1, report->table_count - 1);
	assert_null(report_table(report, "nothing"));
	CHECK(report, "trace", 0, "events", 0);
	CHECK(report, "trace", 0, "exit_code", 0);
	report_free(report);
	report_free(NULL);
	made_close(&made);
	assert_int_equal(report_make(&report, NULL, NULL, 0, NULL, &error), -EINVAL);
	assert_null(report);
}

/* In each of three rounds, a process starts two programs side by side: the first round is
 * needed. */
TEST(test_starts_side_by_side)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	EXEC(&made, .time = 1, .pid = 10, .comm = "sh", .rank = -1);
	FILE_ROW(&made, .time = 1, .id = 1, .ino = 1, .mode = S_IFREG,
		 .path = "/usr/lib/x86_64-linux-gnu/libz.so.1");
	for (uint64_t i = 0; i < 6; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i / 2 * 120 * MS;

		made_fork(&made, begins, 10, pid);
		EXEC(&made, .time = begins + 1, .pid = pid, .ppid = 10,
		     .comm = i % 2 ? "awk" : "basename", .rank = -1);
		CALL(&made, .time = begins + 10, .dur = 100 * MS - 10, .pid = pid, .op = M_OPENAT,
		     .file = 1, .result = 3);
		EXIT(&made, .time = begins + 110 * MS, .pid = pid, .tid = pid);
	}
	report = report_of(&made, 400 * MS);
	CHECK(report, "findings", finding_row(report, "worker-start"), "cost_ns", 200 * MS);
	done(&made, report);
}
