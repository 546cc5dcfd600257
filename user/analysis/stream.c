/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events in the order of their starts: blocks sorted within, merged among each other by a heap.
 * Knows nothing of what the events mean.
 */
#include "analysis/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/event_sort.h"

struct planned_block {
	uint64_t start_ns; /* on the job's clock */
	uint32_t trace;
	uint32_t rows;
	size_t number;
	size_t order; /* its place among all blocks for events that start together */
};

struct open_block {
	const struct planned_block *planned;
	size_t count;	    /* events of the block */
	size_t next;	    /* the next to give out */
	size_t first, held; /* in memory are those from `first` up to `held` */
	uint64_t later_ns;  /* start of the one at `held`, where that is not the end */
	struct event *events;
};

struct head {
	uint64_t start_ns; /* of the block's next event, in memory or not */
	struct open_block *block;
};

/* A place in the one order that all events have: by start, then by block, then by row. */
struct limit {
	uint64_t start_ns;
	size_t order; /* blocks of a lower order are before the limit */
};

struct stream {
	struct job *job;
	struct stream_options options;
	struct planned_block *plan;
	size_t plan_count, opened;
	struct head *heap; /* the earliest first */
	size_t heap_count, heap_room;
	size_t held;  /* events in memory */
	bool limited; /* events from `limit` on are not kept in memory */
	struct limit limit;
	uint64_t rows, rows_read;
	struct trace_operation_total *recount; /* where rows read again are counted: nowhere */
	struct event batch[STREAM_BATCH];
};

/* --- the heap of open blocks --- */

