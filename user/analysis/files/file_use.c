/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums of the activity on each file.
 *
 * A file's times are merged over all processes that used it, so that parallel readers do not count
 * twice.
 */
#include "analysis/files/file_order.h"
#include <string.h>

#include "base/number.h"

/* Every process may use every file: pairs take at most this fraction of the memory. PAIR_BYTES is a
 * pair's share of the map just after it has grown: up to five words and a tag. */
#define PAIRS_SHARE 8
#define PAIR_BYTES 109

void file_uses_init(struct file_uses *uses, struct arena *arena, const struct job *job)
{
	uses->arena = arena;
	uses->job = job;
	uses->pairs_max = job->memory_bytes / PAIRS_SHARE / PAIR_BYTES + 1;
	map_init_in(&uses->pairs, arena, 1, sizeof(struct pair) / sizeof(uint64_t));
	map_init_in(&uses->asides, arena, 2, sizeof(struct aside) / sizeof(uint64_t));
	uses->uses = arena_alloc(arena, job->files.count * sizeof(*uses->uses));
}

/* --- during the walk --- */

static struct file_use_more *more_of(struct file_uses *uses, struct file_use *use)
{
	if (!use->more)
		use->more = arena_alloc(uses->arena, sizeof(*use->more));
	return use->more;
}

static void truncate_file(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	struct file_use_more *more;

	if (!file_order_is_later(uses, event))
		return;
	more = more_of(uses, use);
	if (!more)
		return;
	more->truncated = true;
	more->size_bytes = event->asked_bytes;
	use->furthest = more->furthest = 0;
}

static void add_still_sum(struct still_sum *sum, const struct event *event)
{
	if (event->flags & EVENT_COUNTED)
		sum->count += event_count(event);
	if (event->flags & EVENT_TIMED)
		tally_merge_time(&sum->time, event);
}

/* Ranks from 64 on share the bits of others. */
static void add_overwriter(const struct file_uses *uses, struct file_use_more *more,
			   const struct event *event)
{
	const int64_t rank = uses->job->processes.processes[event->process].rank;

	if (rank >= 0)
		more->overwriters |= 1ull << (rank & 63);
}

void file_versions_end(struct versions *versions, uint64_t written_bytes)
{
	const uint64_t bytes = number_sub(written_bytes, versions->first_bytes);

	if (bytes > versions->last_bytes && versions->last_bytes) {
		versions->grown++;
		versions->repeated_bytes += versions->last_bytes;
	}
	versions->last_bytes = bytes;
	versions->first_bytes = written_bytes;
}

