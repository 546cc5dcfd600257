/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is given back all at once. Knows nothing of what it holds.
 */
#ifndef FAULTLINE_TRACE_POOL_H
#define FAULTLINE_TRACE_POOL_H

#include <stddef.h>

struct pool_piece;

struct pool {
	struct pool_piece *piece;
	size_t bytes; /* given out */
};

/* Aligned for anything; NULL when there is no memory. */
void *pool_alloc(struct pool *pool, size_t bytes);
/* Copies bytes and adds a NUL, unaligned. */
char *pool_text(struct pool *pool, const void *bytes, size_t length);
void pool_free(struct pool *pool);

#endif
