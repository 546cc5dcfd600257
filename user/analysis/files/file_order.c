/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The order in which a file was accessed, by process and by thread. */
#include "analysis/files/file_order.h"

#include <string.h>

#include "base/number.h"

static uint64_t key_of(const struct event *event)
{
	return (uint64_t)event->process << 32 | event->file;
}

static bool is_full(const struct file_uses *uses)
{
	return uses->pairs.count + uses->asides.count >= uses->pairs_max;
}

/* There is no room for another pair. */
static struct pair *pair_overflow(struct file_uses *uses)
{
	uses->overflow++;
	uses->none = (struct pair) { 0 };
	return &uses->none;
}

static struct pair *find_pair(struct file_uses *uses, uint64_t key, struct file_use *use)
{
	struct pair *pair;
	bool added;

	if (is_full(uses)) {
		pair = (struct pair *)map_find(&uses->pairs, &key);
		return pair ? pair : pair_overflow(uses);
	}
	pair = (struct pair *)map_add(&uses->pairs, &key, &added);
	if (pair && added)
		use->processes++;
	return pair;
}

struct position *file_order_position(struct file_uses *uses, struct file_use *use,
				     const struct event *event)
{
	uint64_t key = key_of(event);
	struct pair_slot *slot = &uses->lately[(event->file ^ event->process << 5) % PAIR_SLOTS];

	if (!use->processes) {
		use->position.process = event->process;
		use->processes = 1;
	}
	if (use->position.process == event->process)
		return &use->position;
	if (!slot->map_slots || slot->key != key || slot->map_slots != uses->pairs.slots) {
		slot->pair = find_pair(uses, key, use);
		slot->key = key;
		/* A pair that is not in the map must count as overflow each time. */
		slot->map_slots = slot->pair == &uses->none ? 0 : uses->pairs.slots;
	}
	return slot->pair ? &slot->pair->position : NULL;
}

/* --- open files of a process --- */

static void put_aside(struct file_uses *uses, const struct position *position, uint64_t file)
{
	const uint64_t key[] = { file, position->open_file };
	bool added;
	struct aside *aside = (struct aside *)(is_full(uses) ? map_find(&uses->asides, key)
							     : map_add(&uses->asides, key, &added));

	if (aside)
		*aside = (struct aside) { position->next, position->next_read };
	else
		uses->overflow++;
}

/* Switches to the event's open file, which may differ from the last one used. */
static void switch_open_file(struct file_uses *uses, struct position *position,
			     const struct event *event)
{
	const uint64_t key[] = { key_of(event), event->open_file };
	const struct aside *aside;

	if (!event->open_file || event->open_file == position->open_file)
		return;
	if (position->open_file) {
		if (!position->closed) {
			position->several = true;
			put_aside(uses, position, key[0]);
		}
		aside = (const struct aside *)map_find(&uses->asides, key);
		position->next = aside ? aside->next : 0;
		position->next_read = aside ? aside->next_read : 0;
	}
	position->open_file = event->open_file;
}

/* An earlier open file may have had the same number, so the position is reset. */
void file_order_open(struct file_uses *uses, struct position *position, const struct event *event)
{
	if (!event->open_file)
		return;
	switch_open_file(uses, position, event);
	position->next = position->next_read = 0;
	position->closed = false;
}

void file_order_close(struct position *position, const struct event *event)
{
	if (event->open_file && event->open_file == position->open_file)
		position->closed = true;
}

/* --- faults --- */

/* A fault counts as backward only if it is more than NEAR bytes back: a copy faults first on the
 * end of its source and then on its start, where the previous copy ended. */
#define NEAR (1ull << 20)

static void add_fault_order(struct file_uses *uses, struct order *order, const struct event *event,
			    uint64_t bytes)
{
	struct stream *stream = file_order_stream(uses, order, event->thread);
	const uint64_t at = event->offset;

	if (!stream)
		return;
	if (stream->next) {
		/* Branchless: random accesses are unpredictable. */
		uint64_t next = stream->next - 1, resume = stream->resume - 1;
		bool back = at + NEAR < next;
		bool ahead = at > next + NEAR;
		bool resumes = (at + NEAR >= resume) & (at < resume + 4 * NEAR);

		order->known++;
		order->back += back & !resumes;
		/* Not the next page itself: it was not mapped because it was not cached. */
		order->near += (at > next) & (at < next + FAULT_AROUND_BYTES);
		stream->resume = ahead ? stream->next : stream->resume;
	}
	stream->next = number_add(at + 1, bytes);
}

