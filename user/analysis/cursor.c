/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events in the order of their starts: blocks sorted within, merged among each other by a heap.
 * Knows nothing of what the events mean.
 */
#include "analysis/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
struct planned_block {
	uint64_t start_ns; /* on the job's clock */
	uint32_t trace;
	uint32_t rows;
	size_t number;
	size_t order; /* its place among all blocks for events that start together */
};

/* A block that has events to come. */
struct source {
	const struct planned_block *planned;
	struct held_block *block;
	uint32_t decoded;     /* the first row that is not yet an event */
	uint32_t next, end;   /* of `events`, those to come */
	struct event *events; /* room for those of a chunk, once there are any */
	size_t event_room;
	struct source *retired; /* the next one */
};

struct head {
	uint64_t start_ns; /* of the source's next event, in memory or not */
	struct source *source;
};

/* A place in the one order that all events have: by start, then by block, then by row. */
struct limit {
	uint64_t start_ns;
	size_t order; /* blocks of a lower order are before the limit */
};

struct cursor {
	struct job *job;
	struct cursor_options options;
	struct planned_block *plan;
	size_t plan_count, opened;
	struct head *heap; /* the earliest first */
	size_t heap_count, heap_room;
	struct source *retired; /* the last events of these are in the batch */
	size_t bytes;		/* of memory that is bounded */
	bool limited;		/* rows from `limit` on are not kept in memory */
	struct limit limit;
	uint64_t rows, rows_read;
	struct held_scratch scratch;
	struct file_memory memory;
	uint64_t wide[TRACE_COLUMNS_MOST][CHUNK_ROWS];
	struct event batch[CURSOR_BATCH];
};

/* --- the heap of sources --- */

static bool head_before(const struct head *a, const struct head *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->source->planned->order < b->source->planned->order;
}

static void heap_sink(struct cursor *cursor)
{
	struct head *heap = cursor->heap, moving = heap[0];
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= cursor->heap_count)
			break;
		if (child + 1 < cursor->heap_count && head_before(&heap[child + 1], &heap[child]))
			child++;
		if (!head_before(&heap[child], &moving))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = moving;
}

static int heap_push(struct cursor *cursor, const struct head *head)
{
	size_t place = cursor->heap_count;

	if (!GROW(cursor->heap, cursor->heap_room, cursor->heap_count + 1))
		return -ENOMEM;
	cursor->heap_count++;
	for (; place && head_before(head, &cursor->heap[(place - 1) / 2]); place = (place - 1) / 2)
		cursor->heap[place] = cursor->heap[(place - 1) / 2];
	cursor->heap[place] = *head;
	return 0;
}

/* --- what is in memory of a block --- */

static size_t source_bytes(const struct source *source)
{
	return sizeof(*source) + source->event_room * sizeof(*source->events) +
	       held_block_bytes(source->block);
}

static uint64_t row_start(const struct cursor *cursor, const struct source *source, uint32_t row)
{
	const struct held_block *block = source->block;
	uint64_t time = row < block->held ? held_block_time(block, row) : block->later_ns;

	return clock_shifted(cursor->job->traces[source->planned->trace].clock, time);
}

/* The start of the next event to come, of which there must be one. */
static uint64_t next_start(const struct cursor *cursor, const struct source *source)
{
	return source->next < source->end ? source->events[source->next].start
					  : row_start(cursor, source, source->decoded);
}

