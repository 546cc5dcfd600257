/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses the blocks of a trace. Private to user/trace. */
#pragma once

#include "trace/format/column.h"
#include "trace/format/format.h"
#include "trace/format/mp.h"

enum block_type {
	BLOCK_ROWS,
	BLOCK_STRINGS,
	BLOCK_ARGS,
	BLOCK_INDEX,
	BLOCK_TOTALS,
	BLOCK_FLUSH,
	BLOCK_HEADER, /* the header's copy */
	BLOCK_UNKNOWN
};

struct block {
	enum block_type type;
	enum trace_kind kind; /* BLOCK_ROWS */
	uint64_t rows;	      /* from "n" */
	uint64_t t0;
	struct mp object;
};

/* Finds the type by the name that an index or a block has for it. */
enum block_type block_type_of(const struct mp_value *name, enum trace_kind *kind);

/* These return 0 or -EINVAL. */

/* Parses what a block says about itself; its columns are not checked. */
int block_parse(struct block *block, struct mp object);
/* Finds the columns of the mask; missing ones have width 0. */
int block_columns(const struct block *block, const struct trace_column *columns, size_t count,
		  uint64_t mask, struct column_view *views);
