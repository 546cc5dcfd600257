/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces of files opened and looked up. Each triggers one finding or, if `sound`, does not. */
#pragma once

#include <stdio.h>

#include "finding_cases.h"

FINDING_CASE("many-small-files", many_small_files)
{
	static char paths[1000][32];

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = 100 + i * 20 * US;

		snprintf(paths[i], sizeof(paths[i]), "/data/%llu.jpg", (unsigned long long)i);
		add_file(made, i + 1, sound ? MIB : 20 * KIB, paths[i]);
		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = i + 1,
		     .result = 3);
		CALL(made, .time = at + 6 * US, .dur = 5 * US, .pid = 10, .op = M_READ,
		     .file = i + 1, .asked = 32 * KIB, .result = 20 * KIB);
	}
}

/* PyTorch checkpoints, which share the suffix of Python's path lists. */
FINDING_CASE("many-small-files", some_small_checkpoints)
{
	static char paths[200][32];

	for (uint64_t i = 0; i < 200; i++) {
		uint64_t at = 100 + i * 2 * MS, took = sound ? 5 * US : 800 * US;

		snprintf(paths[i], sizeof(paths[i]), "/data/%llu.pth", (unsigned long long)i);
		add_file(made, i + 1, 100 * KIB, paths[i]);
		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = i + 1,
		     .result = 3);
		CALL(made, .time = at + 6 * US, .dur = took, .pid = 10, .op = M_READ, .file = i + 1,
		     .asked = 128 * KIB, .result = 100 * KIB, .fetched = 100 * KIB);
	}
}

/* Read once more by the process that wrote them. */
FINDING_CASE("many-small-files", many_small_files_made)
{
	many_small_files(made, false);
	for (uint64_t i = 0; i < 1000; i++)
		CALL(made, .time = 100 + i * 20 * US + 11 * US, .dur = sound ? 8 * US : 2 * US,
		     .pid = 10, .op = M_WRITE, .file = i + 1, .asked = 20 * KIB,
		     .result = 20 * KIB);
}

/* /usr holds data, too; modules that a program loads are not data. */
static void read_named(struct made_trace *made, const char *names)
{
	static char paths[1000][64];

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = 100 + i * 20 * US;

		snprintf(paths[i], sizeof(paths[i]), names, (unsigned long long)i);
		add_file(made, i + 1, 20 * KIB, paths[i]);
		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = i + 1,
		     .result = 3);
		CALL(made, .time = at + 6 * US, .dur = 5 * US, .pid = 10, .op = M_READ,
		     .file = i + 1, .asked = 32 * KIB, .result = 20 * KIB);
	}
}

FINDING_CASE("many-small-files", many_small_documents)
{
	read_named(made, sound ? "/usr/local/lib/python3.12/m%llu.json"
			       : "/usr/share/doc/p%llu/copyright");
}

/* Sources are training data, except imported ones. */
FINDING_CASE("many-small-files", many_small_sources)
{
	if (sound)
		add_file(made, 2000, 20 * KIB, "/data/code/__pycache__/m1.cpython-312.pyc");
	read_named(made, "/data/code/m%llu.py");
}

FINDING_CASE("opened-again", opened_again)
{
	add_file(made, 1, MIB, "/data/a.h5");
	CALLS(made, 100, .count = sound ? 8 : 1000, .op = M_OPENAT, .result = 3, .dur = 5 * US);
	CALLS(made, 100 * MS, .count = 1000, .op = M_FSTAT, .dur = 5 * US);
}

/* After each open the header is read again and parsed; sound: in no time. */
FINDING_CASE("opened-again", opened_again_parsed)
{
	add_file(made, 1, 64 * MIB, "/data/a.npz");
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
		CALL(made, .time = at + 10 * US, .dur = 5 * US, .pid = 10, .op = M_PREAD, .file = 1,
		     .asked = 4096, .result = 4096);
		CALL(made, .time = at + (sound ? 20 * US : 12 * MS), .dur = 5 * US, .pid = 10,
		     .op = M_PREAD, .file = 1, .offset = (i + 1) * MIB, .asked = 4096,
		     .result = 4096);
	}
}

