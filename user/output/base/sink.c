/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Buffered output with a sticky error. */
#include "output/base/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/base/ascii.h"

#define BUFFER_BYTES (128u << 10)
#define RESERVE_MAX (64u << 10)

int sink_open(struct sink *sink, int fd)
{
	*sink = (struct sink) { .fd = fd,
				.buffer = malloc(BUFFER_BYTES),
				.size = BUFFER_BYTES,
				.to_terminal = fd >= 0 && isatty(fd) };
	if (!sink->buffer)
		sink->error = -ENOMEM;
	return sink->error;
}

int sink_open_text(struct sink *sink, int fd)
{
	int status = sink_open(sink, fd);

	sink->ascii = ascii_is_wanted();
	return status;
}

int sink_open_through(struct sink *sink, int (*put)(void *to, const void *bytes, size_t length),
		      void *to)
{
	int status = sink_open(sink, -1);

	sink->put = put;
	sink->to = to;
	return status;
}

void sink_open_memory(struct sink *sink)
{
	*sink = (struct sink) { .fd = -1 };
}

static bool in_memory(const struct sink *sink)
{
	return sink->fd < 0 && !sink->put;
}

void sink_close(struct sink *sink)
{
	free(sink->buffer);
	*sink = (struct sink) { .fd = -1, .error = sink->error };
}

static void write_out(struct sink *sink, const char *bytes, size_t length)
{
	if (sink->put && length && !sink->error) {
		sink->error = sink->put(sink->to, bytes, length);
		sink->written += length;
		return;
	}
	while (length && !sink->error) {
		ssize_t n = write(sink->fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			sink->error = -errno;
			return;
		}
		bytes += n;
		length -= n;
		sink->written += n;
	}
}

int sink_flush(struct sink *sink)
{
	if (!in_memory(sink)) {
		if (sink->ascii)
			sink->used = ascii_replace(sink->buffer, sink->used);
		write_out(sink, sink->buffer, sink->used);
		sink->used = 0;
	}
	return sink->error;
}

static _Bool grow(struct sink *sink, size_t length)
{
	size_t size = sink->size ? sink->size : 256;
	char *buffer;

	while (size - sink->used < length) {
		if (size > SIZE_MAX / 2)
			goto fail;
		size *= 2;
	}
	buffer = realloc(sink->buffer, size);
	if (!buffer)
		goto fail;
	sink->buffer = buffer;
	sink->size = size;
	return 1;
fail:
	sink->error = -ENOMEM;
	return 0;
}

_Bool sink_make_room(struct sink *sink, size_t length)
{
	if (sink->error)
		return 0;
	if (in_memory(sink))
		return grow(sink, length);
	if (length > RESERVE_MAX)
		sink->error = -EINVAL;
	return sink_flush(sink) == 0;
}

void sink_bytes(struct sink *sink, const void *bytes, size_t length)
{
	if (!in_memory(sink) && length > RESERVE_MAX) {
		sink_flush(sink);
		write_out(sink, bytes, length);
		return;
	}
	if (!length || !sink_reserve(sink, length))
		return;
	memcpy(sink->buffer + sink->used, bytes, length);
	sink->used += length;
}

void sink_format(struct sink *sink, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n >= (int)sizeof(text)) {
		char *whole = NULL;

		va_start(args, format);
		n = vasprintf(&whole, format, args);
		va_end(args);
		if (n < 0)
			sink->error = sink->error ? sink->error : -ENOMEM;
		else
			sink_bytes(sink, whole, n);
		free(n < 0 ? NULL : whole);
		return;
	}
	if (n > 0)
		sink_bytes(sink, text, n);
}

void sink_uint(struct sink *sink, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = '0' + value % 10;
	while (value /= 10);
	sink_bytes(sink, digits + at, sizeof(digits) - at);
}

void sink_int(struct sink *sink, int64_t value)
{
	if (value < 0)
		sink_char(sink, '-');
	sink_uint(sink, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void sink_repeat(struct sink *sink, char c, size_t count)
{
	while (count--)
		sink_char(sink, c);
}
