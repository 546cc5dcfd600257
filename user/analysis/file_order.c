/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In which order a file was accessed: by each process, and by each thread. Knows nothing of what
 * was moved by that, nor how long it took.
 */
#include "analysis/file_order.h"

#include <errno.h>
#include <string.h>

/* Of a pair that there is no room for nothing is remembered. */
static struct position *position_beyond(struct file_uses *uses)
{
	uses->beyond++;
	uses->none = (struct position) { .next = { 0 } };
	return &uses->none;
}

static bool is_full(const struct file_uses *uses)
{
	return uses->positions.count + uses->reads.count >= uses->pairs_most;
}

static struct position *find_position(struct file_uses *uses, uint64_t key, struct file_use *use)
{
	struct position *position;
	bool added;

	if (is_full(uses)) {
		position = (struct position *)map_find(&uses->positions, &key);
		return position ? position : position_beyond(uses);
	}
	position = (struct position *)map_add(&uses->positions, &key, &added);
	if (position && added)
		use->processes++;
	return position;
}

struct position *file_order_position(struct file_uses *uses, struct file_use *use,
				     const struct event *event)
{
	uint64_t key = (uint64_t)event->process << 32 | event->file;
	struct pair_slot *slot = &uses->pairs[(event->file ^ event->process << 5) % PAIR_SLOTS];

	if (!use->processes) {
		use->process = event->process;
		use->processes = 1;
	}
	if (use->process == event->process)
		return &use->position;
	if (slot->map_slots && slot->key == key && slot->map_slots == uses->positions.slots)
		return slot->position;
	slot->position = find_position(uses, key, use);
	slot->key = key;
	/* What is not in the map is to be counted each time. */
	slot->map_slots = slot->position == &uses->none ? 0 : uses->positions.slots;
	return slot->position;
}

/* A fault is back when it is by more than NEAR: a copy faults on the end of what it copies first,
 * and then on its start, where the one before ended. */
#define NEAR (1ull << 20)

static int add_order(struct file_uses *uses, struct order *order, const struct event *event,
		     uint64_t bytes)
{
	const uint64_t near = event->flags & EVENT_FAULT ? NEAR : 0, at = event->offset;
	struct stream *stream = file_order_stream(uses, order, event->thread);

	if (!stream)
		return -ENOMEM;
	if (stream->next) {
		/* Where random accesses go no processor can guess: no branches. Calls resume
		 * nothing: see add_plain. */
		uint64_t next = stream->next - 1, resume = stream->resume - 1;
		bool back = at + near < next;
		bool ahead = at > next + near;
		bool resumes = (at + near >= resume) & (at < resume + 4 * near);

		order->known++;
		order->back += back & !resumes;
		stream->resume = ahead ? stream->next : stream->resume;
	}
	stream->next = clock_add(at + 1, bytes);
	return 0;
}

static const struct position *position_before(const struct file_uses *uses,
					      const struct file_use *use, uint32_t file)
{
	uint64_t key = (uint64_t)use->once.process << 32 | file;

	return use->once.process == use->process
		       ? &use->position
		       : (const struct position *)map_find(&uses->positions, &key);
}

/* Most files are accessed once, which makes no order: that access is added with the second. But of
 * one where it is another than was tried before. */
static int find_order(struct file_uses *uses, struct file_use *use, const struct event *event,
		      bool mixes, struct order **order)
{
	bool fault = event->flags & EVENT_FAULT;
	const struct position *before;

	*order = fault ? use->more->faults : use->accessed >= ACCESSED_IN_ORDER ? use->calls : NULL;
	if (*order)
		return 0;
	if (!fault && !use->accessed && !mixes) {
		use->accessed = ACCESSED_ONCE;
		use->once.process = event->process;
		use->once.thread = event->thread;
		return 0;
	}
	*order = arena_alloc(&uses->arena, sizeof(**order));
	if (!*order)
		return -ENOMEM;
	if (fault) {
		use->more->faults = *order;
		return 0;
	}
	if (use->accessed) {
		before = position_before(uses, use, event->file);
		(*order)->first.thread = use->once.thread;
		(*order)->first.next = before ? before->next[BY_CALLS] : 0;
	}
	use->calls = *order;
	use->accessed = ACCESSED_IN_ORDER;
	return 0;
}

