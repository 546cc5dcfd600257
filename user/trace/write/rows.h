/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows on their way from the producer to the file: kept in chunks of wide columns, then packed into
 * a block of narrow ones.
 */
#pragma once

#include "trace/format/pack.h"
#include "trace/format/schema.h"

/* Fits the L1 cache, so that storing a row in all its columns is cheap. */
#define ROWS_CHUNK_BYTES 32768
#define ROWS_CHUNK_VALUES ((ROWS_CHUNK_BYTES - 16) / sizeof(uint64_t))

/* Column after column, each with room for rows_per_chunk(). */
struct rows_chunk {
	struct rows_chunk *next;
	uint64_t count;
	uint64_t values[ROWS_CHUNK_VALUES];
};

static inline size_t rows_per_chunk(enum trace_kind kind)
{
	return ROWS_CHUNK_VALUES / trace_schemas[kind].column_count;
}

struct rows {
	struct rows_chunk *first, *last;
	size_t count; /* in all chunks */
};

void rows_add_chunk(struct rows *rows, struct rows_chunk *chunk);
/* Moves all rows of `from` to the end of `to`. */
void rows_join(struct rows *to, struct rows *from);

/* What an index says about a block: see struct format_entry. */
struct rows_summary {
	uint64_t start, end; /* earliest start and latest end */
	uint64_t pids, files;
};

/*
 * Packs rows into one block, which replaces what `pack` held. The rows are consumed: their times
 * are overwritten. Returns 0 or -ENOMEM.
 */
int rows_pack(struct pack *pack, enum trace_kind kind, struct rows *rows,
	      struct rows_summary *summary);
