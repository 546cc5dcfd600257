/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events in the order of their starts: blocks sorted within, merged among each other by a heap.
 * Knows nothing of what the events mean.
 */
#include "analysis/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Events in memory at most, a GiB. Full blocks of 500 lanes stay below it. */
#define PENDING_MOST (1u << 24)

struct planned_block {
	uint64_t start_ns; /* on the job's clock */
	uint32_t trace;
	uint32_t rows;
	size_t number;
};

struct open_block {
	uint64_t sequence; /* tells blocks apart whose next events start together */
	size_t next, count;
	uint32_t *order; /* NULL when the events are in order */
	struct event *events;
};

struct head {
	uint64_t start_ns; /* of the block's next event */
	struct open_block *block;
};

struct stream {
	struct job *job;
	struct stream_observer observer;
	struct planned_block *plan;
	size_t plan_count, opened;
	struct head *heap; /* the earliest first */
	size_t heap_count, heap_room;
	size_t pending;
	uint64_t rows, rows_read;
	bool disordered;
	struct event batch[STREAM_BATCH];
};

/* --- order within a block --- */

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

struct sort_key {
	uint64_t start;
	uint32_t number;
};

static void sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count,
			  unsigned int shift)
{
	uint32_t places[DIGITS] = { 0 }, place = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].start >> shift & (DIGITS - 1)]++;
	for (unsigned int i = 0; i < DIGITS; i++) {
		uint32_t many = places[i];

		places[i] = place;
		place += many;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/* Rows are written as operations end: those of a block are nearly in order, or wildly out of it
 * when many threads wait on one CPU. A radix sort does not mind. */
static int sort_block(struct open_block *block)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct sort_key *keys, *spare;
	size_t i;

	for (i = 1; i < block->count && block->events[i - 1].start <= block->events[i].start; i++)
		;
	if (i >= block->count)
		return 0;
	keys = reallocarray(NULL, block->count, 2 * sizeof(*keys));
	block->order = reallocarray(NULL, block->count, sizeof(*block->order));
	if (!keys || !block->order) {
		free(keys);
		return -ENOMEM;
	}
	spare = keys + block->count;
	for (i = 0; i < block->count; i++) {
		uint64_t start = block->events[i].start;

		keys[i] = (struct sort_key) { start, i };
		least = start < least ? start : least;
		most = start > most ? start : most;
	}
	for (i = 0; i < block->count; i++)
		keys[i].start -= least;
	for (unsigned int shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
		struct sort_key *sorted = spare;

		sort_by_digit(keys, sorted, block->count, shift);
		spare = keys;
		keys = sorted;
	}
	for (i = 0; i < block->count; i++)
		block->order[i] = keys[i].number;
	free(keys < spare ? keys : spare);
	return 0;
}

static struct event *event_at(const struct open_block *block, size_t place)
{
	return &block->events[block->order ? block->order[place] : place];
}

/* --- the heap of open blocks --- */

static bool head_before(const struct head *a, const struct head *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->block->sequence < b->block->sequence;
}

static void heap_sink(struct stream *stream)
{
	struct head *heap = stream->heap, moving = heap[0];
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= stream->heap_count)
			break;
		if (child + 1 < stream->heap_count && head_before(&heap[child + 1], &heap[child]))
			child++;
		if (!head_before(&heap[child], &moving))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = moving;
}

