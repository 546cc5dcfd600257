/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decodes rows about the times, waits and samples of threads, which are not operations. */
#include <string.h>

#include "analysis/events/event_decode.h"
#include "base/number.h"

_Static_assert(EVENT_SAME(THREAD_TIME_DUR, WAIT_DUR) && EVENT_SAME(THREAD_TIME_PID, WAIT_PID) &&
		       EVENT_SAME(THREAD_TIME_TID, WAIT_TID) && EVENT_SAME(SAMPLE_DUR, WAIT_DUR) &&
		       EVENT_SAME(SAMPLE_PID, WAIT_PID) && EVENT_SAME(SAMPLE_TID, WAIT_TID),
	       "decode reads all alike");

void event_decode_threads(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		event_start(chunk, i, &events[i]);
		events[i].end = number_add(events[i].start, chunk->columns[WAIT_DUR][i]);
		events[i].process = event_pid(chunk->columns[WAIT_PID][i]);
		events[i].thread = chunk->columns[WAIT_TID][i];
		events[i].flags = EVENT_THREAD;
	}
	*count = chunk->count;
}

void event_decode_samples(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	const struct job_trace *trace = event_trace(chunk);

	event_decode_threads(chunk, events, count);
	for (uint32_t i = 0; i < chunk->count; i++) {
		events[i].file = event_find_file(chunk, chunk->columns[SAMPLE_FILE][i]);
		events[i].operation = trace->operations[chunk->columns[SAMPLE_OP][i]];
	}
}

#define STATE_NAME(id, name, ...) [THREAD_##id] = name,
const char *const sample_state_names[THREAD_STATE_COUNT + 1] = {
	THREAD_STATES(STATE_NAME)[SAMPLE_IO] = SAMPLE_IO_NAME,
};

unsigned int event_state_named(struct trace_string name)
{
	for (unsigned int i = 0; i <= SAMPLE_IO; i++)
		if (name.length == strlen(sample_state_names[i]) &&
		    !memcmp(name.bytes, sample_state_names[i], name.length))
			return i;
	return THREAD_OTHER;
}

unsigned int event_sample_state(const struct job *job, const struct event *event)
{
	return event_state_named(trace_reader_string(job->traces[event->block->trace].reader,
						     event_value(event, SAMPLE_STATE)));
}

double event_sample_operations(const struct event *event)
{
	const uint64_t duration_ns = event->end - event->start;

	return duration_ns ? (double)event_value(event, SAMPLE_WEIGHT) / duration_ns : 1;
}

uint64_t event_sample_time(const struct job *job, const struct event *event, unsigned int state,
			   bool *exact)
{
	const uint64_t weight_ns = event_value(event, SAMPLE_WEIGHT);
	/* Not for a thread that runs: the time between its samples is that of other lines, too. */
	const bool is_exact = state != THREAD_CPU && event->end - event->start == weight_ns;
	uint64_t start_ns = event->start, end_ns = event->end;

	if (exact)
		*exact = is_exact;
	if (!is_exact || !job->cut)
		return weight_ns;
	start_ns = number_max(start_ns, job->start_ns);
	end_ns = number_min(end_ns, job->end_ns);
	return number_sub(end_ns, start_ns);
}
