/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings on what main threads wait for: CPUs, workers, other ranks, a sleep. */
#include "unit_test.h"

#include <string.h>

#include "findings_of_path.h"

/* One of two ranks syncs or computes while the other waits. A finding names the syncs; what it
 * computes is not divided by two. */
TEST(test_rank_that_others_wait_for)
{
	for (int syncs = 0; syncs < 2; syncs++) {
		struct made_trace made;
		struct report *report;
		long row;

		BEGIN_RUN(&made, .threads = true);
		for (uint64_t rank = 0; rank < 2; rank++) {
			EXEC(&made, .time = BEGAN, .pid = 30 + rank, .comm = "r", .command = "r",
			     .rank = rank);
			add_states(&made, 30 + rank, 30 + rank, rank ? THREAD_PIPE : THREAD_CPU, 70,
				   THREAD_CPU);
		}
		add_file(&made, 1, 64 * MIB, "/data/log");
		for (uint64_t rank = 0; rank < 2 && syncs; rank++) /* so it is not rank-slow */
			CALL(&made, .time = 20, .dur = US, .pid = 30 + rank, .op = M_READ,
			     .file = 1, .asked = MIB, .result = MIB, .fetched = rank ? 0 : MIB);
		for (uint64_t i = 0; i < 60 && syncs; i++)
			CALL(&made, .time = 100 + i * 11 * MS, .dur = 11 * MS, .pid = 30,
			     .op = M_FSYNC, .file = 1);
		report = report_between(&made, 10, END);
		row = row_of_finding(report, "rank-behind");
		assert_true(row >= 0);
		check_text(report, "findings", row, "severity", syncs ? "note" : "high");
		if (!syncs)
			assert_in_range(ask(report, "findings", row_of_finding(report, "cpu-bound"),
					    "cost_ns")
						->uint,
					END - MS, END);
		done(&made, report);
	}
}

/* 400 ms of reads, in which the thread waits 350 ms for a CPU, and 600 ms of computing. */
TEST(test_starved_in_reads)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .threads = true, .stacks = true);
	add_slow_reads(&made, THREAD_RUNNABLE);
	report = report_between(&made, 10, END);
	assert_in_range(ask(report, "critical_path", 0, "cpu_ns")->uint, 599 * MS, 601 * MS);
	assert_in_range(ask(report, "critical_path", 0, "io_runnable_ns")->uint, 349 * MS,
			351 * MS);
	assert_in_range(
		ask(report, "findings", row_of_finding(report, "cpu-starved"), "cost_ns")->uint,
		349 * MS, 351 * MS);
	done(&made, report);
}

/* If others work during most of a sleep, it may be a way to wait for them. */
TEST(test_polling)
{
	static const struct {
		bool is_process; /* that works */
		enum thread_state state;
		uint64_t share;
		const char *severity;
	} runs[] = {
		{ false, THREAD_CPU, 99, "note" },
		{ true, THREAD_CPU, 95, "note" },
		{ false, THREAD_LOCK, 99, "high" },
		{ true, THREAD_CPU, 20, "high" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true);
		made_fork(&made, 20, 10, 11);
		add_states(&made, 10, 10, THREAD_SLEEP, 90, THREAD_CPU);
		add_states(&made, runs[i].is_process ? 11 : 10, 11, runs[i].state, runs[i].share,
			   THREAD_OTHER);
		report = report_between(&made, 10, END);
		check_finding_text(report, "sleeps", "severity", runs[i].severity);
		done(&made, report);
	}
}

/* A second worker would also wait for a CPU. */
static void worker_without_cpus(struct made_trace *made, bool full)
{
	made_fork(made, 20, 10, 11);
	add_states(made, 10, 10, THREAD_PIPE, 60, THREAD_SLEEP);
	add_states(made, 11, 11, THREAD_CPU, 45, full ? THREAD_RUNNABLE : THREAD_SLEEP);
	add_long_wait(made, "pipe", "read", 11, 0);
}

/* A second one computes next to it; full: for as long, on two CPUs. */
static void workers_side_by_side(struct made_trace *made, bool full)
{
	add_states(made, 10, 10, THREAD_CPU, 30, THREAD_PIPE);
	for (uint64_t pid = 11; pid <= 12; pid++) {
		made_fork(made, 300 * MS, 10, pid);
		THREAD_TIME(made, .time = 300 * MS, .dur = 600 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = full ? 595 * MS : 300 * MS,
					[THREAD_LOCK] = full ? 5 * MS : 300 * MS });
		EXIT(made, .time = 900 * MS, .pid = pid);
	}
	WAIT(made, .time = 301 * MS, .dur = 598 * MS, .pid = 10, .state = "pipe", .call = "read",
	     .waker_pid = 11);
}

