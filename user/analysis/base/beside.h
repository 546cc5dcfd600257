/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work that a second thread helps with, one piece after the other. Knows nothing of what it is.
 */
#ifndef FAULTLINE_BESIDE_H
#define FAULTLINE_BESIDE_H

struct beside;

/* `work` does what is left of a piece of work; it may be called by two threads at once. Without a
 * thread to be had beside_join does everything. Returns 0 or -ENOMEM. */
int beside_open(struct beside **beside, void (*work)(void *context), void *context);
void beside_close(struct beside *beside); /* NULL is fine */

/* Has a piece of work begun, if a CPU is free. */
void beside_start(struct beside *beside);
/* Does what is left of it and waits until all is done; to be called after each start. */
void beside_join(struct beside *beside);

#endif
