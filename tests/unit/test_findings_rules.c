/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each rule of the registry on a trace that has what it looks for, and on a sound sibling, which
 * differs in what the rule is about and in nothing else.
 *
 *   test_findings_rules --make DIRECTORY   leaves the former there, ID.NUMBER.flt, for other tests
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/finding.h"
#include "ask_report.h"

#define US 1000ull
#define MS 1000000ull
#define KIB 1024ull
#define MIB (1ull << 20)
#define END (1000 * MS) /* of each run */

/* Evidence that a text names is there: an unknown one would be a dash. */
static void check_texts(const struct report *report, const char *id)
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

static void add_file(struct made_trace *made, uint64_t id, uint64_t size, const char *path)
{
	FILE_ROW(made, .time = 10, .id = id, .dev = 1, .ino = id, .size = size, .path = path);
}

/* `count` calls on file 1 in a row, each of `bytes`, `step` bytes after the one before. */
struct series {
	uint64_t count, op, bytes, asked, step, dur, fetched, flags;
	int64_t result; /* in place of `bytes` */
};

static void add_calls(struct made_trace *made, uint64_t start, const struct series *series)
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

/* --- files that are read --- */

static void small_reads_storage(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = sound ? 128 * KIB : 8 * KIB,
	      .step = 16 * KIB, .dur = 50 * US, .fetched = sound ? 128 * KIB : 8 * KIB);
}

static void small_reads_cached(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = sound ? 900 : 5000, .op = M_PREAD, .bytes = 4096, .step = 4096,
	      .dur = 5 * US);
}

/* A small file that is read at one go, again and again. */
static void small_reads_opens(struct made_trace *made, bool sound)
{
	add_file(made, 1, 100, "/data/a");
	for (uint64_t i = 0; i < (sound ? 2500 : 1); i++)
		CALL(made, .time = 50 + i, .dur = 1, .pid = 10, .op = M_OPENAT, .file = 1,
		     .result = 3);
	CALLS(made, 10 * US, .count = 5000, .op = M_PREAD, .bytes = 100, .dur = 5 * US);
}

/* Past the page cache: not from memory, however little came into the cache. */
static void small_reads_direct(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 5000, .op = M_PREAD, .bytes = 4096, .step = 4096, .dur = 5 * US,
	      .flags = sound ? TRACE_OP_DIRECT : 0);
}

static void random_reads(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 300, .op = M_PREAD, .bytes = 64 * KIB,
	      .step = sound ? 64 * KIB : 40503 * KIB, .dur = 50 * US, .fetched = 64 * KIB);
}

static void read_again(struct made_trace *made, bool sound)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = sound ? 32 : 96, .op = M_PREAD, .bytes = MIB, .step = MIB,
	      .dur = MS);
}

static void read_by_several(struct made_trace *made, bool sound)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t i = 0; i < 32; i++)
		for (uint64_t pid = 10; pid < 14; pid++)
			if (!sound || i % 4 == pid - 10)
				CALL(made, .time = 100 + i * MS, .dur = MS, .pid = pid,
				     .op = M_PREAD, .file = 1, .offset = i * MIB, .asked = MIB,
				     .result = MIB);
}

static void fetched_again(struct made_trace *made, bool sound)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	CALLS(made, 100, .count = 96, .op = M_PREAD, .bytes = MIB, .step = MIB, .dur = MS,
	      .fetched = sound ? MIB / 3 : MIB);
}

/* Through a mapping, too. */
static void faulted_again(struct made_trace *made, bool sound)
{
	add_file(made, 1, 32 * MIB, "/data/a");
	for (uint64_t i = 0; i < 96; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i % 32 * MIB, .flags = TRACE_FAULT_MAJOR,
		      .fetched = sound ? MIB / 3 : MIB);
}

/* What failed read nothing, neither little nor much. */
static void small_reads_failed(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 5000, .op = M_PREAD, .bytes = 4096, .step = 4096, .dur = 5 * US,
	      .result = sound ? -22 : 4096);
}

