/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads and decompresses the frames of a file.
 *
 * Nothing that a frame says about itself is trusted: its compressed size is found by walking its
 * blocks, and its content is decompressed into no more memory than a frame may have.
 */
#include "trace/read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd_errors.h>

#include "base/number.h"
#include "base/write_all.h"
#include "trace/read/error.h"

#define FRAME_MAGIC 0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u
#define SKIPPABLE_MASK 0xfffffff0u
#define FIRST_READ_BYTES (256u << 10)
#define FIRST_CONTENT_BYTES (1u << 20)

/* --- standard input --- */

static int copy_all(int from, int to)
{
	const size_t room = 1u << 20;
	char *buffer = malloc(room);
	int err = buffer ? 0 : -ENOMEM;

	while (!err) {
		ssize_t got = read(from, buffer, room);

		if (!got)
			break;
		if (got > 0)
			err = write_all(to, buffer, got);
		else if (errno != EINTR)
			err = -errno;
	}
	free(buffer);
	return err;
}

/* Opens an unnamed file for data from a pipe: analyses read it more than once. */
static int open_spool(void)
{
	const char *const directories[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]) && fd < 0; i++)
		if (directories[i])
			fd = open(directories[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : memfd_create("trace", MFD_CLOEXEC);
}

static int open_standard(struct input *input, struct trace_error *error)
{
	struct stat status;
	int err;

	memset(input, 0, sizeof(*input));
	input->fd = -1;
	if (fstat(STDIN_FILENO, &status))
		return trace_fail(error, -errno, "cannot be read: %s", strerror(errno));
	if (isatty(STDIN_FILENO))
		return trace_fail(error, -EINVAL, "is a terminal; use a file or a pipe");
	if (S_ISREG(status.st_mode) && !lseek(STDIN_FILENO, 0, SEEK_CUR)) {
		input->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	} else {
		input->fd = open_spool();
		err = input->fd < 0 ? -errno : copy_all(STDIN_FILENO, input->fd);
		if (err)
			return trace_fail(error, err, "cannot be buffered: %s", strerror(-err));
	}
	if (input->fd < 0 || fstat(input->fd, &status))
		return trace_fail(error, -errno, "cannot be read: %s", strerror(errno));
	input->size = status.st_size;
	return 0;
}

/* --- files --- */

int input_open(struct input *input, const char *path, struct trace_error *error)
{
	struct stat status;

	if (!strcmp(path, "-"))
		return open_standard(input, error);
	memset(input, 0, sizeof(*input));
	/* O_NONBLOCK: do not hang on a FIFO before it can be rejected. */
	input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (input->fd < 0 || fstat(input->fd, &status))
		return trace_fail(error, -errno, "cannot be opened: %s", strerror(errno));
	if (S_ISDIR(status.st_mode))
		return trace_fail(error, -EISDIR, "is a directory, not a trace");
	if (!S_ISREG(status.st_mode))
		return trace_fail(error, -EINVAL, "is not a regular file");
	input->size = status.st_size;
	return 0;
}

int input_open_memory(struct input *input, const void *bytes, size_t length,
		      struct trace_error *error)
{
	memset(input, 0, sizeof(*input));
	input->fd = -1;
	input->memory = bytes;
	input->size = length;
	return 0;
}

void input_close(struct input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	memset(input, 0, sizeof(*input));
	input->fd = -1;
}

void input_release(struct trace_buffers *buffers)
{
	free(buffers->raw);
	free(buffers->content);
	ZSTD_freeDCtx(buffers->context);
	*buffers = (struct trace_buffers) { 0 };
}

/* Makes a buffer large enough; its contents are lost. */
static int grow(uint8_t **buffer, size_t *capacity, size_t bytes)
{
	if (*capacity >= bytes)
		return 0;
	free(*buffer);
	*buffer = malloc(bytes);
	*capacity = *buffer ? bytes : 0;
	return *buffer ? 0 : -ENOMEM;
}

static int read_all(const struct input *input, uint8_t *to, uint64_t offset, size_t length,
		    struct trace_error *error)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(input->fd, to + done, length - done, offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return trace_fail(error, -errno, "cannot be read: %s", strerror(errno));
		if (!got)
			return trace_fail(error, -ENODATA, "was truncated while being read");
		done += got;
	}
	return 0;
}

int input_bytes(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		size_t length, const uint8_t **bytes, struct trace_error *error)
{
	if (offset > input->size || input->size - offset < length)
		return trace_fail(error, -ENODATA, "ends before byte %llu",
				  (unsigned long long)offset + length);
	if (input->fd < 0) {
		*bytes = input->memory + offset;
		return 0;
	}
	if (grow(&buffers->raw, &buffers->raw_capacity, length))
		return trace_no_memory(error);
	*bytes = buffers->raw;
	return read_all(input, buffers->raw, offset, length, error);
}

