/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The frames of a trace file, decompressed one at a time. Knows nothing of what is in them.
 *
 * Files are read with pread: a mapping would raise SIGBUS when the file shrinks meanwhile. Nothing
 * of an open input changes, so any number of threads may read it, each with buffers of its own.
 */
#ifndef FAULTLINE_TRACE_INPUT_H
#define FAULTLINE_TRACE_INPUT_H

#include <zstd.h>

#include "mp.h"
#include "reader.h"

struct input {
	int fd;		       /* -1: bytes in memory */
	const uint8_t *memory; /* or NULL */
	uint64_t size;
};

/* What frames are read into and decompressed in. All zeros at first; what is in it is valid until
 * the next call that is given it. */
struct trace_buffers {
	uint8_t *raw, *content;
	size_t raw_capacity, content_capacity;
	ZSTD_DCtx *context;
};

void input_release(struct trace_buffers *buffers);

/* A frame is at least as long as this. */
#define INPUT_FRAME_BYTES_MIN 8

/* Both return -errno, with words. The input is to be closed even after an error. */
int input_open(struct input *input, const char *path, struct trace_error *error);
int input_open_memory(struct input *input, const void *bytes, size_t length,
		      struct trace_error *error);
void input_close(struct input *input);

/* The bytes at `offset`. -ENODATA when the file ends before. */
int input_bytes(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		size_t length, const uint8_t **bytes, struct trace_error *error);

/*
 * Decompresses the frame at `offset`. `content` is empty and its `at` NULL for a skippable frame.
 * `next` receives where the following frame starts. `length` is
 * how many bytes to read at first: the frame's if known, else 0.
 * Returns 0; -ENODATA when the file ends inside the frame; -EINVAL for a damaged frame or one
 * that holds more than TRACE_FRAME_BYTES_MAX; -ENOMEM; -errno of the read.
 */
int input_frame(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		uint64_t length, struct mp *content, uint64_t *next, struct trace_error *error);

/*
 * Finds where a frame of the trace may begin, at `from` or later, by the bytes that one begins
 * with. -ENODATA if nowhere.
 */
int input_find_frame(const struct input *input, struct trace_buffers *buffers, uint64_t from,
		     uint64_t *offset, struct trace_error *error);

#endif
