/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was done to each file. Knows nothing of tables.
 *
 * Times of a file are merged over everybody who used it, so that parallel readers do not double.
 */
#include "analysis/file_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every process may use every file: pairs of them take no more than this share of the memory. What
 * one takes in the map, three words and a tag, when that has just grown. */
#define PAIRS_SHARE 8
#define PAIR_BYTES 67

int file_uses_init(struct file_uses *uses, const struct job *job)
{
	uses->job = job;
	uses->pairs_most = job->memory_bytes / PAIRS_SHARE / PAIR_BYTES + 1;
	map_init(&uses->positions, 1, ACCESSES);
	uses->uses = calloc(job->files.count, sizeof(*uses->uses));
	return uses->uses ? 0 : -ENOMEM;
}

void file_uses_free(struct file_uses *uses)
{
	map_free(&uses->positions);
	arena_free(&uses->arena);
	free(uses->uses);
}

/* --- in passing --- */

static struct file_use_more *more_of(struct file_uses *uses, struct file_use *use)
{
	if (!use->more)
		use->more = arena_alloc(&uses->arena, sizeof(*use->more));
	return use->more;
}

static int truncate_file(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	struct file_use_more *more;

	if (!file_order_is_later(uses, event))
		return 0;
	more = more_of(uses, use);
	if (!more)
		return -ENOMEM;
	more->truncated = true;
	more->size_bytes = event->asked_bytes;
	use->furthest = more->furthest = 0;
	return 0;
}

static int add_still(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	bool brings = event->fetched_bytes || event->created_bytes;
	struct still_sum *sum = &use->metadata;

	if ((brings || event->class == IO_SYNC) && !more_of(uses, use))
		return -ENOMEM;
	if (event->class == IO_SYNC)
		sum = &use->more->sync;
	if (event->flags & EVENT_COUNTED)
		sum->count += event_count(event);
	if (event->flags & EVENT_TIMED)
		tally_merge_time(&sum->time, event);
	if (brings) {
		use->more->still.fetched_bytes += event->fetched_bytes;
		use->more->still.created_bytes += event->created_bytes;
	}
	return 0;
}

static void add_moved(struct moved_sum *sum, const struct event *event)
{
	if (event->flags & EVENT_COUNTED)
		sum->count += event_count(event);
	sum->bytes += event->bytes;
	sum->fetched_bytes += event->fetched_bytes;
	sum->created_bytes += event->created_bytes;
	if (event->flags & EVENT_TIMED)
		tally_merge_time(&sum->time, event);
}

static void add_rank(const struct file_uses *uses, struct file_use_more *more, uint32_t process)
{
	const int64_t of = uses->job->processes.processes[process].rank;
	const uint64_t rank = (uint64_t)of + 1;

	if (of < 0)
		return;
	if (!more->ranks[0] || rank < more->ranks[0])
		more->ranks[0] = rank;
	if (rank > more->ranks[1])
		more->ranks[1] = rank;
}

/* Faults and map calls. */
static int add_mapped(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	struct file_use_more *more = more_of(uses, use);

	if (!more)
		return -ENOMEM;
	add_moved(&more->mapped, event);
	add_rank(uses, more, event->process);
	more->major += event->major;
	more->dirtied_bytes += event->dirtied_bytes;
	if (event->flags & EVENT_FAULT)
		more->faulted_bytes += event->fetched_bytes;
	if (event->flags & EVENT_COPIES)
		more->copied++;
	return 0;
}

/* Of what nothing was added to it is not said yet whether it is read or written. */
static inline struct moved_sum *moved_of(struct file_uses *uses, struct file_use *use, bool writes)
{
	static const struct moved_sum none;

	if (use->writes == writes)
		return &use->moved;
	if (!memcmp(&use->moved, &none, sizeof(none))) {
		use->writes = writes;
		return &use->moved;
	}
	return more_of(uses, use) ? &use->more->other : NULL;
}

static int add_moving(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	bool writes = event->class == IO_WRITE;
	struct moved_sum *moved = moved_of(uses, use, writes);

	if (!moved)
		return -ENOMEM;
	add_moved(moved, event);
	if (!(event->flags & (EVENT_DIRECT | EVENT_ADVISES)) && !event_errors(event))
		return 0;
	if (!more_of(uses, use))
		return -ENOMEM;
	if (event->flags & EVENT_COUNTED)
		use->more->errors[writes] += event_errors(event);
	if (event->flags & EVENT_DIRECT && !writes)
		use->more->direct_bytes += event->bytes;
	if (event->flags & EVENT_ADVISES && !event->fetched_bytes)
		use->more->advised += event_count(event) - event_errors(event);
	return 0;
}

