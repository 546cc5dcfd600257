/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A run of two ranks, for tests of report options. Include after cmocka.h. */
#pragma once

#include "make_trace.h"

#define MS 1000000ull

/* Two ranks that read and fault on two files, with one call inside a span. */
static void make_run(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	made_fork(made, 11, 10, 20);
	EXEC(made, .time = 12, .pid = 20, .comm = "b", .command = "b", .rank = 1);
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data/x.bin");
	FILE_ROW(made, .time = 10, .id = 2, .dev = 1, .ino = 2, .path = "/data/y.txt");
	CALL(made, .time = 10 + 1 * MS, .dur = 10, .pid = 10, .op = M_PREAD, .file = 1,
	     .result = 1);
	CALL(made, .time = 10 + 2 * MS, .dur = 500, .pid = 10, .op = M_READ, .file = 2,
	     .result = 2);
	CALL(made, .time = 10 + 3 * MS, .dur = 10, .pid = 20, .op = M_PREAD, .file = 1,
	     .result = 4);
	FAULT(made, .time = 10 + 4 * MS, .dur = 10, .pid = 20, .file = 1, .fetched = 4096);
	SPAN(made, .begin = 10 + 5 * MS, .end = 10 + 6 * MS, .pid = 10, .id = 1, .name = "step",
	     .category = "x");
	CALL(made, .time = 11 + 5 * MS, .dur = 10, .pid = 10, .op = M_PREAD, .file = 2,
	     .result = 8);
	CALL(made, .time = 10 + 7 * MS, .dur = 10, .pid = 10, .op = M_READ, .file = 2, .result = 16,
	     .flags = TRACE_OP_DIRECT);
}
