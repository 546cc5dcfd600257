/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows in time order. Knows nothing of what is done with them.
 *
 * Blocks overlap in time, by CPU and by kind. Each pass goes through the blocks in the order of
 * their earliest start, gathers the earliest rows that no pass before gave out, and ends at the
 * first block that starts later than all of these. When the memory is full the later half is let
 * go, to be read again by the next pass. Most blocks are thus read once, those at the edge twice,
 * and no trace, however made, takes more memory than was given.
 */
#include "analysis/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_COLUMNS 64 /* as many as a mask of columns can name */

/* Where a row stands in the one order that all rows have. */
struct key {
	uint64_t time;
	uint32_t block; /* by start */
	uint32_t row;
};

struct entry {
	struct key key;
	uint32_t slot; /* each slot belongs to exactly one entry */
	uint32_t kind;
};

struct block {
	size_t number; /* in the reader */
	uint64_t start;
	uint64_t last; /* start of its latest row, once it was read */
	bool read;
};

struct walk {
	struct trace_reader *reader;
	const struct timeline *timeline;
	struct trace_error *error;
	struct block *blocks;
	size_t block_count;
	struct entry *entries;
	uint64_t *slots;
	size_t slot_width; /* columns of the widest kind that is wanted */
	size_t count, capacity;
	struct key low;	  /* rows before it were given out */
	struct key limit; /* rows from here on are for a later pass */
	bool limited;
	uint64_t given, total;
};

static int compare_keys(const struct key *a, const struct key *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_entries(const void *a, const void *b)
{
	return compare_keys(&((const struct entry *)a)->key, &((const struct entry *)b)->key);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int open_walk(struct walk *walk)
{
	size_t count = trace_reader_block_count(walk->reader);

	walk->blocks = calloc(count + 1, sizeof(*walk->blocks));
	if (!walk->blocks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct trace_block_info *info = trace_reader_block_info(walk->reader, i);

		if (!(walk->timeline->kinds & 1ull << info->kind) || !info->rows)
			continue;
		walk->blocks[walk->block_count++] =
			(struct block) { .number = i, .start = info->start };
		walk->total += info->rows;
		if (walk->slot_width < trace_schemas[info->kind].column_count)
			walk->slot_width = trace_schemas[info->kind].column_count;
	}
	qsort(walk->blocks, walk->block_count, sizeof(*walk->blocks), compare_blocks);

	walk->capacity = walk->timeline->rows ? walk->timeline->rows : TIMELINE_ROWS;
	if (walk->capacity > walk->total)
		walk->capacity = walk->total + 1;
	walk->entries = calloc(walk->capacity, sizeof(*walk->entries));
	walk->slots = calloc(walk->capacity, (walk->slot_width + 1) * sizeof(*walk->slots));
	if (!walk->entries || !walk->slots)
		return -ENOMEM;
	for (size_t i = 0; i < walk->capacity; i++)
		walk->entries[i].slot = i;
	return 0;
}

static uint64_t *slot_of(const struct walk *walk, const struct entry *entry)
{
	return walk->slots + entry->slot * walk->slot_width;
}

/* Memory is full: the later half is left to the next pass. */
static void let_go(struct walk *walk)
{
	qsort(walk->entries, walk->count, sizeof(*walk->entries), compare_entries);
	walk->count /= 2;
	walk->limit = walk->entries[walk->count].key;
	walk->limited = true;
}

static void gather_row(struct walk *walk, struct key key, enum trace_kind kind,
		       const uint64_t *const *columns)
{
	const struct timeline *timeline = walk->timeline;
	struct entry *entry;
	uint64_t *values;

	if (walk->count == walk->capacity)
		let_go(walk);
	if (compare_keys(&key, &walk->low) < 0 ||
	    (walk->limited && compare_keys(&key, &walk->limit) >= 0))
		return;
	entry = &walk->entries[walk->count];
	values = slot_of(walk, entry);
	for (unsigned int i = 0; i < trace_schemas[kind].column_count; i++)
		values[i] = columns[i][key.row];
	if (timeline->want && !timeline->want(timeline->context, kind, values))
		return;
	entry->key = key;
	entry->kind = kind;
	walk->count++;
}

static int gather_block(struct walk *walk, uint32_t number)
{
	struct block *block = &walk->blocks[number];
	const struct trace_block_info *info = trace_reader_block_info(walk->reader, block->number);
	const uint64_t *columns[MAX_COLUMNS];
	unsigned int column_count = trace_schemas[info->kind].column_count;
	int status = trace_reader_read(walk->reader, block->number, (1ull << column_count) - 1,
				       walk->error);

	if (status)
		return status;
	for (unsigned int i = 0; i < column_count; i++)
		columns[i] = trace_reader_column(walk->reader, i);
	block->read = true;
	for (uint32_t row = 0; row < info->rows; row++) {
		uint64_t time = columns[TRACE_COL_TIME][row];

		/* Such a row might be due before what was given out already. */
		if (time < block->start) {
			snprintf(walk->error->text, sizeof(walk->error->text),
				 "damaged: the block at byte %" PRIu64
				 " has rows that are earlier than the index says",
				 info->offset);
			return -EINVAL;
		}
		block->last = time > block->last ? time : block->last;
		gather_row(walk, (struct key) { time, number, row }, info->kind, columns);
	}
	return 0;
}

static int give_out(struct walk *walk)
{
	const struct timeline *timeline = walk->timeline;
	int status = 0;

	qsort(walk->entries, walk->count, sizeof(*walk->entries), compare_entries);
	for (size_t i = 0; i < walk->count && !status; i++) {
		const struct entry *entry = &walk->entries[i];

		status = timeline->visit(timeline->context, entry->kind, slot_of(walk, entry));
		if (timeline->progress && ++walk->given % 4096 == 0)
			timeline->progress(timeline->context, (double)walk->given / walk->total);
	}
	walk->low = walk->limit;
	return status;
}

int timeline_walk(struct trace_reader *reader, const struct timeline *timeline,
		  struct trace_error *error)
{
	struct walk walk = { .reader = reader, .timeline = timeline, .error = error };
	int status = open_walk(&walk);

	do {
		walk.count = 0;
		walk.limited = false;
		for (size_t i = 0; i < walk.block_count && !status; i++) {
			const struct block *block = &walk.blocks[i];

			if (walk.limited && block->start > walk.limit.time)
				break;
			if (!block->read || block->last >= walk.low.time)
				status = gather_block(&walk, i);
		}
		if (!status)
			status = give_out(&walk);
	} while (walk.limited && !status);

	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	free(walk.blocks);
	free(walk.entries);
	free(walk.slots);
	return status;
}
