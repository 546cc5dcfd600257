/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes gzip files with zlib. */
#include "output/base/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (128u << 10)

int gzip_open(struct gzFile_s **file, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* zlib closes it */

	*file = NULL;
	if (copy < 0)
		return -errno;
	/* The fastest level: exports are so repetitive that higher levels gain little. */
	*file = gzdopen(copy, "wb1");
	if (!*file) {
		close(copy);
		return -ENOMEM;
	}
	gzbuffer(*file, BUFFER_BYTES);
	return 0;
}

static int error_of(int status)
{
	return status == Z_ERRNO && errno ? -errno : status == Z_MEM_ERROR ? -ENOMEM : -EIO;
}

int gzip_put(void *file, const void *bytes, size_t length)
{
	int status;

	if (gzfwrite(bytes, 1, length, file) == length)
		return 0;
	gzerror(file, &status);
	return error_of(status);
}

int gzip_close(struct gzFile_s *file)
{
	int status = file ? gzclose_w(file) : Z_OK;

	return status == Z_OK ? 0 : error_of(status);
}
