/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small trace, written by hand through the writer, for the tests of what is printed: two
 * processes that read the same file in two ways, look for files that are not there, and have names
 * that no terminal should see.
 */
#ifndef OUTPUT_SAMPLE_H
#define OUTPUT_SAMPLE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/writer.h"

#define SAMPLE_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SAMPLE_START 5000000000ull /* when the command started, on the trace's clock */
#define SAMPLE_MS(ms) (SAMPLE_START + (uint64_t)((ms)*1000000.0))

enum { /* numbers of the sample's operations */
       SAMPLE_PREAD,
       SAMPLE_WRITE,
       SAMPLE_OPENAT,
       SAMPLE_STAT,
       SAMPLE_RENAME,
       SAMPLE_FSYNC,
       SAMPLE_MMAP,
       SAMPLE_SENDFILE,
       SAMPLE_FAULT,
       SAMPLE_ANONYMOUS,
       SAMPLE_PAGECACHE,
       SAMPLE_OPERATIONS,
};

enum { /* file ids */
       SAMPLE_DATA = 1,
       SAMPLE_TRAIN,
       SAMPLE_HOSTILE,
       SAMPLE_MODEL,
};

#define SAMPLE_HOSTILE_PATH "/data/\033[2Jgr\xf6\xdf.bin"

static const struct trace_operation sample_operations[SAMPLE_OPERATIONS] = {
	[SAMPLE_PREAD] = { "syscall", "pread64", TRACE_READ },
	[SAMPLE_WRITE] = { "syscall", "write", TRACE_WRITE },
	[SAMPLE_OPENAT] = { "syscall", "openat", TRACE_METADATA },
	[SAMPLE_STAT] = { "syscall", "newfstatat", TRACE_METADATA },
	[SAMPLE_RENAME] = { "syscall", "rename", TRACE_METADATA },
	[SAMPLE_FSYNC] = { "syscall", "fsync", TRACE_SYNC },
	[SAMPLE_MMAP] = { "syscall", "mmap", TRACE_MAP },
	[SAMPLE_SENDFILE] = { "syscall", "sendfile", TRACE_TRANSFER },
	[SAMPLE_FAULT] = { "fault", "fault", TRACE_FILEFAULT },
	[SAMPLE_ANONYMOUS] = { "fault", "anonymous_fault", TRACE_ANONFAULT },
	[SAMPLE_PAGECACHE] = { "pagecache", "pagecache", TRACE_CACHE },
};

struct sample {
	struct trace_writer *writer;
	struct trace_operation_total totals[SAMPLE_OPERATIONS];
	unsigned int lane; /* of the rows to come */
};

static inline void sample_append(struct sample *sample, enum trace_kind kind,
				 const uint64_t *values)
{
	assert_int_equal(trace_writer_append(sample->writer, kind, sample->lane, values), 0);
}

static inline uint64_t sample_string(struct sample *sample, const char *text, size_t length)
{
	uint32_t id = trace_writer_string(sample->writer, text, length);

	assert_true(id != 0);
	return id;
}

static inline void sample_file(struct sample *sample, uint64_t id, const char *path, uint64_t size)
{
	uint64_t row[FILE_COLUMNS] = { [FILE_TIME] = SAMPLE_START,
				       [FILE_ID] = id,
				       [FILE_DEV] = 8 << 20 | 1,
				       [FILE_INO] = 100 + id,
				       [FILE_MODE] = id == SAMPLE_DATA ? 040755 : 0100644,
				       [FILE_SIZE] = size,
				       [FILE_PATH] = sample_string(sample, path, strlen(path)) };

	sample_append(sample, TRACE_FILE, row);
}

static inline void sample_exec(struct sample *sample, double ms, uint64_t pid, const char *command,
			       size_t length, int64_t rank)
{
	uint64_t row[EXEC_COLUMNS] = { [EXEC_TIME] = SAMPLE_MS(ms),
				       [EXEC_PID] = pid,
				       [EXEC_TID] = pid,
				       [EXEC_PPID] = 1,
				       [EXEC_UID] = 1000,
				       [EXEC_COMM] =
					       sample_string(sample, command, strlen(command)),
				       [EXEC_COMMAND] = sample_string(sample, command, length),
				       [EXEC_RANK] = rank };

	sample_append(sample, TRACE_EXEC, row);
}

