// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The critical path: followed through workers, chains of waits, waits in both directions, threads
 * that begin later, ranks, a chosen range, and I/O that no thread waits for.
 */
#include "unit_test.h"

#include "analysis/report/report.h"
#include "ask_report.h"

#define MS 1000000ull
#define END (1000 * MS)

static struct made_trace made;
static struct report *report;

static int begin(void **state)
{
	BEGIN(&made, .threads = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "train", .command = "train", .rank = -1);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 1 << 30, .path = "/a");
	return 0;
}

static int end(void **state)
{
	done(&made, report);
	return 0;
}

/* A test of `report`, made of the rows that it adds to `made`. */
#define PATH_TEST(test) TEST_WITH(test, begin, end)

static void check_finding(const char *id, uint64_t cost_ns)
{
	CHECK(report, "findings", finding_row(report, id), "cost_ns", cost_ns);
}

static void finish(void)
{
	report = report_between(&made, 10, END);
}

/* A thread that computes unless rows of its own say otherwise. */
static void lives(uint64_t pid, uint64_t tid, uint64_t start_ns)
{
	THREAD_TIME(&made, .time = start_ns, .dur = END - start_ns, .pid = pid, .tid = tid,
		    .states = { [THREAD_CPU] = END - start_ns });
}

static void reads(uint64_t pid, uint64_t tid, uint64_t start_ns, uint64_t time_ns)
{
	CALL(&made, .time = start_ns, .dur = time_ns, .pid = pid, .tid = tid, .op = M_PREAD,
	     .file = 1, .asked = 4096, .result = 4096, .fetched = 4096);
}

static void waits(uint64_t tid, uint64_t start_ns, uint64_t end_ns, uint64_t waker)
{
	WAIT(&made, .time = start_ns, .dur = end_ns - start_ns, .pid = 10, .tid = tid,
	     .state = "lock", .call = "futex", .waker_pid = waker ? 10 : 0, .waker_tid = waker);
}

static void check_thread(uint64_t tid, uint64_t cpu_ns, uint64_t io_ns, uint64_t lock_ns)
{
	const struct table *table = report_table(report, "critical_path");

	for (size_t row = 0; row < table->row_count; row++) {
		if (ask(report, "critical_path", row, "tid")->uint != tid)
			continue;
		CHECK(report, "critical_path", row, "cpu_ns", cpu_ns);
		CHECK(report, "critical_path", row, "io_ns", io_ns);
		CHECK(report, "critical_path", row, "lock_ns", lock_ns);
		CHECK(report, "critical_path", row, "time_ns", cpu_ns + io_ns + lock_ns);
		return;
	}
	assert_int_equal(cpu_ns + io_ns + lock_ns, 0);
}

/* While the main thread waits for thread 11, which waits for 12, the path is what 12 does. */
PATH_TEST(test_chain)
{
	lives(10, 10, 10);
	lives(10, 11, 20);
	lives(10, 12, 30);
	reads(10, 12, 50 * MS, 100 * MS); /* half of it before */
	waits(11, 90 * MS, 300 * MS, 12);
	waits(10, 100 * MS, 400 * MS, 11);
	reads(10, 11, 320 * MS, 20 * MS);
	reads(10, 12, 500 * MS, 100 * MS); /* no thread waits for it */
	reads(10, 10, 700 * MS, 10 * MS);
	finish();
	check_thread(10, END - 10 - 310 * MS, 10 * MS, 0);
	check_thread(11, 80 * MS, 20 * MS, 0);
	check_thread(12, 150 * MS, 50 * MS, 0);
}

/* If two threads wait for each other, or one for an unknown thread, the wait stays a wait. */
PATH_TEST(test_cycle)
{
	lives(10, 10, 10);
	lives(10, 11, 20);
	waits(11, 50 * MS, 300 * MS, 10);
	waits(10, 100 * MS, 200 * MS, 11);
	waits(10, 400 * MS, 500 * MS, 99);
	finish();
	check_thread(10, END - 10 - 200 * MS, 0, 100 * MS);
	check_thread(11, 0, 0, 100 * MS);
}

