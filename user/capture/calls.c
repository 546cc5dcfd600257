/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of system calls. Knows nothing of how the kernel side uses it.
 */
#include "capture/calls.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

struct call {
	struct trace_operation operation;
	int number;
	struct call_row row;
};

#define CALL(call_name, call_family, ...)                                                          \
	{                                                                                          \
		{ "syscall", #call_name, call_family }, __NR_##call_name,                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* Argument numbers count from 1. An operation's number is its place in this table: append only
 * matters within one trace, which carries the names. */
static const struct call call_table[] = {
	/* bytes in and out */
	CALL(read, TRACE_READ, .fd = 1, .length = 3, .traits = CALL_FPOS | CALL_BYTES),
	CALL(pread64, TRACE_READ, .fd = 1, .length = 3, .offset = 4, .traits = CALL_BYTES),
	CALL(readv, TRACE_READ, .fd = 1, .length = 2,
	     .traits = CALL_FPOS | CALL_VECTOR | CALL_BYTES),
	CALL(preadv, TRACE_READ, .fd = 1, .length = 2, .offset = 4,
	     .traits = CALL_VECTOR | CALL_BYTES),
	CALL(preadv2, TRACE_READ, .fd = 1, .length = 2, .offset = 4,
	     .traits = CALL_FPOS | CALL_VECTOR | CALL_BYTES),
	CALL(write, TRACE_WRITE, .fd = 1, .length = 3,
	     .traits = CALL_FPOS | CALL_BYTES | CALL_WRITES),
	CALL(pwrite64, TRACE_WRITE, .fd = 1, .length = 3, .offset = 4,
	     .traits = CALL_BYTES | CALL_WRITES),
	CALL(writev, TRACE_WRITE, .fd = 1, .length = 2,
	     .traits = CALL_FPOS | CALL_VECTOR | CALL_BYTES | CALL_WRITES),
	CALL(pwritev, TRACE_WRITE, .fd = 1, .length = 2, .offset = 4,
	     .traits = CALL_VECTOR | CALL_BYTES | CALL_WRITES),
	CALL(pwritev2, TRACE_WRITE, .fd = 1, .length = 2, .offset = 4,
	     .traits = CALL_FPOS | CALL_VECTOR | CALL_BYTES | CALL_WRITES),

	/* from file to file */
	CALL(sendfile, TRACE_TRANSFER, .fd = 2, .fd2 = 1, .offset = 3, .length = 4,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),
	CALL(splice, TRACE_TRANSFER, .fd = 1, .fd2 = 3, .offset = 2, .length = 5,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),
	CALL(copy_file_range, TRACE_TRANSFER, .fd = 1, .fd2 = 3, .offset = 2, .length = 5,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),

	/* opening and closing */
	CALL(openat, TRACE_METADATA, .path_dir = 1, .path = 2, .length = 3,
	     .traits = CALL_OPENS | CALL_OPEN_FLAGS),
	CALL(openat2, TRACE_METADATA, .path_dir = 1, .path = 2,
	     .traits = CALL_OPENS | CALL_OPEN_HOW),
	CALL(close, TRACE_METADATA, .fd = 1, .traits = CALL_CLOSES),

	/* looking at files and directories */
	CALL(fstat, TRACE_METADATA, .fd = 1),
	CALL(newfstatat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(statx, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(faccessat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(faccessat2, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(readlinkat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(getdents64, TRACE_METADATA, .fd = 1, .length = 3),
	CALL(lseek, TRACE_METADATA, .fd = 1, .traits = CALL_SEEK),

	/* changing them */
	CALL(ftruncate, TRACE_METADATA, .fd = 1, .length = 2),
	CALL(truncate, TRACE_METADATA, .path = 1, .length = 2),
	CALL(fallocate, TRACE_METADATA, .fd = 1, .offset = 3, .length = 4),
	CALL(renameat, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(renameat2, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(unlinkat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(mkdirat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(linkat, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(symlinkat, TRACE_METADATA, .path_dir = 2, .path = 3),

	/* bringing them to the disk */
	CALL(fsync, TRACE_SYNC, .fd = 1),
	CALL(fdatasync, TRACE_SYNC, .fd = 1),
	CALL(msync, TRACE_SYNC, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(sync_file_range, TRACE_SYNC, .fd = 1, .offset = 2, .length = 3),
	CALL(syncfs, TRACE_SYNC, .fd = 1),

	/* mapping them */
	CALL(mmap, TRACE_MAP, .fd = 5, .offset = 6, .length = 2, .traits = CALL_MMAP),
	CALL(munmap, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(mremap, TRACE_MAP, .fd = 1, .length = 3, .traits = CALL_MAP),
	CALL(madvise, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP | CALL_MADVISE),
	CALL(mlock, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(mlock2, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),

	/* telling the kernel what will be read */
	CALL(fadvise64, TRACE_ADVICE, .fd = 1, .offset = 2, .length = 3),
	CALL(readahead, TRACE_ADVICE, .fd = 1, .offset = 2, .length = 3),

#ifdef __NR_open /* the older half, which arm64 does without */
	CALL(open, TRACE_METADATA, .path = 1, .length = 2, .traits = CALL_OPENS | CALL_OPEN_FLAGS),
	CALL(creat, TRACE_METADATA, .path = 1, .traits = CALL_OPENS),
	CALL(stat, TRACE_METADATA, .path = 1),
	CALL(lstat, TRACE_METADATA, .path = 1),
	CALL(access, TRACE_METADATA, .path = 1),
	CALL(readlink, TRACE_METADATA, .path = 1),
	CALL(getdents, TRACE_METADATA, .fd = 1, .length = 3),
	CALL(rename, TRACE_METADATA, .path = 1, .path2 = 2),
	CALL(unlink, TRACE_METADATA, .path = 1),
	CALL(mkdir, TRACE_METADATA, .path = 1),
	CALL(rmdir, TRACE_METADATA, .path = 1),
	CALL(link, TRACE_METADATA, .path = 1, .path2 = 2),
	CALL(symlink, TRACE_METADATA, .path = 2),
#endif
};
#define CALL_COUNT (sizeof(call_table) / sizeof(call_table[0]))

static_assert(OP_FIRST_CALL + CALL_COUNT <= OP_TABLE_SIZE, "raise OP_TABLE_SIZE");

const struct trace_operation *calls_operations(size_t *count)
{
	static struct trace_operation operations[OP_FIRST_CALL + CALL_COUNT] = {
		[OP_NONE] = { "none", "none", TRACE_UNDECODED },
		[OP_UNDECODED] = { "syscall", "compat", TRACE_UNDECODED },
		[OP_FAULT] = { "fault", "fault", TRACE_FILEFAULT },
		[OP_ANONYMOUS_FAULT] = { "fault", "anonymous_fault", TRACE_ANONFAULT },
		[OP_SHMEM_FAULT] = { "fault", "shmem_fault", TRACE_ANONFAULT },
		[OP_UNKNOWN_FAULT] = { "fault", "unknown_fault", TRACE_ANONFAULT },
		[OP_PAGECACHE] = { "pagecache", "add_to_page_cache", TRACE_CACHE },
	};

	for (size_t i = 0; i < CALL_COUNT; i++)
		operations[OP_FIRST_CALL + i] = call_table[i].operation;
	*count = OP_FIRST_CALL + CALL_COUNT;
	return operations;
}

/* A descriptor first, a length third or none, an offset fourth or none, and nothing else. */
static bool is_plain(const struct call_row *row)
{
	const unsigned int known = CALL_FPOS | CALL_BYTES | CALL_CLOSES | CALL_WRITES;

	return row->fd == 1 && !row->fd2 && !row->path && !row->path2 &&
	       (!row->length || row->length == 3) && (!row->offset || row->offset == 4) &&
	       !(row->offset && row->traits & CALL_FPOS) && !(row->traits & ~known);
}

void calls_fill(struct call_row *rows)
{
	memset(rows, 0, CALL_TABLE_SIZE * sizeof(*rows));
	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call *call = &call_table[i];

		if (call->number < 0 || call->number >= CALL_TABLE_SIZE)
			continue;
		rows[call->number] = call->row;
		rows[call->number].op = OP_FIRST_CALL + i;
		if (is_plain(&call->row))
			rows[call->number].traits |= CALL_PLAIN;
	}
}