static int cut(struct trace_error *error, uint64_t offset)
{
	return trace_fail(error, -ENODATA, "is truncated in the block at byte %llu",
			  (unsigned long long)offset);
}

static uint32_t get_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Reads one whole frame, guessing its length until all of it is read. */
static int read_frame(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		      uint64_t length, const uint8_t **bytes, size_t *frame,
		      struct trace_error *error)
{
	const size_t limit = ZSTD_compressBound(TRACE_FRAME_BYTES_MAX);
	uint64_t left = number_sub(input->size, offset);
	uint64_t want = length ? length : FIRST_READ_BYTES;
	int err;

	if (left < INPUT_FRAME_BYTES_MIN)
		return cut(error, offset);
	for (;;) {
		want = want < INPUT_FRAME_BYTES_MIN ? INPUT_FRAME_BYTES_MIN : want;
		want = want > left ? left : want;
		want = want > limit ? limit : want;
		err = input_bytes(input, buffers, offset, want, bytes, error);
		if (err)
			return err;
		if ((get_u32(*bytes) & SKIPPABLE_MASK) == SKIPPABLE_MAGIC) {
			*frame = 0;
			return 0;
		}
		if (get_u32(*bytes) != FRAME_MAGIC)
			return trace_damaged(error, offset, "no block starts here");
		*frame = ZSTD_findFrameCompressedSize(*bytes, want);
		if (!ZSTD_isError(*frame))
			return 0;
		if (ZSTD_getErrorCode(*frame) != ZSTD_error_srcSize_wrong)
			return trace_damaged(error, offset, "incomplete block");
		if (want == left)
			return cut(error, offset);
		if (want == limit)
			return trace_damaged(error, offset, "the block is too large");
		want *= 4;
	}
}

/* The content size may be unknown or wrong: the buffer grows only up to the limit. */
static int decompress(struct trace_buffers *buffers, const uint8_t *bytes, size_t frame,
		      uint64_t offset, size_t *length, struct trace_error *error)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(bytes, frame);
	size_t room = FIRST_CONTENT_BYTES;

	if (claimed == ZSTD_CONTENTSIZE_ERROR)
		return trace_damaged(error, offset, "incomplete block");
	if (claimed != ZSTD_CONTENTSIZE_UNKNOWN) {
		if (claimed > TRACE_FRAME_BYTES_MAX)
			return trace_damaged(error, offset, "the block is too large");
		room = claimed ? claimed : 1;
	}
	if (!buffers->context)
		buffers->context = ZSTD_createDCtx();
	if (!buffers->context)
		return trace_no_memory(error);
	for (;;) {
		if (grow(&buffers->content, &buffers->content_capacity, room))
			return trace_no_memory(error);
		*length =
			ZSTD_decompressDCtx(buffers->context, buffers->content, room, bytes, frame);
		if (!ZSTD_isError(*length))
			return 0;
		if (ZSTD_getErrorCode(*length) == ZSTD_error_memory_allocation)
			return trace_no_memory(error);
		if (ZSTD_getErrorCode(*length) != ZSTD_error_dstSize_tooSmall ||
		    claimed != ZSTD_CONTENTSIZE_UNKNOWN)
			return trace_damaged(error, offset, ZSTD_getErrorName(*length));
		if (room == TRACE_FRAME_BYTES_MAX)
			return trace_damaged(error, offset, "the block is too large");
		room = room > TRACE_FRAME_BYTES_MAX / 8 ? TRACE_FRAME_BYTES_MAX : room * 8;
	}
}

int input_frame(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		uint64_t length, struct mp *content, uint64_t *next, struct trace_error *error)
{
	const uint8_t *bytes;
	size_t frame = 0, size = 0;
	int err = read_frame(input, buffers, offset, length, &bytes, &frame, error);

	memset(content, 0, sizeof(*content));
	if (err)
		return err;
	if (!frame) { /* skippable: two words, and as many bytes as the second says */
		*next = offset + 8 + get_u32(bytes + 4);
		return *next > input->size ? cut(error, offset) : 0;
	}
	err = decompress(buffers, bytes, frame, offset, &size, error);
	if (err)
		return err;
	content->at = buffers->content;
	content->end = buffers->content + size;
	*next = offset + frame;
	return 0;
}

int input_find_frame(const struct input *input, struct trace_buffers *buffers, uint64_t from,
		     uint64_t *offset, struct trace_error *error)
{
	const uint32_t magic = FRAME_MAGIC;
	const uint8_t *bytes, *found;

	while (from < input->size && input->size - from >= INPUT_FRAME_BYTES_MIN) {
		uint64_t left = input->size - from;
		size_t length = number_min(left, FIRST_READ_BYTES);
		int err = input_bytes(input, buffers, from, length, &bytes, error);

		if (err)
			return err;
		found = memmem(bytes, length, &magic, sizeof(magic));
		if (found) {
			*offset = from + (found - bytes);
			return 0;
		}
		from += length - (sizeof(magic) - 1);
	}
	return -ENODATA;
}
