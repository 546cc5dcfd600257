/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* --ready-fd: reports on a descriptor when everything is being recorded. */
#pragma once

#include <stdint.h>

/* Checks that it is open, before a file of ours may get its number; 0: not given. Returns 0 or
 * -EBADF, logged. */
int ready_fd_check(uint64_t fd);

/* Writes the line and closes it; a failure is a warning. */
void ready_fd_say(uint64_t fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
