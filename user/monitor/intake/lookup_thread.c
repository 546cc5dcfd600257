/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "monitor/intake/lookup_thread.h"

#include "base/thread.h"

int lookup_thread_start(struct lookup_thread *shared, void *(*work)(void *shared),
			void (*release)(void *shared))
{
	pthread_t thread;
	int err;

	shared->release = release;
	shared->holders = 2;
	pthread_mutex_init(&shared->lock, NULL);
	pthread_cond_init(&shared->wake, NULL);
	err = thread_start(&thread, work, shared);
	if (err) {
		shared->holders = 1;
		lookup_thread_close(shared);
		return err;
	}
	pthread_detach(thread);
	return 0;
}

void lookup_thread_leave(struct lookup_thread *shared)
{
	bool last = !--shared->holders;

	pthread_mutex_unlock(&shared->lock);
	if (!last)
		return;
	pthread_cond_destroy(&shared->wake);
	pthread_mutex_destroy(&shared->lock);
	shared->release(shared);
}

void lookup_thread_close(struct lookup_thread *shared)
{
	pthread_mutex_lock(&shared->lock);
	shared->stop = true;
	pthread_cond_signal(&shared->wake);
	lookup_thread_leave(shared);
}
