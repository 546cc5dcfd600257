/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* write() of all bytes, whatever interrupts it. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Returns 0 or -errno. */
static inline int write_all(int fd, const void *data, size_t bytes)
{
	for (const char *at = data; bytes;) {
		ssize_t written = write(fd, at, bytes);

		if (written < 0 && errno != EINTR)
			return -errno;
		at += written > 0 ? written : 0;
		bytes -= written > 0 ? written : 0;
	}
	return 0;
}
