/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Resolves the numbers in rows to names. */
#include "analysis/events/resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/path.h"

#define NO_COLUMN (-1)

/* Columns of a kind that give a path: a string, relative to a directory, or a file. */
struct path_columns {
	int file, dir, path;
};

struct row_resolver {
	const struct job *job;
	struct path_columns first[TRACE_KIND_COUNT], second[TRACE_KIND_COUNT];
	int op[TRACE_KIND_COUNT];
	uint64_t values[TRACE_COLUMNS_MAX];
	char joined[2][PATH_JOIN_BYTES];
};

static int find_column(enum trace_kind kind, const char *name)
{
	for (unsigned int i = 0; i < trace_schemas[kind].column_count; i++)
		if (!strcmp(trace_schemas[kind].columns[i].name, name))
			return i;
	return NO_COLUMN;
}

int row_resolver_open(struct row_resolver **out, const struct job *job)
{
	struct row_resolver *resolver = calloc(1, sizeof(*resolver));

	*out = resolver;
	if (!resolver)
		return -ENOMEM;
	resolver->job = job;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		resolver->op[kind] = find_column(kind, "op");
		resolver->first[kind] =
			(struct path_columns) { find_column(kind, "file"), find_column(kind, "dir"),
						find_column(kind, "path") };
		resolver->second[kind] = (struct path_columns) { find_column(kind, "file2"),
								 find_column(kind, "dir2"),
								 find_column(kind, "path2") };
	}
	return 0;
}

void row_resolver_close(struct row_resolver *resolver)
{
	free(resolver);
}

static struct trace_string resolve_path(const struct job *job, uint32_t trace,
					const struct path_columns *columns, const uint64_t *values,
					char joined[PATH_JOIN_BYTES])
{
	uint64_t dir = columns->dir == NO_COLUMN ? 0 : values[columns->dir];
	uint64_t path = columns->path == NO_COLUMN ? 0 : values[columns->path];

	if (dir)
		return (struct trace_string) { joined,
					       path_join(&job->files, trace, dir, path, joined) };
	if (path || columns->file == NO_COLUMN)
		return trace_reader_string(job->traces[trace].reader, path);
	return file_table_name(&job->files,
			       file_table_find(&job->files, trace, values[columns->file]));
}

void row_resolve(struct row_resolver *resolver, const struct event *event, struct resolved_row *row)
{
	const struct job *job = resolver->job;
	enum trace_kind kind = event_kind(event);
	uint32_t trace = event->block->trace;
	const struct trace_header *header = job->traces[trace].header;
	uint64_t *values = resolver->values;
	int op = resolver->op[kind];

	for (unsigned int i = 0; i < trace_schemas[kind].column_count; i++)
		values[i] = event_value(event, i);
	row->kind = kind;
	row->reader = job->traces[trace].reader;
	row->values = values;
	row->layer = trace_schemas[kind].layer;
	row->name = trace_schemas[kind].kind;
	if (op != NO_COLUMN && values[op] < header->operation_count) {
		row->name = header->operations[values[op]].name;
		if (kind == TRACE_REMOTE)
			row->layer = header->operations[values[op]].layer;
	}
	row->path = resolve_path(job, trace, &resolver->first[kind], values, resolver->joined[0]);
	row->program = (struct trace_string) { NULL, 0 };
	row->path2 = resolve_path(job, trace, &resolver->second[kind], values, resolver->joined[1]);
}