/* Or it is scanned for a sample, as a tar archive; sound: only scanned, once in each epoch. */
FINDING_CASE("opened-again", opened_again_scanned)
{
	add_file(made, 1, 64 * MIB, "/data/a.tar");
	for (uint64_t i = 0; i < 30; i++) {
		const uint64_t at = 100 + i * 30 * MS;

		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
		for (uint64_t j = 0; j < 300; j++)
			CALL(made, .time = at + 10 * US + j * 80 * US, .dur = US, .pid = 10,
			     .op = M_PREAD, .file = 1, .asked = 4096, .result = 4096,
			     .offset = j * 20 * KIB);
		if (!sound)
			CALL(made, .time = at + 25 * MS, .dur = US, .pid = 10, .op = M_PREAD,
			     .file = 1, .offset = i % 3 * MIB + 512, .asked = 4096, .result = 4096);
	}
}

/* Or an index at several places is read and parsed; sound: each epoch reads the same samples in the
 * same random order. */
FINDING_CASE("opened-again", opened_again_shuffled)
{
	add_file(made, 1, 64 * MIB, "/data/a.bin");
	for (uint64_t i = 0; i < 30; i++) {
		const uint64_t at = 100 + i * 30 * MS;

		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
		for (uint64_t j = 0; j < (sound ? 300 : 20); j++)
			CALL(made, .time = at + 10 * US + j * 80 * US, .dur = US, .pid = 10,
			     .op = M_PREAD, .file = 1, .asked = 4096, .result = 4096,
			     .offset = j * 37 % 300 * 20 * KIB);
		if (!sound)
			CALL(made, .time = at + 25 * MS, .dur = US, .pid = 10, .op = M_PREAD,
			     .file = 1, .offset = i * MIB + 512, .asked = 4096, .result = 4096);
	}
}

FINDING_CASE("opened-again", opened_again_few)
{
	add_file(made, 1, MIB, "/data/a.h5");
	CALLS(made, 100, .count = 6, .op = M_OPENAT, .result = 3, .dur = sound ? 5 * US : 60 * MS);
}

/* Waiting for locks is not a cost of opens. */
FINDING_CASE("opened-again", opened_again_locked)
{
	add_file(made, 1, MIB, "/data/a.lock");
	CALLS(made, 100, .count = 6, .op = M_OPENAT, .result = 3, .dur = 5 * US);
	CALLS(made, 200 * MS, .count = 6, .op = sound ? M_FLOCK : M_FSTAT, .dur = 60 * MS);
}

/* Nor is it between an open and the first read. */
FINDING_CASE("opened-again", opened_again_locked_first)
{
	add_file(made, 1, MIB, "/data/state.json");
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t at = 100 + i * 20 * MS;

		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
		CALL(made, .time = at + 10 * US, .dur = 12 * MS, .pid = 10,
		     .op = sound ? M_FLOCK : M_FSTAT, .file = 1);
		CALL(made, .time = at + 13 * MS, .dur = 5 * US, .pid = 10, .op = M_PREAD, .file = 1,
		     .asked = 100, .result = 100);
	}
}

FINDING_CASE("opened-again", opened_some_times)
{
	add_file(made, 1, MIB, "/data/d.npz");
	CALLS(made, 100, .count = 300, .op = M_OPENAT, .result = 3, .dur = sound ? 5 * US : MS);
}

/* A listed directory: its opens are not the cost. */
static void add_listings(struct made_trace *made, uint64_t count, uint64_t each_ns)
{
	add_file(made, 1, 4096, "/data/img");
	CALLS(made, 100, .count = count, .op = M_OPENAT, .result = 3, .dur = 5 * US);
	CALLS(made, 100 * MS, .count = 3 * count, .op = M_GETDENTS, .bytes = 32 * KIB,
	      .dur = each_ns);
}

FINDING_CASE("opened-again", opened_again_listed)
{
	add_listings(made, 1000, sound ? 50 * US : US);
}

/* Each Python start lists its module directories. */
FINDING_CASE("listed-again", listed_by_python)
{
	add_file(made, 1, 4096,
		 sound ? "/home/u/env/lib/python3.11/site-packages/pandas" : "/home/u/data");
	CALLS(made, 100, .count = 20, .op = M_OPENAT, .result = 3, .dur = 5 * US);
	CALLS(made, 100 * MS, .count = 60, .op = M_GETDENTS, .bytes = 32 * KIB, .dur = 3 * MS);
}

