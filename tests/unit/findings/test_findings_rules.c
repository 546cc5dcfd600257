/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Runs each rule of the registry on a trace with its problem, and on a sound sibling that differs
 * only in what the rule is about.
 *
 *   test_findings_rules --make DIRECTORY   leaves the former there, ID.NUMBER.flt, for other tests
 */
#define OWN_MAIN
#include "unit_test.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/finding/finding.h"
#include "findings_of_faults.h"
#include "findings_of_jobs.h"
#include "findings_of_mounts.h"
#include "findings_of_opens.h"
#include "findings_of_path.h"
#include "findings_of_reads.h"
#include "findings_of_workers.h"
#include "findings_of_writes.h"

static void make_case(struct made_trace *made, size_t i, bool sound)
{
	BEGIN_RUN(made, .spans = true, .block = true, .fuse = true, .nfs = true,
		  .async = cases[i].make != async_not_traced, .memory_bytes = 1ull << 30,
		  .threads = true, .stacks = true);
	cases[i].make(made, sound);
	made_finish(made, 10, END);
}

/* No share is above 1: what is not part of a whole has none. */
static void check_shares(const struct report *report)
{
	const struct table *table = report_table(report, "findings");

	for (size_t i = 0; i < table->row_count; i++) {
		const struct table *record = ask(report, "findings", i, "evidence")->table;

		for (size_t j = 0; j < record->column_count; j++)
			if (record->columns[j].unit == UNIT_SHARE &&
			    record->cells[j].type == CELL_REAL && record->cells[j].real > 1.001)
				fail_msg("%.*s: %s is %g",
					 (int)ask(report, "findings", i, "id")->length,
					 ask(report, "findings", i, "id")->text,
					 record->columns[j].name, record->cells[j].real);
	}
}

TEST(test_cases)
{
	for (size_t i = 0; i < case_count; i++) {
		for (int sound = 0; sound < 2; sound++) {
			struct made_trace made;
			struct report *report;

			make_case(&made, i, sound);
			report = made_report(&made.reader, 1);
			check_texts(report, cases[i].id);
			check_shares(report);
			if ((row_of_finding(report, cases[i].id) >= 0) == sound)
				fail_msg("%s: %s", cases[i].id,
					 sound ? "reported for a sound trace" : "not reported");
			done(&made, report);
		}
	}
}

/* The findings on devices include mounts, also if requests to block devices were not recorded. */
TEST(test_mounts_only)
{
	static const struct {
		const char *id;
		uint64_t queue_ns, service_ns;
	} of[] = { { "device-overloaded", 4 * MS, 4 * MS }, { "device-slow", 0, 12 * MS } };

	for (size_t i = 0; i < 4; i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .fuse = i < 2);
		add_served_reads(&made, of[i % 2].queue_ns, of[i % 2].service_ns);
		made_finish(&made, 10, END);
		report = made_report(&made.reader, 1);
		assert_int_equal(row_of_finding(report, of[i % 2].id) >= 0, i < 2);
		done(&made, report);
	}
}

/* One fault in ten dirties a page, or each one does, whatever the page size is. */
TEST(test_stores_by_page_size)
{
	for (int i = 0; i < 4; i++) {
		const uint64_t page_bytes = i / 2 ? 64 * 1024 : 4096;
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .page_bytes = page_bytes);
		add_file(&made, 1, 12000 * page_bytes, "/data/state.bin");
		for (uint64_t j = 0; j < 12000; j++) {
			bool stored = i % 2 || j % 10 == 0;

			FAULT(&made, .time = 100 + j * 4 * US, .dur = 2 * US, .pid = 10, .file = 1,
			      .offset = j * page_bytes, .dirtied = stored ? page_bytes : 0,
			      .flags = TRACE_FAULT_SHARED | (stored ? TRACE_FAULT_WRITE : 0));
		}
		report = report_between(&made, 10, END);
		assert_int_equal(row_of_finding(report, "mmap-store-faults") >= 0, i % 2);
		done(&made, report);
	}
}

/* A small file opened and read once for each of the others, such as an index, is not one of them.
 */
