/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces of files read by calls. Each triggers one finding or, if `sound`, does not. */
#pragma once

#include "finding_cases.h"

FINDING_CASE("small-reads-storage", small_reads_storage)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = sound ? 128 * KIB : 8 * KIB,
	      .step = 16 * KIB, .dur = 50 * US, .fetched = sound ? 128 * KIB : 8 * KIB);
}

/* Shards, none of them large, or files small enough for a single read each. */
FINDING_CASE("small-reads-storage", small_reads_shards)
{
	for (uint64_t i = 0; i < 10; i++) {
		add_file(made, i + 1, sound ? 128 * KIB : 8 * MIB, "/data/shard.tar");
		for (uint64_t j = 0; j < 200; j++)
			CALL(made, .time = 100 + (i * 200 + j) * 60 * US, .dur = 50 * US, .pid = 10,
			     .op = M_READ, .file = i + 1, .offset = j % 12 * 10 * KIB,
			     .asked = 10 * KIB, .result = 10 * KIB, .fetched = 10 * KIB);
	}
}

/* The kernel issues throttled requests late; in the sound trace, the run's own thread queues them
 * at an equally slow device.
 */
FINDING_CASE("held-back", held_back)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		CALL(made, .time = at, .dur = 19 * MS, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * MIB, .asked = MIB, .result = MIB, .fetched = MIB);
		BIO(made, .time = at + (sound ? US : 17 * MS), .dur = sound ? 18 * MS : MS,
		    .pid = sound ? 10 : 0, .op = M_REQUEST_READ, .file = 1, .offset = i * MIB,
		    .bytes = MIB, .request = i + 1, .dev = 8 << 20);
	}
}

/* Many files, each read once. */
FINDING_CASE("held-back", held_back_files)
{
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		add_file(made, i + 1, 8 * KIB, "/data/a");
		CALL(made, .time = at, .dur = 19 * MS, .pid = 10, .op = M_READ, .file = i + 1,
		     .asked = 8 * KIB, .result = 8 * KIB, .fetched = 8 * KIB);
		if (sound)
			BIO(made, .time = at + US, .dur = 18 * MS, .pid = 10, .op = M_REQUEST_READ,
			    .file = i + 1, .bytes = 4 * KIB, .request = 2 * i + 1, .dev = 8 << 20);
		BIO(made, .time = at + 17 * MS, .dur = MS, .op = M_REQUEST_READ, .file = i + 1,
		    .bytes = 4 * KIB, .request = 2 * i + 2, .dev = 8 << 20);
	}
}

/* Concurrent reads of the file by other processes block nobody. */
FINDING_CASE("held-back", held_back_others)
{
	if (!sound)
		held_back(made, false);
	for (uint64_t i = 0; i < 16 && sound; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		if (!i)
			add_file(made, 1, 64 * MIB, "/data/a");
		BIO(made, .time = at, .dur = MS, .op = M_REQUEST_READ, .file = 1, .offset = i * MIB,
		    .bytes = MIB, .request = 2 * i + 1, .dev = 8 << 20);
		CALL(made, .time = at + 2 * MS, .dur = 17 * MS, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * MIB, .asked = MIB, .result = MIB, .fetched = MIB);
		BIO(made, .time = at + 2 * MS + US, .dur = 16 * MS, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * MIB, .bytes = MIB, .request = 2 * i + 2,
		    .dev = 8 << 20);
		BIO(made, .time = at + 3 * MS, .dur = MS, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * MIB, .bytes = MIB, .request = 2 * i + 3, .dev = 8 << 20);
	}
}

FINDING_CASE("small-reads-cached", small_reads_cached)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = sound ? 900 : 5000, .op = M_PREAD, .bytes = 4096, .step = 4096,
	      .dur = 5 * US);
}

/* A small file, read a few bytes at a time, just after readahead fetched it; sound: each read
 * waits for storage. */
FINDING_CASE("small-reads-cached", small_reads_fetched)
{
	add_file(made, 1, 250 * KIB, "/data/a.txt");
	for (uint64_t i = 0; i < 5000; i++)
		CALL(made, .time = 100 + i * 100 * US, .dur = 5 * US, .pid = 10, .op = M_PREAD,
		     .file = 1, .offset = 50 * i, .asked = 50, .result = 50,
		     .fetched = sound || !i ? (sound ? 4 * KIB : 250 * KIB) : 0);
}

