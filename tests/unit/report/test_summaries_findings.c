/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings made from several summaries: what all runs together show is found, although each run is
 * below the thresholds.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/report_parts.h"
#include "analysis/report/summary.h"
#include "compare_reports.h"
#include "random_job.h"

/* Ranks of one host, concurrent or consecutive, each below the finding thresholds. */
static void make_ranks(struct random_job *job, bool apart)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	const uint64_t size = 64 << 20, failed = 300, written = 300, queued = 300;
	static const char *const logs[] = { "/log/0", "/log/1", "/log/2", "/log/3" };

	job->count = 4;
	for (size_t i = 0; i < job->count; i++) {
		struct made_trace *made = &job->made[i];
		uint64_t from = 1000 * MS + (apart ? i * 1000 * MS : 0), pid = 100 + i;

		BEGIN(made, .host = "node", .boot_id = "node", .spans = true, .async = true,
		      .memory_bytes = 1ull << 34, .monotonic_ns = from,
		      .realtime_ns = 1700000000000000000ull + from);
		EXEC(made, .time = from, .pid = pid, .comm = "python3", .rank = i);
		FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 41, .size = size,
			 .path = "/data/tokens.bin");
		FILE_ROW(made, .time = from, .id = 2, .dev = 8 << 20, .ino = 50 + i,
			 .path = logs[i]);
		FILE_ROW(made, .time = from, .id = 3, .dev = 8 << 20, .ino = 60 + i, .size = size,
			 .path = "/data/cached.bin");
		SPAN(made, .begin = from + 1, .end = from + 400 * MS, .pid = pid, .id = 1,
		     .name = "epoch", .category = "epoch");
		SPAN(made, .begin = from + 400 * MS, .end = from + 800 * MS, .pid = pid, .id = 2,
		     .name = "epoch", .category = "epoch");
		CALL(made, .time = from + MS, .dur = 100 * MS, .pid = pid, .tid = pid, .op = M_READ,
		     .file = 1, .offset = 0, .asked = size, .result = size,
		     .fetched = i ? 256 << 10 : 512 << 10);
		CALL(made, .time = from + 410 * MS, .dur = MS, .pid = pid, .tid = pid, .op = M_READ,
		     .file = 3, .offset = 0, .asked = 40 << 20, .result = 40 << 20);
		for (uint64_t j = 0; j < failed; j++)
			CALL(made, .time = from + 200 * MS + j * MS / 10, .dur = MS / 20,
			     .pid = pid, .tid = pid, .op = M_OPENAT, .path = "/no/such/file",
			     .result = -2);
		for (uint64_t j = 0; j < written; j++)
			CALL(made, .time = from + 300 * MS + j * MS / 10, .dur = (i + 1) * MS / 50,
			     .pid = pid, .tid = pid, .op = M_WRITE, .file = 2, .offset = j * 100,
			     .asked = 100, .result = 100);
		for (uint64_t j = 0; j < queued; j++)
			CALL(made, .time = from + 600 * MS + j * MS / 10, .dur = MS / 20,
			     .pid = pid, .tid = pid, .op = M_URING_READ, .file = 1,
			     .offset = j * 4096, .asked = 4096, .result = 4096);
		job->traces[i] = made_finish(made, from, from + 900 * MS);
		job->names[i] = names[i];
	}
}

static void check_ranks(bool apart)
{
	static const char *const ids[] = { "read-by-several", "failed-lookups", "epoch-from-memory",
					   "small-writes", "shallow-queue" };
	/* Depths of concurrent queues add up. */
	const size_t count = sizeof(ids) / sizeof(ids[0]) - !apart;
	struct trace_reader *summaries[TRACES_MAX];
	struct parted parted = { .count = 0 };
	struct random_job job;
	struct report *whole, *parts;

	make_ranks(&job, apart);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < job.count; i++) {
		struct report *alone = report_on(job.traces + i, job.names + i, 1);

		for (size_t j = 0; j < count; j++)
			assert_null(find_finding(alone, ids[j]));
		summaries[i] = summarize_report(&parted, alone, SUMMARY_ROWS_MAX);
	}
	parts = report_on(summaries, job.names, job.count);
	for (size_t j = 0; j < count; j++) {
		if (!find_finding(whole, ids[j]) || !find_finding(parts, ids[j]))
			fail_msg("%s is not found", ids[j]);
	}
	/* Each rank writes only its own log. */
	assert_true(
		cell_is(ask(parts, "io_patterns",
			    find_row(parts, "io_patterns", "io_pattern", "small_write"), "path"),
			"/log/3"));
	compare_findings(whole, parts, apart);
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* Each of four ranks reads a whole file, fails 300 lookups, fetches less than 1 MiB in its first
 * epoch, makes 300 small writes to its own log and 300 sequential io_uring reads.
 */
