/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The contents of a file: where its row blocks are, and its strings; read from an index. Private to
 * user/trace.
 */
#pragma once

#include "trace/read/args_blocks.h"
#include "trace/format/block.h"
#include "trace/read/input.h"
#include "trace/read/reader.h"
#include "trace/read/texts.h"

/* A row block, and how many bytes to read for it. */
struct catalog_position {
	struct trace_block_info info;
	uint64_t length;
	bool passed_over; /* it could not be read */
};

struct catalog {
	struct catalog_position *positions;
	size_t count, capacity;
	struct texts texts;
	struct trace_error damage; /* from the first strings that could not be read */
	uint64_t missing_strings;  /* in all unreadable blocks, according to the index */
	struct args_blocks *args;  /* separate: lookups change its cache, not its contents */
};

/* These return 0, -EINVAL for damage, -ENOMEM, or -errno of a read. */

int catalog_add(struct catalog *catalog, const struct catalog_position *position);
/* Drops blocks and strings. */
void catalog_clear(struct catalog *catalog);
void catalog_free(struct catalog *catalog);

/* Reads the frame at `offset`, which must hold a block of this type. */
int catalog_open_block(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		       uint64_t length, enum block_type type, struct block *block,
		       struct trace_error *error);

/*
 * Reads the index whose last frame is at `last`: adds the blocks between `start`, where the first
 * block of the file may be, and `last`. Loads all strings except arguments, and records unreadable
 * ones in `damage`; other blocks are not read.
 */
int catalog_read_index(struct catalog *catalog, const struct input *input,
		       struct trace_buffers *buffers, uint64_t start, uint64_t last,
		       struct trace_error *error);
