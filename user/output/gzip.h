/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compresses what is written to a descriptor, as gzip does. Knows nothing of what it is.
 */
#ifndef FAULTLINE_GZIP_H
#define FAULTLINE_GZIP_H

#include <stddef.h>

struct gzip;

/* The descriptor stays the caller's. Functions return 0, -ENOMEM or -errno of a write. */
int gzip_open(struct gzip **gzip, int fd);
/* `gzip` is a struct gzip *: fits sink_open_through. */
int gzip_put(void *gzip, const void *bytes, size_t length);
/* Writes out the end, after which the file is whole. */
int gzip_finish(struct gzip *gzip);
void gzip_close(struct gzip *gzip); /* NULL is fine */

#endif