TEST(test_found_in_all)
{
	check_ranks(true);
	check_ranks(false);
}

/* Consecutive runs of one host, each below the thresholds except the first, which waits for a
 * checkpoint and for data.
 */
static void make_slow(struct random_job *job)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	job->count = 4;
	for (size_t i = 0; i < job->count; i++) {
		struct made_trace *made = &job->made[i];
		uint64_t from = 3000 * MS + i * 3000 * MS, pid = 100 + i;

		BEGIN(made, .host = "node", .boot_id = "node", .spans = true, .block = true,
		      .monotonic_ns = from, .realtime_ns = 1700000000000000000ull + from);
		EXEC(made, .time = from, .pid = pid, .comm = "python3", .rank = -1);
		FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 41, .size = 1 << 20,
			 .path = "/data/log");
		SPAN(made, .begin = from + 400 * MS, .end = from + 800 * MS, .pid = pid, .id = 1,
		     .name = "work", .category = "compute");
		SPAN(made, .begin = from + (i ? 400 : 200) * MS, .end = from + (i ? 500 : 220) * MS,
		     .pid = pid, .id = 2, .name = "save", .category = "checkpoint");
		SPAN(made, .begin = from + (i ? 400 : 220) * MS, .end = from + (i ? 401 : 390) * MS,
		     .pid = pid, .id = 3, .name = "load", .category = "data");
		for (uint64_t j = 0; j < 8; j++) {
			uint64_t time = from + 20 * MS * (j + 1);

			REQUEST(made, .time = time, .dur = 15 * MS, .queue = MS, .pid = pid,
				.op = M_REQUEST_READ, .file = 1, .id = 10 * i + j + 1,
				.dev = 8ull << 20, .bytes = 4096);
			BIO(made, .time = time, .dur = 15 * MS, .queue = MS, .pid = pid,
			    .op = M_REQUEST_READ, .file = 1, .request = 10 * i + j + 1,
			    .dev = 8ull << 20, .bytes = 4096);
		}
		for (uint64_t j = 0; j < 15; j++)
			CALL(made, .time = from + 810 * MS + j * 2 * MS, .dur = MS, .pid = pid,
			     .tid = pid, .op = M_FSYNC, .file = 1);
		DEVICE(made, .time = from + 890 * MS, .dev = 8 << 20, .name = "sda", .reads = 8,
		       .read_bytes = 8 * 4096, .flushes = 15, .flush_ns = 10 * MS);
		EXIT(made, .time = from + 2895 * MS, .pid = pid, .comm = "python3");
		job->traces[i] = made_finish(made, from, from + 2900 * MS);
		job->names[i] = names[i];
	}
}

TEST(test_judged_together)
{
	static const char *const of_all[] = { "device-slow", "fsync-often", "flushes" };
	static const char *const of_one[] = { "sync-checkpoint", "loader-preprocessing" };
	struct trace_reader *summaries[TRACES_MAX];
	struct parted parted = { .count = 0 };
	struct random_job job;
	struct report *whole, *parts;

	make_slow(&job);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < job.count; i++) {
		struct report *alone = report_on(job.traces + i, job.names + i, 1);

		for (size_t j = 0; j < sizeof(of_all) / sizeof(of_all[0]); j++)
			assert_null(find_finding(alone, of_all[j]));
		for (size_t j = 0; j < sizeof(of_one) / sizeof(of_one[0]); j++)
			assert_int_equal(!find_finding(alone, of_one[j]), i != 0);
		summaries[i] = summarize_report(&parted, alone, SUMMARY_ROWS_MAX);
	}
	parts = report_on(summaries, job.names, job.count);
	for (size_t j = 0; j < sizeof(of_all) / sizeof(of_all[0]); j++)
		if (!find_finding(whole, of_all[j]) || !find_finding(parts, of_all[j]))
			fail_msg("%s is not found", of_all[j]);
	for (size_t j = 0; j < sizeof(of_one) / sizeof(of_one[0]); j++)
		if (find_finding(whole, of_one[j]) || find_finding(parts, of_one[j]))
			fail_msg("%s is found", of_one[j]);
	compare_findings(whole, parts, true);
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* A run that reads or writes a whole file. */
struct whole_run {
	const char *name, *path;
	uint64_t from, length; /* ms */
	uint64_t took;	       /* ms, of the read or write */
	bool writes;
	bool drops; /* drops the file from the page cache afterwards */
};

