/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes gzip-compressed data to a descriptor. */
#pragma once

#include <stddef.h>

struct gzFile_s; /* zlib's */

/* The caller keeps the descriptor. Functions return 0, -ENOMEM or -errno of a write. */
int gzip_open(struct gzFile_s **file, int fd);
/* `file` is a struct gzFile_s *, to fit sink_open_through. */
int gzip_put(void *file, const void *bytes, size_t length);
/* Writes the trailer, which completes the file; accepts NULL. */
int gzip_close(struct gzFile_s *file);
