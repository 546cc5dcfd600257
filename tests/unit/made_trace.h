/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A trace made by hand, through the real writer, in memory or in the caller's file: BEGIN, rows in
 * file order, made_finish (or made_abandon, made_finish_as), made_close. Include after cmocka.h.
 */
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/layers.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

#define MADE __attribute__((unused)) static

/* Operations of every made trace, in header order. */
enum {
	M_READ,
	M_PREAD,
	M_WRITE,
	M_OPENAT,
	M_FSTAT,
	M_GETDENTS,
	M_CLOSE,
	M_FSYNC,
	M_MMAP,
	M_SENDFILE,
	M_READAHEAD,
	M_FAULT,
	M_ANONYMOUS,
	M_SHMEM,
	M_PAGECACHE,
	M_DIRTIED,
	M_UNKNOWN,
	M_COMPAT,
	M_FLOCK,
	M_SETLK,
	M_URING,
	M_AIO,
	M_SQPOLL,
	M_THROTTLED,
	M_REQUEST_WRITE,
	M_URING_READ,
	M_URING_WRITE,
	M_REQUEST_READ,
	M_REQUEST_FLUSH,
	M_VFS_READ,
	M_KERNEL_READ,
	M_SPLICE_READ,
	M_SPLICE_WRITE,
	M_APART,
	M_RENAME,
	M_UNLINK,
	M_LINK,
	M_FALLOCATE,
	M_FADVISE,
	M_MADVISE,
	M_FUSE_READ,
	M_FUSE_WRITE,
	M_FUSE_LOOKUP,
	M_FUSE_GETATTR,
	M_NFS_READ,
	M_NFS_WRITE,
	M_NFS_COMMIT,
	M_NFS_ACCESS,
	M_P9_READ,
	M_P9_WRITE,
	M_P9_FSYNC,
	M_P9_WALK,
	M_LSEEK,
	M_MUNMAP,
	M_OPERATIONS
};

