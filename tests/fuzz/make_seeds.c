/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the seeds of fuzz_reader into a directory: traces as files, and as lists of their frames'
 * contents (see fuzz_reader.c), including a minimal trace of each kind; for given traces, only the
 * lists.
 *
 *   make_seeds DIRECTORY [TRACE...]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "../unit/make_trace.h"
#include "../unit/trace_sample.h"
#include "analysis/table/table.h"

#define LIST_BYTES (1u << 20)

static int write_seed(const char *directory, const char *name, size_t rows, const uint8_t *bytes,
		      size_t length)
{
	char path[4096];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "%s/%s-%zu", directory, name, rows);
	file = fopen(path, "w");
	if (!file)
		return -errno;
	err = fwrite(bytes, 1, length, file) == length ? 0 : -EIO;
	return fclose(file) ? -errno : err;
}

/* The contents of a file's frames, each preceded by its length. */
static size_t list_frames(const struct sample_bytes *sample, uint8_t *list, size_t room)
{
	size_t length = 0;

	list[length++] = 0;
	for (size_t at = 0, frame; at < sample->length; at += frame) {
		size_t content;

		frame = ZSTD_findFrameCompressedSize(sample->bytes + at, sample->length - at);
		if (ZSTD_isError(frame) || room - length < 3)
			break;
		content = ZSTD_decompress(list + length + 3, room - length - 3, sample->bytes + at,
					  frame);
		if (ZSTD_isError(content) || !content) /* the tail is empty */
			break;
		list[length] = content;
		list[length + 1] = content >> 8;
		list[length + 2] = content >> 16;
		length += 3 + content;
	}
	return length;
}

/* Lists the contents of a trace's frames, as far as they fit. */
static int write_given(const char *directory, const char *path, size_t number, uint8_t *list,
		       size_t room)
{
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sample_bytes given;

	if (fd < 0)
		return -errno;
	given = sample_read_fd(fd); /* closes it */
	err = write_seed(directory, "given", number, list, list_frames(&given, list, room));
	free(given.bytes);
	return err;
}

/* --- a minimal trace of each kind: much smaller than a fuzzer's input limit --- */

#define MS 1000000ull

static void begin_file(struct made_trace *made)
{
	EXEC(made, .time = 1, .pid = 7, .comm = "job", .command = "job", .rank = 1);
	FILE_ROW(made, .time = 2, .id = 1, .dev = 259, .ino = 9, .size = 8192, .path = "/d/f",
		 .filesystem = "ext4");
}

static void row_of(struct made_trace *made, enum trace_kind kind, const uint64_t *given,
		   size_t count)
{
	uint64_t values[TRACE_COLUMNS_MAX] = { 0 };

	memcpy(values, given, count * sizeof(*given));
	made_row(made, kind, 0, values);
}

#define ROW_OF(made, kind, ...)                                                                    \
	row_of(made, kind, (const uint64_t[]) { __VA_ARGS__ },                                     \
	       sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t))

static void seed_calls(struct made_trace *made)
{
	begin_file(made);
	CALL(made, .time = 3 * MS, .dur = MS, .pid = 7, .op = M_READ, .file = 1, .asked = 4096,
	     .result = 4096, .fetched = 4096);
	CALL(made, .time = 5 * MS, .dur = MS, .pid = 7, .op = M_OPENAT, .path = "/d/none",
	     .result = -ENOENT);
}

static void seed_faults(struct made_trace *made)
{
	begin_file(made);
	FAULT(made, .time = 3 * MS, .dur = MS, .pid = 7, .file = 1, .offset = 4096, .flags = 1,
	      .fetched = 4096);
	FILL(made, .time = 4 * MS, .pid = 7, .file = 1, .bytes = 8192);
	THROTTLE(made, .time = 5 * MS, .pause = MS, .pid = 7, .file = 1);
}

