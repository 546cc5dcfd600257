/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the blocks of a trace and gives their columns. Knows nothing of what rows mean.
 *
 * Two ways lead to the list of blocks: the index, found from the file's end, or, when there is no
 * end or it is not to be trusted, a walk over all frames. The index is only believed as to where
 * blocks may be: each is checked when it is read.
 */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "error.h"
#include "input.h"
#include "meta.h"
#include "texts.h"

#define COLUMNS_MAX 64
#define INDEX_KINDS_MAX 1024
/* Strings may take more memory than their compressed file, but not without limit: a few kilobytes
 * of a forged file could claim gigabytes of empty strings. */
#define TEXT_BYTES_MAX (64u << 20)
#define TEXT_BYTES_PER_BYTE 256

/* A block and how many bytes to read for it. */
struct place {
	struct trace_block_info info;
	uint64_t length;
};

struct trace_reader {
	struct input input;
	struct pool pool; /* of header and totals */
	struct trace_header header;
	struct trace_totals totals;
	struct texts texts;
	struct place *places;
	size_t place_count, place_capacity;
	struct trace_error incomplete; /* empty when complete */
	uint64_t *columns[COLUMNS_MAX];
	size_t column_rows[COLUMNS_MAX]; /* that fit */
	uint64_t loaded;		 /* mask of columns of the block read last */
};

#define NO_MEMORY "needs more memory than there is"

static int damaged(struct trace_error *error, uint64_t offset, const char *what)
{
	return trace_fail(error, -EINVAL, "is damaged at byte %llu: %s", (unsigned long long)offset,
			  what);
}

/* --- rows --- */

static int load_column(struct trace_reader *reader, const struct column_view *view, size_t column,
		       size_t rows)
{
	if (reader->column_rows[column] < rows) {
		free(reader->columns[column]);
		reader->columns[column] = malloc(rows * sizeof(uint64_t));
		reader->column_rows[column] = reader->columns[column] ? rows : 0;
		if (!reader->columns[column])
			return -ENOMEM;
	}
	if (rows)
		column_widen(view, reader->columns[column], rows);
	return 0;
}

static bool operations_known(const struct trace_reader *reader, enum trace_kind kind, size_t rows)
{
	const uint64_t *operations = reader->columns[SYSCALL_OP];
	uint64_t highest = 0;

	if (kind != TRACE_SYSCALL && kind != TRACE_SYSCALL_PATH)
		return true;
	for (size_t i = 0; i < rows; i++)
		highest = operations[i] > highest ? operations[i] : highest;
	return !rows || highest < reader->header.operation_count;
}

/* Loads the columns of the mask. 0, -EINVAL, -ENOMEM. */
static int load_rows(struct trace_reader *reader, const struct block *block, uint64_t mask)
{
	const struct trace_schema *schema = &trace_schemas[block->kind];
	const uint64_t time = 1ull << TRACE_COL_TIME, operation = 1ull << SYSCALL_OP;
	struct column_view views[COLUMNS_MAX];
	int err = block_columns(block, schema->columns, schema->column_count, mask, views);

	reader->loaded = 0;
	for (size_t c = 0; !err && c < schema->column_count; c++)
		if (mask & 1ull << c)
			err = load_column(reader, &views[c], c, block->rows);
	if (err)
		return err;
	if (mask & time) {
		uint64_t *times = reader->columns[TRACE_COL_TIME], last = block->t0;

		if (!views[TRACE_COL_TIME].width)
			return -EINVAL;
		for (size_t i = 0; i < block->rows; i++)
			times[i] = last += times[i];
	}
	if (mask & operation && !operations_known(reader, block->kind, block->rows))
		return -EINVAL;
	reader->loaded = mask;
	return 0;
}

static int add_place(struct trace_reader *reader, const struct place *place)
{
	if (reader->place_count == reader->place_capacity) {
		size_t capacity = reader->place_capacity ? 2 * reader->place_capacity : 256;
		struct place *places = realloc(reader->places, capacity * sizeof(*places));

		if (!places)
			return -ENOMEM;
		reader->places = places;
		reader->place_capacity = capacity;
	}
	reader->places[reader->place_count++] = *place;
	return 0;
}

