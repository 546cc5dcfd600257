/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings in detail: exact text, cost, and which of several is reported. test_findings_rules.c
 * checks that each rule triggers exactly where it should. */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "findings_made.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_faults.h"
#include "findings_of_jobs.h"
#include "findings_of_opens.h"
#include "findings_of_reads.h"
#include "findings_of_workers.h"
#include "findings_of_writes.h"

static struct report *made_of(struct made_trace *made, void (*make)(struct made_trace *made))
{
	BEGIN_RUN(made, .block = true);
	make(made);
	made_finish(made, 10, END);
	return made_report(&made->reader, 1);
}

/* Checks one column of the trace's finding. */
static void check_reported(void (*make)(struct made_trace *made), const char *id,
			   const char *column, const char *text)
{
	struct made_trace made;
	struct report *report = made_of(&made, make);

	check_finding_text(report, id, column, text);
	done(&made, report);
}

/* A script that every worker reads as well. */
static void make_script(struct made_trace *made)
{
	many_small_files(made, false);
	add_file(made, 2000, 20 * KIB, "/home/me/train.sh");
	CALL(made, .time = 500 * MS, .dur = 50 * MS, .pid = 10, .op = M_OPENAT, .file = 2000,
	     .result = 3);
	CALL(made, .time = 600 * MS, .dur = 5 * MS, .pid = 10, .op = M_READ, .file = 2000,
	     .asked = 32 * KIB, .result = 20 * KIB);
}

/* The example is one of the small files, not the file with the most time. */
TEST(test_example)
{
	check_reported(make_script, "many-small-files", "title",
		       "Many small files are read, such as 0.jpg");
}

/* A database's commits: the journal is created and removed each time, and the directory synced. */
static void make_commits(struct made_trace *made)
{
	add_file(made, 1, MIB, "/data/log");
	FILE_ROW(made, .time = 10, .id = 2, .dev = 1, .ino = 2, .path = "/data", .mode = S_IFDIR);
	CALLS(made, 100, .count = 50, .op = M_FSYNC, .dur = 2 * MS);
	for (uint64_t i = 0; i < 50; i++)
		CALL(made, .time = 200 * MS + i * 4 * MS, .dur = 3 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 2);
}

/* The title names a synced file, although its directory took longer. */
TEST(test_directory)
{
	check_reported(make_commits, "fsync-often", "title",
		       "Run waits for syncs of log and 1 more file");
}

/* Read twice from storage; the job calls fadvise in between. */
static void make_dropped(struct made_trace *made)
{
	fetched_again(made, false);
	CALL(made, .time = 500 * MS, .dur = US, .pid = 10, .op = M_FADVISE, .file = 1);
	CALL(made, .time = 501 * MS, .dur = US, .pid = 10, .op = M_FADVISE, .file = 1);
	/* These calls drop nothing. */
	CALL(made, .time = 502 * MS, .dur = US, .pid = 10, .op = M_FADVISE, .file = 1,
	     .fetched = MIB);
	CALL(made, .time = 503 * MS, .dur = US, .pid = 10, .op = M_FADVISE, .file = 1,
	     .result = -EINVAL);
}

static void make_not_held(struct made_trace *made)
{
	fetched_again(made, false);
}

/* Memory pressure may not be the only cause if the job may have dropped the data itself. */
TEST(test_dropped)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_dropped);
	size_t row = finding_row(report, "fetched-again");

	check_text(report, "findings", row, "says",
		   "97.0 MiB from storage for 64.0 MiB of data: memory did not hold it, or the job "
		   "dropped it with 2 fadvise calls");
	CHECK(report, "files", find_row(report, "files", "path", "/data/a"), "advised", 2);
	done(&made, report);
	report = made_of(&made, make_not_held);
	row = finding_row(report, "fetched-again");
	check_text(report, "findings", row, "says",
		   "96.0 MiB from storage for 64.0 MiB of data: memory did not hold it");
	check_text(report, "findings", row, "advice",
		   "Give the job more memory (cgroup limit), read less at random, or evict data "
		   "that is done with (POSIX_FADV_DONTNEED on other files)");
	done(&made, report);
}

static void make_metadata(struct made_trace *made)
{
	add_file(made, 1, 8 * KIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 100 * US);
}

/* The call that leads is the cause. */
TEST(test_leading_call)
{
	check_reported(make_metadata, "metadata-heavy", "title",
		       "Metadata calls, mostly newfstatat, take longer than data I/O");
}