static void seed_spans(struct made_trace *made)
{
	begin_file(made);
	SPAN(made, .begin = 2 * MS, .end = 8 * MS, .pid = 7, .id = 1, .name = "epoch",
	     .category = "c", .args = "\x81\xa1k\x01");
	SPAN(made, .begin = 3 * MS, .end = 5 * MS, .pid = 7, .id = 2, .name = "step");
	made_instant(made, 4 * MS, 7, "mark", "c");
	CALL(made, .time = 4 * MS, .dur = MS, .pid = 7, .op = M_READ, .file = 1, .asked = 4096,
	     .result = 4096);
}

static void seed_devices(struct made_trace *made)
{
	begin_file(made);
	REQUEST(made, .time = 3 * MS, .dur = 2 * MS, .queue = MS, .pid = 7, .op = M_REQUEST_READ,
		.file = 1, .id = 5, .dev = 259, .sector = 64, .bytes = 4096);
	BIO(made, .time = 3 * MS, .dur = 2 * MS, .pid = 7, .op = M_REQUEST_READ, .file = 1,
	    .bytes = 4096, .request = 5, .dev = 259);
	DEVICE(made, .time = 9 * MS, .dev = 259, .reads = 1, .read_bytes = 4096, .name = "nvme0n1");
}

static void seed_uring(struct made_trace *made)
{
	begin_file(made);
	ROW_OF(made, TRACE_ASYNC, 3 * MS, 2 * MS, 7, 7, made_op(made, M_URING_READ), 1, 0, 4096,
	       4096);
	CALL(made, .time = 3 * MS, .dur = 1, .pid = 7, .op = M_URING, .asked = 1, .result = 1);
}

static void seed_vfs(struct made_trace *made)
{
	begin_file(made);
	VFS(made, .time = 3 * MS, .dur = MS, .pid = 7, .op = M_KERNEL_READ, .file = 1,
	    .asked = 4096, .result = 4096);
	VFS(made, .time = 4 * MS, .dur = MS, .pid = 7, .op = M_SPLICE_READ, .file = 1,
	    .asked = 4096, .result = 4096);
}

static void seed_threads(struct made_trace *made)
{
	begin_file(made);
	THREAD_TIME(made, .time = 2 * MS, .dur = 6 * MS, .pid = 7, .tid = 8, .io_wait = MS,
		    .user = MS, .system = MS,
		    .states = { [THREAD_CPU] = 2 * MS, [THREAD_LOCK] = 4 * MS });
	WAIT(made, .time = 3 * MS, .dur = 4 * MS, .pid = 7, .tid = 8, .state = "lock",
	     .call = "futex", .object = 4096, .waker_pid = 7, .flags = TRACE_WAIT_UNFINISHED);
}

static void seed_stacks(struct made_trace *made)
{
	begin_file(made);
	made_frame(made, 2 * MS, 1, "/job.py", 7, "<module>");
	made_frame(made, 2 * MS, 2, "/job.py", 42, "Data.get");
	made_stack(made, 2 * MS, 1, 0, 1);
	made_stack(made, 2 * MS, 2, 1, 2);
	made_frame(made, 2 * MS, 3, "/lib/python3.11/json.py", 3, "load");
	made_stack(made, 2 * MS, 3, 2, 3);
	made_stack(made, 2 * MS, 4, 4, 3); /* its own caller */
	CALL(made, .time = 2 * MS, .dur = 2 * MS, .pid = 7, .op = M_READ, .file = 1, .asked = 4096,
	     .result = 4096);
	SAMPLE(made, .time = 2 * MS, .dur = 2 * MS, .pid = 7, .op = M_READ, .file = 1,
	       .fetched = 4096, .stack = 2);
	SAMPLE(made, .time = 5 * MS, .dur = MS / 2, .weight = MS, .pid = 7, .op = M_WRITE,
	       .stack = 1, .flags = TRACE_SAMPLE_CUT);
	SAMPLE(made, .time = 6 * MS, .dur = MS, .pid = 7, .op = M_WRITE,
	       .flags = TRACE_SAMPLE_NO_PYTHON);
	SAMPLE(made, .time = 7 * MS, .weight = 20 * MS, .pid = 7, .state = "cpu", .stack = 3);
	SAMPLE(made, .time = 7 * MS, .dur = MS, .pid = 7, .tid = 8, .state = "lock", .stack = 4);
}