static bool head_before(const struct head *a, const struct head *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->block->planned->order < b->block->planned->order;
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

/* --- what is in memory of a block --- */

static struct event *event_at(const struct open_block *block, size_t number)
{
	return &block->events[number - block->first];
}

/* The start of the next event to come, of which there must be one. */
static uint64_t next_start(const struct open_block *block)
{
	return block->next < block->held ? event_at(block, block->next)->start : block->later_ns;
}

static bool is_before(const struct open_block *block, const struct event *event,
		      const struct limit *limit)
{
	if (event->start != limit->start_ns)
		return event->start < limit->start_ns;
	return block->planned->order < limit->order;
}

/* The first event to come that is in memory and not before the limit. */
static size_t find_limit(const struct open_block *block, const struct limit *limit)
{
	size_t low = block->next, high = block->held;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(block, event_at(block, middle), limit))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Keeps of the events to come those before the limit. */
static int trim_block(struct stream *stream, struct open_block *block, const struct limit *limit)
{
	size_t held = find_limit(block, limit), kept = held - block->next;
	struct event *events = NULL;

	if (held == block->held)
		return 0;
	if (kept) {
		events = reallocarray(NULL, kept, sizeof(*events));
		if (!events)
			return -ENOMEM;
		memcpy(events, event_at(block, block->next), kept * sizeof(*events));
	}
	block->later_ns = event_at(block, held)->start;
	free(block->events);
	stream->held -= block->held - block->first - kept;
	block->events = events;
	block->first = block->next;
	block->held = held;
	return 0;
}

static size_t count_before(const struct stream *stream, const struct limit *limit)
{
	size_t count = 0;

	for (size_t i = 0; i < stream->heap_count; i++) {
		const struct open_block *block = stream->heap[i].block;

		count += find_limit(block, limit) - block->next;
	}
	return count;
}

/* The latest limit with no more than so many events before it, but one that lets the earliest
 * block go on. */
static struct limit choose_limit(const struct stream *stream, size_t most)
{
	struct limit limit = { stream->heap[0].start_ns, 0 };
	uint64_t step = 1ull << 63;
	size_t blocks = stream->plan_count;

	for (; step; step /= 2) {
		struct limit later = { limit.start_ns + step, 0 };

		if (later.start_ns > limit.start_ns && count_before(stream, &later) <= most)
			limit = later;
	}
	/* Among those that start together, which may be all there are. */
	for (size_t low = 0; low < blocks;) {
		size_t middle = low + (blocks - low + 1) / 2;
		struct limit later = { limit.start_ns, middle };

		if (count_before(stream, &later) <= most) {
			limit = later;
			low = middle;
		} else {
			blocks = middle - 1;
		}
	}
	if (limit.start_ns == stream->heap[0].start_ns &&
	    limit.order <= stream->heap[0].block->planned->order)
		limit.order = stream->heap[0].block->planned->order + 1;
	return limit;
}

static int trim_all(struct stream *stream)
{
	int status = 0;

	stream->limit = choose_limit(stream, stream->options.events_most / 2);
	stream->limited = true;
	for (size_t i = 0; i < stream->heap_count && !status; i++)
		status = trim_block(stream, stream->heap[i].block, &stream->limit);
	return status;
}

/* --- opening and closing blocks --- */

static void close_block(struct stream *stream, struct open_block *block)
{
	stream->held -= block->held - block->first;
	free(block->events);
	free(block);
}

/* Reads the rows of a block; `again` if that was done before. */
static int read_rows(struct stream *stream, const struct planned_block *planned, bool again,
		     struct rows *rows, struct trace_error *error)
{
	const struct job_trace *trace = &stream->job->traces[planned->trace];
	uint64_t wanted;
	int status;

	*rows = (struct rows) {
		.job = stream->job,
		.trace = planned->trace,
		.kind = trace_reader_block_info(trace->reader, planned->number)->kind,
		.count = planned->rows,
		.seen = again ? stream->recount : trace->seen,
	};
	wanted = event_columns(rows->kind);
	status = trace_reader_read(trace->reader, planned->number, wanted, error);
	if (status) {
		job_error(stream->job, planned->trace, error);
		return status;
	}
	for (unsigned int i = 0; i < SYSCALL_PATH_COLUMNS; i++)
		if (wanted >> i & 1)
			rows->columns[i] = trace_reader_column(trace->reader, i);
	if (again)
		return 0;
	stream->rows_read += planned->rows;
	return stream->options.rows(stream->options.context, rows);
}

/* Brings the events to come into memory, up to the limit. */
static int load_events(struct stream *stream, struct open_block *block, bool again,
		       struct trace_error *error)
{
	struct event *events;
	struct rows rows;
	size_t room, count;
	int status = read_rows(stream, block->planned, again, &rows, error);

	if (status)
		return status;
	room = event_room(rows.kind, rows.count);
	events = reallocarray(NULL, room ? room : 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	status = event_decode(&rows, events, &count);
	if (!status)
		status = event_sort(&events, count);
	if (status) {
		free(events);
		return status;
	}
	free(block->events);
	stream->held += count - (block->held - block->first);
	block->events = events;
	block->first = 0;
	block->held = block->count = count;
	return stream->limited ? trim_block(stream, block, &stream->limit) : 0;
}

static int open_block(struct stream *stream, const struct planned_block *planned,
		      struct trace_error *error)
{
	struct open_block *block = calloc(1, sizeof(*block));
	struct head head = { .block = block };
	int status;

	if (!block)
		return -ENOMEM;
	block->planned = planned;
	status = load_events(stream, block, false, error);
	if (!status && block->count) {
		head.start_ns = next_start(block);
		status = heap_push(stream, &head);
		if (!status)
			return 0;
	}
	close_block(stream, block);
	return status;
}

/* Opens every block that could hold an event earlier than the earliest at hand. */
static int open_due(struct stream *stream, struct trace_error *error)
{
	int status = 0;

	while (stream->opened < stream->plan_count && !status) {
		const struct planned_block *planned = &stream->plan[stream->opened];

		if (stream->heap_count && planned->start_ns > stream->heap[0].start_ns)
			break;
		stream->opened++;
		status = open_block(stream, planned, error);
		if (!status && stream->held > stream->options.events_most)
			status = trim_all(stream);
	}
	return status;
}

/* The earliest event of all may be past the limit: then everything before it was given out. */
static int load_due(struct stream *stream, struct trace_error *error)
{
	struct open_block *block = stream->heap[0].block;
	int status;

	if (block->next < block->held)
		return 0;
	stream->limited = false;
	status = load_events(stream, block, true, error);
	if (!status && stream->held > stream->options.events_most)
		status = trim_all(stream);
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

/* Kinds whose events come before or after others that start together: a span that takes no time
 * begins before it ends, and a process ends after all that it does. */
static const int turns[TRACE_KIND_COUNT] = {
	[TRACE_SPAN_BEGIN] = -1,
	[TRACE_SPAN_END] = 1,
	[TRACE_EXEC] = 2,
	[TRACE_EXIT] = 2,
};

static int turn_of(const struct stream *stream, const struct planned_block *planned)
{
	const struct trace_reader *reader = stream->job->traces[planned->trace].reader;

	return turns[trace_reader_block_info(reader, planned->number)->kind];
}

static void set_orders(struct stream *stream)
{
	size_t order = 0;

	for (int turn = -1; turn <= 2; turn++)
		for (size_t i = 0; i < stream->plan_count; i++)
			if (turn_of(stream, &stream->plan[i]) == turn)
				stream->plan[i].order = order++;
}

static int make_plan(struct stream *stream)
{
	const struct job *job = stream->job;
	size_t blocks = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		blocks += trace_reader_block_count(job->traces[i].reader);
	stream->plan = reallocarray(NULL, blocks ? blocks : 1, sizeof(*stream->plan));
	stream->recount = calloc(JOB_OPERATIONS_MOST + 2, sizeof(*stream->recount));
	if (!stream->plan || !stream->recount)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];

		blocks = trace_reader_block_count(trace->reader);
		for (size_t j = 0; j < blocks; j++) {
			const struct trace_block_info *info;

			info = trace_reader_block_info(trace->reader, j);
			if (!event_columns(info->kind) || !info->rows)
				continue;
			stream->plan[stream->plan_count++] = (struct planned_block) {
				.start_ns = clock_shifted(trace->clock, info->start),
				.trace = i,
				.rows = info->rows,
				.number = j,
			};
			stream->rows += info->rows;
		}
	}
	qsort(stream->plan, stream->plan_count, sizeof(*stream->plan), compare_planned);
	set_orders(stream);
	return 0;
}

int stream_open(struct stream **stream, struct job *job, const struct stream_options *options)
{
	int status;

	*stream = calloc(1, sizeof(**stream));
	if (!*stream)
		return -ENOMEM;
	(*stream)->job = job;
	(*stream)->options = *options;
	if (!options->events_most)
		(*stream)->options.events_most = STREAM_EVENTS_MOST;
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
		close_block(stream, stream->heap[i].block);
	free(stream->recount);
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
	} while (taken < STREAM_BATCH && block->next < block->held &&
		 event_at(block, block->next)->start < until);
	if (block->next == block->count) {
		close_block(stream, block);
		stream->heap[0] = stream->heap[--stream->heap_count];
	} else {
		stream->heap[0].start_ns = next_start(block);
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
		if (!status && stream->heap_count)
			status = load_due(stream, error);
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