static void make_compiled_starts(struct made_trace *made)
{
	compiled_start(made, false);
}

static void make_python_starts(struct made_trace *made)
{
	worker_start(made, false);
}

/* Only a Python program has modules. */
TEST(test_starts)
{
	check_reported(make_compiled_starts, "worker-start", "title", "b is started 5 times");
	check_reported(make_compiled_starts, "worker-start", "says",
		       "each start takes 100 ms and opens 1 library; 500 ms with starts in "
		       "progress, by process 10");
	check_reported(make_compiled_starts, "worker-start", "advice",
		       "Start it once and let one process do all the work, or do it in the process "
		       "that starts b, with a library");
	check_reported(make_python_starts, "worker-start", "title",
		       "b is started 5 times and loads 1 module each time");
	check_reported(make_python_starts, "worker-start", "says",
		       "each start takes 100 ms and opens 1 file, with 1 module; 500 ms with "
		       "starts in progress, by process 10");
}

/* A program does little but read a file; its requests take `each_ms` of each 14 ms. */
static void make_load(struct made_trace *made, uint64_t each_ms)
{
	add_file(made, 1, 256 * MIB, "/data/model.pt");
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t at = 100 + i * 14 * MS;

		CALL(made, .time = at, .dur = 14 * MS, .pid = 10, .op = M_READ, .file = 1,
		     .offset = i * 4 * MIB, .asked = 4 * MIB, .result = 4 * MIB,
		     .fetched = 4 * MIB);
		for (uint64_t j = 0; j < 2; j++) {
			BIO(made, .time = at, .dur = each_ms * MS, .pid = 10, .op = M_REQUEST_READ,
			    .file = 1, .offset = i * 4 * MIB + j * 2 * MIB, .bytes = 2 * MIB,
			    .request = 2 * i + j + 1, .dev = 8 << 20);
			REQUEST(made, .time = at, .dur = each_ms * MS, .pid = 10,
				.op = M_REQUEST_READ, .bytes = 2 * MIB, .dev = 8 << 20);
		}
	}
}

static void make_load_at_full_speed(struct made_trace *made)
{
	make_load(made, 12);
}

static void make_load_at_half_speed(struct made_trace *made)
{
	make_load(made, 7);
}

/* A device that always serves requests in parallel cannot be used better. */
static void make_load_at_all_times(struct made_trace *made)
{
	make_load(made, 14);
}

TEST(test_load_of_busy_device)
{
	struct made_trace made;
	struct report *report;

	check_reported(make_load_at_full_speed, "load-waits", "severity", "note");
	check_reported(make_load_at_half_speed, "load-waits", "severity", "high");
	BEGIN_RUN(&made, .block = true);
	make_load_at_all_times(&made);
	report = report_between(&made, 10, END);
	check_finding_text(report, "load-waits", "severity", "note");
	check_null(report, "findings", finding_row(report, "load-waits"), "cost_ns");
	done(&made, report);
}

static void make_scanned(struct made_trace *made)
{
	opened_again_scanned(made, false);
}

/* An archive is scanned after each open, 25 ms each; the first twelve opens are for learning, but
 * cost as much. */
TEST(test_scanned)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_scanned);
	size_t row = finding_row(report, "opened-again");

	check_text(report, "findings", row, "title",
		   "a.tar is opened and scanned repeatedly, with 9,030 small reads");
	check_text(report, "findings", row, "says",
		   "30 opens of 1 file, 30 metadata calls on them; 450 ms from opens to the first "
		   "read of new data");
	check_text(report, "findings", row, "advice",
		   "Open it once per process and keep it open (in a worker: at its start), with an "
		   "index of what is where, or unpack it: most of the 9,030 reads look for "
		   "something, as in a tar archive, which has no index");
	assert_in_range(ask(report, "findings", row, "cost_ns")->uint, 715 * MS, 735 * MS);
	done(&made, report);
}

static void make_log(struct made_trace *made)
{
	small_writes(made, false);
}

#define MANY 2000

/* Each of many files is written with a single call. */
static void make_many_written(struct made_trace *made)
{
	for (uint64_t i = 0; i < MANY; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%d.json", (int)i);
		add_file(made, 1 + i, 100, path);
		CALL(made, .time = 100 + i * 6 * US, .dur = 5 * US, .pid = 10, .op = M_WRITE,
		     .file = 1 + i, .offset = 0, .asked = 100, .result = 100);
	}
}

