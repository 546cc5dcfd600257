/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds table columns from the columns of the trace format. */
#include "output/tables/relation.h"

#include <stdio.h>

#include "base/number.h"
#include "output/base/args.h"

/* --- cells --- */

void relation_text(struct cell *cell, struct trace_string text)
{
	if (!text.length)
		return;
	cell->type = CELL_TEXT;
	cell->text = text.bytes;
	cell->length = text.length;
}

void relation_literal(struct cell *cell, const char *text)
{
	if (text)
		relation_text(cell, (struct trace_string) { text, strlen(text) });
}

const char *relation_class(unsigned int class)
{
	static const char *const names[IO_CLASS_COUNT + 1] = {
		[IO_READ] = "read", [IO_WRITE] = "write",	  [IO_METADATA] = "metadata",
		[IO_SYNC] = "sync", [IO_MMAP_READ] = "mmap_read", [IO_MMAP_WRITE] = "mmap_write",
	};

	return class <= IO_CLASS_COUNT ? names[class] : NULL;
}

void relation_get_process(struct relation_row *row, const struct relation_column *column,
			  struct cell *cell)
{
	if (row->process != PROCESS_UNKNOWN)
		cell_uint(cell, row->process);
}

/* --- getters of a trace's columns --- */

/* Kinds that share a table may lack the last columns of its schema. */
static bool has(const struct relation_row *row, const struct relation_column *column)
{
	return column->number < trace_schemas[row->resolved->kind].column_count;
}

RELATION_GETTER(get_time, true, cell_uint, number_sub(row->event->start, row->base_ns))
RELATION_GETTER(get_uint, has(row, column), cell_uint, row->resolved->values[column->number])
RELATION_GETTER(get_int, has(row, column), cell_int, row->resolved->values[column->number])
RELATION_GETTER(get_offset, has(row, column) && (int64_t)row->resolved->values[column->number] >= 0,
		cell_uint, row->resolved->values[column->number])

/* 0 means unknown. */
RELATION_GETTER(get_known, row->resolved->values[column->number], cell_uint,
		row->resolved->values[column->number])
RELATION_GETTER(get_op, true, relation_literal, row->resolved->name)

/* The column holds the operation's number plus 1. */
static void get_call(struct relation_row *row, const struct relation_column *column,
		     struct cell *cell)
{
	const struct trace_header *header = row->job->traces[row->event->block->trace].header;
	uint64_t value = row->resolved->values[column->number];

	if (value && value <= header->operation_count)
		relation_literal(cell, header->operations[value - 1].name);
}

static void get_file(struct relation_row *row, const struct relation_column *column,
		     struct cell *cell)
{
	uint32_t file;

	if (!has(row, column))
		return;
	file = file_table_find(&row->job->files, row->event->block->trace,
			       row->resolved->values[column->number]);
	if (file != FILE_NONE)
		cell_uint(cell, file);
}

static void get_stack(struct relation_row *row, const struct relation_column *column,
		      struct cell *cell)
{
	uint32_t stack = stack_tree_find(&row->stacks, row->event->block->trace,
					 row->resolved->values[column->number]);

	if (stack != STACK_NONE)
		cell_uint(cell, stack);
}

RELATION_GETTER(get_string, has(row, column), relation_text,
		trace_reader_string(row->resolved->reader, row->resolved->values[column->number]))

/* The path given in the row itself, made absolute; the file's own path is in its row in "files". */
RELATION_GETTER(get_path, has(row, column) && row->resolved->values[column->number], relation_text,
		row->resolved->path)
RELATION_GETTER(get_path2, has(row, column) && row->resolved->values[column->number], relation_text,
		row->resolved->path2)

static void get_device(struct relation_row *row, const struct relation_column *column,
		       struct cell *cell)
{
	char *text = row->devices[column->number == REQUEST_PART];

	relation_literal(cell, units_device(text, row->resolved->values[column->number]));
}

static void get_args(struct relation_row *row, const struct relation_column *column,
		     struct cell *cell)
{
	struct trace_string args =
		trace_reader_args(row->resolved->reader, row->resolved->values[column->number]);

	relation_text(cell, args_json(row->made, args));
}

/* --- columns --- */

void relation_add(struct relation *relation, const struct relation_column *column)
{
	if (relation->column_count < RELATION_COLUMNS_MAX)
		relation->columns[relation->column_count++] = *column;
}

void relation_add_columns(struct relation *relation, const struct relation_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		relation_add(relation, &columns->list[i]);
}

