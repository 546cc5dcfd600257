/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The frames of a trace file, decompressed one at a time.
 *
 * Files are read with pread: a mapping would raise SIGBUS if the file shrinks. An open input never
 * changes, so any number of threads may read it, each with its own buffers.
 */
#pragma once

#include <zstd.h>

#include "trace/format/mp.h"
#include "trace/read/reader.h"

struct input {
	int fd;		       /* -1: bytes in memory */
	const uint8_t *memory; /* or NULL */
	uint64_t size;
};

/* Buffers for reading and decompressing frames. All zeros initially; their contents are valid until
 * the next call that uses them. */
struct trace_buffers {
	uint8_t *raw, *content;
	size_t raw_capacity, content_capacity;
	ZSTD_DCtx *context;
};

void input_release(struct trace_buffers *buffers);

/* Minimum length of a frame. */
#define INPUT_FRAME_BYTES_MIN 8

/* Both return -errno, with a text in `error`. The input must be closed even after an error. */
int input_open(struct input *input, const char *path, struct trace_error *error);
int input_open_memory(struct input *input, const void *bytes, size_t length,
		      struct trace_error *error);
void input_close(struct input *input);

/* Finds the bytes at `offset`. -ENODATA if the file ends before. */
int input_bytes(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		size_t length, const uint8_t **bytes, struct trace_error *error);

/*
 * Decompresses the frame at `offset`. For a skippable frame, `content` is empty and its `at` NULL.
 * `next` receives the offset of the following frame. `length` is how many bytes to read at first:
 * the frame's if known, else 0.
 * Returns 0; -ENODATA if the file ends inside the frame; -EINVAL for a damaged frame or one that
 * holds more than TRACE_FRAME_BYTES_MAX; -ENOMEM; -errno of the read.
 */
int input_frame(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		uint64_t length, struct mp *content, uint64_t *next, struct trace_error *error);

/*
 * Finds where a frame may begin, at `from` or later, by its first bytes. -ENODATA if there is none.
 */
int input_find_frame(const struct input *input, struct trace_buffers *buffers, uint64_t from,
		     uint64_t *offset, struct trace_error *error);
