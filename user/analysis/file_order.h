/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In which order a file was accessed. Knows nothing of what was moved by that, nor how long it
 * took.
 *
 * An access is sequential if it starts at or past the end of the previous one, consecutive (a kind
 * of sequential) if it starts exactly there, and random if it starts before. The first access is
 * none of these. The terms are Darshan's (POSIX_SEQ_READS, POSIX_CONSEC_READS). "Previous" means by
 * the same process and through the same open file (POSIX: open file description; duplicates share
 * one), reads and writes together. Where the trace does not identify open files, all of a file
 * count as one. Faults are kept apart, by process and file.
 *
 * Of reads the same is told once more, to the read before: a database that is read anywhere and
 * appended to is read at random, however often it is written. That costs files alone that are both
 * read and written.
 */
#ifndef FAULTLINE_FILE_ORDER_H
#define FAULTLINE_FILE_ORDER_H

#include "analysis/file_use.h"

/* Where the process of an event is in a file; NULL when memory is out. */
struct position *file_order_position(struct file_uses *uses, struct file_use *use,
				     const struct event *event);
/* Adds an event of which it is known that it reads, writes, or comes by a mapping; of those that
 * have no place in any order nothing. Returns 0 or -ENOMEM. */
int file_order_add(struct file_uses *uses, struct file_use *use, struct position *position,
		   const struct event *event);

/* The process opened the file, or closed a descriptor of it. Returns 0 or -ENOMEM. */
int file_order_open(struct file_uses *uses, struct position *position, const struct event *event);
void file_order_close(struct position *position, const struct event *event);

/* An access ends at byte `end` of its file: that is how large the file is at least, if any byte was
 * moved. */
void file_order_reach(const struct file_uses *uses, uint64_t *furthest, uint64_t end,
		      const struct event *event);

/* --- for each of many --- */

/* What came before the file was last looked at says nothing of its size. */
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

/* Adds one by a call to its stream; *next is where its process is. */
static inline void file_order_follow(struct order *order, struct stream *stream, uint64_t *next,
				     const struct event *event)
{
	const uint64_t at = event->offset;

	if (*next)
		file_order_add_pattern(order->patterns, *next - 1, at);
	order->known += stream->next > 0;
	order->back += at + 1 < stream->next;
	*next = stream->next = clock_add(at + 1, event->bytes); /* offsets are 63 bits wide */
}

/* Identifies the order that an access continues: that of its thread, or of its thread and open file
 * while the process has several open files of one file. */
static inline uint32_t file_order_stream_key(const struct position *position,
					     const struct event *event)
{
	return position->several ? event->thread ^ event->open_file : event->thread;
}

/* `thread` is a file_order_stream_key. NULL when memory is out. */
static inline struct stream *file_order_stream(struct file_uses *uses, struct order *order,
					       uint32_t thread)
{
	struct stream *stream;

	if (!order->first.next)
		order->first.thread = thread;
	if (order->first.thread == thread)
		return &order->first;
	if (!order->others)
		order->others = arena_alloc(&uses->arena, STREAMS * sizeof(*order->others));
	if (!order->others)
		return NULL;
	stream = &order->others[thread % STREAMS];
	if (stream->thread != thread)
		*stream = (struct stream) { .thread = thread };
	return stream;
}

#endif
