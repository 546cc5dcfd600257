/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rows of a block in memory: in the order of their times, in columns as narrow as the file has
 * them. A column whose values are all the same takes no room. Knows nothing of what columns mean.
 */
#ifndef FAULTLINE_HELD_BLOCK_H
#define FAULTLINE_HELD_BLOCK_H

#include <pthread.h>

#include "trace/reader.h"

struct held_column {
	uint64_t same; /* the value of all rows, where width is 0 */
	size_t at;     /* where its rows are in `bytes` */
	uint8_t width; /* bytes of a value */
	bool is_signed;
};

/* Memory that blocks have left, for the next ones: new memory is wiped page by page before one gets
 * it, which takes as long as to decode what goes there. */
#define HELD_SPARES 8
struct held_pool {
	pthread_mutex_t lock;
	struct held_spare {
		uint8_t *bytes;
		size_t room;
	} spares[HELD_SPARES];
	size_t next; /* to be replaced by one that comes */
};

struct held_block {
	enum trace_kind kind;
	uint32_t trace;	      /* whose it is; for the owner to set */
	uint32_t count;	      /* rows of the block */
	uint32_t first, held; /* in memory are those from `first` up to `held` */
	uint64_t start_ns;    /* of the earliest row, on the trace's clock */
	uint64_t later_ns;    /* of row `held`, where that is not the end */
	size_t size, room;    /* of `bytes` */
	uint8_t *bytes;
	struct held_pool *pool;	      /* that takes them, or NULL */
	struct held_column columns[]; /* of its kind; column 0 is times since `start_ns` */
};

/* What is needed while a block is taken in; all zeros at first. */
struct held_scratch {
	uint64_t *times, *keys;
	uint32_t *order;
	size_t room; /* rows */
};

void held_scratch_free(struct held_scratch *scratch);

void held_pool_init(struct held_pool *pool);
void held_pool_free(struct held_pool *pool);

/* Takes in the block that was viewed, the columns of the mask and the times, into memory of the
 * pool if there is one, which then outlives it. *block is NULL after an error. Returns 0, -ENOMEM,
 * or -EINVAL when a row is earlier than the index says. */
int held_block_take(struct held_block **block, const struct trace_view *view,
		    const struct trace_block_info *info, uint64_t columns,
		    struct held_scratch *scratch, struct held_pool *pool);
void held_block_free(struct held_block *block); /* NULL is fine */

/* Forgets the rows before `first` and from `held` on. Returns 0 or -ENOMEM. */
int held_block_trim(struct held_block *block, uint32_t first, uint32_t held);

/* Bytes of memory. */
size_t held_block_bytes(const struct held_block *block);

/* Whether all rows have 0 there. */
static inline bool held_block_is_zero(const struct held_block *block, unsigned int column)
{
	const struct held_column *of = &block->columns[column];

	return !of->width && !of->same && column != TRACE_COL_TIME;
}

/* Whether `count` rows from one on, all of them in memory, have the same there. */
bool held_block_is_same(const struct held_block *block, unsigned int column, uint32_t row,
			uint32_t count);
/* A value of a row in memory. */
uint64_t held_block_value(const struct held_block *block, unsigned int column, uint32_t row);
/* The time of a row in memory, on the trace's clock. */
uint64_t held_block_time(const struct held_block *block, uint32_t row);
/* `count` values from a row on, all of them in memory; of column 0 times on the trace's clock. */
void held_block_widen(const struct held_block *block, unsigned int column, uint32_t row,
		      uint32_t count, uint64_t *to);

#endif