static void cold_start(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, sound ? "/data/model.bin" : "/usr/lib/libtorch_cpu.so");
	for (uint64_t i = 0; i < 32; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * 40503 % 64 * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Little is loaded, and felt: of a slow disk, a module at a time. */
static void cold_start_slow(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/usr/lib/python3/a.pyc");
	CALLS(made, 100, .count = 20, .op = M_READ, .bytes = 4096, .step = 4096,
	      .dur = sound ? US : 10 * MS, .fetched = 4096);
}

/* --- mappings --- */

static void mmap_in_order(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, sound ? "/usr/lib/libbig.so" : "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * 4 * MIB, .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = 4 * MIB);
}

/* Readahead that keeps up lets nobody wait. */
static void mmap_in_order_fast(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		FAULT(made, .time = 100 + i * 10 * MS, .dur = sound ? 200 * US : 2 * MS, .pid = 10,
		      .file = 1, .offset = i * 4 * MIB, .fetched = 4 * MIB);
}

/* What memory does not hold is another matter than its order. */
static void mmap_in_order_again(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < (sound ? 48 : 16); i++)
		FAULT(made, .time = 100 + i * 10 * MS, .dur = 2 * MS, .pid = 10, .file = 1,
		      .offset = i % 16 * 4 * MIB, .fetched = 4 * MIB);
}

/* A copy of each tensor begins at its end; loaded by one thread, or by several. */
static void mmap_in_order_copied(struct made_trace *made, bool sound)
{
	static const uint64_t order[] = { 3, 0, 1, 2 };

	add_file(made, 1, 64 * MIB, "/data/model.safetensors");
	for (uint64_t i = 0; i < 16; i++)
		for (uint64_t j = 0; j < 4; j++)
			FAULT(made, .time = 100 + (i * 4 + j) * 2 * MS, .dur = MS, .pid = 10,
			      .tid = sound ? 10 + i % 4 : 10, .file = 1,
			      .offset = ((sound ? i % 4 * 4 + i / 4 : i) * 4 + order[j]) * MIB,
			      .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

/* Several threads read through a mapping: anywhere, or each a part of its own in order. */
static void mmap_random_threads(struct made_trace *made, bool sound)
{
	add_file(made, 1, 256 * MIB, "/data/tokens.bin");
	for (uint64_t i = 0; i < 120; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .tid = 10 + i % 4,
		      .file = 1,
		      .offset = sound ? (i % 4 * 64 + i / 4) * MIB : i * 40503 % 256 * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

static void random_reads_threads(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 300; i++)
		CALL(made, .time = 100 + i * 50 * US, .dur = 40 * US, .pid = 10, .tid = 10 + i % 4,
		     .op = M_PREAD, .file = 1,
		     .offset = sound ? i % 4 * 16 * MIB + i / 4 * 64 * KIB
				     : i * i * 7919 % 1000 * 64 * KIB,
		     .asked = 64 * KIB, .result = 64 * KIB, .fetched = 64 * KIB);
}

static void mmap_single(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/data.mdb");
	for (uint64_t i = 0; i < 1000; i++)
		FAULT(made, .time = 100 + i * 200 * US, .dur = 100 * US, .pid = 10, .file = 1,
		      .offset = i * 40503 % 16384 * 4096,
		      .flags = sound ? 0 : TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = sound ? 0 : 8 * KIB);
}

static void mmap_minor(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < (sound ? 2000 : 20000); i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i % 16384 * 4096);
}

/* Each page is faulted on: from storage, one after the other, it is no storm. */
static void mmap_minor_read(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16384; i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096, .fetched = sound && i % 256 == 0 ? MIB : 0,
		      .flags = sound && i % 256 == 0 ? TRACE_FAULT_MAJOR : 0);
}

/* Major faults that no file explains, or that one does. */
static void swapped(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 5000 && sound; i++)
		FAULT(made, .time = 100 + i * 3 * US, .dur = 2 * US, .pid = 10, .file = 1,
		      .offset = i * 4096, .flags = TRACE_FAULT_MAJOR, .fetched = 4096);
	made->operations[M_ANONYMOUS].count = 20000;
	made->operations[M_ANONYMOUS].thread_time_ns = 300 * MS;
	EXIT(made, .time = END - 2, .pid = 10, .major = 5000, .comm = "a");
}

/* --- opening and looking up --- */

static void many_small_files(struct made_trace *made, bool sound)
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

