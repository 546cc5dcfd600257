/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The findings on locks of files that processes hold in turns. */
#include "unit_test.h"

#include "findings_made.h"

#define TURN (49 * MS)
#define TURNS 20

/* Two processes that hold a lock in turns, each while the other waits for it. */
struct turns {
	bool ranks;	   /* each has a main thread; else a third process waits for both */
	bool stranger;	   /* it is a process outside the run that holds the lock */
	uint64_t computes; /* percent of each turn on a CPU; the rest is sleep */
	uint64_t call;	   /* that waits */
};

static void add_turn(struct made_trace *made, const struct turns *turns, uint64_t time_ns,
		     uint64_t holder, uint64_t waiter)
{
	const uint64_t sleep_ns = TURN / 100 * (100 - turns->computes);

	CALL(made, .time = time_ns + US, .dur = TURN - US, .pid = waiter, .op = turns->call,
	     .file = 1);
	WAIT(made, .time = time_ns + 2 * US, .dur = TURN - 3 * US, .pid = waiter, .state = "lock",
	     .call = "flock", .waker_pid = turns->stranger ? 99 : holder,
	     .waker_tid = turns->stranger ? 99 : holder);
	SAMPLE(made, .time = time_ns + US, .dur = TURN - US, .pid = waiter, .op = turns->call,
	       .file = 1, .stack = 1);
	if (!sleep_ns)
		return;
	WAIT(made, .time = time_ns + 3 * US, .dur = sleep_ns - 5 * US, .pid = holder,
	     .state = "sleep", .call = "clock_nanosleep");
	SAMPLE(made, .time = time_ns, .dur = sleep_ns - 5 * US, .pid = holder, .state = "sleep",
	       .stack = 2);
}

static struct report *take_turns(struct made_trace *made, const struct turns *turns)
{
	BEGIN(made, .threads = true, .stacks = true);
	add_file(made, 1, MIB, "/data/shard.lock");
	for (uint64_t line = 1; line <= 2; line++) {
		made_frame(made, 1, line, "/job/a.py", line, "f");
		made_stack(made, 1, line, 0, line);
	}
	if (!turns->ranks)
		EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t pid = 20; pid < 22; pid++) {
		struct made_thread_time row = { .time = 13, .dur = END - 13, .pid = pid };

		row.states[THREAD_LOCK] = row.dur / 2;
		row.states[THREAD_CPU] = row.dur / 200 * turns->computes;
		row.states[THREAD_SLEEP] =
			row.dur - row.states[THREAD_LOCK] - row.states[THREAD_CPU];
		if (turns->ranks)
			EXEC(made, .time = 13, .pid = pid, .comm = "a", .command = "a",
			     .rank = (int64_t)pid - 20);
		else
			made_fork(made, 12, 10, pid);
		made_thread_time(made, &row);
	}
	if (!turns->ranks) {
		THREAD_TIME(made, .time = 11, .dur = END - 11, .pid = 10,
			    .states = { [THREAD_CHILD] = END - 11 });
		WAIT(made, .time = 20, .dur = END - 20, .pid = 10, .state = "child",
		     .call = "wait4", .waker_pid = 20, .waker_tid = 20);
	}
	for (uint64_t i = 0; i < TURNS; i++)
		add_turn(made, turns, MS + i * TURN, 20 + i % 2, 21 - i % 2);
	return report_between(made, 10, END);
}

static uint64_t cost_of(const struct report *report, const char *id)
{
	return ask(report, "findings", finding_row(report, id), "cost_ns")->uint;
}

static void check_about(uint64_t number, uint64_t expected)
{
	assert_in_range(number, expected - expected / 10, expected + expected / 10);
}

/* Without the lock, both would work at the same time. */
TEST(test_turns)
{
	for (int ranks = 0; ranks < 2; ranks++) {
		struct made_trace made;
		struct report *report =
			take_turns(&made, &(struct turns) { .ranks = ranks, .call = M_FLOCK });
		const size_t row = finding_row(report, "lock-wait");

		check_about(cost_of(report, "lock-wait"), END / 2);
		check_text(report, "findings", row, "title", "Lock waits on shard.lock");
		check_text(report, "findings", row, "where",
			   ranks ? "a.py:1 in f, 100% of the time on shard.lock"
				 : "a.py:1 in f, 100% of the time on shard.lock (in workers)");
		check_text(report, "findings", row, "says",
			   "20 flock and fcntl calls waited 49.0 ms each, 980 ms in total; the "
			   "lock was held at a.py:2 in f");
		assert_int_equal(row_of_finding(report, "lock-waits"), -1);
		done(&made, report);
	}
}

/* But no faster than the CPUs compute, of which this host has two. */
TEST(test_turns_of_cpu)
{
	struct made_trace made;
	struct report *report =
		take_turns(&made, &(struct turns) { .computes = 100, .call = M_FLOCK });

	check_about(cost_of(report, "lock-wait"), END / 2);
	assert_int_equal(row_of_finding(report, "worker-bound"), -1);
	done(&made, report);
}

/* The holder is outside the run, so its work is unknown; the wait is reported once. */
TEST(test_stranger)
{
	struct made_trace made;
	struct report *report =
		take_turns(&made, &(struct turns) { .stranger = true, .call = M_FLOCK });

	check_about(cost_of(report, "lock-wait"), END / 2);
	assert_int_equal(row_of_finding(report, "lock-waits"), -1);
	done(&made, report);
}

/* Processes of which each takes a lock once, sleeps and ends: a main thread that waits for all of
 * them waits for holders only, but the last one waited for all others. The sleep is the lock's. */
TEST(test_one_after_the_other)
{
	const uint64_t count = 4, hold_ns = END / 5;
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .threads = true);
	add_file(&made, 1, MIB, "/data/shard.lock");
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10,
		    .states = { [THREAD_CHILD] = END - 11 });
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t pid = 20 + i, taken_ns = MS + i * hold_ns;
		struct made_thread_time row = { .time = 13, .dur = taken_ns + hold_ns, .pid = pid };

		made_fork(&made, 12, 10, pid);
		row.states[THREAD_LOCK] = taken_ns - MS;
		row.states[THREAD_SLEEP] = row.dur - row.states[THREAD_LOCK];
		made_thread_time(&made, &row);
		if (i) {
			CALL(&made, .time = MS, .dur = taken_ns - MS, .pid = pid, .op = M_FLOCK,
			     .file = 1);
			WAIT(&made, .time = MS, .dur = taken_ns - MS, .pid = pid, .state = "lock",
			     .call = "flock", .waker_pid = pid - 1, .waker_tid = pid - 1);
		}
		WAIT(&made, .time = taken_ns, .dur = hold_ns - 1, .pid = pid, .state = "sleep",
		     .call = "clock_nanosleep");
		WAIT(&made, .time = i ? taken_ns : 20, .dur = hold_ns, .pid = 10, .state = "child",
		     .call = "wait4", .waker_pid = pid, .waker_tid = pid);
	}
	report = report_between(&made, 10, END);
	check_about(cost_of(report, "lock-wait"), (count - 1) * hold_ns);
	assert_int_equal(row_of_finding(report, "sleeps"), -1);
	done(&made, report);
}