static void add_fault(struct file_uses *uses, struct file_use *use, struct position *position,
		      const struct event *event)
{
	const uint32_t trace = uses->job->files.files[event->file].trace;
	const uint64_t bytes = uses->job->traces[trace].header->page_bytes;
	/* For any process but the first, the position is part of a pair. */
	uint64_t *next = position == &use->position ? &use->more->next_fault
						    : &((struct pair *)position)->next_fault;

	if (!use->more->faults)
		use->more->faults = arena_alloc(uses->arena, sizeof(*use->more->faults));
	if (!use->more->faults)
		return;
	if (*next)
		file_order_add_pattern(use->more->faults->patterns, *next - 1, event->offset);
	*next = number_add((uint64_t)event->offset + 1, bytes); /* offsets are 63 bits wide */
	file_order_reach(uses, &use->more->furthest, *next - 1, event);
	add_fault_order(uses, use->more->faults, event, bytes);
}

/* --- calls --- */

static const struct position *position_before(const struct file_uses *uses,
					      const struct file_use *use, uint32_t file)
{
	uint64_t key = (uint64_t)use->once.process << 32 | file;

	return use->once.process == use->position.process
		       ? &use->position
		       : (const struct position *)map_find(&uses->pairs, &key);
}

/* Most files are accessed once, which makes no order, so the first access is added only with the
 * second one. If the second is of the other kind (read or write), the order begins at once.
 * Returns false if out of memory. */
static bool begin_order(struct file_uses *uses, struct file_use *use, const struct event *event,
			const struct position *position, bool mixes)
{
	const struct position *before;
	struct order *order;

	if (use->accessed >= ACCESSED_IN_ORDER)
		return true;
	if (!use->accessed && !mixes) {
		use->accessed = ACCESSED_ONCE;
		use->once.process = event->process;
		use->once.thread = file_order_stream_key(position, event);
		return true;
	}
	order = arena_alloc(uses->arena, sizeof(*order));
	if (!order)
		return false;
	if (use->accessed) {
		before = position_before(uses, use, event->file);
		order->first.thread = use->once.thread;
		order->first.next = before ? before->next : 0;
	}
	use->calls = order;
	use->accessed = ACCESSED_IN_ORDER;
	return true;
}

/* Starts to track reads separately. They inherit the order so far if there were only reads.
 * Returns false if out of memory. */
static bool begin_reads(struct file_uses *uses, struct file_use *use)
{
	struct order *reads = arena_alloc(uses->arena, sizeof(*reads));
	const struct stream *others = use->writes ? NULL : use->calls->others;

	if (!reads)
		return false;
	if (!use->writes)
		*reads = *use->calls;
	if (others) {
		reads->others = arena_alloc(uses->arena, STREAMS * sizeof(*others));
		if (!reads->others)
			return false;
		memcpy(reads->others, others, STREAMS * sizeof(*others));
	}
	use->more->reads = reads;
	use->accessed = ACCESSED_MIXED;
	return true;
}

static void follow(struct file_uses *uses, struct order *order, struct position *position,
		   uint64_t *next, const struct event *event)
{
	struct stream *stream =
		file_order_stream(uses, order, file_order_stream_key(position, event));

	if (stream)
		file_order_follow(order, stream, next, event);
}

static void add_call(struct file_uses *uses, struct file_use *use, struct position *position,
		     const struct event *event)
{
	const bool mixes =
		use->accessed != ACCESSED_MIXED && use->writes != (event->class == IO_WRITE);

	if (!begin_order(uses, use, event, position, mixes) || (mixes && !begin_reads(uses, use)))
		return;
	switch_open_file(uses, position, event);
	position->closed = false;
	if (use->accessed == ACCESSED_MIXED && event->class == IO_READ)
		follow(uses, use->more->reads, position, &position->next_read, event);
	if (use->accessed == ACCESSED_ONCE)
		position->next = number_add((uint64_t)event->offset + 1, event->bytes);
	else
		follow(uses, use->calls, position, &position->next, event);
	if (event->class == IO_READ)
		position->next_read = position->next;
	file_order_reach(uses, &use->furthest, position->next - 1, event);
}

/* --- any access --- */

void file_order_reach(const struct file_uses *uses, uint64_t *furthest, uint64_t end,
		      const struct event *event)
{
	bool moves = event->flags & EVENT_FAULT || event->bytes;

	if (moves && end > *furthest && file_order_is_later(uses, event))
		*furthest = end;
}

void file_order_add(struct file_uses *uses, struct file_use *use, struct position *position,
		    const struct event *event)
{
	if (event->file == FILE_UNKNOWN || event->offset < 0 || !(event->flags & EVENT_COUNTED) ||
	    event->flags & EVENT_FAILED)
		return;
	if (event->flags & EVENT_FAULT)
		add_fault(uses, use, position, event);
	else if (event->class == IO_READ || event->class == IO_WRITE)
		add_call(uses, use, position, event);
}
