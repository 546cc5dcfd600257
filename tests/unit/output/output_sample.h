/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small hand-made trace for output tests: two processes that read the same file in two ways, look
 * for missing files, and have names unsafe for terminals.
 */
#pragma once

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "make_trace.h"

#define SAMPLE_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SAMPLE_START 5000000000ull /* when the command started, on the trace's clock */
#define SAMPLE_MS(ms) (SAMPLE_START + (uint64_t)((ms)*1000000.0))

enum { /* file IDs */
       SAMPLE_DATA = 1,
       SAMPLE_TRAIN,
       SAMPLE_HOSTILE,
       SAMPLE_MODEL,
};

#define SAMPLE_HOSTILE_PATH "/data/\033[2Jgr\xf6\xdf.bin"

/* `spans` enables the span layer. The trace takes over the descriptor. */
static inline void sample_open(struct made_trace *sample, int fd, bool spans)
{
	static const char *const command[] = { "python3", "train.py", "--data", "/data/train.bin",
					       NULL };
	static const struct trace_layer layers[] = {
		{ "task", true, "tp_btf", NULL },	   { "syscall", true, "tp_btf", NULL },
		{ "fault", true, "tracepoint", NULL },	   { "pagecache", true, "tp_btf", NULL },
		{ "block", false, NULL, "not asked for" }, { "span", true, "uprobe", NULL },
	};
	static const uint8_t operations[] = { M_PREAD,	M_WRITE,     M_OPENAT,	 M_FSTAT,
					      M_RENAME, M_FSYNC,     M_MMAP,	 M_SENDFILE,
					      M_FAULT,	M_ANONYMOUS, M_PAGECACHE };
	const struct trace_header header = {
		.version = TRACE_VERSION,
		.tool = "0.1.0",
		.host = "node17",
		.boot_id = "6d6d0f9e-0000-4000-8000-000000000001",
		.kernel = "6.1.0-13-amd64",
		.machine = "x86_64",
		.page_bytes = 4096,
		.cpus = 2,
		.clock_monotonic_ns = SAMPLE_START - 1000000000,
		.clock_realtime_ns = 1767600000000000000ull, /* 2026-01-05 08:00:00 UTC */
		.mode = "trace",
		.command = command,
		.layers = layers,
		.layer_count = SAMPLE_COUNT(layers) - !spans,
	};

	BEGIN(sample, .fd = fd, .header = &header, .lanes = 2, .operations = operations,
	      .operation_count = SAMPLE_COUNT(operations));
}

static inline void sample_file(struct made_trace *sample, uint64_t id, const char *path,
			       uint64_t size, uint64_t mode)
{
	FILE_ROW(sample, .time = SAMPLE_START, .id = id, .dev = 8 << 20 | 1, .ino = 100 + id,
		 .mode = mode, .size = size, .path = path);
}

#define SAMPLE_AT(ms, us) .time = SAMPLE_MS(ms), .dur = (us)*1000ull

/* Activity of the command's process. */
static inline void sample_parent(struct made_trace *sample)
{
	static const char train[] = "python3\0train.py\0--data\0/data/train.bin";
	static const struct made_call calls[] = {
		{ SAMPLE_AT(10, 50), .pid = 100, .op = M_OPENAT, .offset = -1, .result = -2,
		  .path = "torch/__init__.py", .dir = SAMPLE_DATA },
		{ SAMPLE_AT(11, 20), .pid = 100, .op = M_FSTAT, .offset = -1, .result = -2,
		  .path = "/usr/lib/python3/site.py" },
		{ SAMPLE_AT(12, 90), .pid = 100, .op = M_OPENAT, .file = SAMPLE_TRAIN, .offset = -1,
		  .result = 3, .path = "/data/train.bin" },
		{ SAMPLE_AT(13, 400), .pid = 100, .op = M_PREAD, .file = SAMPLE_TRAIN,
		  .asked = 65536, .result = 65536, .fetched = 131072 },
		{ SAMPLE_AT(14, 4), .pid = 100, .op = M_PREAD, .file = SAMPLE_TRAIN,
		  .offset = 65536, .asked = 65536, .result = 65536 },
		{ SAMPLE_AT(15, 5), .pid = 100, .op = M_MMAP, .file = SAMPLE_TRAIN,
		  .asked = 1 << 20, .result = 0x7f0000000000, .flags = TRACE_OP_SHARED },
		{ SAMPLE_AT(80, 3000), .pid = 100, .op = M_WRITE, .file = SAMPLE_MODEL,
		  .asked = 8192, .result = 8192, .flags = TRACE_OP_APPEND },
		{ SAMPLE_AT(84, 9000), .pid = 100, .op = M_FSYNC, .file = SAMPLE_MODEL,
		  .offset = -1 },
		{ SAMPLE_AT(94, 30), .pid = 100, .op = M_RENAME, .offset = -1,
		  .path = "/out/model.tmp", .path2 = "/out/model.pt" },
	};

	EXEC(sample, .time = SAMPLE_MS(0), .pid = 100, .ppid = 1, .uid = 1000, .comm = train,
	     .command = train, .command_length = sizeof(train) - 1, .rank = 3);
	for (size_t i = 0; i < SAMPLE_COUNT(calls); i++)
		made_call(sample, &calls[i]);
	made_fork(sample, SAMPLE_MS(16), 100, 101);
	EXIT(sample, .time = SAMPLE_MS(100), .pid = 100, .comm = "python3", .major = 1, .minor = 2);
}