/* --- the way over all frames --- */

/* What an index would have said of a block of rows; checks all its columns. */
static int survey_rows(struct trace_reader *reader, const struct block *block, struct place *place)
{
	const struct trace_schema *schema = &trace_schemas[block->kind];
	const uint64_t *times, *durations = NULL;
	int err = load_rows(reader, block, (1ull << schema->column_count) - 1);

	if (err)
		return err;
	times = reader->columns[TRACE_COL_TIME];
	if (schema->duration >= 0)
		durations = reader->columns[schema->duration];
	place->info.kind = block->kind;
	place->info.rows = block->rows;
	place->info.start = block->rows ? UINT64_MAX : block->t0;
	place->info.end = block->rows ? 0 : block->t0;
	for (size_t i = 0; i < block->rows; i++) {
		uint64_t end = times[i] + (durations ? durations[i] : 0);

		if (end < times[i])
			end = UINT64_MAX;
		if (times[i] < place->info.start)
			place->info.start = times[i];
		if (end > place->info.end)
			place->info.end = end;
	}
	return 0;
}

/* Takes in one frame. 0, -EINVAL, -ENOMEM. */
static int survey_frame(struct trace_reader *reader, struct mp content, struct place *place)
{
	struct block block;
	int err;

	if (!content.at) /* skippable */
		return 0;
	err = block_parse(&block, content);
	if (!err && block.type == BLOCK_STRINGS)
		return texts_add(&reader->texts, &block);
	if (err || block.type != BLOCK_ROWS)
		return err;
	err = survey_rows(reader, &block, place);
	return err ? err : add_place(reader, place);
}

static void forget_blocks(struct trace_reader *reader)
{
	size_t bytes_max = reader->texts.bytes_max;

	reader->place_count = 0;
	reader->totals = (struct trace_totals) { 0 };
	texts_free(&reader->texts);
	reader->texts.bytes_max = bytes_max;
}

/*
 * Reads frame by frame up to the end or the first that is not whole. Sets `incomplete`: who calls
 * this found no end that could be used. Fails only if memory or the disk does.
 */
static int walk(struct trace_reader *reader, uint64_t offset, const char *why,
		struct trace_error *error)
{
	struct input *input = &reader->input;
	struct trace_error *incomplete = &reader->incomplete, found;
	int err = 0;

	forget_blocks(reader);
	while (offset < input->size) {
		struct place place = { .info = { .offset = offset } };
		struct mp content;
		uint64_t next;

		err = input_frame(input, offset, 0, &content, &next, &found);
		if (!err) {
			place.length = next - offset;
			err = survey_frame(reader, content, &place);
			if (err)
				damaged(&found, offset, "the block is not what it should be");
		}
		if (err)
			break;
		offset = next;
	}
	if (err == -ENOMEM)
		return trace_fail(error, err, NO_MEMORY);
	if (err && err != -EINVAL && err != -ENODATA)
		return trace_fail(error, err, "%s", found.text);
	if (err == -EINVAL)
		trace_fail(incomplete, 0, "the trace %s; what follows was not read", found.text);
	else if (why)
		trace_fail(incomplete, 0, "%s", why);
	else if (err == -ENODATA)
		trace_fail(incomplete, 0,
			   "the trace has no end: the tracer was killed or could not write (cut "
			   "inside the block at byte %llu)",
			   (unsigned long long)offset);
	else
		trace_fail(incomplete, 0,
			   "the trace has no end: the tracer was killed or could not write (the "
			   "last whole block ends at byte %llu)",
			   (unsigned long long)offset);
	return 0;
}

/* --- the way through the index --- */

struct index_kind {
	enum block_type type;
	enum trace_kind kind;
};

