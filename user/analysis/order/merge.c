/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges events in the order of their starts: blocks are sorted, and a heap merges them. */
#include "analysis/order/merge_state.h"

#include <errno.h>
#include <stdlib.h>

#include "collections/grow.h"
#include "base/number.h"

/* --- the heap of sources --- */

/* Branchless: the order is unpredictable. */
static inline bool head_before(const struct head *a, const struct head *b)
{
	return ((unsigned __int128)a->start_ns << 64 | a->order) <
	       ((unsigned __int128)b->start_ns << 64 | b->order);
}

/* Replaces an entry. `moving` is not read back from the heap: half of it was just written. */
static inline void heap_sink(struct merge *merge, size_t index, struct head moving)
{
	struct head *heap = merge->heap;

	for (;;) {
		size_t child = 2 * index + 1;

		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count)
			child += head_before(&heap[child + 1], &heap[child]);
		if (!head_before(&heap[child], &moving))
			break;
		heap[index] = heap[child];
		index = child;
	}
	heap[index] = moving;
}

static int heap_push(struct merge *merge, const struct head *head)
{
	size_t index = merge->heap_count;

	if (!GROW(merge->heap, merge->heap_room, merge->heap_count + 1))
		return -ENOMEM;
	merge->heap_count++;
	for (; index && head_before(head, &merge->heap[(index - 1) / 2]); index = (index - 1) / 2)
		merge->heap[index] = merge->heap[(index - 1) / 2];
	merge->heap[index] = *head;
	return 0;
}

/* --- opening and closing blocks --- */

static void free_source(struct source *source)
{
	loaded_block_free(source->block);
	free(source->events);
	free(source);
}

