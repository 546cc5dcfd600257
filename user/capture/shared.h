/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that we have in common with the kernel side.
 */
#ifndef FAULTLINE_SHARED_H
#define FAULTLINE_SHARED_H

#include <stdbool.h>
#include <stddef.h>

/* As many bytes in whole pages. */
size_t shared_pages(size_t bytes);

/*
 * Maps so much of what a descriptor stands for, from `offset` on, to be read or written, too. For
 * this process alone: those that it forks have no use for it, and are made the sooner. Returns NULL
 * and errno when it cannot; munmap() ends it.
 */
void *shared_map(int fd, size_t bytes, bool writable, size_t offset);

#endif
