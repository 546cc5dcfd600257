/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Costs of findings: reduced by overlapping compute, or only bounds. */
#include "unit_test.h"

#include <inttypes.h>

#include "findings_made.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_faults.h"
#include "findings_of_jobs.h"
#include "findings_of_opens.h"
#include "findings_of_reads.h"
#include "findings_of_writes.h"

/* Compute in the first 500 ms, and a helper that reads and writes, and opens files, behind it. */
static void add_hidden(struct made_trace *made)
{
	add_file(made, 9, 64 * MIB, "/data/log");
	SPAN(made, .begin = 50, .end = 500 * MS, .pid = 10, .id = 1, .name = "step",
	     .category = "compute");
	CALL(made, .time = 100, .dur = 400 * MS, .pid = 10, .tid = 11, .op = M_WRITE, .file = 9,
	     .asked = MIB, .result = MIB);
	CALL(made, .time = 101, .dur = 400 * MS, .pid = 10, .tid = 12, .op = M_READ, .file = 9,
	     .asked = MIB, .result = MIB);
	CALL(made, .time = 102, .dur = 400 * MS, .pid = 10, .tid = 13, .op = M_FSTAT, .file = 9);
}

/* A save of one long sync, outside compute. */
static void synced_save(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	CALL(made, .time = 510 * MS, .dur = 40 * MS, .pid = 10, .op = M_WRITE, .file = 1,
	     .asked = 64 * MIB, .result = 64 * MIB);
	CALL(made, .time = 551 * MS, .dur = 250 * MS, .pid = 10, .op = M_FSYNC, .file = 1);
}

static void direct_writes(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 510 * MS, .count = 2000, .op = M_WRITE, .bytes = 4096, .step = 4096,
	      .dur = 150 * US, .flags = TRACE_OP_DIRECT);
}

static void failing_reads(struct made_trace *made)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 510 * MS, .count = 200, .op = M_PREAD, .asked = 4096, .result = -5, .dur = MS);
}

/* Faults that the device gets late. */
static void held_faults(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 510 * MS + i * 20 * MS;

		FAULT(made, .time = at, .dur = 19 * MS, .pid = 10, .file = 1, .offset = i * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
		BIO(made, .time = at + 17 * MS, .dur = MS, .pid = 0, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * MIB, .bytes = MIB, .request = i + 1, .dev = 8 << 20);
	}
}

/* Stores that are throttled, in calls of their own class. */
static void throttled_stores(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 200; i++) {
		const uint64_t at = 510 * MS + i * 2 * MS;

		FAULT(made, .time = at, .dur = 2 * MS - 1, .pid = 10, .file = 1, .offset = i * 4096,
		      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED);
		THROTTLE(made, .time = at + 1, .pause = MS, .pid = 10, .file = 1);
	}
}