/* A small file read whole, over and over. */
FINDING_CASE("small-reads-cached", small_reads_opens)
{
	add_file(made, 1, 100, "/data/a");
	for (uint64_t i = 0; i < (sound ? 2500 : 1); i++)
		CALL(made, .time = 50 + i, .dur = 1, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
	CALLS(made, 10 * US, .count = 5000, .op = M_PREAD, .bytes = 100, .dur = 5 * US);
}

/* O_DIRECT: not from memory, however little entered the page cache. */
FINDING_CASE("small-reads-cached", small_reads_direct)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 5000, .op = M_PREAD, .bytes = 4096, .step = 4096, .dur = 5 * US,
	      .flags = sound ? TRACE_OP_DIRECT : 0);
}

/* Files in /dev/shm are data, unlike the rest of /dev. */
FINDING_CASE("small-reads-cached", small_reads_shared_memory)
{
	add_file(made, 1, 64 * MIB, sound ? "/dev/a" : "/dev/shm/a");
	CALLS(made, 100, .count = 5000, .op = M_PREAD, .bytes = 4096, .step = 4096, .dur = 5 * US);
}

FINDING_CASE("random-reads", random_reads)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 300, .op = M_PREAD, .bytes = 64 * KIB,
	      .step = sound ? 64 * KIB : 40503 * KIB, .dur = 50 * US, .fetched = 64 * KIB);
}

/* A few slow reads count as much as many fast ones. */
FINDING_CASE("random-reads", random_reads_few)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 20, .op = M_PREAD, .bytes = 64 * KIB, .step = 40503 * KIB,
	      .dur = sound ? 50 * US : 20 * MS, .fetched = 64 * KIB);
}

/* A database read and written by one thread. Reads that jump stay random among ten appends each;
 * sequential reads stay sequential, though the appends between them are at the end of the file.
 */
FINDING_CASE("random-reads", random_reads_appended)
{
	const uint64_t appends = sound ? 1 : 10, size = 64 * MIB;
	uint64_t end = size;

	add_file(made, 1, size, "/data/a.db");
	for (uint64_t i = 0; i < 300; i++) {
		const uint64_t at = 100 + i * 200 * US;

		CALL(made, .time = at, .dur = 50 * US, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * (sound ? 64 * KIB : 40503 * KIB) % size, .asked = 64 * KIB,
		     .result = 64 * KIB, .fetched = 64 * KIB);
		for (uint64_t j = 0; j < appends; j++, end += 8 * KIB)
			CALL(made, .time = at + (60 + j * 10) * US, .dur = 5 * US, .pid = 10,
			     .op = M_WRITE, .file = 1, .offset = end, .asked = 8 * KIB,
			     .result = 8 * KIB);
	}
}

FINDING_CASE("random-reads", random_reads_holes)
{
	add_sparse(made, sound ? 64 * KIB : 300 * 64 * KIB);
	CALLS(made, 100, .count = 300, .op = M_PREAD, .bytes = 64 * KIB, .step = 40503 * KIB,
	      .dur = 50 * US, .fetched = 64 * KIB);
}

FINDING_CASE("fetched-again", fetched_again_holes)
{
	add_sparse(made, sound ? 0 : 128 * MIB);
	CALLS(made, 100, .count = 128, .op = M_PREAD, .bytes = MIB, .step = MIB, .dur = MS,
	      .fetched = MIB);
}

/* O_DIRECT through io_uring: small pieces, or large ones, which are fine at random. */
FINDING_CASE("random-reads", random_reads_direct)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 300, .op = M_URING_READ, .bytes = sound ? MIB : 4096,
	      .step = 40503 * KIB, .dur = 50 * US, .flags = TRACE_OP_DIRECT);
}

/* A few large sequential reads from memory, slow or fast. */
FINDING_CASE("read-bound", read_bound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 20, .op = M_PREAD, .bytes = MIB, .step = MIB,
	      .dur = sound ? MS : 20 * MS);
}

