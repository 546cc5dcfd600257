/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Divides the intervals of threads at the ends of a range. An interval has only sums, but waits of
 * 1 ms and more have rows: those before and after the end are read, too, so that only what is left
 * of the interval must be spread evenly.
 */
#include "analysis/processes/thread_cuts.h"

#include <errno.h>

#include "base/number.h"

#define KEY_WORDS 2
#define CUTS_MAX 131072 /* further ones are spread evenly */

void thread_cuts_init(struct thread_cuts *cuts, struct arena *arena, const struct job *job)
{
	cuts->job = job;
	cuts->arena = arena;
	map_init_in(&cuts->numbers, arena, KEY_WORDS, 1);
}

static uint64_t overlap(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns, uint64_t until_ns)
{
	return number_sub(number_min(end_ns, until_ns), number_max(start_ns, from_ns));
}

/* A hostile trace may have any numbers. */
static uint64_t scaled(uint64_t time_ns, double share)
{
	return share < 1 ? time_ns * share + 0.5 : time_ns;
}

static void divide(const struct job *job, struct thread_cut *cut)
{
	uint64_t inside_ns = overlap(cut->start_ns, cut->end_ns, job->start_ns, job->end_ns);
	uint64_t rest_ns = cut->end_ns - cut->start_ns;
	struct thread_times *times = &cut->times;
	double share;

	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		if (cut->waited_ns[i] > times->states[i])
			cut->waited_ns[i] = times->states[i];
		if (cut->inside_ns[i] > cut->waited_ns[i])
			cut->inside_ns[i] = cut->waited_ns[i];
		rest_ns = number_sub(rest_ns, cut->waited_ns[i]);
		inside_ns = number_sub(inside_ns, cut->inside_ns[i]);
	}
	share = rest_ns ? (double)inside_ns / rest_ns : 0;
	times->time_ns = 0;
	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		times->states[i] =
			cut->inside_ns[i] + scaled(times->states[i] - cut->waited_ns[i], share);
		times->time_ns = number_add(times->time_ns, times->states[i]);
	}
	/* None of these are in waits that have rows. */
	times->io_wait_ns = scaled(times->io_wait_ns, share);
	times->io_ns = scaled(times->io_ns, share);
	times->user_ns = scaled(times->user_ns, share);
	times->system_ns = scaled(times->system_ns, share);
}

bool thread_cuts_add(struct thread_cuts *cuts, const struct event *event, uint32_t thread,
		     struct thread_times *times)
{
	const uint64_t key[KEY_WORDS] = { (uint64_t)event->block->trace << 32 | event->thread,
					  event->start < cuts->job->start_ns };
	struct thread_cut cut = {
		.thread = thread,
		.start_ns = event->start,
		.end_ns = event->end,
		.times = *times,
	};
	uint64_t *number = NULL;
	bool added;

	/* Only a hostile trace has several for a thread. */
	if (cuts->count < CUTS_MAX && !map_find(&cuts->numbers, key) &&
	    ARENA_GROW(cuts->arena, cuts->all, cuts->room, cuts->count + 1))
		number = map_add(&cuts->numbers, key, &added);
	if (!number) {
		divide(cuts->job, &cut);
		*times = cut.times;
		return false;
	}
	*number = cuts->count;
	cuts->all[cuts->count++] = cut;
	return true;
}

/* --- waits --- */

static void add_wait(struct thread_cuts *cuts, uint64_t who, uint64_t start_ns, uint64_t end_ns,
		     unsigned int state)
{
	const struct job *job = cuts->job;

	for (uint64_t at_start = 0; at_start < 2; at_start++) {
		const uint64_t *number =
			map_find(&cuts->numbers, (const uint64_t[]) { who, at_start });
		struct thread_cut *cut = number ? &cuts->all[*number] : NULL;
		uint64_t from_ns, until_ns;

		if (!cut || state >= THREAD_STATE_COUNT)
			continue;
		from_ns = number_max(start_ns, cut->start_ns);
		until_ns = number_min(end_ns, cut->end_ns);
		cut->waited_ns[state] =
			number_add(cut->waited_ns[state], number_sub(until_ns, from_ns));
		cut->inside_ns[state] =
			number_add(cut->inside_ns[state],
				   overlap(from_ns, until_ns, job->start_ns, job->end_ns));
	}
}

/* A damaged block has no waits; the walk has reported it. */
static int read_block(struct thread_cuts *cuts, uint32_t number, size_t block)
{
	static const uint64_t columns =
		1ull << WAIT_TIME | 1ull << WAIT_DUR | 1ull << WAIT_TID | 1ull << WAIT_STATE;
	const struct job_trace *trace = &cuts->job->traces[number];
	struct trace_reader *reader = trace->reader;
	struct trace_error error;
	const int status = trace_reader_read(reader, block, columns, &error);

	for (uint32_t i = 0; !status && i < trace_reader_block_info(reader, block)->rows; i++) {
		const uint64_t start_ns =
			clock_shifted(trace->clock, trace_reader_column(reader, WAIT_TIME)[i]);
		const uint64_t tid = trace_reader_column(reader, WAIT_TID)[i];
		const uint64_t state = trace_reader_column(reader, WAIT_STATE)[i];

		add_wait(cuts, (uint64_t)number << 32 | (uint32_t)tid, start_ns,
			 number_add(start_ns, trace_reader_column(reader, WAIT_DUR)[i]),
			 event_state_named(trace_reader_string(reader, state)));
	}
	return status == -ENOMEM ? status : 0;
}

static int read_waits(struct thread_cuts *cuts, uint32_t number)
{
	const struct job_trace *trace = &cuts->job->traces[number];
	const size_t blocks = trace_reader_block_count(trace->reader);
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	int status = 0;

	for (size_t i = 0; i < cuts->count; i++) {
		start_ns = number_min(cuts->all[i].start_ns, start_ns);
		end_ns = number_max(cuts->all[i].end_ns, end_ns);
	}
	for (size_t i = 0; i < blocks && !status; i++) {
		const struct trace_block_info *info = trace_reader_block_info(trace->reader, i);

		if (info->kind == TRACE_WAIT && clock_shifted(trace->clock, info->start) < end_ns &&
		    clock_shifted(trace->clock, info->end) > start_ns)
			status = read_block(cuts, number, i);
	}
	return status;
}

int thread_cuts_finish(struct thread_cuts *cuts)
{
	int status = 0;

	for (uint32_t i = 0; i < cuts->job->trace_count && cuts->count && !status; i++)
		status = read_waits(cuts, i);
	for (size_t i = 0; i < cuts->count; i++)
		divide(cuts->job, &cuts->all[i]);
	return status;
}
