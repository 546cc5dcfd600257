/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The event tables: their columns, including class and method. */
#include <string.h>

#include "output/tables/relation.h"

static void get_process(struct relation_row *row, const struct relation_column *column,
			struct cell *cell)
{
	if (row->process != PROCESS_UNKNOWN)
		cell_uint(cell, row->process);
}

static void get_span(struct relation_row *row, const struct relation_column *column,
		     struct cell *cell)
{
	if (row->span)
		cell_uint(cell, row->span);
}

static void get_timed(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	if (row->event->class != IO_NONE && row->event->flags & EVENT_TIMED)
		cell_uint(cell, row->event->end - row->event->start);
}

static void get_layer(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	relation_literal(cell, trace_schemas[row->resolved->kind].layer);
}

static void get_class(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	relation_literal(cell, relation_class(row->event->class));
}

static void get_method(struct relation_row *row, const struct relation_column *column,
		       struct cell *cell)
{
	if (row->event->method < METHOD_COUNT)
		relation_literal(cell, method_names[row->event->method]);
}

static void get_read(struct relation_row *row, const struct relation_column *column,
		     struct cell *cell)
{
	if (row->event->class == IO_READ && row->event->flags & EVENT_COUNTED)
		cell_uint(cell, row->event->bytes);
}

/* Whether a read is part of a transfer that also writes to another file. */
static bool writes_too(const struct relation_row *row)
{
	const struct event *event = row->event;

	return event->class == IO_READ && row->resolved->kind != TRACE_SYSCALL &&
	       event->flags & (EVENT_CALL | EVENT_ASYNC) &&
	       row->job->operations[event->operation].family == TRACE_TRANSFER &&
	       row->resolved->values[SYSCALL_PATH_FILE2];
}

static void get_written(struct relation_row *row, const struct relation_column *column,
			struct cell *cell)
{
	if (row->event->flags & EVENT_COUNTED && (row->event->class == IO_WRITE || writes_too(row)))
		cell_uint(cell, row->event->bytes);
}

static void get_error(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	uint64_t result = row->resolved->values[SYSCALL_RESULT];

	if (result_is_error(result))
		relation_literal(cell, strerrorname_np(-(int)result));
}

static void get_major(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	cell_bool(cell, row->resolved->values[FAULT_FLAGS] & TRACE_FAULT_MAJOR);
}

#define PROCESS_COLUMN                                                                             \
	{                                                                                          \
		"process", RELATION_UINT, UNIT_NONE, "process; unlike pids, never reused",         \
			"processes", get_process, 0, 0                                             \
	}
#define SPAN_COLUMN                                                                                \
	{                                                                                          \
		"span", RELATION_UINT, UNIT_NONE, "innermost enclosing span", "spans", get_span,   \
			0, JOB_SPAN                                                                \
	}
#define TIMED_COLUMN                                                                               \
	{                                                                                          \
		"timed_ns", RELATION_UINT, UNIT_NS,                                                \
			"duration, if it counts as time of its class; else null", NULL, get_timed, \
			0, 0                                                                       \
	}
#define CLASS_COLUMN                                                                               \
	{                                                                                          \
		"class", RELATION_TEXT, UNIT_NONE,                                                 \
			"class: read, write, metadata, sync, mmap_read or mmap_write", NULL,       \
			get_class, 0, 0                                                            \
	}

void relation_make_calls(struct relation *relation)
{
	static const struct relation_column more[] = {
		PROCESS_COLUMN,
		CLASS_COLUMN,
		TIMED_COLUMN,
		{ "layer", RELATION_TEXT, UNIT_NONE, "syscall, async or vfs; determines the flags",
		  NULL, get_layer, 0, 0 },
		{ "method", RELATION_TEXT, UNIT_NONE, "access method, as in the report", NULL,
		  get_method, 0, 0 },
		{ "read_bytes", RELATION_UINT, UNIT_BYTES,
		  "read from a file; null if it does not read", NULL, get_read, 0, 0 },
		{ "written_bytes", RELATION_UINT, UNIT_BYTES,
		  "written to a file; null if it does not write", NULL, get_written, 0, 0 },
		{ "error", RELATION_TEXT, UNIT_NONE, "name of its error, if it failed", NULL,
		  get_error, 0, 0 },
		SPAN_COLUMN,
	};

	relation_add_schema(relation, TRACE_ASYNC);
	RELATION_ADD(relation, more);
}

void relation_make_faults(struct relation *relation)
{
	static const struct relation_column more[] = {
		PROCESS_COLUMN,
		CLASS_COLUMN,
		TIMED_COLUMN,
		{ "major", RELATION_BOOL, UNIT_NONE, "waited for storage, as counted by the kernel",
		  NULL, get_major, 0, 0 },
		SPAN_COLUMN,
	};

	relation_add_schema(relation, TRACE_FAULT);
	RELATION_ADD(relation, more);
}

_Static_assert((int)VFS_RESULT == (int)SYSCALL_RESULT && (int)VFS_FLAGS == (int)SYSCALL_FLAGS,
	       "VFS rows share their first columns with calls");

static const struct relation_column process_alone[] = { PROCESS_COLUMN };
static const struct relation_column process_and_span[] = { PROCESS_COLUMN, SPAN_COLUMN };

void relation_make_requests(struct relation *relation)
{
	relation_add_schema(relation, TRACE_REQUEST);
	RELATION_ADD(relation, process_alone);
}

void relation_make_bios(struct relation *relation)
{
	relation_add_schema(relation, TRACE_BIO);
	RELATION_ADD(relation, process_alone);
}

void relation_make_pagecache(struct relation *relation)
{
	relation_add_schema(relation, TRACE_PAGECACHE);
	RELATION_ADD(relation, process_and_span);
}

void relation_make_throttles(struct relation *relation)
{
	relation_add_schema(relation, TRACE_THROTTLE);
	RELATION_ADD(relation, process_and_span);
}

void relation_make_waits(struct relation *relation)
{
	relation_add_schema(relation, TRACE_WAIT);
	RELATION_ADD(relation, process_and_span);
}

void relation_make_thread_times(struct relation *relation)
{
	relation_add_schema(relation, TRACE_THREAD_TIME);
	RELATION_ADD(relation, process_alone);
}

void relation_make_moments(struct relation *relation)
{
	relation_add_schema(relation, TRACE_INSTANT);
	RELATION_ADD(relation, process_and_span);
}