static const struct trace_operation made_operations[M_OPERATIONS] = {
	[M_READ] = { "syscall", "read", TRACE_READ },
	[M_PREAD] = { "syscall", "pread64", TRACE_READ },
	[M_WRITE] = { "syscall", "write", TRACE_WRITE },
	[M_OPENAT] = { "syscall", "openat", TRACE_METADATA },
	[M_FSTAT] = { "syscall", "newfstatat", TRACE_METADATA },
	[M_GETDENTS] = { "syscall", "getdents64", TRACE_METADATA },
	[M_CLOSE] = { "syscall", "close", TRACE_METADATA },
	[M_FSYNC] = { "syscall", "fsync", TRACE_SYNC },
	[M_MMAP] = { "syscall", "mmap", TRACE_MAP },
	[M_SENDFILE] = { "syscall", "sendfile", TRACE_TRANSFER },
	[M_READAHEAD] = { "syscall", "readahead", TRACE_ADVICE },
	[M_FAULT] = { "fault", "fault", TRACE_FILEFAULT },
	[M_ANONYMOUS] = { "fault", "anonymous_fault", TRACE_ANONFAULT },
	[M_SHMEM] = { "fault", "shmem_fault", TRACE_ANONFAULT },
	[M_PAGECACHE] = { "pagecache", "pagecache", TRACE_CACHE },
	[M_DIRTIED] = { "fault", "dirtied", TRACE_STORES },
	[M_UNKNOWN] = { "fault", "unknown_fault", TRACE_ANONFAULT },
	[M_COMPAT] = { "syscall", "compat", TRACE_UNDECODED },
	[M_FLOCK] = { "syscall", "flock", TRACE_METADATA },
	[M_SETLK] = { "syscall", "fcntl_setlk", TRACE_METADATA },
	[M_URING] = { "syscall", "io_uring_enter", TRACE_SUBMITS },
	[M_AIO] = { "syscall", "io_submit", TRACE_SUBMITS },
	[M_SQPOLL] = { "syscall", "io_uring_setup_sqpoll", TRACE_SUBMITS },
	[M_THROTTLED] = { "pagecache", "balance_dirty_pages", TRACE_DELAY },
	[M_REQUEST_WRITE] = { "block", "request_write", TRACE_STORAGE },
	[M_URING_READ] = { "async", "io_uring_read", TRACE_READ },
	[M_URING_WRITE] = { "async", "io_uring_write", TRACE_WRITE },
	[M_REQUEST_READ] = { "block", "request_read", TRACE_STORAGE },
	[M_REQUEST_FLUSH] = { "block", "request_flush", TRACE_STORAGE },
	[M_VFS_READ] = { "vfs", "vfs_read", TRACE_READ },
	[M_KERNEL_READ] = { "vfs", "kernel_read", TRACE_KERNEL_READ },
	[M_SPLICE_READ] = { "vfs", "splice_read", TRACE_SPLICE_READ },
	[M_SPLICE_WRITE] = { "vfs", "splice_write", TRACE_SPLICE_WRITE },
	[M_APART] = { "vfs", "vfs_iter_read_apart", TRACE_APART },
	[M_RENAME] = { "syscall", "rename", TRACE_METADATA },
	[M_UNLINK] = { "syscall", "unlink", TRACE_METADATA },
	[M_LINK] = { "syscall", "link", TRACE_METADATA },
	[M_FALLOCATE] = { "syscall", "fallocate", TRACE_METADATA },
	[M_FADVISE] = { "syscall", "fadvise64", TRACE_ADVICE },
	[M_MUNMAP] = { "syscall", "munmap", TRACE_MAP },
	[M_MADVISE] = { "syscall", "madvise", TRACE_MAP },
	[M_FUSE_READ] = { "fuse", "fuse_read", TRACE_SERVED },
	[M_FUSE_WRITE] = { "fuse", "fuse_write", TRACE_SERVED },
	[M_FUSE_LOOKUP] = { "fuse", "fuse_lookup", TRACE_SERVED },
	[M_FUSE_GETATTR] = { "fuse", "fuse_getattr", TRACE_SERVED },
	[M_NFS_READ] = { "nfs", "nfs_read", TRACE_SERVED },
	[M_NFS_WRITE] = { "nfs", "nfs_write", TRACE_SERVED },
	[M_NFS_COMMIT] = { "nfs", "nfs_commit", TRACE_SERVED },
	[M_NFS_ACCESS] = { "nfs", "nfs_access", TRACE_SERVED },
	[M_P9_READ] = { "9p", "9p_read", TRACE_SERVED },
	[M_P9_WRITE] = { "9p", "9p_write", TRACE_SERVED },
	[M_P9_FSYNC] = { "9p", "9p_fsync", TRACE_SERVED },
	[M_P9_WALK] = { "9p", "9p_walk", TRACE_SERVED },
	[M_LSEEK] = { "syscall", "lseek", TRACE_METADATA },
};

/* Options of a made trace; zeros are the defaults. */
struct made_options {
	const char *host, *boot_id, *kernel;
	uint64_t monotonic_ns, realtime_ns, memory_bytes, cpu_milli, page_bytes;
	const char *off;  /* a layer that is off */
	const char *mode; /* NULL: "trace" */
	bool spans;	  /* enables the span layer */
	bool block;	  /* enables the block layer */
	bool async;	  /* enables it and the io_uring and libaio layer */
	bool vfs;	  /* enables all of these and the VFS layer */
	bool threads;	  /* enables the thread layer */
	bool stacks;	  /* enables the stack layer */
	bool fuse;	  /* enables the FUSE layer */
	bool nfs;	  /* enables the NFS layer */
	bool p9;	  /* enables the 9p layer */
	bool netfs;	  /* enables the netfs layer */
	const char *const *command;
	unsigned int lanes;
	const struct trace_writer_options *writer; /* replaces `lanes` */
	int fd; /* output file, owned by the maker from then on; 0: memory */
	/* The whole header, which replaces all of the above except the writer's options. */
	const struct trace_header *header;
	/*
	 * The trace's operations, as numbers of the list above. NULL: all of them or, with
	 * `header`, the header's own, which only made_row can use.
	 */
	const uint8_t *operations;
	size_t operation_count;
};

