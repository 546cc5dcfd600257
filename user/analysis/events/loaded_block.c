/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads blocks into memory. Rows are written as operations end, so they are nearly sorted by start,
 * or far from sorted when many threads wait on one CPU: a radix sort handles both.
 */
#include "analysis/events/loaded_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "trace/format/column.h"
#include "trace/format/unaligned.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define ROW_BITS 17 /* low bits of a key: the row number */
#define KEY_SPAN_MAX (1ull << (64 - ROW_BITS))

_Static_assert(TRACE_BLOCK_ROWS_MAX <= 1u << ROW_BITS, "a key holds the number of any row");

/* --- sorting --- */

void loaded_scratch_free(struct loaded_scratch *scratch)
{
	free(scratch->times);
	free(scratch->keys);
	free(scratch->order);
	*scratch = (struct loaded_scratch) { 0 };
}

static int make_room(struct loaded_scratch *scratch, size_t rows)
{
	if (rows <= scratch->room)
		return 0;
	loaded_scratch_free(scratch);
	scratch->times = reallocarray(NULL, rows, sizeof(*scratch->times));
	scratch->keys = reallocarray(NULL, rows, 2 * sizeof(*scratch->keys));
	scratch->order = reallocarray(NULL, rows, sizeof(*scratch->order));
	if (!scratch->times || !scratch->keys || !scratch->order) {
		loaded_scratch_free(scratch);
		return -ENOMEM;
	}
	scratch->room = rows;
	return 0;
}

