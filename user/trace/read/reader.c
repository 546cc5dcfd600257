/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens a trace and gives access to its contents. */
#include "trace/read/reader_state.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/read/error.h"

/* Strings may take more memory than their compressed file, but not without limit: a forged file of
 * a few kilobytes could claim gigabytes of empty strings. */
#define TEXT_BYTES_MAX (64u << 20)
#define TEXT_BYTES_PER_BYTE 256

/* --- damage: unreadable blocks are skipped and counted --- */

uint32_t trace_reader_pass_over(struct trace_reader *reader, size_t number,
				const struct trace_error *error)
{
	struct catalog_position *position = &reader->catalog.positions[number];

	if (position->passed_over)
		return 0;
	position->passed_over = true;
	reader_note_damage(reader, error);
	reader->damaged_rows[position->info.kind] += position->info.rows;
	return position->info.rows;
}

uint64_t trace_reader_damaged_rows(const struct trace_reader *reader, enum trace_kind kind)
{
	return reader->damaged_rows[kind];
}

const char *trace_reader_damage(struct trace_reader *reader)
{
	unsigned long long blocks = reader->damaged_blocks, rows = 0;
	unsigned long long names = reader->catalog.missing_strings;
	unsigned long long cut = reader->catalog.texts.cut_count;

	if (!blocks && cut)
		trace_fail(&reader->damage_text, 0,
			   "the trace has %llu name%s longer than %u bytes, which %s cut", cut,
			   cut == 1 ? "" : "s", TRACE_STRING_BYTES_MAX, cut == 1 ? "is" : "are");
	if (!blocks)
		return cut ? reader->damage_text.text : NULL;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		rows += reader->damaged_rows[kind];
	if (rows && names)
		trace_fail(&reader->damage_text, 0,
			   "the trace %s; %llu rows and %llu names are skipped",
			   reader->damage.text, rows, names);
	else if (rows || names)
		trace_fail(&reader->damage_text, 0, "the trace %s; %llu %s%s skipped",
			   reader->damage.text, rows ? rows : names, rows ? "row" : "name",
			   rows + names == 1 ? " is" : "s are");
	else
		trace_fail(&reader->damage_text, 0,
			   "the trace %s; %llu block%s skipped, with an unknown number of rows",
			   reader->damage.text, blocks, blocks == 1 ? " is" : "s are");
	return reader->damage_text.text;
}

bool trace_reader_header_is_copy(const struct trace_reader *reader)
{
	return reader->header_is_copy;
}

/* --- opening --- */

/* Opens the trace in reader->input. */
static int open_reader(struct trace_reader **result, struct trace_reader *reader,
		       struct trace_error *error)
{
	uint64_t size = reader->input.size, start;
	int err;

	reader->catalog.texts.bytes_max = TEXT_BYTES_MAX;
	if (size < SIZE_MAX / 2 / TEXT_BYTES_PER_BYTE)
		reader->catalog.texts.bytes_max += size * TEXT_BYTES_PER_BYTE;
	reader->catalog.args = args_blocks_new(&reader->input, &reader->buffers);
	err = reader->catalog.args ? reader_find_header(reader, &start, error)
				   : trace_no_memory(error);
	if (!err)
		err = reader_find_blocks(reader, start, error);
	if (err) {
		trace_reader_close(reader);
		return err;
	}
	texts_sort(&reader->catalog.texts);
	args_blocks_sort(reader->catalog.args);
	trace_reader_release(reader);
	*result = reader;
	return 0;
}

int trace_reader_open(struct trace_reader **result, const char *path, struct trace_error *error)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*result = NULL;
	if (!reader)
		return trace_no_memory(error);
	err = input_open(&reader->input, path, error);
	if (!err)
		return open_reader(result, reader, error);
	trace_reader_close(reader);
	return err;
}

int trace_reader_open_memory(struct trace_reader **result, const void *bytes, size_t length,
			     struct trace_error *error)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*result = NULL;
	if (!reader)
		return trace_no_memory(error);
	err = input_open_memory(&reader->input, bytes, length, error);
	if (!err)
		return open_reader(result, reader, error);
	trace_reader_close(reader);
	return err;
}

void trace_reader_release(struct trace_reader *reader)
{
	for (size_t c = 0; c < TRACE_COLUMNS_MAX; c++) {
		free(reader->columns[c]);
		reader->columns[c] = NULL;
		reader->column_rows[c] = 0;
	}
	reader->loaded = 0;
	input_release(&reader->buffers);
}

