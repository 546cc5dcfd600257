/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The file side of a writer: compresses packed objects into frames, appends them to the file, and
 * records what the index needs.
 *
 * Room after the end of the file is reserved, as far as the file system can guarantee it: for the
 * index and the totals, and before these for names of files and processes. What finds no room is
 * refused with an error of output_is_full, and may find some later. After any other error, all
 * later calls return that error without writing.
 */
#pragma once

#include <stdbool.h>
#include <zstd.h>

#include "trace/format/format.h"
#include "trace/format/pack.h"

/* How much of the reserved room a frame must leave. */
enum output_room {
	ROOM_FOR_NAMES,	 /* and for totals: all ordinary frames */
	ROOM_FOR_TOTALS, /* names */
	ROOM_FOR_NOTHING /* index and totals */
};

struct output {
	int fd;
	bool stream;	   /* a pipe, for example: append only, no offsets */
	bool no_promise;   /* the file system cannot reserve room */
	uint64_t promised; /* end of the reserved room */
	int error;	   /* the first one other than a full disk, sticky */
	uint64_t offset;   /* of the end of the last whole frame */
	ZSTD_CCtx *context;
	uint8_t *frame;
	size_t frame_capacity;
	struct format_entry *entries; /* since the last index frame */
	size_t entry_count;
	uint64_t last_index; /* offset of the last index frame, 0 for none */
	struct pack index;
};

/* `level` is zstd's; 0 for the default. The output must be freed even after an error. */
int output_open(struct output *output, int fd, int level);
void output_free(struct output *output);

/* True if an error means that there is no room now: disk, quota, or file size limit. */
bool output_is_full(int error);

/* Writes an object that is not in the index. */
int output_object(struct output *output, const struct pack *object, enum output_room room);
/* Writes a block and records its entry for the index; sets the offset. */
int output_block(struct output *output, const struct pack *block, struct format_entry entry,
		 enum output_room room);
/* Writes a finished frame of a block in the same way. */
int output_frame(struct output *output, const struct pack *frame, struct format_entry entry,
		 enum output_room room);
/* Writes the index, the totals and the tail, and releases the remaining room. */
int output_end(struct output *output, const struct pack *totals);