/* Waits that end by a timer are pieces of one: the thread that ends the last had the lock. */
PATH_TEST(test_pieces)
{
	lives(10, 10, 10);
	lives(10, 11, 20);
	waits(10, 100 * MS, 105 * MS, 0);
	waits(10, 106 * MS, 111 * MS, 0);
	waits(10, 112 * MS, 114 * MS, 11);
	waits(10, 200 * MS, 205 * MS, 0); /* its waker is unknown */
	finish();
	check_thread(10, END - 10 - 17 * MS, 0, 5 * MS);
	check_thread(11, 12 * MS, 0, 0);
}

/* The thread that ends the wait begins during it. */
PATH_TEST(test_later_thread)
{
	lives(10, 10, 10);
	waits(10, 100 * MS, 400 * MS, 12);
	lives(10, 12, 200 * MS);
	finish();
	check_thread(10, END - 10 - 300 * MS, 0, 100 * MS);
	check_thread(12, 200 * MS, 0, 0);
}

/* It begins late in another process, whose main thread did the work until then. */
PATH_TEST(test_later_thread_of_worker)
{
	made_fork(&made, 20, 10, 20);
	lives(10, 10, 10);
	lives(20, 20, 30);
	WAIT(&made, .time = 100 * MS, .dur = 300 * MS, .pid = 10, .tid = 10, .state = "pipe",
	     .call = "poll", .waker_pid = 20, .waker_tid = 21);
	reads(20, 20, 150 * MS, 50 * MS);
	lives(20, 21, 390 * MS);
	finish();
	check_thread(10, END - 10 - 300 * MS, 0, 0);
	check_thread(20, 250 * MS, 50 * MS, 0);
	check_thread(21, 0, 0, 0);
}

/* A thread that appears during a later wait did not end that one. */
PATH_TEST(test_thread_that_is_too_late)
{
	lives(10, 10, 10);
	waits(10, 100 * MS, 200 * MS, 12);
	waits(10, 300 * MS, 500 * MS, 0);
	lives(10, 12, 400 * MS);
	finish();
	check_thread(10, END - 10 - 300 * MS, 0, 300 * MS);
	check_thread(12, 0, 0, 0);
}

/* A wait inside an operation, such as one that locks a file, is a wait. */
PATH_TEST(test_wait_in_call)
{
	lives(10, 10, 10);
	reads(10, 10, 100 * MS, 50 * MS);
	waits(10, 110 * MS, 140 * MS, 0);
	finish();
	check_thread(10, END - 10 - 50 * MS, 20 * MS, 30 * MS);
}

/* The main thread of each rank has a path; the launcher that started them has none. */
PATH_TEST(test_ranks)
{
	lives(10, 10, 10);
	for (uint64_t pid = 20; pid < 22; pid++) {
		made_fork(&made, 15, 10, pid);
		EXEC(&made, .time = 16, .pid = pid, .comm = "rank", .command = "rank",
		     .rank = pid - 20);
		lives(pid, pid, 16);
		reads(pid, pid, 100 * MS, (pid - 19) * 10 * MS);
	}
	finish();
	check_thread(10, 0, 0, 0);
	check_thread(20, END - 16 - 10 * MS, 10 * MS, 0);
	check_thread(21, END - 16 - 20 * MS, 20 * MS, 0);
}

/* Everything is cut at the ends of a chosen range. */
PATH_TEST(test_range)
{
	struct filter filter = FILTER_ALL;

	lives(10, 10, 10);
	lives(10, 11, 20);
	waits(10, 100 * MS, 400 * MS, 11);
	reads(10, 11, 150 * MS, 100 * MS);
	filter.from_ns = 200 * MS - 10;
	filter.until_ns = 300 * MS - 10;
	made_finish(&made, 10, END);
	report = report_with(&made, &(struct report_options) { .filter = &filter });
	check_thread(11, 50 * MS, 50 * MS, 0);
}

