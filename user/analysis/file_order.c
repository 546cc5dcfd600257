/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In which order a file was accessed: by each process, and by each thread. Knows nothing of what
 * was moved by that, nor how long it took.
 */
#include "analysis/file_order.h"

#include <errno.h>

/* Of a pair that there is no room for nothing is remembered. */
static struct position *position_beyond(struct file_uses *uses)
{
	uses->beyond++;
	uses->none = (struct position) { .next = { 0 } };
	return &uses->none;
}

static struct position *find_position(struct file_uses *uses, uint64_t key, struct file_use *use)
{
	struct position *position;
	bool added;

	if (uses->positions.count >= uses->pairs_most) {
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

/* Most files are accessed once, which makes no order: that access is added with the second. */
static int find_order(struct file_uses *uses, struct file_use *use, const struct event *event,
		      struct order **order)
{
	bool fault = event->flags & EVENT_FAULT;
	const struct position *before;

	*order = fault ? use->more->faults : use->ordered ? use->calls : NULL;
	if (*order)
		return 0;
	if (!fault && !use->accessed) {
		use->accessed = true;
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
	before = position_before(uses, use, event->file);
	(*order)->first.thread = use->once.thread;
	(*order)->first.next = before ? before->next[BY_CALLS] : 0;
	use->calls = *order;
	use->ordered = true;
	return 0;
}

int file_order_add(struct file_uses *uses, struct file_use *use, struct position *position,
		   const struct event *event)
{
	bool fault = event->flags & EVENT_FAULT;
	bool call = event->class == IO_READ || event->class == IO_WRITE;
	uint64_t *next = &position->next[fault ? BY_FAULTS : BY_CALLS], *furthest = &use->furthest;
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
	if (find_order(uses, use, event, &order))
		return -ENOMEM;
	if (order && *next)
		file_order_add_pattern(order->patterns, *next - 1, event->offset);
	if (order && add_order(uses, order, event, bytes))
		return -ENOMEM;
	*next = clock_add((uint64_t)event->offset + 1, bytes); /* offsets are 63 bits wide */
	if (*next - 1 > *furthest && file_order_is_later(uses, event))
		*furthest = *next - 1;
	return 0;
}