/* Below /usr is data, too; modules that a program loads are none. */
static void many_small_documents(struct made_trace *made, bool sound)
{
	static char paths[1000][64];

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = 100 + i * 20 * US;

		snprintf(paths[i], sizeof(paths[i]),
			 sound ? "/usr/local/lib/python3.12/m%llu.json"
			       : "/usr/share/doc/p%llu/copyright",
			 (unsigned long long)i);
		add_file(made, i + 1, 20 * KIB, paths[i]);
		CALL(made, .time = at, .dur = 5 * US, .pid = 10, .op = M_OPENAT, .file = i + 1,
		     .result = 3);
		CALL(made, .time = at + 6 * US, .dur = 5 * US, .pid = 10, .op = M_READ,
		     .file = i + 1, .asked = 32 * KIB, .result = 20 * KIB);
	}
}

static void opened_again(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/a.h5");
	CALLS(made, 100, .count = sound ? 8 : 1000, .op = M_OPENAT, .result = 3, .dur = 5 * US);
	CALLS(made, 100 * MS, .count = 1000, .op = M_FSTAT, .dur = 5 * US);
}

static void metadata_heavy(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 20 * US);
	CALLS(made, 100 * MS, .count = 10, .op = M_READ, .bytes = 64 * KIB,
	      .dur = sound ? 8 * MS : 100 * US);
}

/* What is read through a mapping is data, too; a program that is loaded is none. */
static void metadata_beside_faults(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, sound ? "/data/a" : "/usr/lib/liba.so");
	CALLS(made, 100, .count = 2000, .op = M_FSTAT, .dur = 20 * US);
	FAULT(made, .time = 200 * MS, .dur = 100 * MS, .pid = 10, .file = 1,
	      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
}

/* Half of the time is data; of the other half calls wait for the device, or for nothing. */
static void metadata_cold(struct made_trace *made, bool sound)
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

/* What takes most of the time is told once. */
static void metadata_cold_alone(struct made_trace *made, bool sound)
{
	metadata_cold(made, false);
	if (sound)
		CALLS(made, 600 * MS, .count = 2000, .op = M_FSTAT, .dur = 150 * US);
}

static void failed_lookups(struct made_trace *made, bool sound)
{
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + i * 10 * US, .dur = 5 * US, .pid = 10, .op = M_OPENAT,
		     .path = "/usr/none/module.py", .result = sound ? 3 : -2);
}

/* --- writing, and calls that cost without moving much --- */

static void fsync_often(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = sound ? 2 : 100, .op = M_FSYNC, .dur = 2 * MS);
}

/* Ten that the run waits for, as of a database, and ten that take next to nothing. */
static void fsync_waited(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 10, .op = M_FSYNC, .dur = sound ? 3 * MS : 20 * MS);
}

/* One at the end of a file is waited for once. */
static void fsync_once(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/checkpoint");
	CALLS(made, 100, .count = sound ? 1 : 4, .op = M_FSYNC, .dur = 100 * MS);
}

/* A checkpoint: much at one go, by the first thread or beside it. */
static void save_waits(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 64; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 4 * MS, .pid = 10,
		     .tid = sound ? 11 : 10, .op = M_WRITE, .file = 1, .offset = i * MIB,
		     .asked = MIB, .result = MIB);
	CALL(made, .time = 330 * MS, .dur = 100 * MS, .pid = 10, .tid = sound ? 11 : 10,
	     .op = M_FSYNC, .file = 1);
}

/* What does nothing but I/O has nothing to go on with. */
static void save_alone(struct made_trace *made, bool sound)
{
	save_waits(made, false);
	if (sound)
		CALL(made, .time = 500 * MS, .dur = 400 * MS, .pid = 10, .op = M_READ, .file = 1,
		     .asked = MIB, .result = MIB);
}

/* A process that is forked to write runs beside its parent, a program of its own in its place. */
static void save_forked(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	made_fork(made, 20, 10, 11);
	if (!sound)
		EXEC(made, .time = 30, .pid = 11, .ppid = 10, .comm = "b", .command = "b",
		     .rank = -1);
	CALL(made, .time = 100, .dur = 100 * MS, .pid = 11, .op = M_WRITE, .file = 1,
	     .asked = 64 * MIB, .result = 64 * MIB);
}

/* What lies in memory costs the copy alone. */
static void save_in_memory(struct made_trace *made, bool sound)
{
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 64 * MIB, .path = "/x/a",
		 .filesystem = sound ? "tmpfs" : "xfs");
	CALLS(made, 100, .count = 1, .op = M_WRITE, .bytes = 64 * MIB, .dur = 100 * MS);
}