static int heap_push(struct stream *stream, const struct head *head)
{
	size_t place = stream->heap_count;

	if (stream->heap_count == stream->heap_room) {
		size_t room = stream->heap_room ? stream->heap_room * 2 : 64;
		struct head *heap = reallocarray(stream->heap, room, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		stream->heap = heap;
		stream->heap_room = room;
	}
	stream->heap_count++;
	for (; place && head_before(head, &stream->heap[(place - 1) / 2]); place = (place - 1) / 2)
		stream->heap[place] = stream->heap[(place - 1) / 2];
	stream->heap[place] = *head;
	return 0;
}

/* --- opening and closing blocks --- */

static void close_block(struct open_block *block)
{
	free(block->order);
	free(block->events);
	free(block);
}

/* Decodes and sorts; takes `block` whatever comes of it. */
static int admit_block(struct stream *stream, const struct rows *rows, struct open_block *block)
{
	int status = event_decode(rows, block->events, &block->count);

	if (!status)
		status = sort_block(block);
	if (!status && block->count) {
		struct head head = { event_at(block, 0)->start, block };

		status = heap_push(stream, &head);
		if (!status) {
			stream->pending += block->count;
			return 0;
		}
	}
	close_block(block);
	return status;
}

static int open_block(struct stream *stream, const struct planned_block *planned,
		      struct trace_error *error)
{
	struct trace_reader *reader = stream->job->traces[planned->trace].reader;
	enum trace_kind kind = trace_reader_block_info(reader, planned->number)->kind;
	struct rows rows = {
		.job = stream->job, .trace = planned->trace, .kind = kind, .count = planned->rows
	};
	uint64_t wanted = event_columns(kind);
	size_t room = event_room(kind, planned->rows);
	struct open_block *block;
	int status;

	status = trace_reader_read(reader, planned->number, wanted, error);
	if (status) {
		job_error(stream->job, planned->trace, error);
		return status;
	}
	for (unsigned int i = 0; i < SYSCALL_PATH_COLUMNS; i++)
		if (wanted >> i & 1)
			rows.columns[i] = trace_reader_column(reader, i);
	stream->rows_read += planned->rows;
	status = stream->observer.rows(stream->observer.context, &rows);
	if (status)
		return status;
	block = calloc(1, sizeof(*block));
	if (!block)
		return -ENOMEM;
	block->sequence = stream->opened;
	block->events = reallocarray(NULL, room ? room : 1, sizeof(*block->events));
	if (!block->events) {
		close_block(block);
		return -ENOMEM;
	}
	return admit_block(stream, &rows, block);
}

/* Opens every block that could hold an event earlier than the earliest at hand. */
static int open_due(struct stream *stream, struct trace_error *error)
{
	int status = 0;

	while (stream->opened < stream->plan_count && !status) {
		const struct planned_block *planned = &stream->plan[stream->opened];

		if (stream->heap_count && planned->start_ns > stream->heap[0].start_ns)
			break;
		if (stream->heap_count && stream->pending > PENDING_MOST) {
			stream->disordered = true;
			break;
		}
		status = open_block(stream, planned, error);
		stream->opened++;
	}
	return status;
}

/* --- the stream --- */

static int compare_planned(const void *left, const void *right)
{
	const struct planned_block *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int make_plan(struct stream *stream)
{
	const struct job *job = stream->job;
	size_t blocks = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		blocks += trace_reader_block_count(job->traces[i].reader);
	stream->plan = reallocarray(NULL, blocks ? blocks : 1, sizeof(*stream->plan));
	if (!stream->plan)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];

		blocks = trace_reader_block_count(trace->reader);
		for (size_t j = 0; j < blocks; j++) {
			const struct trace_block_info *info;

			info = trace_reader_block_info(trace->reader, j);
			if (!event_columns(info->kind) || !info->rows)
				continue;
			stream->plan[stream->plan_count++] =
				(struct planned_block) { clock_shifted(trace->clock, info->start),
							 i, info->rows, j };
			stream->rows += info->rows;
		}
	}
	qsort(stream->plan, stream->plan_count, sizeof(*stream->plan), compare_planned);
	return 0;
}

int stream_open(struct stream **stream, struct job *job, const struct stream_observer *observer)
{
	int status;

	*stream = calloc(1, sizeof(**stream));
	if (!*stream)
		return -ENOMEM;
	(*stream)->job = job;
	(*stream)->observer = *observer;
	status = make_plan(*stream);
	if (status) {
		stream_close(*stream);
		*stream = NULL;
	}
	return status;
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->heap_count; i++)
		close_block(stream->heap[i].block);
	free(stream->heap);
	free(stream->plan);
	free(stream);
}

/* Moves events of the block with the earliest one, as long as they are the earliest of all. */
static size_t take_run(struct stream *stream, size_t taken)
{
	struct open_block *block = stream->heap[0].block;
	uint64_t until = UINT64_MAX;

	if (stream->heap_count > 1)
		until = stream->heap[1].start_ns;
	if (stream->heap_count > 2 && stream->heap[2].start_ns < until)
		until = stream->heap[2].start_ns;
	if (stream->opened < stream->plan_count && stream->plan[stream->opened].start_ns < until)
		until = stream->plan[stream->opened].start_ns;
	do {
		stream->batch[taken++] = *event_at(block, block->next++);
		stream->pending--;
	} while (taken < STREAM_BATCH && block->next < block->count &&
		 event_at(block, block->next)->start < until);
	if (block->next < block->count) {
		stream->heap[0].start_ns = event_at(block, block->next)->start;
	} else {
		close_block(block);
		stream->heap[0] = stream->heap[--stream->heap_count];
	}
	if (stream->heap_count)
		heap_sink(stream);
	return taken;
}

int stream_next(struct stream *stream, const struct event **events, size_t *count,
		struct trace_error *error)
{
	size_t taken = 0;
	int status = 0;

	while (taken < STREAM_BATCH) {
		status = open_due(stream, error);
		if (status || !stream->heap_count)
			break;
		taken = take_run(stream, taken);
	}
	*events = stream->batch;
	*count = taken;
	return status;
}

double stream_progress(const struct stream *stream)
{
	return stream->rows ? (double)stream->rows_read / stream->rows : 1;
}

bool stream_disordered(const struct stream *stream)
{
	return stream->disordered;
}
