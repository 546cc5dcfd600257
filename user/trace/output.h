/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The file side of a writer: compresses packed objects into frames, appends them to the file,
 * remembers what the index needs. Knows nothing of threads and of how blocks are filled.
 *
 * After a failed write the file is cut back to its last whole frame and every later call returns
 * the same error without writing.
 */
#ifndef FAULTLINE_TRACE_OUTPUT_H
#define FAULTLINE_TRACE_OUTPUT_H

#include <zstd.h>

#include "format.h"
#include "pack.h"

struct output {
	int fd;
	int error;	 /* the first one, sticky */
	uint64_t offset; /* of the end of the last whole frame */
	ZSTD_CCtx *context;
	uint8_t *frame;
	size_t frame_capacity;
	struct format_entry *entries; /* since the last index frame */
	size_t entry_count;
	uint64_t last_index; /* offset of the last index frame, 0 for none */
	struct pack index;
};

/* `level` is zstd's; 0 is the default. The output is to be freed even after an error. */
int output_open(struct output *output, int fd, int level);
void output_free(struct output *output);

/* Writes an object that stands in no index. */
int output_object(struct output *output, const struct pack *object);
/* Writes a block and notes it for the index, offset apart. */
int output_block(struct output *output, const struct pack *block, struct format_entry entry);
/* Writes the index, the totals and the tail. */
int output_end(struct output *output, const struct pack *totals);

#endif
