/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of I/O that pictures show in different colours: methods, and classes of calls that move
 * no bytes.
 */
#ifndef FAULTLINE_PICTURE_PARTS_H
#define FAULTLINE_PICTURE_PARTS_H

#include "analysis/events/event.h"

enum picture_part {
	PICTURE_READ,	/* read calls through the page cache */
	PICTURE_FAULTS, /* page faults on mapped files, and map calls */
	PICTURE_DIRECT, /* O_DIRECT, reads and writes */
	PICTURE_ASYNC,	/* io_uring and libaio */
	PICTURE_SPLICE, /* sendfile and the like */
	PICTURE_KERNEL, /* by the kernel on a task's behalf */
	PICTURE_WRITE,
	PICTURE_METADATA,
	PICTURE_SYNC,
	PICTURE_PARTS,
};

/* Returns the part of an event of any class but IO_NONE. */
static inline enum picture_part picture_part_of(const struct event *event)
{
	static const uint8_t by_class[] = {
		[IO_READ] = PICTURE_READ,	  [IO_WRITE] = PICTURE_WRITE,
		[IO_METADATA] = PICTURE_METADATA, [IO_SYNC] = PICTURE_SYNC,
		[IO_MMAP_READ] = PICTURE_FAULTS,  [IO_MMAP_WRITE] = PICTURE_FAULTS,
	};

	switch (event->method) {
	case METHOD_DIRECT:
		return PICTURE_DIRECT;
	case METHOD_URING:
	case METHOD_LIBAIO:
		return PICTURE_ASYNC;
	case METHOD_SPLICE:
		return PICTURE_SPLICE;
	case METHOD_KERNEL:
		return PICTURE_KERNEL;
	default:
		return by_class[event->class];
	}
}

#endif