static inline void sample_fork(struct sample *sample, double ms, uint64_t pid, uint64_t child)
{
	uint64_t row[FORK_COLUMNS] = { [FORK_TIME] = SAMPLE_MS(ms),
				       [FORK_PID] = pid,
				       [FORK_TID] = pid,
				       [FORK_CHILD_PID] = child,
				       [FORK_CHILD_TID] = child };

	sample_append(sample, TRACE_FORK, row);
}

static inline void sample_exit(struct sample *sample, double ms, uint64_t pid, const char *comm,
			       uint64_t status)
{
	uint64_t row[EXIT_COLUMNS] = { [EXIT_TIME] = SAMPLE_MS(ms),
				       [EXIT_PID] = pid,
				       [EXIT_TID] = pid,
				       [EXIT_PROCESS] = 1,
				       [EXIT_CODE] = status,
				       [EXIT_COMM] = sample_string(sample, comm, strlen(comm)),
				       [EXIT_MAJOR] = 1,
				       [EXIT_MINOR] = 2 };

	sample_append(sample, TRACE_EXIT, row);
}

struct sample_call {
	double ms; /* start */
	uint64_t us, pid, op, file;
	int64_t offset;
	uint64_t asked;
	int64_t result;
	uint64_t flags, fetched;
	/* Only of calls that name a path or a second file. */
	const char *path, *path2;
	uint64_t dir, file2;
};

static inline void sample_call(struct sample *sample, const struct sample_call *call)
{
	struct trace_operation_total *total = &sample->totals[call->op];
	bool named = call->path || call->file2;
	uint64_t row[SYSCALL_PATH_COLUMNS] = { [SYSCALL_TIME] = SAMPLE_MS(call->ms),
					       [SYSCALL_DUR] = call->us * 1000,
					       [SYSCALL_PID] = call->pid,
					       [SYSCALL_TID] = call->pid,
					       [SYSCALL_OP] = call->op,
					       [SYSCALL_FILE] = call->file,
					       [SYSCALL_OFFSET] = call->offset,
					       [SYSCALL_ASKED] = call->asked,
					       [SYSCALL_RESULT] = call->result,
					       [SYSCALL_FLAGS] = call->flags,
					       [SYSCALL_FETCHED] = call->fetched,
					       [SYSCALL_PATH_FILE2] = call->file2,
					       [SYSCALL_PATH_DIR] = call->dir };

	if (call->path)
		row[SYSCALL_PATH_PATH] = sample_string(sample, call->path, strlen(call->path));
	if (call->path2)
		row[SYSCALL_PATH_PATH2] = sample_string(sample, call->path2, strlen(call->path2));
	sample_append(sample, named ? TRACE_SYSCALL_PATH : TRACE_SYSCALL, row);
	total->count++;
	total->errors += call->result < 0;
	if (call->result > 0 && sample_operations[call->op].family != TRACE_METADATA &&
	    sample_operations[call->op].family != TRACE_MAP)
		total->bytes += call->result;
	total->thread_time_ns += call->us * 1000;
	total->fetched_bytes += call->fetched;
}

static inline void sample_fault(struct sample *sample, double ms, uint64_t us, uint64_t pid,
				uint64_t file, uint64_t offset, uint64_t flags, uint64_t fetched)
{
	struct trace_operation_total *total = &sample->totals[SAMPLE_FAULT];
	uint64_t row[FAULT_COLUMNS] = { [FAULT_TIME] = SAMPLE_MS(ms),
					[FAULT_DUR] = us * 1000,
					[FAULT_PID] = pid,
					[FAULT_TID] = pid,
					[FAULT_FILE] = file,
					[FAULT_OFFSET] = offset,
					[FAULT_FLAGS] = flags,
					[FAULT_FETCHED] = fetched };

	sample_append(sample, TRACE_FAULT, row);
	total->count++;
	total->thread_time_ns += us * 1000;
	total->fetched_bytes += fetched;
}

/* With spans the layer of spans is on. */
static inline void sample_open(struct sample *sample, int fd, bool spans)
{
	static const char *const command[] = { "python3", "train.py", "--data", "/data/train.bin",
					       NULL };
	static const struct trace_layer layers[] = {
		{ "task", true, "tp_btf", NULL },	   { "syscall", true, "tp_btf", NULL },
		{ "fault", true, "tracepoint", NULL },	   { "pagecache", true, "tp_btf", NULL },
		{ "block", false, NULL, "not asked for" }, { "span", true, "uprobe", NULL },
	};
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
		.operations = sample_operations,
		.operation_count = SAMPLE_OPERATIONS,
	};
	const struct trace_writer_options options = { .lanes = 2 };

	*sample = (struct sample) { 0 };
	assert_int_equal(trace_writer_open(&sample->writer, fd, &header, &options), 0);
}

