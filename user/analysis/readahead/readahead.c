/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds how much of each file was fetched before it was requested, and how much of that was read or
 * faulted on later.
 *
 * Fetched data are the parts of read requests, except O_DIRECT and metadata. A page counts as
 * requested if an operation in progress on the file reads it, writes part of it or faults on it.
 * All other pages were read ahead; a later read or fault shows that a page is used. This is exact
 * to the page for reads. A fault also maps the pages around its own, and large folios as a whole;
 * whether those pages are used cannot be seen, so they are counted separately.
 */
#include "analysis/readahead/state.h"
#include <errno.h>
#include <string.h>

#include "base/number.h"

#define MAP_SHARE 16	  /* fraction of the job's memory for the page map */
#define UNDER_WAY_MAX 256 /* operations remembered per file */
#define SERVED_NS 20000	  /* a faster one that fetched nothing did not wait */
#define BUSY_FIRST 1024	  /* busy files before idle ones are freed */

enum asks { ASKS, ADVISES, MAPS };

/* An operation that may not have ended yet. */
struct under_way {
	uint64_t end_ns;
	struct page_range pages; /* that it requests; ignored for advice */
	uint32_t thread;
	uint8_t asks;
	bool fault, small; /* small: it fetches single-page folios */
};

void readahead_begin(void *state, const struct job *job, struct arena *arena)
{
	struct readahead *readahead = state;

	readahead->job = job;
	readahead->arena = arena;
	fetched_map_init(&readahead->map, arena, job->memory_bytes / MAP_SHARE);
	readahead->files = arena_alloc(arena, job->files.count * sizeof(*readahead->files));
}

/* --- operations --- */

static struct read_file *file_of(struct readahead *readahead, uint32_t number)
{
	if (!readahead->files[number])
		readahead->files[number] =
			arena_resize(readahead->arena, NULL, 0, sizeof(*readahead->files[number]));
	return readahead->files[number];
}

static void forget_ended(struct read_file *file, uint64_t now_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < file->count; i++)
		if (file->under_way[i].end_ns >= now_ns)
			file->under_way[left++] = file->under_way[i];
	file->count = left;
}

/* Frees files whose operations have all ended: there may be a million files, each read once. */
static void forget_idle(struct readahead *readahead, uint64_t now_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < readahead->busy_count; i++) {
		uint32_t number = readahead->busy[i];
		struct read_file *file = readahead->files[number];

		forget_ended(file, now_ns);
		if (file->count) {
			readahead->busy[left++] = number;
			continue;
		}
		arena_release(readahead->arena, file->under_way);
		file->under_way = NULL;
		file->room = 0;
		if (!file->sums.fetched_bytes && !file->elsewhere_bytes) {
			arena_release(readahead->arena, file);
			readahead->files[number] = NULL;
		}
	}
	readahead->busy_count = readahead->busy_left = left;
}

static int remember(struct readahead *readahead, uint32_t number, const struct under_way *operation,
		    uint64_t now_ns)
{
	struct read_file *file;

	if (readahead->busy_count >= 2 * readahead->busy_left + BUSY_FIRST)
		forget_idle(readahead, now_ns);
	file = file_of(readahead, number);
	if (!file)
		return -ENOMEM;
	if (!file->room) {
		if (!ARENA_GROW(readahead->arena, readahead->busy, readahead->busy_room,
				readahead->busy_count + 1))
			return -ENOMEM;
		readahead->busy[readahead->busy_count++] = number;
	}
	if (file->count == file->room)
		forget_ended(file, now_ns);
	if (file->count == UNDER_WAY_MAX)
		memmove(file->under_way, file->under_way + 1,
			--file->count * sizeof(*file->under_way));
	if (!ARENA_GROW(readahead->arena, file->under_way, file->room, file->count + 1))
		return -ENOMEM;
	file->under_way[file->count++] = *operation;
	return 0;
}

static enum asks asks_of(const struct job *job, const struct event *event)
{
	enum trace_family family = job->operations[event->operation].family;

	return family == TRACE_ADVICE ? ADVISES : family == TRACE_MAP ? MAPS : ASKS;
}

