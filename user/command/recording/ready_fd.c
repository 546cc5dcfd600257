/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes one line to a descriptor. */
#include "command/recording/ready_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

int ready_fd_check(uint64_t fd)
{
	if (fd <= INT32_MAX && (!fd || fcntl(fd, F_GETFD) >= 0))
		return 0;
	log_error("--ready-fd %llu: not an open file descriptor", (unsigned long long)fd);
	return -EBADF;
}

void ready_fd_say(uint64_t fd, const char *format, ...)
{
	va_list args;

	if (!fd)
		return;
	va_start(args, format);
	if (vdprintf(fd, format, args) < 0)
		log_warning("--ready-fd %d: %s", (int)fd, strerror(errno));
	va_end(args);
	close(fd);
}