void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	trace_reader_release(reader);
	catalog_free(&reader->catalog);
	arena_free(&reader->arena);
	input_close(&reader->input);
	free(reader);
}

/* --- contents --- */

const struct trace_header *trace_reader_header(const struct trace_reader *reader)
{
	return &reader->header;
}

const struct trace_totals *trace_reader_totals(const struct trace_reader *reader)
{
	return trace_reader_incomplete(reader) ? NULL : &reader->totals;
}

const char *trace_reader_incomplete(const struct trace_reader *reader)
{
	return reader->incomplete.text[0] ? reader->incomplete.text : NULL;
}

uint64_t trace_reader_flushed_ns(const struct trace_reader *reader)
{
	return reader->flushed_ns;
}

size_t trace_reader_block_count(const struct trace_reader *reader)
{
	return reader->catalog.count;
}

const struct trace_block_info *trace_reader_block_info(const struct trace_reader *reader,
						       size_t number)
{
	return &reader->catalog.positions[number].info;
}

static int open_rows(const struct trace_reader *reader, struct trace_buffers *buffers,
		     const struct catalog_position *position, struct block *block,
		     struct trace_error *error)
{
	int err = catalog_open_block(&reader->input, buffers, position->info.offset,
				     position->length, BLOCK_ROWS, block, error);

	if (err)
		return err == -ENODATA ? -EINVAL : err;
	if (block->kind != position->info.kind || block->rows != position->info.rows)
		return trace_damaged(error, position->info.offset,
				     "the block does not match the index");
	return 0;
}

static int say_damage(const struct catalog_position *position, int err, struct trace_error *error)
{
	if (err == -ENOMEM)
		return trace_no_memory(error);
	return err ? trace_damaged(error, position->info.offset, "malformed block") : 0;
}

static uint64_t known_columns(const struct catalog_position *position, uint64_t columns)
{
	return columns & ((1ull << trace_schemas[position->info.kind].column_count) - 1);
}

int trace_reader_read(struct trace_reader *reader, size_t number, uint64_t columns,
		      struct trace_error *error)
{
	const struct catalog_position *position = &reader->catalog.positions[number];
	struct block block;
	int err = open_rows(reader, &reader->buffers, position, &block, error);

	reader->loaded = 0;
	return err ? err
		   : say_damage(position,
				reader_load_rows(reader, &block, known_columns(position, columns)),
				error);
}

int trace_buffers_new(struct trace_buffers **buffers)
{
	*buffers = calloc(1, sizeof(**buffers));
	return *buffers ? 0 : -ENOMEM;
}

void trace_buffers_free(struct trace_buffers *buffers)
{
	if (!buffers)
		return;
	input_release(buffers);
	free(buffers);
}

int trace_reader_view(const struct trace_reader *reader, struct trace_buffers *buffers,
		      size_t number, uint64_t columns, struct trace_view *view,
		      struct trace_error *error)
{
	const struct catalog_position *position = &reader->catalog.positions[number];
	struct block block;
	int err = open_rows(reader, buffers, position, &block, error);

	if (err)
		return err;
	view->rows = block.rows;
	view->t0 = block.t0;
	return say_damage(
		position,
		reader_view_rows(reader, &block, known_columns(position, columns), view->columns),
		error);
}

void trace_view_times(const struct trace_view *view, uint64_t *times)
{
	column_widen(&view->columns[TRACE_COL_TIME], times, view->rows);
	reader_sum_up(times, view->rows, view->t0);
}

const uint64_t *trace_reader_column(const struct trace_reader *reader, unsigned int column)
{
	return column < TRACE_COLUMNS_MAX && reader->loaded & 1ull << column
		       ? reader->columns[column]
		       : NULL;
}

struct trace_string trace_reader_string(const struct trace_reader *reader, uint64_t id)
{
	return texts_find(&reader->catalog.texts, id);
}

struct trace_string trace_reader_args(const struct trace_reader *reader, uint64_t id)
{
	struct trace_string text = texts_find(&reader->catalog.texts, id);

	return text.length ? text : args_blocks_find(reader->catalog.args, id);
}

const char *trace_reader_string_error(const struct trace_reader *reader)
{
	const struct args_blocks *args = reader->catalog.args;

	return args->error.text[0] ? args->error.text : NULL;
}