static int add_event(struct file_uses *uses, const struct event *event)
{
	struct file_use *use = &uses->uses[event->file];
	struct position *position = file_order_position(uses, use, event);
	int status;

	if (!position)
		return -ENOMEM;
	if (event->flags & EVENT_OPENS)
		use->opens += event_count(event) - event_errors(event);
	if (event->flags & EVENT_UNLINKED)
		use->unlinked = true;
	if (event->flags & EVENT_TRUNCATES && truncate_file(uses, use, event))
		return -ENOMEM;
	if (event->class == IO_NONE)
		return 0;
	if (event->class == IO_METADATA || event->class == IO_SYNC)
		return add_still(uses, use, event);
	status = event->class == IO_READ || event->class == IO_WRITE ? add_moving(uses, use, event)
								     : add_mapped(uses, use, event);
	return status || event->flags & EVENT_SUMMED ? status
						     : file_order_add(uses, use, position, event);
}

/* What nearly all calls are that read or write. */
#define PLAIN (EVENT_COUNTED | EVENT_TIMED)
#define NOT_PLAIN                                                                                  \
	(EVENT_FAILED | EVENT_OPENS | EVENT_UNLINKED | EVENT_TRUNCATES | EVENT_DIRECT |            \
	 EVENT_SUMMED | EVENT_CLASSES | EVENT_PAGECACHE)

#define SERIES_FILES 4 /* of so many one is added after the other */

/* As add_event, of one that is like those before it: the first process again, in an order of its
 * own. False, and nothing done, for all others. */
static inline bool add_plain(struct file_uses *uses, const struct event *event)
{
	const uint64_t at = event->offset;
	struct file_use *use = &uses->uses[event->file];
	uint64_t *next = &use->position.next[BY_CALLS];
	struct moved_sum *moved;
	struct stream *stream;
	struct order *order;

	if ((event->flags & (PLAIN | NOT_PLAIN)) != PLAIN || event->class > IO_WRITE ||
	    event->file == FILE_UNKNOWN || event->offset < 0 || !use->ordered || !*next ||
	    use->process != event->process)
		return false;
	moved = moved_of(uses, use, event->class == IO_WRITE);
	order = use->calls;
	stream = order->first.thread == event->thread ? &order->first : NULL;
	if (!stream)
		stream = file_order_stream(uses, order, event->thread);
	if (!moved || !stream)
		return false;
	moved->count++;
	moved->bytes += event->bytes;
	moved->fetched_bytes += event->fetched_bytes;
	moved->created_bytes += event->created_bytes;
	interval_add(&moved->time, event->start, event->end);
	file_order_add_pattern(order->patterns, *next - 1, at);
	order->known += stream->next > 0;
	order->back += at + 1 < stream->next;
	*next = stream->next = clock_add(at + 1, event->bytes);
	if (*next - 1 > use->furthest && file_order_is_later(uses, event))
		use->furthest = *next - 1;
	return true;
}

/* What is the same of all in a series may be asked of the first. */
static inline bool is_plain_series(const struct event_series *series)
{
	return (series->events->flags & (PLAIN | NOT_PLAIN)) == PLAIN &&
	       series->events->class <= IO_WRITE;
}

/* Different files in a series, up to SERIES_FILES; 0 for more. */
static size_t files_of(const struct event_series *series, uint32_t files[SERIES_FILES])
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < series->count; i++) {
		uint32_t file = series->events[i].file;

		if (count && files[at] == file)
			continue;
		for (at = 0; at < count && files[at] != file;)
			at++;
		if (at == SERIES_FILES)
			return 0;
		if (at == count)
			files[count++] = file;
	}
	return count;
}

/* As add_plain of those of a file, one after the other. */
static int add_of_file(struct file_uses *uses, struct file_use *use, struct moved_sum *to,
		       uint32_t file, const struct event_series *series)
{
	const struct event *last = series->events + series->count;
	struct moved_sum moved = *to;
	struct order *order = use->calls;
	uint64_t next = use->position.next[BY_CALLS], ahead = 0, exact = 0, known = 0, back = 0;
	uint64_t accesses = 0;
	struct stream *stream = NULL;
	uint32_t thread = 0;

	for (const struct event *event = series->events; event < last; event++) {
		const uint64_t at = event->offset;

		if (event->file != file)
			continue;
		moved.count++;
		moved.bytes += event->bytes;
		moved.fetched_bytes += event->fetched_bytes;
		moved.created_bytes += event->created_bytes;
		interval_add(&moved.time, event->start, event->end);
		if (event->offset < 0)
			continue;
		if (!stream || thread != event->thread)
			stream = file_order_stream(uses, order, event->thread);
		if (!stream)
			return -ENOMEM;
		thread = event->thread;
		accesses++;
		ahead += at + 1 >= next;
		exact += at + 1 == next;
		known += stream->next > 0;
		back += at + 1 < stream->next;
		next = stream->next = clock_add(at + 1, event->bytes);
		if (next - 1 > use->furthest && file_order_is_later(uses, event))
			use->furthest = next - 1;
	}
	*to = moved;
	order->patterns[SEQUENTIAL] += ahead;
	order->patterns[CONSECUTIVE] += exact;
	order->patterns[RANDOM] += accesses - ahead;
	order->known += known;
	order->back += back;
	use->position.next[BY_CALLS] = next;
	return 0;
}