/* If more workers would find no CPU, only their code is left to change. */
TEST(test_workers_without_cpus)
{
	static const struct {
		void (*make)(struct made_trace *made, bool full);
		const char *severity; /* if not all CPUs are busy */
	} runs[] = { { worker_without_cpus, "high" }, { workers_side_by_side, "medium" } };

	for (size_t i = 0; i < 4; i++) {
		const bool full = i % 2;
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true);
		runs[i / 2].make(&made, full);
		report = report_between(&made, 10, END);
		check_finding_text(report, "worker-bound", "severity",
				   full ? "note" : runs[i / 2].severity);
		done(&made, report);
	}
}

/* The CPUs are busy with the run itself, up to its limit or on all of them, or with others. */
TEST(test_starved_of)
{
	static const struct {
		uint64_t cpu_milli, throttled_ns, cpu_share, others;
		const char *advice;
	} starved[] = {
		{ 0, 0, 40, 0, "Find what else runs on the 2 CPUs, or request CPUs of its own" },
		/* Two threads do not compete for two CPUs. */
		{ 0, 0, 60, 1, "Find what else runs on the 2 CPUs" },
		{ 0, 0, 60, 2,
		  "Use fewer threads (OMP_NUM_THREADS, torch.set_num_threads) or workers, or "
		  "request more than 2 CPUs" },
		{ 500, 0, 40, 0, "Raise its limit of 0.5 CPUs" },
		{ 1000, 0, 60, 1, "Raise its limit of 1 CPU (" },
		{ 1500, 0, 40, 0, "Find what else" }, /* it is far from its limit, */
		{ 1500, 400 * MS, 40, 0, "Raise its limit of 1.5 CPUs" }, /* except now and then */
	};

	for (size_t i = 0; i < sizeof(starved) / sizeof(starved[0]); i++) {
		const struct trace_note note = { TRACE_NOTE_CPU_THROTTLED,
						 starved[i].throttled_ns };
		struct made_trace made;
		struct report *report;
		const struct cell *advice;

		BEGIN_RUN(&made, .threads = true, .cpu_milli = starved[i].cpu_milli);
		add_states(&made, 10, 10, THREAD_CPU, starved[i].cpu_share, THREAD_RUNNABLE);
		for (uint64_t j = 0; j < starved[i].others; j++)
			add_states(&made, 10, 12 + j, THREAD_CPU, 95, THREAD_RUNNABLE);
		made.totals.notes = &note;
		made.totals.note_count = 1;
		report = report_between(&made, 10, END);
		advice = ask(report, "findings", finding_row(report, "cpu-starved"), "advice");
		if (strncmp(advice->text, starved[i].advice, strlen(starved[i].advice)) != 0)
			fail_msg("case %zu: %s", i, advice->text);
		done(&made, report);
	}
}

/* If the run's own threads use the CPUs, what saves work shortens the waits. */
TEST(test_starved_by_own_work)
{
	static const struct {
		bool others, opens;
		const char *severity;
	} runs[] = { { true, true, "note" }, { true, false, "high" }, { false, true, "high" } };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true);
		add_states(&made, 10, 10, THREAD_CPU, 60, THREAD_RUNNABLE);
		for (uint64_t tid = 12; runs[i].others && tid < 14; tid++)
			add_states(&made, 10, tid, THREAD_CPU, 95, THREAD_RUNNABLE);
		add_file(&made, 1, MIB, "/data/a.h5");
		CALLS(&made, 100, .count = runs[i].opens ? 1000 : 8, .op = M_OPENAT, .result = 3,
		      .dur = 400 * US);
		report = report_between(&made, 10, END);
		check_finding_text(report, "cpu-starved", "severity", runs[i].severity);
		done(&made, report);
	}
}

/* It is not known whether the work needs the lock, or makes what the main thread waits for. */
TEST(test_helper_at_most)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .threads = true);
	helper_bound(&made, false);
	report = report_between(&made, 10, END);
	check_finding_text(report, "helper-bound", "cost_is", "at most");
	done(&made, report);
}