/* Buffering cannot enlarge the only write of a small file. */
TEST(test_small_files_written)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_many_written);
	size_t row = finding_row(report, "small-writes");

	check_text(report, "findings", row, "says",
		   "2,000 writes of 100 B on average, 10.0 ms in total; 1 per file");
	check_text(report, "findings", row, "advice",
		   "Pack the data of files with ≤ 1 write into a few large files (tar shards, "
		   "HDF5, LMDB), and buffer in the program and write ≥ 1 MiB at a time");
	done(&made, report);
	check_reported(make_log, "small-writes", "advice",
		       "Buffer in the program and write ≥ 1 MiB at a time");
}

/* Small sequential reads, one in 256 of which waits, for a request issued late. */
static void make_held_back(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		for (uint64_t j = 0; j < 256; j++)
			CALL(made, .time = at + (j ? 18 * MS + j * US : 0), .dur = j ? US : 18 * MS,
			     .pid = 10, .op = M_PREAD, .file = 1, .offset = i * MIB + j * 4096,
			     .asked = 4096, .result = 4096, .fetched = j ? 0 : MIB);
		BIO(made, .time = at + 17 * MS, .dur = MS, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * MIB, .bytes = MIB, .request = i + 1, .dev = 8 << 20);
	}
}

/* Larger reads would be throttled just as long. */
TEST(test_held_back)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_held_back);
	size_t row = finding_row(report, "held-back");

	check_text(report, "findings", row, "says",
		   "16.0 MiB from 1 file, at 54.8 MiB/s; threads waited 272 ms of 292 ms before "
		   "the device received their 16 requests");
	assert_int_equal(row_of_finding(report, "small-reads-storage"), -1);
	done(&made, report);
}

/* Small reads with gaps, each of which waits for a slow device. */
static void make_slow(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t at = 100 + i / 20 * 15 * MS;

		CALL(made, .time = at + i % 20 * US, .dur = i % 20 ? US / 2 : 12 * MS, .pid = 10,
		     .tid = i % 20 ? 11 : 10, .op = M_PREAD, .file = 1, .offset = i * 32 * KIB,
		     .asked = 4096, .result = 4096, .fetched = i % 20 ? 0 : 80 * KIB);
		if (i % 20)
			continue;
		BIO(made, .time = at + US, .dur = 11 * MS, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * 32 * KIB, .bytes = 80 * KIB, .request = i + 1,
		    .dev = 8 << 20);
		REQUEST(made, .time = at + US, .dur = 11 * MS, .pid = 10, .op = M_REQUEST_READ,
			.file = 1, .bytes = 80 * KIB, .dev = 8 << 20);
	}
}

/* A wait is reported once, as the finding that the program can act on. */
TEST(test_slow_device)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_slow);
	size_t slow = finding_row(report, "device-slow");

	check_text(report, "findings", slow, "severity", "note");
	assert_int_equal(ask(report, "findings", slow, "cost_ns")->type, CELL_NULL);
	check_finding_text(report, "small-reads-storage", "severity", "high");
	done(&made, report);
}

/* Random faults of two processes that fetch large windows: they cause the queue. */
static void make_queued(struct made_trace *made)
{
	device_overloaded_by_one(made, false);
	for (uint64_t i = 0; i < 200; i++)
		FAULT(made, .time = 100 + i / 2 * 6 * MS, .dur = 5 * MS, .pid = 10 + i % 2,
		      .file = 1, .offset = i * 40503 % 256 * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

TEST(test_queue_of_its_own)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_queued);
	size_t queued = finding_row(report, "device-overloaded");

	check_text(report, "findings", 0, "id", "mmap-random");
	check_text(report, "findings", queued, "severity", "note");
	done(&made, report);
}

/* Which worker, and by exactly how much. */
TEST(test_worker)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN_RUN(&made, .spans = true);
	worker_slow(&made, false);
	report = report_between(&made, 10, END);
	row = finding_row(report, "worker-slow");
	check_text(report, "findings", row, "title",
		   "Worker 22 of the data loader is slower than the others");
	check_text(report, "findings", row, "says",
		   "40.0 ms for each of its 10 spans, median 10.0 ms of 4 workers; I/O took 50.0 "
		   "ms of its 400 ms");
	check_text(report, "findings", row, "severity", "note");
	done(&made, report);
}

