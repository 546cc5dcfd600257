/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An event as all pictures see it: its stretches of the run, and its kind of I/O. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/job/job.h"
#include "analysis/picture/picture_axis.h"

/* The kinds of I/O in different colours: methods, and classes of calls that move no bytes. */
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

struct picture_event {
	const struct event *event;
	struct picture_stretches over;
	enum device_use use;	/* of a request */
	enum picture_part part; /* unless the class is IO_NONE */
};

static inline struct picture_event
picture_event_of(const struct job *job, const struct picture_axis *axis, const struct event *event)
{
	return (struct picture_event) {
		.event = event,
		.over = picture_stretches_of(axis, event->start, event->end),
		.use = job->operations[event->operation].use,
		.part = event->class == IO_NONE ? PICTURE_PARTS : picture_part_of(event),
	};
}
