/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces of writes, and of calls that cost time but move little data. Each triggers one finding or,
 * if `sound`, does not.
 */
#pragma once

#include "finding_cases.h"

/* --- writes, and calls that cost time but move little data --- */

FINDING_CASE("fsync-often", fsync_often)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = sound ? 2 : 100, .op = M_FSYNC, .dur = 2 * MS);
}

/* Ten syncs that the run waits for, as a database does, and ten that take next to no time. */
FINDING_CASE("fsync-often", fsync_waited)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 10, .op = M_FSYNC, .dur = sound ? 3 * MS : 20 * MS);
}

/* A single sync at the end of a file is no finding, unless it takes much of the run. */
FINDING_CASE("fsync-often", fsync_once)
{
	add_file(made, 1, MIB, "/data/checkpoint");
	CALLS(made, 100, .count = 1, .op = M_FSYNC, .dur = sound ? 50 * MS : 400 * MS);
}

/* `count` processes from 10 on, concurrent or consecutive, each of which syncs `each` times. */
static void sync_by(struct made_trace *made, uint64_t count, uint64_t each, bool side_by_side)
{
	const uint64_t lives = side_by_side ? 900 * MS : 900 * MS / count;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t pid = 20 + i, begins = 100 + (side_by_side ? 0 : i * lives);

		made_fork(made, begins, 10, pid);
		EXEC(made, .time = begins + 1, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = i);
		for (uint64_t j = 0; j < each; j++)
			CALL(made, .time = begins + 10 + j * MS, .dur = MS / 2, .pid = pid,
			     .op = M_FSYNC, .file = 1);
		EXIT(made, .time = begins + lives - 1, .pid = pid, .tid = pid);
	}
}

/* One sync by each of many concurrent ranks counts once; by consecutive programs, many times. */
FINDING_CASE("fsync-often", fsync_of_ranks)
{
	add_file(made, 1, MIB, "/data/checkpoint");
	sync_by(made, 64, 1, sound);
}

/* One rank does what no other rank does. */
FINDING_CASE("fsync-often", fsync_of_one_rank)
{
	add_file(made, 1, MIB, "/data/log");
	sync_by(made, 40, 2, true);
	CALLS(made, 100 * MS, .count = sound ? 2 : 60, .op = M_FSYNC, .dur = MS / 2);
}

FINDING_CASE("replace-waits", replace_waits)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t at = 100 + i * 40 * MS;

		CALL(made, .time = at, .dur = 20 * MS, .pid = 10, .op = i % 3 ? M_RENAME : M_UNLINK,
		     .path = "/data/b", .path2 = "/data/a");
		BIO(made, .time = at + US, .dur = sound ? MS : 18 * MS, .pid = 10,
		    .op = M_REQUEST_WRITE, .offset = -1, .bytes = 4 * MIB, .request = i + 1,
		    .dev = 8 << 20);
	}
	CALLS(made, 500 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 20 * MS);
}

/* A checkpoint: a lot at once, by the main thread or by another. */
FINDING_CASE("save-waits", save_waits)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 64; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 4 * MS, .pid = 10,
		     .tid = sound ? 11 : 10, .op = M_WRITE, .file = 1, .offset = i * MIB,
		     .asked = MIB, .result = MIB);
	CALL(made, .time = 330 * MS, .dur = 100 * MS, .pid = 10, .tid = sound ? 11 : 10,
	     .op = M_FSYNC, .file = 1);
}

/* A process that only does I/O has no other work to go on with. */
FINDING_CASE("save-waits", save_alone)
{
	save_waits(made, false);
	if (sound)
		CALL(made, .time = 431 * MS, .dur = 565 * MS, .pid = 10, .op = M_READ, .file = 1,
		     .asked = MIB, .result = MIB);
}

/* A process forked to write runs next to its parent; an execed program replaces it. */
FINDING_CASE("save-waits", save_forked)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	made_fork(made, 20, 10, 11);
	if (!sound)
		EXEC(made, .time = 30, .pid = 11, .ppid = 10, .comm = "b", .command = "b",
		     .rank = -1);
	CALL(made, .time = 100, .dur = 100 * MS, .pid = 11, .op = M_WRITE, .file = 1,
	     .asked = 64 * MIB, .result = 64 * MIB);
}

