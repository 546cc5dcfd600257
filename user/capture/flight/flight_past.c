/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Applies records in order: a fork adds a process, an exec sets what it runs. */
#include "capture/flight/flight_past.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_MAX 65536		      /* open at the same time */
#define SPANS_BYTES_MAX (8u << 20)    /* of their records: names and arguments */
#define COMMANDS_BYTES_MAX (4u << 20) /* command lines; when full, processes have none */
#define ENDS_MAX 65536		      /* without a begin; when full, all are dropped */
#define LOOK_EVERY_NS 10000000000ull
#define RECORD_BYTES (sizeof(struct event_exec) + EVENT_COMMAND_BYTES)

struct past_process {
	uint64_t looked_moves, looked_ns; /* when its cgroup was looked up; 0: never */
	size_t spans;			  /* that are open */
	struct event_exec exec;
	/* followed by exec.command_bytes bytes */
};

static char *command_of(struct past_process *process)
{
	return (char *)(process + 1);
}

void flight_past_free(struct flight_past *past)
{
	flight_table_free(&past->processes);
	flight_table_free(&past->spans);
	flight_table_free(&past->ends);
	flight_table_free(&past->devices);
}

/* --- processes --- */

static void keep(struct flight_past *past, uint32_t pid, const struct event_exec *exec,
		 const char *command)
{
	const struct past_process *before = flight_table_find(&past->processes, pid, 0);
	size_t others = past->command_bytes - (before ? before->exec.command_bytes : 0);
	size_t bytes = exec->command_bytes;
	struct past_process *process;

	if (others + bytes > COMMANDS_BYTES_MAX) {
		bytes = 0;
		past->refused++;
	}
	process = malloc(sizeof(*process) + bytes);
	if (!process) {
		past->refused++;
		return;
	}
	process->spans = before ? before->spans : 0;
	process->looked_moves = process->looked_ns = 0;
	process->exec = *exec;
	process->exec.command_bytes = bytes;
	memcpy(command_of(process), command, bytes);
	if (flight_table_put(&past->processes, pid, 0, process))
		past->refused++;
	else
		past->command_bytes = others + bytes;
}

static void take_exec(struct flight_past *past, const struct event_exec *exec)
{
	keep(past, exec->header.pid, exec, exec->command);
}

/* A process starts as a copy of its parent. */
static void take_fork(struct flight_past *past, const struct event_fork *fork)
{
	struct past_process *parent = flight_table_find(&past->processes, fork->header.pid, 0);
	struct event_exec exec = { 0 };

	if (fork->child_pid != fork->child_tid)
		return;
	if (parent)
		exec = parent->exec;
	exec.ppid = fork->header.pid;
	exec.started_ns = fork->header.time_ns;
	keep(past, fork->child_pid, &exec, parent ? command_of(parent) : "");
}

static void drop_span(struct flight_past *past, uint32_t pid, uint64_t id)
{
	const struct event_header *begin = flight_table_find(&past->spans, pid, id);

	past->span_bytes -= begin ? begin->size : 0;
	flight_table_remove(&past->spans, pid, id);
}

static void drop_spans(struct flight_past *past, uint32_t pid, size_t count)
{
	const struct flight_item *item;
	size_t at = 0;

	while (count && (item = flight_table_next(&past->spans, &at))) {
		if (item->key != pid)
			continue;
		drop_span(past, pid, item->key2);
		count--;
		at--; /* later items may have moved up */
	}
}

static void take_exit(struct flight_past *past, const struct event_exit *exit)
{
	const struct past_process *process =
		flight_table_find(&past->processes, exit->header.pid, 0);

	if (!exit->process_ends || !process)
		return;
	drop_spans(past, exit->header.pid, process->spans);
	past->command_bytes -= process->exec.command_bytes;
	flight_table_remove(&past->processes, exit->header.pid, 0);
}

bool flight_past_looks(struct flight_past *past, uint32_t pid, uint64_t moves, uint64_t now_ns)
{
	struct past_process *process = flight_table_find(&past->processes, pid, 0);

	if (!process ||
	    (process->looked_moves == moves && now_ns < process->looked_ns + LOOK_EVERY_NS))
		return false;
	process->looked_moves = moves;
	process->looked_ns = now_ns;
	return true;
}

void flight_past_move(struct flight_past *past, uint32_t pid, uint64_t cgroup)
{
	struct past_process *process = flight_table_find(&past->processes, pid, 0);

	if (process)
		process->exec.cgroup_id = cgroup;
}

uint64_t flight_past_cgroup(const struct flight_past *past, uint32_t pid)
{
	const struct past_process *process = flight_table_find(&past->processes, pid, 0);

	return process ? process->exec.cgroup_id : 0;
}

uint32_t flight_past_member(const struct flight_past *past, uint64_t cgroup)
{
	const struct flight_item *item;
	size_t at = 0;

	while ((item = flight_table_next(&past->processes, &at)))
		if (((const struct past_process *)item->value)->exec.cgroup_id == cgroup)
			return item->key;
	return 0;
}

/* --- spans and devices --- */

