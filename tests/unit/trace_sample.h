/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Small traces for tests: every kind of row, with values at the edges of every width. Include after
 * cmocka.h, in one source file per test program.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "make_trace.h"

#define SAMPLE_OPERATIONS 3

struct sample_bytes {
	uint8_t *bytes;
	size_t length;
};

static const struct trace_operation sample_operations[SAMPLE_OPERATIONS] = {
	{ "syscall", "read", TRACE_READ },
	{ "syscall", "openat", TRACE_METADATA },
	{ "fault", "fault", TRACE_FILEFAULT },
};

static const struct trace_layer sample_layers[] = {
	{ "task", true, "tp_btf", NULL },
	{ "syscall", true, "raw_tp", "compat calls are not decoded" },
	{ "vfs", false, NULL, "not asked for" },
};

static const char *const sample_command[] = { "python3", "caf\xe9.py", "", "\xe2\x82\xac", NULL };

static const struct trace_mount sample_mounts[] = {
	{ 8 << 20 | 1, "ext4", "rw,relatime,rw", "/data \xff", 131072 },
	{ 25, "tmpfs", "", "/", 0 },
};

static const struct trace_header sample_header = {
	.version = TRACE_VERSION,
	.tool = "0.1.0",
	.host = "node7",
	.boot_id = "6e1f8a2c",
	.kernel = "6.1.0",
	.machine = "x86_64",
	.page_bytes = 4096,
	.cpus = 2,
	.memory_bytes = 1ull << 40,
	.cgroup_memory_bytes = 1 << 30,
	.cpu_milli = 1500,
	.dirty_bytes = 12345678901ull,
	.dirty_background_bytes = 1234567890,
	.mounts = sample_mounts,
	.mount_count = sizeof(sample_mounts) / sizeof(sample_mounts[0]),
	.clock_monotonic_ns = 123456789012345ull,
	.clock_realtime_ns = 1700000000123456789ull,
	.mode = "trace",
	.command = sample_command,
	.layers = sample_layers,
	.layer_count = sizeof(sample_layers) / sizeof(sample_layers[0]),
	.operations = sample_operations,
	.operation_count = SAMPLE_OPERATIONS,
};

static const struct trace_operation_total sample_operation_totals[SAMPLE_OPERATIONS] = {
	{ 1, 2, 3, 4, 5, 6, 14, 16, 19 },
	{ 6, 7, 8, 9, 10, 12, 15, 17, 20 },
	{ UINT64_MAX, 0, UINT64_MAX - 1, 1ull << 63, 11, 13, UINT64_MAX, 18, 0 },
};

static const struct trace_kind_total sample_kind_totals[] = {
	{ "syscall", "syscall", 12, 10, 2 },
	{ "exit", "task", 3, 3, 0 },
};

static const uint64_t sample_survivors[] = { 4242, 4294967295u };

static const struct trace_totals sample_totals = {
	.start_ns = 17,
	.end_ns = UINT64_MAX,
	.exit_code = -1,
	.operations = sample_operation_totals,
	.operation_count = SAMPLE_OPERATIONS,
	.kinds = sample_kind_totals,
	.kind_count = 2,
	.survivors = sample_survivors,
	.survivor_count = 2,
};

/* The column that holds a row's number, which identifies it wherever it is stored. */
static const unsigned int sample_number_column[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = SYSCALL_TID, [TRACE_SYSCALL_PATH] = SYSCALL_TID,
	[TRACE_FAULT] = FAULT_TID,     [TRACE_PAGECACHE] = PAGECACHE_TID,
	[TRACE_FORK] = FORK_TID,       [TRACE_EXEC] = EXEC_TID,
	[TRACE_EXIT] = EXIT_TID,       [TRACE_FILE] = FILE_ID,
	[TRACE_REQUEST] = REQUEST_TID, [TRACE_BIO] = BIO_TID,
	[TRACE_DEVICE] = DEVICE_DEV,   [TRACE_ASYNC] = SYSCALL_TID,
	[TRACE_PROFILE] = PROFILE_PID, [TRACE_PROFILE_CLASS] = PROFILE_CLASS_PID,
};