/* Columns with a getter or meaning of their own, in any kind. */
static const struct {
	const char *name;
	enum relation_type type;
	relation_getter *get;
	const char *refers;
	unsigned int needs;
	const char *meaning; /* NULL: as in the trace */
} special[] = {
	{ "op", RELATION_TEXT, get_op, NULL, 0, "operation" },
	{ "call", RELATION_TEXT, get_call, NULL, 0, "operation that the task was in, if known" },
	{ "object", RELATION_UINT, get_known, NULL, 0,
	  "what it waited for: address of the futex, inode number of the pipe or socket, device "
	  "number" },
	{ "waker_pid", RELATION_UINT, get_known, NULL, 0, "process that ended the wait" },
	{ "waker_tid", RELATION_UINT, get_known, NULL, 0, "its thread" },
	{ "owner_pid", RELATION_UINT, get_known, NULL, 0,
	  "process that had the lock when the wait began: of priority-inheriting futexes" },
	{ "owner_tid", RELATION_UINT, get_known, NULL, 0, "its thread" },
	{ "offset", RELATION_UINT, get_offset, NULL, 0, "offset in the file" },
	{ "queue", RELATION_UINT, get_offset, NULL, 0,
	  "part of the duration before the driver or server received it; null: unknown" },
	{ "file", RELATION_UINT, get_file, "files", 0, "file" },
	{ "file2", RELATION_UINT, get_file, "files", 0,
	  "file written by sendfile, splice and the like" },
	{ "dir", RELATION_UINT, get_file, "files", 0, "directory that path is relative to" },
	{ "dir2", RELATION_UINT, get_file, "files", 0, "directory that path2 is relative to" },
	{ "stack", RELATION_UINT, get_stack, "stacks", 0, "stack; null: unknown, flags say why" },
	{ "path", RELATION_TEXT, get_path, NULL, 0,
	  "path given to the call, made absolute; its file's own path is files.path" },
	{ "path2", RELATION_TEXT, get_path2, NULL, 0, "second path of rename or link" },
	{ "instance", RELATION_UINT, get_known, NULL, 0,
	  "tells apart devices that used the same number one after another, if known" },
	{ "dev", RELATION_TEXT, get_device, NULL, 0,
	  "whole device, or st_dev of a mount, major:minor" },
	{ "part", RELATION_TEXT, get_device, NULL, 0, "partition, or the whole device" },
	{ "args", RELATION_JSON, get_args, NULL, 0, "arguments, as an object" },
	{ "fetched_bytes", RELATION_UINT, get_uint, NULL, JOB_PAGECACHE, NULL },
	{ "fault_fetched_bytes", RELATION_UINT, get_uint, NULL, JOB_PAGECACHE, NULL },
	{ "created_bytes", RELATION_UINT, get_uint, NULL, JOB_PAGECACHE, NULL },
	{ "dirtied_bytes", RELATION_UINT, get_uint, NULL, JOB_DIRTIED, NULL },
};

static void make_column(struct relation_column *made, const struct trace_column *column,
			unsigned int number)
{
	static const struct {
		enum relation_type type;
		relation_getter *get;
	} types[] = {
		[TRACE_TIME] = { RELATION_UINT, get_time },
		[TRACE_UINT] = { RELATION_UINT, get_uint },
		[TRACE_INT] = { RELATION_INT, get_int },
		[TRACE_STRING] = { RELATION_TEXT, get_string },
	};
	static const enum table_unit unit_of[] = { [TRACE_UNIT_NONE] = UNIT_NONE,
						   [TRACE_UNIT_NS] = UNIT_NS,
						   [TRACE_UNIT_BYTES] = UNIT_BYTES,
						   [TRACE_UNIT_COUNT] = UNIT_COUNT };
	bool time = column->type == TRACE_TIME;

	*made = (struct relation_column) {
		.type = types[column->type].type,
		.get = types[column->type].get,
		.unit = unit_of[column->unit],
		.meaning = time ? "start time, since the start of the run" : column->meaning,
		.number = number,
	};
	snprintf(made->name, sizeof(made->name), "%s%s", time ? "time" : column->name,
		 column->unit == TRACE_UNIT_NS ? "_ns" : "");
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (strcmp(special[i].name, column->name) ||
		    (special[i].get == get_call && column->type == TRACE_STRING))
			continue; /* a wait's call is a name: it need not be an operation */
		made->type = special[i].type;
		made->get = special[i].get;
		made->refers = special[i].refers;
		made->needs = special[i].needs;
		if (special[i].meaning)
			made->meaning = special[i].meaning;
	}
}

void relation_add_schema(struct relation *relation, const struct trace_schema *schema)
{
	for (unsigned int i = 0; i < schema->column_count; i++) {
		struct relation_column column;

		make_column(&column, &schema->columns[i], i);
		relation_add(relation, &column);
	}
}
