/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What time and bytes of operations count as, and by which path they went. Knows nothing of events.
 */
#ifndef FAULTLINE_IO_CLASS_H
#define FAULTLINE_IO_CLASS_H

/* What time and bytes count as. A transfer (sendfile and its like) is two events, a read of the one
 * file and a write of the other: both have its bytes, the first alone its time. */
enum io_class {
	IO_READ, /* calls that read, and what readahead and fadvise brought in */
	IO_WRITE,
	IO_METADATA,
	IO_SYNC,
	IO_MMAP_READ,  /* faults that read the page, private write faults among them, and map calls
			* that brought pages in (populate, mlock, madvise) */
	IO_MMAP_WRITE, /* write faults on shared mappings */
	IO_CLASS_COUNT,
	IO_NONE = IO_CLASS_COUNT,
};

/* How bytes came or went. Each byte has one method. */
enum io_method {
	METHOD_SYSCALL,
	METHOD_DIRECT,
	METHOD_MMAP,
	METHOD_SPLICE,
	METHOD_URING,
	METHOD_LIBAIO,
	METHOD_KERNEL, /* seen by the VFS alone: read and written by the kernel on a task's behalf
			*/
	METHOD_COUNT,
	METHOD_UNKNOWN = METHOD_COUNT, /* of a call whose record was lost */
	METHOD_NONE,
};

/* What they are called, METHOD_UNKNOWN included. */
extern const char *const method_names[METHOD_COUNT + 1];

#endif