/* An index frame, its columns widened. */
struct index {
	size_t rows;
	uint64_t *columns[ENTRY_COLUMNS];
	struct index_kind *kinds;
	uint32_t kind_count;
};

static void free_index(struct index *index)
{
	for (size_t c = 0; c < ENTRY_COLUMNS; c++)
		free(index->columns[c]);
	free(index->kinds);
	memset(index, 0, sizeof(*index));
}

static int load_index_kinds(struct index *index, struct mp object)
{
	struct mp_value name;
	struct mp mp;

	if (mp_find(object, "kinds", &mp) != 1 || mp_array(&mp, &index->kind_count) ||
	    index->kind_count > INDEX_KINDS_MAX)
		return -EINVAL;
	index->kinds = calloc(index->kind_count + 1, sizeof(*index->kinds));
	if (!index->kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->kind_count; i++) {
		if (mp_next(&mp, &name))
			return -EINVAL;
		index->kinds[i].type = block_type_of(&name, &index->kinds[i].kind);
	}
	return 0;
}

static int load_index(struct index *index, const struct block *block)
{
	struct column_view views[ENTRY_COLUMNS];
	int err = block_columns(block, format_entry_columns, ENTRY_COLUMNS,
				(1u << ENTRY_COLUMNS) - 1, views);

	if (!err)
		err = load_index_kinds(index, block->object);
	index->rows = block->rows;
	for (size_t c = 0; !err && c < ENTRY_COLUMNS; c++) {
		if (!views[c].width) /* so that rows are as many as bytes are there */
			return -EINVAL;
		index->columns[c] = calloc(index->rows + 1, sizeof(uint64_t));
		if (!index->columns[c])
			return -ENOMEM;
		column_widen(&views[c], index->columns[c], index->rows);
	}
	return err;
}

static int open_block(struct trace_reader *reader, uint64_t offset, uint64_t length,
		      enum block_type type, struct block *block, struct trace_error *error)
{
	struct mp content;
	uint64_t next;
	int err = input_frame(&reader->input, offset, length, &content, &next, error);

	if (err)
		return err;
	if (!content.at || block_parse(block, content) || block->type != type)
		return damaged(error, offset, "the block is not what its index says");
	return 0;
}

static int load_texts(struct trace_reader *reader, uint64_t offset, uint64_t length,
		      struct trace_error *error)
{
	struct block block;
	int err = open_block(reader, offset, length, BLOCK_STRINGS, &block, error);

	if (err)
		return err;
	err = texts_add(&reader->texts, &block);
	if (err == -ENOMEM)
		return trace_fail(error, err, NO_MEMORY);
	return err ? damaged(error, offset, "the strings are not what they should be") : 0;
}

/* Takes in the blocks of an index frame at `end`, which stand between `start` and it. */
static int use_index(struct trace_reader *reader, const struct index *index, uint64_t start,
		     uint64_t end, struct trace_error *error)
{
	for (size_t i = 0; i < index->rows; i++) {
		uint64_t kind = index->columns[ENTRY_KIND][i],
			 offset = index->columns[ENTRY_OFFSET][i];
		uint64_t next = i + 1 < index->rows ? index->columns[ENTRY_OFFSET][i + 1] : end;
		struct place place = { .info = { .offset = offset } };
		int err = 0;

		if (kind >= index->kind_count || offset < start || next > end || next < offset ||
		    next - offset < INPUT_FRAME_BYTES_MIN)
			return damaged(error, end, "its index is not what it should be");
		place.length = next - offset;
		if (index->kinds[kind].type == BLOCK_STRINGS) {
			err = load_texts(reader, offset, place.length, error);
		} else if (index->kinds[kind].type == BLOCK_ROWS) {
			if (index->columns[ENTRY_ROWS][i] > TRACE_BLOCK_ROWS_MAX)
				return damaged(error, end, "its index is not what it should be");
			place.info.kind = index->kinds[kind].kind;
			place.info.rows = index->columns[ENTRY_ROWS][i];
			place.info.start = index->columns[ENTRY_START][i];
			place.info.end = index->columns[ENTRY_END][i];
			err = add_place(reader, &place);
			if (err)
				return trace_fail(error, err, NO_MEMORY);
		}
		if (err)
			return err;
	}
	return 0;
}

