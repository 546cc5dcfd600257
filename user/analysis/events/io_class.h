/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Classes of time and bytes, and access methods. */
#pragma once

/* What time and bytes count as. A transfer (sendfile and the like) is two events, a read of one
 * file and a write of the other: both have its bytes, only the read has its time. */
enum io_class {
	IO_READ, /* calls that read, and pages fetched by readahead and fadvise */
	IO_WRITE,
	IO_METADATA,
	IO_SYNC,
	IO_MMAP_READ,  /* faults that read the page, including private write faults, and map calls
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
	METHOD_KERNEL, /* seen only by the VFS: read or written by the kernel on a task's behalf */
	METHOD_COUNT,
	METHOD_UNKNOWN = METHOD_COUNT, /* for a call whose record was lost */
	METHOD_NONE,
};

/* Names of the methods, including METHOD_UNKNOWN. */
extern const char *const method_names[METHOD_COUNT + 1];
