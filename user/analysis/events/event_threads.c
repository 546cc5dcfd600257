/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes rows about the times of threads, which are not operations.
 */
#include "analysis/events/event_decode.h"

void event_decode_thread_times(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		event_start(chunk, i, &events[i]);
		events[i].end = clock_add(events[i].start, chunk->columns[THREAD_TIME_DUR][i]);
		events[i].thread = chunk->columns[THREAD_TIME_TID][i];
		events[i].flags = EVENT_THREAD_TIME;
		events[i].process = event_pid(chunk->columns[THREAD_TIME_PID][i]);
	}
	*count = chunk->count;
}
