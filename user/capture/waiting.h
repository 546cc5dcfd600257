/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations in flight when a recording ends: iterators over tasks, which are opened while there
 * are the privileges for it and read once at the end.
 */
#ifndef FAULTLINE_WAITING_H
#define FAULTLINE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

struct faultline;
struct waiting;

/* Opens the iterators over calls and faults, and over asynchronous operations, if their programs
 * are loaded. Logs a warning if one cannot be opened. NULL: memory is out. */
struct waiting *waiting_open(struct faultline *skeleton, bool calls, bool async);
/* The other programs are about to be detached: ends of calls are not seen from now on. Takes
 * NULL. */
void waiting_stop(struct waiting *waiting);
/* Makes the kernel side send a record for each operation in flight at `end_ns`, or when it was
 * stopped, if that was earlier. To be called once, after the programs are detached. Takes NULL. */
void waiting_record(struct waiting *waiting, uint64_t end_ns);
void waiting_close(struct waiting *waiting);

#endif
