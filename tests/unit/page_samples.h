/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces for pages: a hostile job, aggregated operations, all kinds of I/O, operations and the
 * requests they wait for. Browser tests use them as well.
 */
#pragma once

#include "make_trace.h"

#define MS 1000000ull

static const char *const hostile[] = {
	"/data/<script>alert(1)</script>",
	"/data/</script><img src=x onerror=alert(1)>",
	"/data/<!--<script>",
	"/data/\xff\xfe&lt;b",
	"/data/\"'`\\\xe2\x80\xa8\xe2\x80\xae",
};
#define HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

static void make_hostile(struct made_trace *made)
{
	static const char *const command[] = { "</script><script>alert(1)</script>",
					       "\nimport os\nos.sync()", "x", NULL };

	BEGIN(made, .spans = true, .command = command, .realtime_ns = 1767600001000000000);
	EXEC(made, .time = 1, .pid = 10, .comm = "<b>x", .command = "<i>", .rank = -1);
	for (uint64_t i = 0; i < HOSTILE; i++) {
		FILE_ROW(made, .time = 1, .id = i + 1, .dev = 8, .ino = i + 1, .size = 1 << 20,
			 .path = hostile[i]);
		for (uint64_t j = 0; j < 40; j++)
			CALL(made, .time = (i * 40 + j) * 10 * MS + 5 * MS, .dur = MS, .pid = 10,
			     .op = M_PREAD, .file = i + 1, .offset = j * 8192, .asked = 4096,
			     .result = 4096, .fetched = 4096);
	}
	for (uint64_t i = 0; i < 30; i++)
		SPAN(made, .begin = i * 50 * MS + 2, .end = i * 50 * MS + 20 * MS, .pid = 10,
		     .id = i + 1, .name = "</script><u>", .category = i % 2 ? "compute" : "<s>");
	made_finish(made, 0, 2000 * MS);
}

/* A file and `count` aggregated operations on it, 300 ms in total. */
static void make_sums(struct made_trace *made, unsigned int op, uint64_t count, uint64_t bytes,
		      uint64_t fetched, uint64_t major)
{
	const uint64_t values[PROFILE_COLUMNS] = {
		[PROFILE_TIME] = 900 * MS,   [PROFILE_OVER] = 900 * MS,
		[PROFILE_PID] = 10,	     [PROFILE_OP] = op,
		[PROFILE_FILE] = 1,	     [PROFILE_COUNT] = count,
		[PROFILE_BYTES] = bytes,     [PROFILE_THREAD_TIME] = 300 * MS,
		[PROFILE_FETCHED] = fetched, [PROFILE_MAJOR] = major,
	};

	BEGIN(made, .mode = "profile");
	EXEC(made, .time = 1, .pid = 10, .comm = "train", .command = "train", .rank = -1);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .size = 1 << 30, .path = "/data/a");
	made_row(made, TRACE_PROFILE, 0, values);
	made->operations[op] = (struct trace_operation_total) {
		.count = count, .bytes = bytes, .thread_time_ns = 300 * MS, .fetched_bytes = fetched
	};
	made_finish(made, 0, 1000 * MS);
}

/* As mode profile records them: calls or faults are only known as totals. */
static void make_summed(struct made_trace *made)
{
	make_sums(made, M_PREAD, 40, 163840, 1 << 20, 0);
}

static void make_faults(struct made_trace *made)
{
	make_sums(made, M_FAULT, 500, 0, 64 << 20, 400);
}

#define TICK 12500001ull /* a coarse bucket of two seconds */

/*
 * One process's activity in a bucket, partly in two concurrent threads; nothing extends beyond it.
 */
