/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills segments with the trace writer, in anonymous memory, and evicts the oldest. */
#include "capture/flight/flight_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

#define WRITER_LANES 8
#define RETRY_NS 1000000000ull
#define FRAMES_BYTES (4u << 20) /* beside those of names: see FLIGHT_NAMES_BYTES */

/* --- segments --- */

/* Called by the thread that compresses. */
static void use_files(void *context, const uint64_t *files, size_t count)
{
	const struct flight_segment *segment = context;

	flight_names_use(segment->names, files, count, segment->number);
}

void flight_segment_release(struct flight_segment *segment)
{
	if (--segment->users)
		return;
	trace_writer_close(segment->writer);
	if (segment->fd >= 0)
		close(segment->fd);
	if (segment->trace)
		munmap((void *)segment->trace, segment->bytes);
	free(segment->records.memory);
	free(segment);
}

static int open_trace(struct flight_segment *segment, const struct trace_header *header)
{
	const struct trace_writer_options options = {
		.lanes = WRITER_LANES,
		.in_memory = true,
		.files = use_files,
		.context = segment,
	};

	int err;

	segment->fd = memfd_create("flight", MFD_CLOEXEC);
	err = segment->fd < 0 ? -errno
			      : trace_writer_open(&segment->writer, segment->fd, header, &options);
	if (err && segment->fd >= 0)
		close(segment->fd);
	segment->fd = err ? -1 : segment->fd;
	return err;
}

/* Once: a lack of memory may last. */
static void report_failure(struct flight_ring *ring, int err)
{
	if (!ring->failed)
		log_error("flight recorder: no memory for events: %s; they count as lost",
			  strerror(-err));
	ring->failed = true;
}

/* Opens the trace of the current segment. The threads that it starts inherit the privileges of the
 * draining thread. */
static void try_to_open(struct flight_ring *ring)
{
	struct flight_segment *segment = ring->current;
	int err = 0;

	if (!ring->decoder) {
		err = decoder_open(&ring->decoder, NULL, ring->lanes, ring->page_bytes);
		if (!err)
			decoder_share_generation(ring->decoder, ring->stack_generation,
						 FRAMES_BYTES);
	}
	if (!err)
		err = open_trace(segment, &ring->header);
	if (!err)
		decoder_write_to(ring->decoder, segment->writer);
	else
		report_failure(ring, err);
}

/* Returns the segment that is being filled; NULL if out of memory. */
static struct flight_segment *current(struct flight_ring *ring)
{
	struct flight_segment *segment = ring->current;

	if (segment)
		return segment;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return NULL;
	segment->fd = -1;
	segment->users = 1;
	segment->number = ring->next_number++;
	segment->names = &ring->names;
	segment->sums.page_bytes = ring->page_bytes;
	ring->current = segment;
	try_to_open(ring);
	return segment;
}

/* Ends the trace of a segment and maps it. */
static int finish(struct flight_segment *segment, size_t operation_count)
{
	const struct trace_totals totals = {
		.exit_code = -1,
		.operations = segment->sums.totals,
		.operation_count = operation_count,
	};
	int err = trace_writer_finish(segment->writer, &totals);
	size_t bytes;
	void *map;

	if (err)
		return err;
	bytes = trace_writer_bytes(segment->writer);
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, segment->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	segment->trace = map;
	segment->bytes = bytes;
	return 0;
}

static void note_event(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct flight_segment *segment = context;

	if (!flight_record_is_event(header))
		return;
	segment->events++;
	if (header->time_ns > segment->end_ns)
		segment->end_ns = header->time_ns;
}

/* Without its end, the trace is useless: all its rows are lost. */
static void count_rows(struct flight_segment *segment)
{
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++) {
		enum trace_kind rows = decoder_kind(kind);
		uint64_t written, discarded;

		if (rows == TRACE_KIND_COUNT)
			continue;
		written = trace_writer_rows(segment->writer, rows);
		discarded = trace_writer_discarded(segment->writer, rows);
		if (segment->trace && decoder_has_own_rows(kind))
			segment->events += written;
		segment->lost[kind] += segment->trace ? discarded : written + discarded;
	}
}

static void close_segment(struct flight_ring *ring, struct flight_segment *segment)
{
	int err;

	if (segment->writer) {
		decoder_settle(ring->decoder, true);
		segment->last_stacks = decoder_last_stacks(ring->decoder);
		err = finish(segment, ring->header.operation_count);
		if (err)
			report_failure(ring, err);
		if (trace_writer_end_ns(segment->writer) > segment->end_ns)
			segment->end_ns = trace_writer_end_ns(segment->writer);
		count_rows(segment);
		trace_writer_close(segment->writer);
		segment->writer = NULL;
	}
	if (segment->fd >= 0)
		close(segment->fd);
	segment->fd = -1;
	flight_records_walk(&segment->records, note_event, segment);
	flight_records_fit(&segment->records);
}

static size_t bytes_of(const struct flight_segment *segment)
{
	return sizeof(*segment) + segment->bytes + segment->records.room;
}

/* --- the ring --- */