/* CPU time and short waits have no rows: they are divided in proportion to the thread's life. */
PATH_TEST(test_short_waits)
{
	THREAD_TIME(&made, .time = 10, .dur = END - 10, .pid = 10,
		    .states = { [THREAD_CPU] = 600 * MS - 10, [THREAD_LOCK] = 400 * MS });
	waits(10, 100 * MS, 300 * MS, 0);
	finish();
	/* Rounded down. */
	assert_in_range(ask(report, "critical_path", 0, "lock_ns")->uint, 400 * MS - 2, 400 * MS);
}

/* 400 reads at random offsets, of which the main thread does the first ones. */
static void check_cost(uint64_t by_main)
{
	lives(10, 10, 10);
	lives(10, 11, 20);
	for (uint64_t i = 0; i < 400; i++)
		CALL(&made, .time = 100 * MS + i * MS, .dur = MS, .pid = 10,
		     .tid = i < by_main ? 10 : 11, .op = M_PREAD, .file = 1,
		     .offset = (int64_t)(i * 157 % 400) << 20, .asked = 4096, .result = 4096,
		     .fetched = 4096);
	finish();
	check_finding("random-reads", by_main * MS);
}

PATH_TEST(test_cost)
{
	check_cost(400);
}

/* I/O that no thread waits for costs nothing. */
PATH_TEST(test_cost_of_helper)
{
	check_cost(100);
}

/* A thread ID is used again: the wait is for the process that has it when the wait ends. */
PATH_TEST(test_reused_thread_id)
{
	lives(10, 10, 10);
	THREAD_TIME(&made, .time = 20, .dur = 50 * MS, .pid = 10, .tid = 77,
		    .states = { [THREAD_CPU] = 50 * MS });
	made_fork(&made, 90 * MS, 10, 77);
	WAIT(&made, .time = 100 * MS, .dur = 800 * MS, .pid = 10, .tid = 10, .state = "child",
	     .call = "wait4", .waker_pid = 77, .waker_tid = 77);
	lives(77, 77, 101 * MS);
	finish();
	check_thread(10, END - 10 - 800 * MS, 0, 0);
	check_thread(77, 799 * MS, 0, 0);
}

/* A waiter enters the path during its wait, after the thread that it waits for has started. */
PATH_TEST(test_waiter_enters_later)
{
	lives(10, 10, 10);
	lives(10, 11, 20);
	WAIT(&made, .time = 50 * MS, .dur = 350 * MS, .pid = 10, .tid = 11, .state = "pipe",
	     .call = "read", .waker_pid = 12, .waker_tid = 12);
	made_fork(&made, 90 * MS, 10, 12);
	lives(12, 12, 100 * MS);
	waits(10, 200 * MS, 400 * MS, 11);
	finish();
	check_thread(10, END - 10 - 200 * MS, 0, 0);
	check_thread(11, 0, 0, 0);
	check_thread(12, 200 * MS, 0, 0);
}

/* In a script, a command's pipe is written by a process that the shell starts later: until then,
 * the path is what the shell waits for. */
PATH_TEST(test_command_of_script)
{
	lives(10, 10, 10);
	made_fork(&made, 20, 10, 11);
	made_fork(&made, 30, 11, 12);
	lives(11, 11, 20);
	lives(12, 12, 30);
	WAIT(&made, .time = 100 * MS, .dur = 700 * MS, .pid = 10, .state = "pipe", .call = "read",
	     .waker_pid = 13, .waker_tid = 13);
	WAIT(&made, .time = 100 * MS, .dur = 400 * MS, .pid = 11, .state = "child", .call = "wait4",
	     .waker_pid = 12, .waker_tid = 12);
	made_fork(&made, 600 * MS, 11, 13);
	lives(13, 13, 600 * MS);
	WAIT(&made, .time = 600 * MS + 1, .dur = 300 * MS, .pid = 11, .state = "child",
	     .call = "wait4", .waker_pid = 13, .waker_tid = 13);
	finish();
	check_thread(10, END - 10 - 700 * MS, 0, 0);
	check_thread(12, 400 * MS, 0, 0);
	check_thread(11, 100 * MS + 1, 0, 0);
	check_thread(13, 200 * MS - 1, 0, 0);
}

