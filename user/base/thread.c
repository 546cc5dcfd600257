/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starts threads. */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>

int thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, work, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

unsigned int thread_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}