void flight_ring_open(struct flight_ring *ring, size_t bytes, unsigned int lanes,
		      const struct trace_header *header, volatile uint32_t *stack_generation)
{
	memset(ring, 0, sizeof(*ring));
	flight_names_init(&ring->names);
	ring->limit = bytes;
	ring->next_number = 1;
	ring->page_bytes = sysconf(_SC_PAGESIZE);
	ring->header = *header;
	ring->header.mount_count = 0;
	ring->lanes = lanes;
	ring->stack_generation = stack_generation;
}

void flight_ring_close(struct flight_ring *ring)
{
	if (!ring->page_bytes)
		return;
	if (ring->current)
		flight_segment_release(ring->current);
	while (ring->first) {
		struct flight_segment *segment = ring->first;

		ring->first = segment->next;
		flight_segment_release(segment);
	}
	decoder_close(ring->decoder);
	flight_past_free(&ring->past);
	flight_names_free(&ring->names);
	memset(ring, 0, sizeof(*ring));
}

void flight_ring_lose(struct flight_ring *ring, unsigned int kind, uint64_t count)
{
	if (current(ring))
		ring->current->lost[kind] += count;
}

/* An exit gets its stack's id in rows: the one in records means nothing later. */
static void keep_record(struct flight_ring *ring, struct flight_segment *segment, unsigned int lane,
			const struct event_header *record)
{
	struct event_exit exit;

	if (record->kind == RECORD_EXIT) {
		exit = *(const struct event_exit *)record;
		exit.stack = segment->writer ? decoder_stack(ring->decoder, lane, record->time_ns,
							     exit.stack)
					     : 0;
		exit.header.size = sizeof(exit);
		record = &exit.header;
	}
	segment->records.incomplete = false;
	flight_records_add(&segment->records, lane, record, record->size);
	segment->lost[record->kind] += segment->records.incomplete;
}

void flight_ring_take(struct flight_ring *ring, unsigned int lane,
		      const struct event_header *record)
{
	struct flight_segment *segment = current(ring);

	if (segment && flight_record_has_state(record)) {
		keep_record(ring, segment, lane, record);
	} else if (ring->decoder &&
		   (record->kind == RECORD_FRAME || record->kind == RECORD_STACK)) {
		/* The kernel side describes them once; they need no trace. */
		decoder_take(ring->decoder, lane, record, record->size);
	} else if (segment && segment->writer) {
		if (record->kind == RECORD_THROTTLE && record->time_ns > segment->end_ns)
			segment->end_ns = record->time_ns;
		op_sums_add_record(&segment->sums, record);
		decoder_take(ring->decoder, lane, record, record->size);
	} else if (segment) {
		segment->lost[record->kind]++;
	}
}

void flight_ring_take_slots(struct flight_ring *ring, unsigned int lane,
			    const struct lane_slot *slots, size_t count)
{
	struct flight_segment *segment = current(ring);

	for (size_t i = 0; segment && i < count; i++)
		if (segment->writer)
			op_sums_add_slot(&segment->sums, &slots[i]);
		else
			segment->lost[slots[i].call.op == OP_FAULT ? RECORD_FAULT
								   : RECORD_SYSCALL]++;
	if (segment && segment->writer)
		decoder_take_slots(ring->decoder, lane, slots, count);
}

void flight_ring_name(struct flight_ring *ring, const struct event_file *file)
{
	if (flight_names_add(&ring->names, file))
		flight_ring_lose(ring, RECORD_FILE, 1);
}

bool flight_ring_look(struct flight_ring *ring, uint64_t now_ns)
{
	const struct flight_segment *segment = ring->current;
	size_t bytes;

	if (!segment)
		return false;
	if (!segment->writer && now_ns >= ring->retry_ns) {
		ring->retry_ns = now_ns + RETRY_NS;
		try_to_open(ring);
	}
	bytes = segment->records.bytes;
	if (segment->writer) {
		decoder_settle(ring->decoder, false);
		if (trace_writer_tick(segment->writer, now_ns))
			return true; /* the next one may find memory */
		bytes += trace_writer_bytes(segment->writer);
	}
	return bytes >= ring->limit / FLIGHT_SEGMENTS;
}

struct flight_segment *flight_ring_cut(struct flight_ring *ring)
{
	struct flight_segment *segment = ring->current;

	if (segment)
		close_segment(ring, segment);
	ring->current = NULL;
	return segment;
}

/* Evicted records that change a state update the past. */
static void evict(struct flight_ring *ring)
{
	struct flight_segment *segment = ring->first;

	flight_records_walk(&segment->records, flight_past_take, &ring->past);
	if (segment->end_ns > ring->from_ns)
		ring->from_ns = segment->end_ns;
	ring->evicted += segment->events;
	ring->bytes -= bytes_of(segment);
	ring->first = segment->next;
	flight_segment_release(segment);
}

void flight_ring_add(struct flight_ring *ring, struct flight_segment *segment)
{
	struct flight_segment **last = &ring->first;

	while (*last)
		last = &(*last)->next;
	*last = segment;
	ring->bytes += bytes_of(segment);
	while (ring->first != segment && ring->bytes > ring->limit - ring->limit / FLIGHT_SEGMENTS)
		evict(ring);
}