static void sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned int shift)
{
	uint32_t starts[DIGITS] = { 0 }, start = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i] >> shift & (DIGITS - 1)]++;
	for (unsigned int i = 0; i < DIGITS; i++) {
		uint32_t many = starts[i];

		starts[i] = start;
		start += many;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_short(struct loaded_scratch *scratch, size_t count, uint64_t min, uint64_t span)
{
	uint64_t *keys = scratch->keys, *spare = scratch->keys + count;

	for (size_t i = 0; i < count; i++)
		keys[i] = (scratch->times[i] - min) << ROW_BITS | i;
	for (unsigned int shift = 0; span >> shift; shift += DIGIT_BITS) {
		uint64_t *sorted = spare;

		sort_by_digit(keys, sorted, count, ROW_BITS + shift);
		spare = keys;
		keys = sorted;
	}
	for (size_t i = 0; i < count; i++)
		scratch->order[i] = keys[i] & ((1u << ROW_BITS) - 1);
}

static int compare_rows(const void *left, const void *right, void *times)
{
	const uint32_t *a = left, *b = right;
	const uint64_t *of = times;

	return COMPARE(of[*a], of[*b]) ?: COMPARE(*a, *b);
}

/* A block that spans more than a day was not written by a tracer. */
static void sort_long(struct loaded_scratch *scratch, size_t count)
{
	for (size_t i = 0; i < count; i++)
		scratch->order[i] = i;
	qsort_r(scratch->order, count, sizeof(*scratch->order), compare_rows, scratch->times);
}

/* Returns the order of the rows, stable for equal times; NULL if all are in order. */
static const uint32_t *sort_rows(struct loaded_scratch *scratch, size_t count, uint64_t min,
				 uint64_t max)
{
	size_t i;

	for (i = 1; i < count && scratch->times[i - 1] <= scratch->times[i]; i++)
		;
	if (i >= count)
		return NULL;
	if (max - min < KEY_SPAN_MAX)
		sort_short(scratch, count, min, max - min);
	else
		sort_long(scratch, count);
	return scratch->order;
}

/* --- columns --- */

#define GATHER(type)                                                                               \
	do {                                                                                       \
		const type *in = (const type *)from;                                               \
		type *out = (type *)to;                                                            \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			out[i] = in[order[i]];                                                     \
	} while (0)

/* Copies values in the given order; NULL: as they are. */
static void gather(uint8_t *to, const uint8_t *from, unsigned int width, size_t count,
		   const uint32_t *order)
{
	if (!order)
		memcpy(to, from, width * count);
	else if (width == 1)
		GATHER(uint8_t);
	else if (width == 2)
		GATHER(unaligned_u16);
	else if (width == 4)
		GATHER(unaligned_u32);
	else
		GATHER(unaligned_u64);
}

static bool all_same(const struct column_view *view, size_t count)
{
	return !view->width ||
	       !memcmp(view->data, view->data + view->width, (count - 1) * view->width);
}

/* Sets the width and offset of each column. */
static void lay_out(struct loaded_block *block, const struct trace_view *view, uint64_t columns,
		    uint64_t span)
{
	size_t count = block->count;

	block->columns[TRACE_COL_TIME].width = span ? column_width(span, false) : 0;
	for (unsigned int i = 0; i < trace_schemas[block->kind].column_count; i++) {
		struct loaded_column *column = &block->columns[i];
		const struct column_view *from = &view->columns[i];

		if (i != TRACE_COL_TIME && columns >> i & 1) {
			if (all_same(from, count))
				column_widen(from, &column->same, 1);
			else
				column->width = from->width;
			column->is_signed = from->is_signed;
		}
		column->at = block->size;
		block->size += column->width * count;
	}
}

static void fill(struct loaded_block *block, const struct trace_view *view,
		 struct loaded_scratch *scratch, const uint32_t *order)
{
	struct loaded_column *time = &block->columns[TRACE_COL_TIME];
	size_t count = block->count;

	for (unsigned int i = 1; i < trace_schemas[block->kind].column_count; i++)
		if (block->columns[i].width)
			gather(block->bytes + block->columns[i].at, view->columns[i].data,
			       block->columns[i].width, count, order);
	for (size_t i = 0; i < count; i++)
		scratch->keys[i] = scratch->times[order ? order[i] : i] - block->start_ns;
	if (time->width)
		column_store(block->bytes + time->at, time->width, scratch->keys, 1, count);
}

/* --- memory for reuse --- */

void loaded_pool_init(struct loaded_pool *pool)
{
	*pool = (struct loaded_pool) { .next = 0 };
	pthread_mutex_init(&pool->lock, NULL);
}

void loaded_pool_free(struct loaded_pool *pool)
{
	for (size_t i = 0; i < HELD_SPARES; i++)
		free(pool->spares[i].bytes);
	pthread_mutex_destroy(&pool->lock);
}

static bool fits(const struct loaded_spare *spare, size_t size)
{
	return spare->room >= size && spare->room - size <= size / 4;
}

static struct loaded_spare take_spare(struct loaded_pool *pool, size_t size)
{
	struct loaded_spare taken = { NULL, 0 };

	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < HELD_SPARES && !taken.bytes; i++) {
		if (!pool->spares[i].bytes || !fits(&pool->spares[i], size))
			continue;
		taken = pool->spares[i];
		pool->spares[i].bytes = NULL;
	}
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

/* If no slot is free, the oldest spare is replaced. */
static void give_spare(struct loaded_pool *pool, struct loaded_spare spare)
{
	struct loaded_spare *slot = NULL, before;

	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < HELD_SPARES && !slot; i++)
		if (!pool->spares[i].bytes)
			slot = &pool->spares[i];
	if (!slot)
		slot = &pool->spares[pool->next++ % HELD_SPARES];
	before = *slot;
	*slot = spare;
	pthread_mutex_unlock(&pool->lock);
	free(before.bytes);
}

static bool make_bytes(struct loaded_block *block, struct loaded_pool *pool)
{
	struct loaded_spare spare = { NULL, 0 };
	size_t size = block->size + HELD_PADDING;

	if (pool)
		spare = take_spare(pool, size);
	if (!spare.bytes)
		spare = (struct loaded_spare) { malloc(size), size };
	block->bytes = spare.bytes;
	block->room = spare.room;
	block->pool = pool;
	return block->bytes;
}