static void make_runs(struct random_job *job, const struct whole_run *runs, size_t count)
{
	const uint64_t size = 64 << 20;

	job->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct whole_run *run = &runs[i];
		struct made_trace *made = &job->made[i];
		uint64_t from = run->from * MS, end = from + run->length * MS, pid = 100 + i;

		BEGIN(made, .host = "node", .boot_id = "node", .monotonic_ns = from,
		      .realtime_ns = 1700000000000000000ull + from);
		EXEC(made, .time = from, .pid = pid, .comm = "python3", .rank = -1);
		FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 41 + run->writes,
			 .size = size, .path = run->path);
		CALL(made, .time = from + MS, .dur = run->took * MS, .pid = pid, .tid = pid,
		     .op = run->writes ? M_WRITE : M_READ, .file = 1, .asked = size, .result = size,
		     .fetched = run->writes ? 0 : size);
		if (run->drops)
			CALL(made, .time = end - 20 * MS, .dur = MS, .pid = pid, .tid = pid,
			     .op = M_FADVISE, .file = 1, .flags = TRACE_OP_DONTNEED);
		EXIT(made, .time = end - 10 * MS, .pid = pid, .comm = "python3");
		job->traces[i] = made_finish(made, from, end);
		job->names[i] = run->name;
	}
}

/* A model load dominates a short run, but the other run's save dominates the total. */
TEST(test_costliest_of_all)
{
	static const struct whole_run runs[] = {
		{ "short", "/data/model", 1000, 100, 27, .writes = false },
		{ "long", "/data/saved", 1100, 2000, 141, .writes = true },
	};
	struct trace_reader *summaries[TRACES_MAX];
	struct parted parted = { .count = 0 };
	struct random_job job;
	struct report *parts;
	const struct table *reported;

	make_runs(&job, runs, 2);
	for (size_t i = 0; i < job.count; i++) {
		struct report *alone = report_on(job.traces + i, job.names + i, 1);

		assert_true(
			cell_is(ask(alone, "findings", 0, "id"), i ? "save-waits" : "load-waits"));
		assert_true(cell_is(ask(alone, "findings", 0, "severity"), i ? "medium" : "high"));
		summaries[i] = summarize_report(&parted, alone, SUMMARY_ROWS_MAX);
	}
	parts = report_on(summaries, job.names, job.count);
	reported = report_table(parts, "findings");
	assert_int_equal(reported->row_count, 2);
	assert_true(cell_is(at(reported, 0, FINDING_ID), "save-waits"));
	assert_true(cell_is(at(reported, 0, FINDING_SEVERITY), "medium"));
	assert_true(cell_is(at(reported, 1, FINDING_ID), "load-waits"));
	assert_true(cell_is(at(reported, 1, FINDING_SEVERITY), "low"));
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* Two threads fault on a file in parallel: serial faults are found neither in the runs nor in all
 * of them together. */
TEST(test_parallel_faults)
{
	static const char *const names[] = { "a", "b" };

	for (int parallel = 0; parallel < 2; parallel++) {
		struct trace_reader *summaries[TRACES_MAX];
		struct parted parted = { .count = 0 };
		struct random_job job = { .count = 2 };
		struct report *parts;
		bool in_order = false;

		for (size_t i = 0; i < job.count; i++) {
			struct made_trace *made = &job.made[i];
			const uint64_t from = (1 + i) * 2000 * MS, pid = 100 + i;

			BEGIN(made, .host = "node", .boot_id = "node", .memory_bytes = 1ull << 34,
			      .monotonic_ns = from, .realtime_ns = 1700000000000000000ull + from);
			EXEC(made, .time = from, .pid = pid, .comm = "python3", .rank = -1);
			FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 41,
				 .size = 64 << 20, .path = "/data/model.safetensors");
			for (uint64_t j = 0; j < 11; j++)
				FAULT(made, .time = from + 100 + j * 4 * MS, .dur = 3 * MS,
				      .pid = pid, .tid = pid + (parallel ? j % 2 : 0), .file = 1,
				      .offset = j * (4 << 20), .fetched = 4 << 20,
				      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP);
			job.traces[i] = made_finish(made, from, from + 200 * MS);
			job.names[i] = names[i];
		}
		for (size_t i = 0; i < job.count; i++)
			summaries[i] = summarize_report(&parted,
							report_on(job.traces + i, job.names + i, 1),
							SUMMARY_ROWS_MAX);
		parts = report_on(summaries, job.names, job.count);
		in_order = row_of_finding(parts, "mmap-in-order") >= 0;
		assert_int_equal(in_order, !parallel);
		report_free(parts);
		free_parted(&parted);
		free_job(&job);
	}
}

