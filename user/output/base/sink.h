/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Output: a buffer in front of a file descriptor or a function, or in memory. The first error is
 * kept and checked once at the end, so that writers need not check every step.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sink {
	int fd; /* -1: output goes to `put`; without `put`, it stays in `buffer` */
	int error;
	char *buffer;
	size_t used, size;
	uint64_t written;  /* bytes passed to the descriptor or the function */
	_Bool ascii;	   /* symbols are replaced, see ascii.h */
	_Bool to_terminal; /* fd is a terminal: untrusted bytes must be escaped in every format */
	int (*put)(void *to, const void *bytes, size_t length); /* 0 or -errno */
	void *to;
};

/* The caller keeps the descriptor. Returns 0 or -ENOMEM. */
int sink_open(struct sink *sink, int fd);
/* The same for text for people: in ASCII if their locale requires it. */
int sink_open_text(struct sink *sink, int fd);
/* Passes the output to a function. Returns 0 or -ENOMEM. */
int sink_open_through(struct sink *sink, int (*put)(void *to, const void *bytes, size_t length),
		      void *to);
/* Keeps all output in `buffer` and `used`. Starts without memory, so it cannot fail. */
void sink_open_memory(struct sink *sink);
/* Writes out what is buffered. Returns 0 or the first error (-EPIPE, -ENOSPC, -ENOMEM ...). */
int sink_flush(struct sink *sink);
/* Frees the buffer without flushing. May be called twice. */
void sink_close(struct sink *sink);

/* Use sink_reserve. */
_Bool sink_make_room(struct sink *sink, size_t length);

/* Makes room for `length` bytes at buffer + used; returns false after an error. `length` is at most
 * 64 KiB, except in memory. */
static inline _Bool sink_reserve(struct sink *sink, size_t length)
{
	return (!sink->error && length <= sink->size - sink->used) || sink_make_room(sink, length);
}

void sink_bytes(struct sink *sink, const void *bytes, size_t length);
void sink_format(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sink_uint(struct sink *sink, uint64_t value);
void sink_int(struct sink *sink, int64_t value);
void sink_repeat(struct sink *sink, char c, size_t count);

static inline void sink_text(struct sink *sink, const char *text)
{
	sink_bytes(sink, text, strlen(text));
}

static inline void sink_char(struct sink *sink, char c)
{
	if (sink_reserve(sink, 1))
		sink->buffer[sink->used++] = c;
}
