/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes rows of one moment: program ends, span begins and ends, instants, and rows that only name
 * things.
 */
#include "analysis/events/event_decode.h"

/* Something a thread did at one moment. Columns 0 to 2 are time, pid and tid. */
static void make_mark(const struct event_chunk *chunk, uint32_t i, uint32_t flags,
		      struct event *event)
{
	event_start(chunk, i, event);
	event->flags = flags;
	event->process = event_pid(chunk->columns[SPAN_BEGIN_PID][i]);
	if (chunk->columns[SPAN_BEGIN_TID])
		event->thread = chunk->columns[SPAN_BEGIN_TID][i];
}

_Static_assert(EVENT_SAME(SPAN_END_PID, SPAN_BEGIN_PID) &&
		       EVENT_SAME(INSTANT_PID, SPAN_BEGIN_PID) &&
		       EVENT_SAME(EXEC_PID, SPAN_BEGIN_PID) &&
		       EVENT_SAME(EXIT_PID, SPAN_BEGIN_PID) &&
		       EVENT_SAME(SPAN_END_TID, SPAN_BEGIN_TID) &&
		       EVENT_SAME(INSTANT_TID, SPAN_BEGIN_TID),
	       "make_mark reads all of these alike");

void event_decode_span_begins(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_SPAN_BEGIN, &events[i]);
		events[i].id = chunk->columns[SPAN_BEGIN_ID][i];
		events[i].name = chunk->columns[SPAN_BEGIN_NAME][i];
		events[i].category = chunk->columns[SPAN_BEGIN_CATEGORY][i];
	}
	*count = chunk->count;
}

void event_decode_span_ends(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_SPAN_END, &events[i]);
		events[i].id = chunk->columns[SPAN_END_ID][i];
	}
	*count = chunk->count;
}

void event_decode_instants(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		make_mark(chunk, i, EVENT_INSTANT, &events[i]);
		events[i].name = chunk->columns[INSTANT_NAME][i];
		events[i].category = chunk->columns[INSTANT_CATEGORY][i];
	}
	*count = chunk->count;
}

void event_decode_execs(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++)
		make_mark(chunk, i, EVENT_PROGRAM_END, &events[i]);
	*count = chunk->count;
}

/* Only its last thread's exit ends a process. */
void event_decode_exits(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (chunk->columns[EXIT_PROCESS][i])
			make_mark(chunk, i, EVENT_PROGRAM_END, &events[i]);
		else
			event_start(chunk, i, &events[i]);
	}
	*count = chunk->count;
}

void event_decode_names(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++)
		event_start(chunk, i, &events[i]);
	*count = chunk->count;
}
