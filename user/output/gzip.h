/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compresses what is written to a descriptor, as gzip does. Knows nothing of what it is.
 */
#ifndef FAULTLINE_GZIP_H
#define FAULTLINE_GZIP_H

#include <stddef.h>

struct gzFile_s; /* zlib's */

/* The descriptor stays the caller's. Functions return 0, -ENOMEM or -errno of a write. */
int gzip_open(struct gzFile_s **file, int fd);
/* `file` is a struct gzFile_s *: fits sink_open_through. */
int gzip_put(void *file, const void *bytes, size_t length);
/* Writes out the end, after which what was written is whole; NULL is fine. */
int gzip_close(struct gzFile_s *file);

#endif
