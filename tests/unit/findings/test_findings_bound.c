/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about runs bound by reads or mappings that no other finding explains: their words. */
#include "unit_test.h"

#include <stdio.h>

#include "findings_made.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_faults.h"
#include "findings_of_jobs.h"
#include "findings_of_reads.h"

static void check_reported(void (*make)(struct made_trace *made), const char *id,
			   const char *column, const char *text)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .block = true);
	make(&made);
	report = report_between(&made, 10, END);
	check_finding_text(report, id, column, text);
	done(&made, report);
}

static void make_populated(struct made_trace *made)
{
	mmap_bound(made, false);
}

static void make_populated_from_memory(struct made_trace *made)
{
	add_file(made, 1, 256 * MIB, "/data/a.gguf");
	FAULT(made, .time = 100, .dur = 300 * MS, .pid = 10, .file = 1,
	      .flags = TRACE_FAULT_FILEMAP);
}

/* Cached data has no device bandwidth; populated mappings had no faults. */
TEST(test_bound_by_memory)
{
	check_reported(
		make_populated, "mmap-bound", "says",
		"300 ms in calls that map, populate or lock; 256 MiB from storage, at 853 MiB/s");
	check_reported(
		make_populated_from_memory, "mmap-bound", "says",
		"300 ms in 1 fault and in calls that map, populate or lock; 0 B from storage");
}

static void make_many_read(struct made_trace *made)
{
	for (uint64_t i = 0; i < 20; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%d.npy", (int)i);
		add_file(made, 1 + i, 8 * MIB, path);
		CALL(made, .time = 100 + i * 21 * MS, .dur = (i == 7 ? 20 : 19) * MS, .pid = 10,
		     .op = M_PREAD, .file = 1 + i, .offset = 0, .asked = MIB, .result = MIB);
	}
}

static void make_one_read(struct made_trace *made)
{
	read_bound(made, false);
}

/* Reads of data in memory: on a CPU they copy; blocked, they wait for something else. */
TEST(test_bound_by_copies)
{
	static const char *const titles[] = {
		"Run waits for reads, mostly of a",
		"Run copies 20.0 MiB from the page cache, mostly of a",
	};

	for (uint64_t copies = 0; copies < 2; copies++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true);
		read_bound(&made, false);
		THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 400 * MS,
			    .io_wait = copies ? MS : 400 * MS,
			    .states = { [THREAD_CPU] = END - 11 - (copies ? MS : 400 * MS),
					[THREAD_STORAGE] = copies ? MS : 400 * MS });
		report = report_between(&made, 10, END);
		check_finding_text(report, "read-bound", "title", titles[copies]);
		done(&made, report);
	}
}

/* Reads of the same data, with some CPU work or much of it at the same line. */
TEST(test_read_again_with_work)
{
	for (int much = 0; much < 2; much++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .threads = true, .stacks = true);
		add_file(&made, 1, 8 * MIB, "/data/a.h5");
		made_frame(&made, 1, 1, "/job/a.py", 1, "f");
		made_stack(&made, 1, 1, 0, 1);
		THREAD_TIME(&made, .time = 11, .dur = END - 11, .pid = 10, .io = 240 * MS,
			    .io_wait = 240 * MS,
			    .states = { [THREAD_CPU] = 700 * MS,
					[THREAD_SLEEP] = END - 11 - 940 * MS,
					[THREAD_STORAGE] = 240 * MS });
		for (uint64_t i = 0; i < 80; i++) {
			const uint64_t at = (20 + i * 10) * MS;

			CALL(&made, .time = at, .dur = 3 * MS, .pid = 10, .op = M_PREAD, .file = 1,
			     .offset = i % 8 * MIB, .asked = MIB, .result = MIB);
			SAMPLE(&made, .time = at, .dur = 3 * MS, .pid = 10, .op = M_PREAD,
			       .file = 1, .stack = 1);
			SAMPLE(&made, .time = at + 4 * MS, .weight = (much ? 8 : 1) * MS, .pid = 10,
			       .state = "cpu", .stack = 1);
		}
		report = report_between(&made, 10, END);
		check_finding_text(
			report, "read-again", "advice",
			much ? "Keep what was read (and decoded) in memory, or read each part once "
			       "(from a database, by an index); or make the calls cheaper: for "
			       "HDF5, use a chunk cache that holds what is read again "
			       "(rdcc_nbytes), and for selections with many parts, read the "
			       "enclosing range and "
			       "select in memory"
			     : "Keep what was read (and decoded) in memory, or read each part once "
			       "(from a database, by an index)");
		done(&made, report);
	}
}

/* The title names one file only if that file takes most of the time. */
TEST(test_bound_by_many)
{
	check_reported(
		make_many_read, "read-bound", "title",
		"Run waits for reads, mostly of 7.npy, one of many files (5.2% of that time)");
	check_reported(make_one_read, "read-bound", "title", "Run waits for reads, mostly of a");
}