/* The first row that is no event yet, in memory and not before the limit. */
static uint32_t find_limit(const struct cursor *cursor, const struct source *source,
			   const struct limit *limit)
{
	uint32_t low = source->decoded, high = source->block->held;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t start = row_start(cursor, source, middle);

		if (start < limit->start_ns ||
		    (start == limit->start_ns && source->planned->order < limit->order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rows that events of the batch or to come are of stay in memory. */
static uint32_t first_needed(const struct source *source)
{
	const uint32_t most = CURSOR_BATCH + CHUNK_ROWS;
	uint32_t first = source->decoded > most ? source->decoded - most : 0;

	return first > source->block->first ? first : source->block->first;
}

/* Keeps of the rows to come those before the limit. */
static int trim_source(struct cursor *cursor, struct source *source, const struct limit *limit)
{
	int status;

	cursor->bytes -= source_bytes(source);
	status = held_block_trim(source->block, first_needed(source),
				 find_limit(cursor, source, limit));
	cursor->bytes += source_bytes(source);
	return status;
}

static size_t bytes_before(const struct cursor *cursor, const struct limit *limit)
{
	size_t bytes = 0;

	for (size_t i = 0; i < cursor->heap_count; i++) {
		const struct source *source = cursor->heap[i].source;
		const struct held_block *block = source->block;
		uint32_t rows = find_limit(cursor, source, limit) - first_needed(source);

		bytes += source_bytes(source) - block->size +
			 (size_t)((double)block->size * rows / (block->held - block->first + 1));
	}
	return bytes;
}

/* The latest limit with no more than so many bytes before it, but one that lets the earliest
 * block go on. */
static struct limit choose_limit(const struct cursor *cursor, size_t most)
{
	struct limit limit = { cursor->heap[0].start_ns, 0 };
	uint64_t step = 1ull << 63;
	size_t blocks = cursor->plan_count;

	for (; step; step /= 2) {
		struct limit later = { limit.start_ns + step, 0 };

		if (later.start_ns > limit.start_ns && bytes_before(cursor, &later) <= most)
			limit = later;
	}
	/* Among those that start together, which may be all there are. */
	for (size_t low = 0; low < blocks;) {
		size_t middle = low + (blocks - low + 1) / 2;
		struct limit later = { limit.start_ns, middle };

		if (bytes_before(cursor, &later) <= most) {
			limit = later;
			low = middle;
		} else {
			blocks = middle - 1;
		}
	}
	if (limit.start_ns == cursor->heap[0].start_ns &&
	    limit.order <= cursor->heap[0].source->planned->order)
		limit.order = cursor->heap[0].source->planned->order + 1;
	return limit;
}

/* Makes room: what was given out goes first, then what is latest. */
static int trim_all(struct cursor *cursor)
{
	struct limit limit = { UINT64_MAX, SIZE_MAX };
	int status = 0;

	for (size_t i = 0; i < cursor->heap_count && !status; i++)
		status = trim_source(cursor, cursor->heap[i].source, &limit);
	if (status || cursor->bytes <= cursor->options.bytes_most / 4 * 3)
		return status;
	cursor->limit = choose_limit(cursor, cursor->options.bytes_most / 2);
	cursor->limited = true;
	for (size_t i = 0; i < cursor->heap_count && !status; i++)
		status = trim_source(cursor, cursor->heap[i].source, &cursor->limit);
	return status;
}

/* --- opening and closing blocks --- */

static void free_source(struct source *source)
{
	held_block_free(source->block);
	free(source->events);
	free(source);
}

static uint64_t columns_of(const struct cursor *cursor, enum trace_kind kind)
{
	return cursor->options.whole_rows ? ~0ull
					  : event_columns(kind) | cursor->options.columns[kind];
}

static int take_block(struct cursor *cursor, struct source *source, struct trace_error *error)
{
	const struct planned_block *planned = source->planned;
	struct trace_reader *reader = cursor->job->traces[planned->trace].reader;
	const struct trace_block_info *info = trace_reader_block_info(reader, planned->number);
	uint64_t columns = columns_of(cursor, info->kind);
	struct trace_view view;
	int status = trace_reader_view(reader, planned->number, columns, &view, error);

	if (status)
		return status;
	status = held_block_take(&source->block, &view, info, columns, &cursor->scratch);
	if (status == -EINVAL)
		snprintf(error->text, sizeof(error->text),
			 "damaged: the block at byte %" PRIu64
			 " has rows that are earlier than the index says",
			 info->offset);
	return status;
}

/* Brings the rows from `decoded` on into memory, up to the limit. -ENODATA for a block that is
 * damaged: it is passed over, and its rows are counted as lost. */
static int new_source(struct cursor *cursor, const struct planned_block *planned, uint32_t decoded,
		      struct source **result, struct trace_error *error)
{
	struct source *source = calloc(1, sizeof(*source));
	int status;

	if (!source)
		return -ENOMEM;
	source->planned = planned;
	source->decoded = decoded;
	status = take_block(cursor, source, error);
	if (status == -EINVAL) {
		job_pass_over(cursor->job, planned->trace, planned->number, error);
		free_source(source);
		return -ENODATA;
	}
	if (status) {
		job_error(cursor->job, planned->trace, error);
		free_source(source);
		return status;
	}
	source->block->trace = planned->trace;
	cursor->bytes += source_bytes(source);
	*result = source;
	return cursor->limited ? trim_source(cursor, source, &cursor->limit) : 0;
}

static int open_source(struct cursor *cursor, const struct planned_block *planned,
		       struct trace_error *error)
{
	struct head head;
	int status = new_source(cursor, planned, 0, &head.source, error);

	cursor->rows_read += planned->rows;
	if (status)
		return status == -ENODATA ? 0 : status;
	head.start_ns = next_start(cursor, head.source);
	status = heap_push(cursor, &head);
	if (status)
		free_source(head.source);
	return status;
}

/* Opens every block that could hold an event earlier than the earliest at hand. */
static int open_due(struct cursor *cursor, struct trace_error *error)
{
	int status = 0;

	while (cursor->opened < cursor->plan_count && !status) {
		const struct planned_block *planned = &cursor->plan[cursor->opened];

		if (cursor->heap_count && planned->start_ns > cursor->heap[0].start_ns)
			break;
		cursor->opened++;
		status = open_source(cursor, planned, error);
		if (!status && cursor->bytes > cursor->options.bytes_most)
			status = trim_all(cursor);
	}
	return status;
}

static int make_event_room(struct cursor *cursor, struct source *source, uint32_t rows)
{
	size_t room = source->block->kind == TRACE_SYSCALL_PATH ? 2 * rows : rows;

	if (room <= source->event_room)
		return 0;
	free(source->events);
	source->events = reallocarray(NULL, room, sizeof(*source->events));
	if (!source->events)
		return -ENOMEM;
	cursor->bytes += (room - source->event_room) * sizeof(*source->events);
	source->event_room = room;
	return 0;
}

static int decode_some(struct cursor *cursor, struct source *source)
{
	const struct held_block *block = source->block;
	uint32_t left = block->held - source->decoded;
	struct event_chunk chunk = {
		.job = cursor->job,
		.block = block,
		.row = source->decoded,
		.count = left < CHUNK_ROWS ? left : CHUNK_ROWS,
		.memory = &cursor->memory,
	};
	uint64_t columns = event_columns(block->kind);
	size_t count = 0;
	int status = make_event_room(cursor, source, chunk.count);

	for (unsigned int i = 0; columns >> i && !status; i++) {
		if (!(columns >> i & 1))
			continue;
		held_block_widen(block, i, chunk.row, chunk.count, cursor->wide[i]);
		chunk.columns[i] = cursor->wide[i];
	}
	if (!status)
		status = event_decode(&chunk, source->events, &count);
	source->decoded += chunk.count;
	source->next = 0;
	source->end = count;
	return status;
}

/* The events of the batch are still to be looked at with their rows. */
static void retire(struct cursor *cursor, struct source *source)
{
	cursor->bytes -= source_bytes(source);
	source->retired = cursor->retired;
	cursor->retired = source;
}

/* Sees that the earliest event of all is there. Its row may be past the limit: then everything
 * before that was given out. */
static int make_due(struct cursor *cursor, struct trace_error *error)
{
	struct source *source = cursor->heap[0].source, *again;
	int status = 0;

	if (source->next < source->end)
		return 0;
	if (source->decoded == source->block->held) {
		cursor->limited = false;
		status = new_source(cursor, source->planned, source->decoded, &again, error);
		if (status == -ENODATA) { /* it has been damaged meanwhile */
			retire(cursor, source);
			cursor->heap[0] = cursor->heap[--cursor->heap_count];
			if (cursor->heap_count)
				heap_sink(cursor);
		}
		if (status)
			return status;
		cursor->heap[0].source = again;
		retire(cursor, source);
		source = again;
		if (cursor->bytes > cursor->options.bytes_most)
			status = trim_all(cursor);
	}
	return status ? status : decode_some(cursor, source);
}

/* --- the plan --- */

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
 * begins before it ends, a process ends after all that it does, and then it is told what files are
 * called. */
enum { TURN_FIRST = -1, TURN_LAST = 2 };
static const int turns[TRACE_KIND_COUNT] = {
	[TRACE_SPAN_BEGIN] = TURN_FIRST, [TRACE_SPAN_END] = 1,	   [TRACE_EXEC] = TURN_LAST,
	[TRACE_EXIT] = TURN_LAST,	 [TRACE_FILE] = TURN_LAST,
};

/* Kinds that change which spans are open. */
#define SPAN_KINDS                                                                                 \
	(1u << TRACE_SPAN_BEGIN | 1u << TRACE_SPAN_END | 1u << TRACE_EXEC | 1u << TRACE_EXIT)

static int turn_of(const struct cursor *cursor, const struct planned_block *planned)
{
	const struct trace_reader *reader = cursor->job->traces[planned->trace].reader;

	return turns[trace_reader_block_info(reader, planned->number)->kind];
}

static void set_orders(struct cursor *cursor)
{
	size_t order = 0;

	for (int turn = TURN_FIRST; turn <= TURN_LAST; turn++)
		for (size_t i = 0; i < cursor->plan_count; i++)
			if (turn_of(cursor, &cursor->plan[i]) == turn)
				cursor->plan[i].order = order++;
}

static void plan_block(struct cursor *cursor, uint32_t trace, size_t number)
{
	const struct cursor_options *options = &cursor->options;
	const struct job_trace *of = &cursor->job->traces[trace];
	const struct trace_block_info *info = trace_reader_block_info(of->reader, number);
	uint64_t start_ns = clock_shifted(of->clock, info->start);

	if (!(options->kinds >> info->kind & 1) || !info->rows || start_ns > options->until_ns ||
	    (!(SPAN_KINDS >> info->kind & 1) &&
	     clock_shifted(of->clock, info->end) < options->from_ns))
		return;
	cursor->plan[cursor->plan_count++] = (struct planned_block) {
		.start_ns = start_ns,
		.trace = trace,
		.rows = info->rows,
		.number = number,
	};
	cursor->rows += info->rows;
}

static int make_plan(struct cursor *cursor)
{
	const struct job *job = cursor->job;
	size_t blocks = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		blocks += trace_reader_block_count(job->traces[i].reader);
	cursor->plan = reallocarray(NULL, blocks ? blocks : 1, sizeof(*cursor->plan));
	if (!cursor->plan)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->trace_count; i++)
		for (size_t j = 0; j < trace_reader_block_count(job->traces[i].reader); j++)
			plan_block(cursor, i, j);
	qsort(cursor->plan, cursor->plan_count, sizeof(*cursor->plan), compare_planned);
	set_orders(cursor);
	return 0;
}

/* --- the cursor --- */

int cursor_open(struct cursor **result, struct job *job, const struct cursor_options *options)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));

	*result = NULL;
	if (!cursor)
		return -ENOMEM;
	cursor->job = job;
	cursor->options = *options;
	if (!options->kinds)
		cursor->options.kinds = ~0ull;
	if (!options->until_ns)
		cursor->options.until_ns = UINT64_MAX;
	if (!options->bytes_most)
		cursor->options.bytes_most = CURSOR_BYTES_MOST;
	if (make_plan(cursor)) {
		cursor_close(cursor);
		return -ENOMEM;
	}
	*result = cursor;
	return 0;
}