TEST(test_index_of_small_files)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made);
	many_small_files(&made, false);
	CALLS(&made, 400 * MS, .count = 1000, .op = M_OPENAT, .result = 3, .dur = 100 * US);
	CALLS(&made, 600 * MS, .count = 1000, .op = M_READ, .bytes = 20 * KIB, .dur = 100 * US);
	report = report_between(&made, 10, END);
	CHECK(report, "findings", row_of_finding(report, "many-small-files"), "cost_ns",
	      999 * 10 * US);
	assert_true(row_of_finding(report, "opened-again") >= 0);
	done(&made, report);
}

/* An index that each new worker reads is a reason to keep workers, not to divide the index. */
TEST(test_index_of_new_workers)
{
	for (int sound = 0; sound < 2; sound++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true);
		renew_workers(&made, sound);
		add_file(&made, 1, MIB, "/data/index.json");
		for (uint64_t i = 0; i < 5; i++)
			CALL(&made, .time = 102 + i * 150 * MS, .dur = 20 * MS, .pid = 20 + i,
			     .op = M_READ, .file = 1, .asked = MIB, .result = MIB);
		report = report_between(&made, 10, END);
		assert_int_equal(row_of_finding(report, "workers-renewed") >= 0, !sound);
		assert_int_equal(row_of_finding(report, "read-by-several") >= 0, sound);
		done(&made, report);
	}
}

/* A bound is what no other finding explains: reads from memory next to a load. */
TEST(test_unexplained_reads)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN_RUN(&made);
	add_load(&made, 10, 100, 4 * MIB);
	add_file(&made, 2, 512 * MIB, "/dev/shm/a");
	for (uint64_t i = 0; i < 130; i++)
		CALL(&made, .time = 325 * MS + i * 5 * MS, .dur = 5 * MS, .pid = 10, .op = M_READ,
		     .file = 2, .offset = i * 4 * MIB, .asked = 32 * KIB, .result = 32 * KIB);
	report = report_between(&made, 10, END);
	row = finding_row(report, "read-bound");
	CHECK(report, "findings", row, "cost_ns", 650 * MS);
	done(&made, report);
}

/* Half of the time of the faults is a wait for storage, which a read would take, too. */
TEST(test_copied_from_storage)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN_RUN(&made, .threads = true);
	mmap_copied(&made, false);
	THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 400 * MS,
		    .io_wait = 200 * MS,
		    .states = { [THREAD_CPU] = END - 11 - 200 * MS, [THREAD_STORAGE] = 200 * MS });
	report = report_between(&made, 10, END);
	row = finding_row(report, "mmap-copied");
	CHECK(report, "findings", row, "cost_ns", 16384 * US);
	done(&made, report);
}

/* The first screen names the process that died, the cause and the file. */
TEST(test_killed)
{
	struct made_trace made;
	struct report *report;
	int row;

	BEGIN_RUN(&made, .block = true);
	killed(&made, false);
	report = report_between(&made, 10, END);
	check_text(report, "caveats", find_row(report, "caveats", "id", "killed"), "text",
		   "1 of 2 processes died: SIGBUS, worker at 3.0 MiB of /dev/shm/torch_0; "
		   "the file system was full (see df), or the file is shorter than its mapping");
	row = finding_row(report, "killed");
	check_text(report, "findings", row, "title", "1 of 2 processes died: SIGBUS");
	check_text(report, "findings", row, "severity", "high");
	done(&made, report);
}

/* Each signal has a change of its own. */
TEST(test_killed_by)
{
	static const struct {
		uint64_t signal;
		const char *advice;
	} deaths[] = { { SIGBUS, "Free space" }, { SIGKILL, "Raise the memory limit" },
		       { SIGSEGV, "See its" },	 { SIGXFSZ, "Raise the limit on file sizes" },
		       { SIGSYS, "Allow" },	 { SIGXCPU, "Raise the limit on CPU time" } };

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		struct made_trace made;
		struct report *report;
		const struct cell *advice;

		BEGIN_RUN(&made);
		made_fork(&made, 20, 10, 11);
		EXIT(&made, .time = 200 * US, .pid = 11, .comm = "worker",
		     .code = deaths[i].signal);
		report = report_between(&made, 10, END);
		advice = ask(report, "findings", finding_row(report, "killed"), "advice");
		if (strncmp(advice->text, deaths[i].advice, strlen(deaths[i].advice)) != 0)
			fail_msg("%.*s", (int)advice->length, advice->text);
		done(&made, report);
	}
}

