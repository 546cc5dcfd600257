/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations in flight and threads when a recording ends: iterators over tasks, opened while the
 * process has the privileges, and read once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct faultline;
struct waiting;

/* Opens the iterators over calls and faults, over asynchronous operations, and over the times of
 * threads, if their programs are loaded. Logs a warning if one cannot be opened. Returns NULL if
 * out of memory. */
struct waiting *waiting_open(struct faultline *skeleton, bool calls, bool async, bool threads);
/* Notes that the other programs are about to be detached: later ends of calls are not recorded.
 * NULL is fine. */
void waiting_stop(struct waiting *waiting);
/* Makes the kernel side send a record for each operation in flight at `end_ns`, or at waiting_stop
 * if that was earlier, and the times of all threads up to then. Must run once, after the programs
 * are detached. NULL is fine. */
void waiting_record(struct waiting *waiting, uint64_t end_ns);
void waiting_close(struct waiting *waiting);
