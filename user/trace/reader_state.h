/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a reader of a trace consists of. Private to reader.c and reader_find.c.
 */
#ifndef FAULTLINE_READER_STATE_H
#define FAULTLINE_READER_STATE_H

#include "catalog.h"
#include "reader.h"

struct trace_reader {
	struct input input;
	struct trace_buffers buffers; /* of the thread that opened it */
	struct arena arena;	      /* of header and totals */
	struct trace_header header;
	struct trace_totals totals;
	struct catalog catalog;
	struct trace_error incomplete; /* empty when complete */
	uint64_t flushed_ns;	       /* of an incomplete one: up to when it was written */
	struct trace_error damage;     /* the first block that was passed over; empty for none */
	uint64_t damaged_blocks, damaged_rows[TRACE_KIND_COUNT];
	struct trace_error damage_text; /* all of it, in words */
	bool header_is_copy;
	uint64_t *columns[TRACE_COLUMNS_MOST];
	size_t column_rows[TRACE_COLUMNS_MOST]; /* that fit */
	uint64_t loaded;			/* mask of columns of the block read last */
};

/* Loads the columns of the mask. 0, -EINVAL, -ENOMEM. */
int reader_load_rows(struct trace_reader *reader, const struct block *block, uint64_t mask);
/* A block that cannot be read is passed over. */
void reader_note_damage(struct trace_reader *reader, const struct trace_error *error);

/* Reads the header, from its copy if the first cannot be read. `next` receives where blocks may
 * begin. These return 0 or -errno, and then `error` says what is wrong. */
int reader_find_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error);
/* Makes the list of blocks that begin there. */
int reader_find_blocks(struct trace_reader *reader, uint64_t start, struct trace_error *error);

#endif
