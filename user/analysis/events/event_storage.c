/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes rows of what happened below operations: page-cache fills, throttled writers, requests to
 * devices and servers, bios and devices.
 */
#include "analysis/events/event_decode.h"
#include "base/number.h"

/* Unattributed, or from an operation on another file: the task it ran in is meaningless. */
void event_decode_pagecache(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const struct job_trace *trace = event_trace(chunk);

	for (uint32_t i = 0; i < chunk->count; i++) {
		bool indirect = chunk->columns[PAGECACHE_CALL][i];
		uint16_t number = indirect ? trace->indirect : trace->pagecache;
		struct trace_operation_total *seen = &trace->seen[number];

		event_start(chunk, i, &events[i]);
		events[i].file = event_find_file(chunk, chunk->columns[PAGECACHE_FILE][i]);
		events[i].fetched_bytes = chunk->columns[PAGECACHE_BYTES][i];
		events[i].created_bytes = chunk->columns[PAGECACHE_CREATED][i];
		events[i].operation = trace->operations[number];
		events[i].flags = EVENT_PAGECACHE | (indirect ? EVENT_INDIRECT : 0);
		seen->count++;
		seen->fetched_bytes += events[i].fetched_bytes;
		seen->created_bytes += events[i].created_bytes;
	}
	*count = chunk->count;
}

void event_decode_throttles(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint64_t *const *columns = chunk->columns;
	const struct job_trace *trace = event_trace(chunk);
	struct trace_operation_total *seen = &trace->seen[trace->throttled];

	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t pause_ns = columns[THROTTLE_PAUSE][i];

		event_start(chunk, i, &events[i]);
		events[i].end = number_add(events[i].start, pause_ns);
		events[i].file = event_find_file(chunk, columns[THROTTLE_FILE][i]);
		events[i].thread = columns[THROTTLE_TID][i];
		events[i].operation = trace->operations[trace->throttled];
		events[i].flags = EVENT_THROTTLED;
		seen->count++;
		seen->thread_time_ns += pause_ns;
		events[i].process = event_pid(columns[THROTTLE_PID][i]);
	}
	*count = chunk->count;
}

/* Sets what requests, bios and requests to servers have in common. */
static void start_storage(const struct event_chunk *chunk, uint32_t i, struct event *event)
{
	const struct job_trace *trace = event_trace(chunk);

	event_start(chunk, i, event);
	event->end = number_add(event->start, chunk->columns[REQUEST_DUR][i]);
	event->thread = chunk->columns[REQUEST_TID][i];
	event->operation = trace->operations[chunk->columns[REQUEST_OP][i]];
	event->file = event_find_file(chunk, chunk->columns[REQUEST_FILE][i]);
	event->offset = -1;
	event->process = event_pid(chunk->columns[REQUEST_PID][i]);
}

_Static_assert(EVENT_SAME(BIO_DUR, REQUEST_DUR) && EVENT_SAME(BIO_PID, REQUEST_PID) &&
		       EVENT_SAME(BIO_TID, REQUEST_TID) && EVENT_SAME(BIO_OP, REQUEST_OP) &&
		       EVENT_SAME(BIO_FILE, REQUEST_FILE) && EVENT_SAME(REMOTE_DUR, REQUEST_DUR) &&
		       EVENT_SAME(REMOTE_PID, REQUEST_PID) && EVENT_SAME(REMOTE_TID, REQUEST_TID) &&
		       EVENT_SAME(REMOTE_OP, REQUEST_OP) && EVENT_SAME(REMOTE_FILE, REQUEST_FILE),
	       "start_storage reads all alike");

void event_decode_requests(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		uint64_t number = chunk->columns[REQUEST_OP][i];
		struct trace_operation_total *seen = &event_trace(chunk)->seen[number];
		bool part = chunk->columns[REQUEST_FLAGS][i] & TRACE_BLOCK_PART;
		bool failed = !part && chunk->columns[REQUEST_STATUS][i];

		start_storage(chunk, i, &events[i]);
		events[i].bytes = chunk->columns[REQUEST_OWN_BYTES][i];
		events[i].flags =
			EVENT_REQUEST | (failed ? EVENT_FAILED : 0) | (part ? EVENT_SECOND : 0);
		seen->count += !part;
		seen->errors += failed;
		seen->bytes += events[i].bytes;
		seen->thread_time_ns += events[i].end - events[i].start;
	}
	*count = chunk->count;
}

void event_decode_remote(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		struct trace_operation_total *seen =
			&event_trace(chunk)->seen[chunk->columns[REMOTE_OP][i]];
		bool failed = chunk->columns[REMOTE_ERROR][i];

		start_storage(chunk, i, &events[i]);
		events[i].offset = (int64_t)chunk->columns[REMOTE_OFFSET][i];
		events[i].bytes = chunk->columns[REMOTE_BYTES][i];
		events[i].flags = EVENT_REQUEST | (failed ? EVENT_FAILED : 0);
		seen->count++;
		seen->errors += failed;
		seen->bytes += events[i].bytes;
		seen->thread_time_ns += events[i].end - events[i].start;
	}
	*count = chunk->count;
}

void event_decode_bios(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		start_storage(chunk, i, &events[i]);
		events[i].offset = (int64_t)chunk->columns[BIO_OFFSET][i];
		events[i].bytes = chunk->columns[BIO_BYTES][i];
		events[i].flags = EVENT_BIO;
	}
	*count = chunk->count;
}

void event_decode_devices(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		event_start(chunk, i, &events[i]);
		events[i].flags = EVENT_DEVICE;
	}
	*count = chunk->count;
}