/* ... and of its child, in another CPU buffer. */
static inline void sample_child(struct made_trace *sample)
{
	static const char worker[] = "worker\0\xff\033]0;x\a";
	static const struct made_call calls[] = {
		{ SAMPLE_AT(20, 100), .pid = 101, .op = M_PREAD, .file = SAMPLE_HOSTILE,
		  .asked = 4096, .result = 4096, .flags = TRACE_OP_DIRECT },
		{ SAMPLE_AT(21, 5), .pid = 101, .op = M_PREAD, .file = SAMPLE_HOSTILE,
		  .offset = 4096, .asked = 4096, .result = -5, .flags = TRACE_OP_DIRECT },
		{ SAMPLE_AT(22, 800), .pid = 101, .op = M_SENDFILE, .file = SAMPLE_TRAIN,
		  .offset = 131072, .asked = 16384, .result = 16384, .fetched = 16384,
		  .file2 = SAMPLE_MODEL },
	};

	sample->lane = 1;
	EXEC(sample, .time = SAMPLE_MS(17), .pid = 101, .ppid = 1, .uid = 1000, .comm = worker,
	     .command = worker, .command_length = sizeof(worker) - 1, .rank = -1);
	for (size_t i = 0; i < SAMPLE_COUNT(calls); i++)
		made_call(sample, &calls[i]);
	for (int i = 0; i < 20; i++)
		FAULT(sample, SAMPLE_AT(30 + 2 * i, i % 4 ? 1 : 1500), .pid = 101,
		      .file = SAMPLE_TRAIN, .offset = (i + 64) * 4096,
		      .flags = (i % 4 ? 0 : TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP) |
			       TRACE_FAULT_SHARED,
		      .fetched = i % 4 ? 0 : 16384);
	FILL(sample, .time = SAMPLE_MS(50), .pid = 101, .file = SAMPLE_TRAIN, .offset = 1 << 20,
	     .bytes = 4096);
	EXIT(sample, .time = SAMPLE_MS(95), .pid = 101, .code = 9, .comm = "worker", .major = 1,
	     .minor = 2);
	sample->lane = 0;
}

static inline void sample_rows(struct made_trace *sample)
{
	sample_file(sample, SAMPLE_DATA, "/data", 4096, 040755);
	sample_file(sample, SAMPLE_TRAIN, "/data/train.bin", 512 << 20, 0);
	sample_file(sample, SAMPLE_HOSTILE, SAMPLE_HOSTILE_PATH, 8192, 0);
	sample_file(sample, SAMPLE_MODEL, "/out/model.pt", 0, 0);
	sample_parent(sample);
	sample_child(sample);
	sample->operations[M_ANONYMOUS] = (struct trace_operation_total) {
		.count = 1234, .thread_time_ns = 2500000, .major_faults = TRACE_NOT_COUNTED
	};
}

/* Ends the trace and closes it. `lost` system calls are counted but not written. */
static inline void sample_finish(struct made_trace *sample, uint64_t lost)
{
	sample->operations[M_PREAD].count += lost;
	sample->kinds[TRACE_SYSCALL].events += lost;
	sample->kinds[TRACE_SYSCALL].lost += lost;
	made_finish(sample, SAMPLE_START, SAMPLE_MS(100));
	made_close(sample);
}

#define SAMPLE_SPAN(ms, end_ms) .begin = SAMPLE_MS(ms), .end = SAMPLE_MS(end_ms)

/* Four steps of a training loop, and names unsafe for terminals. */
static inline void sample_spans(struct made_trace *sample)
{
	static const struct made_span spans[] = {
		{ SAMPLE_SPAN(9, 16), .pid = 100, .id = 1, .name = "setup", .category = "init" },
		{ SAMPLE_SPAN(19, 23), .pid = 101, .id = 1, .name = "getitem", .category = "data" },
		{ SAMPLE_SPAN(28, 38), .pid = 100, .id = 2, .name = "step", .category = "train" },
		{ SAMPLE_SPAN(28.5, 30.5), .pid = 100, .id = 3, .name = "fetch",
		  .category = "data" },
		{ SAMPLE_SPAN(31, 37), .pid = 100, .id = 4, .name = "forward",
		  .category = "compute" },
		{ SAMPLE_SPAN(39, 49), .pid = 100, .id = 5, .name = "step", .category = "train" },
		{ SAMPLE_SPAN(40, 48), .pid = 100, .id = 6, .name = "forward",
		  .category = "compute" },
		{ SAMPLE_SPAN(50, 60), .pid = 100, .id = 7, .name = "step", .category = "train" },
		{ SAMPLE_SPAN(51, 59), .pid = 100, .id = 8, .name = "forward",
		  .category = "compute" },
		{ SAMPLE_SPAN(61, 79), .pid = 100, .id = 9, .name = "step", .category = "train" },
		{ SAMPLE_SPAN(62, 66), .pid = 100, .id = 10, .name = "forward",
		  .category = "compute" },
		{ SAMPLE_SPAN(79.5, 94.5), .pid = 100, .id = 11, .name = "save",
		  .category = "checkpoint" },
		{ .begin = SAMPLE_MS(90), .pid = 101, .id = 2, .name = "\xff\033[2Jshutdown" },
	};

	for (size_t i = 0; i < SAMPLE_COUNT(spans); i++)
		made_span(sample, &spans[i]);
}

/* Writes the whole sample to a file at `path`. */
static inline void sample_write(const char *path, bool spans)
{
	struct made_trace sample;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	sample_open(&sample, fd, spans);
	sample_rows(&sample);
	if (spans)
		sample_spans(&sample);
	sample_finish(&sample, 2);
}