/* Those of a file: at once where all of them are like what was done to it before. */
static int add_file(struct file_uses *uses, uint32_t file, const struct event_series *series)
{
	const struct event *events = series->events;
	struct file_use *use = &uses->uses[file];
	struct moved_sum *moved;
	int status = 0;

	if (file != FILE_UNKNOWN && use->ordered && use->position.next[BY_CALLS] &&
	    use->process == events->process) {
		moved = moved_of(uses, use, events->class == IO_WRITE);
		return moved ? add_of_file(uses, use, moved, file, series) : -ENOMEM;
	}
	for (size_t i = 0; i < series->count && !status; i++)
		if (events[i].file == file)
			status = file_uses_add(uses, &events[i], 1);
	return status;
}

int file_uses_add_series(struct file_uses *uses, const struct event_series *series)
{
	uint32_t files[SERIES_FILES];
	size_t count = is_plain_series(series) ? files_of(series, files) : 0;
	int status = 0;

	if (!count)
		return file_uses_add(uses, series->events, series->count);
	for (size_t i = 0; i < count && !status; i++)
		if (files[i] != FILE_NONE)
			status = add_file(uses, files[i], series);
	return status;
}

/* On the account of no operation on the file, so of no process that used it. */
static int add_pagecache(struct file_uses *uses, const struct event *event)
{
	struct file_use_more *more = more_of(uses, &uses->uses[event->file]);
	struct page_sums *sums;

	if (!more)
		return -ENOMEM;
	sums = event->flags & EVENT_INDIRECT ? &more->indirect : &more->unattributed;
	sums->events += event_count(event);
	sums->fetched_bytes += event->fetched_bytes;
	sums->created_bytes += event->created_bytes;
	return 0;
}

int file_uses_add(struct file_uses *uses, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		if (events[i].file == FILE_NONE || add_plain(uses, &events[i]) ||
		    event_is_apart(&events[i]) || events[i].flags & EVENT_CLASSES)
			continue;
		if (events[i].flags & EVENT_PAGECACHE)
			status = add_pagecache(uses, &events[i]);
		else
			status = add_event(uses, &events[i]);
	}
	return status;
}

/* --- what was summed up --- */

const struct file_use_more *file_uses_more(const struct file_uses *uses, uint32_t file)
{
	static const struct file_use_more none;

	return uses->uses[file].more ? uses->uses[file].more : &none;
}

const struct order *file_uses_order(const struct file_uses *uses, uint32_t file,
				    unsigned int access)
{
	static const struct order none;
	const struct file_use *use = &uses->uses[file];
	const struct order *order = access == BY_FAULTS ? file_uses_more(uses, file)->faults
				    : use->ordered	? use->calls
							: NULL;

	return order ? order : &none;
}

bool file_uses_any(const struct file_uses *uses, uint32_t file)
{
	const struct file_use_more *more = file_uses_more(uses, file);

	return uses->uses[file].processes || more->unattributed.events || more->indirect.events;
}

static struct tally tally_of_still(const struct still_sum *sum)
{
	return (struct tally) { .count = sum->count, .time = sum->time };
}

static struct tally tally_of_moved(const struct moved_sum *sum)
{
	return (struct tally) {
		.count = sum->count,
		.bytes = sum->bytes,
		.fetched_bytes = sum->fetched_bytes,
		.created_bytes = sum->created_bytes,
		.time = sum->time,
	};
}

void file_uses_tally(const struct file_uses *uses, uint32_t file, enum use use, struct tally *tally)
{
	const struct file_use *of = &uses->uses[file];
	const struct file_use_more *more = file_uses_more(uses, file);

	switch (use) {
	case USE_READ:
	case USE_WRITE:
		*tally = tally_of_moved(of->writes == (use == USE_WRITE) ? &of->moved
									 : &more->other);
		tally->errors = more->errors[use == USE_WRITE];
		break;
	case USE_MMAP:
		*tally = tally_of_moved(&more->mapped);
		tally->major = more->major;
		tally->dirtied_bytes = more->dirtied_bytes;
		break;
	case USE_METADATA:
		*tally = tally_of_still(&of->metadata);
		tally->fetched_bytes = more->still.fetched_bytes;
		tally->created_bytes = more->still.created_bytes;
		break;
	default:
		*tally = tally_of_still(&more->sync);
	}
}