/* One run drops a file from the cache, and another fetches it again. */
TEST(test_dropped_for_another)
{
	static const struct whole_run runs[] = {
		{ "first", "/data/model", 1000, 300, 100, .drops = true },
		{ "second", "/data/model", 2000, 300, 100, .drops = true },
	};
	struct trace_reader *summaries[TRACES_MAX];
	struct parted parted = { .count = 0 };
	struct random_job job;
	struct report *parts;

	make_runs(&job, runs, 2);
	for (size_t i = 0; i < job.count; i++) {
		struct report *alone = report_on(job.traces + i, job.names + i, 1);

		assert_int_equal(row_of_finding(alone, "fetched-again"), -1);
		summaries[i] = summarize_report(&parted, alone, SUMMARY_ROWS_MAX);
	}
	parts = report_on(summaries, job.names, job.count);
	check_text(parts, "findings", find_row(parts, "findings", "id", "fetched-again"), "says",
		   "128 MiB from storage for 64.0 MiB of data: the job dropped it with 2 "
		   "POSIX_FADV_DONTNEED calls");
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* Two runs. The first writes to 400 files, three times each, 100 bytes at a time; the second writes
 * to only the last of them, or to none.
 */
static void make_small_writers(struct random_job *job, bool both)
{
	static const char *const names[] = { "first", "second" };
	const uint64_t files = 400;
	char path[32];

	job->count = 2;
	for (size_t i = 0; i < job->count; i++) {
		struct made_trace *made = &job->made[i];
		uint64_t from = 1000 * MS + i * 1000 * MS, pid = 100 + i;

		BEGIN(made, .host = "node", .boot_id = "node", .monotonic_ns = from,
		      .realtime_ns = 1700000000000000000ull + from);
		EXEC(made, .time = from, .pid = pid, .comm = "python3", .rank = -1);
		for (uint64_t j = i ? files - both : 0; j < files; j++) {
			snprintf(path, sizeof(path), "/out/%d", (int)j);
			FILE_ROW(made, .time = from, .id = j + 1, .dev = 8 << 20, .ino = 41 + j,
				 .path = path);
			for (uint64_t k = 0; k < 3; k++)
				CALL(made, .time = from + (3 * j + k) * MS / 10, .dur = MS / 20,
				     .pid = pid, .tid = pid, .op = M_WRITE, .file = j + 1,
				     .offset = k * 100, .asked = 100, .result = 100);
		}
		job->traces[i] = made_finish(made, from, from + 200 * MS);
		job->names[i] = names[i];
	}
}

/* The number of files is known if only one run wrote any. */
TEST(test_files_of_one_run)
{
	for (int both = 0; both < 2; both++) {
		struct trace_reader *summaries[TRACES_MAX];
		struct parted parted = { .count = 0 };
		struct random_job job;
		struct report *parts;
		const char *says;

		make_small_writers(&job, both);
		for (size_t i = 0; i < job.count; i++)
			summaries[i] = summarize(&parted, job.traces + i, job.names + i, 1,
						 SUMMARY_ROWS_MAX);
		parts = report_on(summaries, job.names, job.count);
		says = ask(parts, "findings", find_row(parts, "findings", "id", "small-writes"),
			   "says")
			       ->text;
		assert_int_equal(!both, !!strstr(says, "; 3 per file"));
		report_free(parts);
		free_parted(&parted);
		free_job(&job);
	}
}

/* The order of summaries does not matter, except in the list of traces. */
TEST(test_any_order)
{
	struct trace_reader *forward[TRACES_MAX], *backward[TRACES_MAX];
	struct parted parted = { .count = 0 };
	struct random_job job;
	struct report *a, *b;

	make_ranks(&job, false);
	for (size_t i = 0; i < job.count; i++) {
		forward[i] = summarize(&parted, job.traces + i, job.names + i, 1, 3);
		backward[job.count - 1 - i] = forward[i];
	}
	a = report_on(forward, job.names, job.count);
	b = report_on(backward, job.names, job.count);
	for (size_t i = 0; i < a->table_count; i++)
		if (strcmp(a->tables[i]->name, "trace") != 0 &&
		    !same_tables(a->tables[i], b->tables[i]))
			fail_msg("%s differs", a->tables[i]->name);
	report_free(a);
	report_free(b);
	free_parted(&parted);
	free_job(&job);
}
