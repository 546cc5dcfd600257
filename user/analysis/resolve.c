/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows with their names. Knows nothing of how they will be printed.
 */
#include "analysis/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path.h"

#define NO_COLUMN (-1)

/* Where a kind keeps what names a path: its own text, relative to a directory, or a file. */
struct path_columns {
	int file, dir, path;
};

struct row_resolver {
	struct trace_reader *reader;
	const struct file_table *files;
	uint32_t trace; /* its number in `files` */
	struct file_table own;
	struct path_columns first[TRACE_KIND_COUNT], second[TRACE_KIND_COUNT];
	int op[TRACE_KIND_COUNT];
	char joined[2][PATH_JOIN_BYTES];
};

static int find_column(enum trace_kind kind, const char *name)
{
	for (unsigned int i = 0; i < trace_schemas[kind].column_count; i++)
		if (!strcmp(trace_schemas[kind].columns[i].name, name))
			return i;
	return NO_COLUMN;
}

/* Without `files` the resolver's own. */
static struct row_resolver *new_resolver(struct trace_reader *reader,
					 const struct file_table *files, uint32_t trace)
{
	struct row_resolver *resolver = calloc(1, sizeof(*resolver));

	if (!resolver)
		return NULL;
	resolver->files = files ? files : &resolver->own;
	resolver->trace = trace;
	resolver->reader = reader;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		resolver->op[kind] = find_column(kind, "op");
		resolver->first[kind] =
			(struct path_columns) { find_column(kind, "file"), find_column(kind, "dir"),
						find_column(kind, "path") };
		resolver->second[kind] = (struct path_columns) { find_column(kind, "file2"),
								 find_column(kind, "dir2"),
								 find_column(kind, "path2") };
	}
	return resolver;
}

int row_resolver_open_shared(struct row_resolver **out, const struct file_table *files,
			     uint32_t trace)
{
	*out = new_resolver(files->traces[trace], files, trace);
	return *out ? 0 : -ENOMEM;
}

int row_resolver_open(struct row_resolver **out, struct trace_reader *reader,
		      struct trace_error *error)
{
	struct row_resolver *resolver = new_resolver(reader, NULL, 0);
	int status;

	*out = NULL;
	if (!resolver) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		return -ENOMEM;
	}
	status = file_table_init(&resolver->own, &resolver->reader, 1);
	if (status)
		snprintf(error->text, sizeof(error->text), "out of memory");
	else
		status = file_table_load(&resolver->own, 0, 0, error);
	if (status)
		row_resolver_close(resolver);
	else
		*out = resolver;
	return status;
}

void row_resolver_close(struct row_resolver *resolver)
{
	if (!resolver)
		return;
	file_table_free(&resolver->own);
	free(resolver);
}

static struct trace_string resolve_path(struct row_resolver *resolver,
					const struct path_columns *columns, const uint64_t *values,
					char joined[PATH_JOIN_BYTES])
{
	const struct file_table *files = resolver->files;
	uint64_t dir = columns->dir == NO_COLUMN ? 0 : values[columns->dir];
	uint64_t path = columns->path == NO_COLUMN ? 0 : values[columns->path];

	if (dir)
		return (struct trace_string) { joined, path_join(files, resolver->trace, dir, path,
								 joined) };
	if (path || columns->file == NO_COLUMN)
		return trace_reader_string(resolver->reader, path);
	return file_table_path(files,
			       file_table_find(files, resolver->trace, values[columns->file]));
}

void row_resolve(struct row_resolver *resolver, enum trace_kind kind, const uint64_t *values,
		 struct resolved_row *row)
{
	const struct trace_header *header = trace_reader_header(resolver->reader);
	int op = resolver->op[kind];

	row->kind = kind;
	row->values = values;
	row->name = trace_schemas[kind].kind;
	if (op != NO_COLUMN && values[op] < header->operation_count)
		row->name = header->operations[values[op]].name;
	row->path = resolve_path(resolver, &resolver->first[kind], values, resolver->joined[0]);
	row->path2 = resolve_path(resolver, &resolver->second[kind], values, resolver->joined[1]);
}