static void seed_remote(struct made_trace *made)
{
	begin_file(made);
	REMOTE(made, .time = 3 * MS, .dur = MS, .pid = 7, .op = M_FUSE_READ, .file = 1, .node = 9,
	       .dev = 44, .bytes = 4096, .server_pid = 5, .queue = MS / 2);
	REMOTE(made, .time = 5 * MS, .dur = MS, .pid = 7, .op = M_FUSE_LOOKUP, .dev = 44,
	       .error = ENOENT, .queue = -1);
	DEVICE(made, .time = 9 * MS, .dev = 44, .reads = 1, .read_bytes = 4096, .name = "host:/d");
}

static void seed_profile(struct made_trace *made)
{
	begin_file(made);
	ROW_OF(made, TRACE_PROFILE, 3 * MS, 2 * MS, 7, 0, made_op(made, M_READ), 1, 0, 2, 0, 8192,
	       MS, 4096);
	ROW_OF(made, TRACE_PROFILE_CLASS, 3 * MS, 0, 7, 0, made_op(made, M_READ), 1, 0, 19, 2);
}

static void seed_processes(struct made_trace *made)
{
	begin_file(made);
	made_fork(made, 2, 7, 8);
	EXIT(made, .time = 5 * MS, .pid = 8, .code = 256, .minor = 3, .comm = "child");
	EXIT(made, .time = 6 * MS, .pid = 7, .comm = "job");
}

/* The run's times, and a table of one row: a number with its percentile, and a nested table. */
static void seed_summary(struct made_trace *made)
{
	static const char *const columns[][2] = { { "path", "p50_ns" },
						  { "path", "p50_ns" },
						  { "start_unix_ns", "duration_ns" } };

	for (unsigned int table = 0; table < 3; table++) {
		const char *const names[] = { NULL, "files", "trace" };

		ROW_OF(made, TRACE_SUMMARY_TABLE, 9 * MS, table, made_string(made, names[table]),
		       table < 2, 0, 0, 1);
		for (unsigned int i = 0; i < 2; i++)
			ROW_OF(made, TRACE_SUMMARY_COLUMN, 9 * MS, table,
			       made_string(made, columns[table][i]), 0, UNIT_NS, 0,
			       i ? KIND_PERCENTILE : KIND_KEY);
		ROW_OF(made, TRACE_SUMMARY_CELL, 9 * MS, table, 0, 0,
		       (const uint64_t[]) { 5, 7, 1 }[table], 0, 0,
		       table ? 0 : made_string(made, "/d/f"));
		ROW_OF(made, TRACE_SUMMARY_CELL, 9 * MS, table, 0, 1, 1, 0, 100);
		ROW_OF(made, TRACE_SUMMARY_CLASS, 9 * MS, table, 0, 1, 50, 100, 100, 3);
	}
}