struct made_trace {
	int fd;
	unsigned int lane; /* CPU buffer for later rows that name none */
	struct trace_writer *writer;
	struct trace_layer layers[LAYER_COUNT];
	struct trace_operation known[M_OPERATIONS]; /* in header order */
	size_t known_count;
	uint8_t number[M_OPERATIONS]; /* header index of an operation; M_OPERATIONS: absent */
	/*
	 * Kernel counts, indexed by the enum above: add to them to simulate loss. The end of the
	 * trace holds the header's operations, in its order.
	 */
	struct trace_operation_total operations[M_OPERATIONS];
	struct trace_kind_total kinds[TRACE_KIND_COUNT];
	struct trace_totals totals;
	struct trace_operation_total ended[M_OPERATIONS];
	const uint64_t *survivors;
	void *bytes;
	size_t length;
	struct trace_reader *reader;
};

#define BEGIN(made, ...) made_begin(made, &(struct made_options) { __VA_ARGS__ })

/* Sets the trace's operations and their numbers. */
MADE void made_know(struct made_trace *made, const struct made_options *options)
{
	made->known_count = options->operations ? options->operation_count : M_OPERATIONS;
	memset(made->number, M_OPERATIONS, sizeof(made->number));
	for (size_t i = 0; i < made->known_count; i++) {
		unsigned int op = options->operations ? options->operations[i] : i;

		made->known[i] = made_operations[op];
		made->number[op] = i;
	}
}

MADE void made_begin(struct made_trace *made, const struct made_options *options)
{
	static const char *const layers[] = { "task", "syscall", "fault", "pagecache",
					      "span", "block",	 "async", "vfs" };
	const struct trace_writer_options writer_options = { .lanes = options->lanes };
	struct trace_header header = {
		.version = TRACE_VERSION,
		.tool = "test",
		.host = options->host ? options->host : "node1",
		.boot_id = options->boot_id ? options->boot_id : "boot1",
		.kernel = options->kernel ? options->kernel : "6.1.0",
		.machine = "x86_64",
		.page_bytes = options->page_bytes ? options->page_bytes : 4096,
		.cpus = 2,
		.memory_bytes = options->memory_bytes,
		.cpu_milli = options->cpu_milli,
		.clock_monotonic_ns = options->monotonic_ns,
		.clock_realtime_ns =
			options->realtime_ns ? options->realtime_ns : options->monotonic_ns,
		.mode = options->mode ? options->mode : "trace",
		.command = options->command,
		.layers = made->layers,
		.layer_count = options->vfs	? 8
			       : options->async ? 7
			       : options->block ? 6
			       : options->spans ? 5
						: 4,
	};

	memset(made, 0, sizeof(*made));
	made_know(made, options);
	for (size_t i = 0; i < header.layer_count; i++) {
		bool off = (options->off && !strcmp(options->off, layers[i])) ||
			   (!options->spans && !strcmp(layers[i], "span"));

		made->layers[i] = (struct trace_layer) { layers[i], !off, off ? NULL : "tp_btf",
							 off ? "not asked for" : NULL };
	}
	if (options->threads)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "thread", true, "tp_btf", NULL };
	if (options->stacks)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "stack", true, "tp_btf", NULL };
	if (options->fuse)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "fuse", true, "tp_btf", NULL };
	if (options->nfs)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "nfs", true, "raw_tp", NULL };
	if (options->p9)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "9p", true, "tp_btf", NULL };
	if (options->netfs)
		made->layers[header.layer_count++] =
			(struct trace_layer) { "netfs", true, "tp_btf", NULL };
	for (size_t i = 0; i < TRACE_KIND_COUNT; i++)
		made->kinds[i] = (struct trace_kind_total) { .kind = trace_schemas[i].kind,
							     .layer = trace_schemas[i].layer };
	if (options->header)
		header = *options->header;
	if (!options->header || options->operations) {
		header.operations = made->known;
		header.operation_count = made->known_count;
	}
	made->fd = options->fd ? options->fd : memfd_create("made trace", MFD_CLOEXEC);
	assert_true(made->fd >= 0);
	assert_int_equal(trace_writer_open(&made->writer, made->fd, &header,
					   options->writer ? options->writer : &writer_options),
			 0);
}