static int keep_record(struct flight_past *past, struct flight_table *table, uint64_t key,
		       uint64_t key2, const struct event_header *record)
{
	void *copy = malloc(record->size);

	if (copy)
		memcpy(copy, record, record->size);
	if (copy && !flight_table_put(table, key, key2, copy))
		return 0;
	past->refused++;
	return -ENOMEM;
}

static void take_begin(struct flight_past *past, const struct event_span *span)
{
	const struct event_header *end = flight_table_find(&past->ends, span->header.pid, span->id);
	struct past_process *process = flight_table_find(&past->processes, span->header.pid, 0);
	const size_t before = past->spans.count;
	bool has_ended = end && end->time_ns >= span->header.time_ns;

	flight_table_remove(&past->ends, span->header.pid, span->id);
	/* Drops spans of unknown processes: their exit has already been seen, since records of
	 * processes come before the rest. */
	if (has_ended || !process)
		return;
	drop_span(past, span->header.pid, span->id);
	process->spans -= before - past->spans.count;
	if (past->spans.count == SPANS_MAX ||
	    past->span_bytes + span->header.size > SPANS_BYTES_MAX) {
		past->refused++;
		return;
	}
	if (keep_record(past, &past->spans, span->header.pid, span->id, &span->header))
		return;
	past->span_bytes += span->header.size;
	process->spans++;
}

/* Rings are drained one after the other, so an end may come shortly before its begin. Most ends
 * without a begin belong to spans from before the recording. */
static void take_end(struct flight_past *past, const struct event_span_end *end)
{
	struct past_process *process = flight_table_find(&past->processes, end->header.pid, 0);

	if (process && flight_table_find(&past->spans, end->header.pid, end->id)) {
		drop_span(past, end->header.pid, end->id);
		process->spans--;
		return;
	}
	if (past->ends.count == ENDS_MAX)
		flight_table_free(&past->ends);
	keep_record(past, &past->ends, end->header.pid, end->id, &end->header);
}

/* A device is gone when there is a later one with its number. */
static void take_device(struct flight_past *past, const struct event_device *device)
{
	const struct flight_item *item;
	size_t at = 0;

	while ((item = flight_table_next(&past->devices, &at))) {
		int32_t later = device->instance - (uint32_t)item->key2;

		if (item->key != device->dev || !later)
			continue;
		if (later < 0)
			return;
		flight_table_remove(&past->devices, item->key, item->key2);
		break; /* it was the only one */
	}
	keep_record(past, &past->devices, device->dev, device->instance, &device->header);
}

void flight_past_take(void *context, unsigned int ring, const void *record, size_t size)
{
	struct flight_past *past = context;

	switch (((const struct event_header *)record)->kind) {
	case RECORD_EXEC:
		take_exec(past, record);
		break;
	case RECORD_FORK:
		take_fork(past, record);
		break;
	case RECORD_EXIT:
		take_exit(past, record);
		break;
	case RECORD_SPAN_BEGIN:
		take_begin(past, record);
		break;
	case RECORD_SPAN_END:
		take_end(past, record);
		break;
	case RECORD_DEVICE:
		take_device(past, record);
		break;
	default:
		break;
	}
}

/* --- output --- */

static void emit_process(const struct flight_item *item, uint64_t from_ns, ring_record_fn take,
			 void *context)
{
	_Alignas(8) char memory[RECORD_BYTES];
	struct past_process *process = item->value;
	struct event_exec *exec = (struct event_exec *)memory;

	*exec = process->exec;
	exec->header.kind = RECORD_EXEC;
	exec->header.time_ns = from_ns;
	exec->header.pid = exec->header.tid = item->key;
	exec->header.size = sizeof(*exec) + exec->command_bytes;
	if (!(exec->flags & TRACE_EXEC_NOT_FOLLOWED))
		exec->flags = TRACE_EXEC_PRESENT;
	memcpy(exec->command, command_of(process), exec->command_bytes);
	take(context, 0, exec, exec->header.size);
}

void flight_past_emit(const struct flight_past *past, uint64_t from_ns, ring_record_fn take,
		      void *context)
{
	const struct flight_item *item;
	size_t at = 0;

	while ((item = flight_table_next(&past->processes, &at)))
		emit_process(item, from_ns, take, context);
	at = 0;
	while ((item = flight_table_next(&past->spans, &at))) {
		struct event_header *begin = item->value;
		uint64_t time_ns = begin->time_ns;

		begin->time_ns = from_ns;
		take(context, 0, begin, begin->size);
		begin->time_ns = time_ns;
	}
	at = 0;
	while ((item = flight_table_next(&past->devices, &at)))
		take(context, 0, item->value, ((struct event_header *)item->value)->size);
}

void flight_past_subtract(const struct flight_past *past, struct event_device *device)
{
	const struct event_device *before =
		flight_table_find(&past->devices, device->dev, device->instance);
	const uint64_t *from = before ? (const uint64_t *)&before->total : NULL;
	uint64_t *counts = (uint64_t *)&device->total;

	for (size_t i = 0; from && i < sizeof(device->total) / sizeof(*counts); i++)
		counts[i] -= from[i];
}