/* Each sync ends much: not the syncs are what is wrong. */
static void fsync_of_saves(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	for (uint64_t i = 0; i < 4; i++) {
		CALL(made, .time = 100 + i * 100 * MS, .dur = 10 * MS, .pid = 10, .op = M_WRITE,
		     .file = 1, .asked = 64 * MIB, .result = sound ? 64 * MIB : MIB);
		CALL(made, .time = 20 * MS + i * 100 * MS, .dur = 50 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 1);
	}
}

static void sync_writes(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 200, .op = M_WRITE, .bytes = 64 * KIB, .dur = MS,
	      .flags = sound ? 0 : TRACE_OP_SYNC);
}

static void small_writes(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 2000, .op = M_WRITE, .bytes = sound ? 8192 : 100, .dur = 5 * US);
}

/* Of writes that wait for storage it is that which costs, not that they are small. */
static void small_writes_sync(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 2000, .op = M_WRITE, .bytes = 100, .dur = 50 * US,
	      .flags = sound ? TRACE_OP_SYNC : 0);
}

static void small_direct(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = sound ? MIB : 4096, .step = 4096,
	      .dur = 50 * US, .flags = TRACE_OP_DIRECT);
}

static void lock_wait(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/lock");
	CALLS(made, 100, .count = 50, .op = M_FLOCK, .dur = sound ? US : 5 * MS);
}

/* Nobody waits for a lock that is free, however often it is taken. */
static void lock_free(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/s.db");
	CALLS(made, 100, .count = 20000, .op = M_FLOCK, .dur = sound ? US : 20 * US);
}

static void failed_calls(struct made_trace *made, bool sound)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 200, .op = M_PREAD, .asked = 4096, .result = sound ? 4096 : -5,
	      .dur = 100 * US);
}

static void short_reads(struct made_trace *made, bool sound)
{
	add_file(made, 1, sound ? 1000 : MIB, "/data/a"); /* all of it, or a part */
	CALLS(made, 100, .count = 2000, .op = M_PREAD, .bytes = 1000, .asked = 4096, .dur = 5 * US);
}

/* --- what the kernel writes back --- */

static void writers_throttled(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	CALLS(made, 100, .count = 64, .op = M_WRITE, .bytes = MIB, .step = MIB, .dur = 5 * MS);
	for (uint64_t i = 0; i < 64; i++)
		THROTTLE(made, .time = 200 + i * (5 * MS + 1), .pause = sound ? 40 * US : 4 * MS,
			 .pid = 10, .file = 1);
}

/* A store to each large folio: to any page of it, or one after the other. */
static void stores_amplified(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/table.mdb");
	for (uint64_t i = 0; i < 64; i++)
		FAULT(made, .time = 100 + i * MS, .dur = 10 * US, .pid = 10, .file = 1,
		      .offset = i * MIB + (sound ? 0 : i % 8 * 4096),
		      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED, .dirtied = MIB);
	BIO(made, .time = 500 * MS, .dur = MS, .file = 1, .offset = 0, .bytes = 64 * MIB);
}

/* --- the trace itself --- */

static void async_not_traced(struct made_trace *made, bool sound)
{
	made->operations[M_URING].count = sound ? 0 : 3;
	made->operations[M_URING].submissions = sound ? 0 : 500;
}

/* The same operations, one after the other or eight at once. */
static void shallow_queue(struct made_trace *made, bool sound)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	for (uint64_t i = 0; i < 2000; i++)
		CALL(made, .time = 100 + (sound ? i / 8 : i) * 101 * US, .dur = 100 * US, .pid = 10,
		     .op = M_URING_READ, .file = 1, .offset = i * 4096, .asked = 4096,
		     .result = 4096, .flags = TRACE_OP_DIRECT);
}

static void add_readahead(struct made_trace *made, const char *path, bool used)
{
	add_file(made, 1, 256 * MIB, path);
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t at = 100 + i * MS;

		CALL(made, .time = at, .dur = 100 * US, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * 4 * MIB, .asked = 4096, .result = 4096, .fetched = 4 * MIB);
		BIO(made, .time = at + 1, .dur = 90 * US, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * 4 * MIB, .bytes = 4 * MIB);
		if (used)
			CALL(made, .time = at + 200 * US, .dur = US, .pid = 10, .op = M_PREAD,
			     .file = 1, .offset = i * 4 * MIB, .asked = 4 * MIB, .result = 4 * MIB);
	}
}

