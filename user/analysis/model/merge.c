/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events in the order of their starts: blocks sorted within, merged among each other by a heap.
 * Knows nothing of what the events mean.
 */
#include "analysis/model/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/ahead.h"
#include "grow.h"

/* A block that has events to come. */
struct source {
	const struct planned_block *planned;
	struct held_block *block;
	uint32_t decoded;     /* the first row that is not yet an event */
	uint32_t next, end;   /* of `events`, those to come */
	struct event *events; /* room for those of a chunk, once there are any */
	size_t event_room;
	uint64_t batch;		/* the last one that has events of it ... */
	uint32_t row;		/* ... and the row of the first of these */
	struct source *retired; /* the next one */
};

struct head {
	uint64_t start_ns; /* of the source's next event, in memory or not */
	uint64_t order;	   /* of its block in the plan */
	struct source *source;
};

/* A place in the one order that all events have: by start, then by block, then by row. */
struct limit {
	uint64_t start_ns;
	size_t order; /* blocks of a lower order are before the limit */
};

struct merge {
	struct job *job;
	struct merge_options options;
	struct plan plan;
	uint64_t columns[TRACE_KIND_COUNT]; /* wanted */
	struct ahead *ahead;
	size_t opened;	   /* blocks of the plan */
	struct head *heap; /* the earliest first */
	size_t heap_count, heap_room;
	struct source *retired; /* the last events of these are in the batch */
	size_t bytes;		/* of memory that is bounded */
	bool limited;		/* rows from `limit` on are not kept in memory */
	struct limit limit;
	uint64_t rows_read;
	uint64_t batches; /* the one being made among them */
	struct file_memory memory;
	uint64_t wide[TRACE_COLUMNS_MOST][CHUNK_ROWS];
	bool alike[TRACE_COLUMNS_MOST]; /* all of these are the same */
};

/* --- the heap of sources --- */

/* Without a branch: which one it is no processor can guess. */
static inline bool head_before(const struct head *a, const struct head *b)
{
	return ((unsigned __int128)a->start_ns << 64 | a->order) <
	       ((unsigned __int128)b->start_ns << 64 | b->order);
}

/* Puts one in place of the first. It is not read back from there: half of it was just written. */
static inline void heap_sink(struct merge *merge, struct head moving)
{
	struct head *heap = merge->heap;
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count)
			child += head_before(&heap[child + 1], &heap[child]);
		if (!head_before(&heap[child], &moving))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = moving;
}

static int heap_push(struct merge *merge, const struct head *head)
{
	size_t place = merge->heap_count;

	if (!GROW(merge->heap, merge->heap_room, merge->heap_count + 1))
		return -ENOMEM;
	merge->heap_count++;
	for (; place && head_before(head, &merge->heap[(place - 1) / 2]); place = (place - 1) / 2)
		merge->heap[place] = merge->heap[(place - 1) / 2];
	merge->heap[place] = *head;
	return 0;
}

/* --- what is in memory of a block --- */

static size_t source_bytes(const struct source *source)
{
	return sizeof(*source) + source->event_room * sizeof(*source->events) +
	       held_block_bytes(source->block);
}

static uint64_t row_start(const struct merge *merge, const struct source *source, uint32_t row)
{
	const struct held_block *block = source->block;
	uint64_t time = row < block->held ? held_block_time(block, row) : block->later_ns;

	return clock_shifted(merge->job->traces[source->planned->trace].clock, time);
}

/* The start of the next event to come, of which there must be one. */
static uint64_t next_start(const struct merge *merge, const struct source *source)
{
	return source->next < source->end ? source->events[source->next].start
					  : row_start(merge, source, source->decoded);
}

