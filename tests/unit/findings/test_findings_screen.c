/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings on the first screen: how many, how exact their costs are, and which are left out. */
#include "unit_test.h"

#include "findings_made.h"
#include "output/base/sink.h"
#include "output/text/screen.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_jobs.h"
#include "findings_of_reads.h"
#include "findings_of_writes.h"

static const struct style plain = { .width = 200 };

static void show(struct made_trace *made, struct sink *out)
{
	struct report *report = report_between(made, 10, END);

	sink_open_memory(out);
	screen_write(out, report, &plain);
	sink_bytes(out, "", 1);
	done(made, report);
}

static void check_shown(const struct sink *out, const char *words, bool shown)
{
	if (!strstr(out->buffer, words) == shown)
		fail_msg("\"%s\" %s in %s", words, shown ? "is not" : "is", out->buffer);
}

/* Five findings, and the number of the others. */
TEST(test_most_findings)
{
	for (uint64_t devices = 5; devices < 8; devices += 2) {
		struct made_trace made;
		struct sink out;

		BEGIN_RUN(&made, .block = true);
		for (uint64_t i = 0; i < devices; i++)
			REQUEST(&made, .time = 100 + i * MS, .dur = MS, .pid = 10,
				.op = M_REQUEST_WRITE, .bytes = MIB, .dev = 8 << 20 | i << 4,
				.status = 10);
		show(&made, &out);
		check_shown(&out, "5. HIGH", true);
		check_shown(&out, "6. HIGH", false);
		check_shown(&out, "and 2 more (--table findings)", devices == 7);
		sink_close(&out);
	}
}

TEST(test_marks_of_costs)
{
	static const struct {
		void (*make)(struct made_trace *made, bool sound);
		const char *cost;
	} runs[] = {
		{ fsync_often, "HIGH  200 ms (20.0%)" },
		{ random_reads, "LOW  ~15.0 ms (~1.5%)" },
		{ small_reads_cached, "LOW  ≥12.5 ms (≥1.3%)" },
		{ requests_small, "HIGH  ≤160 ms (≤16.0%)" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct sink out;

		BEGIN_RUN(&made, .block = true);
		runs[i].make(&made, false);
		show(&made, &out);
		check_shown(&out, runs[i].cost, true);
		sink_close(&out);
	}
}

/* --- findings on the same I/O --- */

/* 300 ms of random reads of a file, and as much with one asynchronous operation at a time. */
static void random_beside_shallow(struct made_trace *made, bool same)
{
	random_reads_few(made, false);
	add_file(made, 2, 4096 * MIB, "/data/b");
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 500 * MS + i * 151 * US, .dur = 150 * US, .pid = 10,
		     .op = same ? M_URING_READ : M_URING_WRITE, .file = 2, .offset = i * 64 * KIB,
		     .asked = 64 * KIB, .result = 64 * KIB, .fetched = same ? 64 * KIB : 0,
		     .flags = TRACE_OP_DIRECT);
}

/* Reads from memory by one thread, and as much time in requests of another one. */
static void reads_beside_slow_device(struct made_trace *made, bool same)
{
	read_bound(made, false);
	add_file(made, 2, 256 * MIB, "/data/log");
	made_fork(made, 20, 10, 11);
	for (uint64_t i = 0; i < 30; i++) {
		const uint64_t at = 500 * MS + i * 13 * MS;

		REQUEST(made, .time = at, .dur = 12 * MS, .pid = 11,
			.op = same ? M_REQUEST_READ : M_REQUEST_WRITE, .file = 2, .bytes = 4096,
			.dev = 8 << 20, .queue = US, .flags = TRACE_BLOCK_SYNC);
		BIO(made, .time = at, .dur = 12 * MS, .pid = 11, .queue = US,
		    .op = same ? M_REQUEST_READ : M_REQUEST_WRITE, .file = 2, .offset = i * 4096,
		    .bytes = 4096, .request = i + 1, .dev = 8 << 20, .flags = TRACE_BLOCK_SYNC);
	}
}

/* Direct reads and writes, and reads of another file from memory, which take as long. */
static void reads_beside_small_direct(struct made_trace *made, bool same)
{
	read_bound(made, false);
	add_file(made, 2, 64 * MIB, "/data/log");
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 500 * MS + i * 200 * US, .dur = 199 * US, .pid = 10,
		     .op = same ? M_PREAD : M_WRITE, .file = 2, .offset = i * 4096, .asked = 4096,
		     .result = 4096, .flags = TRACE_OP_DIRECT);
}

/* Small reads of one file, and throttled ones of the same or of another. */
static void small_beside_held_back(struct made_trace *made, bool same)
{
	held_back(made, false);
	add_file(made, 2, 64 * MIB, same ? "/data/a" : "/data/b");
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 500 * MS + i * 151 * US, .dur = 150 * US, .pid = 10,
		     .op = M_PREAD, .file = 2, .offset = i * 4096, .asked = 4096, .result = 4096,
		     .fetched = 4096);
}

/* A finding is left out if another one explains the same I/O: not that of the other direction, or
 * of another file. */
TEST(test_other_io)
{
	static const struct {
		const char *id, *by;
		void (*make)(struct made_trace *made, bool same);
	} runs[] = {
		{ "random-reads", "shallow-queue", random_beside_shallow },
		{ "read-bound", "device-slow", reads_beside_slow_device },
		{ "read-bound", "small-direct", reads_beside_small_direct },
		{ "small-reads-storage", "held-back", small_beside_held_back },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		for (int same = 0; same < 2; same++) {
			struct made_trace made;
			struct report *report;

			BEGIN_RUN(&made, .block = true, .async = true);
			runs[i].make(&made, same);
			report = report_between(&made, 10, END);
			finding_row(report, runs[i].by);
			if ((row_of_finding(report, runs[i].id) < 0) != same)
				fail_msg("%s beside %s of %s I/O", runs[i].id, runs[i].by,
					 same ? "the same" : "other");
			done(&made, report);
		}
	}
}
