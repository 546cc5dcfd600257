/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Describes the host and the time for a trace's header. */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <time.h>

#include "trace/format/header.h"

/* Fills the fields about this host, its kernel and its clocks; the texts are static. */
void host_describe(struct trace_header *header);

/* Writes the path of this program. Returns a negative errno if it cannot. */
int host_program_path(char path[PATH_MAX]);

/* Raises this process's limit of open files to the maximum. Returns the new limit. */
uint64_t host_raise_open_files(void);

/* Opens for reading, without waiting, below a directory as if it were the root: links lead nowhere
 * else. `flags` are added. Returns -1 and sets errno on failure. */
int host_open_below(int root, const char *path, int flags);

/* How far this process's CLOCK_MONOTONIC is ahead of the kernel's, due to its time namespace. */
int64_t host_clock_ahead_ns(void);
/* Returns the time on the trace's clock: the kernel's CLOCK_MONOTONIC, in any time namespace. */
uint64_t host_now_ns(void);
/* Returns the time `ns` from now, for functions that wait on CLOCK_MONOTONIC. */
struct timespec host_after_ns(uint64_t ns);
/* Returns the Unix time. */
uint64_t host_unix_now_ns(void);