/* Failed calls that name a path are reported elsewhere. */
TEST(test_failed_calls)
{
	struct made_trace made;
	struct report *report;
	const struct cell *advice;

	BEGIN_RUN(&made);
	failed_calls(&made, false);
	report = report_between(&made, 10, END);
	advice = ask(report, "findings", finding_row(report, "failed-calls"), "advice");
	assert_null(memmem(advice->text, advice->length, "missing", strlen("missing")));
	assert_null(memmem(advice->text, advice->length, "permission", strlen("permission")));
	done(&made, report);
}

/* Without compute spans, all I/O of a rank counts; with them, what they do not overlap. */
TEST(test_straggler_says)
{
	for (int computes = 0; computes < 2; computes++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .spans = true);
		straggler(&made, false);
		for (uint64_t rank = 0; rank < 3 && computes; rank++)
			SPAN(&made, .begin = 500 * MS, .end = 600 * MS, .pid = 30 + rank, .id = 2,
			     .name = "step", .category = "compute");
		report = report_between(&made, 10, END);
		check_finding_text(report, "straggler", "says",
				   computes
					   ? "100 ms of unoverlapped I/O, median 10.0 ms of 3 ranks"
					   : "100 ms of I/O, median 10.0 ms of 3 ranks");
		done(&made, report);
	}
}

/* If two findings cost the same, the one that names the rank precedes the one that names the wait.
 */
TEST(test_specific_first)
{
	struct made_trace made;
	struct report *report;
	size_t load, slow;

	BEGIN_RUN(&made);
	for (uint64_t rank = 0; rank < 4; rank++) {
		add_file(&made, 1 + rank, 256 * MIB, "/data/model.pt");
		EXEC(&made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r",
		     .rank = rank);
		for (uint64_t i = 0; i < 64; i++)
			CALL(&made, .time = 100 + i * 5 * MS, .dur = rank == 2 ? 5 * MS : 100 * US,
			     .pid = 30 + rank, .op = M_READ, .file = 1 + rank,
			     .offset = i * 4 * MIB, .asked = 4 * MIB, .result = 4 * MIB,
			     .fetched = 4 * MIB);
	}
	report = report_between(&made, 10, END);
	load = finding_row(report, "load-waits");
	slow = finding_row(report, "rank-slow");
	CHECK(report, "findings", slow, "cost_ns", ask(report, "findings", load, "cost_ns")->uint);
	assert_true(slow < load);
	done(&made, report);
}

/* Calls that lock files are not counted, and neither are their errors. */
TEST(test_failed_locks)
{
	struct made_trace made;
	struct report *report;
	const struct cell *record;

	BEGIN_RUN(&made);
	metadata_heavy(&made, false);
	CALLS(&made, 950 * MS, .count = 100, .op = M_FLOCK, .dur = 20 * US, .result = -4);
	report = report_between(&made, 10, END);
	record = ask(report, "findings", finding_row(report, "metadata-heavy"), "evidence");
	assert_int_equal(
		table_row(record->table, 0)[table_find_column(record->table, "errors")].uint, 0);
	done(&made, report);
}

/* The place of metadata calls is the lowest directory with most of them: above the many that have
 * few each, whichever single one has the most. */
TEST(test_metadata_place)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .lanes = 1);
	for (uint64_t i = 1; i <= 12; i++) {
		char path[64];

		snprintf(path, sizeof(path),
			 i < 9 ? "/data/set/%" PRIu64 "/a" : "/usr/%" PRIu64 "/a", i);
		add_file(&made, i, MIB, path);
		for (uint64_t j = 0; j < 200; j++)
			CALL(&made, .time = i * 40 * MS + j * 200 * US, .pid = 10, .op = M_FSTAT,
			     .file = i, .dur = i == 12 ? 150 * US : 100 * US);
	}
	report = report_between(&made, 10, END);
	check_finding_text(
		report, "metadata-heavy", "says",
		"2,400 metadata calls took 250 ms, reads, writes and faults 0 ns; newfstatat leads "
		"with 2,400 calls, 0 calls failed; most time in /data/set");
	done(&made, report);
}

