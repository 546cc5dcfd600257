/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A queue of jobs and the thread that does them. Knows nothing of lanes and of when a block is
 * full, nor of how blocks and frames are made.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define QUEUED_OBJECTS_MAX (8u << 20)

void worker_free_rows(struct worker *worker, struct rows *rows)
{
	if (!rows->first)
		return;
	pthread_mutex_lock(&worker->lock);
	rows->last->next = worker->free_chunks;
	worker->free_chunks = rows->first;
	pthread_cond_signal(&worker->done);
	pthread_mutex_unlock(&worker->lock);
	memset(rows, 0, sizeof(*rows));
}

static int write_rows(struct worker *worker, struct job *job)
{
	struct format_entry entry = { .kind = job->kind, .rows = job->rows.count };
	int err = worker->output.error;

	if (!err)
		err = rows_pack(&worker->block, job->kind, &job->rows, &entry.start, &entry.end);
	worker_free_rows(worker, &job->rows);
	return err ? err : output_block(&worker->output, &worker->block, entry);
}

static int do_job(struct worker *worker, struct job *job)
{
	switch (job->type) {
	case JOB_ROWS:
		return write_rows(worker, job);
	case JOB_STRINGS:
		return output_block(&worker->output, &job->object, job->entry);
	case JOB_HEADER:
		return output_object(&worker->output, &job->object);
	case JOB_TOTALS:
		return output_end(&worker->output, &job->object);
	}
	return -EINVAL;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	if (worker->begin)
		worker->begin(worker->begin_context);
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		struct job *job = &worker->jobs[worker->first_job % WORKER_JOBS];
		size_t rows;
		int err;

		if (!worker->job_count) {
			if (worker->stop)
				break;
			pthread_cond_wait(&worker->work, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		rows = job->rows.count;
		err = do_job(worker, job);
		pthread_mutex_lock(&worker->lock);
		if (err && job->type == JOB_ROWS)
			__atomic_add_fetch(&worker->discarded[job->kind], rows, __ATOMIC_RELAXED);
		if (err && !worker->error)
			__atomic_store_n(&worker->error, err, __ATOMIC_RELAXED);
		__atomic_store_n(&worker->bytes, worker->output.offset, __ATOMIC_RELAXED);
		worker->object_bytes -= job->object.length;
		pack_free(&job->object);
		worker->first_job++;
		worker->job_count--;
		pthread_cond_signal(&worker->done);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

void worker_queue(struct worker *worker, const struct job *job)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->job_count == WORKER_JOBS ||
	       (worker->job_count && worker->object_bytes > QUEUED_OBJECTS_MAX))
		pthread_cond_wait(&worker->done, &worker->lock);
	worker->object_bytes += job->object.length;
	worker->jobs[(worker->first_job + worker->job_count++) % WORKER_JOBS] = *job;
	pthread_cond_signal(&worker->work);
	pthread_mutex_unlock(&worker->lock);
}

int worker_wait(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->job_count)
		pthread_cond_wait(&worker->done, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	return worker_error(worker);
}

static struct rows_chunk *take_free_chunk(struct worker *worker, bool *mine)
{
	struct rows_chunk *chunk;
	bool all = worker->chunk_count == WORKER_CHUNKS;

	pthread_mutex_lock(&worker->lock);
	while (all && !worker->free_chunks && worker->job_count)
		pthread_cond_wait(&worker->done, &worker->lock);
	chunk = worker->free_chunks;
	if (chunk)
		worker->free_chunks = chunk->next;
	pthread_mutex_unlock(&worker->lock);
	*mine = all;
	return chunk;
}

int worker_take_chunk(struct worker *worker, struct rows_chunk **result)
{
	bool mine;
	struct rows_chunk *chunk = take_free_chunk(worker, &mine);

	if (!chunk && mine)
		return -EAGAIN;
	if (!chunk) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return -ENOMEM;
		worker->chunk_count++;
	}
	*result = chunk;
	return 0;
}

/* Signals are for the program's other threads; SIGXFSZ (a file size limit) is for nobody: the
 * write fails with EFBIG, which is error enough. */
static int start_thread(struct worker *worker)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void free_worker(struct worker *worker)
{
	while (worker->free_chunks) {
		struct rows_chunk *chunk = worker->free_chunks;

		worker->free_chunks = chunk->next;
		free(chunk);
	}
	pack_free(&worker->block);
	output_free(&worker->output);
	pthread_cond_destroy(&worker->work);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
}

int worker_start(struct worker *worker, int fd, int level, void (*begin)(void *context),
		 void *context)
{
	int err;

	memset(worker, 0, sizeof(*worker));
	worker->begin = begin;
	worker->begin_context = context;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->work, NULL);
	pthread_cond_init(&worker->done, NULL);
	err = output_open(&worker->output, fd, level);
	if (!err)
		err = start_thread(worker);
	if (err)
		free_worker(worker);
	return err;
}

void worker_stop(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->work);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	free_worker(worker);
}