static void add_still(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	bool brings = event->fetched_bytes || event->created_bytes;
	bool lists = event->flags & EVENT_LISTS;
	bool locks = uses->job->operations[event->operation].locks;
	bool overwrites = event_overwrites(event);
	struct still_sum *sum = &use->metadata;

	if ((brings || lists || locks || overwrites || event->class == IO_SYNC) &&
	    !more_of(uses, use))
		return;
	if (event->class == IO_SYNC)
		sum = &use->more->sync;
	add_still_sum(sum, event);
	if (lists) {
		add_still_sum(&use->more->listing, event);
		use->more->listing.count -= event_errors(event);
	}
	if (locks)
		add_still_sum(&use->more->locking, event);
	if (overwrites) {
		add_still_sum(&use->more->overwriting, event);
		add_overwriter(uses, use->more, event);
		file_versions_end(&use->more->versions,
				  use->writes ? use->moved.bytes : use->more->other.bytes);
	}
	if (brings) {
		use->more->still.fetched_bytes += event->fetched_bytes;
		use->more->still.created_bytes += event->created_bytes;
	}
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

/* Whether a scan faults there: at the first page of those that one fault maps; backward, as copies
 * often run, at the last one. */
static bool is_aligned(const struct file_uses *uses, const struct event *event)
{
	const uint32_t trace = uses->job->files.files[event->file].trace;
	const uint64_t page_bytes = uses->job->traces[trace].header->page_bytes;
	const uint64_t at = (uint64_t)event->offset % FAULT_AROUND_BYTES;

	return !at || at + page_bytes == FAULT_AROUND_BYTES;
}

/* Adds a fault or a map call. */
static void add_mapped(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	struct file_use_more *more = more_of(uses, use);

	if (!more)
		return;
	add_moved(&more->mapped, event);
	add_rank(uses, more, event->process);
	more->major += event->major;
	more->dirtied_bytes += event->dirtied_bytes;
	if (event->flags & EVENT_FAULT)
		more->faulted_bytes += event->fetched_bytes;
	if (event->flags & EVENT_FAULT && !(event->flags & EVENT_SUMMED) && is_aligned(uses, event))
		more->aligned++;
	if (event->flags & EVENT_FAULT && event->flags & EVENT_COPIES)
		more->copied++;
}

/* Until a file has a sum, it is unknown whether it is read or written. */
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

static void add_moving(struct file_uses *uses, struct file_use *use, const struct event *event)
{
	bool writes = event->class == IO_WRITE;
	struct moved_sum *moved = moved_of(uses, use, writes);

	if (!moved)
		return;
	add_moved(moved, event);
	if (!(event->flags & (EVENT_DIRECT | EVENT_ADVISES)) && !event_errors(event) &&
	    !event->read_for_write_sectors)
		return;
	if (!more_of(uses, use))
		return;
	use->more->read_for_write_bytes += event_read_for_write(event);
	if (event->flags & EVENT_COUNTED)
		use->more->errors[writes] += event_errors(event);
	if (event->flags & EVENT_DIRECT && !writes)
		use->more->direct_bytes += event->bytes;
	if (event->flags & EVENT_ADVISES && !event->fetched_bytes)
		use->more->advised += event_count(event) - event_errors(event);
}

static void add_opens(struct file_use *use, uint64_t opens)
{
	use->opens = opens < UINT32_MAX - use->opens ? use->opens + opens : UINT32_MAX;
}

static void add_event(struct file_uses *uses, const struct event *event)
{
	struct file_use *use = &uses->uses[event->file];
	struct position *position = file_order_position(uses, use, event);

	if (!position)
		return;
	if (event->flags & EVENT_OPENS) {
		add_opens(use, event_count(event) - event_errors(event));
		file_order_open(uses, position, event);
	}
	if (event->flags & EVENT_CLOSES)
		file_order_close(position, event);
	if (event->flags & EVENT_UNLINKED)
		use->unlinked = true;
	if (event->flags & EVENT_TRUNCATES)
		truncate_file(uses, use, event);
	if (event->class == IO_NONE)
		return;
	if (event->class == IO_METADATA || event->class == IO_SYNC) {
		add_still(uses, use, event);
		return;
	}
	if (event->class == IO_READ || event->class == IO_WRITE)
		add_moving(uses, use, event);
	else
		add_mapped(uses, use, event);
	if (!(event->flags & EVENT_SUMMED) && !arena_status(uses->arena))
		file_order_add(uses, use, position, event);
}

/* Flags of nearly all calls that read or write. */
#define PLAIN (EVENT_COUNTED | EVENT_TIMED)
#define NOT_PLAIN                                                                                  \
	(EVENT_FAILED | EVENT_OPENS | EVENT_UNLINKED | EVENT_TRUNCATES | EVENT_DIRECT |            \
	 EVENT_SUMMED | EVENT_CLASSES | EVENT_PAGECACHE | EVENT_READS_FOR_WRITE)

#define SERIES_FILES 4 /* series with more files are added event by event */

/* Whether an access of this kind leaves use->accessed unchanged. */
static inline bool is_in_order(const struct file_use *use, bool writes)
{
	return use->accessed == ACCESSED_MIXED ||
	       (use->accessed == ACCESSED_IN_ORDER && use->writes == writes);
}

/* Whether it is the same process, through the open file that it used last. */
static inline bool is_where_it_was(const struct file_use *use, const struct event *event)
{
	const struct position *position = &use->position;

	return position->next && position->process == event->process &&
	       position->open_file == event->open_file && !position->closed;
}

/* Returns the separate order of reads, if there is one and this is a read. */
static inline struct order *separate_reads_of(const struct file_use *use, bool writes)
{
	return use->accessed == ACCESSED_MIXED && !writes ? use->more->reads : NULL;
}

/* Fast path of add_event for an event like the previous ones: the first process again, with an
 * order already begun. Returns false and does nothing in all other cases. */
static inline bool add_plain(struct file_uses *uses, const struct event *event)
{
	const bool writes = event->class == IO_WRITE;
	struct file_use *use = &uses->uses[event->file];
	struct position *position = &use->position;
	struct stream *stream, *separate = NULL;
	struct order *order, *reads;
	struct moved_sum *moved;
	uint32_t key;

	if ((event->flags & (PLAIN | NOT_PLAIN)) != PLAIN || event->class > IO_WRITE ||
	    event->file == FILE_UNKNOWN || event->offset < 0 || !is_in_order(use, writes) ||
	    !is_where_it_was(use, event))
		return false;
	key = file_order_stream_key(position, event);
	moved = moved_of(uses, use, writes);
	order = use->calls;
	stream = order->first.thread == key ? &order->first : NULL;
	if (!stream)
		stream = file_order_stream(uses, order, key);
	reads = separate_reads_of(use, writes);
	if (reads)
		separate = file_order_stream(uses, reads, key);
	if (!moved || !stream || !separate != !reads)
		return false;
	moved->count++;
	moved->bytes += event->bytes;
	moved->fetched_bytes += event->fetched_bytes;
	moved->created_bytes += event->created_bytes;
	interval_add(&moved->time, event->start, event->end);
	file_order_follow(order, stream, &position->next, event);
	if (reads)
		file_order_follow(reads, separate, &position->next_read, event);
	else if (!writes)
		position->next_read = position->next;
	file_order_reach(uses, &use->furthest, position->next - 1, event);
	return true;
}

/* Properties shared by the whole series are taken from its first event. */
static inline bool is_plain_series(const struct event_series *series)
{
	return (series->events->flags & (PLAIN | NOT_PLAIN)) == PLAIN &&
	       series->events->class <= IO_WRITE;
}

/* Finds the distinct files of a series; returns 0 if more than SERIES_FILES. */
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

/* Accumulates many accesses in one order. */
struct file_use_state {
	struct order *order;
	const struct position *position;
	uint64_t next, accesses, ahead, exact, known, back;
	struct stream *stream;
	uint32_t thread; /* of the previous event */
};

/* Same as file_order_follow. Returns false if out of memory. */
static inline bool sequence_add(struct file_uses *uses, struct file_use_state *sequence,
				const struct event *event)
{
	const uint64_t at = event->offset, expected = sequence->next - 1;

	if (!sequence->stream || sequence->thread != event->thread)
		sequence->stream = file_order_stream(
			uses, sequence->order, file_order_stream_key(sequence->position, event));
	if (!sequence->stream)
		return false;
	sequence->thread = event->thread;
	sequence->accesses += sequence->next > 0;
	sequence->ahead += at >= expected;
	sequence->exact += at == expected;
	sequence->known += sequence->stream->next > 0;
	sequence->back += at + 1 < sequence->stream->next;
	sequence->next = sequence->stream->next = number_add(at + 1, event->bytes);
	return true;
}

static inline void sequence_end(const struct file_use_state *sequence, uint64_t *next)
{
	struct order *order = sequence->order;

	order->patterns[SEQUENTIAL] += sequence->ahead;
	order->patterns[CONSECUTIVE] += sequence->exact;
	order->patterns[RANDOM] += sequence->accesses - sequence->ahead;
	order->known += sequence->known;
	order->back += sequence->back;
	*next = sequence->next;
}

/* Same as add_plain for a file's events, one after the other. */
static void add_of_file(struct file_uses *uses, struct file_use *use, struct moved_sum *to,
			uint32_t file, const struct event_series *series)
{
	const struct event *last = series->events + series->count;
	struct moved_sum moved = *to;
	const bool writes = series->events->class == IO_WRITE;
	struct order *reads = separate_reads_of(use, writes);
	struct position *position = &use->position;
	struct file_use_state all = { .order = use->calls,
				      .position = position,
				      .next = position->next };
	struct file_use_state separate = { .order = reads,
					   .position = position,
					   .next = position->next_read };

	for (const struct event *event = series->events; event < last; event++) {
		if (event->file != file)
			continue;
		moved.count++;
		moved.bytes += event->bytes;
		moved.fetched_bytes += event->fetched_bytes;
		moved.created_bytes += event->created_bytes;
		interval_add(&moved.time, event->start, event->end);
		if (event->offset < 0)
			continue;
		if (!sequence_add(uses, &all, event) ||
		    (reads && !sequence_add(uses, &separate, event)))
			return;
		file_order_reach(uses, &use->furthest, all.next - 1, event);
	}
	*to = moved;
	sequence_end(&all, &position->next);
	if (reads)
		sequence_end(&separate, &position->next_read);
	else if (!writes)
		position->next_read = position->next;
}

static bool are_where_it_was(const struct file_use *use, uint32_t file,
			     const struct event_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->events[i].file == file && !is_where_it_was(use, &series->events[i]))
			return false;
	return true;
}

