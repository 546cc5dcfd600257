/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * gzip by zlib's deflate. Knows nothing of what is compressed.
 */
#include "output/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (64u << 10)
#define GZIP_FORMAT 16 /* added to zlib's window bits: a gzip header, not zlib's own */

struct gzip {
	int fd;
	z_stream stream;
	uint8_t buffer[BUFFER_BYTES];
};

int gzip_open(struct gzip **out, int fd)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	*out = NULL;
	if (!gzip)
		return -ENOMEM;
	gzip->fd = fd;
	/* The fastest level: what is exported repeats itself so much that others gain little. */
	if (deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT,
			 MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*out = gzip;
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		length -= n;
	}
	return 0;
}

static int compress_some(struct gzip *gzip, int flush)
{
	int status = 0;

	do {
		gzip->stream.next_out = gzip->buffer;
		gzip->stream.avail_out = BUFFER_BYTES;
		deflate(&gzip->stream, flush);
		status = write_all(gzip->fd, gzip->buffer, BUFFER_BYTES - gzip->stream.avail_out);
	} while (!status && !gzip->stream.avail_out);
	return status;
}

int gzip_put(void *to, const void *bytes, size_t length)
{
	struct gzip *gzip = to;
	int status = 0;

	/* zlib counts in 32 bits. */
	while (length && !status) {
		size_t part = length < 1u << 30 ? length : 1u << 30;

		gzip->stream.next_in = (void *)bytes;
		gzip->stream.avail_in = part;
		status = compress_some(gzip, Z_NO_FLUSH);
		bytes = (const uint8_t *)bytes + part;
		length -= part;
	}
	return status;
}

int gzip_finish(struct gzip *gzip)
{
	return compress_some(gzip, Z_FINISH);
}

void gzip_close(struct gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}
