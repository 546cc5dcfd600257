/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Building blocks for traces that trigger findings and for their sound siblings. Include after
 * cmocka.h.
 */
#pragma once

#include "ask_report.h"

#define US 1000ull
#define MS 1000000ull
#define KIB 1024ull
#define MIB (1ull << 20)
#define END (1000 * MS) /* of each run */

/* Begins a run of one program. */
#define BEGIN_RUN(made, ...)                                                                       \
	(BEGIN(made, __VA_ARGS__),                                                                 \
	 EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1))

MADE void add_file(struct made_trace *made, uint64_t id, uint64_t size, const char *path)
{
	FILE_ROW(made, .time = 10, .id = id, .dev = 1, .ino = id, .size = size, .path = path);
}

/* A file on disk and the bytes a device read from it, holes excluded. */
MADE void add_sparse(struct made_trace *made, uint64_t read_bytes)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 8 << 20, .ino = 1, .size = 32 * MIB,
		 .path = "/data/a", .filesystem = "xfs");
	if (read_bytes)
		REQUEST(made, .time = 100, .dur = 20 * MS, .queue = US, .pid = 10,
			.op = M_REQUEST_READ, .file = 1, .id = 1, .dev = 8 << 20,
			.bytes = read_bytes);
}

/* A program that the main thread starts and waits for, as a shell script does. */
MADE void add_program(struct made_trace *made, uint64_t pid, uint64_t begin_ns, uint64_t time_ns)
{
	made_fork(made, begin_ns - 2, 10, pid);
	THREAD_TIME(made, .time = begin_ns, .dur = time_ns, .pid = pid,
		    .states = { [THREAD_CPU] = time_ns });
	WAIT(made, .time = begin_ns - 1, .dur = time_ns + 1, .pid = 10, .state = "child",
	     .call = "wait4", .waker_pid = pid, .waker_tid = pid);
}

/* `count` consecutive calls on file 1 of `bytes` each, `step` bytes apart. */
struct series {
	uint64_t count, op, bytes, asked, step, dur, fetched, flags;
	int64_t result; /* replaces `bytes` */
};

MADE void add_calls(struct made_trace *made, uint64_t start, const struct series *series)
{
	for (uint64_t i = 0; i < series->count; i++)
		CALL(made, .time = start + i * (series->dur + 1), .dur = series->dur, .pid = 10,
		     .op = series->op, .file = 1,
		     .offset = series->step ? (int64_t)(i * series->step % (64 * MIB)) : 0,
		     .asked = series->asked ? series->asked : series->bytes,
		     .result = series->result ? series->result : (int64_t)series->bytes,
		     .fetched = series->fetched, .flags = series->flags);
}

#define CALLS(made, start, ...) add_calls(made, start, &(struct series) { __VA_ARGS__ })

/* Every placeholder in a text has evidence: an unknown one would be a dash. */
MADE void check_texts(const struct report *report, const char *id)
{
	const struct table *table = report_table(report, "findings");

	for (size_t i = 0; i < table->row_count; i++) {
		for (int says = 0; says < 2; says++) {
			const struct cell *cell =
				ask(report, "findings", i, says ? "says" : "title");

			if (memmem(cell->text, cell->length, " - ", 3) ||
			    !memcmp(cell->text, "- ", 2))
				fail_msg("%s: \"%.*s\"", id, (int)cell->length, cell->text);
		}
	}
}