static void make_tick(struct made_trace *made, uint64_t i)
{
	const uint64_t at = i * TICK + 2 * MS, pid = 100 + i % 20;
	char path[32];

	snprintf(path, sizeof(path), "/lib%d/x.so", (int)(i % 5));
	CALL(made, .time = at, .dur = MS, .pid = pid, .op = M_OPENAT, .offset = -1,
	     .result = i % 3 ? -2 : -13, .path = path);
	CALL(made, .time = at, .dur = MS / 2, .pid = 100, .op = M_FSTAT, .offset = -1,
	     .path = path);
	CALL(made, .time = at + 1, .dur = 3 * MS, .pid = pid, .op = M_PREAD, .file = 1 + i % 12,
	     .offset = i * 4096, .asked = 8192, .result = 4096 + i, .fetched = i % 4 * 4096,
	     .flags = i % 6 ? 0 : TRACE_OP_DIRECT);
	CALL(made, .time = at + MS, .dur = 3 * MS, .pid = pid, .tid = 1000 + i, .op = M_READ,
	     .file = 1 + i % 12, .asked = 4096, .result = i % 7 ? 4096 : -5);
	CALL(made, .time = at + 2 * MS, .dur = MS, .pid = pid, .op = M_WRITE, .file = 13,
	     .asked = 1000, .result = 1000, .created = 4096, .flags = i % 5 ? 0 : TRACE_OP_SYNC);
	CALL(made, .time = at + 3 * MS, .dur = MS, .pid = 101, .op = M_SENDFILE, .file = 2,
	     .file2 = 13, .asked = 4096, .result = 4096);
	FAULT(made, .time = at + 4 * MS, .dur = MS, .pid = pid, .file = 14, .offset = i * 65536,
	      .flags = i % 2 ? TRACE_FAULT_WRITE | TRACE_FAULT_SHARED : TRACE_FAULT_MAJOR,
	      .fetched = 16384 + i, .dirtied = i % 2 ? 4096 : 0);
	CALL(made, .time = at + 5 * MS, .dur = MS, .pid = pid, .op = i % 2 ? M_FSYNC : M_FLOCK,
	     .file = 13);
	/* Neither adds time to a class of I/O. */
	CALL(made, .time = at + 6 * MS, .dur = MS, .pid = pid, .op = M_MMAP, .file = 14);
	CALL(made, .time = at + 6 * MS, .dur = MS, .pid = pid, .op = M_READAHEAD, .file = 14);
	FILL(made, .time = at + 5 * MS, .pid = pid, .file = 1 + i % 12, .bytes = 4096 * (i % 3));
	THROTTLE(made, .time = at + 5 * MS, .pause = MS, .pid = pid, .file = 13);
	REQUEST(made, .time = at + 5 * MS, .dur = MS, .pid = pid,
		.op = i % 3 ? M_REQUEST_READ : M_REQUEST_WRITE, .bytes = 4096 + i, .dev = 8,
		.part = 8);
	SPAN(made, .begin = at, .end = at + 4 * MS, .pid = 100 + i % 2, .id = i + 1,
	     .name = i % 4 ? "fetch.item" : "forward", .category = i % 4 ? "data" : "compute");
}

static void make_followed(struct made_trace *made)
{
	BEGIN(made, .spans = true, .block = true, .lanes = 1);
	EXEC(made, .time = 1, .pid = 100, .comm = "train", .command = "train", .rank = 0);
	for (uint64_t i = 1; i < 20; i++) {
		made_fork(made, 1 + i, 100, 100 + i);
		EXEC(made, .time = 2 + i, .pid = 100 + i, .ppid = 100,
		     .comm = i % 3 ? "loader" : "writer", .command = "x", .rank = i % 2);
	}
	for (uint64_t i = 1; i <= 14; i++) {
		char path[32];

		snprintf(path, sizeof(path), i > 12 ? "/out/%d" : "/data/part-%d.bin", (int)i);
		FILE_ROW(made, .time = 1, .id = i, .dev = 8, .ino = i, .size = 64 << 20,
			 .path = path);
	}
	for (uint64_t i = 0; i < 160; i++)
		make_tick(made, i);
	made_finish(made, 0, 2000 * MS);
}

#define KIB 1024ull
#define MIB (KIB << 10)

/* Activity that begins and ends in a bucket: reads with readahead that is used later, a write that
 * reaches the device, overlapping requests of two programs.
 */
