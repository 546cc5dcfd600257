/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A queue of jobs and the thread that processes them. */
#include "trace/write/worker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "trace/format/format.h"

#define QUEUED_OBJECTS_MAX (8u << 20)
#define HELD_BYTES_MAX (16u << 20)

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

static void count_discarded(struct worker *worker, uint64_t kind, uint64_t rows)
{
	if (kind < TRACE_KIND_COUNT)
		__atomic_add_fetch(&worker->discarded[kind], rows, __ATOMIC_RELAXED);
}

/* --- names wait for room: later rows refer to them --- */

/* Writes waiting blocks in order, as far as there is room. */
static int write_retained(struct worker *worker)
{
	while (worker->held) {
		struct waiting_block *block = worker->held;
		int err = output_block(&worker->output, &block->object, block->entry,
				       ROOM_FOR_TOTALS);

		if (err)
			return err;
		worker->held = block->next;
		worker->held_bytes -= block->object.length;
		pack_free(&block->object);
		free(block);
	}
	worker->held_end = &worker->held;
	return 0;
}

/* Takes over the contents of the object, if memory allows it. */
static bool hold(struct worker *worker, struct pack *object, struct format_entry entry)
{
	struct waiting_block *block = NULL;

	if (worker->held_bytes + object->length <= HELD_BYTES_MAX)
		block = malloc(sizeof(*block));
	if (!block)
		return false;
	*block = (struct waiting_block) { .object = *object, .entry = entry };
	memset(object, 0, sizeof(*object));
	*worker->held_end = block;
	worker->held_end = &block->next;
	worker->held_bytes += block->object.length;
	return true;
}

/* At the end: what finds no room now is discarded. */
static int settle(struct worker *worker)
{
	int err = write_retained(worker);

	while (worker->held) {
		struct waiting_block *block = worker->held;

		worker->held = block->next;
		count_discarded(worker, block->entry.kind, block->entry.rows);
		pack_free(&block->object);
		free(block);
	}
	worker->held_end = &worker->held;
	worker->held_bytes = 0;
	return err;
}

/* Writes a block that others refer to. */
static int write_names(struct worker *worker, struct pack *object, struct format_entry entry)
{
	int err = write_retained(worker);

	if (!err)
		err = output_block(&worker->output, object, entry, ROOM_FOR_TOTALS);
	if (err && !(output_is_full(err) && hold(worker, object, entry)))
		count_discarded(worker, entry.kind, entry.rows);
	return err;
}

/* --- jobs --- */

/* Passes on the files of rows. */
static void pass_files(const struct worker *worker, enum trace_kind kind, const struct rows *rows)
{
	static const char *const names[] = { "file", "file2", "dir", "dir2" };
	const struct trace_schema *schema = &trace_schemas[kind];

	for (size_t c = 0; c < schema->column_count; c++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			for (const struct rows_chunk *chunk = rows->first;
			     chunk && !strcmp(schema->columns[c].name, names[i]);
			     chunk = chunk->next)
				worker->options->files(worker->options->context,
						       chunk->values + c * rows_per_chunk(kind),
						       chunk->count);
}

static int write_rows(struct worker *worker, struct worker_job *job)
{
	struct format_entry entry = { .kind = job->kind, .rows = job->rows.count };
	bool names = trace_schemas[job->kind].names;
	struct rows_summary summary = { 0 };
	int err = worker->output.error;

	if (!err && !names)
		err = write_retained(worker);
	if (!err)
		err = rows_pack(&worker->block, job->kind, &job->rows, &summary);
	if (worker->options->files)
		pass_files(worker, job->kind, &job->rows);
	/* A pause is recorded before it has passed. */
	if (job->kind != TRACE_THROTTLE && summary.end > worker->end_ns)
		__atomic_store_n(&worker->end_ns, summary.end, __ATOMIC_RELAXED);
	entry.start = summary.start;
	entry.end = summary.end;
	entry.pids = summary.pids;
	entry.files = summary.files;
	worker_free_rows(worker, &job->rows);
	if (!err && names)
		return write_names(worker, &worker->block, entry);
	if (!err)
		err = output_block(&worker->output, &worker->block, entry, ROOM_FOR_NAMES);
	if (err)
		count_discarded(worker, entry.kind, entry.rows);
	return err;
}

static int write_frame(struct worker *worker, struct worker_job *job)
{
	int err = write_retained(worker);

	if (!err)
		err = output_frame(&worker->output, &job->object, job->entry, ROOM_FOR_NAMES);
	if (err)
		count_discarded(worker, job->entry.kind, job->entry.rows);
	return err;
}

static int do_job(struct worker *worker, struct worker_job *job)
{
	switch (job->type) {
	case JOB_ROWS:
		return write_rows(worker, job);
	case JOB_FRAME:
		return write_frame(worker, job);
	case JOB_STRINGS:
		return write_names(worker, &job->object, job->entry);
	case JOB_OBJECT:
		return output_object(&worker->output, &job->object, ROOM_FOR_NAMES);
	case JOB_SETTLE:
		return settle(worker);
	case JOB_TOTALS:
		return output_end(&worker->output, &job->object);
	}
	return -EINVAL;
}

/* Records what a job's outcome says about the disk: a full one may have room again, other errors
 * persist. */
static void note_outcome(struct worker *worker, const struct worker_job *job, int err)
{
	bool full = output_is_full(err);
	bool names = job->type == JOB_STRINGS || job->type == JOB_OBJECT ||
		     job->type == JOB_SETTLE ||
		     (job->type == JOB_ROWS && trace_schemas[job->kind].names);

	if (err && !full && !worker->error)
		__atomic_store_n(&worker->error, err, __ATOMIC_RELAXED);
	/* Small blocks of names find room for a while when others do not. */
	if (full || (!err && !names))
		__atomic_store_n(&worker->full, full ? err : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&worker->bytes, worker->output.offset, __ATOMIC_RELAXED);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	if (worker->options->thread_begins)
		worker->options->thread_begins(worker->options->context);
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		struct worker_job *job = &worker->jobs[worker->first_job % WORKER_JOBS];
		size_t bytes;
		int err;

		if (!worker->job_count) {
			if (worker->stop)
				break;
			pthread_cond_wait(&worker->work, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		bytes = job->object.length;
		err = do_job(worker, job);
		pthread_mutex_lock(&worker->lock);
		note_outcome(worker, job, err);
		worker->object_bytes -= bytes;
		pack_free(&job->object);
		worker->first_job++;
		worker->job_count--;
		pthread_cond_signal(&worker->done);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

void worker_queue(struct worker *worker, const struct worker_job *job)
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
	return worker_error(worker) ? worker_error(worker) : worker_full(worker);
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

static void free_worker(struct worker *worker)
{
	while (worker->free_chunks) {
		struct rows_chunk *chunk = worker->free_chunks;

		worker->free_chunks = chunk->next;
		free(chunk);
	}
	settle(worker);
	pack_free(&worker->block);
	output_free(&worker->output);
	pthread_cond_destroy(&worker->work);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
}

int worker_start(struct worker *worker, int fd, const struct trace_writer_options *options)
{
	int err;

	memset(worker, 0, sizeof(*worker));
	worker->held_end = &worker->held;
	worker->options = options;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->work, NULL);
	pthread_cond_init(&worker->done, NULL);
	err = output_open(&worker->output, fd, options->level);
	worker->output.no_promise |= options->in_memory;
	if (!err)
		/* No thread gets SIGXFSZ (a file size limit): the write fails with EFBIG. */
		err = thread_start(&worker->thread, work, worker);
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
