/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A thread that helps with a piece of work on request. */
#include "base/helper_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

struct helper_thread {
	void (*work)(void *context);
	void *context;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t started, done;
	bool is_due, is_under_way, stops;
};

static void *run(void *argument)
{
	struct helper_thread *helper_thread = argument;

	pthread_mutex_lock(&helper_thread->lock);
	while (!helper_thread->stops) {
		if (!helper_thread->is_due) {
			pthread_cond_wait(&helper_thread->started, &helper_thread->lock);
			continue;
		}
		helper_thread->is_due = false;
		helper_thread->is_under_way = true;
		pthread_mutex_unlock(&helper_thread->lock);
		helper_thread->work(helper_thread->context);
		pthread_mutex_lock(&helper_thread->lock);
		helper_thread->is_under_way = false;
		pthread_cond_signal(&helper_thread->done);
	}
	pthread_mutex_unlock(&helper_thread->lock);
	return NULL;
}

int helper_thread_open(struct helper_thread **result, void (*work)(void *context), void *context)
{
	struct helper_thread *helper_thread = calloc(1, sizeof(*helper_thread));

	*result = helper_thread;
	if (!helper_thread)
		return -ENOMEM;
	helper_thread->work = work;
	helper_thread->context = context;
	pthread_mutex_init(&helper_thread->lock, NULL);
	pthread_cond_init(&helper_thread->started, NULL);
	pthread_cond_init(&helper_thread->done, NULL);
	helper_thread->threaded = !thread_start(&helper_thread->thread, run, helper_thread);
	return 0;
}

void helper_thread_close(struct helper_thread *helper_thread)
{
	if (!helper_thread)
		return;
	if (helper_thread->threaded) {
		pthread_mutex_lock(&helper_thread->lock);
		helper_thread->stops = true;
		pthread_cond_signal(&helper_thread->started);
		pthread_mutex_unlock(&helper_thread->lock);
		pthread_join(helper_thread->thread, NULL);
	}
	pthread_cond_destroy(&helper_thread->done);
	pthread_cond_destroy(&helper_thread->started);
	pthread_mutex_destroy(&helper_thread->lock);
	free(helper_thread);
}

void helper_thread_start(struct helper_thread *helper_thread)
{
	if (!helper_thread->threaded)
		return;
	pthread_mutex_lock(&helper_thread->lock);
	helper_thread->is_due = true;
	pthread_cond_signal(&helper_thread->started);
	pthread_mutex_unlock(&helper_thread->lock);
}

void helper_thread_join(struct helper_thread *helper_thread)
{
	helper_thread->work(helper_thread->context);
	if (!helper_thread->threaded)
		return;
	pthread_mutex_lock(&helper_thread->lock);
	helper_thread->is_due = false; /* no work is left */
	while (helper_thread->is_under_way)
		pthread_cond_wait(&helper_thread->done, &helper_thread->lock);
	pthread_mutex_unlock(&helper_thread->lock);
}
