/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order in which a file was accessed.
 *
 * An access is sequential if it starts at or past the end of the previous one, consecutive (a kind
 * of sequential) if it starts exactly there, and random if it starts before. The first access is
 * none of these. The terms are Darshan's (POSIX_SEQ_READS, POSIX_CONSEC_READS). "Previous" means by
 * the same process and through the same open file (POSIX: open file description; duplicates share
 * one), reads and writes together. Where the trace does not identify open files, all open files of
 * a file count as one. Faults are tracked separately, by process and file.
 *
 * Reads are also compared with the previous read only: a database that is read anywhere and
 * appended to is read at random, however often it is written. Only files that are both read and
 * written pay for this.
 */
#pragma once

#include "analysis/files/file_use.h"
#include "base/number.h"

/* Returns the position of the event's process in the file; NULL if out of memory. */
struct position *file_order_position(struct file_uses *uses, struct file_use *use,
				     const struct event *event);
/* Adds an event that reads, writes or faults; ignores events without a position in the file. */
void file_order_add(struct file_uses *uses, struct file_use *use, struct position *position,
		    const struct event *event);

/* The process opened the file, or closed a descriptor of it. */
void file_order_open(struct file_uses *uses, struct position *position, const struct event *event);
void file_order_close(struct position *position, const struct event *event);

/* An access ends at byte `end` of its file: if it moved any byte, the file is at least that
 * large. */
void file_order_reach(const struct file_uses *uses, uint64_t *furthest, uint64_t end,
		      const struct event *event);

/* --- hot paths --- */

/* Whether the event ended after the file's size was last recorded: earlier accesses say nothing
 * about that size. */
static inline bool file_order_is_later(const struct file_uses *uses, const struct event *event)
{
	const struct file *file = &uses->job->files.files[event->file];

	return event->end >= clock_shifted(uses->job->traces[file->trace].clock, file->time);
}

static inline void file_order_add_pattern(uint64_t patterns[PATTERNS], uint64_t expected,
					  uint64_t offset)
{
	patterns[SEQUENTIAL] += offset >= expected;
	patterns[CONSECUTIVE] += offset == expected;
	patterns[RANDOM] += offset < expected;
}

/* Adds a call to its stream; *next is the position of its process. */
static inline void file_order_follow(struct order *order, struct stream *stream, uint64_t *next,
				     const struct event *event)
{
	const uint64_t at = event->offset;

	if (*next)
		file_order_add_pattern(order->patterns, *next - 1, at);
	order->known += stream->next > 0;
	order->back += at + 1 < stream->next;
	*next = stream->next = number_add(at + 1, event->bytes); /* offsets are 63 bits wide */
}

/* Identifies the order that an access continues: that of its thread, or of its thread and open file
 * if the process has the file open several times. */
static inline uint32_t file_order_stream_key(const struct position *position,
					     const struct event *event)
{
	return position->several ? event->thread ^ event->open_file : event->thread;
}

/* `thread` is a file_order_stream_key. Returns NULL if out of memory. */
static inline struct stream *file_order_stream(struct file_uses *uses, struct order *order,
					       uint32_t thread)
{
	struct stream *stream;

	if (!order->first.next)
		order->first.thread = thread;
	if (order->first.thread == thread)
		return &order->first;
	if (!order->others)
		order->others = arena_alloc(uses->arena, STREAMS * sizeof(*order->others));
	if (!order->others)
		return NULL;
	stream = &order->others[thread % STREAMS];
	if (stream->thread != thread)
		*stream = (struct stream) { .thread = thread };
	return stream;
}
