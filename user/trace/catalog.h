/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a file holds: where its blocks of rows are, and its strings; and how to learn it from an
 * index. Knows nothing of rows. Private to user/trace.
 */
#ifndef FAULTLINE_TRACE_CATALOG_H
#define FAULTLINE_TRACE_CATALOG_H

#include "args_blocks.h"
#include "block.h"
#include "input.h"
#include "reader.h"
#include "texts.h"

/* A block of rows and how many bytes to read for it. */
struct catalog_place {
	struct trace_block_info info;
	uint64_t length;
	bool passed_over; /* it could not be read */
};

struct catalog {
	struct catalog_place *places;
	size_t count, capacity;
	struct texts texts;
	struct trace_error damage; /* of the first strings that could not be read */
	uint64_t missing_strings;  /* in all of those, as the index says */
	struct args_blocks *args;  /* apart: looking into them changes what is kept, not what is */
};

/* Functions return 0; -EINVAL for what is damaged; -ENOMEM; -errno of a read. */

int catalog_add(struct catalog *catalog, const struct catalog_place *place);
/* Forgets blocks and strings. */
void catalog_clear(struct catalog *catalog);
void catalog_free(struct catalog *catalog);

/* Reads the frame at `offset`, which must hold a block of this type. */
int catalog_open_block(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		       uint64_t length, enum block_type type, struct block *block,
		       struct trace_error *error);

/*
 * Takes in what the index says whose last frame is at `last`: blocks between `start`, where the
 * first block of the file may stand, and `last`. Loads the strings but args, and notes in `damage`
 * those that cannot be read; other blocks are not looked at.
 */
int catalog_read_index(struct catalog *catalog, const struct input *input,
		       struct trace_buffers *buffers, uint64_t start, uint64_t last,
		       struct trace_error *error);

#endif
