/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Costs of findings: what compute overlaps, and what is only a bound. */
#include "unit_test.h"

#include <inttypes.h>

#include "findings_made.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_jobs.h"
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