static void readahead_unused(struct made_trace *made, bool sound)
{
	add_readahead(made, "/data/a", sound);
}

/* Most of what came was mapped around faults, and perhaps used. */
static void readahead_mapped(struct made_trace *made, bool sound)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		FAULT(made, .time = at, .dur = 100 * US, .pid = 10, .file = 1,
		      .offset = i * 4 * MIB, .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = 4 * MIB);
		BIO(made, .time = at + 1, .dur = 90 * US, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * 4 * MIB, .bytes = 4 * MIB);
		for (uint64_t j = 1; j < 64 && (i < 6 || sound) && i < 13; j++)
			FAULT(made, .time = at + MS + j * 10 * US, .dur = 2 * US, .pid = 10,
			      .file = 1, .offset = i * 4 * MIB + j * 64 * KIB);
	}
}

/* A library's loader cannot be told how to read. */
static void readahead_of_library(struct made_trace *made, bool sound)
{
	add_readahead(made, sound ? "/usr/lib/liba.so" : "/data/a.sob", false);
}

/* --- devices --- */

/* Requests that read 4 KiB each, one after the other, of each process from 10 on. */
static void add_requests(struct made_trace *made, uint64_t processes, uint64_t count,
			 uint64_t queue_ns, uint64_t service_ns)
{
	const uint64_t each = queue_ns + service_ns;

	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 1; i < processes; i++)
		made_fork(made, 20, 10, 10 + i);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t pid = 10 + i % processes, at = 100 + i / processes * each;

		BIO(made, .time = at, .dur = each, .queue = queue_ns, .pid = pid,
		    .op = M_REQUEST_READ, .file = 1, .offset = i * 4096, .bytes = 4096,
		    .request = i + 1, .dev = 8 << 20);
		REQUEST(made, .time = at, .dur = each, .queue = queue_ns, .pid = pid,
			.op = M_REQUEST_READ, .file = 1, .bytes = 4096, .dev = 8 << 20);
	}
}

static void device_slow(struct made_trace *made, bool sound)
{
	add_requests(made, 1, 60, US, sound ? 5 * MS : 12 * MS);
}

static void device_overloaded(struct made_trace *made, bool sound)
{
	add_requests(made, 2, 100, sound ? US : 4 * MS, MS);
}

/* Many requests at once, of two that wait or of one operation of a single thread. */
static void device_overloaded_by_one(struct made_trace *made, bool sound)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	made_fork(made, 20, 10, 11);
	for (uint64_t i = 0; i < 100; i++)
		BIO(made, .time = 100 + i / 10 * 6 * MS + i % 10, .dur = 5 * MS, .queue = 4 * MS,
		    .pid = sound ? 10 : 10 + i % 2, .op = M_REQUEST_READ, .file = 1,
		    .offset = i * 4096, .bytes = 4096, .request = i + 1, .dev = 8 << 20);
	for (uint64_t i = 0; i < 100; i++)
		REQUEST(made, .time = 100 + i / 10 * 6 * MS + i % 10, .dur = 5 * MS,
			.queue = 4 * MS, .pid = 10, .op = M_REQUEST_READ, .file = 1, .bytes = 4096,
			.dev = 8 << 20);
}

/* One thread that has ten operations under way, or one after the other. */
static void device_overloaded_async(struct made_trace *made, bool sound)
{
	device_overloaded_by_one(made, true);
	for (uint64_t i = 0; i < 100; i++)
		CALL(made, .time = 100 + (sound ? i : i / 10) * 6 * MS, .dur = 5 * MS, .pid = 10,
		     .op = M_URING_READ, .file = 1, .offset = i * 4096, .asked = 4096,
		     .result = 4096, .flags = TRACE_OP_DIRECT);
}

static void requests_small(struct made_trace *made, bool sound)
{
	const uint64_t bytes = sound ? 256 * 1024 : 16 * 1024;

	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 20; i++) {
		const uint64_t at = 100 + i * 10 * MS;

		CALL(made, .time = at, .dur = 9 * MS, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * MIB, .asked = MIB, .result = MIB, .flags = TRACE_OP_DIRECT);
		for (uint64_t j = 0; j < MIB / bytes; j++)
			BIO(made, .time = at + 1 + j, .dur = 8 * MS, .pid = 10,
			    .op = M_REQUEST_READ, .file = 1, .offset = i * MIB + j * bytes,
			    .bytes = bytes, .request = i * 1000 + j, .dev = 8 << 20,
			    .flags = TRACE_BLOCK_DIRECT);
	}
}