/* Returns the pages that contain any of the bytes, whole as the operation's kernel has them. */
static struct page_range pages_of(const struct readahead *readahead, const struct event *event,
				  uint64_t bytes)
{
	const struct job_trace *trace = &readahead->job->traces[event->block->trace];

	return page_range_extend(page_range_of(event->offset, bytes), trace->header->page_bytes);
}

/* Returns the pages that an operation requests: a fault its page, a call its whole range. */
static struct page_range asked_by(const struct readahead *readahead, const struct event *event)
{
	uint64_t requested = number_max(event->asked_bytes, event->bytes);

	return pages_of(readahead, event, event->flags & EVENT_FAULT ? 1 : requested);
}

static void use(struct readahead *readahead, struct read_file *file, uint32_t number,
		struct page_range pages)
{
	uint64_t used = fetched_map_use(&readahead->map, number, pages);

	file->ahead_pages -= used;
	file->sums.used_bytes += used * FETCHED_PAGE;
}

/* Marks pages that were read ahead as used by an operation. */
static void use_ahead(struct readahead *readahead, struct read_file *file,
		      const struct event *event)
{
	enum asks asks = asks_of(readahead->job, event);

	if (event->flags & EVENT_FAULT) {
		struct page_range page = asked_by(readahead, event);

		use(readahead, file, event->file, page);
		fetched_map_around(&readahead->map, event->file, page.from);
	} else if (asks == MAPS) {
		fetched_map_unseen(&readahead->map, event->file, asked_by(readahead, event));
	} else if (asks == ASKS && event->class == IO_READ) {
		use(readahead, file, event->file, pages_of(readahead, event, event->bytes));
	}
}

static inline void look_ahead(struct readahead *readahead, const struct event *event)
{
	struct read_file *file = readahead->files[event->file];

	if (file && file->ahead_pages)
		use_ahead(readahead, file, event);
}

static int add_operation(struct readahead *readahead, const struct event *event)
{
	struct under_way operation;

	look_ahead(readahead, event);
	if (!event->fetched_bytes && event->end - event->start < SERVED_NS)
		return 0;
	operation = (struct under_way) {
		.end_ns = event->end,
		.pages = asked_by(readahead, event),
		.thread = event->thread,
		.asks = asks_of(readahead->job, event),
		.fault = event->flags & EVENT_FAULT,
		.small = event->flags & EVENT_FAULT && event->major,
	};
	return remember(readahead, event->file, &operation, event->start);
}

/* --- fetched pages --- */

/* How operations in progress relate to a page. */
struct wanted {
	bool requested, advised, unseen;
	bool large;
};

static struct wanted wanted_of(const struct read_file *file, const struct event *event,
			       uint64_t page)
{
	struct wanted wanted = { .large = true };

	for (size_t i = 0; i < file->count; i++) {
		const struct under_way *operation = &file->under_way[i];
		bool inside = page >= operation->pages.from && page < operation->pages.to;

		if (operation->end_ns < event->start)
			continue;
		if (operation->asks == ASKS)
			wanted.requested |= inside;
		else
			wanted.advised = true;
		wanted.unseen |= operation->asks == MAPS;
		if (operation->fault)
			wanted.unseen |= page / FETCHED_AROUND_PAGES ==
					 operation->pages.from / FETCHED_AROUND_PAGES;
		if (operation->small && operation->thread == event->thread)
			wanted.large = false;
	}
	return wanted;
}

/* Returns the first page after `page` to which operations in progress may relate differently. */
static uint64_t next_change(const struct read_file *file, uint64_t page, uint64_t end)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct page_range *pages = &file->under_way[i].pages;
		uint64_t around = pages->from & ~(FETCHED_AROUND_PAGES - 1ull);
		const uint64_t changes[] = { pages->from, pages->to, around,
					     around + FETCHED_AROUND_PAGES };

		for (size_t j = 0; j < sizeof(changes) / sizeof(changes[0]); j++)
			if (changes[j] > page && changes[j] < end)
				end = changes[j];
	}
	return end;
}

