// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* At which lines findings are that are about certain files. */
#include "unit_test.h"

#include <inttypes.h>

#include "lines_made.h"

static void check_where(struct made_trace *made, const char *id, const char *where)
{
	struct report *report = report_of(made, 10 * S);
	int row = row_of_finding(report, id);

	assert_true(row >= 0);
	check_text(report, "findings", row, "where", where);
	done(made, report);
}

/* Reads of a file by several lines, and of another file that the finding is not about. */
TEST(test_where)
{
	static const uint64_t stacks[] = { STACK_LIBRARY, STACK_ITEM, STACK_MAIN };
	struct made_trace made;

	begin(&made);
	FILE_ROW(&made, .id = 3, .dev = 1, .ino = 3, .path = "/usr/lib/libc.so");
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t time = 100 + i * S;

		CALL(&made, .time = time, .dur = S / 2, .pid = 10, .op = M_READ, .file = 1,
		     .offset = i << 26, .asked = 64 << 20, .result = 64 << 20);
		SAMPLE(&made, .time = time, .dur = S / 2, .pid = 10, .op = M_READ, .file = 1,
		       .stack = stacks[i > 5 ? 2 : i % 2]);
	}
	SAMPLE(&made, .time = S, .dur = S, .pid = 10, .op = M_READ, .file = 3, .stack = STACK_TEXT);
	SAMPLE(&made, .time = S, .dur = S, .pid = 10, .op = M_WRITE, .file = 1,
	       .stack = STACK_TEXT);
	SAMPLE(&made, .time = 2 * S, .dur = 1000, .weight = S / 2, .pid = 10, .op = M_READ,
	       .file = 1, .flags = TRACE_SAMPLE_NO_FRAME);
	check_where(&made, "read-bound",
		    "loader.py:42 in TokenDataset.__getitem__, 67% ± 7% of it; "
		    "train.py:9 in <module>, 22% ± 2%");
}

/* A finding on a program's writes, of which the longest go to one file; its line has a long name.
 */
TEST(test_where_of_file)
{
	struct made_trace made;
	char name[256] = { 0 }, expected[512];

	begin(&made);
	FILE_ROW(&made, .id = 3, .dev = 1, .ino = 3, .path = "/out/model.pt");
	for (size_t i = 0; i < sizeof(name) - 2; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	made_frame(&made, 1, 50, "/job/save.py", 7, name);
	made_stack(&made, 1, 50, 0, 50);
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t time = 100 + i * S;

		CALL(&made, .time = time, .dur = S / 2, .pid = 10, .op = M_WRITE, .file = 3,
		     .offset = i << 26, .asked = 64 << 20, .result = 64 << 20);
		SAMPLE(&made, .time = time, .dur = S / 2, .pid = 10, .op = M_WRITE, .file = 3,
		       .stack = 50);
	}
	/* "save.py:7 in " takes 13 bytes: 53 letters of two fit into 120. */
	snprintf(expected, sizeof(expected), "save.py:7 in %.106s…, 100%% of the time on model.pt",
		 name);
	check_where(&made, "save-waits", expected);
}

/* Small writes to many files: samples are of few, none of them the one with the most time; other
 * files are written in large pieces. */
TEST(test_where_of_pattern)
{
	struct made_trace made;

	begin(&made);
	for (uint64_t i = 0; i < 2000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/out/%" PRIu64 ".txt", i);
		FILE_ROW(&made, .id = 10 + i, .dev = 1, .ino = 10 + i, .path = path);
		CALL(&made, .time = 100 + i * MS, .dur = 500000 + (i == 7), .pid = 10,
		     .op = M_WRITE, .file = 10 + i, .asked = 100, .result = 100);
		if (i % 500 == 0)
			SAMPLE(&made, .time = 100 + i * MS, .dur = 500000, .weight = MS, .pid = 10,
			       .op = M_WRITE, .file = 10 + i, .stack = i ? STACK_ITEM : STACK_MAIN);
	}
	CALL(&made, .time = 5 * S, .dur = S, .pid = 10, .op = M_WRITE, .file = 1, .asked = 1 << 20,
	     .result = 1 << 20);
	SAMPLE(&made, .time = 5 * S, .dur = S, .pid = 10, .op = M_WRITE, .file = 1,
	       .stack = STACK_TEXT);
	check_where(&made, "small-writes",
		    "loader.py:42 in TokenDataset.__getitem__, 75% ± 22% of the time on these "
		    "files");
}

/* A program that blocks reading many files, of which none has half of the time. */
TEST(test_where_of_many)
{
	struct made_trace made;

	begin(&made);
	for (uint64_t i = 0; i < 8; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%" PRIu64 ".bin", i);
		FILE_ROW(&made, .id = 10 + i, .dev = 1, .ino = 10 + i, .path = path);
		CALL(&made, .time = 100 + i * S, .dur = S / 2, .pid = 10, .op = M_READ,
		     .file = 10 + i, .asked = 64 << 20, .result = 64 << 20, .fetched = 64 << 20);
		SAMPLE(&made, .time = 100 + i * S, .dur = S / 2, .pid = 10, .op = M_READ,
		       .file = 10 + i, .stack = i < 6 ? STACK_ITEM : STACK_MAIN);
	}
	check_where(&made, "load-waits",
		    "loader.py:42 in TokenDataset.__getitem__, 75% of the time on all files");
}