/* Opening with O_TRUNC may wait for the earlier data: it is part of the save. */
FINDING_CASE("save-waits", save_over_another)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 2; i++) {
		CALL(made, .time = 100 + i * 200 * MS, .dur = 60 * MS, .pid = 10, .op = M_OPENAT,
		     .file = 1, .path = "/data/checkpoint", .result = 3,
		     .flags = TRACE_OP_WRITABLE | (sound ? 0 : TRACE_OP_TRUNCATE));
		CALL(made, .time = 61 * MS + i * 200 * MS, .dur = 10 * MS, .pid = 10, .op = M_WRITE,
		     .file = 1, .asked = 64 * MIB, .result = 64 * MIB);
	}
}

/* Two files of 32 MiB, or as much in a thousand small ones, as in an archive. */
FINDING_CASE("save-waits", save_of_files)
{
	const uint64_t files = sound ? 1000 : 2, bytes = 64 * MIB / files;

	for (uint64_t i = 0; i < files; i++) {
		add_file(made, i + 1, bytes, "/data/unpacked");
		CALL(made, .time = 100 + i * (200 * MS / files), .dur = 100 * MS / files, .pid = 10,
		     .op = M_WRITE, .file = i + 1, .asked = bytes, .result = bytes);
	}
}

/* Files in memory only cost the copy. */
FINDING_CASE("save-waits", save_in_memory)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 64 * MIB, .path = "/x/a",
		 .filesystem = sound ? "tmpfs" : "xfs");
	CALLS(made, 100, .count = 1, .op = M_WRITE, .bytes = 64 * MIB, .dur = 100 * MS);
}

/* Each sync finishes a lot of data: the syncs are not the problem. */
FINDING_CASE("fsync-often", fsync_of_saves)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 4; i++) {
		CALL(made, .time = 100 + i * 100 * MS, .dur = 10 * MS, .pid = 10, .op = M_WRITE,
		     .file = 1, .asked = 64 * MIB, .result = sound ? 64 * MIB : MIB);
		CALL(made, .time = 20 * MS + i * 100 * MS, .dur = 50 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 1);
	}
}

/* A checkpoint written by a background thread: nothing waits for its syncs. */
FINDING_CASE("fsync-often", fsync_beside)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 4; i++) {
		CALL(made, .time = 100 + i * 100 * MS, .dur = 10 * MS, .pid = 10, .tid = 11,
		     .op = M_WRITE, .file = 1, .asked = 64 * MIB, .result = sound ? 64 * MIB : MIB);
		CALL(made, .time = 20 * MS + i * 100 * MS, .dur = 50 * MS, .pid = 10, .tid = 11,
		     .op = M_FSYNC, .file = 1);
	}
}

FINDING_CASE("sync-writes", sync_writes)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 200, .op = M_WRITE, .bytes = 64 * KIB, .dur = MS,
	      .flags = sound ? 0 : TRACE_OP_SYNC);
}

/* The writes are those of a database, or go to another file than the one that is synced. */
FINDING_CASE("sync-writes", sync_writes_of_commits)
{
	add_file(made, 1, MIB, "/data/data.mdb");
	add_file(made, 2, MIB, "/data/log");
	for (uint64_t i = 0; i < 200; i++) {
		CALL(made, .time = 100 + i * 4 * MS, .dur = MS, .pid = 10, .op = M_WRITE,
		     .file = sound ? 1 : 2, .asked = 64, .result = 64, .flags = TRACE_OP_SYNC);
		CALL(made, .time = 100 + i * 4 * MS + MS, .dur = 2 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 1);
	}
}

FINDING_CASE("small-writes", small_writes)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 2000, .op = M_WRITE, .bytes = sound ? 8192 : 100, .dur = 5 * US);
}

/* Each write changes part of an uncached page, or whole pages. */
FINDING_CASE("partial-writes", partial_writes)
{
	add_file(made, 1, 64 * MIB, "/data/table");
	for (uint64_t i = 0; i < 500; i++)
		CALL(made, .time = 100 + i * MS, .dur = 200 * US, .pid = 10, .tid = 10,
		     .op = M_WRITE, .file = 1, .offset = i * 100000, .asked = 1000, .result = 1000,
		     .read_for_write = sound ? 0 : 4096);
}

/* Writes that wait for storage are expensive for that reason, not for being small. */
FINDING_CASE("small-writes", small_writes_sync)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 2000, .op = M_WRITE, .bytes = 100, .dur = 50 * US,
	      .flags = sound ? TRACE_OP_SYNC : 0);
}

