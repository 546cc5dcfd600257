/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a merge has open at the present moment. Private to merge.c and merge_limit.c.
 */
#ifndef FAULTLINE_MERGE_STATE_H
#define FAULTLINE_MERGE_STATE_H

#include "analysis/model/ahead.h"
#include "analysis/model/merge.h"

/* A block that has events to come. */
struct source {
	const struct planned_block *planned;
	struct held_block *block;
	uint32_t decoded;     /* the first row that is not yet an event */
	uint32_t next, end;   /* of `events`, those to come */
	struct event *events; /* room for those of a chunk, once there are any */
	size_t event_room;
	uint64_t batch;		/* the last one that has events of it ... */
	uint32_t row;		/* ... and the row of the first of these */
	struct source *retired; /* the next one */
};

struct head {
	uint64_t start_ns; /* of the source's next event, in memory or not */
	uint64_t order;	   /* of its block in the plan */
	struct source *source;
};

/* A place in the one order that all events have: by start, then by block, then by row. */
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
	size_t opened;	   /* blocks of the plan */
	struct head *heap; /* the earliest first */
	size_t heap_count, heap_room;
	struct source *retired; /* the last events of these are in the batch */
	size_t bytes;		/* of memory that is bounded */
	bool limited;		/* rows from `limit` on are not kept in memory */
	struct limit limit;
	uint64_t rows_read;
	uint64_t batches; /* the one being made among them */
	struct file_memory memory;
	uint64_t wide[TRACE_COLUMNS_MOST][CHUNK_ROWS];
	bool alike[TRACE_COLUMNS_MOST]; /* all of these are the same */
};

static inline size_t merge_source_bytes(const struct source *source)
{
	return sizeof(*source) + source->event_room * sizeof(*source->events) +
	       held_block_bytes(source->block);
}

static inline uint64_t merge_row_start(const struct merge *merge, const struct source *source,
				       uint32_t row)
{
	const struct held_block *block = source->block;
	uint64_t time = row < block->held ? held_block_time(block, row) : block->later_ns;

	return clock_shifted(merge->job->traces[source->planned->trace].clock, time);
}

/* The start of the next event to come, of which there must be one. */
static inline uint64_t merge_next_start(const struct merge *merge, const struct source *source)
{
	return source->next < source->end ? source->events[source->next].start
					  : merge_row_start(merge, source, source->decoded);
}

/* What is kept in memory of blocks that are open: 0 or -ENOMEM. */

/* Keeps of the rows to come those before the limit. */
int merge_trim_source(struct merge *merge, struct source *source, const struct limit *limit);
/* Makes room: what was given out goes first, then what is latest. */
int merge_trim_all(struct merge *merge);

#endif
