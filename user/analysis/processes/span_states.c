/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "span_states": what the threads that opened the application's spans did in them. A call
 * that blocks is inside one span of its thread, or outside of all, so I/O and waits are exact. Each
 * moment counts for the innermost span.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/processes/threads.h"
#include "analysis/shared/results.h"
#include "collections/compare.h"
#include "base/number.h"

#define STATE_IO THREAD_STORAGE /* all time in I/O operations, as on the critical path */

struct amounts {
	uint64_t count;
	uint64_t time_ns; /* the states add up to it */
	uint64_t states[THREAD_STATE_COUNT];
};

/* An open span. */
struct states_of_slot {
	uint64_t busy_until_ns; /* end of its thread's latest operation or wait */
	uint64_t nested_ns;	/* of the same thread's spans in it */
	uint64_t states[THREAD_STATE_COUNT];
	uint8_t latest; /* the state until busy_until_ns */
};

struct span_states {
	const struct job *job;
	struct arena *arena;
	struct amounts *labels;
	struct states_of_slot *slots;
	size_t slot_room;
};

/* --- during the walk --- */

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct span_states *all = state;

	all->job = job;
	all->arena = arena;
	all->labels = arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*all->labels));
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct span_states *all = state;

	if (!ARENA_GROW(all->arena, all->slots, all->slot_room, all->job->spans.room))
		return -ENOMEM;
	all->slots[slot] = (struct states_of_slot) { 0 };
	return 0;
}

static bool same_thread(const struct span *a, const struct span *b)
{
	return a->process == b->process && a->thread == b->thread;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct span_states *all = state;
	const struct open_spans *open = &all->job->spans;
	const struct span *span = &open->slots[slot];
	struct states_of_slot *here = &all->slots[slot];
	struct amounts *amounts = &all->labels[span->label];
	const uint64_t duration_ns = number_sub(span->end_ns, span->begin_ns);
	const uint32_t parent = open_spans_parent(open, slot);
	uint64_t own_ns = number_sub(duration_ns, here->nested_ns), rest_ns = own_ns;

	here->states[here->latest] = number_sub(here->states[here->latest],
						number_sub(here->busy_until_ns, span->end_ns));
	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		/* Spans with times of the program's own may overlap. */
		const uint64_t part_ns = number_min(here->states[i], rest_ns);

		amounts->states[i] += part_ns;
		rest_ns -= part_ns;
	}
	amounts->states[THREAD_CPU] += rest_ns;
	amounts->time_ns += own_ns;
	amounts->count++;
	if (parent != SPAN_NONE && same_thread(span, &open->slots[parent]))
		all->slots[parent].nested_ns += duration_ns;
	return 0;
}

static void add(struct states_of_slot *here, unsigned int state, const struct event *event)
{
	const uint64_t from_ns = number_max(event->start, here->busy_until_ns);

	if (event->end <= from_ns) /* inside another: a fault in a call, a wait in an operation */
		return;
	here->states[state] += event->end - from_ns;
	here->busy_until_ns = event->end;
	here->latest = state;
}

static void take(struct span_states *all, const struct event *event)
{
	const struct open_spans *open = &all->job->spans;
	const bool waits = event_is_wait(event);
	unsigned int state = STATE_IO;
	bool inherited;
	uint32_t slot;

	if (!waits && (event->class == IO_NONE || event->flags & EVENT_ASYNC ||
		       !(event->flags & EVENT_TIMED)))
		return;
	slot = open_spans_find(open, &all->job->processes, event->process, event->thread,
			       &inherited);
	if (slot == SPAN_NONE || inherited || open->slots[slot].thread != event->thread)
		return;
	if (waits)
		state = event_state_named(
			trace_reader_string(all->job->traces[event->block->trace].reader,
					    event_value(event, WAIT_STATE)));
	add(&all->slots[slot], state < THREAD_STATE_COUNT ? state : THREAD_OTHER, event);
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct span_states *all = state;

	for (size_t i = 0; all->job->spans.open && i < count; i++)
		take(all, &events[i]);
	return 0;
}

