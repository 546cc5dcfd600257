/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --ready-fd: a descriptor that whoever starts a command learns from when all is recorded. Knows
 * nothing of what is.
 */
#ifndef FAULTLINE_READY_FD_H
#define FAULTLINE_READY_FD_H

#include <stdint.h>

/* Whether it is open, before anything of ours may get its number; 0: none was given. Returns 0 or
 * -EBADF, logged. */
int ready_fd_check(uint64_t fd);

/* Writes the line and closes it; a failure is a warning. */
void ready_fd_say(uint64_t fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
