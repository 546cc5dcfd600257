/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes rows about the times and waits of threads, which are not operations.
 */
#include "analysis/events/event_decode.h"

_Static_assert(EVENT_SAME(THREAD_TIME_DUR, WAIT_DUR) && EVENT_SAME(THREAD_TIME_PID, WAIT_PID) &&
		       EVENT_SAME(THREAD_TIME_TID, WAIT_TID),
	       "event_decode_threads reads both alike");

void event_decode_threads(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const uint32_t flags = chunk->block->kind == TRACE_THREAD_TIME ? EVENT_THREAD_TIME : 0;

	for (uint32_t i = 0; i < chunk->count; i++) {
		event_start(chunk, i, &events[i]);
		events[i].end = clock_add(events[i].start, chunk->columns[WAIT_DUR][i]);
		events[i].process = event_pid(chunk->columns[WAIT_PID][i]);
		events[i].thread = chunk->columns[WAIT_TID][i];
		events[i].flags = flags;
	}
	*count = chunk->count;
}
