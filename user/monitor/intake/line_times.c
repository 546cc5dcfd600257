/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps samples until the next booking: the record of a stack may come after those of its samples.
 */
#include "monitor/intake/line_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/shared/sites.h"
#include "collections/grow.h"
#include "base/number.h"
#include "capture/python/frames.h"
#include "capture/python/live.h"
#include "capture/session/in_flight.h"

#define SAMPLES_MAX 65536
#define BLOCKED_WITHIN_MS 200 /* nothing is drained until then */
#define SAMPLES_ALWAYS 1024   /* room for these is never freed */

struct sample {
	uint64_t time_ns, weight_ns;
	uint32_t pid, stack;
	uint32_t state;
	bool blocked; /* its stack is one of the blocked threads' */
};

struct line_times {
	struct python_frames *frames;
	struct python_frames *blocked; /* of the blocked threads' stacks; NULL: none were read */
	struct sample *samples;
	size_t count, room;
	uint64_t since_ns; /* of the interval whose lines are asked for; before, waits are booked */
	uint64_t lost, unnamed;
};

int line_times_open(struct line_times **out, volatile uint32_t *generation_out)
{
	struct line_times *times = calloc(1, sizeof(*times));

	if (times)
		times->frames = python_frames_make();
	if (!times || !times->frames) {
		free(times);
		return -ENOMEM;
	}
	python_frames_share_generation(times->frames, generation_out, PYTHON_GENERATION_BYTES);
	*out = times;
	return 0;
}

void line_times_close(struct line_times *times)
{
	if (!times)
		return;
	python_frames_free(times->frames);
	python_frames_free(times->blocked);
	free(times->samples);
	free(times);
}

uint64_t line_times_lost(const struct line_times *times)
{
	return times->lost;
}

uint64_t line_times_unnamed(const struct line_times *times)
{
	return times->unnamed;
}

/* Chooses the innermost frame of the application, like reports. */
static size_t choose(const struct python_line *lines, size_t count)
{
	enum frame_owner owner = OWNER_LIBRARY, of;
	size_t chosen = 0;

	for (size_t i = 0; i < count && owner < OWNER_APPLICATION; i++) {
		of = frame_owner((struct trace_string) { lines[i].path, lines[i].path_bytes },
				 lines[i].line);
		if (of > owner) {
			owner = of;
			chosen = i;
		}
	}
	return chosen;
}

static void keep(struct line_times *times, struct sample sample)
{
	if (times->count < SAMPLES_MAX && GROW(times->samples, times->room, times->count + 1))
		times->samples[times->count++] = sample;
	else
		times->lost++;
}

static void take_sample(struct line_times *times, const struct event_sample *event)
{
	const uint64_t end_ns = number_add(event->header.time_ns, event->duration_ns);
	uint64_t weight_ns = event->weight_ns;

	if (event->state != THREAD_CPU)
		weight_ns = number_min(weight_ns, number_sub(end_ns, times->since_ns));
	if (event->stack && weight_ns) /* otherwise it is not of Python, or booked */
		keep(times, (struct sample) { .time_ns = event->header.time_ns,
					      .weight_ns = weight_ns,
					      .pid = event->header.pid,
					      .stack = event->stack,
					      .state = event->state });
}

static void take_stack(struct python_frames *frames, const struct event_header *record)
{
	if (record->kind == RECORD_FRAME)
		python_frames_take_code(frames, (const struct event_frame *)record);
	else if (record->kind == RECORD_STACK)
		python_frames_keep_line(frames, (const struct event_stack *)record, choose);
}

bool line_times_take(struct line_times *times, const struct event_header *record)
{
	bool is_of_stacks = record->kind == RECORD_FRAME || record->kind == RECORD_STACK ||
			    record->kind == RECORD_SAMPLE;

	if (!times)
		return is_of_stacks;
	if (record->kind == RECORD_SAMPLE)
		take_sample(times, (const struct event_sample *)record);
	else
		take_stack(times->frames, record);
	return is_of_stacks;
}

static void take_blocked_stack(void *context, const void *record, size_t size)
{
	(void)size;
	take_stack(context, record);
}

/* A wait for storage is part of an operation. */
static uint32_t state_of(const struct event_wait *wait)
{
	return wait->state == THREAD_STORAGE ? SAMPLE_IO : wait->state;
}

/* Each reading has frames of its own: unlike the kernel side, it does not notice when another code
 * object has taken the place of one that it described. */
void line_times_take_blocked(struct line_times *times, struct python_live *live,
			     const struct thread_list *threads, uint64_t since_ns)
{
	struct live_thread *read = calloc(threads->count + 1, sizeof(*read));
	uint32_t count = 0;

	python_frames_free(times->blocked);
	times->blocked = python_frames_make();
	for (size_t i = 0; read && i < threads->count && count < LIVE_THREADS_MAX; i++) {
		const struct event_thread_now *row = &threads->rows[i];
		const struct event_wait *wait = &row->wait;

		if (!wait->header.time_ns || row->blocked.runs == SAMPLE_RUNS_UNKNOWN)
			continue;
		read[count++] = (struct live_thread) {
			.pid = wait->header.pid,
			.tid = wait->header.tid,
			.tid_inside = row->blocked.tid_inside,
			.runs = row->blocked.runs,
			.thread_pointer = row->blocked.thread_pointer,
			.stack = i + 1,
		};
	}
	if (read && times->blocked)
		python_live_read(live, BLOCKED_WITHIN_MS, 0, read, count, take_blocked_stack,
				 times->blocked);
	for (uint32_t i = 0; times->blocked && i < count; i++) {
		const struct event_thread_now *row = &threads->rows[read[i].stack - 1];
		const uint64_t from_ns = number_max(since_ns, row->wait.header.time_ns);

		times->since_ns = number_max(times->since_ns, row->now_ns);
		if (python_frames_line(times->blocked, read[i].stack))
			keep(times, (struct sample) { .time_ns = row->now_ns,
						      .weight_ns = number_sub(row->now_ns, from_ns),
						      .pid = read[i].pid,
						      .stack = read[i].stack,
						      .state = state_of(&row->wait),
						      .blocked = true });
	}
	free(read);
}

/* Returns false if its line or process is unknown, or there is no room. */
static bool book(const struct line_times *times, const struct sample *sample, struct ledger *ledger)
{
	const struct python_line *line =
		python_frames_line(sample->blocked ? times->blocked : times->frames, sample->stack);
	char file[LEDGER_PATH_BYTES], function[LEDGER_FUNCTION_BYTES];
	size_t cut;

	if (!line)
		return false;
	cut = line->path_bytes < sizeof(file) ? 0 : line->path_bytes - sizeof(file) + 1;
	snprintf(file, sizeof(file), "%.*s", (int)(line->path_bytes - cut), line->path + cut);
	snprintf(function, sizeof(function), "%.*s", (int)line->function_bytes, line->function);
	return ledger_add_line(ledger, sample->pid, sample->time_ns,
			       &(struct ledger_line) { .file = file,
						       .function = function,
						       .line = line->line,
						       .state = sample->state,
						       .time_ns = sample->weight_ns });
}

void line_times_settle(struct line_times *times, struct ledger *ledger)
{
	for (size_t i = 0; i < times->count; i++)
		times->unnamed += !book(times, &times->samples[i], ledger);
	times->count = 0;
	if (times->room > SAMPLES_ALWAYS) {
		free(times->samples);
		times->samples = NULL;
		times->room = 0;
	}
}