static void make_chained_tick(struct made_trace *made, uint64_t i)
{
	const uint64_t at = i * TICK + MS, pid = 100 + i % 2, file = 1 + i % 3;

	SPAN(made, .begin = at, .end = at + 5 * MS, .pid = pid, .id = i + 10, .name = "fetch",
	     .category = "data");
	CALL(made, .time = at + 1, .dur = 2 * MS, .pid = pid, .op = M_PREAD, .file = file,
	     .offset = i * MIB, .asked = 64 * KIB, .result = 64 * KIB, .fetched = (128 + i) * KIB);
	BIO(made, .time = at + 10, .dur = MS + i, .queue = MS / 4, .pid = pid, .op = M_REQUEST_READ,
	    .file = file, .offset = i * MIB, .bytes = (128 + 4 * i) * KIB, .request = i + 1);
	CALL(made, .time = at + 3 * MS, .dur = MS, .pid = pid, .op = M_PREAD, .file = file,
	     .offset = i * MIB + 64 * KIB, .asked = 16 * KIB, .result = 16 * KIB);
	SPAN(made, .begin = at + 6 * MS, .end = at + 7 * MS, .pid = pid, .id = i + 1000,
	     .name = "forward", .category = "compute");
	CALL(made, .time = at + 6 * MS, .dur = 2 * MS, .pid = pid, .op = M_WRITE, .file = 4,
	     .offset = i * MIB, .asked = 8 * KIB + i, .result = 8 * KIB + i);
	BIO(made, .time = at + 9 * MS, .dur = MS, .op = M_REQUEST_WRITE, .file = 4,
	    .offset = i * MIB, .bytes = 12 * KIB, .request = i + 1001);
	THROTTLE(made, .time = at + 8 * MS, .pause = MS + i, .pid = pid, .file = 4);
	SAMPLE(made, .time = at + 1, .dur = 2 * MS, .pid = 99, .op = M_PREAD, .file = file,
	       .fetched = (128 + i) * KIB, .stack = 1);
	SAMPLE(made, .time = at + 4 * MS, .weight = 20 * MS, .pid = 99, .state = "cpu", .stack = 2);
	REQUEST(made, .time = at, .dur = MS, .pid = pid, .op = M_REQUEST_READ,
		.bytes = 4096 * (i + 1), .dev = 8, .part = 8, .id = i + 1);
	REQUEST(made, .time = at + MS / 2, .dur = MS + i, .pid = 201 - pid, .op = M_REQUEST_READ,
		.bytes = 4096, .dev = 8, .part = 8, .id = i + 2001);
}

/* Buckets `first` up to `last`, within an epoch that has only these. */
static void make_chained(struct made_trace *made, uint64_t first, uint64_t last)
{
	static const char *const paths[] = { "/data/a", "/data/b", "/data/c", "/out" };

	BEGIN(made, .spans = true, .block = true, .stacks = true);
	EXEC(made, .time = 1, .pid = 99, .comm = "run", .command = "run", .rank = -1);
	for (uint64_t i = 0; i < 2; i++) {
		made_fork(made, 2 + i, 99, 100 + i);
		EXEC(made, .time = 4 + i, .pid = 100 + i, .ppid = 99, .comm = i ? "two" : "one",
		     .command = "x", .rank = i);
	}
	for (uint64_t i = 0; i < 4; i++)
		FILE_ROW(made, .time = 1, .id = i + 1, .dev = 8, .ino = i + 1, .path = paths[i]);
	for (uint64_t i = 1; i <= 2; i++) {
		made_frame(made, 1, i, "/job/train.py", i, "<module>");
		made_stack(made, 1, i, 0, i);
	}
	SPAN(made, .begin = first * TICK + 8, .end = last * TICK, .pid = 99, .id = 1,
	     .name = "epoch");
	for (uint64_t i = first; i < last; i++)
		make_chained_tick(made, i);
	made_finish(made, 0, 2000 * MS);
}

static void make_all_chained(struct made_trace *made)
{
	make_chained(made, 0, 160);
}

/* Reads in the first half of the run: of a file, of one with the same numbers and path on a later
 * mount, and of one without a path. Each has a size of its own. */
static void make_mounts(struct made_trace *made)
{
	BEGIN(made);
	EXEC(made, .time = 1, .pid = 10, .comm = "train", .command = "train", .rank = -1);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 44, .ino = 1, .instance = 7, .path = "/mnt/data");
	FILE_ROW(made, .time = 1, .id = 2, .dev = 44, .ino = 1, .instance = 9, .path = "/mnt/data");
	FILE_ROW(made, .time = 1, .id = 3, .dev = 44, .ino = 5, .instance = 9);
	for (uint64_t i = 1; i <= 3; i++)
		CALL(made, .time = i * 100 * MS, .dur = MS, .pid = 10, .op = M_PREAD, .file = i,
		     .asked = i * 4096, .result = i * 4096);
	made_finish(made, 0, 2000 * MS);
}

/* A node of a job: the same numbers of processes, devices and files as on the other node, whose
 * file, requests and workers are larger. */