/* The number of an operation in this trace. */
MADE uint64_t made_op(const struct made_trace *made, uint64_t op)
{
	assert_true(op < M_OPERATIONS && made->number[op] < M_OPERATIONS);
	return made->number[op];
}

/* A text as a row holds it: NULL has no ID, and any other text except the empty one has one. */
MADE uint64_t made_text(struct made_trace *made, const char *text, size_t length)
{
	uint64_t id = text ? trace_writer_string(made->writer, text, length) : 0;

	assert_true(id || !text || !length);
	return id;
}

MADE uint64_t made_string(struct made_trace *made, const char *text)
{
	return made_text(made, text, text ? strlen(text) : 0);
}

/* Appends a raw row. The caller updates its operation's total. */
MADE void made_row(struct made_trace *made, enum trace_kind kind, unsigned int lane,
		   const uint64_t *values)
{
	assert_int_equal(trace_writer_append(made->writer, kind, lane, values), 0);
	made->kinds[kind].events++;
	made->kinds[kind].written++;
}

/* Opens what was written so far. */
MADE struct trace_reader *made_open(struct made_trace *made)
{
	struct trace_error error = { "" };
	struct stat stat;

	trace_writer_close(made->writer);
	made->writer = NULL;
	assert_int_equal(fstat(made->fd, &stat), 0);
	made->length = stat.st_size;
	made->bytes = mmap(NULL, made->length, PROT_READ, MAP_PRIVATE, made->fd, 0);
	assert_true(made->bytes != MAP_FAILED);
	if (trace_reader_open_memory(&made->reader, made->bytes, made->length, &error))
		fail_msg("%s", error.text);
	return made->reader;
}

/* Ends a trace with the caller's totals, whatever its rows. */
MADE struct trace_reader *made_finish_as(struct made_trace *made, const struct trace_totals *totals)
{
	assert_int_equal(trace_writer_finish(made->writer, totals), 0);
	return made_open(made);
}

/* Ends a trace with its totals; the run lasted from start to end. */
MADE struct trace_reader *made_finish(struct made_trace *made, uint64_t start_ns, uint64_t end_ns)
{
	made->totals.start_ns = start_ns;
	made->totals.end_ns = end_ns;
	for (size_t op = 0; op < M_OPERATIONS; op++)
		if (made->number[op] < M_OPERATIONS)
			made->ended[made->number[op]] = made->operations[op];
	made->totals.operations = made->ended;
	made->totals.operation_count = made->known_count;
	made->totals.kinds = made->kinds;
	made->totals.kind_count = TRACE_KIND_COUNT;
	return made_finish_as(made, &made->totals);
}

/* Leaves a trace unfinished, as a killed tracer does. */
MADE struct trace_reader *made_abandon(struct made_trace *made)
{
	assert_int_equal(trace_writer_flush(made->writer), 0);
	return made_open(made);
}

MADE void made_close(struct made_trace *made)
{
	trace_reader_close(made->reader);
	munmap(made->bytes, made->length);
	close(made->fd);
}

/* Writes a finished trace to a file. Returns 0, or 1. */
MADE int made_leave(const struct made_trace *made, const char *path)
{
	FILE *file = fopen(path, "w");
	size_t written;

	if (!file)
		return 1;
	written = fwrite(made->bytes, 1, made->length, file);
	return fclose(file) || written != made->length;
}