/* Adds a file's events: all at once if they are all like its previous ones. */
static void add_file(struct file_uses *uses, uint32_t file, const struct event_series *series)
{
	const struct event *events = series->events;
	const bool writes = events->class == IO_WRITE;
	struct file_use *use = &uses->uses[file];
	struct moved_sum *moved;

	if (file != FILE_UNKNOWN && is_in_order(use, writes) &&
	    are_where_it_was(use, file, series)) {
		moved = moved_of(uses, use, writes);
		if (moved)
			add_of_file(uses, use, moved, file, series);
		return;
	}
	for (size_t i = 0; i < series->count; i++)
		if (events[i].file == file)
			file_uses_add(uses, &events[i], 1);
}

int file_uses_add_series(struct file_uses *uses, const struct event_series *series)
{
	uint32_t files[SERIES_FILES];
	size_t count = is_plain_series(series) ? files_of(series, files) : 0;

	if (!count)
		return file_uses_add(uses, series->events, series->count);
	for (size_t i = 0; i < count; i++)
		if (files[i] != FILE_NONE)
			add_file(uses, files[i], series);
	return arena_status(uses->arena);
}

/* Not attributed to an operation on the file, and so to no process that used it. */
static void add_pagecache(struct file_uses *uses, const struct event *event)
{
	struct file_use_more *more = more_of(uses, &uses->uses[event->file]);
	struct page_sums *sums;

	if (!more)
		return;
	sums = event->flags & EVENT_INDIRECT ? &more->indirect : &more->unattributed;
	sums->events += event_count(event);
	sums->fetched_bytes += event->fetched_bytes;
	sums->created_bytes += event->created_bytes;
}

int file_uses_add(struct file_uses *uses, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (events[i].file == FILE_NONE || add_plain(uses, &events[i]) ||
		    event_is_for_other(&events[i]) || events[i].flags & EVENT_CLASSES)
			continue;
		if (events[i].flags & EVENT_PAGECACHE)
			add_pagecache(uses, &events[i]);
		else
			add_event(uses, &events[i]);
	}
	return arena_status(uses->arena);
}

/* --- results --- */

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
	const struct order *order = NULL;

	if (access == BY_FAULTS)
		order = file_uses_more(uses, file)->faults;
	else if (access == BY_READS && use->accessed == ACCESSED_MIXED)
		order = use->more->reads;
	else if (use->accessed >= ACCESSED_IN_ORDER && (access == BY_CALLS || !use->writes))
		order = use->calls;
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
		tally->read_for_write_bytes = use == USE_WRITE ? more->read_for_write_bytes : 0;
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