/* Work before the first save cannot hide it, only that between the saves. */
TEST(test_save_hidden)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .threads = true);
	add_states(&made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	add_file(&made, 1, 64 * MIB, "/data/model");
	for (uint64_t i = 0; i < 4; i++)
		CALL(&made, .time = (500 + i * 110) * MS, .dur = 80 * MS, .pid = 10, .op = M_WRITE,
		     .file = 1, .offset = i * 16 * MIB, .asked = 16 * MIB, .result = 16 * MIB);
	report = report_between(&made, 10, END);
	CHECK(report, "findings", row_of_finding(report, "save-waits"), "cost_ns", 3 * 30 * MS);
	done(&made, report);
}

/* The line may be of any thread; the processes without one are not named first. */
TEST(test_killed_at_line)
{
	struct made_trace made;
	struct report *report;
	int row;

	BEGIN_RUN(&made, .block = true);
	made_fork(&made, 12, 10, 13);
	EXIT(&made, .time = 20, .pid = 13, .comm = "first", .code = 9);
	killed_for_memory(&made, false);
	report = report_between(&made, 10, END);
	check_text(report, "caveats", find_row(report, "caveats", "id", "killed"), "text",
		   "2 of 3 processes died: SIGKILL, worker, line worker.py:7 in load; unless "
		   "someone sent it, memory ran out: see dmesg, and oom_kill in the cgroup's "
		   "memory.events");
	row = find_row(report, "processes", "comm", "worker");
	check_text(report, "processes", row, "ended_at", "worker.py:7 in load");
	check_null(report, "processes", find_row(report, "processes", "comm", "first"), "ended_at");
	done(&made, report);
}

/* The OOM killer ends two of three processes; for one, the limit is known. */
TEST(test_killed_at_limit)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .block = true);
	made_fork(&made, 12, 10, 13);
	made_fork(&made, 13, 10, 14);
	EXIT(&made, .time = 20, .pid = 13, .comm = "first", .code = 9, .oom = 1);
	EXIT(&made, .time = 30, .pid = 14, .comm = "second", .code = 9, .oom = 1,
	     .oom_limit = 64 * MIB);
	report = report_between(&made, 10, END);
	check_text(report, "caveats", find_row(report, "caveats", "id", "killed"), "text",
		   "2 of 3 processes died: SIGKILL, second; killed by the OOM killer: the cgroup "
		   "reached its memory limit of 64.0 MiB");
	check_finding_text(report, "killed", "says",
			   "second: killed by the OOM killer: the cgroup reached its memory limit "
			   "of 64.0 MiB");
	done(&made, report);
}

/* Every rule has a case, here or (loss, mmap-random) in test_findings.c, or (node-slow, of several
 * hosts) in test_findings_nodes.c. */
TEST(test_all_have_cases)
{
	for (size_t i = 0; i < finding_rule_count; i++) {
		const char *id = finding_rules[i]->id;
		/* test_analysis_profile.c covers findings that only totals show. */
		bool found = !strcmp(id, "loss") || !strcmp(id, "mmap-random") ||
			     !strcmp(id, "mmap-faults") || !strcmp(id, "shared-writes-ranks") ||
			     !strcmp(id, "node-slow");

		for (size_t j = 0; j < case_count && !found; j++)
			found = !strcmp(id, cases[j].id);
		if (!found)
			fail_msg("%s has no case: add a FINDING_CASE in the findings_of_*.h of its "
				 "subject, in tests/unit/findings/",
				 id);
	}
}

static int leave_all(const char *directory)
{
	int status = 0;

	for (size_t i = 0; i < case_count && !status; i++) {
		struct made_trace made;
		char path[4096];

		make_case(&made, i, false);
		snprintf(path, sizeof(path), "%s/%s.%zu.flt", directory, cases[i].id, i);
		status = made_leave(&made, path);
		made_close(&made);
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--make"))
		return leave_all(argv[2]);
	return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