int loaded_block_take(struct loaded_block **result, const struct trace_view *view,
		      const struct trace_block_info *info, uint64_t columns,
		      struct loaded_scratch *scratch, struct loaded_pool *pool)
{
	size_t column_count = trace_schemas[info->kind].column_count;
	uint64_t min = UINT64_MAX, max = 0;
	struct loaded_block *block;

	*result = NULL;
	if (make_room(scratch, info->rows))
		return -ENOMEM;
	trace_view_times(view, scratch->times);
	for (size_t i = 0; i < info->rows; i++) {
		min = scratch->times[i] < min ? scratch->times[i] : min;
		max = scratch->times[i] > max ? scratch->times[i] : max;
	}
	if (min < info->start)
		return -EINVAL;
	block = calloc(1, sizeof(*block) + column_count * sizeof(block->columns[0]));
	if (!block)
		return -ENOMEM;
	block->kind = info->kind;
	block->count = block->held = info->rows;
	block->start_ns = min;
	lay_out(block, view, columns, max - min);
	if (!make_bytes(block, pool)) {
		free(block);
		return -ENOMEM;
	}
	fill(block, view, scratch, sort_rows(scratch, info->rows, min, max));
	*result = block;
	return 0;
}

void loaded_block_free(struct loaded_block *block)
{
	if (!block)
		return;
	if (block->pool)
		give_spare(block->pool, (struct loaded_spare) { block->bytes, block->room });
	else
		free(block->bytes);
	free(block);
}

int loaded_block_trim(struct loaded_block *block, uint32_t first, uint32_t held)
{
	size_t kept = held - first, size = 0;
	uint8_t *bytes;

	if (first == block->first && held == block->held)
		return 0;
	if (held < block->held)
		block->later_ns = loaded_block_time(block, held);
	for (unsigned int i = 0; i < trace_schemas[block->kind].column_count; i++) {
		struct loaded_column *column = &block->columns[i];
		size_t skipped = (size_t)(first - block->first) * column->width;

		memmove(block->bytes + size, block->bytes + column->at + skipped,
			kept * column->width);
		column->at = size;
		size += kept * column->width;
	}
	block->first = first;
	block->held = held;
	block->size = size;
	bytes = realloc(block->bytes, size + HELD_PADDING);
	if (!bytes)
		return -ENOMEM;
	block->bytes = bytes;
	block->room = size + HELD_PADDING;
	return 0;
}

size_t loaded_block_bytes(const struct loaded_block *block)
{
	return sizeof(*block) + block->room +
	       trace_schemas[block->kind].column_count * sizeof(block->columns[0]);
}

/* --- values --- */

static struct column_view view_at(const struct loaded_block *block,
				  const struct loaded_column *column, uint32_t row)
{
	return (struct column_view) {
		.data = block->bytes + column->at + (size_t)(row - block->first) * column->width,
		.width = column->width,
		.is_signed = column->is_signed,
	};
}

bool loaded_block_is_same(const struct loaded_block *block, unsigned int column, uint32_t row,
			  uint32_t count)
{
	const struct loaded_column *of = &block->columns[column];
	const uint8_t *data;

	if (!of->width || !count)
		return true;
	data = view_at(block, of, row).data;
	return !memcmp(data, data + of->width, (size_t)(count - 1) * of->width);
}

uint64_t loaded_block_time(const struct loaded_block *block, uint32_t row)
{
	return loaded_block_value(block, TRACE_COL_TIME, row);
}

void loaded_block_widen(const struct loaded_block *block, unsigned int column, uint32_t row,
			uint32_t count, uint64_t *to)
{
	const struct loaded_column *from = &block->columns[column];
	uint64_t plus = column == TRACE_COL_TIME ? block->start_ns : 0;
	struct column_view view;

	if (!from->width) {
		for (uint32_t i = 0; i < count; i++)
			to[i] = from->same + plus;
		return;
	}
	view = view_at(block, from, row);
	column_widen(&view, to, count);
	for (uint32_t i = 0; plus && i < count; i++)
		to[i] += plus;
}