static inline void sample_rows(struct sample *sample)
{
	static const char train[] = "python3\0train.py\0--data\0/data/train.bin";
	static const char worker[] = "worker\0\xff\033]0;x\a";
	static const struct sample_call parent[] = {
		{ 10, 50, 100, SAMPLE_OPENAT, 0, -1, 0, -2, 0, 0, "torch/__init__.py", NULL,
		  SAMPLE_DATA, 0 },
		{ 11, 20, 100, SAMPLE_STAT, 0, -1, 0, -2, 0, 0, "/usr/lib/python3/site.py", NULL, 0,
		  0 },
		{ 12, 90, 100, SAMPLE_OPENAT, SAMPLE_TRAIN, -1, 0, 3, 0, 0, "/data/train.bin", NULL,
		  0, 0 },
		{ 13, 400, 100, SAMPLE_PREAD, SAMPLE_TRAIN, 0, 65536, 65536, 0, 131072, NULL, NULL,
		  0, 0 },
		{ 14, 4, 100, SAMPLE_PREAD, SAMPLE_TRAIN, 65536, 65536, 65536, 0, 0, NULL, NULL, 0,
		  0 },
		{ 15, 5, 100, SAMPLE_MMAP, SAMPLE_TRAIN, 0, 1 << 20, 0x7f0000000000,
		  TRACE_OP_SHARED, 0, NULL, NULL, 0, 0 },
		{ 80, 3000, 100, SAMPLE_WRITE, SAMPLE_MODEL, 0, 8192, 8192, TRACE_OP_APPEND, 0,
		  NULL, NULL, 0, 0 },
		{ 84, 9000, 100, SAMPLE_FSYNC, SAMPLE_MODEL, -1, 0, 0, 0, 0, NULL, NULL, 0, 0 },
		{ 94, 30, 100, SAMPLE_RENAME, 0, -1, 0, 0, 0, 0, "/out/model.tmp", "/out/model.pt",
		  0, 0 },
	};
	static const struct sample_call child[] = {
		{ 20, 100, 101, SAMPLE_PREAD, SAMPLE_HOSTILE, 0, 4096, 4096, TRACE_OP_DIRECT, 0,
		  NULL, NULL, 0, 0 },
		{ 21, 5, 101, SAMPLE_PREAD, SAMPLE_HOSTILE, 4096, 4096, -5, TRACE_OP_DIRECT, 0,
		  NULL, NULL, 0, 0 },
		{ 22, 800, 101, SAMPLE_SENDFILE, SAMPLE_TRAIN, 131072, 16384, 16384, 0, 16384, NULL,
		  NULL, 0, SAMPLE_MODEL },
	};
	const uint64_t cache[PAGECACHE_COLUMNS] = { [PAGECACHE_TIME] = SAMPLE_MS(50),
						    [PAGECACHE_PID] = 101,
						    [PAGECACHE_TID] = 101,
						    [PAGECACHE_FILE] = SAMPLE_TRAIN,
						    [PAGECACHE_OFFSET] = 1 << 20,
						    [PAGECACHE_BYTES] = 4096 };

	sample_file(sample, SAMPLE_DATA, "/data", 4096);
	sample_file(sample, SAMPLE_TRAIN, "/data/train.bin", 512 << 20);
	sample_file(sample, SAMPLE_HOSTILE, SAMPLE_HOSTILE_PATH, 8192);
	sample_file(sample, SAMPLE_MODEL, "/out/model.pt", 0);
	sample_exec(sample, 0, 100, train, sizeof(train) - 1, 3);
	for (size_t i = 0; i < SAMPLE_COUNT(parent); i++)
		sample_call(sample, &parent[i]);
	sample_fork(sample, 16, 100, 101);
	sample_exit(sample, 100, 100, "python3", 0);

	sample->lane = 1;
	sample_exec(sample, 17, 101, worker, sizeof(worker) - 1, -1);
	for (size_t i = 0; i < SAMPLE_COUNT(child); i++)
		sample_call(sample, &child[i]);
	for (int i = 0; i < 20; i++)
		sample_fault(
			sample, 30 + 2 * i, i % 4 ? 1 : 1500, 101, SAMPLE_TRAIN, (i + 64) * 4096,
			(i % 4 ? 0 : TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP) | TRACE_FAULT_SHARED,
			i % 4 ? 0 : 16384);
	sample_append(sample, TRACE_PAGECACHE, cache);
	sample->totals[SAMPLE_PAGECACHE].count++;
	sample->totals[SAMPLE_PAGECACHE].fetched_bytes += 4096;
	sample_exit(sample, 95, 101, "worker", 9);
	sample->totals[SAMPLE_ANONYMOUS] =
		(struct trace_operation_total) { .count = 1234, .thread_time_ns = 2500000 };
}