/* However many threads outside the run ended earlier waits, later threads are followed. */
PATH_TEST(test_many_wakers)
{
	const uint64_t count = 300000;
	lives(10, 10, 10);
	for (uint64_t i = 0; i < count; i++)
		waits(10, MS + i * 1000, MS + i * 1000 + 1, 1000000 + i);
	waits(10, 400 * MS, 700 * MS, 12);
	lives(10, 12, 500 * MS);
	finish();
	check_thread(10, END - 10 - 300 * MS - count, 0, 100 * MS + count);
	check_thread(12, 200 * MS, 0, 0);
}

/* Rows without a thread are not those of a main thread: the average is that of one. */
PATH_TEST(test_thread_zero)
{
	for (uint64_t pid = 20; pid < 25; pid++)
		made_fork(&made, pid, 10, pid);
	lives(10, 10, 30);
	for (uint64_t pid = 20; pid < 25; pid++) {
		const uint64_t values[SYSCALL_COLUMNS] = {
			[SYSCALL_TIME] = 100 * MS, [SYSCALL_DUR] = MS, [SYSCALL_PID] = pid,
			[SYSCALL_OP] = M_PREAD,	   [SYSCALL_FILE] = 1,
		};

		made_row(&made, TRACE_SYSCALL, 0, values);
		made.operations[M_PREAD].count++;
	}
	finish();
	check_finding("cpu-bound", END - 30);
}

/* Rank 0 waits for the lock of a file inside its own sync, while rank 1 syncs. */
PATH_TEST(test_wait_in_call_of_another_rank)
{
	for (uint64_t pid = 20; pid < 22; pid++) {
		made_fork(&made, 11, 10, pid);
		EXEC(&made, .time = 12, .pid = pid, .comm = "rank", .command = "rank",
		     .rank = pid - 20);
		lives(pid, pid, 20);
	}
	CALL(&made, .time = 100 * MS, .dur = 800 * MS, .pid = 20, .op = M_FSYNC, .file = 1);
	WAIT(&made, .time = 110 * MS, .dur = 770 * MS, .pid = 20, .tid = 20, .state = "lock",
	     .call = "fsync");
	for (uint64_t i = 0; i < 76; i++)
		CALL(&made, .time = (120 + 10 * i) * MS, .dur = 10 * MS, .pid = 21, .op = M_FSYNC,
		     .file = 1);
	finish();
	check_finding("fsync-often", 790 * MS);
}

/* A thread that hardly computes. */
static void is_blocked(uint64_t tid)
{
	THREAD_TIME(&made, .time = 30, .dur = END - 30, .pid = 10, .tid = tid,
		    .states = { [THREAD_LOCK] = END - 30 });
}

static void locks_file(uint64_t tid, uint64_t time_ns)
{
	is_blocked(tid);
	CALL(&made, .time = 50 * MS, .dur = time_ns, .pid = 10, .tid = tid, .op = M_FLOCK,
	     .file = 1);
	WAIT(&made, .time = 50 * MS, .dur = time_ns, .pid = 10, .tid = tid, .state = "lock",
	     .call = "flock", .waker_pid = 20, .waker_tid = 20);
}

/* Another process holds the lock while it sleeps. */
static void process_sleeps(uint64_t time_ns)
{
	made_fork(&made, 11, 10, 20);
	THREAD_TIME(&made, .time = 20, .dur = END - 20, .pid = 20,
		    .states = { [THREAD_SLEEP] = END - 20 });
	WAIT(&made, .time = 40 * MS, .dur = time_ns, .pid = 20, .tid = 20, .state = "sleep",
	     .call = "clock_nanosleep");
}

/* The main thread joins its helpers, which began to wait for the lock before. */
PATH_TEST(test_helpers_wait_for_file_lock)
{
	process_sleeps(910 * MS);
	locks_file(11, 900 * MS);
	locks_file(12, 900 * MS);
	is_blocked(10);
	waits(10, 100 * MS, 950 * MS, 11);
	finish();
	check_finding("lock-wait", 850 * MS);
}

/* The main thread's own call counts once, though it waits in it. */
PATH_TEST(test_main_waits_for_file_lock)
{
	process_sleeps(610 * MS);
	locks_file(10, 600 * MS);
	finish();
	check_finding("lock-wait", 600 * MS);
}
