/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Open spans, in three hash tables whose buckets have the newest first. */
#include "analysis/job/open_spans.h"
#include "collections/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BUCKETS_MIN 64
#define ANCESTORS_MAX 64 /* generations that are searched */

void open_spans_init(struct open_spans *spans)
{
	*spans = (struct open_spans) { .free = SPAN_NONE };
	/* Without random numbers, address space randomization still makes the seed hard to
	 * guess. */
	if (getentropy(&spans->seed, sizeof(spans->seed)))
		spans->seed = (uintptr_t)spans;
}

void open_spans_free(struct open_spans *spans)
{
	free(spans->slots);
	for (int key = 0; key < SPAN_KEYS; key++)
		free(spans->buckets[key]);
	*spans = (struct open_spans) { .free = SPAN_NONE };
}

/* --- buckets --- */

/* The value that distinguishes spans of a process under this key. */
static uint64_t distinct(const struct span *span, enum span_key key)
{
	return key == SPAN_BY_ID ? span->id : key == SPAN_BY_THREAD ? span->thread : 0;
}

static uint32_t *bucket_of(const struct open_spans *spans, enum span_key key, uint32_t process,
			   uint64_t what)
{
	uint64_t factor = ((process + 1) * 0x9e3779b97f4a7c15 ^ spans->seed << 1) | 1;
	unsigned __int128 product = (unsigned __int128)(what ^ spans->seed) * factor;
	uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);

	return &spans->buckets[key][hash & (spans->bucket_count - 1)];
}

static void link_in(struct open_spans *spans, uint32_t slot, enum span_key key)
{
	struct span *span = &spans->slots[slot];
	uint32_t *bucket = bucket_of(spans, key, span->process, distinct(span, key));

	span->links[key].newer = SPAN_NONE;
	span->links[key].older = *bucket;
	if (*bucket != SPAN_NONE)
		spans->slots[*bucket].links[key].newer = slot;
	*bucket = slot;
}

static void link_out(struct open_spans *spans, uint32_t slot, enum span_key key)
{
	const struct span *span = &spans->slots[slot];
	uint32_t newer = span->links[key].newer, older = span->links[key].older;

	if (newer != SPAN_NONE)
		spans->slots[newer].links[key].older = older;
	else
		*bucket_of(spans, key, span->process, distinct(span, key)) = older;
	if (older != SPAN_NONE)
		spans->slots[older].links[key].newer = newer;
}

static uint32_t find(const struct open_spans *spans, enum span_key key, uint32_t process,
		     uint64_t what)
{
	uint32_t slot;

	if (!spans->open)
		return SPAN_NONE;
	for (slot = *bucket_of(spans, key, process, what); slot != SPAN_NONE;
	     slot = spans->slots[slot].links[key].older)
		if (spans->slots[slot].process == process &&
		    distinct(&spans->slots[slot], key) == what)
			break;
	return slot;
}

/* Resizes to as many buckets as slots, and reinserts the spans, oldest first. */
static int spread(struct open_spans *spans, size_t count)
{
	uint64_t(*order)[2] = reallocarray(NULL, spans->open ? spans->open : 1, sizeof(*order));
	size_t open = 0;

	if (!order)
		return -ENOMEM;
	for (int key = 0; key < SPAN_KEYS; key++) {
		uint32_t *buckets = reallocarray(spans->buckets[key], count, sizeof(*buckets));

		if (!buckets) {
			free(order);
			return -ENOMEM;
		}
		spans->buckets[key] = buckets;
		memset(buckets, 0xff, count * sizeof(*buckets));
	}
	spans->bucket_count = count;
	for (size_t i = 0; i < spans->used; i++)
		if (spans->slots[i].serial) {
			order[open][0] = spans->slots[i].serial;
			order[open++][1] = i;
		}
	qsort(order, open, sizeof(*order), compare_u64);
	for (size_t i = 0; i < open; i++)
		for (int key = 0; key < SPAN_KEYS; key++)
			link_in(spans, order[i][1], key);
	free(order);
	return 0;
}

/* --- slots --- */

static int make_room(struct open_spans *spans)
{
	size_t room = spans->room ? spans->room * 2 : BUCKETS_MIN;
	struct span *slots;
	int status;

	if (spans->free != SPAN_NONE || spans->used < spans->room)
		return 0;
	slots = reallocarray(spans->slots, room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	spans->slots = slots;
	status = spread(spans, room);
	if (!status)
		spans->room = room;
	return status;
}

static uint32_t take_slot(struct open_spans *spans)
{
	uint32_t slot = spans->free;

	if (slot == SPAN_NONE)
		return spans->used++;
	spans->free = spans->slots[slot].links[0].older;
	return slot;
}

int open_spans_begin(struct open_spans *spans, const struct span *span,
		     const struct process_table *processes, uint32_t *slot)
{
	struct span *opened;
	bool inherited;
	uint32_t parent;
	int status;

	*slot = SPAN_NONE;
	if (!span->id)
		return 0;
	if (spans->open == OPEN_SPANS_MAX) {
		spans->refused++;
		return 0;
	}
	status = make_room(spans);
	if (status)
		return status;
	parent = open_spans_find(spans, processes, span->process, span->thread, &inherited);
	*slot = take_slot(spans);
	opened = &spans->slots[*slot];
	*opened = (struct span) {
		.serial = ++spans->serial,
		.id = span->id,
		.begin_ns = span->begin_ns,
		.process = span->process,
		.thread = span->thread,
		.label = span->label,
		.parent = parent,
		.parent_serial = parent == SPAN_NONE ? 0 : spans->slots[parent].serial,
	};
	for (int key = 0; key < SPAN_KEYS; key++)
		link_in(spans, *slot, key);
	spans->open++;
	return 0;
}

void open_spans_close(struct open_spans *spans, uint32_t slot)
{
	for (int key = 0; key < SPAN_KEYS; key++)
		link_out(spans, slot, key);
	spans->slots[slot].serial = 0;
	spans->slots[slot].links[0].older = spans->free;
	spans->free = slot;
	spans->open--;
}

/* --- lookup --- */

uint32_t open_spans_of_id(const struct open_spans *spans, uint32_t process, uint64_t id)
{
	return find(spans, SPAN_BY_ID, process, id);
}

uint32_t open_spans_of_process(const struct open_spans *spans, uint32_t process)
{
	return find(spans, SPAN_BY_PROCESS, process, 0);
}

uint32_t open_spans_parent(const struct open_spans *spans, uint32_t slot)
{
	const struct span *span = &spans->slots[slot];

	if (span->parent == SPAN_NONE || spans->slots[span->parent].serial != span->parent_serial)
		return SPAN_NONE;
	return span->parent;
}

uint32_t open_spans_search(const struct open_spans *spans, const struct process_table *processes,
			   uint32_t process, uint32_t thread, bool *inherited)
{
	uint32_t slot = find(spans, SPAN_BY_THREAD, process, thread);

	for (int i = 0; i < ANCESTORS_MAX && slot == SPAN_NONE; i++) {
		slot = find(spans, SPAN_BY_PROCESS, process, 0);
		*inherited = slot != SPAN_NONE && i > 0;
		if (!processes)
			break;
		process = processes->processes[process].parent;
		if (process == PROCESS_NONE)
			break;
	}
	return slot;
}