static void flushes(struct made_trace *made, bool sound)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 60; i++)
		CALL(made, .time = 100 + i * 5 * MS, .dur = 4 * MS, .pid = 10, .op = M_FSYNC,
		     .file = 1);
	REQUEST(made, .time = 100, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .bytes = 4096,
		.dev = 8 << 20);
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .reads = 1, .read_bytes = 4096,
	       .flushes = 60, .flush_ns = sound ? MS : 200 * MS);
}

/* Two programs that a shell starts, at the same time or one after the other. */
static void device_shared(struct made_trace *made, bool sound)
{
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t pid = 20 + i, at = 100 + (sound ? i * 200 * MS : i);

		made_fork(made, 20, 10, pid);
		EXEC(made, .time = 30, .pid = pid, .ppid = 10, .comm = "dd", .command = "dd",
		     .rank = -1);
		made_fork(made, 40, pid, pid + 10);
		for (uint64_t j = 0; j < 10; j++)
			REQUEST(made, .time = at + j * 10 * MS, .dur = 9 * MS, .pid = pid + 10,
				.op = M_REQUEST_READ, .bytes = MIB, .dev = 8 << 20);
	}
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .reads = 20,
	       .read_bytes = 20 * MIB);
}

/* What is not the run's is somebody's, or the journal that its own syncs commit. */
static void device_shared_journal(struct made_trace *made, bool sound)
{
	for (uint64_t i = 0; i < 20; i++)
		REQUEST(made, .time = 100 + i * 10 * MS, .dur = 9 * MS, .pid = 10,
			.op = M_REQUEST_WRITE, .bytes = MIB, .dev = 8 << 20);
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .writes = 40,
	       .write_bytes = 60 * MIB, .kernel_metadata = sound ? 40 * MIB : 0);
}

static void tracer_cost(struct made_trace *made, bool sound)
{
	made->operations[M_ANONYMOUS].count = sound ? 1000 : 2000000; /* 300 ms by 2 CPUs */
}

/* --- phases --- */

/* Two epochs that read 10 MiB each; between them and within is compute. */
static void add_epochs(struct made_trace *made, uint64_t later_fetched)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		uint64_t at = 100 + epoch * 100 * MS;

		SPAN(made, .begin = at, .end = at + 90 * MS, .pid = 10, .id = 1, .name = "epoch");
		CALL(made, .time = at + MS, .dur = 10 * MS, .pid = 10, .op = M_READ, .file = 1,
		     .asked = 10 * MIB, .result = 10 * MIB,
		     .fetched = epoch ? later_fetched : 10 * MIB);
	}
}

static void epoch_from_storage(struct made_trace *made, bool sound)
{
	add_epochs(made, sound ? 2 * MIB : 10 * MIB);
}

static void epoch_from_memory(struct made_trace *made, bool sound)
{
	add_epochs(made, sound ? 2 * MIB : 0);
}

static void sync_checkpoint(struct made_trace *made, bool sound)
{
	SPAN(made, .begin = 100, .end = 100 * MS, .pid = 10, .id = 1, .name = "save",
	     .category = "checkpoint");
	SPAN(made, .begin = sound ? 200 : 100 * MS, .end = 200 * MS, .pid = 10, .tid = 11, .id = 2,
	     .name = "step", .category = "compute");
}

/* Half of the run waiting for data, with I/O for all or nothing of it, or no waiting. */
static void add_loader(struct made_trace *made, bool waits, bool reads)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 100 * MS;

		SPAN(made, .begin = at, .end = at + (waits ? 50 * MS : US), .pid = 10, .id = 1,
		     .name = "fetch", .category = "data");
		SPAN(made, .begin = at + 50 * MS, .end = at + 99 * MS, .pid = 10, .id = 2,
		     .name = "step", .category = "compute");
		SPAN(made, .begin = at + MS, .end = at + 2 * MS, .pid = 20, .id = 3, .name = "item",
		     .category = "data");
		if (reads)
			CALL(made, .time = at, .dur = 50 * MS, .pid = 20, .op = M_READ, .file = 1,
			     .asked = MIB, .result = MIB);
	}
	made_fork(made, 50, 10, 20);
}

