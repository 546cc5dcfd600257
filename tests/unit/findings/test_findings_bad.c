/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every finding's trace again, recorded with less: without a layer, with loss, or cut off. Reports
 * find the same or, where the rule depends on what is missing, nothing. And runs of
 * thousands of processes.
 */
#include "unit_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <malloc.h>
#include <time.h>

#include "analysis/finding/finding.h"
#include "findings_of_faults.h"
#include "findings_of_jobs.h"
#include "findings_of_opens.h"
#include "findings_of_path.h"
#include "findings_of_reads.h"
#include "findings_of_workers.h"
#include "findings_of_writes.h"

enum variant { NO_STACKS, NO_THREADS, NO_SPANS, HALF_LOST, CUT_OFF, VARIANTS };

static struct report *report_as(struct made_trace *made, size_t number, enum variant variant)
{
	BEGIN_RUN(made, .spans = variant != NO_SPANS, .block = true, .fuse = true,
		  .async = cases[number].make != async_not_traced, .memory_bytes = 1ull << 30,
		  .threads = variant != NO_THREADS,
		  .stacks = variant != NO_STACKS && variant != NO_THREADS);
	cases[number].make(made, false);
	if (variant == CUT_OFF) {
		made_abandon(made);
		return made_report(&made->reader, 1);
	}
	for (int kind = 0; kind < TRACE_KIND_COUNT && variant == HALF_LOST; kind++) {
		made->kinds[kind].lost = made->kinds[kind].written;
		made->kinds[kind].events += made->kinds[kind].written;
	}
	return report_between(made, 10, END);
}

/* Findings that need what a variant lacks. */
static bool may_miss(enum variant variant, const char *id)
{
	static const struct {
		enum variant variant;
		const char *id;
	} missing[] = {
		/* Nobody knows who used what was read. */
		{ HALF_LOST, "readahead-unused" },
		/* Totals are written at the end, as are the times of threads that did not end. */
		{ CUT_OFF, "async-not-traced" },
		{ CUT_OFF, "fresh-memory" },
		{ CUT_OFF, "swapped" },
		{ CUT_OFF, "tracer-cost" },
		/* The run ends with its last event: nothing follows the save, or the requests. */
		{ CUT_OFF, "save-waits" },
		{ CUT_OFF, "random-reads" },
	};
	static const char *const of_spans[] = {
		"accelerator-idle",   "epoch-from-memory",
		"epoch-from-storage", "loader-idle",
		"loader-io",	      "sync-checkpoint",
		"worker-slow",	      "loader-preprocessing",
	};

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (missing[i].variant == variant && !strcmp(missing[i].id, id))
			return true;
	for (size_t i = 0; i < sizeof(of_spans) / sizeof(of_spans[0]); i++)
		if (variant == NO_SPANS && !strcmp(of_spans[i], id))
			return true;
	return variant == NO_THREADS && finding_rule_named(id)->needs & JOB_THREAD;
}

/* Lost events took time, too. */
static bool is_bound(const struct report *report, const char *id)
{
	const struct cell *is = ask(report, "findings", finding_row(report, id), "cost_is");

	return is->type == CELL_NULL || cell_is(is, "at least") || cell_is(is, "at most");
}

TEST(test_less_recorded)
{
	for (size_t i = 0; i < case_count; i++) {
		for (int variant = 0; variant < VARIANTS; variant++) {
			struct made_trace made;
			struct report *report = report_as(&made, i, variant);
			const char *id = cases[i].id;

			check_texts(report, id);
			if (row_of_finding(report, id) < 0) {
				if (!may_miss(variant, id))
					fail_msg("variant %d: no %s", variant, id);
			} else if (variant >= HALF_LOST && !is_bound(report, id)) {
				fail_msg("variant %d: %s is no bound", variant, id);
			}
			done(&made, report);
		}
	}
}

/* Makes a report on a shell that runs programs one after the other. Returns the CPU time that
 * takes.
 */
static double report_on_many(uint64_t processes)
{
	const uint64_t each = 900 * MS / processes;
	struct timespec start, end;
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .threads = true, .stacks = true, .block = true);
	made_frame(&made, 12, 1, "/job/a.py", 1, "f");
	made_stack(&made, 12, 1, 0, 1);
	add_file(&made, 1, 8 * KIB, "/opt/venv/lib/python3.11/a/b.pyc");
	add_file(&made, 2, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < processes; i++) {
		const uint64_t pid = 100 + i, at = 100 + i * each;

		made_fork(&made, at, 10, pid);
		EXEC(&made, .time = at + 1, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = -1);
		for (uint64_t j = 0; j < 10; j++)
			CALL(&made, .time = at + 10 + j * each / 20, .dur = each / 40, .pid = pid,
			     .op = j % 2 ? M_PREAD : M_OPENAT, .file = 1 + j % 4 / 2,
			     .offset = j * 4096, .asked = 4096, .result = j % 2 ? 4096 : 3);
		SAMPLE(&made, .time = at + each / 2, .weight = each / 4, .pid = pid, .state = "cpu",
		       .stack = 1);
		WAIT(&made, .time = at + 2, .dur = each - 4, .pid = 10, .state = "child",
		     .call = "wait4", .waker_pid = pid);
		THREAD_TIME(&made, .time = at, .dur = each - 2, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = each - 2 });
		EXIT(&made, .time = at + each - 2, .pid = pid);
	}
	made_finish(&made, 10, END);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	report = made_report(&made.reader, 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true(report_table(report, "findings")->row_count > 0);
	done(&made, report);
	return end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9;
}

/* Eight times as many processes take about eight times as long, not 64 times. */
TEST(test_many_processes)
{
	double few, many;

	/* Memory that was used once is kept: new memory costs page faults, which vary. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	report_on_many(8000);
	few = report_on_many(1000);
	many = report_on_many(8000);
	if (many > 30 * few + 0.02)
		fail_msg("%g s for 1,000 processes, %g s for 8,000", few, many);
}