FINDING_CASE("read-again", read_again)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = sound ? 32 : 96, .op = M_PREAD, .bytes = MIB, .step = MIB,
	      .dur = 2 * MS);
}

/* A small file, as often as no run of a few epochs would read it. */
FINDING_CASE("read-again", read_again_small)
{
	add_file(made, 1, 512 * KIB, "/data/a.npz");
	CALLS(made, 100, .count = sound ? 8 : 12, .op = M_PREAD, .bytes = 512 * KIB, .dur = 6 * MS);
}

/* A cache that is loaded five times; sound: the shards of a data set, in five epochs. */
FINDING_CASE("read-again", read_again_parsed)
{
	for (uint64_t i = 0; i < 5; i++)
		add_file(made, 1 + i, MIB, "/data/cache.pkl");
	for (uint64_t i = 0; i < 25; i++)
		CALL(made, .time = 100 + i * 20 * MS, .dur = 6 * MS, .pid = 10, .op = M_PREAD,
		     .file = sound ? 1 + i % 5 : 1, .asked = MIB, .result = MIB);
}

/* In little of the run, as an epoch reads what is in memory. */
FINDING_CASE("read-again", read_again_in_little)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = 96, .op = M_PREAD, .bytes = MIB, .step = MIB,
	      .dur = sound ? MS / 4 : 2 * MS);
}

/* A cold reread is reported as such. */
FINDING_CASE("read-again", read_again_cold)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = 96, .op = M_PREAD, .bytes = MIB, .step = MIB, .dur = 2 * MS,
	      .fetched = sound ? MIB : 0);
}

/* Random small direct reads: caching could not have served them; from memory it could. */
FINDING_CASE("read-again", read_again_drawn)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = 4000, .op = M_URING_READ, .bytes = 32 * KIB, .step = 40503 * KIB,
	      .dur = 50 * US, .flags = sound ? TRACE_OP_DIRECT : 0);
}

/* In small pieces, from memory: in order, not their size is the cause. */
FINDING_CASE("read-again", read_again_scanned)
{
	add_file(made, 1, 64 * MIB, "/data/a.db");
	CALLS(made, 100, .count = 11 * 4096, .op = M_PREAD, .bytes = 16 * KIB,
	      .step = sound ? 40503 * KIB : 16 * KIB, .dur = 10 * US);
}

FINDING_CASE("read-by-several", read_by_several)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t i = 0; i < 32; i++)
		for (uint64_t pid = 10; pid < 14; pid++)
			if (!sound || i % 4 == pid - 10)
				CALL(made, .time = 100 + i * MS, .dur = MS, .pid = pid,
				     .op = M_PREAD, .file = 1, .offset = i * MIB, .asked = MIB,
				     .result = MIB);
}

/* One process reads the whole file, the others a little: the finding must not include these. */
FINDING_CASE("read-by-several", read_by_one_of_several)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t pid = 10; pid < 14; pid++)
		for (uint64_t i = 0; i < (sound && pid > 10 ? 6 : 32); i++)
			CALL(made, .time = 100 + i * MS, .dur = MS, .pid = pid, .op = M_PREAD,
			     .file = 1, .offset = i * MIB, .asked = MIB, .result = MIB);
}

/* Each of three workers reads a small shard, and nothing much else; sound: as much of the others.
 */
FINDING_CASE("read-by-several", read_by_several_small)
{
	add_file(made, 1, MIB, "/data/a.jsonl.gz");
	add_file(made, 2, 64 * MIB, "/data/b");
	for (uint64_t pid = 10; pid < 13; pid++)
		CALL(made, .time = 100 + (pid - 10) * 10 * MS, .dur = 10 * MS, .pid = pid,
		     .op = M_PREAD, .file = 1, .asked = MIB, .result = MIB);
	CALL(made, .time = 100 * MS, .dur = MS, .pid = 10, .op = M_PREAD, .file = 2,
	     .asked = 3 * MIB, .result = sound ? 3 * MIB : MIB);
}

FINDING_CASE("fetched-again", fetched_again)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = 96, .op = M_PREAD, .bytes = MIB, .step = MIB, .dur = MS,
	      .fetched = sound ? MIB / 3 : MIB);
}