/* Index frames by offset, the last one first: each names the one before. */
struct index_list {
	uint64_t *offsets;
	size_t count, capacity;
};

static int add_index(struct index_list *list, uint64_t offset)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 16;
		uint64_t *offsets = realloc(list->offsets, capacity * sizeof(*offsets));

		if (!offsets)
			return -ENOMEM;
		list->offsets = offsets;
		list->capacity = capacity;
	}
	list->offsets[list->count++] = offset;
	return 0;
}

/* Offsets must fall from frame to frame, so that the list ends. */
static int list_indexes(struct trace_reader *reader, uint64_t offset, uint64_t start,
			struct index_list *list, struct trace_error *error)
{
	uint64_t previous;
	struct block block;
	struct mp mp;
	int err;

	for (; offset; offset = previous) {
		err = open_block(reader, offset, 0, BLOCK_INDEX, &block, error);
		if (err)
			return err;
		if (mp_find(block.object, "previous", &mp) != 1 || mp_uint(&mp, &previous) ||
		    (previous && (previous < start || previous >= offset)))
			return damaged(error, offset, "its index is not what it should be");
		if (add_index(list, offset))
			return trace_fail(error, -ENOMEM, NO_MEMORY);
	}
	return 0;
}

static int use_indexes(struct trace_reader *reader, const struct index_list *list, uint64_t start,
		       struct trace_error *error)
{
	int err = 0;

	for (size_t i = list->count; i-- > 0 && !err; start = list->offsets[i]) {
		struct index index = { 0 };
		struct block block;

		err = open_block(reader, list->offsets[i], 0, BLOCK_INDEX, &block, error);
		if (err)
			break;
		err = load_index(&index, &block);
		if (err)
			trace_fail(error, err, err == -ENOMEM ? NO_MEMORY : "has a damaged index");
		else
			err = use_index(reader, &index, start, list->offsets[i], error);
		free_index(&index);
	}
	return err;
}

/* Whether the file ends as a complete trace does. 1, 0 or -errno. */
static int find_tail(struct trace_reader *reader, uint64_t start, struct format_tail *tail,
		     struct trace_error *error)
{
	struct input *input = &reader->input;
	const uint8_t *bytes;
	int err;

	if (input->size < start + sizeof(*tail))
		return 0;
	err = input_bytes(input, input->size - sizeof(*tail), sizeof(*tail), &bytes, error);
	if (err)
		return err;
	memcpy(tail, bytes, sizeof(*tail));
	return tail->skippable == FORMAT_TAIL_SKIPPABLE && tail->bytes == FORMAT_TAIL_BYTES &&
	       tail->magic == FORMAT_TAIL_MAGIC && tail->size == input->size &&
	       tail->index >= start && tail->index < tail->totals &&
	       tail->totals < input->size - sizeof(*tail);
}

/* Totals and blocks as the end of the file tells. */
static int use_tail(struct trace_reader *reader, uint64_t start, const struct format_tail *tail,
		    struct trace_error *error)
{
	uint64_t end = reader->input.size - sizeof(*tail);
	struct index_list list = { 0 };
	struct block block;
	int err;

	err = open_block(reader, tail->totals, end - tail->totals, BLOCK_TOTALS, &block, error);
	if (!err)
		err = totals_parse(&reader->totals, block.object, &reader->header, &reader->pool,
				   error);
	if (!err)
		err = list_indexes(reader, tail->index, start, &list, error);
	if (!err)
		err = use_indexes(reader, &list, start, error);
	free(list.offsets);
	return err;
}

