/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hands out the batches that a merge produces. With more than one CPU, the merge runs on its own
 * thread, a few batches ahead, and other threads decompress blocks for it.
 */
#include "analysis/order/cursor.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/order/merge.h"
#include "base/number.h"
#include "base/thread.h"

#define RING 8			     /* batches */
#define RING_MANY (RING / 2)	     /* a sleeping consumer wakes when this many are ready */
#define RING_EVENTS CURSOR_BATCH_MAX /* per batch: a handover costs as much as hundreds */
#define ROWS_ALONE (1u << 17)	     /* up to this many are read before threads would start */
#define LOADERS_MAX 2		     /* one keeps up with the merge, or nearly so */

struct batch {
	struct event *events;
	size_t count; /* 0: no more events */
	struct source *retired;
	uint64_t rows_read;
	int status;
	struct trace_error error;
};

struct cursor {
	struct job *job;
	struct merge *merge;
	struct loaded_pool pool;
	struct batch ring[RING];
	struct batch *batch; /* being handed out in slices */
	size_t given;	     /* events of `batch` handed out so far */
	size_t max;	     /* maximum events per slice */
	uint64_t rows_read;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t made, free;
	size_t produced, consumed; /* batches */
	bool stops;
	bool ahead;	     /* the merge has filled all slots, or all but one */
	bool ended, settles; /* no more batches will come, or none until these are consumed */
};

static int fill(struct cursor *cursor, struct batch *batch)
{
	merge_free_retired(batch->retired);
	batch->retired = NULL;
	batch->status = merge_next(cursor->merge, batch->events, &batch->count, &batch->retired,
				   &batch->error);
	batch->rows_read = merge_rows_read(cursor->merge);
	return batch->status || !batch->count;
}

/* --- the merge thread --- */

/* Two threads that wake each other for every batch do little else. */
static bool enough_made(const struct cursor *cursor)
{
	size_t count = cursor->produced - cursor->consumed;

	return count >= RING_MANY || (count && (cursor->ended || cursor->settles));
}

static void settle(void *context)
{
	struct cursor *cursor = context;

	pthread_mutex_lock(&cursor->lock);
	cursor->settles = true;
	pthread_cond_signal(&cursor->made);
	while (cursor->consumed < cursor->produced && !cursor->stops)
		pthread_cond_wait(&cursor->free, &cursor->lock);
	cursor->settles = false;
	pthread_mutex_unlock(&cursor->lock);
}

static void *work(void *context)
{
	struct cursor *cursor = context;
	bool ends = false;

	pthread_mutex_lock(&cursor->lock);
	while (!ends && !cursor->stops) {
		struct batch *batch = &cursor->ring[cursor->produced % RING];

		if (cursor->produced == cursor->consumed + RING) {
			pthread_cond_wait(&cursor->free, &cursor->lock);
			continue;
		}
		pthread_mutex_unlock(&cursor->lock);
		ends = fill(cursor, batch);
		pthread_mutex_lock(&cursor->lock);
		cursor->produced++;
		cursor->ended = ends;
		if (enough_made(cursor))
			pthread_cond_signal(&cursor->made);
	}
	pthread_mutex_unlock(&cursor->lock);
	return NULL;
}

/* Waits for the next batch; the previous one is no longer in use. */
static void take_batch(struct cursor *cursor)
{
	pthread_mutex_lock(&cursor->lock);
	if (cursor->batch) {
		cursor->consumed++;
		pthread_cond_signal(&cursor->free);
	}
	if (cursor->produced == cursor->consumed)
		while (!enough_made(cursor))
			pthread_cond_wait(&cursor->made, &cursor->lock);
	cursor->ahead = cursor->produced - cursor->consumed >= RING - 1;
	cursor->batch = &cursor->ring[cursor->consumed % RING];
	pthread_mutex_unlock(&cursor->lock);
}

/* --- the cursor --- */

static int make_batches(struct cursor *cursor, size_t count, size_t events)
{
	for (size_t i = 0; i < count; i++) {
		cursor->ring[i].events =
			reallocarray(NULL, events, sizeof(*cursor->ring[i].events));
		if (!cursor->ring[i].events)
			return -ENOMEM;
	}
	return 0;
}

