/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starts threads that take no signals, and counts the CPUs for them. */
#pragma once

#include <pthread.h>

/* Starts a thread with all signals blocked: they are for the program's other threads. Returns 0 or
 * a negative errno. */
int thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

/* Returns how many CPUs this thread may run on; 1 if unknown. */
unsigned int thread_cpus(void);
