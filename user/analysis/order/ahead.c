/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads blocks on helper threads, a few ahead of the one requested.
 *
 * Each block has a slot in a ring, given by its number in the plan. A thread claims the next
 * unclaimed block once its slot is free; a caller that needs an unclaimed block loads it itself.
 */
#include "analysis/order/ahead.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

#define SLOTS 8 /* blocks loaded ahead, up to about 2 MiB each */

/* Per-thread state for loading blocks. */
struct desk {
	struct trace_buffers *buffers;
	struct loaded_scratch scratch;
};

struct taken_in {
	bool ready;
	struct loaded_block *block;
	int status;
	struct trace_error error;
};

struct ahead {
	const struct job *job;
	const struct plan *plan;
	const uint64_t *columns;
	struct loaded_pool *pool;
	struct desk desk; /* of the calling thread */
	pthread_mutex_t lock;
	pthread_cond_t ready, free;
	size_t claimed, given; /* numbers in the plan */
	struct taken_in slots[SLOTS];
	bool stops;
	pthread_t threads[AHEAD_THREADS_MAX];
	unsigned int thread_count;
};

static int take_in(const struct ahead *ahead, struct desk *desk,
		   const struct planned_block *planned, struct loaded_block **block,
		   struct trace_error *error)
{
	const struct trace_reader *reader = ahead->job->traces[planned->trace].reader;
	const struct trace_block_info *info = trace_reader_block_info(reader, planned->number);
	uint64_t columns = ahead->columns[info->kind];
	struct trace_view view;
	int status;

	*block = NULL;
	status = desk->buffers ? 0 : trace_buffers_new(&desk->buffers);
	if (!status)
		status = trace_reader_view(reader, desk->buffers, planned->number, columns, &view,
					   error);
	if (status)
		return status;
	status = loaded_block_take(block, &view, info, columns, &desk->scratch, ahead->pool);
	if (status == -EINVAL)
		snprintf(error->text, sizeof(error->text),
			 "damaged: the block at byte %" PRIu64
			 " has rows that are earlier than the index says",
			 info->offset);
	if (!status)
		(*block)->trace = planned->trace;
	return status;
}

static void clear_desk(struct desk *desk)
{
	trace_buffers_free(desk->buffers);
	loaded_scratch_free(&desk->scratch);
}

static bool may_claim(const struct ahead *ahead)
{
	return ahead->claimed < ahead->plan->count && ahead->claimed < ahead->given + SLOTS;
}

static void *work(void *context)
{
	struct ahead *ahead = context;
	struct desk desk = { .buffers = NULL };

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stops && ahead->claimed < ahead->plan->count) {
		struct taken_in *slot;
		size_t number;

		if (!may_claim(ahead)) {
			pthread_cond_wait(&ahead->free, &ahead->lock);
			continue;
		}
		number = ahead->claimed++;
		slot = &ahead->slots[number % SLOTS];
		pthread_mutex_unlock(&ahead->lock);
		slot->status = take_in(ahead, &desk, &ahead->plan->blocks[number], &slot->block,
				       &slot->error);
		pthread_mutex_lock(&ahead->lock);
		slot->ready = true;
		pthread_cond_signal(&ahead->ready);
	}
	pthread_mutex_unlock(&ahead->lock);
	clear_desk(&desk);
	return NULL;
}

int ahead_open(struct ahead **result, const struct job *job, const struct plan *plan,
	       const uint64_t columns[TRACE_KIND_COUNT], unsigned int threads,
	       struct loaded_pool *pool)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));

	*result = ahead;
	if (!ahead)
		return -ENOMEM;
	ahead->job = job;
	ahead->plan = plan;
	ahead->columns = columns;
	ahead->pool = pool;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	pthread_cond_init(&ahead->free, NULL);
	while (ahead->thread_count < threads && ahead->thread_count < AHEAD_THREADS_MAX &&
	       !thread_start(&ahead->threads[ahead->thread_count], work, ahead))
		ahead->thread_count++;
	return 0;
}

void ahead_close(struct ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stops = true;
	pthread_cond_broadcast(&ahead->free);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned int i = 0; i < ahead->thread_count; i++)
		pthread_join(ahead->threads[i], NULL);
	for (size_t i = 0; i < SLOTS; i++)
		loaded_block_free(ahead->slots[i].block);
	clear_desk(&ahead->desk);
	pthread_cond_destroy(&ahead->free);
	pthread_cond_destroy(&ahead->ready);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}

int ahead_next(struct ahead *ahead, struct loaded_block **block, struct trace_error *error)
{
	size_t number = ahead->given;
	struct taken_in *slot = &ahead->slots[number % SLOTS];
	int status;

	pthread_mutex_lock(&ahead->lock);
	if (ahead->claimed == number) {
		ahead->claimed = ahead->given = number + 1;
		pthread_mutex_unlock(&ahead->lock);
		return take_in(ahead, &ahead->desk, &ahead->plan->blocks[number], block, error);
	}
	while (!slot->ready)
		pthread_cond_wait(&ahead->ready, &ahead->lock);
	status = slot->status;
	*block = slot->block;
	if (status)
		*error = slot->error;
	slot->ready = false;
	slot->block = NULL;
	ahead->given++;
	pthread_cond_signal(&ahead->free);
	pthread_mutex_unlock(&ahead->lock);
	return status;
}

int ahead_again(struct ahead *ahead, const struct planned_block *planned,
		struct loaded_block **block, struct trace_error *error)
{
	return take_in(ahead, &ahead->desk, planned, block, error);
}