static int find_blocks(struct trace_reader *reader, uint64_t start, struct trace_error *error)
{
	struct trace_error found;
	struct format_tail tail = { 0 };
	char why[300];
	int err = find_tail(reader, start, &tail, error);

	if (err < 0)
		return err;
	if (!err)
		return walk(reader, start, NULL, error);
	err = use_tail(reader, start, &tail, &found);
	if (err != -EINVAL && err != -ENODATA)
		return err ? trace_fail(error, err, "%s", found.text) : 0;
	snprintf(why, sizeof(why), "the trace %s", found.text);
	return walk(reader, start, why, error);
}

/* --- opening --- */

static int read_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error)
{
	struct mp content, rest;
	int err;

	if (!reader->input.size)
		return trace_fail(error, -EINVAL, "is empty");
	err = input_frame(&reader->input, 0, 0, &content, next, error);
	if (err == -ENODATA)
		return trace_fail(error, -EINVAL,
				  "is cut inside its header, or is not a Faultline "
				  "trace");
	if (err && err != -EINVAL)
		return err;
	rest = content;
	if (err || !content.at || mp_skip(&rest))
		return trace_fail(error, -EINVAL, "is not a Faultline trace");
	return header_parse(&reader->header, content, &reader->pool, error);
}

/* Opens what is in reader->input. */
static int open_reader(struct trace_reader **result, struct trace_reader *reader,
		       struct trace_error *error)
{
	uint64_t size = reader->input.size, start;
	int err;

	reader->texts.bytes_max = TEXT_BYTES_MAX;
	if (size < SIZE_MAX / 2 / TEXT_BYTES_PER_BYTE)
		reader->texts.bytes_max += size * TEXT_BYTES_PER_BYTE;
	err = read_header(reader, &start, error);
	if (!err)
		err = find_blocks(reader, start, error);
	if (err) {
		trace_reader_close(reader);
		return err;
	}
	texts_sort(&reader->texts);
	*result = reader;
	return 0;
}

int trace_reader_open(struct trace_reader **result, const char *path, struct trace_error *error)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*result = NULL;
	if (!reader)
		return trace_fail(error, -ENOMEM, NO_MEMORY);
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
		return trace_fail(error, -ENOMEM, NO_MEMORY);
	err = input_open_memory(&reader->input, bytes, length, error);
	if (!err)
		return open_reader(result, reader, error);
	trace_reader_close(reader);
	return err;
}

void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	for (size_t c = 0; c < COLUMNS_MAX; c++)
		free(reader->columns[c]);
	free(reader->places);
	texts_free(&reader->texts);
	pool_free(&reader->pool);
	input_close(&reader->input);
	free(reader);
}

/* --- what was found --- */

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

size_t trace_reader_block_count(const struct trace_reader *reader)
{
	return reader->place_count;
}

const struct trace_block_info *trace_reader_block_info(const struct trace_reader *reader,
						       size_t number)
{
	return &reader->places[number].info;
}

int trace_reader_read(struct trace_reader *reader, size_t number, uint64_t columns,
		      struct trace_error *error)
{
	const struct place *place = &reader->places[number];
	const struct trace_schema *schema = &trace_schemas[place->info.kind];
	struct block block;
	int err;

	reader->loaded = 0;
	err = open_block(reader, place->info.offset, place->length, BLOCK_ROWS, &block, error);
	if (err)
		return err == -ENODATA ? -EINVAL : err;
	if (block.kind != place->info.kind || block.rows != place->info.rows)
		return damaged(error, place->info.offset, "the block is not what its index says");
	err = load_rows(reader, &block, columns & ((1ull << schema->column_count) - 1));
	if (err == -ENOMEM)
		return trace_fail(error, err, NO_MEMORY);
	return err ? damaged(error, place->info.offset, "the block is not what it should be") : 0;
}

const uint64_t *trace_reader_column(const struct trace_reader *reader, unsigned int column)
{
	return column < COLUMNS_MAX && reader->loaded & 1ull << column ? reader->columns[column]
								       : NULL;
}

struct trace_string trace_reader_string(const struct trace_reader *reader, uint64_t id)
{
	return texts_find(&reader->texts, id);
}