static const struct small_seed {
	const char *name;
	void (*rows)(struct made_trace *made);
	const char *mode; /* of the header */
	/* enabled layers */
	bool spans, block, async, vfs, threads, stacks, fuse;
	bool kept; /* by a flight recorder */
	uint8_t operations[3];
} small_seeds[] = {
	{ "calls", seed_calls, .operations = { M_READ, M_OPENAT, M_MMAP } },
	{ "faults", seed_faults, .operations = { M_FAULT, M_PAGECACHE, M_THROTTLED } },
	{ "spans", seed_spans, .spans = true, .operations = { M_READ, M_FAULT, M_MMAP } },
	{ "devices", seed_devices, .block = true,
	  .operations = { M_READ, M_REQUEST_READ, M_REQUEST_WRITE } },
	{ "uring", seed_uring, .block = true, .async = true,
	  .operations = { M_READ, M_URING_READ, M_URING } },
	{ "vfs", seed_vfs, .block = true, .async = true, .vfs = true,
	  .operations = { M_KERNEL_READ, M_SPLICE_READ, M_APART } },
	{ "threads", seed_threads, .threads = true, .operations = { M_READ, M_WRITE, M_FAULT } },
	{ "stacks", seed_stacks, .stacks = true, .operations = { M_READ, M_WRITE, M_COMPAT } },
	{ "remote", seed_remote, .fuse = true,
	  .operations = { M_READ, M_FUSE_READ, M_FUSE_LOOKUP } },
	{ "profile", seed_profile, "profile", .operations = { M_READ, M_WRITE, M_FAULT } },
	{ "processes", seed_processes, .operations = { M_READ, M_WRITE, M_FAULT } },
	{ "summary", seed_summary, "summary", .operations = { M_READ, M_WRITE, M_FAULT } },
	{ "flight", seed_calls, .kept = true, .operations = { M_READ, M_OPENAT, M_MMAP } },
};

/* Writes a trace as a file and as a list. Its totals only cover operations. */
static int write_small(const char *directory, const struct small_seed *small, uint8_t *list)
{
	static const struct trace_header kept = {
		.version = TRACE_VERSION,
		.tool = "0.1.0",
		.host = "node1",
		.boot_id = "boot1",
		.kernel = "6.1.0",
		.machine = "x86_64",
		.page_bytes = 4096,
		.cpus = 2,
		.mode = "trace",
		.flight = { "SIGUSR2", MS, 3 },
		.layers = sample_layers,
		.layer_count = sizeof(sample_layers) / sizeof(sample_layers[0]),
	};
	struct made_trace made;
	struct sample_bytes sample;
	int err;

	BEGIN(&made, .mode = small->mode, .spans = small->spans, .block = small->block,
	      .async = small->async, .vfs = small->vfs, .threads = small->threads,
	      .stacks = small->stacks, .fuse = small->fuse, .operations = small->operations,
	      .operation_count = sizeof(small->operations), .header = small->kept ? &kept : NULL);
	small->rows(&made);
	for (size_t i = 0; i < made.known_count; i++)
		made.ended[i] = made.operations[small->operations[i]];
	made_finish_as(&made, &(struct trace_totals) {
				      .start_ns = 1,
				      .end_ns = 10 * MS,
				      .operations = made.ended,
				      .operation_count = made.known_count,
			      });
	sample = (struct sample_bytes) { made.bytes, made.length };
	err = write_seed(directory, small->name, 0, sample.bytes, sample.length);
	if (!err)
		err = write_seed(directory, small->name, 1, list,
				 list_frames(&sample, list, LIST_BYTES));
	made_close(&made);
	return err;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 0, 1, 3, 20 };
	static uint8_t list[LIST_BYTES];
	int err = argc >= 2 ? 0 : -EINVAL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++) {
		struct sample_bytes sample = sample_trace(sizes[i], 2, SAMPLE_EDGES, NULL);

		err = write_seed(argv[1], "file", sizes[i], sample.bytes, sample.length);
		if (!err)
			err = write_seed(argv[1], "frames", sizes[i], list,
					 list_frames(&sample, list, sizeof(list)));
		free(sample.bytes);
	}
	for (size_t i = 0; i < sizeof(small_seeds) / sizeof(small_seeds[0]) && !err; i++)
		err = write_small(argv[1], &small_seeds[i], list);
	for (int i = 2; i < argc && !err; i++)
		err = write_given(argv[1], argv[i], i, list, sizeof(list));
	if (err)
		fprintf(stderr, "make_seeds: %s\n", strerror(-err));
	return err ? 1 : 0;
}