/* The first row that is no event yet, in memory and not before the limit. */
static uint32_t find_limit(const struct merge *merge, const struct source *source,
			   const struct limit *limit)
{
	uint32_t low = source->decoded, high = source->block->held;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t start = row_start(merge, source, middle);

		if (start < limit->start_ns ||
		    (start == limit->start_ns && source->planned->order < limit->order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rows that events of this batch or to come are of stay in memory. */
static uint32_t first_needed(const struct merge *merge, const struct source *source)
{
	if (source->batch == merge->batches)
		return source->row;
	return source->next < source->end ? source->events[source->next].row : source->decoded;
}

/* Keeps of the rows to come those before the limit. */
static int trim_source(struct merge *merge, struct source *source, const struct limit *limit)
{
	int status;

	merge->bytes -= source_bytes(source);
	status = held_block_trim(source->block, first_needed(merge, source),
				 find_limit(merge, source, limit));
	merge->bytes += source_bytes(source);
	return status;
}

static size_t bytes_before(const struct merge *merge, const struct limit *limit)
{
	size_t bytes = 0;

	for (size_t i = 0; i < merge->heap_count; i++) {
		const struct source *source = merge->heap[i].source;
		const struct held_block *block = source->block;
		uint32_t rows = find_limit(merge, source, limit) - first_needed(merge, source);

		bytes += source_bytes(source) - block->size +
			 (size_t)((double)block->size * rows / (block->held - block->first + 1));
	}
	return bytes;
}

/* The latest limit with no more than so many bytes before it, but one that lets the earliest
 * block go on. */
static struct limit choose_limit(const struct merge *merge, size_t most)
{
	struct limit limit = { merge->heap[0].start_ns, 0 };
	uint64_t step = 1ull << 63;
	size_t blocks = merge->plan.count;

	for (; step; step /= 2) {
		struct limit later = { limit.start_ns + step, 0 };

		if (later.start_ns > limit.start_ns && bytes_before(merge, &later) <= most)
			limit = later;
	}
	/* Among those that start together, which may be all there are. */
	for (size_t low = 0; low < blocks;) {
		size_t middle = low + (blocks - low + 1) / 2;
		struct limit later = { limit.start_ns, middle };

		if (bytes_before(merge, &later) <= most) {
			limit = later;
			low = middle;
		} else {
			blocks = middle - 1;
		}
	}
	if (limit.start_ns == merge->heap[0].start_ns &&
	    limit.order <= merge->heap[0].source->planned->order)
		limit.order = merge->heap[0].source->planned->order + 1;
	return limit;
}

/* Makes room: what was given out goes first, then what is latest. */
static int trim_all(struct merge *merge)
{
	struct limit limit = { UINT64_MAX, SIZE_MAX };
	int status = 0;

	if (merge->options.settle)
		merge->options.settle(merge->options.context);
	for (size_t i = 0; i < merge->heap_count && !status; i++)
		status = trim_source(merge, merge->heap[i].source, &limit);
	if (status || merge->bytes <= merge->options.cursor.bytes_most / 4 * 3)
		return status;
	merge->limit = choose_limit(merge, merge->options.cursor.bytes_most / 2);
	merge->limited = true;
	for (size_t i = 0; i < merge->heap_count && !status; i++)
		status = trim_source(merge, merge->heap[i].source, &merge->limit);
	return status;
}

/* --- opening and closing blocks --- */

static void free_source(struct source *source)
{
	held_block_free(source->block);
	free(source->events);
	free(source);
}

/*
 * Brings rows into memory, up to the limit: of the next block of the plan, or of one that was
 * opened before those that are not yet decoded. -ENODATA for a block that is damaged: it is passed
 * over, and its rows are counted as lost.
 */
static int new_source(struct merge *merge, const struct planned_block *planned,
		      const struct source *before, struct source **result,
		      struct trace_error *error)
{
	struct source *source = calloc(1, sizeof(*source));
	int status;

	if (!source)
		return -ENOMEM;
	source->planned = planned;
	source->decoded = before ? before->decoded : 0;
	status = before ? ahead_again(merge->ahead, planned, &source->block, error)
			: ahead_next(merge->ahead, &source->block, error);
	if (status == -EINVAL) {
		job_pass_over(merge->job, planned->trace, planned->number, error);
		status = -ENODATA;
	} else if (status) {
		job_error(merge->job, planned->trace, error);
	} else {
		merge->bytes += source_bytes(source);
		if (merge->limited)
			status = trim_source(merge, source, &merge->limit);
	}
	if (status)
		free_source(source);
	else
		*result = source;
	return status;
}

static int open_source(struct merge *merge, const struct planned_block *planned,
		       struct trace_error *error)
{
	struct head head;
	int status = new_source(merge, planned, NULL, &head.source, error);

	merge->rows_read += planned->rows;
	if (status)
		return status == -ENODATA ? 0 : status;
	head.start_ns = next_start(merge, head.source);
	head.order = planned->order;
	status = heap_push(merge, &head);
	if (status)
		free_source(head.source);
	return status;
}

/* Opens every block that could hold an event earlier than the earliest at hand. */
static int open_due(struct merge *merge, struct trace_error *error)
{
	int status = 0;

	while (merge->opened < merge->plan.count && !status) {
		const struct planned_block *planned = &merge->plan.blocks[merge->opened];

		if (merge->heap_count && planned->start_ns > merge->heap[0].start_ns)
			break;
		merge->opened++;
		status = open_source(merge, planned, error);
		if (!status && merge->bytes > merge->options.cursor.bytes_most)
			status = trim_all(merge);
	}
	return status;
}

static int make_event_room(struct merge *merge, struct source *source, uint32_t rows)
{
	size_t room = source->block->kind == TRACE_SYSCALL_PATH ||
				      source->block->kind == TRACE_ASYNC ||
				      source->block->kind == TRACE_PROFILE
			      ? 2 * rows
			      : rows;

	if (room <= source->event_room)
		return 0;
	free(source->events);
	source->events = reallocarray(NULL, room, sizeof(*source->events));
	if (!source->events)
		return -ENOMEM;
	merge->bytes += (room - source->event_room) * sizeof(*source->events);
	source->event_room = room;
	return 0;
}

/* What columns hold that say nothing. */
static const uint64_t zeros[CHUNK_ROWS];

/* Some values of a column; those that are all the same stay from one time to the next. */
static const uint64_t *widen(struct merge *merge, const struct event_chunk *chunk,
			     unsigned int column)
{
	const struct held_column *of = &chunk->block->columns[column];
	uint64_t *wide = merge->wide[column];
	bool alike = !of->width && column != TRACE_COL_TIME;

	if (alike && !of->same)
		return zeros;
	if (alike && merge->alike[column] && wide[0] == of->same)
		return wide;
	merge->alike[column] = alike;
	held_block_widen(chunk->block, column, chunk->row, alike ? CHUNK_ROWS : chunk->count, wide);
	return wide;
}

static int decode_some(struct merge *merge, struct source *source)
{
	const struct held_block *block = source->block;
	uint32_t left = block->held - source->decoded;
	struct event_chunk chunk = {
		.job = merge->job,
		.block = block,
		.clock = merge->job->traces[block->trace].clock,
		.row = source->decoded,
		.count = left < CHUNK_ROWS ? left : CHUNK_ROWS,
		.memory = &merge->memory,
	};
	uint64_t columns = event_columns(block->kind);
	size_t count = 0;
	int status = make_event_room(merge, source, chunk.count);

	for (unsigned int i = 0; columns >> i && !status; i++)
		if (columns >> i & 1)
			chunk.columns[i] = widen(merge, &chunk, i);
	if (!status)
		event_decode(&chunk, source->events, &count);
	source->decoded += chunk.count;
	source->next = 0;
	source->end = count;
	return status;
}

/* The events of the batch are still to be looked at with their rows. */
static void retire(struct merge *merge, struct source *source)
{
	merge->bytes -= source_bytes(source);
	source->retired = merge->retired;
	merge->retired = source;
}

/* Sees that the earliest event of all is there. Its row may be past the limit: then everything
 * before that was given out. */
static int make_due(struct merge *merge, struct trace_error *error)
{
	struct source *source = merge->heap[0].source, *again;
	int status = 0;

	if (source->next < source->end)
		return 0;
	if (source->decoded == source->block->held) {
		merge->limited = false;
		status = new_source(merge, source->planned, source, &again, error);
		if (status == -ENODATA) { /* it has been damaged meanwhile */
			retire(merge, source);
			merge->heap_count--;
			if (merge->heap_count)
				heap_sink(merge, merge->heap[merge->heap_count]);
		}
		if (status)
			return status;
		merge->heap[0].source = again;
		retire(merge, source);
		source = again;
		if (merge->bytes > merge->options.cursor.bytes_most)
			status = trim_all(merge);
	}
	return status ? status : decode_some(merge, source);
}

/* Before when nothing else has to be looked at: no block to be opened, and not the end. */
static uint64_t undisturbed_until(const struct merge *merge)
{
	uint64_t end_ns = merge->options.cursor.until_ns, begin_ns = UINT64_MAX;

	if (merge->opened < merge->plan.count)
		begin_ns = merge->plan.blocks[merge->opened].start_ns;
	return end_ns < begin_ns ? end_ns : begin_ns;
}

/* Moves events of the source with the earliest one, one at least, as long as they are the earliest
 * of all. Returns where the next one goes. */
static struct event *take_run(struct merge *merge, struct event *events, const struct event *end,
			      uint64_t until)
{
	const struct head *heap = merge->heap;
	struct source *source = heap[0].source;
	const struct event *next = source->events + source->next;
	const struct event *last = source->events + source->end;

	if (merge->heap_count > 1 && heap[1].start_ns < until)
		until = heap[1].start_ns;
	if (merge->heap_count > 2 && heap[2].start_ns < until)
		until = heap[2].start_ns;
	if (source->batch != merge->batches) {
		source->batch = merge->batches;
		source->row = next->row;
	}
	do
		*events++ = *next++;
	while (next < last && next->start < until && events < end);
	source->next = next - source->events;
	return events;
}

/* Moves events, one at least, as long as none has to be made first. */
static size_t take_ready(struct merge *merge, struct event *events, size_t taken)
{
	const struct event *end = events + merge->options.batch;
	const uint64_t until = undisturbed_until(merge);
	struct event *to = events + taken;
	struct head *first = merge->heap;

	do {
		struct head moving = *first;
		struct source *source = moving.source;

		to = take_run(merge, to, end, until);
		if (source->next == source->end && source->decoded == source->block->count) {
			retire(merge, source);
			moving = first[--merge->heap_count];
			if (!merge->heap_count)
				break;
		} else {
			moving.start_ns = next_start(merge, source);
		}
		heap_sink(merge, moving);
	} while (to < end && first->start_ns < until && first->source->next < first->source->end);
	return to - events;
}

/* Events later than what is wanted end it all. */
static bool is_over(const struct merge *merge)
{
	return !merge->heap_count || merge->heap[0].start_ns > merge->options.cursor.until_ns;
}

int merge_next(struct merge *merge, struct event *events, size_t *count, struct source **retired,
	       struct trace_error *error)
{
	size_t taken = 0;
	int status = 0;

	merge->batches++;
	while (taken < merge->options.batch) {
		status = open_due(merge, error);
		if (status || is_over(merge))
			break;
		status = make_due(merge, error);
		if (status == -ENODATA)
			continue;
		if (status)
			break;
		taken = take_ready(merge, events, taken);
	}
	while (taken && events[taken - 1].start > merge->options.cursor.until_ns)
		taken--;
	*count = taken;
	*retired = merge->retired;
	merge->retired = NULL;
	return status == -ENODATA ? 0 : status;
}

/* --- all of it --- */

int merge_open(struct merge **result, struct job *job, const struct merge_options *options)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	int status;

	*result = NULL;
	if (!merge)
		return -ENOMEM;
	merge->job = job;
	merge->options = *options;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		merge->columns[kind] =
			options->cursor.whole_rows
				? ~0ull
				: event_columns(kind) | options->cursor.columns[kind];
	status = plan_make(&merge->plan, job, &options->cursor);
	if (!status)
		status = ahead_open(&merge->ahead, job, &merge->plan, merge->columns,
				    options->threads, options->pool);
	if (status)
		merge_close(merge);
	else
		*result = merge;
	return status;
}

void merge_free_retired(struct source *retired)
{
	while (retired) {
		struct source *next = retired->retired;

		free_source(retired);
		retired = next;
	}
}

void merge_close(struct merge *merge)
{
	if (!merge)
		return;
	ahead_close(merge->ahead);
	for (size_t i = 0; i < merge->heap_count; i++)
		free_source(merge->heap[i].source);
	merge_free_retired(merge->retired);
	free(merge->heap);
	plan_free(&merge->plan);
	free(merge);
}

uint64_t merge_rows(const struct merge *merge)
{
	return merge->plan.rows;
}

uint64_t merge_rows_read(const struct merge *merge)
{
	return merge->rows_read;
}