static void make_node(struct made_trace *made, const char *host, uint64_t size)
{
	BEGIN(made, .host = host, .boot_id = host, .block = true);
	EXEC(made, .time = 1, .pid = 10, .ppid = 1, .comm = "train", .command = host, .rank = -1);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/mnt/data");
	for (uint64_t i = 1; i <= 2; i++) {
		made_fork(made, 1 + i, 10, 10 + i);
		EXEC(made, .time = 4 + i, .pid = 10 + i, .ppid = 10, .comm = "loader",
		     .command = "x", .rank = -1);
		CALL(made, .time = i * 100 * MS, .dur = size * MS, .pid = 10 + i, .op = M_PREAD,
		     .file = 1, .asked = size * 4096, .result = size * 4096);
	}
	REQUEST(made, .time = 100 * MS, .dur = MS, .pid = 11, .op = M_REQUEST_READ,
		.bytes = size * 4096, .dev = 8, .part = 8);
	made_finish(made, 0, 2000 * MS);
}

static void make_first_node(struct made_trace *made)
{
	make_node(made, "node1", 1);
}

static void make_second_node(struct made_trace *made)
{
	make_node(made, "node2", 4);
}

#define FLAME_FUNCTION "</script><img src=x onerror=alert(1)>"

/* Stacks of a main thread and a worker: in operations, blocked, and on a CPU. */
static void make_stacks(struct made_trace *made)
{
	BEGIN(made, .stacks = true);
	EXEC(made, .time = 1, .pid = 10, .comm = "train", .command = "train", .rank = 0);
	made_fork(made, 2, 10, 11);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
	made_frame(made, 3, 1, "/job/train.py", 9, "<module>");
	made_frame(made, 3, 2, "/job/loader.py", 42, "Tokens.__getitem__");
	made_frame(made, 3, 3, "/job/train.py", 20, "step");
	made_frame(made, 3, 4, "/job/<b>&lt;.py", 7, FLAME_FUNCTION);
	made_stack(made, 3, 1, 0, 1);
	made_stack(made, 3, 2, 1, 2); /* <module>, __getitem__ */
	made_stack(made, 3, 3, 1, 3); /* <module>, step */
	made_stack(made, 3, 4, 2, 4); /* <module>, __getitem__, the hostile one */
	for (uint64_t i = 0; i < 10; i++)
		SAMPLE(made, .time = 5 * MS + i * 100 * MS, .dur = 20 * MS, .pid = 10, .op = M_READ,
		       .file = 1, .fetched = 4096, .stack = 2);
	/* From the first half of the run into the second. */
	SAMPLE(made, .time = 900 * MS, .dur = 200 * MS, .pid = 10, .state = "sleep", .stack = 3);
	for (uint64_t i = 0; i < 4; i++) {
		SAMPLE(made, .time = 1100 * MS + i * 100 * MS, .dur = 50 * MS, .pid = 11,
		       .state = "lock", .stack = 2);
		SAMPLE(made, .time = 1100 * MS + i * 100 * MS, .dur = MS / 100, .weight = MS,
		       .pid = 10, .op = M_READ, .file = 1, .stack = 2);
	}
	SAMPLE(made, .time = 1500 * MS, .dur = 30 * MS, .pid = 10, .state = "pipe", .stack = 4);
	for (uint64_t i = 0; i < 40; i++)
		SAMPLE(made, .time = (i < 10 ? 500 : 1200) * MS + i * 20 * MS, .weight = 20 * MS,
		       .pid = 10, .state = "cpu", .stack = 3);
	SAMPLE(made, .time = 1600 * MS, .dur = 2 * MS, .pid = 10, .tid = 12, .state = "lock",
	       .flags = TRACE_SAMPLE_NO_PYTHON);
	made_finish(made, 0, 2000 * MS);
}

/* Each option leaves its trace in a file. */
static const struct {
	const char *option;
	void (*make)(struct made_trace *made);
} page_traces[] = {
	{ "--make", make_hostile },
	{ "--make-summed", make_summed },
	{ "--make-faults", make_faults },
	{ "--make-followed", make_followed },
	{ "--make-chained", make_all_chained },
	{ "--make-stacks", make_stacks },
	{ "--make-mounts", make_mounts },
	{ "--make-first-node", make_first_node },
	{ "--make-second-node", make_second_node },
};

/* Returns main's status, or -1 if no trace was requested. */
static inline int leave_page_trace(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(page_traces) / sizeof(page_traces[0]); i++) {
		struct made_trace made;
		int status;

		if (strcmp(argv[1], page_traces[i].option) != 0)
			continue;
		page_traces[i].make(&made);
		status = made_leave(&made, argv[2]);
		made_close(&made);
		return status;
	}
	return -1;
}