FINDING_CASE("listed-again", listed_again)
{
	add_listings(made, sound ? 1 : 20, sound ? 60 * MS : 3 * MS);
}

FINDING_CASE("listed-again", listed_again_few)
{
	add_listings(made, 3, sound ? 100 * US : 60 * MS);
}

FINDING_CASE("metadata-heavy", metadata_heavy)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 20 * US);
	CALLS(made, 100 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB,
	      .dur = sound ? 8 * MS : 100 * US);
}

FINDING_CASE("metadata-heavy", metadata_heavy_few)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 60, .op = M_FSTAT, .dur = sound ? 20 * US : 8 * MS);
}

/* Data read through a mapping counts, too; loading a program does not. */
FINDING_CASE("metadata-heavy", metadata_beside_faults)
{
	add_file(made, 1, 64 * MIB, sound ? "/data/a" : "/usr/lib/liba.so");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 20 * US);
	FAULT(made, .time = 200 * MS, .dur = 100 * MS, .pid = 10, .file = 1,
	      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

/* Half of the time goes to data; in the other half calls wait for the device, or for nothing. */
FINDING_CASE("metadata-cold", metadata_cold)
{
	add_file(made, 1, MIB, "/data/a");
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t at = 100 + i * 4 * MS;

		CALL(made, .time = at, .dur = 2 * MS, .pid = 10, .op = M_OPENAT, .path = "/data/b",
		     .result = 3);
		BIO(made, .time = at + US, .dur = sound ? US : MS, .pid = 10, .op = M_REQUEST_READ,
		    .offset = -1, .bytes = 4096, .request = i + 1, .dev = 8 << 20,
		    .flags = TRACE_BLOCK_META);
	}
	CALLS(made, 300 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 20 * MS);
}

/* Emptying a large file, which is part of saving it again; sound: nothing else takes long. */
FINDING_CASE("metadata-heavy", metadata_of_saves)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 10; i++) {
		CALL(made, .time = 100 + i * 20 * MS, .dur = 10 * MS, .pid = 10, .op = M_OPENAT,
		     .file = 1, .path = "/data/checkpoint", .result = 3,
		     .flags = TRACE_OP_WRITABLE | TRACE_OP_TRUNCATE);
		CALL(made, .time = 100 + i * 20 * MS + 11 * MS, .dur = MS, .pid = 10, .op = M_WRITE,
		     .file = 1, .asked = 64 * MIB, .result = 64 * MIB);
	}
	for (uint64_t i = 0; i < 1000; i++)
		CALL(made, .time = 300 * MS + i * 200 * US, .dur = (sound ? 1 : 150) * US,
		     .pid = 10, .op = M_FSTAT, .path = "/data");
}

/* Closing, or opening with O_TRUNC, waits for data, not for names. */
FINDING_CASE("metadata-cold", metadata_cold_overwritten)
{
	add_file(made, 1, MIB, "/data/a");
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t at = 100 + i * 4 * MS;

		CALL(made, .time = at, .dur = 2 * MS, .pid = 10, .op = M_OPENAT, .file = 1,
		     .path = "/data/a", .result = 3, .flags = sound ? TRACE_OP_TRUNCATE : 0);
		BIO(made, .time = at + US, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .offset = -1,
		    .bytes = 4096, .request = i + 1, .dev = 8 << 20, .flags = TRACE_BLOCK_META);
	}
	CALLS(made, 300 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 20 * MS);
}

/* The dominant cost is reported once. */
FINDING_CASE("metadata-cold", metadata_cold_alone)
{
	metadata_cold(made, false);
	if (sound)
		CALLS(made, 600 * MS, .count = 2000, .op = M_FSTAT, .dur = 150 * US);
}

/* Lookups of programs next to loading them, which is then reported instead, or without it. */
FINDING_CASE("metadata-cold", metadata_cold_of_start)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 64 * MIB,
		 .path = "/usr/lib/liba.so");
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t at = 100 + i * 4 * MS;

		CALL(made, .time = at, .dur = 2 * MS, .pid = 10, .op = M_OPENAT,
		     .path = "/usr/bin/b", .result = 3);
		BIO(made, .time = at + US, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .offset = -1,
		    .bytes = 4096, .request = i + 1, .dev = 8 << 20, .flags = TRACE_BLOCK_META);
	}
	CALLS(made, 300 * MS, .count = 32, .op = M_READ, .bytes = MIB, .fetched = sound ? MIB : 0,
	      .dur = 5 * MS);
}