/*
 * Loads rows, up to the limit: of the next block of the plan, or the undecoded rows of `before`, an
 * open block. Returns -ENODATA for a damaged block: it is skipped, and its rows are counted as
 * lost.
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
		merge->bytes += merge_source_bytes(source);
		if (merge->limited)
			status = merge_trim_source(merge, source, &merge->limit);
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
	head.start_ns = merge_next_start(merge, head.source);
	head.order = planned->order;
	status = heap_push(merge, &head);
	if (status)
		free_source(head.source);
	return status;
}

/* Opens every block that could hold an event earlier than the earliest one loaded. */
static int open_due(struct merge *merge, struct trace_error *error)
{
	int status = 0;

	while (merge->opened < merge->plan.count && !status) {
		const struct planned_block *planned = &merge->plan.blocks[merge->opened];

		if (merge->heap_count && planned->start_ns > merge->heap[0].start_ns)
			break;
		merge->opened++;
		status = open_source(merge, planned, error);
		if (!status && merge->bytes > merge->options.cursor.bytes_max)
			status = merge_trim_all(merge);
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

/* Values of columns that are all zero. */
static const uint64_t zeros[CHUNK_ROWS];

/* Widens values of a column; if they are all the same, they are kept for the next call. */
static const uint64_t *widen(struct merge *merge, const struct event_chunk *chunk,
			     unsigned int column)
{
	const struct loaded_column *of = &chunk->block->columns[column];
	uint64_t *wide = merge->wide[column];
	bool same = !of->width && column != TRACE_COL_TIME;

	if (same && !of->same)
		return zeros;
	if (same && merge->same[column] && wide[0] == of->same)
		return wide;
	merge->same[column] = same;
	loaded_block_widen(chunk->block, column, chunk->row, same ? CHUNK_ROWS : chunk->count,
			   wide);
	return wide;
}

static int decode_some(struct merge *merge, struct source *source)
{
	const struct loaded_block *block = source->block;
	uint32_t left = block->held - source->decoded;
	struct event_chunk chunk = {
		.job = merge->job,
		.block = block,
		.clock = merge->job->traces[block->trace].clock,
		.row = source->decoded,
		.count = number_min(left, CHUNK_ROWS),
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

/* Events of the batch still use its rows. */
static void retire(struct merge *merge, struct source *source)
{
	merge->bytes -= merge_source_bytes(source);
	source->retired = merge->retired;
	merge->retired = source;
}

/* Decodes rows unless the earliest event is ready. Its row may be past the limit: then all rows
 * before the limit have been handed out. */
static int make_due(struct merge *merge, struct trace_error *error)
{
	struct source *source = merge->heap[0].source, *again;
	int status = 0;

	if (source->next < source->end)
		return 0;
	if (source->decoded == source->block->held) {
		merge->limited = false;
		status = new_source(merge, source->planned, source, &again, error);
		if (status == -ENODATA) { /* it was damaged after it was opened */
			retire(merge, source);
			merge->heap_count--;
			if (merge->heap_count)
				heap_sink(merge, 0, merge->heap[merge->heap_count]);
		}
		if (status)
			return status;
		merge->heap[0].source = again;
		retire(merge, source);
		source = again;
		if (merge->bytes > merge->options.cursor.bytes_max)
			status = merge_trim_all(merge);
	}
	return status ? status : decode_some(merge, source);
}

/* Returns the time before which no block must be opened and the end is not reached. */
static uint64_t undisturbed_until(const struct merge *merge)
{
	uint64_t end_ns = merge->options.cursor.until_ns, begin_ns = UINT64_MAX;

	if (merge->opened < merge->plan.count)
		begin_ns = merge->plan.blocks[merge->opened].start_ns;
	return number_min(end_ns, begin_ns);
}

/* Records that the source has events in this batch. */
static inline void note_batch(const struct merge *merge, struct source *source)
{
	if (source->batch == merge->batches)
		return;
	source->batch = merge->batches;
	source->row = source->events[source->next].row;
}

/* Moves events, at least one, of the source with the earliest event while they are the earliest of
 * all. Returns where the next one goes. */
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
	note_batch(merge, source);
	do
		*events++ = *next++;
	while (next < last && next->start < until && events < end);
	source->next = next - source->events;
	return events;
}

/* Selects one of two addresses without a branch. */
static inline const struct event *choose(const struct event *a, const struct event *b, bool second)
{
	uintptr_t all = -(uintptr_t)second;

	return (const struct event *)((uintptr_t)a ^ (((uintptr_t)a ^ (uintptr_t)b) & all));
}

/*
 * Moves events of two sources that start before `until`, until one of the two has no more ready.
 * When two CPUs record, the next source is unpredictable, and taking runs mispredicts every other
 * event.
 */
static struct event *take_pair(const struct merge *merge, struct source *left, struct source *right,
			       struct event *events, const struct event *end, uint64_t until)
{
	const struct event *a = left->events + left->next, *a_end = left->events + left->end;
	const struct event *b = right->events + right->next, *b_end = right->events + right->end;

	note_batch(merge, left);
	note_batch(merge, right);
	while (a < a_end && b < b_end && events < end) {
		bool second = b->start < a->start;
		const struct event *next = choose(a, b, second);

		if (next->start >= until)
			break;
		*events++ = *next;
		a += !second;
		b += second;
	}
	left->next = a - left->events;
	right->next = b - right->events;
	return events;
}

/* Returns the slot of the source to be taken together with the first, both up to `until`, if the
 * heap is so small that all others start later for a while; 0 for none. */
#define FEW 3
static size_t find_pair(const struct merge *merge, uint64_t *until)
{
	const struct head *heap = merge->heap;
	size_t index = 1;

	if (merge->heap_count < 2 || merge->heap_count > FEW)
		return 0;
	if (merge->heap_count == FEW) {
		index += head_before(&heap[2], &heap[1]);
		if (heap[FEW - index].start_ns < *until)
			*until = heap[FEW - index].start_ns;
	}
	return heap[0].start_ns < *until && heap[index].source->next < heap[index].source->end
		       ? index
		       : 0;
}

/* Puts a source whose events were taken in its new slot, or retires it at the end of its block. */
static void advance(struct merge *merge, size_t index)
{
	struct head moving = merge->heap[index];
	struct source *source = moving.source;

	if (source->next == source->end && source->decoded == source->block->count) {
		retire(merge, source);
		moving = merge->heap[--merge->heap_count];
		if (index == merge->heap_count)
			return;
	} else {
		moving.start_ns = merge_next_start(merge, source);
	}
	heap_sink(merge, index, moving);
}

/* Moves events, at least one, until one must be decoded first. */
static size_t take_ready(struct merge *merge, struct event *events, size_t taken)
{
	const struct event *end = events + merge->options.batch;
	const uint64_t until = undisturbed_until(merge);
	struct event *to = events + taken;
	struct head *first = merge->heap;

	do {
		uint64_t pair_until = until;
		size_t other = find_pair(merge, &pair_until);
		bool swapped = other && first[other].order < first->order;

		if (other) {
			to = take_pair(merge, first[swapped ? other : 0].source,
				       first[swapped ? 0 : other].source, to, end, pair_until);
			advance(merge, other);
		} else {
			to = take_run(merge, to, end, until);
		}
		advance(merge, 0);
	} while (merge->heap_count && to < end && first->start_ns < until &&
		 first->source->next < first->source->end);
	return to - events;
}

/* True at the end, or once events are later than wanted. */
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

/* --- open and close --- */

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
