/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The open blocks of a merge. Private to merge.c and merge_limit.c. */
#pragma once

#include "analysis/order/ahead.h"
#include "analysis/order/merge.h"

/* A block with events to come. */
struct source {
	const struct planned_block *planned;
	struct loaded_block *block;
	uint32_t decoded;     /* the first row not yet decoded */
	uint32_t next, end;   /* range of `events` still to come */
	struct event *events; /* of a chunk; allocated on first use */
	size_t event_room;
	uint64_t batch;		/* the last batch with events of this source ... */
	uint32_t row;		/* ... and the row of the first of these */
	struct source *retired; /* next in the list */
};

struct head {
	uint64_t start_ns; /* of the source's next event, in memory or not */
	uint64_t order;	   /* of its block in the plan */
	struct source *source;
};

/* A position in the order of all events: by start, then by block, then by row. */
struct limit {
	uint64_t start_ns;
	size_t order; /* blocks of a lower order are before the limit */
};

struct merge {
	struct job *job;
	struct merge_options options;
	struct plan plan;
	uint64_t columns[TRACE_KIND_COUNT]; /* wanted */
	struct ahead *ahead;
	size_t opened;	   /* blocks of the plan opened so far */
	struct head *heap; /* earliest first */
	size_t heap_count, heap_room;
	struct source *retired; /* sources whose last events are in the batch */
	size_t bytes;		/* memory that counts toward the limit */
	bool limited;		/* rows from `limit` on are not kept in memory */
	struct limit limit;
	uint64_t rows_read;
	uint64_t batches; /* including the current one */
	struct file_memory memory;
	uint64_t wide[TRACE_COLUMNS_MAX][CHUNK_ROWS];
	bool same[TRACE_COLUMNS_MAX]; /* all values are the same */
};

static inline size_t merge_source_bytes(const struct source *source)
{
	return sizeof(*source) + source->event_room * sizeof(*source->events) +
	       loaded_block_bytes(source->block);
}

static inline uint64_t merge_row_start(const struct merge *merge, const struct source *source,
				       uint32_t row)
{
	const struct loaded_block *block = source->block;
	uint64_t time = row < block->held ? loaded_block_time(block, row) : block->later_ns;

	return clock_shifted(merge->job->traces[source->planned->trace].clock, time);
}

/* The start of the source's next event, which must exist. */
static inline uint64_t merge_next_start(const struct merge *merge, const struct source *source)
{
	return source->next < source->end ? source->events[source->next].start
					  : merge_row_start(merge, source, source->decoded);
}

/* These limit the memory of open blocks. They return 0 or -ENOMEM. */

/* Drops undecoded rows from the limit on, and rows no longer needed. */
int merge_trim_source(struct merge *merge, struct source *source, const struct limit *limit);
/* Frees memory: first rows already handed out, then the latest ones. */
int merge_trim_all(struct merge *merge);