/* Two threads write a file, concurrently or in turn. */
FINDING_CASE("shared-writes", shared_writes)
{
	add_file(made, 1, MIB, "/data/results");
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + i * MS, .dur = 400 * US, .pid = 10, .tid = 10 + i % 2,
		     .op = M_WRITE, .file = 1, .asked = 8192, .result = 8192);
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + i * MS + (sound ? 500 : 200) * US, .dur = 400 * US,
		     .pid = 10, .tid = 11 - i % 2, .op = M_WRITE, .file = 1, .asked = 8192,
		     .result = 8192);
}

/* O_DIRECT writes may run in parallel. */
FINDING_CASE("shared-writes", shared_writes_direct)
{
	add_file(made, 1, MIB, "/data/results");
	for (uint64_t i = 0; i < 200; i++)
		CALL(made, .time = 100 + i * MS, .dur = 1500 * US, .pid = 10, .tid = 10 + i % 2,
		     .op = M_WRITE, .file = 1, .asked = 8192, .result = 8192,
		     .flags = sound ? TRACE_OP_DIRECT : 0);
}

/* Few and slow writes for no particular reason, or fast ones. */
FINDING_CASE("write-bound", write_bound)
{
	add_file(made, 1, MIB, "/data/results");
	CALLS(made, 100, .count = 20, .op = M_WRITE, .bytes = 8192, .step = 8192,
	      .dur = sound ? MS : 20 * MS);
}

/* A cost that another finding covers is reported once. */
FINDING_CASE("write-bound", write_bound_reported)
{
	add_file(made, 1, MIB, "/data/results");
	CALLS(made, 100, .count = 200, .op = M_WRITE, .bytes = 8192, .dur = 2 * MS,
	      .flags = sound ? TRACE_OP_SYNC : 0);
}

/* Findings about reads do not cover writes. */
FINDING_CASE("write-bound", write_bound_beside_reads)
{
	write_bound(made, sound);
	add_file(made, 2, 64 * MIB, "/data/shards");
	for (uint64_t i = 0; i < 1000; i++)
		CALL(made, .time = 500 * MS + i * 400 * US, .dur = 400 * US, .pid = 10,
		     .op = M_PREAD, .file = 2, .offset = i * 4096, .asked = 4096, .result = 4096,
		     .fetched = 4096);
}

/* Each rank saves the same file, one after the other, or one of its own. */
FINDING_CASE("written-by-several", written_by_several)
{
	for (uint64_t rank = 0; rank < 4; rank++) {
		const uint64_t pid = 20 + rank, at = (100 + rank * 100) * MS;
		const uint64_t file = sound ? rank + 1 : 1;

		made_fork(made, 100 + rank, 10, pid);
		EXEC(made, .time = 110 + rank, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = rank);
		FILE_ROW(made, .time = at, .id = file, .dev = 1, .ino = file, .size = 3 * MIB,
			 .path = sound && rank ? "/out/other" : "/out/tokenizer.json");
		CALL(made, .time = at + US, .dur = MS, .pid = pid, .op = M_OPENAT, .file = file,
		     .result = 3, .flags = TRACE_OP_TRUNCATE);
		CALL(made, .time = at + 2 * MS, .dur = 60 * MS, .pid = pid, .op = M_WRITE,
		     .file = file, .asked = 3 * MIB, .result = 3 * MIB);
	}
}

FINDING_CASE("small-direct", small_direct)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = sound ? MIB : 4096, .step = 4096,
	      .dur = 50 * US, .flags = TRACE_OP_DIRECT);
}

FINDING_CASE("lock-wait", lock_wait)
{
	add_file(made, 1, MIB, "/data/lock");
	CALLS(made, 100, .count = 50, .op = M_FLOCK, .dur = sound ? US : 5 * MS);
}

/* A few long waits are as bad as many short ones. */
FINDING_CASE("lock-wait", lock_few)
{
	add_file(made, 1, MIB, "/data/job.lock");
	CALLS(made, 100, .count = 4, .op = M_FLOCK, .dur = sound ? 2 * MS : 150 * MS);
}

FINDING_CASE("small-writes", small_writes_few)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 200, .op = M_WRITE, .bytes = 512,
	      .dur = sound ? 20 * US : 2 * MS);
}

/* A free lock costs no wait, however often it is taken. */
FINDING_CASE("lock-wait", lock_free)
{
	add_file(made, 1, MIB, "/data/s.db");
	CALLS(made, 100, .count = 20000, .op = M_FLOCK, .dur = sound ? US : 20 * US);
}

