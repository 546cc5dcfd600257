/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A thread that helps with a piece of work whenever it is told to. Knows nothing of what the work
 * is.
 */
#include "analysis/base/beside.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct beside {
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
	struct beside *beside = argument;

	pthread_mutex_lock(&beside->lock);
	while (!beside->stops) {
		if (!beside->is_due) {
			pthread_cond_wait(&beside->started, &beside->lock);
			continue;
		}
		beside->is_due = false;
		beside->is_under_way = true;
		pthread_mutex_unlock(&beside->lock);
		beside->work(beside->context);
		pthread_mutex_lock(&beside->lock);
		beside->is_under_way = false;
		pthread_cond_signal(&beside->done);
	}
	pthread_mutex_unlock(&beside->lock);
	return NULL;
}

int beside_open(struct beside **result, void (*work)(void *context), void *context)
{
	struct beside *beside = calloc(1, sizeof(*beside));

	*result = beside;
	if (!beside)
		return -ENOMEM;
	beside->work = work;
	beside->context = context;
	pthread_mutex_init(&beside->lock, NULL);
	pthread_cond_init(&beside->started, NULL);
	pthread_cond_init(&beside->done, NULL);
	beside->threaded = !pthread_create(&beside->thread, NULL, run, beside);
	return 0;
}

void beside_close(struct beside *beside)
{
	if (!beside)
		return;
	if (beside->threaded) {
		pthread_mutex_lock(&beside->lock);
		beside->stops = true;
		pthread_cond_signal(&beside->started);
		pthread_mutex_unlock(&beside->lock);
		pthread_join(beside->thread, NULL);
	}
	pthread_cond_destroy(&beside->done);
	pthread_cond_destroy(&beside->started);
	pthread_mutex_destroy(&beside->lock);
	free(beside);
}

void beside_start(struct beside *beside)
{
	if (!beside->threaded)
		return;
	pthread_mutex_lock(&beside->lock);
	beside->is_due = true;
	pthread_cond_signal(&beside->started);
	pthread_mutex_unlock(&beside->lock);
}

void beside_join(struct beside *beside)
{
	beside->work(beside->context);
	if (!beside->threaded)
		return;
	pthread_mutex_lock(&beside->lock);
	beside->is_due = false; /* there is nothing left to do */
	while (beside->is_under_way)
		pthread_cond_wait(&beside->done, &beside->lock);
	pthread_mutex_unlock(&beside->lock);
}