static void loader_io(struct made_trace *made, bool sound)
{
	add_loader(made, true, !sound);
}

static void loader_preprocessing(struct made_trace *made, bool sound)
{
	add_loader(made, true, sound);
}

static void loader_idle(struct made_trace *made, bool sound)
{
	add_loader(made, sound, false);
}

/* Four workers that the loop waits for, each with as many spans; what lies in a span is its part.
 */
static void worker_slow(struct made_trace *made, bool sound)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 100 * MS;

		SPAN(made, .begin = at, .end = at + 50 * MS, .pid = 10, .id = 1, .name = "fetch",
		     .category = "data");
		SPAN(made, .begin = at + 50 * MS, .end = at + 99 * MS, .pid = 10, .id = 2,
		     .name = "step", .category = "compute");
		CALL(made, .time = at + MS, .dur = 5 * MS, .pid = 22, .op = M_READ, .file = 1,
		     .asked = MIB, .result = MIB);
		for (uint64_t worker = 0; worker < 4; worker++) {
			uint64_t busy = worker == 2 && !sound ? 40 * MS : 10 * MS;

			SPAN(made, .begin = at + MS, .end = at + MS + busy, .pid = 20 + worker,
			     .id = 3, .name = "batch", .category = "data");
			SPAN(made, .begin = at + 2 * MS, .end = at + 3 * MS, .pid = 20 + worker,
			     .id = 4, .name = "item", .category = "data");
		}
	}
	for (uint64_t worker = 0; worker < 4; worker++)
		made_fork(made, 50, 10, 20 + worker);
}

static void accelerator_idle(struct made_trace *made, bool sound)
{
	for (uint64_t i = 0; i < 10; i++)
		SPAN(made, .begin = 100 + i * 100 * MS,
		     .end = 100 + (i * 100 + (sound ? 95 : 60)) * MS, .pid = 10, .id = 1,
		     .name = "step", .category = "compute");
}

static void straggler(struct made_trace *made, bool sound)
{
	add_file(made, 1, 10 * MIB, "/data/a");
	for (uint64_t rank = 0; rank < 3; rank++) {
		EXEC(made, .time = 20, .pid = 30 + rank, .comm = "r", .command = "r", .rank = rank);
		SPAN(made, .begin = 100, .end = 200, .pid = 30 + rank, .id = 1, .name = "step");
		CALL(made, .time = 300, .dur = rank == 1 && !sound ? 100 * MS : 10 * MS,
		     .pid = 30 + rank, .op = M_READ, .file = 1, .asked = MIB, .result = MIB);
	}
}

/* --- all of them --- */

