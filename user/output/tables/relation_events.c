/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The event tables: their columns, including class and method. */
#include <string.h>

#include "output/tables/relation.h"

RELATION_GETTER(get_span, row->span, cell_uint, row->span)
RELATION_GETTER(get_timed, row->event->class != IO_NONE && row->event->flags & EVENT_TIMED,
		cell_uint, row->event->end - row->event->start)
RELATION_GETTER(get_layer, true, relation_literal, row->resolved->layer)
RELATION_GETTER(get_class, true, relation_literal, relation_class(row->event->class))
RELATION_GETTER(get_method, row->event->method < METHOD_COUNT, relation_literal,
		method_names[row->event->method])
RELATION_GETTER(get_read, row->event->class == IO_READ && row->event->flags & EVENT_COUNTED,
		cell_uint, row->event->bytes)

/* Whether a read is part of a transfer that also writes to another file. */
static bool writes_too(const struct relation_row *row)
{
	const struct event *event = row->event;

	return event->class == IO_READ && row->resolved->kind != TRACE_SYSCALL &&
	       event->flags & (EVENT_CALL | EVENT_ASYNC) &&
	       row->job->operations[event->operation].family == TRACE_TRANSFER &&
	       row->resolved->values[SYSCALL_PATH_FILE2];
}

RELATION_GETTER(get_written,
		(row->event->class == IO_WRITE || writes_too(row)) &&
			row->event->flags & EVENT_COUNTED,
		cell_uint, row->event->bytes)

static void get_error(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	uint64_t result = row->resolved->values[SYSCALL_RESULT];

	if (result_is_error(result))
		relation_literal(cell, strerrorname_np(-(int)result));
}

RELATION_GETTER(get_major, true, cell_bool, row->resolved->values[FAULT_FLAGS] & TRACE_FAULT_MAJOR)

#define SPAN_COLUMN                                                                                \
	{                                                                                          \
		"span", RELATION_UINT, UNIT_NONE, "innermost enclosing span",                      \
			.refers = "spans", .get = get_span, .needs = JOB_SPAN                      \
	}
#define CLASS_COLUMNS                                                                              \
	{ "class", RELATION_TEXT, UNIT_NONE,                                                       \
	  "class: read, write, metadata, sync, mmap_read or mmap_write", .get = get_class },       \
	{                                                                                          \
		"timed_ns", RELATION_UINT, UNIT_NS,                                                \
			"duration, if it counts as time of its class; else null", .get = get_timed \
	}

_Static_assert((int)VFS_RESULT == (int)SYSCALL_RESULT && (int)VFS_FLAGS == (int)SYSCALL_FLAGS,
	       "VFS rows share their first columns with calls");

static const struct relation_column calls[] = {
	RELATION_PROCESS,
	CLASS_COLUMNS,
	{ "layer", RELATION_TEXT, UNIT_NONE, "syscall, async or vfs; determines the flags",
	  .get = get_layer },
	{ "method", RELATION_TEXT, UNIT_NONE, "access method, as in the report",
	  .get = get_method },
	{ "read_bytes", RELATION_UINT, UNIT_BYTES, "read from a file; null if it does not read",
	  .get = get_read },
	{ "written_bytes", RELATION_UINT, UNIT_BYTES,
	  "written to a file; null if it does not write", .get = get_written },
	{ "error", RELATION_TEXT, UNIT_NONE, "name of its error, if it failed", .get = get_error },
	SPAN_COLUMN,
};
const struct relation_columns relation_calls = RELATION_COLUMNS(calls);

static const struct relation_column faults[] = {
	RELATION_PROCESS,
	CLASS_COLUMNS,
	{ "major", RELATION_BOOL, UNIT_NONE, "waited for storage, as counted by the kernel",
	  .get = get_major },
	SPAN_COLUMN,
};
const struct relation_columns relation_faults = RELATION_COLUMNS(faults);

RELATION_GETTER(get_host, true, relation_literal,
		row->job->traces[row->event->block->trace].header->host)

/* Of requests: those of the kernel have no process, whose row would name the host. */
static const struct relation_column device[] = {
	RELATION_PROCESS,
	{ "host", RELATION_TEXT, UNIT_NONE, "host of the device", .get = get_host },
};
const struct relation_columns relation_device = RELATION_COLUMNS(device);

static const struct relation_column process[] = { RELATION_PROCESS };
const struct relation_columns relation_process = RELATION_COLUMNS(process);

static const struct relation_column process_span[] = { RELATION_PROCESS, SPAN_COLUMN };
const struct relation_columns relation_process_span = RELATION_COLUMNS(process_span);