/* --- reads of what is written, too --- */

/* What all were that came before, if they were reads. */
static int copy_reads(struct file_uses *uses, const struct file_use *use, struct reads_apart *reads)
{
	const struct stream *others = use->calls->others;

	reads->order = *use->calls;
	reads->next = use->position.next[BY_CALLS];
	if (!others)
		return 0;
	reads->order.others = arena_alloc(&uses->arena, STREAMS * sizeof(*others));
	if (!reads->order.others)
		return -ENOMEM;
	memcpy(reads->order.others, others, STREAMS * sizeof(*others));
	return 0;
}

static int begin_mixed(struct file_uses *uses, struct file_use *use)
{
	struct reads_apart *reads = arena_alloc(&uses->arena, sizeof(*reads));

	if (!reads || (!use->writes && copy_reads(uses, use, reads)))
		return -ENOMEM;
	use->more->reads = reads;
	use->accessed = ACCESSED_MIXED;
	return 0;
}

/* Where the process was in its reads: found with its first access of any kind, at which the
 * position among all of them is still that of its last read, if there was none but reads. */
static uint64_t *find_next_read(struct file_uses *uses, const struct file_use *use,
				const struct position *position, const struct event *event)
{
	uint64_t key = (uint64_t)event->process << 32 | event->file, *next;
	bool added;

	if (use->process == event->process)
		return &use->more->reads->next;
	if (is_full(uses)) {
		next = map_find(&uses->reads, &key);
		if (next)
			return next;
		uses->beyond += position != &uses->none;
		uses->no_read = 0;
		return &uses->no_read;
	}
	next = map_add(&uses->reads, &key, &added);
	if (next && added && !use->writes)
		*next = position->next[BY_CALLS];
	return next;
}

/* Of a write nothing but where the process was before it. */
static int add_apart(struct file_uses *uses, const struct file_use *use,
		     const struct position *position, const struct event *event)
{
	struct order *order = &use->more->reads->order;
	struct stream *stream;
	uint64_t *next;

	if (event->class == IO_WRITE && use->writes)
		return 0;
	next = find_next_read(uses, use, position, event);
	if (!next)
		return -ENOMEM;
	if (event->class == IO_WRITE)
		return 0;
	stream = file_order_stream(uses, order, event->thread);
	if (!stream)
		return -ENOMEM;
	file_order_follow(order, stream, next, event);
	return 0;
}

/* --- any access --- */

void file_order_reach(const struct file_uses *uses, uint64_t *furthest, uint64_t end,
		      const struct event *event)
{
	bool moves = event->flags & EVENT_FAULT || event->bytes;

	if (moves && end > *furthest && file_order_is_later(uses, event))
		*furthest = end;
}

int file_order_add(struct file_uses *uses, struct file_use *use, struct position *position,
		   const struct event *event)
{
	bool fault = event->flags & EVENT_FAULT;
	bool call = event->class == IO_READ || event->class == IO_WRITE;
	uint64_t *next = &position->next[fault ? BY_FAULTS : BY_CALLS], *furthest = &use->furthest;
	bool mixes = call && use->accessed != ACCESSED_MIXED &&
		     use->writes != (event->class == IO_WRITE);
	uint64_t bytes = event->bytes;
	struct order *order;

	if (event->file == FILE_UNKNOWN || event->offset < 0 || !(event->flags & EVENT_COUNTED) ||
	    event->flags & EVENT_FAILED || (!fault && !call))
		return 0;
	if (fault) {
		uint32_t trace = uses->job->files.files[event->file].trace;

		bytes = uses->job->traces[trace].header->page_bytes;
		furthest = &use->more->furthest;
	}
	if (find_order(uses, use, event, mixes, &order) || (mixes && begin_mixed(uses, use)))
		return -ENOMEM;
	if (call && use->accessed == ACCESSED_MIXED && add_apart(uses, use, position, event))
		return -ENOMEM;
	if (order && *next)
		file_order_add_pattern(order->patterns, *next - 1, event->offset);
	if (order && add_order(uses, order, event, bytes))
		return -ENOMEM;
	*next = clock_add((uint64_t)event->offset + 1, bytes); /* offsets are 63 bits wide */
	file_order_reach(uses, furthest, *next - 1, event);
	return 0;
}
