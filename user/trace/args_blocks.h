/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The strings of a trace that are arguments of spans, by id: about as many as there are spans, so
 * they stay in the file, and only where their blocks are is kept. Knows nothing of what arguments
 * mean. Private to user/trace.
 */
#ifndef FAULTLINE_TRACE_ARGS_BLOCKS_H
#define FAULTLINE_TRACE_ARGS_BLOCKS_H

#include "block.h"
#include "input.h"
#include "texts.h"

/* A block and the ids that it is said to hold, which is not believed. */
struct args_place {
	uint64_t first, last; /* ids */
	uint64_t offset, length;
	bool is_bad; /* it was read and is not what it should be */
};

/* Blocks kept decoded. A string outlives this many lookups less one, see trace_reader_string. */
#define ARGS_BLOCKS_KEPT (TRACE_STRING_CALLS + 1)
/* A writer's blocks are far smaller; these bound what a forged one costs, in memory and in time. */
#define ARGS_BLOCK_BYTES_MAX (8u << 20) /* decompressed */
#define ARGS_TEXT_BYTES_MAX (4u << 20)	/* decoded */

struct args_kept {
	struct texts texts;
	const struct args_place *place; /* NULL: free */
	uint64_t used;			/* when, counted in lookups */
};

struct args_blocks {
	const struct input *input;
	struct trace_buffers *buffers;
	struct args_place *places;
	size_t count, capacity;
	struct args_kept kept[ARGS_BLOCKS_KEPT];
	uint64_t lookups;
	struct trace_error error; /* the first one of a lookup; empty for none */
};

/* NULL when there is no memory. The input and the buffers are to outlive it. */
struct args_blocks *args_blocks_new(const struct input *input, struct trace_buffers *buffers);
void args_blocks_free(struct args_blocks *args); /* NULL is fine */
/* Forgets all blocks. */
void args_blocks_clear(struct args_blocks *args);

/* Notes a block. 0, -ENOMEM. */
int args_blocks_add(struct args_blocks *args, const struct args_place *place);
/* Sets first and last as a block has them; checks all of its strings. 0, -EINVAL, -ENOMEM. */
int args_blocks_survey(const struct block *block, struct args_place *place);
/* To be called after the last args_blocks_add and before the first args_blocks_find. */
void args_blocks_sort(struct args_blocks *args);

/*
 * The empty string for an unknown id, or when its block cannot be read. Uses the buffers. The bytes
 * are valid during the next ARGS_BLOCKS_KEPT - 1 calls.
 */
struct trace_string args_blocks_find(struct args_blocks *args, uint64_t id);

#endif