/* Files that do not stay in memory are read through mappings. */
static void fetched_by_faults(struct made_trace *made)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t i = 0; i < 96; i++)
		FAULT(made, .time = 510 * MS + i * 4 * MS, .dur = 3 * MS, .pid = 10, .file = 1,
		      .offset = i % 32 * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Compute overlaps one class of I/O more than another. */
TEST(test_overlap_of_each_class)
{
	static const struct {
		const char *id;
		void (*make)(struct made_trace *made);
		uint64_t least_ms, most_ms;
	} runs[] = {
		{ "save-waits", synced_save, 90, 200 },
		{ "small-direct", direct_writes, 100, 300 },
		{ "failed-calls", failing_reads, 60, 200 },
		{ "held-back", held_faults, 250, 300 },
		{ "writers-throttled", throttled_stores, 90, 200 },
		{ "fetched-again", fetched_by_faults, 150, 288 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct report *report;
		uint64_t cost_ns;

		BEGIN_RUN(&made, .spans = true, .block = true);
		add_hidden(&made);
		runs[i].make(&made);
		report = report_between(&made, 10, END);
		cost_ns = ask(report, "findings", finding_row(report, runs[i].id), "cost_ns")->uint;
		if (cost_ns < runs[i].least_ms * MS || cost_ns > runs[i].most_ms * MS)
			fail_msg("%s costs %" PRIu64, runs[i].id, cost_ns);
		done(&made, report);
	}
}

/* 80 ms of each 100 ms are compute. */
static void fsyncs_beside_compute(struct made_trace *made, bool sound)
{
	for (uint64_t i = 5; i < 9; i++)
		SPAN(made, .begin = i * 100 * MS, .end = (i * 100 + 80) * MS, .pid = 10, .id = i,
		     .name = "step", .category = "compute");
	fsync_often(made, sound);
}

/* How exact a cost is. */
TEST(test_cost_is)
{
	static const struct {
		const char *id;
		void (*make)(struct made_trace *made, bool sound);
		uint64_t lost;
		const char *cost_is;
	} runs[] = {
		{ "fsync-often", fsync_often, 0, "measured" },
		{ "fsync-often", fsync_often, 10, "at least" },
		{ "fsync-often", fsyncs_beside_compute, 0, "estimated" },
		{ "random-reads", random_reads, 0, "estimated" },
		{ "small-reads-cached", small_reads_cached, 0, "at least" },
		{ "cold-start", cold_start, 0, "estimated" },
		{ "imports", imports, 0, "estimated" },
		{ "worker-start", worker_start, 0, "estimated" },
		{ "swapped", swapped, 0, "at most" },
		{ "requests-small", requests_small, 0, "at most" },
		{ "device-shared", device_shared, 0, "at most" },
		{ "ranks-uneven", ranks_uneven, 0, "at most" },
		{ "rank-slow", rank_slow, 10, "at most" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .spans = true, .block = true);
		runs[i].make(&made, false);
		made.kinds[TRACE_SYSCALL].events += runs[i].lost;
		made.kinds[TRACE_SYSCALL].lost += runs[i].lost;
		report = report_between(&made, 10, END);
		check_finding_text(report, runs[i].id, "cost_is", runs[i].cost_is);
		done(&made, report);
	}
}

/* Requests of reads that compute overlaps cost nothing, however many threads wait for them. */
TEST(test_small_requests_of_hidden_reads)
{
	for (int hidden = 0; hidden < 2; hidden++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .spans = true, .block = true);
		SPAN(&made, .begin = hidden ? 50 : 900 * MS, .end = 950 * MS, .pid = 10, .id = 1,
		     .name = "step", .category = "compute");
		requests_small(&made, false);
		report = report_between(&made, 10, END);
		assert_int_equal(row_of_finding(report, "requests-small") >= 0, !hidden);
		done(&made, report);
	}
}

/* So does a device that is shared while the run computes. */
TEST(test_device_shared_while_computing)
{
	for (int hidden = 0; hidden < 2; hidden++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .spans = true, .block = true);
		add_file(&made, 1, MIB, "/data/a");
		SPAN(&made, .begin = hidden ? 50 : 900 * MS, .end = 950 * MS, .pid = 10, .id = 1,
		     .name = "step", .category = "compute");
		device_shared(&made, false);
		CALL(&made, .time = 300 * MS, .dur = 100 * MS, .pid = 20, .op = M_READ, .file = 1,
		     .asked = MIB, .result = MIB, .fetched = MIB);
		report = report_between(&made, 10, END);
		assert_int_equal(row_of_finding(report, "device-shared") >= 0, !hidden);
		done(&made, report);
	}
}

/* Rank 1 reads for 60 ms in each of eight workers, which run side by side, rank 0 for 40 ms. Or
 * they run one after the other. */
