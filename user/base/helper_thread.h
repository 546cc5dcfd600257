/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A second thread that helps with work, one piece at a time. */
#pragma once

struct helper_thread;

/* `work` does the rest of a piece of work; two threads may call it at once. If no thread can be
 * created, helper_thread_join does all the work. Returns 0 or -ENOMEM. */
int helper_thread_open(struct helper_thread **helper_thread, void (*work)(void *context),
		       void *context);
void helper_thread_close(struct helper_thread *helper_thread); /* NULL is fine */

/* Has the helper thread begin a piece of work, if a CPU is free. */
void helper_thread_start(struct helper_thread *helper_thread);
/* Does the rest of the work and waits until it is complete. Must be called after each start. */
void helper_thread_join(struct helper_thread *helper_thread);
