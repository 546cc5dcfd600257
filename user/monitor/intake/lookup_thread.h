/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A thread that looks up what its owner asks for, and may outlive the owner, waiting for a disk or
 * a server: the last of both to leave frees what they share, which begins with this struct.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct lookup_thread {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	unsigned int holders;
	void (*release)(void *shared);
};

/* Starts the thread: `work` takes `shared`, locks it, works until `stop`, and calls
 * lookup_thread_leave. Returns 0 or a negative errno: then it is freed. */
int lookup_thread_start(struct lookup_thread *shared, void *(*work)(void *shared),
			void (*release)(void *shared));
/* Leaves, for the thread, which holds the lock. */
void lookup_thread_leave(struct lookup_thread *shared);
/* Leaves, for the owner. Does not wait for a lookup in progress. */
void lookup_thread_close(struct lookup_thread *shared);