/* Values at the edges of widths, signed and unsigned. */
static const uint64_t sample_edges[] = {
	0,
	1,
	127,
	128,
	255,
	256,
	32767,
	32768,
	65535,
	65536,
	2147483647u,
	2147483648u,
	4294967295u,
	4294967296u,
	INT64_MAX,
	1ull << 63,
	UINT64_MAX,
	(uint64_t)-127,
	(uint64_t)-128,
	(uint64_t)-129,
	(uint64_t)-32768,
	(uint64_t)-32769,
	(uint64_t)INT32_MIN,
	(uint64_t)INT32_MIN - 1,
};
#define SAMPLE_EDGES (sizeof(sample_edges) / sizeof(sample_edges[0]))

/* The value of a column in row `number`; the first `reach` edges are used. */
static inline uint64_t sample_value(enum trace_kind kind, uint64_t number, unsigned int column,
				    size_t reach)
{
	if (column == sample_number_column[kind])
		return number;
	if (trace_has_operations(kind) && column == SYSCALL_OP)
		return number % SAMPLE_OPERATIONS;
	return sample_edges[(number * (column + 1) + column) % reach];
}

static inline void sample_row(enum trace_kind kind, uint64_t number, size_t reach, uint64_t *values)
{
	for (unsigned int c = 0; c < trace_schemas[kind].column_count; c++)
		values[c] = sample_value(kind, number, c, reach);
}

/* A file's contents; freed by the caller. */
static inline struct sample_bytes sample_read_fd(int fd)
{
	struct sample_bytes sample = { .length = lseek(fd, 0, SEEK_END) };

	sample.bytes = malloc(sample.length + 1);
	if (!sample.bytes || pread(fd, sample.bytes, sample.length, 0) != (ssize_t)sample.length)
		abort();
	return sample;
}

static inline int sample_memory_file(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

/* Opens a reader on bytes that outlive it. */
static inline struct trace_reader *sample_reader(const void *bytes, size_t length)
{
	struct trace_reader *reader;
	struct trace_error error;

	if (trace_reader_open_memory(&reader, bytes, length, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* Some strings, with arguments {"n": round} after each. */
static inline void sample_strings(struct made_trace *made, size_t round)
{
	static const char strings[][8] = { "/a/b", "\xff\xfe", "\xc3\xa9t\xc3\xa9", "a\0b" };
	const char args[] = { '\x81', '\xa1', 'n', round };

	if (round >= 4)
		return;
	assert_int_equal(made_text(made, strings[round], round == 3 ? 3 : strlen(strings[round])),
			 2 * round + 1);
	assert_int_equal(trace_writer_args(made->writer, args, 4), 2 * round + 2);
}

/*
 * A whole trace: strings of all sorts, arguments after each, and rows of kinds from `first` up to
 * `end`, in `rounds` blocks of `rows` rows each. NULL options are the writer's defaults.
 */
static inline struct sample_bytes sample_trace_of(int first, int end, size_t rows, size_t rounds,
						  size_t reach,
						  const struct trace_writer_options *options)
{
	uint64_t values[TRACE_COLUMNS_MAX];
	struct made_trace made;
	struct sample_bytes sample;

	BEGIN(&made, .header = &sample_header, .writer = options);
	for (size_t round = 0; round < rounds; round++) {
		sample_strings(&made, round);
		for (int kind = first; kind < end; kind++) {
			for (size_t i = 0; i < rows; i++) {
				sample_row(kind, round * rows + i, reach, values);
				made_row(&made, kind, i % 3, values);
			}
		}
		assert_int_equal(trace_writer_flush(made.writer), 0);
	}
	made_finish_as(&made, &sample_totals);
	sample = sample_read_fd(made.fd);
	made_close(&made);
	return sample;
}

/* The same for every kind. */
static inline struct sample_bytes sample_trace(size_t rows, size_t rounds, size_t reach,
					       const struct trace_writer_options *options)
{
	return sample_trace_of(0, TRACE_KIND_COUNT, rows, rounds, reach, options);
}
