/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Limits the memory of the blocks that a merge has open: rows past a limit in the order of events
 * are dropped and read again when they are due.
 */
#include "analysis/order/merge_state.h"

/* Returns the first undecoded row in memory that is not before the limit. */
static uint32_t find_limit(const struct merge *merge, const struct source *source,
			   const struct limit *limit)
{
	uint32_t low = source->decoded, high = source->block->held;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t start = merge_row_start(merge, source, middle);

		if (start < limit->start_ns ||
		    (start == limit->start_ns && source->planned->order < limit->order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rows of events in this batch or to come stay in memory. */
static uint32_t first_needed(const struct merge *merge, const struct source *source)
{
	if (source->batch == merge->batches)
		return source->row;
	return source->next < source->end ? source->events[source->next].row : source->decoded;
}

int merge_trim_source(struct merge *merge, struct source *source, const struct limit *limit)
{
	int status;

	merge->bytes -= merge_source_bytes(source);
	status = loaded_block_trim(source->block, first_needed(merge, source),
				   find_limit(merge, source, limit));
	merge->bytes += merge_source_bytes(source);
	return status;
}

static size_t bytes_before(const struct merge *merge, const struct limit *limit)
{
	size_t bytes = 0;

	for (size_t i = 0; i < merge->heap_count; i++) {
		const struct source *source = merge->heap[i].source;
		const struct loaded_block *block = source->block;
		uint32_t rows = find_limit(merge, source, limit) - first_needed(merge, source);

		bytes += merge_source_bytes(source) - block->size +
			 (size_t)((double)block->size * rows / (block->held - block->first + 1));
	}
	return bytes;
}

/* Returns the latest limit with at most `max` bytes before it, but one that lets the earliest
 * block proceed. */
static struct limit choose_limit(const struct merge *merge, size_t max)
{
	struct limit limit = { merge->heap[0].start_ns, 0 };
	uint64_t step = 1ull << 63;
	size_t blocks = merge->plan.count;

	for (; step; step /= 2) {
		struct limit later = { limit.start_ns + step, 0 };

		if (later.start_ns > limit.start_ns && bytes_before(merge, &later) <= max)
			limit = later;
	}
	/* Among events that start together, which may be all of them. */
	for (size_t low = 0; low < blocks;) {
		size_t middle = low + (blocks - low + 1) / 2;
		struct limit later = { limit.start_ns, middle };

		if (bytes_before(merge, &later) <= max) {
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

int merge_trim_all(struct merge *merge)
{
	struct limit limit = { UINT64_MAX, SIZE_MAX };
	int status = 0;

	if (merge->options.settle)
		merge->options.settle(merge->options.context);
	for (size_t i = 0; i < merge->heap_count && !status; i++)
		status = merge_trim_source(merge, merge->heap[i].source, &limit);
	if (status || merge->bytes <= merge->options.cursor.bytes_max / 4 * 3)
		return status;
	merge->limit = choose_limit(merge, merge->options.cursor.bytes_max / 2);
	merge->limited = true;
	for (size_t i = 0; i < merge->heap_count && !status; i++)
		status = merge_trim_source(merge, merge->heap[i].source, &merge->limit);
	return status;
}
