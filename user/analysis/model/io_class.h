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

/* How bytes came or went. Each byte has one door. */
enum io_door {
	DOOR_SYSCALL,
	DOOR_DIRECT,
	DOOR_MMAP,
	DOOR_SPLICE,
	DOOR_URING,
	DOOR_LIBAIO,
	DOOR_KERNEL, /* seen by the VFS alone: read and written by the kernel on a task's behalf */
	DOOR_COUNT,
	DOOR_UNKNOWN = DOOR_COUNT, /* of a call whose record was lost */
	DOOR_NONE,
};

/* What they are called, DOOR_UNKNOWN included. */
extern const char *const door_names[DOOR_COUNT + 1];

#endif
