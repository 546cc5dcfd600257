/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files that traces name. Knows nothing of what was done to them.
 */
#include "analysis/file_table.h"
#include "grow.h"

#include <errno.h>
#include <stdlib.h>

#define COLUMNS                                                                                    \
	(1ull << FILE_TIME | 1ull << FILE_ID | 1ull << FILE_DEV | 1ull << FILE_INO |               \
	 1ull << FILE_GENERATION | 1ull << FILE_MODE | 1ull << FILE_SIZE | 1ull << FILE_FLAGS |    \
	 1ull << FILE_PATH | 1ull << FILE_READAHEAD | 1ull << FILE_FILESYSTEM)

static int add_file(struct file_table *table, const struct file *file)
{
	if (!GROW(table->files, table->room, table->count + 1))
		return -ENOMEM;
	table->files[table->count++] = *file;
	return 0;
}

int file_table_init(struct file_table *table, struct trace_reader *const *traces,
		    size_t trace_count)
{
	static const struct file unknown;

	*table = (struct file_table) { .traces = traces, .trace_count = trace_count };
	map_init(&table->identities, 4, 1);
	table->ids = calloc(trace_count, sizeof(*table->ids));
	if (!table->ids)
		return -ENOMEM;
	for (size_t i = 0; i < trace_count; i++)
		map_init(&table->ids[i], 1, 2);
	return add_file(table, &unknown);
}

void file_table_free(struct file_table *table)
{
	for (size_t i = 0; table->ids && i < table->trace_count; i++)
		map_free(&table->ids[i]);
	map_free(&table->identities);
	free(table->ids);
	free(table->files);
	*table = (struct file_table) { 0 };
}

/* A later row of the same file says where it is now (rename) and how large. */
static void update(struct file *file, const struct file *row)
{
	uint32_t deleted = (file->flags | row->flags) & TRACE_FILE_DELETED;

	if (row->time >= file->time) {
		const struct file named = row->path ? *row : *file;

		*file = *row;
		file->path = named.path;
		file->filesystem = named.filesystem;
		file->trace = named.trace;
	}
	file->flags |= deleted;
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
	return value < most ? value : most;
}

static int load_row(struct file_table *table, uint64_t id, const struct file *row)
{
	const uint64_t identity[] = { row->host, row->dev, row->ino, row->generation };
	uint64_t *number, *stands_for;
	bool added;
	int status;

	if (table->most && table->count >= table->most && !map_find(&table->identities, identity)) {
		table->beyond++;
		return 0;
	}
	number = map_add(&table->identities, identity, &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		*number = table->count;
		status = add_file(table, row);
		if (status)
			return status;
	} else {
		update(&table->files[*number], row);
	}
	stands_for = map_add(&table->ids[row->trace], &id, &added);
	if (!stands_for)
		return -ENOMEM;
	if (added || row->time >= stands_for[1]) {
		stands_for[0] = *number;
		stands_for[1] = row->time;
	}
	return 0;
}

static int load_block(struct file_table *table, uint32_t trace, uint32_t host, size_t block,
		      struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	uint32_t rows = trace_reader_block_info(reader, block)->rows;
	const uint64_t *columns[FILE_COLUMNS];
	int status = trace_reader_read(reader, block, COLUMNS, error);

	if (status == -EINVAL) { /* damaged: the others still tell */
		trace_reader_pass_over(reader, block, error);
		return 0;
	}
	if (status)
		return status;
	for (unsigned int i = 0; i < FILE_COLUMNS; i++)
		columns[i] = trace_reader_column(reader, i);
	for (uint32_t i = 0; i < rows && !status; i++) {
		const struct file row = {
			.dev = columns[FILE_DEV][i],
			.ino = columns[FILE_INO][i],
			.generation = columns[FILE_GENERATION][i],
			.host = host,
			.trace = trace,
			.path = columns[FILE_PATH][i],
			.filesystem = at_most(columns[FILE_FILESYSTEM][i], UINT32_MAX),
			.readahead_bytes = at_most(columns[FILE_READAHEAD][i], UINT32_MAX),
			.time = columns[FILE_TIME][i],
			.size_bytes = columns[FILE_SIZE][i],
			.mode = columns[FILE_MODE][i],
			.flags = columns[FILE_FLAGS][i],
		};

		if (columns[FILE_ID][i])
			status = load_row(table, columns[FILE_ID][i], &row);
	}
	return status;
}

int file_table_load(struct file_table *table, uint32_t trace, uint32_t host,
		    struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	size_t blocks = trace_reader_block_count(reader);
	int status = 0;

	for (size_t i = 0; i < blocks && !status; i++)
		if (trace_reader_block_info(reader, i)->kind == TRACE_FILE)
			status = load_block(table, trace, host, i, error);
	return status;
}

uint32_t file_table_find(const struct file_table *table, uint32_t trace, uint64_t id)
{
	const uint64_t *stands_for;

	if (!id)
		return FILE_NONE;
	stands_for = map_find(&table->ids[trace], &id);
	return stands_for ? stands_for[0] : FILE_UNKNOWN;
}

static const struct trace_string none = { .bytes = "", .length = 0 };

struct trace_string file_table_path(const struct file_table *table, uint32_t file)
{
	if (file >= table->count || file == FILE_UNKNOWN)
		return none;
	return trace_reader_string(table->traces[table->files[file].trace],
				   table->files[file].path);
}

struct trace_string file_table_filesystem(const struct file_table *table, uint32_t file)
{
	if (file >= table->count || file == FILE_UNKNOWN)
		return none;
	return trace_reader_string(table->traces[table->files[file].trace],
				   table->files[file].filesystem);
}
