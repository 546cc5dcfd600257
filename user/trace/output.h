/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The file side of a writer: compresses packed objects into frames, appends them to the file,
 * remembers what the index needs. Knows nothing of threads and of how blocks are filled.
 *
 * Room is kept behind the end of the file, as far as the file system can promise it: for the index
 * and the totals, and, ahead of them, for what files and processes are called. What finds no room
 * is refused with an error of output_is_full, and may find some later. After another error every
 * later call returns the same without writing.
 */
#ifndef FAULTLINE_TRACE_OUTPUT_H
#define FAULTLINE_TRACE_OUTPUT_H

#include <stdbool.h>
#include <zstd.h>

#include "format.h"
#include "pack.h"

/* What a frame has to leave of the room that is kept. */
enum output_room {
	ROOM_FOR_NAMES,	 /* and for totals: all that is ordinary */
	ROOM_FOR_TOTALS, /* names */
	ROOM_FOR_NOTHING /* index and totals */
};

struct output {
	int fd;
	bool stream;	   /* a pipe, say: has an end, but no places */
	bool no_promise;   /* the file system promises no room */
	uint64_t promised; /* end of the room that is the file's own */
	int error;	   /* the first one but for a full disk, sticky */
	uint64_t offset;   /* of the end of the last whole frame */
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

/* Whether an error says that there is no room now: disk, quota, or the limit of a file's size. */
bool output_is_full(int error);

/* Writes an object that stands in no index. */
int output_object(struct output *output, const struct pack *object, enum output_room room);
/* Writes a block and notes it for the index, offset apart. */
int output_block(struct output *output, const struct pack *block, struct format_entry entry,
		 enum output_room room);
/* Writes the index, the totals and the tail, and gives back what room is left. */
int output_end(struct output *output, const struct pack *totals);

#endif
