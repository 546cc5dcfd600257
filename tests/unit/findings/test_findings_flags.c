/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings that depend on call flags: nonblocking locks and fadvise. */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "findings_made.h"
#include "trace/format/flags.h"

/* --- locks --- */

static const struct {
	const char *filesystem;
	uint64_t flags;
	bool waits;
} locks[] = {
	{ "xfs", 0, true },
	{ "xfs", TRACE_OP_NOWAIT, false },
	{ "nfs4", TRACE_OP_NOWAIT, true }, /* waits for its server */
};

/* A nonblocking request for a local lock only lost the CPU. */
TEST(test_locks)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .block = true);
		FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = MIB,
			 .path = "/data/lock", .filesystem = locks[i].filesystem);
		CALLS(&made, 100, .count = 50, .op = M_FLOCK, .dur = 5 * MS,
		      .flags = locks[i].flags);
		report = report_between(&made, 10, END);
		assert_int_equal(row_with(report, "findings", "id", "lock-wait") >= 0,
				 locks[i].waits);
		done(&made, report);
	}
}

/* --- advice --- */

#define FILE_BYTES (64 * MIB)

enum when { NEVER, BETWEEN, LAST };

/* A file read twice from storage; the job advises on all of it, or a part. */
static struct report *read_twice(struct made_trace *made, enum when when, uint64_t flags,
				 uint64_t bytes)
{
	BEGIN_RUN(made, .block = true);
	add_file(made, 1, FILE_BYTES, "/data/a");
	for (uint64_t i = 0; i < 128; i++) {
		if (i == 64 && when == BETWEEN)
			CALL(made, .time = 100 + i * MS - US, .dur = US / 2, .pid = 10,
			     .op = M_FADVISE, .file = 1, .asked = bytes, .flags = flags);
		CALL(made, .time = 100 + i * MS, .dur = MS / 2, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i % 64 * MIB, .asked = MIB, .result = MIB, .fetched = MIB);
	}
	if (when == LAST)
		CALL(made, .time = 200 * MS, .dur = US, .pid = 10, .op = M_FADVISE, .file = 1,
		     .asked = bytes, .flags = flags);
	REQUEST(made, .time = 200, .dur = 100 * MS, .queue = 10, .op = M_REQUEST_READ, .dev = 1,
		.bytes = 2 * FILE_BYTES);
	made_finish(made, 10, END);
	return made_report(&made->reader, 1);
}

static const struct {
	enum when when;
	uint64_t flags, bytes;
	const char *says, *advice;
} drops[] = {
	{ BETWEEN, TRACE_OP_DONTNEED, 0, "the job dropped it with 1 POSIX_FADV_DONTNEED call",
	  "Remove the 1 POSIX_FADV_DONTNEED call while the data is still to be read" },
	{ BETWEEN, TRACE_OP_DONTNEED, FILE_BYTES,
	  "the job dropped it with 1 POSIX_FADV_DONTNEED call",
	  "Remove the 1 POSIX_FADV_DONTNEED call while the data is still to be read" },
	/* The advice explains none or only part of it, or is of another kind. */
	{ LAST, TRACE_OP_DONTNEED, 0, "memory did not hold it", NULL },
	{ BETWEEN, TRACE_OP_DONTNEED, MIB, "memory did not hold it", NULL },
	{ BETWEEN, TRACE_OP_SEQUENTIAL, 0, "memory did not hold it", NULL },
	{ NEVER, 0, 0, "memory did not hold it", NULL },
	/* From an older trace. */
	{ BETWEEN, 0, 0, "memory did not hold it, or the job dropped it with 1 fadvise call",
	  "Give the job more memory (cgroup limit), read less at random, or evict data that is "
	  "done with (POSIX_FADV_DONTNEED on other files); if its 1 fadvise call is "
	  "POSIX_FADV_DONTNEED, remove the advice while the data is still to be read" },
};

TEST(test_dropped)
{
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		struct made_trace made;
		struct report *report =
			read_twice(&made, drops[i].when, drops[i].flags, drops[i].bytes);
		size_t row = finding_row(report, "fetched-again");
		char says[200];

		snprintf(says, sizeof(says), "128 MiB from storage for 64.0 MiB of data: %s",
			 drops[i].says);
		check_text(report, "findings", row, "says", says);
		check_text(report, "findings", row, "advice",
			   drops[i].advice ? drops[i].advice
					   : "Give the job more memory (cgroup limit), read less "
					     "at random, or evict data that is done with "
					     "(POSIX_FADV_DONTNEED on other files)");
		done(&made, report);
	}
}

