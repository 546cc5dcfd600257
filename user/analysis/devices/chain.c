/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Splits the time of calls and faults: their own requests were queued, at a device, or neither
 * (locks, another task's readahead, the CPU).
 *
 * An operation's own bios are those that its thread queued during the operation, and those for the
 * same file that the thread queued earlier and that had not completed: a thread may wait later for
 * what it read ahead. A bio queued in a fault within a call belongs to both. All times are clipped
 * to the operation.
 */
#include "analysis/devices/chain_state.h"

#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/longest.h"
#include "base/number.h"

#define BEFORE 32 /* latest bios kept per thread */
#define THREADS_MAX (1u << 16)
#define LATE_THREADS 256 /* threads checked for waiting on bios that others queued */

struct service_time {
	uint64_t from, to;
};

/* An operation in progress. */
struct waiting {
	bool open;
	struct chain_operation operation;
	uint32_t label;		      /* of its span, or SPAN_NONE */
	struct interval_union flight; /* of its bios, from queueing to completion */
	struct service_time *device;
	size_t device_count, device_room;
};

enum { IN_CALL, IN_FAULT, LEVELS };

struct thread {
	struct waiting of[LEVELS];
	/* Latest operations of the current batch, not yet begun because nothing has queried them:
	 * most are replaced by the next operation before that. */
	const struct event *latest[LEVELS];
	struct thread *next; /* next thread that has any */
	struct chain_bio before[BEFORE];
	uint32_t before_next;
	uint64_t before_end; /* latest end of any bio ever in `before` */
};

void chain_begin(void *state, const struct job *job, struct arena *arena)
{
	struct chain *chain = state;

	chain->job = job;
	chain->arena = arena;
	map_init_in(&chain->numbers, arena, 2, 1);
	chain->slowest = arena_alloc(arena, CHAIN_SLOWEST_MAX * sizeof(*chain->slowest));
}

/* Returns NULL if there are too many threads, or no memory. */
static struct thread *look_up_thread(struct chain *chain, const struct event *event)
{
	const uint64_t key[2] = { event->process, event->thread };
	uint64_t *number = map_find(&chain->numbers, key);
	struct thread *thread;
	bool added;

	if (number)
		return chain->threads[*number];
	if (chain->thread_count == THREADS_MAX ||
	    !ARENA_GROW(chain->arena, chain->threads, chain->thread_room, chain->thread_count + 1))
		return NULL;
	thread = arena_alloc(chain->arena, sizeof(*thread));
	number = map_add(&chain->numbers, key, &added);
	if (!thread || !number)
		return NULL;
	*number = chain->thread_count;
	chain->threads[chain->thread_count++] = thread;
	return thread;
}

static inline struct found_thread *lately_found(struct chain *chain, const struct event *event)
{
	return &chain->lately[(event->thread ^ event->process << 5) % LATELY];
}

/* Returns NULL if the entry holds another thread. */
static inline struct thread *thread_of(const struct found_thread *found, const struct event *event)
{
	return found->process == event->process && found->thread == event->thread ? found->is
										  : NULL;
}

static inline struct thread *find_thread(struct chain *chain, const struct event *event)
{
	struct found_thread *found = lately_found(chain, event);
	struct thread *thread = thread_of(found, event);

	if (!thread) {
		thread = look_up_thread(chain, event);
		*found = (struct found_thread) { event->process, event->thread, thread };
	}
	return thread;
}

/* --- completing operations --- */

COMPARE_BY(compare_stretches, struct service_time, COMPARE(a->from, b->from))

static uint64_t device_time(struct waiting *waiting)
{
	struct interval_union device = { 0 };

	if (waiting->device_count)
		qsort(waiting->device, waiting->device_count, sizeof(*waiting->device),
		      compare_stretches);
	for (size_t i = 0; i < waiting->device_count; i++)
		interval_add(&device, waiting->device[i].from, waiting->device[i].to);
	return device.measure;
}

static void add_time(struct chain_time *sum, const struct chain_time *time)
{
	sum->count++;
	sum->time_ns += time->time_ns;
	sum->queue_ns += time->queue_ns;
	sum->device_ns += time->device_ns;
	sum->bios += time->bios;
	sum->bytes += time->bytes;
}

static void add_pieces(struct chain *chain, const struct chain_operation *operation)
{
	const uint64_t time_ns = operation->time.device_ns + operation->time.queue_ns;
	const enum trace_family family = chain->job->operations[operation->operation].family;
	struct chain_pieces *pieces;

	if (operation->bytes < CHAIN_MUCH_BYTES || operation->file == FILE_NONE ||
	    operation->remote)
		return;
	if (!ARENA_GROW(chain->arena, chain->pieces, chain->piece_room,
			(size_t)operation->file + 1))
		return;
	pieces = &chain->pieces[operation->file];
	pieces->operations++;
	pieces->bytes += operation->bytes;
	pieces->time_ns += time_ns;
	pieces->written_ns += family == TRACE_WRITE ? time_ns : 0;
	pieces->mapped_ns += family == TRACE_FILEFAULT || family == TRACE_MAP ? time_ns : 0;
	pieces->requests += operation->requests;
	pieces->request_bytes += operation->time.bytes;
}

/* Truncating a file, or closing it, waits for the file's data. So may a call that replaces or
 * removes one. */
static void add_metadata(struct chain *chain, const struct chain_operation *waited)
{
	const struct operation *operation = &chain->job->operations[waited->operation];
	const uint64_t other_bytes = waited->written_bytes + waited->discarded_bytes;
	struct chain_replacing *replacing;

	if (operation->resizes || operation->closes || waited->overwrites || waited->remote)
		return;
	if (2 * other_bytes <= waited->time.bytes) { /* most requests read */
		add_time(&chain->names, &waited->time);
		return;
	}
	if (!operation->replaces ||
	    !ARENA_GROW(chain->arena, chain->replacing, chain->replacing_room,
			(size_t)waited->operation + 1))
		return;
	replacing = &chain->replacing[waited->operation];
	add_time(&replacing->time, &waited->time);
	replacing->written_bytes += waited->written_bytes;
	replacing->discarded_bytes += waited->discarded_bytes;
}

/* Adds an operation that has bios of its own. */
static void add_operation(struct chain *chain, const struct waiting *waiting)
{
	const struct chain_time *time = &waiting->operation.time;
	const struct operation *operation = &chain->job->operations[waiting->operation.operation];
	uint32_t file = waiting->operation.file;

	if (operation->family == TRACE_METADATA)
		add_metadata(chain, &waiting->operation);
	if (file != FILE_NONE) {
		if (!ARENA_GROW(chain->arena, chain->files, chain->file_room, (size_t)file + 1))
			return;
		add_time(&chain->files[file], time);
		add_pieces(chain, &waiting->operation);
	}
	if (waiting->label != SPAN_NONE &&
	    ARENA_GROW(chain->arena, chain->labels, chain->label_room, (size_t)waiting->label + 1))
		add_time(&chain->labels[waiting->label], time);
}

static void settle(struct chain *chain, struct waiting *waiting)
{
	struct chain_time *time = &waiting->operation.time;

	waiting->open = false;
	if (time->bios) {
		time->device_ns = device_time(waiting);
		time->queue_ns = number_sub(waiting->flight.measure, time->device_ns);
	}
	longest_keep(chain->slowest, &chain->slowest_count, CHAIN_SLOWEST_MAX, &waiting->operation,
		     sizeof(waiting->operation));
	if (time->bios)
		add_operation(chain, waiting);
}

/* --- during the walk --- */

static void add_bio(struct chain *chain, struct waiting *waiting, const struct chain_bio *bio)
{
	const enum device_use use = chain->job->operations[bio->operation].use;
	struct chain_operation *operation = &waiting->operation;
	uint64_t from = number_max(bio->start, operation->start);
	uint64_t to = number_min(bio->end, operation->end);
	uint64_t issued = number_max(bio->issued, from);

	if (operation->time.bios < CHAIN_BIOS_KEPT)
		operation->kept[operation->time.bios] = *bio;
	if (!operation->time.bios || bio->request != operation->last_request)
		operation->requests++;
	operation->last_request = bio->request;
	operation->time.bios++;
	operation->time.bytes += bio->bytes;
	operation->remote |= bio->remote;
	if (use == DEVICE_WRITES)
		operation->written_bytes += bio->bytes;
	else if (use == DEVICE_DISCARDS)
		operation->discarded_bytes += bio->bytes;
	interval_add(&waiting->flight, from, to);
	if (issued < to && ARENA_GROW(chain->arena, waiting->device, waiting->device_room,
				      waiting->device_count + 1))
		waiting->device[waiting->device_count++] = (struct service_time) { issued, to };
}

/* Returns since when an operation on the file of a part that another thread queued has waited with
 * no bio of its own in flight; the part's start if no operation waits. */
static uint64_t waits_since(const struct chain *chain, const struct event *event)
{
	uint64_t since = event->start;

	for (size_t i = 0; i < chain->thread_count && i < LATE_THREADS; i++)
		for (int level = 0; level < LEVELS; level++) {
			const struct waiting *waiting = &chain->threads[i]->of[level];
			const struct chain_operation *operation = &waiting->operation;
			uint64_t from = operation->start;

			if (!waiting->open || operation->file != event->file ||
			    operation->end <= event->start)
				continue;
			if (waiting->flight.end > from)
				from = waiting->flight.end;
			if (from < since)
				since = from;
		}
	return since;
}

/* Takes a bio queued by a kernel thread, for the run or not, or by a program outside the run. */
static void take_late(struct chain *chain, const struct event *event)
{
	struct chain_late *late;
	uint64_t since;

	if (chain->job->operations[event->operation].use != DEVICE_READS ||
	    event->file == FILE_NONE ||
	    !ARENA_GROW(chain->arena, chain->late, chain->late_room, (size_t)event->file + 1))
		return;
	late = &chain->late[event->file];
	since = waits_since(chain, event);
	if (since < event->start) {
		late->parts++;
		late->bytes += event->bytes;
		interval_add(&late->time, number_max(since, late->done), event->start);
	}
	if (event->end > late->done)
		late->done = event->end;
}

/* Adds a part to the operations of its thread that wait for it. */
static void take_own(struct chain *chain, const struct event *event, const struct chain_bio *bio)
{
	struct thread *thread = find_thread(chain, event);

	if (!thread) {
		chain->overflow++;
		return;
	}
	thread->before[thread->before_next++ % BEFORE] = *bio;
	if (bio->end > thread->before_end)
		thread->before_end = bio->end;
	for (int level = 0; level < LEVELS; level++) {
		struct waiting *waiting = &thread->of[level];

		if (waiting->open && bio->start >= waiting->operation.start &&
		    bio->start <= waiting->operation.end)
			add_bio(chain, waiting, bio);
	}
}

static void take_bio(struct chain *chain, const struct event *event)
{
	const struct chain_bio bio = {
		.start = event->start,
		.end = event->end,
		.issued = number_add(event->start, event_value(event, BIO_QUEUE)),
		.bytes = event->bytes,
		.request = event_value(event, BIO_REQUEST),
		.dev = event_value(event, BIO_DEV),
		.file = event->file,
		.operation = event->operation,
	};
	const bool own = event_value(event, BIO_PID);

	if (!own || event_value(event, BIO_FLAGS) & TRACE_BLOCK_HELD_BACK)
		take_late(chain, event);
	if (!own)
		return;
	if (event->file < chain->late_room && event->end > chain->late[event->file].done)
		chain->late[event->file].done = event->end;
	take_own(chain, event, &bio);
}

/* Each request to a mount counts as one of its own. */
static void take_remote(struct chain *chain, const struct event *event)
{
	const int64_t queue_ns = event_value(event, REMOTE_QUEUE);
	const struct chain_bio bio = {
		.start = event->start,
		.end = event->end,
		.issued = number_add(event->start, queue_ns > 0 ? queue_ns : 0),
		.bytes = event->bytes,
		.request = ++chain->remote_requests,
		.dev = event_value(event, REMOTE_DEV),
		.file = event->file,
		.operation = event->operation,
		.remote = true,
		.queue_unknown = queue_ns < 0,
	};

	chain->queue_unknown |= queue_ns < 0;
	if (event_value(event, REMOTE_PID))
		take_own(chain, event, &bio);
}

/* Sets everything except the kept bios: `time.bios` says how many of them are valid. */
static void begin_operation(struct chain_operation *operation, const struct event *event)
{
	operation->time = (struct chain_time) { .time_ns = event->end - event->start };
	operation->start = event->start;
	operation->end = event->end;
	operation->bytes = event->bytes;
	operation->offset = event->offset;
	operation->process = event->process;
	operation->thread = event->thread;
	operation->file = event->file;
	operation->operation = event->operation;
	operation->argument = (struct path_argument) { 0 };
	if (event->file == FILE_NONE && event_kind(event) == TRACE_SYSCALL_PATH)
		operation->argument = path_argument_of(event);
	operation->requests = operation->last_request = 0;
	operation->written_bytes = operation->discarded_bytes = 0;
	operation->remote = false;
	operation->overwrites = event_overwrites(event);
}

static void begin_waiting(struct chain *chain, struct thread *thread, struct waiting *waiting,
			  const struct event *event)
{
	waiting->open = true;
	waiting->label = open_spans_label(&chain->job->spans, &chain->job->processes,
					  event->process, event->thread);
	waiting->flight = (struct interval_union) { 0 };
	waiting->device_count = 0;
	begin_operation(&waiting->operation, event);
	for (uint32_t i = 0; i < BEFORE && thread->before_end > event->start; i++) {
		const struct chain_bio *bio = &thread->before[(thread->before_next + i) % BEFORE];

		if (bio->end > event->start && bio->file == event->file && event->file != FILE_NONE)
			add_bio(chain, waiting, bio);
	}
}

/* Begins the latest operations of all threads: they may be queried from now on. */
static void begin_latest(struct chain *chain)
{
	for (; chain->listed; chain->listed = chain->listed->next) {
		struct thread *thread = chain->listed;

		for (int level = 0; level < LEVELS; level++)
			if (thread->latest[level])
				begin_waiting(chain, thread, &thread->of[level],
					      thread->latest[level]);
		memset(thread->latest, 0, sizeof(thread->latest));
	}
}

static inline bool is_slow(const struct chain *chain, const struct event *event)
{
	return chain->slowest_count < CHAIN_SLOWEST_MAX ||
	       event->end - event->start > chain->slowest->time.time_ns;
}

/* The thread went on and no bio came: only the duration matters. */
static void settle_latest(struct chain *chain, struct waiting *waiting, const struct event *event)
{
	if (!is_slow(chain, event))
		return;
	begin_operation(&waiting->operation, event);
	longest_keep(chain->slowest, &chain->slowest_count, CHAIN_SLOWEST_MAX, &waiting->operation,
		     sizeof(waiting->operation));
}

static inline int level_of(const struct event *event)
{
	return event->flags & EVENT_FAULT ? IN_FAULT : IN_CALL;
}

/* Fast path for nearly all operations: the previous one is still the thread's latest, so no bio has
 * come since, and it was not slow. Returns false and does nothing in all other cases. */
static inline bool take_quick(struct chain *chain, const struct event *event)
{
	struct thread *thread = thread_of(lately_found(chain, event), event);
	int level = level_of(event);

	if (!thread || !thread->latest[level] || is_slow(chain, thread->latest[level]))
		return false;
	thread->latest[level] = event;
	return true;
}

static void take_operation(struct chain *chain, const struct event *event)
{
	int level = level_of(event);
	struct thread *thread = find_thread(chain, event);
	struct waiting *waiting;

	if (!thread)
		return;
	if (thread->before_end > event->start && chain->listed)
		begin_latest(chain);
	waiting = &thread->of[level];
	if (thread->latest[level])
		settle_latest(chain, waiting, thread->latest[level]);
	else if (waiting->open)
		settle(chain, waiting);
	if (thread->before_end > event->start) {
		begin_waiting(chain, thread, waiting, event);
		return;
	}
	if (!thread->latest[IN_CALL] && !thread->latest[IN_FAULT]) {
		thread->next = chain->listed;
		chain->listed = thread;
	}
	thread->latest[level] = event;
}

int chain_add_events(void *state, const struct event *events, size_t count)
{
	struct chain *chain = state;

	if (!(chain->job->layers & JOB_PARTS))
		return 0;
	for (const struct event *event = events; event < events + count; event++) {
		if (event->flags & EVENT_BIO) {
			begin_latest(chain);
			take_bio(chain, event);
		} else if (event_is_remote(event)) {
			begin_latest(chain);
			take_remote(chain, event);
		} else if (event->flags & (EVENT_CALL | EVENT_FAULT) &&
			   !(event->flags & EVENT_SECOND) && !take_quick(chain, event)) {
			take_operation(chain, event);
		}
	}
	begin_latest(chain);
	return arena_status(chain->arena);
}

int chain_settle_until(void *state, uint64_t time_ns)
{
	struct chain *chain = state;

	for (size_t i = 0; i < chain->thread_count; i++)
		for (int level = 0; level < LEVELS; level++)
			if (chain->threads[i]->of[level].open &&
			    chain->threads[i]->of[level].operation.end < time_ns)
				settle(chain, &chain->threads[i]->of[level]);
	return arena_status(chain->arena);
}