/* Many small files count like one large file, a few do not. */
FINDING_CASE("fetched-again", fetched_again_shards)
{
	for (uint64_t i = 0; i < (sound ? 3 : 30); i++) {
		FILE_ROW(made, .time = 10, .id = i + 1, .dev = 1, .ino = i + 1, .size = MIB,
			 .path = "/data/shard");
		for (uint64_t j = 0; j < 3; j++)
			CALL(made, .time = 100 + (3 * i + j) * 2 * MS, .dur = MS, .pid = 10,
			     .op = M_PREAD, .file = i + 1, .asked = MIB, .result = MIB,
			     .fetched = MIB);
	}
}

static void add_load(struct made_trace *made, uint64_t tid, uint64_t start, uint64_t fetched)
{
	add_file(made, 1, 256 * MIB, "/data/model.pt");
	for (uint64_t i = 0; i < 64; i++)
		CALL(made, .time = start + i * 5 * MS, .dur = 5 * MS, .pid = 10, .tid = tid,
		     .op = M_READ, .file = 1, .offset = i * 4 * MIB, .asked = 4 * MIB,
		     .result = 4 * MIB, .fetched = fetched);
}

/* The main thread reads a model, or another thread does. */
FINDING_CASE("load-waits", load_waits)
{
	add_load(made, sound ? 11 : 10, 100, 4 * MIB);
}

/* If the device has several requests all the time, more of them save nothing. */
FINDING_CASE("load-waits", load_from_busy_device)
{
	const uint64_t requests = sound ? 2 : 1;

	add_load(made, 10, 100, 4 * MIB);
	for (uint64_t i = 0; i < 64 * requests; i++) {
		const uint64_t at = 100 + i / requests * 5 * MS, bytes = 4 * MIB / requests;

		BIO(made, .time = at, .dur = 5 * MS, .pid = 10, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * bytes, .bytes = bytes, .request = i + 1, .dev = 8 << 20);
		REQUEST(made, .time = at, .dur = 5 * MS, .pid = 10, .op = M_REQUEST_READ,
			.bytes = bytes, .dev = 8 << 20);
	}
}

FINDING_CASE("load-waits", load_from_memory)
{
	add_load(made, 10, 100, sound ? 0 : 4 * MIB);
}

/* A span marked as data loading takes precedence. */
FINDING_CASE("load-waits", load_reported)
{
	add_load(made, 10, 100, 4 * MIB);
	if (sound)
		SPAN(made, .begin = 50, .end = 330 * MS, .pid = 10, .id = 1, .name = "load",
		     .category = "data");
}

/* Through a mapping as well. */
FINDING_CASE("fetched-again", faulted_again)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t i = 0; i < 96; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i % 32 * MIB, .flags = TRACE_FAULT_MAJOR,
		      .fetched = sound ? MIB / 3 : MIB);
}

/* Failed reads transfer nothing: neither small nor large. */
FINDING_CASE("small-reads-cached", small_reads_failed)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 5000, .op = M_PREAD, .bytes = 4096, .step = 4096, .dur = 5 * US,
	      .result = sound ? -22 : 4096);
}

FINDING_CASE("cold-start", cold_start)
{
	add_file(made, 1, 64 * MIB, sound ? "/data/model.bin" : "/usr/lib/libtorch_cpu.so");
	for (uint64_t i = 0; i < 32; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * 40503 % 64 * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Little is loaded, but slowly: one module at a time from a slow disk. */
FINDING_CASE("cold-start", cold_start_slow)
{
	add_file(made, 1, MIB, "/usr/lib/python3/a.pyc");
	CALLS(made, 100, .count = 20, .op = M_READ, .bytes = 4096, .step = 4096,
	      .dur = sound ? US : 10 * MS, .fetched = 4096);
}

FINDING_CASE("random-reads", random_reads_threads)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 300; i++)
		CALL(made, .time = 100 + i * 50 * US, .dur = 40 * US, .pid = 10, .tid = 10 + i % 4,
		     .op = M_PREAD, .file = 1,
		     .offset = sound ? i % 4 * 16 * MIB + i / 4 * 64 * KIB
				     : i * i * 7919 % 1000 * 64 * KIB,
		     .asked = 64 * KIB, .result = 64 * KIB, .fetched = 64 * KIB);
}