/* The table's contents. */
TEST(test_table)
{
	struct made_trace made;
	struct report *report = read_twice(&made, BETWEEN, TRACE_OP_DONTNEED, 0);

	assert_int_equal(report_table(report, "advice")->row_count, 1);
	check_text(report, "advice", 0, "path", "/data/a");
	check_text(report, "advice", 0, "call", "fadvise64");
	check_text(report, "advice", 0, "advice", "dontneed");
	CHECK(report, "advice", 0, "count", 1);
	CHECK(report, "advice", 0, "bytes", FILE_BYTES);
	CHECK(report, "advice", 0, "again", 1);
	CHECK(report, "advice", 0, "again_bytes", FILE_BYTES);
	done(&made, report);
	report = read_twice(&made, LAST, TRACE_OP_DONTNEED, MIB);
	CHECK(report, "advice", 0, "bytes", MIB);
	CHECK(report, "advice", 0, "again", 0);
	done(&made, report);
	report = read_twice(&made, LAST, 0, 0);
	assert_int_equal(ask(report, "advice", 0, "advice")->type, CELL_NULL);
	done(&made, report);
}

/* Random faults, on a mapping with or without advice. */
TEST(test_mapped)
{
	for (int advised = 0; advised < 2; advised++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .block = true);
		add_file(&made, 1, 1024 * MIB, "/data/a");
		CALL(&made, .time = 100, .dur = US, .pid = 10, .op = M_MADVISE, .file = 1,
		     .asked = MIB, .flags = advised ? TRACE_OP_RANDOM : TRACE_OP_WILLNEED);
		for (uint64_t i = 0; i < 1000; i++)
			FAULT(&made, .time = 10 * US + i * US * 500, .dur = 300 * US, .pid = 10,
			      .file = 1, .offset = i * 40503 % 1000 * MIB, .fetched = 128 * KIB,
			      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP);
		REQUEST(&made, .time = 200, .dur = 100 * MS, .queue = 10, .op = M_REQUEST_READ,
			.dev = 1, .bytes = 128 * MIB);
		report = report_between(&made, 10, END);
		check_finding_text(
			report, "mmap-random", "advice",
			advised ? "Use larger samples (≥ 1 MiB), or MADV_WILLNEED ahead of use; "
				  "MADV_RANDOM was already set 1 time"
				: "Use MADV_RANDOM, larger samples (≥ 1 MiB), or MADV_WILLNEED "
				  "ahead of use");
		done(&made, report);
	}
}

/* A file read page by page in order: because of MADV_RANDOM, or of a device without readahead. */
TEST(test_walked)
{
	for (int advised = 0; advised < 2; advised++) {
		struct made_trace made;
		struct report *report;
		size_t row;

		BEGIN_RUN(&made, .block = true);
		add_file(&made, 1, 1024 * MIB, "/data/a");
		if (advised)
			CALL(&made, .time = 100, .dur = US, .pid = 10, .op = M_MADVISE, .file = 1,
			     .asked = MIB, .flags = TRACE_OP_RANDOM);
		for (uint64_t i = 0; i < 1000; i++)
			FAULT(&made, .time = 10 * US + i * US * 500, .dur = 100 * US, .pid = 10,
			      .file = 1, .offset = i * 4096, .fetched = 4096,
			      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP);
		report = report_between(&made, 10, END);
		row = finding_row(report, "mmap-single");
		check_text(report, "findings", row, "advice",
			   advised ? "Remove MADV_RANDOM (set 1 time): the file is read in order "
				     "or as a whole, which readahead would serve"
				   : "Use MADV_WILLNEED on upcoming data, several threads or "
				     "processes, or access in file order");
		done(&made, report);
	}
}

/* Small reads in order, or each with a gap, after POSIX_FADV_RANDOM and perhaps advice that takes
 * it back. */
TEST(test_read_in_order)
{
	static const struct {
		uint64_t step_bytes;
		bool advised, taken_back, blamed;
	} cases[] = {
		{ 8 * KIB, true, false, true },
		{ 8 * KIB, false, false, false },
		{ 8 * KIB, true, true, false },
		{ 32 * KIB, true, false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .block = true);
		add_file(&made, 1, 64 * MIB, "/data/a");
		if (cases[i].advised)
			CALL(&made, .time = 20, .dur = 5, .pid = 10, .op = M_FADVISE, .file = 1,
			     .flags = TRACE_OP_RANDOM);
		if (cases[i].taken_back)
			CALL(&made, .time = 30, .dur = 5, .pid = 10, .op = M_FADVISE, .file = 1,
			     .flags = TRACE_OP_SEQUENTIAL);
		CALLS(&made, 100, .count = 2000, .op = M_PREAD, .bytes = 8 * KIB,
		      .step = cases[i].step_bytes, .dur = 50 * US, .fetched = 8 * KIB);
		report = report_between(&made, 10, END);
		check_finding_text(
			report, "small-reads-storage", "advice",
			cases[i].blamed
				? "Remove POSIX_FADV_RANDOM (set 1 time): the file is read in "
				  "order, which readahead would serve. Or read ≥ 1 MiB at a time, "
				  "or use posix_fadvise(WILLNEED) ahead of use; buffer in the "
				  "program"
				: "Read ≥ 1 MiB at a time, or use posix_fadvise(WILLNEED) ahead of "
				  "use; buffer in the program");
		done(&made, report);
	}
}