static int open_cursor(struct cursor *cursor, const struct merge_options *options)
{
	int status = make_batches(cursor, cursor->threaded ? RING : 1, options->batch);

	if (!status)
		status = merge_open(&cursor->merge, cursor->job, options);
	return status;
}

static uint64_t rows_of(const struct job *job)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		for (size_t j = 0; j < trace_reader_block_count(job->traces[i].reader); j++)
			rows += trace_reader_block_info(job->traces[i].reader, j)->rows;
	return rows;
}

int cursor_open(struct cursor **result, struct job *job, const struct cursor_options *options)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));
	struct merge_options merge = { .cursor = *options, .batch = CURSOR_BATCH };
	unsigned int threads = options->threads;
	int status;

	*result = NULL;
	if (!cursor)
		return -ENOMEM;
	cursor->job = job;
	loaded_pool_init(&cursor->pool);
	merge.pool = &cursor->pool;
	cursor->max = options->max ? options->max : CURSOR_BATCH;
	pthread_mutex_init(&cursor->lock, NULL);
	pthread_cond_init(&cursor->made, NULL);
	pthread_cond_init(&cursor->free, NULL);
	if (!options->kinds)
		merge.cursor.kinds = ~0ull;
	if (!options->until_ns)
		merge.cursor.until_ns = UINT64_MAX;
	if (!options->bytes_max)
		merge.cursor.bytes_max = CURSOR_BYTES_MAX;
	if (!threads)
		threads = rows_of(job) > ROWS_ALONE ? thread_cpus() : 1;
	cursor->threaded = threads > 1;
	if (cursor->threaded) {
		merge.threads = number_min(threads - 1, LOADERS_MAX);
		merge.batch = RING_EVENTS;
		merge.settle = settle;
		merge.context = cursor;
	}
	status = open_cursor(cursor, &merge);
	if (status)
		cursor->threaded = false;
	/* Without its own thread, the merge runs in the caller. */
	if (cursor->threaded && thread_start(&cursor->thread, work, cursor))
		cursor->threaded = false;
	if (status)
		cursor_close(cursor);
	else
		*result = cursor;
	return status;
}

void cursor_close(struct cursor *cursor)
{
	if (!cursor)
		return;
	if (cursor->threaded) {
		pthread_mutex_lock(&cursor->lock);
		cursor->stops = true;
		pthread_cond_signal(&cursor->free);
		pthread_mutex_unlock(&cursor->lock);
		pthread_join(cursor->thread, NULL);
	}
	merge_close(cursor->merge);
	for (size_t i = 0; i < RING; i++) {
		merge_free_retired(cursor->ring[i].retired);
		free(cursor->ring[i].events);
	}
	pthread_cond_destroy(&cursor->free);
	loaded_pool_free(&cursor->pool);
	pthread_cond_destroy(&cursor->made);
	pthread_mutex_destroy(&cursor->lock);
	free(cursor);
}

int cursor_next(struct cursor *cursor, const struct event **events, size_t *count,
		struct trace_error *error)
{
	struct batch *batch = cursor->batch;
	struct event *slice;
	size_t left;

	if (!batch || (cursor->given == batch->count && batch->count && !batch->status)) {
		if (cursor->threaded) {
			take_batch(cursor);
		} else {
			cursor->batch = &cursor->ring[0];
			fill(cursor, cursor->batch);
		}
		batch = cursor->batch;
		cursor->given = 0;
		cursor->rows_read = batch->rows_read;
	}
	slice = batch->events + cursor->given;
	left = batch->count - cursor->given;
	*events = slice;
	*count = number_min(left, cursor->max);
	cursor->given += *count;
	if (batch->status && cursor->given == batch->count) {
		*error = batch->error;
		return batch->status;
	}
	return event_resolve(cursor->job, slice, *count);
}

bool cursor_is_threaded(const struct cursor *cursor)
{
	return cursor->threaded;
}

bool cursor_is_ahead(const struct cursor *cursor)
{
	return cursor->ahead;
}

double cursor_progress(const struct cursor *cursor)
{
	uint64_t rows = merge_rows(cursor->merge);

	return rows ? (double)cursor->rows_read / rows : 1;
}