/* Punching holes waits for writes to the range: no metadata comes from storage. */
FINDING_CASE("metadata-cold", metadata_cold_holes)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t at = 100 + i * 4 * MS;

		CALL(made, .time = at, .dur = 2 * MS, .pid = 10,
		     .op = sound ? M_FALLOCATE : M_FSTAT, .file = 1);
		BIO(made, .time = at + US, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .offset = -1,
		    .bytes = 4096, .request = i + 1, .dev = 8 << 20);
	}
	CALLS(made, 300 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 20 * MS);
}
/* A call that waits for writes does not look for names. */
FINDING_CASE("metadata-cold", metadata_cold_written)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t at = 100 + i * 4 * MS;

		CALL(made, .time = at, .dur = 2 * MS, .pid = 10, .op = M_RENAME, .path = "/data/b",
		     .path2 = "/data/a");
		BIO(made, .time = at + US, .dur = MS, .pid = 10,
		    .op = sound ? M_REQUEST_WRITE : M_REQUEST_READ, .offset = -1, .bytes = 4096,
		    .request = i + 1, .dev = 8 << 20);
	}
	CALLS(made, 300 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 20 * MS);
}

FINDING_CASE("failed-lookups", failed_lookups)
{
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + i * 10 * US, .dur = 5 * US, .pid = 10, .op = M_OPENAT,
		     .path = "/usr/none/module.py", .result = sound ? 3 : -2);
}

/* A program searches its paths for libraries and modules; the job's own files are in one place. */
FINDING_CASE("failed-lookups", failed_lookups_of_data)
{
	for (uint64_t i = 0; i < 1200; i++)
		CALL(made, .time = 100 + i * 10 * US, .dur = 5 * US, .pid = 10, .op = M_FSTAT,
		     .path = "/data/last.ckpt", .result = sound && i > 500 ? 0 : -2);
	for (uint64_t i = 0; i < 400; i++)
		CALL(made, .time = 200 * MS + i * 200 * US, .dur = 100 * US, .pid = 10,
		     .op = M_OPENAT, .path = "/usr/none/module.py", .result = -2);
}

/* For calls that wait for a lock, being metadata is irrelevant. */
FINDING_CASE("metadata-heavy", metadata_of_locks)
{
	add_file(made, 1, MIB, "/data/lock");
	CALLS(made, 100, .count = 2000, .op = sound ? M_FLOCK : M_FSTAT, .dur = 100 * US);
}

/* Calls that take long only to wait for a lock. */
FINDING_CASE("metadata-heavy", metadata_beside_locks)
{
	add_file(made, 1, MIB, "/data/state");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = sound ? 5 * US : 100 * US);
	CALLS(made, 300 * MS, .count = 100, .op = M_FLOCK, .dur = 4 * MS);
	CALLS(made, 800 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB, .dur = 2 * MS);
}

/* Most of them look for missing files. */
FINDING_CASE("metadata-heavy", metadata_that_fails)
{
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + i * 200 * US, .dur = 100 * US, .pid = 10, .op = M_FSTAT,
		     .path = "/data/last.ckpt", .result = sound ? -2 : 0);
}

/* As many calls on a module as on data. */
FINDING_CASE("imports", imports)
{
	add_file(made, 1, 8 * KIB, sound ? "/data/a" : "/opt/venv/lib/python3.11/a/b.pyc");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 100 * US);
}

/* Advice about data does not fit imported modules. */
FINDING_CASE("metadata-heavy", metadata_of_modules)
{
	imports(made, !sound);
}

/* sys.path directories checked for changes before each import, all of which exist, or those of a
 * data set. A successful call by path has no file ID.
 */
FINDING_CASE("imports", imports_of_directories)
{
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + i * 110 * US, .dur = 100 * US, .pid = 10, .op = M_FSTAT,
		     .path = sound   ? "/data/lib/shards"
			     : i % 2 ? "/opt/venv/lib/python3.11/site-packages"
				     : "/usr/lib/python3/dist-packages");
}