/* The job's own lookups take 100 ms, and its start 170 ms of the second. */
static void make_start(struct made_trace *made)
{
	add_file(made, 1, 64 * MIB, "/usr/lib/libtorch_cpu.so");
	for (uint64_t i = 0; i < 17; i++)
		FAULT(made, .time = 100 + i * 11 * MS, .dur = 10 * MS, .pid = 10, .file = 1,
		      .offset = i * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 300 * MS + i * 100 * US, .dur = 50 * US, .pid = 10,
		     .op = M_FSTAT, .path = "/data/last.ckpt", .result = -2);
	for (uint64_t i = 0; i < 400; i++)
		CALL(made, .time = 600 * MS + i * 10 * US, .dur = 5 * US, .pid = 10, .op = M_OPENAT,
		     .path = "/usr/none/module.py", .result = -2);
}

/* The job's own activity ranks first at similar cost, and excludes startup's lookups. */
TEST(test_start_comes_second)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_start);

	check_text(report, "findings", 0, "id", "failed-lookups");
	check_text(report, "findings", 0, "says",
		   "2,000 lookups failed, 2,000 of them in /data, such as /data/last.ckpt");
	check_text(report, "findings", 1, "id", "cold-start");
	check_text(report, "findings", 1, "severity", "high");
	done(&made, report);
}

static void make_loads(struct made_trace *made, uint64_t files)
{
	const uint64_t each = 64 / files;

	for (uint64_t i = 0; i < files; i++)
		add_file(made, i + 1, each * 4 * MIB, "/data/sample");
	for (uint64_t i = 0; i < 64; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 5 * MS, .pid = 10, .op = M_READ,
		     .file = i / each + 1, .offset = i % each * 4 * MIB, .asked = 4 * MIB,
		     .result = 4 * MIB, .fetched = 4 * MIB);
}

static void make_load_of_one(struct made_trace *made)
{
	make_loads(made, 1);
}

static void make_load_of_many(struct made_trace *made)
{
	make_loads(made, 32);
}

static void make_syncs_of_many(struct made_trace *made)
{
	for (uint64_t i = 0; i < 100; i++) {
		add_file(made, i + 1, MIB, "/data/sample");
		CALL(made, .time = 100 + i * 2 * MS, .dur = 2 * MS, .pid = 10, .op = M_FSYNC,
		     .file = i + 1);
	}
}

/* sync() is about all file systems: it has no file. */
static void make_syncs_of_all(struct made_trace *made)
{
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 4 * MS, .pid = 10, .op = M_FSYNC);
}

/* One file of many in a group does not stand for the whole group. */
TEST(test_files_next_to_the_named)
{
	check_reported(make_load_of_one, "load-waits", "title",
		       "Main thread blocks while reading sample");
	check_reported(
		make_load_of_many, "load-waits", "title",
		"Main thread blocks while reading sample (3.1% of that time) and other files");
	check_reported(make_syncs_of_many, "fsync-often", "title",
		       "Run waits for syncs of sample and 99 more files");
	check_reported(make_syncs_of_all, "fsync-often", "title", "Run waits for syncs");
}

static void make_ranks_that_sync(struct made_trace *made)
{
	add_file(made, 1, MIB, "/data/log");
	sync_by(made, 4, 60, true);
}

static void make_again_direct(struct made_trace *made)
{
	add_file(made, 1, 65 * MIB, "/data/a");
	CALLS(made, 100, .count = 192, .op = M_PREAD, .bytes = MIB, .step = 40503 * KIB, .dur = MS,
	      .flags = TRACE_OP_DIRECT);
}

/* O_DIRECT reads come from storage, though nothing enters the page cache. */
TEST(test_again_direct)
{
	check_reported(make_again_direct, "read-again", "says",
		       "192 MiB were read from 65.0 MiB of data; 100.0% from storage, 192 MiB with "
		       "O_DIRECT, which caches nothing");
}

/* A rank's writes, each starting 0.5 ms after the other rank's, or right after they end. */
static void make_rank(struct made_trace *made, uint64_t rank, bool sound)
{
	BEGIN(made, .block = true);
	EXEC(made, .time = 11, .pid = 10 + rank, .comm = "a", .command = "a", .rank = rank);
	add_file(made, 1, MIB, "/data/results");
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + i * 4 * MS + rank * (sound ? 1 : 2) * MS / 2,
		     .dur = (sound ? 400 : 2000) * US, .pid = 10 + rank, .op = M_WRITE, .file = 1,
		     .asked = 8192, .result = 8192);
	made_finish(made, 10, END);
}

