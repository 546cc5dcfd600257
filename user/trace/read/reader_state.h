/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* State of a trace reader. Private to reader*.c. */
#pragma once

#include "trace/read/catalog.h"
#include "trace/read/reader.h"

struct trace_reader {
	struct input input;
	struct trace_buffers buffers; /* of the thread that opened it */
	struct arena arena;	      /* of header and totals */
	struct trace_header header;
	struct trace_totals totals;
	struct catalog catalog;
	struct trace_error incomplete; /* empty when complete */
	uint64_t flushed_ns;	       /* time up to which an incomplete trace was written */
	struct trace_error damage;     /* the first skipped block; empty for none */
	uint64_t damaged_blocks, damaged_rows[TRACE_KIND_COUNT];
	struct trace_error damage_text; /* all damage, in words */
	bool header_is_copy;
	unsigned int false_starts; /* of frames, in searches for the next whole one */
	uint64_t *columns[TRACE_COLUMNS_MAX];
	size_t column_rows[TRACE_COLUMNS_MAX]; /* rows that fit */
	uint64_t loaded;		       /* mask of columns of the last block read */
};

/* reader_rows.c */

/*
 * Finds the columns of the mask. Whether the block is damaged depends on all of its columns, not
 * only on those requested: callers that read a trace twice rely on seeing the same blocks. Returns
 * 0 or -EINVAL.
 */
int reader_view_rows(const struct trace_reader *reader, const struct block *block, uint64_t mask,
		     struct column_view views[TRACE_COLUMNS_MAX]);
/* Turns differences into times. */
void reader_sum_up(uint64_t *times, size_t count, uint64_t t0);
/* Loads the columns of the mask. Returns 0, -EINVAL or -ENOMEM. */
int reader_load_rows(struct trace_reader *reader, const struct block *block, uint64_t mask);
/* Records the damage of a block, which is skipped. */
void reader_note_damage(struct trace_reader *reader, const struct trace_error *error);

/* reader_find.c, which uses these */

/* Reads the header, or its copy if the header cannot be read. `next` receives where blocks may
 * begin. These return 0 or -errno; then `error` says what is wrong. */
int reader_find_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error);
/* Lists the blocks, which begin at `start`. */
int reader_find_blocks(struct trace_reader *reader, uint64_t start, struct trace_error *error);
