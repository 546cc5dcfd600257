/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Span arguments by string id. There are about as many as spans, so they stay in the file, and
 * memory holds only the positions of their blocks. Private to user/trace.
 */
#pragma once

#include "trace/format/block.h"
#include "trace/read/input.h"
#include "trace/read/texts.h"

/* A block and the ids that it claims to hold, which is not trusted. */
struct args_position {
	uint64_t first, last; /* ids */
	uint64_t offset, length;
	bool is_bad; /* it was read and is damaged */
};

/* Decoded blocks to keep. A string outlives this many lookups less one: see trace_reader_string. */
#define ARGS_BLOCKS_KEPT (TRACE_STRING_CALLS + 1)
/* A writer's blocks are far smaller; these limit what a forged one costs in memory and time. */
#define ARGS_BLOCK_BYTES_MAX (8u << 20) /* decompressed */
#define ARGS_TEXT_BYTES_MAX (4u << 20)	/* decoded */

struct args_kept {
	struct texts texts;
	const struct args_position *position; /* NULL: free */
	uint64_t used;			      /* number of the last lookup that used it */
};

struct args_blocks {
	const struct input *input;
	struct trace_buffers *buffers;
	struct args_position *positions;
	size_t count, capacity;
	struct args_kept kept[ARGS_BLOCKS_KEPT];
	uint64_t lookups;
	struct trace_error error; /* first error of a lookup; empty for none */
};

/* Returns NULL if out of memory. The input and the buffers must outlive the result. */
struct args_blocks *args_blocks_new(const struct input *input, struct trace_buffers *buffers);
void args_blocks_free(struct args_blocks *args); /* NULL is fine */
/* Drops all blocks. */
void args_blocks_clear(struct args_blocks *args);

/* Adds a block. Returns 0 or -ENOMEM. */
int args_blocks_add(struct args_blocks *args, const struct args_position *position);
/* Sets `first` and `last` from a block; checks all of its strings. Returns 0, -EINVAL or
 * -ENOMEM. */
int args_blocks_survey(const struct block *block, struct args_position *position);
/* Must run after the last args_blocks_add and before the first args_blocks_find. */
void args_blocks_sort(struct args_blocks *args);

/*
 * Returns the empty string for an unknown id, or if its block cannot be read. Uses the buffers. The
 * bytes are valid during the next ARGS_BLOCKS_KEPT - 1 calls.
 */
struct trace_string args_blocks_find(struct args_blocks *args, uint64_t id);