static void free_retired(struct cursor *cursor)
{
	while (cursor->retired) {
		struct source *source = cursor->retired;

		cursor->retired = source->retired;
		free_source(source);
	}
}

void cursor_close(struct cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t i = 0; i < cursor->heap_count; i++)
		free_source(cursor->heap[i].source);
	free_retired(cursor);
	held_scratch_free(&cursor->scratch);
	free(cursor->heap);
	free(cursor->plan);
	free(cursor);
}

/* Moves events of the source with the earliest one, as long as they are the earliest of all. */
static size_t take_run(struct cursor *cursor, size_t taken)
{
	struct source *source = cursor->heap[0].source;
	uint64_t until = UINT64_MAX;

	if (cursor->heap_count > 1)
		until = cursor->heap[1].start_ns;
	if (cursor->heap_count > 2 && cursor->heap[2].start_ns < until)
		until = cursor->heap[2].start_ns;
	if (cursor->opened < cursor->plan_count && cursor->plan[cursor->opened].start_ns < until)
		until = cursor->plan[cursor->opened].start_ns;
	do {
		cursor->batch[taken++] = source->events[source->next++];
	} while (taken < CURSOR_BATCH && source->next < source->end &&
		 source->events[source->next].start < until);
	if (source->next == source->end && source->decoded == source->block->count) {
		retire(cursor, source);
		cursor->heap[0] = cursor->heap[--cursor->heap_count];
	} else {
		cursor->heap[0].start_ns = next_start(cursor, source);
	}
	if (cursor->heap_count)
		heap_sink(cursor);
	return taken;
}

/* Events later than what is wanted end it all. */
static bool is_over(const struct cursor *cursor)
{
	return !cursor->heap_count || cursor->heap[0].start_ns > cursor->options.until_ns;
}

int cursor_next(struct cursor *cursor, const struct event **events, size_t *count,
		struct trace_error *error)
{
	size_t taken = 0;
	int status = 0;

	free_retired(cursor);
	while (taken < CURSOR_BATCH) {
		status = open_due(cursor, error);
		if (status || is_over(cursor))
			break;
		status = make_due(cursor, error);
		if (status == -ENODATA)
			continue;
		if (status)
			break;
		taken = take_run(cursor, taken);
	}
	while (taken && cursor->batch[taken - 1].start > cursor->options.until_ns)
		taken--;
	*events = cursor->batch;
	*count = taken;
	return status == -ENODATA ? 0 : status;
}

double cursor_progress(const struct cursor *cursor)
{
	return cursor->rows ? (double)cursor->rows_read / cursor->rows : 1;
}