/* A nonblocking lock request only waits for a server; otherwise the thread was off the CPU. */
FINDING_CASE("lock-wait", lock_asked)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = MIB, .path = "/data/lock",
		 .filesystem = sound ? "xfs" : "nfs4");
	CALLS(made, 100, .count = 50, .op = M_SETLK, .dur = 5 * MS);
}

FINDING_CASE("failed-calls", failed_calls)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 200, .op = M_PREAD, .asked = 4096, .result = sound ? 4096 : -5,
	      .dur = 100 * US);
}

/* RWF_NOWAIT asks not to block: EAGAIN is an answer. */
FINDING_CASE("failed-calls", failed_nowait)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 200, .op = M_PREAD, .asked = 4096, .result = sound ? -11 : -5,
	      .dur = 100 * US);
}

FINDING_CASE("short-reads", short_reads)
{
	add_file(made, 1, sound ? 1000 : MIB, "/data/a"); /* the whole file, or part of it */
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = 1000, .asked = 4096, .dur = 5 * US);
}

/* Loaders read programs and modules to their ends. */
FINDING_CASE("short-reads", short_reads_of_modules)
{
	add_file(made, 1, MIB, sound ? "/usr/lib/python3/module.py" : "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = 1000, .asked = 4096, .dur = 5 * US);
}

/* --- writeback by the kernel --- */

FINDING_CASE("writers-throttled", writers_throttled)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	CALLS(made, 100, .count = 64, .op = M_WRITE, .bytes = MIB, .step = MIB, .dur = 5 * MS);
	for (uint64_t i = 0; i < 64; i++)
		THROTTLE(made, .time = 200 + i * (5 * MS + 1), .pause = sound ? 40 * US : 4 * MS,
			 .pid = 10, .file = 1);
}

static void add_versions(struct made_trace *made, uint64_t (*bytes_of)(uint64_t version))
{
	add_file(made, 1, 0, "/logs/history.json");
	for (uint64_t i = 0; i < 60; i++) {
		const uint64_t at = 100 + i * 10 * MS, bytes = bytes_of(i);

		CALL(made, .time = at, .dur = MS, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3,
		     .flags = TRACE_OP_TRUNCATE);
		CALL(made, .time = at + 2 * MS, .dur = 2 * MS, .pid = 10, .op = M_WRITE, .file = 1,
		     .asked = bytes, .result = bytes);
	}
}

static uint64_t growing_bytes(uint64_t version)
{
	return (version + 1) * MIB;
}

static uint64_t same_bytes(uint64_t version)
{
	return 60 * MIB;
}

static uint64_t varying_bytes(uint64_t version)
{
	return (version * 37 % 60 + 1) * MIB;
}

/* A log of results, or a checkpoint. */
FINDING_CASE("rewritten", rewritten)
{
	add_versions(made, sound ? same_bytes : growing_bytes);
}

/* A log, or a temporary file. */
FINDING_CASE("rewritten", rewritten_as_it_grows)
{
	add_versions(made, sound ? varying_bytes : growing_bytes);
}

/* Many pages are stored to, or only read. */
FINDING_CASE("mmap-store-faults", mmap_stores)
{
	add_file(made, 1, 64 * MIB, "/data/state.bin");
	for (uint64_t i = 0; i < 12000; i++)
		FAULT(made, .time = 100 + i * 4 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096,
		      .flags = sound ? 0 : TRACE_FAULT_WRITE | TRACE_FAULT_SHARED,
		      .dirtied = sound ? 0 : 4096);
}

/* A private file mapping: each page stored to, or only read. */
FINDING_CASE("mmap-copied", mmap_copied)
{
	add_file(made, 1, 64 * MIB, "/data/weights.bin");
	for (uint64_t i = 0; i < 16384; i++)
		FAULT(made, .time = 100 + i * 4 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096, .fetched = i % 256 ? 0 : MIB,
		      .flags = (sound ? 0 : TRACE_FAULT_WRITE) | (i % 256 ? 0 : TRACE_FAULT_MAJOR));
}

/* A store to each large folio: at any page of it, or in order. */
FINDING_CASE("stores-amplified", stores_amplified)
{
	add_file(made, 1, 64 * MIB, "/data/table.mdb");
	for (uint64_t i = 0; i < 64; i++)
		FAULT(made, .time = 100 + i * MS, .dur = 10 * US, .pid = 10, .file = 1,
		      .offset = i * MIB + (sound ? 0 : i % 8 * 4096),
		      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED, .dirtied = MIB);
	BIO(made, .time = 500 * MS, .dur = MS, .file = 1, .offset = 0, .bytes = 64 * MIB);
}
