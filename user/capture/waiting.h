/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls in flight when a recording ends: an iterator over tasks, which is opened while there are
 * the privileges for it and read once at the end.
 */
#ifndef FAULTLINE_WAITING_H
#define FAULTLINE_WAITING_H

#include <stdint.h>

struct faultline;
struct waiting;

/* NULL, with a warning logged, where it cannot be had. */
struct waiting *waiting_open(struct faultline *skeleton);
/* The other programs are about to be detached: ends of calls are not seen from now on. Takes
 * NULL. */
void waiting_stop(struct waiting *waiting);
/* Makes the kernel side send a record for each call in flight at `end_ns`, or when it was stopped,
 * if that was earlier. To be called once, after the programs are detached. Takes NULL. */
void waiting_record(struct waiting *waiting, uint64_t end_ns);
void waiting_close(struct waiting *waiting);

#endif