static const struct {
	const char *id;
	void (*make)(struct made_trace *made, bool sound);
} cases[] = {
	{ "small-reads-storage", small_reads_storage },
	{ "small-reads-cached", small_reads_cached },
	{ "small-reads-cached", small_reads_opens },
	{ "small-reads-cached", small_reads_direct },
	{ "random-reads", random_reads },
	{ "read-again", read_again },
	{ "read-by-several", read_by_several },
	{ "fetched-again", fetched_again },
	{ "fetched-again", faulted_again },
	{ "small-reads-cached", small_reads_failed },
	{ "cold-start", cold_start },
	{ "cold-start", cold_start_slow },
	{ "mmap-in-order", mmap_in_order },
	{ "mmap-in-order", mmap_in_order_fast },
	{ "mmap-in-order", mmap_in_order_again },
	{ "mmap-in-order", mmap_in_order_copied },
	{ "mmap-random", mmap_random_threads },
	{ "random-reads", random_reads_threads },
	{ "mmap-single", mmap_single },
	{ "mmap-minor-faults", mmap_minor },
	{ "mmap-minor-faults", mmap_minor_read },
	{ "swapped", swapped },
	{ "many-small-files", many_small_files },
	{ "many-small-files", many_small_documents },
	{ "opened-again", opened_again },
	{ "metadata-heavy", metadata_heavy },
	{ "metadata-heavy", metadata_beside_faults },
	{ "metadata-cold", metadata_cold },
	{ "metadata-cold", metadata_cold_alone },
	{ "failed-lookups", failed_lookups },
	{ "fsync-often", fsync_often },
	{ "fsync-often", fsync_waited },
	{ "fsync-often", fsync_once },
	{ "fsync-often", fsync_of_saves },
	{ "save-waits", save_waits },
	{ "save-waits", save_alone },
	{ "save-waits", save_forked },
	{ "save-waits", save_in_memory },
	{ "sync-writes", sync_writes },
	{ "small-writes", small_writes },
	{ "small-writes", small_writes_sync },
	{ "small-direct", small_direct },
	{ "lock-wait", lock_wait },
	{ "lock-wait", lock_free },
	{ "failed-calls", failed_calls },
	{ "short-reads", short_reads },
	{ "writers-throttled", writers_throttled },
	{ "stores-amplified", stores_amplified },
	{ "async-not-traced", async_not_traced },
	{ "shallow-queue", shallow_queue },
	{ "readahead-unused", readahead_unused },
	{ "readahead-unused", readahead_of_library },
	{ "readahead-unused", readahead_mapped },
	{ "device-slow", device_slow },
	{ "device-overloaded", device_overloaded },
	{ "device-overloaded", device_overloaded_by_one },
	{ "device-overloaded", device_overloaded_async },
	{ "requests-small", requests_small },
	{ "flushes", flushes },
	{ "device-shared", device_shared },
	{ "device-shared", device_shared_journal },
	{ "tracer-cost", tracer_cost },
	{ "epoch-from-storage", epoch_from_storage },
	{ "epoch-from-memory", epoch_from_memory },
	{ "sync-checkpoint", sync_checkpoint },
	{ "loader-io", loader_io },
	{ "loader-preprocessing", loader_preprocessing },
	{ "loader-idle", loader_idle },
	{ "worker-slow", worker_slow },
	{ "accelerator-idle", accelerator_idle },
	{ "straggler", straggler },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static void make_case(struct made_trace *made, size_t i, bool sound)
{
	BEGIN(made, .spans = true, .block = true, .async = cases[i].make != async_not_traced,
	      .memory_bytes = 1ull << 30);
	EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	cases[i].make(made, sound);
	made_finish(made, 10, END);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < CASES; i++) {
		for (int sound = 0; sound < 2; sound++) {
			struct made_trace made;
			struct report *report;

			make_case(&made, i, sound);
			report = made_report(&made.reader, 1);
			check_texts(report, cases[i].id);
			if ((row_of_finding(report, cases[i].id) >= 0) == sound)
				fail_msg("%s: %s", cases[i].id,
					 sound ? "told of a sound trace" : "not told");
			report_free(report);
			made_close(&made);
		}
	}
}

/* Which worker, and by how much: exactly. */
static void test_worker(void **state)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	worker_slow(&made, false);
	made_finish(&made, 10, END);
	report = made_report(&made.reader, 1);
	row = find_row(report, "findings", "id", "worker-slow");
	check_text(report, "findings", row, "title",
		   "worker 22 of the data loader is slower than the others");
	check_text(report, "findings", row, "says",
		   "40.0 ms for each of its 10 spans, against a median of 10.0 ms of 4 workers; "
		   "I/O took 50.0 ms of its 400 ms");
	check_text(report, "findings", row, "severity", "note");
	report_free(report);
	made_close(&made);
}

/* Every rule has a case, here or (loss, mmap-random) in test_findings.c. */
static void test_all_have_cases(void **state)
{
	for (size_t i = 0; i < finding_rule_count; i++) {
		const char *id = finding_rules[i]->id;
		/* test_analysis_profile.c has what only sums show. */
		bool found = !strcmp(id, "loss") || !strcmp(id, "mmap-random") ||
			     !strcmp(id, "mmap-faults");

		for (size_t j = 0; j < CASES && !found; j++)
			found = !strcmp(id, cases[j].id);
		if (!found)
			fail_msg("%s has no case", id);
	}
}

static int leave_all(const char *directory)
{
	int status = 0;

	for (size_t i = 0; i < CASES && !status; i++) {
		struct made_trace made;
		char path[4096];

		make_case(&made, i, false);
		snprintf(path, sizeof(path), "%s/%s.%zu.flt", directory, cases[i].id, i);
		status = made_leave(&made, path);
		made_close(&made);
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_worker),
		cmocka_unit_test(test_all_have_cases),
	};

	if (argc == 3 && !strcmp(argv[1], "--make"))
		return leave_all(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