/* Ends the trace. `lost` system calls were counted and not written. */
static inline void sample_finish(struct sample *sample, uint64_t lost)
{
	struct trace_kind_total kinds[TRACE_KIND_COUNT];
	const struct trace_totals totals = {
		.start_ns = SAMPLE_START,
		.end_ns = SAMPLE_MS(100),
		.exit_code = 0,
		.operations = sample->totals,
		.operation_count = SAMPLE_OPERATIONS,
		.kinds = kinds,
		.kind_count = TRACE_KIND_COUNT,
	};

	assert_int_equal(trace_writer_flush(sample->writer), 0);
	for (int i = 0; i < TRACE_KIND_COUNT; i++) {
		uint64_t written = trace_writer_rows(sample->writer, i);
		uint64_t missing = i == TRACE_SYSCALL ? lost : 0;

		kinds[i] =
			(struct trace_kind_total) { trace_schemas[i].kind, trace_schemas[i].layer,
						    written + missing, written, missing };
	}
	sample->totals[SAMPLE_PREAD].count += lost;
	assert_int_equal(trace_writer_finish(sample->writer, &totals), 0);
}

struct sample_span {
	double begin_ms, end_ms; /* an end of 0: it never ended */
	uint64_t pid, id;
	const char *name, *category;
};

static inline void sample_span(struct sample *sample, const struct sample_span *span)
{
	uint64_t begin[SPAN_BEGIN_COLUMNS] = {
		[SPAN_BEGIN_TIME] = SAMPLE_MS(span->begin_ms),
		[SPAN_BEGIN_PID] = span->pid,
		[SPAN_BEGIN_TID] = span->pid,
		[SPAN_BEGIN_ID] = span->id,
		[SPAN_BEGIN_NAME] = sample_string(sample, span->name, strlen(span->name)),
	};
	uint64_t end[SPAN_END_COLUMNS] = { [SPAN_END_TIME] = SAMPLE_MS(span->end_ms),
					   [SPAN_END_PID] = span->pid,
					   [SPAN_END_TID] = span->pid,
					   [SPAN_END_ID] = span->id };

	if (span->category)
		begin[SPAN_BEGIN_CATEGORY] =
			sample_string(sample, span->category, strlen(span->category));
	sample_append(sample, TRACE_SPAN_BEGIN, begin);
	if (span->end_ms)
		sample_append(sample, TRACE_SPAN_END, end);
}

/* Four steps of a training loop, and names that no terminal should see. */
static inline void sample_spans(struct sample *sample)
{
	static const struct sample_span spans[] = {
		{ 9, 16, 100, 1, "setup", "init" },
		{ 19, 23, 101, 1, "getitem", "data" },
		{ 28, 38, 100, 2, "step", "train" },
		{ 28.5, 30.5, 100, 3, "fetch", "data" },
		{ 31, 37, 100, 4, "forward", "compute" },
		{ 39, 49, 100, 5, "step", "train" },
		{ 40, 48, 100, 6, "forward", "compute" },
		{ 50, 60, 100, 7, "step", "train" },
		{ 51, 59, 100, 8, "forward", "compute" },
		{ 61, 79, 100, 9, "step", "train" },
		{ 62, 66, 100, 10, "forward", "compute" },
		{ 79.5, 94.5, 100, 11, "save", "checkpoint" },
		{ 90, 0, 101, 2, "\xff\033[2Jshutdown", NULL },
	};

	sample->lane = 0;
	for (size_t i = 0; i < SAMPLE_COUNT(spans); i++)
		sample_span(sample, &spans[i]);
}

/* The whole sample in a file at `path`. */
static inline void sample_write(const char *path, bool spans)
{
	struct sample sample;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	sample_open(&sample, fd, spans);
	sample_rows(&sample);
	if (spans)
		sample_spans(&sample);
	sample_finish(&sample, 2);
	trace_writer_close(sample.writer);
	close(fd);
}

#endif