/* Two ranks with a trace each: neither trace on its own shows the waiting. */
TEST(test_shared_across)
{
	for (int sound = 0; sound < 2; sound++) {
		struct made_trace made[2];
		struct trace_reader *readers[2];
		struct report *report;

		for (uint64_t rank = 0; rank < 2; rank++) {
			make_rank(&made[rank], rank, sound);
			readers[rank] = made[rank].reader;
			report = made_report(&readers[rank], 1);
			assert_int_equal(row_of_finding(report, "shared-writes-ranks"), -1);
			report_free(report);
		}
		report = made_report(readers, 2);
		check_texts(report, "shared-writes-ranks");
		assert_int_equal(row_of_finding(report, "shared-writes"), -1);
		assert_int_equal(row_of_finding(report, "shared-writes-ranks") >= 0, !sound);
		if (!sound)
			check_text(
				report, "findings", finding_row(report, "shared-writes-ranks"),
				"says",
				"100 writes of 8.0 KiB began while another trace's process wrote "
				"to the same file; they waited 1.0 ms each, 100 ms in total");
		report_free(report);
		for (int rank = 0; rank < 2; rank++)
			made_close(&made[rank]);
	}
}

/* One of three ranks, each with a second thread that writes during the first thread's write. All
 * writes begin while the first thread of rank 0 writes, and end before it does.
 */
static void make_rank_of_threads(struct made_trace *made, uint64_t rank)
{
	BEGIN(made, .block = true);
	EXEC(made, .time = 11, .pid = 10 + rank, .comm = "a", .command = "a", .rank = rank);
	add_file(made, 1, MIB, "/data/results");
	for (uint64_t thread = 0; thread < 2; thread++)
		for (uint64_t i = 0; i < 20; i++)
			CALL(made, .time = 100 + i * 20 * MS + (rank + 3 * thread) * MS,
			     .dur = (thread ? 1 : 10 - 2 * rank) * MS, .pid = 10 + rank,
			     .tid = 10 + rank + 10 * thread, .op = M_WRITE, .file = 1,
			     .asked = 8192, .result = 8192);
	made_finish(made, 10, END);
}

/* The write that ends last waits for the longest of the others: 20 rounds of [0, 10), [1, 9), [2,
 * 8), and [3, 4), [4, 5), [5, 6) by the ranks' second threads.
 */
TEST(test_shared_across_threads)
{
	struct made_trace made[3];
	struct trace_reader *readers[3];
	struct report *report;

	for (uint64_t rank = 0; rank < 3; rank++) {
		make_rank_of_threads(&made[rank], rank);
		readers[rank] = made[rank].reader;
	}
	report = made_report(readers, 3);
	check_finding_text(
		report, "shared-writes-ranks", "says",
		"100 writes of 8.0 KiB began while another trace's process wrote to the same "
		"file; they waited 3.4 ms each, 160 ms in total");
	report_free(report);
	for (int rank = 0; rank < 3; rank++)
		made_close(&made[rank]);
}

/* One process's share: of four ranks' concurrent syncs, only one rank's count in a row. */
TEST(test_syncs_by_process)
{
	check_reported(
		make_ranks_that_sync, "fsync-often", "says",
		"240 fsync and similar calls of 500 us each, 30.0 ms in total, by 4 processes: "
		"60 by process 20, rank 0");
}

static void make_commits_of_database(struct made_trace *made)
{
	sync_writes_of_commits(made, true);
}

/* Writes with O_SYNC to the file that is synced count with the syncs, and in no other finding. */
TEST(test_commits)
{
	struct made_trace made;
	struct report *report = made_of(&made, make_commits_of_database);
	const size_t row = finding_row(report, "fsync-often");

	check_text(report, "findings", row, "says",
		   "200 fsync and similar calls of 2.0 ms each, 400 ms in total; 200 writes to it "
		   "with O_SYNC took 200 ms");
	CHECK(report, "findings", row, "cost_ns", 600 * MS);
	assert_int_equal(row_of_finding(report, "write-bound"), -1);
	done(&made, report);
}