TEST(test_uneven_ranks_with_workers)
{
	for (uint64_t in_turn = 0; in_turn < 2; in_turn++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made);
		add_file(&made, 1, 64 * MIB, "/data/a");
		for (uint64_t worker = 0; worker < 8; worker++) {
			for (uint64_t rank = 0; rank < 2; rank++) {
				const uint64_t pid = 20 + worker + 10 * rank;
				const uint64_t at = 100 + in_turn * worker * 70 * MS;

				made_fork(&made, at, 10, pid);
				EXEC(&made, .time = at + 1, .pid = pid, .ppid = 10, .comm = "r",
				     .command = "r", .rank = rank);
				CALL(&made, .time = at + 2, .dur = rank ? 60 * MS : 40 * MS,
				     .pid = pid, .op = M_READ, .file = 1, .asked = (1 + rank) * MIB,
				     .result = (1 + rank) * MIB);
				EXIT(&made, .time = at + 65 * MS, .pid = pid);
			}
		}
		report = report_between(&made, 10, END);
		assert_in_range(
			ask(report, "findings", finding_row(report, "ranks-uneven"), "cost_ns")
				->uint,
			in_turn ? 140 * MS : 20 * MS, in_turn ? 160 * MS : 30 * MS);
		done(&made, report);
	}
}

/* Lookups of modules and reads of them, at the same time in two threads, together no longer than
 * the run. */
TEST(test_cost_within_the_run)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made);
	add_file(&made, 1, 64 * KIB, "/opt/venv/lib/python3.11/a/b.pyc");
	CALL(&made, .time = 99, .dur = 900 * MS, .pid = 10, .tid = 11, .op = M_READ, .file = 1,
	     .asked = 64 * KIB, .result = 64 * KIB);
	CALLS(&made, 100, .count = 2000, .op = M_FSTAT, .dur = 400 * US);
	report = report_between(&made, 10, END);
	CHECK(report, "findings", finding_row(report, "imports"), "cost_ns", END - 10);
	done(&made, report);
}

/* Larger reads save the calls, but not the copies, which take as long for 4 KiB as a call. Of reads
 * from storage, threads spend half of the time on a CPU. */
TEST(test_copies_stay)
{
	static const struct {
		const char *id;
		uint64_t bytes;
		double stays;
	} runs[] = {
		{ "small-reads-cached", 4 * KIB, 0.5 },
		{ "small-reads-cached", 12 * KIB, 0.75 },
		{ "small-reads-storage", 4 * KIB, 0.25 },
		{ "small-reads-storage", 28 * KIB, 0.4375 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct report *report;
		uint64_t saved_ns = 100 * MS * (1 - runs[i].stays);

		BEGIN_RUN(&made, .threads = true);
		THREAD_TIME(
			&made, .time = 11, .dur = END - 11, .pid = 10, .io = 100 * MS,
			.io_wait = 50 * MS,
			.states = {
				[THREAD_CPU] = END - 11 - 50 * MS, [THREAD_STORAGE] = 50 * MS });
		add_file(&made, 1, 64 * MIB, "/data/a");
		CALLS(&made, 100, .count = 5000, .op = M_READ, .bytes = runs[i].bytes,
		      .step = runs[i].bytes, .dur = 20 * US, .fetched = i < 2 ? 0 : runs[i].bytes);
		report = report_between(&made, 10, END);
		assert_in_range(
			ask(report, "findings", finding_row(report, runs[i].id), "cost_ns")->uint,
			saved_ns - US, saved_ns + US);
		done(&made, report);
	}
}

/* A pack of the files has the same data: half of the time goes to reads of 20 KiB, and threads spend
 * half of that on a CPU. */
TEST(test_copies_of_small_files_stay)
{
	const double stays = 0.5 * 0.5 * 20 / (20 + 4);
	struct made_trace made;
	struct report *report;
	uint64_t cost_ns;

	BEGIN_RUN(&made, .threads = true);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 10 * MS, .io_wait = 5 * MS,
		    .states = { [THREAD_CPU] = END - 11 - 5 * MS, [THREAD_STORAGE] = 5 * MS });
	many_small_files(&made, false);
	report = report_between(&made, 10, END);
	cost_ns = ask(report, "findings", finding_row(report, "many-small-files"), "cost_ns")->uint;
	assert_in_range(cost_ns, 10 * MS * (1 - stays) - US, 10 * MS * (1 - stays) + US);
	done(&made, report);
}