/* Advice about data does not fit these either, unless data is looked up as often. */
FINDING_CASE("metadata-heavy", metadata_of_directories)
{
	imports_of_directories(made, !sound);
}

/* A program is started five times and loads a file each time; sound: from then on in no time. */
static void start_again(struct made_trace *made, bool sound, const char *loaded)
{
	add_file(made, 1, 8 * KIB, loaded);
	add_file(made, 2, 8 * KIB, "/data/a");
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;
		const uint64_t took = sound && i ? MS : 100 * MS;

		made_fork(made, begins, 10, pid);
		EXEC(made, .time = begins + 1, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = -1);
		CALL(made, .time = begins + 10, .dur = US, .pid = pid, .op = M_OPENAT, .file = 1,
		     .result = 3);
		CALL(made, .time = begins + took, .dur = US, .pid = pid, .op = M_READ, .file = 1,
		     .asked = 8 * KIB, .result = 8 * KIB);
		CALL(made, .time = begins + took + MS, .dur = US, .pid = pid, .op = M_READ,
		     .file = 2, .asked = 8 * KIB, .result = 8 * KIB);
		CALL(made, .time = begins + 120 * MS, .dur = US, .pid = pid, .op = M_READ,
		     .file = 1, .asked = 8 * KIB, .result = 8 * KIB);
		EXIT(made, .time = begins + 140 * MS, .pid = pid, .tid = pid);
	}
}

FINDING_CASE("worker-start", worker_start)
{
	start_again(made, sound, "/opt/venv/lib/python3.11/a/b.pyc");
}

/* A library is loaded to the end; sound: the program touches what is in memory. */
FINDING_CASE("worker-start", start_by_faults)
{
	add_file(made, 1, 8 * MIB, "/usr/lib/libtorch.so");
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		EXEC(made, .time = begins + 1, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = -1);
		CALL(made, .time = begins + 10, .dur = US, .pid = pid, .op = M_OPENAT, .file = 1,
		     .result = 3);
		FAULT(made, .time = begins + 120 * MS, .dur = US, .pid = pid, .file = 1,
		      .flags = sound ? 0 : TRACE_FAULT_MAJOR);
		EXIT(made, .time = begins + 140 * MS, .pid = pid, .tid = pid);
	}
}

/* Side by side, of a program that has loaded as much itself: a fork would do; sound: of ranks. */
FINDING_CASE("worker-start", start_of_ranks)
{
	add_file(made, 1, 8 * KIB, "/opt/venv/lib/python3.11/a/b.pyc");
	CALL(made, .time = 90, .dur = 1, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3);
	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i;

		made_fork(made, begins, 10, pid);
		EXEC(made, .time = begins + 1, .pid = pid, .ppid = 10, .comm = "b", .command = "b",
		     .rank = sound ? (int64_t)i : -1);
		CALL(made, .time = begins + 10, .dur = 150 * MS, .pid = pid, .op = M_OPENAT,
		     .file = 1, .result = 3);
	}
}

FINDING_CASE("worker-start", compiled_start)
{
	start_again(made, sound, "/usr/lib/x86_64-linux-gnu/libz.so.1");
}

/* A shell starts two programs in turn, neither of which takes enough by itself; sound: others do.
 */
FINDING_CASE("worker-start", starts_of_two)
{
	add_file(made, 1, 8 * KIB, "/usr/lib/x86_64-linux-gnu/libz.so.1");
	for (uint64_t i = 0; i < 12; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 70 * MS;
		const char *comm = i % 2 ? "awk" : "basename";

		if (sound)
			made_fork(made, begins, 10, 50 + pid);
		made_fork(made, begins, sound ? 50 + pid : 10, pid);
		EXEC(made, .time = begins + 1, .pid = pid, .ppid = sound ? 50 + pid : 10,
		     .comm = comm, .command = comm, .rank = -1);
		CALL(made, .time = begins + 10, .dur = 15 * MS, .pid = pid, .op = M_OPENAT,
		     .file = 1, .result = 3);
		EXIT(made, .time = begins + 30 * MS, .pid = pid, .tid = pid);
	}
}

/* 0.1 s of startup is not worth reporting. */
FINDING_CASE("imports", imports_once)
{
	add_file(made, 1, 8 * KIB, "/opt/venv/lib/python3.11/site-packages");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = (sound ? 40 : 100) * US);
}
