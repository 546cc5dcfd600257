/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory shared with the kernel side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Rounds up to whole pages. */
size_t shared_pages(size_t bytes);

/*
 * Maps `bytes` of a descriptor from `offset` on, to read or also to write. Children do not inherit
 * the mapping: they do not need it, and fork() is faster without it. Returns NULL and sets errno on
 * failure; munmap() ends it.
 */
void *shared_map(int fd, size_t bytes, bool writable, size_t offset);