/* Adds pages to which operations in progress relate alike. */
static int add_stretch(struct readahead *readahead, uint32_t number, struct page_range pages,
		       const struct wanted *wanted)
{
	struct read_file *file = readahead->files[number];
	struct readahead_sums *sums = &file->sums;
	uint64_t bytes = (pages.to - pages.from) * FETCHED_PAGE;
	struct fetched_rest again = { 0 };
	uint64_t overflow = readahead->map.overflow;
	int status;

	if (wanted->requested) {
		sums->asked_bytes += bytes;
		return 0;
	}
	sums->ahead_bytes += bytes;
	if (wanted->advised)
		sums->advised_bytes += bytes;
	status = fetched_map_add(&readahead->map, number, pages, wanted->large, &again);
	/* These pages had left the page cache. */
	sums->unused_bytes += again.unused * FETCHED_PAGE;
	sums->unseen_bytes += again.unseen * FETCHED_PAGE;
	overflow = readahead->map.overflow - overflow;
	file->ahead_pages += pages.to - pages.from - again.unused - again.unseen - overflow;
	if (wanted->unseen)
		fetched_map_unseen(&readahead->map, number, pages);
	return status;
}

static int add_fetched(struct readahead *readahead, const struct event *event)
{
	struct read_file *file = file_of(readahead, event->file);
	struct page_range pages = page_range_of(event->offset, event->bytes);
	int status = 0;

	if (!file)
		return -ENOMEM;
	file->sums.fetched_bytes += event->bytes;
	if (event->offset < 0 || event_value(event, BIO_FLAGS) & TRACE_BLOCK_COMPRESSED) {
		file->sums.unplaced_bytes += event->bytes;
		return 0;
	}
	forget_ended(file, event->start);
	while (pages.from < pages.to && !status) {
		uint64_t to = next_change(file, pages.from, pages.to);
		struct wanted wanted = wanted_of(file, event, pages.from);

		status = add_stretch(readahead, event->file, (struct page_range) { pages.from, to },
				     &wanted);
		pages.from = to;
	}
	return status;
}

static bool is_fetched(const struct readahead *readahead, const struct event *event)
{
	return event->flags & EVENT_BIO && event->bytes &&
	       readahead->job->operations[event->operation].use != DEVICE_WRITES &&
	       !(event_value(event, BIO_FLAGS) & (TRACE_BLOCK_DIRECT | TRACE_BLOCK_META));
}

static bool is_operation(const struct event *event)
{
	return event->class != IO_NONE && event->class != IO_METADATA && event->class != IO_SYNC &&
	       !(event->flags & (EVENT_FAILED | EVENT_DIRECT));
}

/* Bytes fetched by an operation on another file, by no operation, or by one that is neither a read
 * nor a write (a deduplication). Whether they are used is unknown. */
static inline uint64_t brought_unseen(const struct event *event)
{
	bool unseen = event->flags & EVENT_PAGECACHE || event->class == IO_METADATA ||
		      event->class == IO_SYNC;

	return unseen ? event->fetched_bytes : 0;
}

static int add_elsewhere(struct readahead *readahead, const struct event *event)
{
	struct read_file *file = file_of(readahead, event->file);

	if (!file)
		return -ENOMEM;
	file->elsewhere_bytes += event->fetched_bytes;
	return 0;
}

static inline bool has_file(const struct event *event)
{
	return event->file != FILE_NONE && event->file != FILE_UNKNOWN;
}

int readahead_add_events(void *state, const struct event *events, size_t count)
{
	struct readahead *readahead = state;
	int status = 0;

	if (!(readahead->job->layers & JOB_BLOCK))
		return 0;
	for (const struct event *event = events; event < events + count && !status; event++) {
		if (!has_file(event))
			continue;
		if (brought_unseen(event))
			status = add_elsewhere(readahead, event);
		else if (is_operation(event))
			status = add_operation(readahead, event);
		else if (is_fetched(readahead, event))
			status = add_fetched(readahead, event);
	}
	return status;
}

/* Fast path for operations that did not wait: only pages read ahead of them matter. */
int readahead_add_series(void *state, const struct event_series *series)
{
	struct readahead *readahead = state;
	const struct event *events = series->events, *end = events + series->count;

	if (!(readahead->job->layers & JOB_BLOCK))
		return 0;
	if (!is_operation(events) || series->sums.fetched_bytes || series->longest_ns >= SERVED_NS)
		return readahead_add_events(state, events, series->count);
	for (const struct event *event = events; event < end; event++)
		if (has_file(event))
			look_ahead(readahead, event);
	return 0;
}