static int take_series(void *state, const struct event_series *series)
{
	return take_events(state, series->events, series->count);
}

/* --- the table --- */

struct states_row {
	struct table_text name, category;
	struct amounts amounts;
	uint32_t label;
};

#define STATE(state, name, title, meaning)                                                         \
	{                                                                                          \
		name, title, UNIT_NS, KIND_THREAD, meaning,                                        \
			TABLE_UINT(struct states_row, amounts.states[state]), 0                    \
	}

static const struct table_column columns[] = {
	COLUMN(states_row, name, "name", NONE, KEY, "name of the spans"),
	COLUMN(states_row, category, "category", NONE, KEY, "category of the spans"),
	COLUMN_AS("count", states_row, amounts.count, "count", COUNT, SUM, "number of spans"),
	COLUMN_AS("time_ns", states_row, amounts.time_ns, "time", NS, THREAD,
		  "sum of the durations of the spans, less spans of the same thread in them: the "
		  "states add up to it"),
	STATE(THREAD_CPU, "running_ns", "running",
	      "the rest: on a CPU or waiting for one outside I/O, and waits of less than 1 ms"),
	STATE(STATE_IO, "io_ns", "I/O", "in the thread's I/O operations, on a CPU or blocked"),
	STATE(THREAD_MEMORY, "memory_ns", "memory", "blocked for memory"),
	STATE(THREAD_LOCK, "lock_ns", "lock", "blocked on a lock"),
	STATE(THREAD_PIPE, "pipe_ns", "pipe", "blocked on a pipe, socket or poll"),
	STATE(THREAD_CHILD, "child_ns", "child", "blocked until a child ends"),
	STATE(THREAD_SLEEP, "sleep_ns", "sleep", "asleep"),
	STATE(THREAD_DEVICE, "device_ns", "device", "blocked in a device's driver"),
	STATE(THREAD_STOPPED, "stopped_ns", "stopped", "stopped"),
	STATE(THREAD_OTHER, "other_ns", "other", "blocked elsewhere in the kernel"),
};

COMPARE_BY(compare_rows, struct states_row,
	   COMPARE(b->amounts.time_ns, a->amounts.time_ns) ?: COMPARE(a->label, b->label))

static void conclude(const struct results *results, struct table *table)
{
	const struct span_states *all = results_state(results, &analysis_span_states);
	const struct job *job = all->job;
	const size_t count = job->labels.count;
	struct states_row *rows;
	size_t used = 0;

	if (table_absent_if(table, !count && !(job->layers & JOB_SPAN),
			    "application spans were not recorded") ||
	    threads_absent(table, job))
		return;
	table_add_columns(table, TABLE_COLUMNS(columns));
	rows = arena_alloc(all->arena, (count + 1) * sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		const struct label *label = &job->labels.labels[i];

		if (all->labels[i].count)
			rows[used++] = (struct states_row) {
				.name = { label->name.bytes, label->name.length },
				.category = { label->category.bytes, label->category.length },
				.amounts = all->labels[i],
				.label = i,
			};
	}
	if (used)
		qsort(rows, used, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < used; i++)
		table_add(table, &rows[i]);
}

const struct analysis analysis_span_states = {
	.name = "span_states",
	.meaning =
		"what the threads that opened the application's spans did in them: computed, did "
		"I/O, or waited, and for what",
	.title = "Threads in spans",
	.shown = "name,category,count,running_ns,io_ns,pipe_ns,lock_ns,child_ns,sleep_ns,memory_ns,"
		 "device_ns,stopped_ns,other_ns",
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct span_states),
	.begin = begin,
	.consumer = { .events = take_events,
		      .series = take_series,
		      .span_begun = span_begun,
		      .span_ended = span_ended },
	.columns = { [TRACE_WAIT] = 1ull << WAIT_STATE },
	.conclude = conclude,
	.merging = { .sorted = "-time_ns", .many = "span names", .label = "name" },
};
