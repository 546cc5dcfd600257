/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work that a second thread helps with, one piece after the other. Knows nothing of what it is.
 */
#ifndef FAULTLINE_HELPER_THREAD_H
#define FAULTLINE_HELPER_THREAD_H

struct helper_thread;

/* `work` does what is left of a piece of work; it may be called by two threads at once. Without a
 * thread to be had helper_thread_join does everything. Returns 0 or -ENOMEM. */
int helper_thread_open(struct helper_thread **helper_thread, void (*work)(void *context),
		       void *context);
void helper_thread_close(struct helper_thread *helper_thread); /* NULL is fine */

/* Has a piece of work begun, if a CPU is free. */
void helper_thread_start(struct helper_thread *helper_thread);
/* Does what is left of it and waits until all is done; to be called after each start. */
void helper_thread_join(struct helper_thread *helper_thread);

#endif
