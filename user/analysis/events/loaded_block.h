/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rows of a block in memory, sorted by time, in columns as narrow as in the file. A column
 * whose values are all the same takes no memory.
 */
#pragma once

#include <pthread.h>
#include <string.h>

#include "trace/read/reader.h"

struct loaded_column {
	uint64_t same; /* value of all rows if width is 0 */
	size_t at;     /* offset of its rows in `bytes` */
	uint8_t width; /* bytes per value */
	bool is_signed;
};

#define HELD_PADDING sizeof(uint64_t) /* bytes that may be read past the last value */

/* Memory of freed blocks, for reuse: the kernel zeroes new memory page by page, which takes as long
 * as decoding into it. */
#define HELD_SPARES 8
struct loaded_pool {
	pthread_mutex_t lock;
	struct loaded_spare {
		uint8_t *bytes;
		size_t room;
	} spares[HELD_SPARES];
	size_t next; /* slot to replace next */
};

struct loaded_block {
	enum trace_kind kind;
	uint32_t trace;	      /* trace that it belongs to; set by the owner */
	uint32_t count;	      /* rows in the block */
	uint32_t first, held; /* rows from `first` up to `held` are in memory */
	uint64_t start_ns;    /* of the earliest row, on the trace's clock */
	uint64_t later_ns;    /* of row `held`, unless that is the end */
	size_t size, room;    /* of `bytes`, without and with HELD_PADDING and spare room */
	uint8_t *bytes;
	struct loaded_pool *pool;	/* pool that takes `bytes` back, or NULL */
	struct loaded_column columns[]; /* of its kind; column 0 has times since `start_ns` */
};

/* Scratch memory for loading blocks; all zeros initially. */
struct loaded_scratch {
	uint64_t *times, *keys;
	uint32_t *order;
	size_t room; /* rows */
};

void loaded_scratch_free(struct loaded_scratch *scratch);

void loaded_pool_init(struct loaded_pool *pool);
void loaded_pool_free(struct loaded_pool *pool);

/* Loads the viewed block: the columns of the mask and the times, into memory of the pool if there
 * is one, which must outlive the block. Returns 0, -ENOMEM, or -EINVAL if a row is earlier than the
 * index says; *block is NULL after an error. */
int loaded_block_take(struct loaded_block **block, const struct trace_view *view,
		      const struct trace_block_info *info, uint64_t columns,
		      struct loaded_scratch *scratch, struct loaded_pool *pool);
void loaded_block_free(struct loaded_block *block); /* NULL is fine */

/* Drops the rows before `first` and from `held` on. Returns 0 or -ENOMEM. */
int loaded_block_trim(struct loaded_block *block, uint32_t first, uint32_t held);

/* Memory that the block takes, in bytes. */
size_t loaded_block_bytes(const struct loaded_block *block);

/* True if the column is 0 in all rows. */
static inline bool loaded_block_is_zero(const struct loaded_block *block, unsigned int column)
{
	const struct loaded_column *of = &block->columns[column];

	return !of->width && !of->same && column != TRACE_COL_TIME;
}

/* True if `count` rows starting at `row`, all in memory, have the same value in the column. */
bool loaded_block_is_same(const struct loaded_block *block, unsigned int column, uint32_t row,
			  uint32_t count);
/* Returns a value of a row in memory. */
static inline uint64_t loaded_block_value(const struct loaded_block *block, unsigned int column,
					  uint32_t row)
{
	const struct loaded_column *from = &block->columns[column];
	const uint8_t *data = block->bytes + from->at + (size_t)(row - block->first) * from->width;
	unsigned int unused = 64 - 8 * from->width;
	uint64_t value = from->same;

	if (from->width) {
		memcpy(&value, data, sizeof(value)); /* with what follows, which is shifted out */
		value <<= unused;
		value = from->is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
	}
	return column == TRACE_COL_TIME ? value + block->start_ns : value;
}

/* Returns the time of a row in memory, on the trace's clock. */
uint64_t loaded_block_time(const struct loaded_block *block, uint32_t row);
/* Writes `count` values starting at `row`, all in memory, to `to`; for column 0, times on the
 * trace's clock. */
void loaded_block_widen(const struct loaded_block *block, unsigned int column, uint32_t row,
			uint32_t count, uint64_t *to);
