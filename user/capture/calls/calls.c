/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of system calls. */
#include "capture/calls/calls.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/calls/async_calls.h"

/* Newer than some build headers; the same on all architectures. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif

struct call {
	struct trace_operation operation;
	int number;
	struct call_row row;
	bool by_request;  /* one of several operations with this number: */
	uint32_t request; /* its value of argument `row.request` */
};

#define CALL(call_name, call_family, ...)                                                          \
	{                                                                                          \
		.operation = { "syscall", #call_name, call_family }, .number = __NR_##call_name,   \
		.row = { __VA_ARGS__ }                                                             \
	}

/* One request of a call, named after its manual page. */
#define REQUEST(call, call_name, call_family, value, ...)                                          \
	{                                                                                          \
		.operation = { "syscall", call_name, call_family }, .number = __NR_##call,         \
		.row = { __VA_ARGS__ }, .by_request = true, .request = value                       \
	}

/* Argument numbers count from 1. An operation's number is its index in this table; it only has to
 * be stable within one trace, which carries the names. */
static const struct call call_table[] = {
	/* reads and writes */
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
	     .traits = CALL_FPOS | CALL_VECTOR | CALL_BYTES | CALL_WRITES | CALL_WRITE_FLAGS),

	/* transfers between files */
	CALL(sendfile, TRACE_TRANSFER, .fd = 2, .fd2 = 1, .offset = 3, .length = 4,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),
	CALL(splice, TRACE_TRANSFER, .fd = 1, .fd2 = 3, .offset = 2, .length = 5,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),
	CALL(copy_file_range, TRACE_TRANSFER, .fd = 1, .fd2 = 3, .offset = 2, .length = 5,
	     .traits = CALL_TRANSFER | CALL_OFFSET_PTR | CALL_FPOS | CALL_BYTES),
	CALL(tee, TRACE_TRANSFER, .fd = 1, .fd2 = 2, .length = 3,
	     .traits = CALL_TRANSFER | CALL_BYTES),
	CALL(vmsplice, TRACE_WRITE, .fd = 1, .length = 2, .traits = CALL_VECTOR | CALL_BYTES),

	/* opening and closing */
	CALL(openat, TRACE_METADATA, .path_dir = 1, .path = 2, .length = 3,
	     .traits = CALL_OPENS | CALL_OPEN_FLAGS),
	CALL(openat2, TRACE_METADATA, .path_dir = 1, .path = 2,
	     .traits = CALL_OPENS | CALL_OPEN_HOW),
	CALL(close, TRACE_METADATA, .fd = 1, .traits = CALL_CLOSES),
	CALL(close_range, TRACE_METADATA, ), /* many files, each of which may need a flush */
	CALL(name_to_handle_at, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(open_by_handle_at, TRACE_METADATA, .length = 3,
	     .traits = CALL_OPENS | CALL_OPEN_FLAGS),

	/* executing files */
	CALL(execve, TRACE_METADATA, .path = 1, .traits = CALL_EXECS),
	CALL(execveat, TRACE_METADATA, .path_dir = 1, .path = 2, .traits = CALL_EXECS),

	/* inspecting files and directories */
	CALL(fstat, TRACE_METADATA, .fd = 1),
	CALL(newfstatat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(statx, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(faccessat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(faccessat2, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(readlinkat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(getdents64, TRACE_METADATA, .fd = 1, .length = 3),
	CALL(lseek, TRACE_METADATA, .fd = 1, .traits = CALL_SEEK),
	CALL(fstatfs, TRACE_METADATA, .fd = 1),
	CALL(statfs, TRACE_METADATA, .path = 1),

	/* changing files and directories */
	CALL(ftruncate, TRACE_METADATA, .fd = 1, .length = 2),
	CALL(truncate, TRACE_METADATA, .path = 1, .length = 2),
	CALL(fallocate, TRACE_METADATA, .fd = 1, .offset = 3, .length = 4),
	CALL(renameat, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(renameat2, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(unlinkat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(mkdirat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(linkat, TRACE_METADATA, .path_dir = 1, .path = 2, .path2_dir = 3, .path2 = 4),
	CALL(symlinkat, TRACE_METADATA, .path_dir = 2, .path = 3),

	CALL(mknodat, TRACE_METADATA, .path_dir = 1, .path = 2),

	/* metadata: owner, permissions, times, attributes */
	CALL(fchmod, TRACE_METADATA, .fd = 1),
	CALL(fchmodat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(fchmodat2, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(fchown, TRACE_METADATA, .fd = 1),
	CALL(fchownat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(utimensat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(fsetxattr, TRACE_METADATA, .fd = 1),
	CALL(fgetxattr, TRACE_METADATA, .fd = 1),
	CALL(flistxattr, TRACE_METADATA, .fd = 1),
	CALL(fremovexattr, TRACE_METADATA, .fd = 1),
	CALL(setxattr, TRACE_METADATA, .path = 1),
	CALL(getxattr, TRACE_METADATA, .path = 1),
	CALL(listxattr, TRACE_METADATA, .path = 1),
	CALL(removexattr, TRACE_METADATA, .path = 1),
	CALL(lsetxattr, TRACE_METADATA, .path = 1),
	CALL(lgetxattr, TRACE_METADATA, .path = 1),
	CALL(llistxattr, TRACE_METADATA, .path = 1),
	CALL(lremovexattr, TRACE_METADATA, .path = 1),
	CALL(setxattrat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(getxattrat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(listxattrat, TRACE_METADATA, .path_dir = 1, .path = 2),
	CALL(removexattrat, TRACE_METADATA, .path_dir = 1, .path = 2),

	/* sharing another file's blocks */
	REQUEST(ioctl, "ioctl_ficlone", TRACE_METADATA, FICLONE, .fd = 1, .request = 2),
	REQUEST(ioctl, "ioctl_ficlonerange", TRACE_METADATA, FICLONERANGE, .fd = 1, .request = 2),
	REQUEST(ioctl, "ioctl_fideduperange", TRACE_METADATA, FIDEDUPERANGE, .fd = 1, .request = 2),

	/* file locks: jobs on a shared file system may wait long for each other */
	CALL(flock, TRACE_METADATA, .fd = 1, .traits = CALL_FLOCK),
	REQUEST(fcntl, "fcntl_getlk", TRACE_METADATA, F_GETLK, .fd = 1, .request = 2),
	REQUEST(fcntl, "fcntl_setlk", TRACE_METADATA, F_SETLK, .fd = 1, .request = 2),
	REQUEST(fcntl, "fcntl_setlkw", TRACE_METADATA, F_SETLKW, .fd = 1, .request = 2,
		.traits = CALL_LOCK_WAITS),
	REQUEST(fcntl, "fcntl_ofd_getlk", TRACE_METADATA, F_OFD_GETLK, .fd = 1, .request = 2),
	REQUEST(fcntl, "fcntl_ofd_setlk", TRACE_METADATA, F_OFD_SETLK, .fd = 1, .request = 2),
	REQUEST(fcntl, "fcntl_ofd_setlkw", TRACE_METADATA, F_OFD_SETLKW, .fd = 1, .request = 2,
		.traits = CALL_LOCK_WAITS),

	/* submitting asynchronous operations and collecting their results */
	CALL(io_submit, TRACE_SUBMITS, .traits = CALL_SUBMITS | CALL_AIO_SUBMIT),
	CALL(io_getevents, TRACE_SUBMITS, .traits = CALL_AIO_REAP),
	CALL(io_pgetevents, TRACE_SUBMITS, .traits = CALL_AIO_REAP),
	CALL(io_uring_enter, TRACE_SUBMITS, .traits = CALL_SUBMITS),
	REQUEST(io_uring_setup, "io_uring_setup", TRACE_SUBMITS, 0, .request = 2,
		.traits = CALL_RING),
	REQUEST(io_uring_setup, "io_uring_setup_sqpoll", TRACE_SUBMITS, IORING_SETUP_SQPOLL,
		.request = 2, .traits = CALL_RING),

	/* syncing to disk */
	CALL(fsync, TRACE_SYNC, .fd = 1),
	CALL(fdatasync, TRACE_SYNC, .fd = 1),
	CALL(msync, TRACE_SYNC, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(sync_file_range, TRACE_SYNC, .fd = 1, .offset = 2, .length = 3),
	CALL(syncfs, TRACE_SYNC, .fd = 1),
	CALL(sync, TRACE_SYNC, ), /* all file systems: no file */

	/* mapping files */
	CALL(mmap, TRACE_MAP, .fd = 5, .offset = 6, .length = 2, .traits = CALL_MMAP),
	CALL(munmap, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(mremap, TRACE_MAP, .fd = 1, .length = 3, .traits = CALL_MAP),
	CALL(madvise, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP | CALL_ADVISES),
	CALL(mlock, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),
	CALL(mlock2, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),

	CALL(remap_file_pages, TRACE_MAP, .fd = 1, .length = 2, .traits = CALL_MAP),

	/* all mappings, or another process's: no file of their own, but the pages they fetch have
	 * one */
	CALL(mlockall, TRACE_MAP, .traits = CALL_MAPS_ANY),
	CALL(process_madvise, TRACE_MAP, .traits = CALL_MAPS_ANY),
	CALL(process_vm_readv, TRACE_MAP, .traits = CALL_MAPS_ANY),
	CALL(process_vm_writev, TRACE_MAP, .traits = CALL_MAPS_ANY),

	/* read hints */
	CALL(fadvise64, TRACE_ADVICE, .fd = 1, .offset = 2, .length = 3, .traits = CALL_ADVISES),
	CALL(readahead, TRACE_ADVICE, .fd = 1, .offset = 2, .length = 3),

#ifdef __NR_open /* legacy calls, which arm64 lacks */
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
	CALL(mknod, TRACE_METADATA, .path = 1),
	CALL(chmod, TRACE_METADATA, .path = 1),
	CALL(chown, TRACE_METADATA, .path = 1),
	CALL(lchown, TRACE_METADATA, .path = 1),
	CALL(utime, TRACE_METADATA, .path = 1),
	CALL(utimes, TRACE_METADATA, .path = 1),
	CALL(futimesat, TRACE_METADATA, .path_dir = 1, .path = 2),
#endif
};
#define CALL_COUNT (sizeof(call_table) / sizeof(call_table[0]))

#define OP_FIRST_ASYNC (OP_FIRST_CALL + CALL_COUNT)

static_assert(OP_FIRST_ASYNC + ASYNC_OPERATIONS_MAX <= OP_PROFILED_SIZE, "raise OP_PROFILED_SIZE");
static_assert(OP_COUNT <= OP_TABLE_SIZE, "raise OP_TABLE_SIZE");

static struct trace_operation operations[OP_COUNT] = {
	[OP_NONE] = { "none", "none", TRACE_UNDECODED },
	[OP_UNDECODED] = { "syscall", "compat", TRACE_UNDECODED },
	[OP_FAULT] = { "fault", "fault", TRACE_FILEFAULT },
	[OP_ANONYMOUS_FAULT] = { "fault", "anonymous_fault", TRACE_ANONFAULT },
	[OP_SHMEM_FAULT] = { "fault", "shmem_fault", TRACE_ANONFAULT },
	[OP_UNKNOWN_FAULT] = { "fault", "unknown_fault", TRACE_ANONFAULT },
	[OP_DIRTIED] = { "fault", "dirtied", TRACE_STORES },
	[OP_THROTTLED] = { "pagecache", "balance_dirty_pages", TRACE_DELAY },
	[OP_REQUEST_READ] = { "block", "request_read", TRACE_STORAGE },
	[OP_REQUEST_WRITE] = { "block", "request_write", TRACE_STORAGE },
	[OP_REQUEST_DISCARD] = { "block", "request_discard", TRACE_STORAGE },
	[OP_REQUEST_FLUSH] = { "block", "request_flush", TRACE_STORAGE },
	[OP_INDIRECT] = { "pagecache", "indirect", TRACE_INDIRECT },
	[OP_PAGECACHE] = { "pagecache", "add_to_page_cache", TRACE_CACHE },
#define VFS(id, name, family)                                                                      \
	[OP_VFS + VFS_##id] = { "vfs", name, family },                                             \
		  [OP_VFS_APART + VFS_##id] = { "vfs", name "_apart", TRACE_APART },
	VFS_OPERATIONS(VFS)
#undef VFS
#define SERVED_OPERATION(number, layer, name) [number] = { layer, name, TRACE_SERVED },
#define SERVED_OPERATIONS(id, ...) id##_OPERATIONS(id##_OPERATION)
		TRACE_SERVER_LAYERS(SERVED_OPERATIONS)
};

unsigned int calls_first_async(void)
{
	return OP_FIRST_ASYNC;
}

bool calls_submits(unsigned int number)
{
	return number >= OP_FIRST_CALL && number < OP_FIRST_ASYNC &&
	       call_table[number - OP_FIRST_CALL].row.traits & CALL_SUBMITS;
}

void calls_leave_out(unsigned int number)
{
	operations[number] = operations[OP_NONE];
}

static void fill_operations(void)
{
	size_t async_count;
	const struct trace_operation *async = async_operations(&async_count);

	for (size_t i = 0; i < CALL_COUNT; i++)
		operations[OP_FIRST_CALL + i] = call_table[i].operation;
	for (size_t i = 0; i < async_count; i++)
		operations[OP_FIRST_ASYNC + i] = async[i];
	for (size_t i = 0; i < OP_COUNT; i++)
		if (!operations[i].name)
			operations[i] = operations[OP_NONE];
}

/* Filled once: several threads read the table, one of them for each event. */
const struct trace_operation *calls_operations(size_t *count)
{
	static pthread_once_t filled = PTHREAD_ONCE_INIT;

	pthread_once(&filled, fill_operations);
	*count = OP_COUNT;
	return operations;
}

/* Whether the call takes only a descriptor first and, optionally, a length third and an offset
 * fourth. */
static bool is_plain(const struct call_row *row)
{
	const unsigned int known = CALL_FPOS | CALL_BYTES | CALL_CLOSES | CALL_WRITES;

	return row->fd == 1 && !row->fd2 && !row->request && !row->path && !row->path2 &&
	       (!row->length || row->length == 3) && (!row->offset || row->offset == 4) &&
	       !(row->offset && row->traits & CALL_FPOS) && !(row->traits & ~known);
}

void calls_fill(struct call_row *rows, struct call_request *requests)
{
	size_t request_count = 0;

	memset(rows, 0, CALL_TABLE_SIZE * sizeof(*rows));
	memset(requests, 0, CALL_REQUESTS * sizeof(*requests));
	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call *call = &call_table[i];
		struct call_row *row;

		if (call->number < 0 || call->number >= CALL_TABLE_SIZE)
			continue;
		row = &rows[call->number];
		*row = call->row;
		row->op = OP_FIRST_CALL + i;
		if (is_plain(row))
			row->traits |= CALL_PLAIN;
		if (call->operation.family == TRACE_MAP)
			row->traits |= CALL_MEMORY;
		if (!call->by_request || request_count == CALL_REQUESTS)
			continue;
		requests[request_count++] = (struct call_request) {
			.number = call->number,
			.request = call->request,
			.row = *row,
		};
		row->traits |= CALL_REQUEST;
	}
}
