/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which numbers stay known when summaries merge. */
#include "unit_test.h"

#include <string.h>
#include <sys/mman.h>

#include "analysis/report/summary.h"
#include "ask_report.h"
#include "random_job.h"

enum end {
	WHOLE,
	DAMAGED,
	ENDLESS,
};

/* A run of one process that loses two calls, and leaves a note and a process behind. */
static void make_end(struct made_trace *made, uint64_t from, enum end end)
{
	static const uint64_t survivors[] = { 11 };
	static const struct trace_note notes[] = { { TRACE_NOTE_LEFT_OUT, 7 } };

	BEGIN(made, .host = "node", .boot_id = "node", .monotonic_ns = from,
	      .realtime_ns = 1700000000000000000ull + from);
	EXEC(made, .time = from, .pid = 10, .comm = "a", .rank = -1);
	FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 1, .path = "/data/a");
	CALL(made, .time = from + 1, .pid = 10, .op = M_READ, .file = 1, .result = 5);
	FAULT(made, .time = from + 2, .pid = 10, .file = 1);
	made->kinds[TRACE_SYSCALL].lost += 2;
	made->kinds[TRACE_SYSCALL].events += 2;
	made->totals.survivors = survivors;
	made->totals.survivor_count = 1;
	made->totals.notes = notes;
	made->totals.note_count = 1;
	if (end == ENDLESS)
		made_abandon(made);
	else
		made_finish(made, from, from + MS);
	if (end != DAMAGED)
		return;
	assert_int_equal(mprotect(made->bytes, made->length, PROT_READ | PROT_WRITE), 0);
	for (size_t i = 0; i < trace_reader_block_count(made->reader); i++)
		if (trace_reader_block_info(made->reader, i)->kind == TRACE_FAULT)
			((unsigned char *)made
				 ->bytes)[trace_reader_block_info(made->reader, i)->offset + 30] ^=
				0x55;
}

/* Lost events and the like are known for a damaged trace, which has its end. */
TEST(test_ends)
{
	static const char *const names[] = { "a", "b" };
	static const enum end ends[][2] = { { WHOLE, DAMAGED },
					    { DAMAGED, WHOLE },
					    { WHOLE, ENDLESS },
					    { ENDLESS, WHOLE },
					    { ENDLESS, ENDLESS } };
	static const struct {
		const char *name;
		uint64_t value; /* of two whole traces */
	} columns[] = {
		{ "survivors", 2 },
		{ "unaccounted", 0 },
		{ "lost.total", 4 },
		{ "lost.by_layer.syscall", 4 },
		{ "notes.operations_left_out", 14 },
		{ "notes.children_not_followed", 0 },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct trace_reader *readers[2], *summaries[2];
		struct parted parted = { .count = 0 };
		struct report *whole, *parts;
		struct made_trace made[2];
		bool endless = ends[i][0] == ENDLESS || ends[i][1] == ENDLESS;
		bool damaged = ends[i][0] == DAMAGED || ends[i][1] == DAMAGED;

		for (size_t j = 0; j < 2; j++) {
			make_end(&made[j], 1000 * MS * (j + 1), ends[i][j]);
			readers[j] = made[j].reader;
		}
		whole = report_on(readers, names, 2);
		for (size_t j = 0; j < 2; j++)
			summaries[j] =
				summarize(&parted, &readers[j], names + j, 1, SUMMARY_ROWS_MAX);
		parts = report_on(summaries, names, 2);
		for (size_t j = 0; j < sizeof(columns) / sizeof(columns[0]); j++) {
			const char *name = columns[j].name;
			uint64_t value = columns[j].value;

			if (endless && table_find_column(report_table(parts, "trace"), name) < 0)
				continue; /* a rare note of traces without an end */
			if (endless) {
				check_null(whole, "trace", 0, name);
				check_null(parts, "trace", 0, name);
				continue;
			}
			if (damaged && !strcmp(name, "lost.total"))
				value++;
			CHECK(whole, "trace", 0, name, value);
			CHECK(parts, "trace", 0, name, value);
		}
		CHECK(parts, "trace", 0, "processes", 2);
		report_free(whole);
		report_free(parts);
		free_parted(&parted);
		made_close(&made[0]);
		made_close(&made[1]);
	}
}

/* A run in which each of some ranks writes a whole file. */
static void make_writers(struct made_trace *made, uint64_t from, uint64_t ranks)
{
	BEGIN(made, .host = "node", .boot_id = "node", .monotonic_ns = from,
	      .realtime_ns = 1700000000000000000ull + from);
	FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 1, .size = 4096,
		 .path = "/data/a");
	for (uint64_t rank = 0; rank < ranks; rank++) {
		EXEC(made, .time = from + rank, .pid = 10 + rank, .comm = "a", .rank = rank);
		CALL(made, .time = from + 100 + rank, .dur = 1, .pid = 10 + rank, .op = M_OPENAT,
		     .file = 1, .result = 3, .flags = TRACE_OP_TRUNCATE);
	}
	made_finish(made, from, from + MS);
}

/* The same ranks in two runs are not twice as many. */
TEST(test_ranks_again)
{
	static const char *const names[] = { "a", "b" };
	struct trace_reader *summaries[2];
	struct parted parted = { .count = 0 };
	struct made_trace made[2];
	struct report *report;

	for (size_t i = 0; i < 2; i++) {
		make_writers(&made[i], 1000 * MS * (i + 1), 3 + i);
		summaries[i] = summarize(&parted, &made[i].reader, names + i, 1, SUMMARY_ROWS_MAX);
	}
	report = report_on(summaries, names, 2);
	CHECK(report, "files", find_row(report, "files", "path", "/data/a"), "overwrite.ranks", 4);
	report_free(report);
	free_parted(&parted);
	made_close(&made[0]);
	made_close(&made[1]);
}
