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

#include "catalog.h"
#include "error.h"
#include "meta.h"

#define COLUMNS_MAX TRACE_COLUMNS_MOST
/* Strings may take more memory than their compressed file, but not without limit: a few kilobytes
 * of a forged file could claim gigabytes of empty strings. */
#define TEXT_BYTES_MAX (64u << 20)
#define TEXT_BYTES_PER_BYTE 256
#define HEADER_REACH_BYTES (64u << 20) /* from the start: the header's copy is not farther */
#define DAMAGES_MAX 64		       /* places where a walk looks for the next whole frame */

struct trace_reader {
	struct input input;
	struct trace_buffers buffers; /* of the thread that opened it */
	struct arena arena;	      /* of header and totals */
	struct trace_header header;
	struct trace_totals totals;
	struct catalog catalog;
	struct trace_error incomplete; /* empty when complete */
	uint64_t flushed_ns;	       /* of an incomplete one: up to when it was written */
	struct trace_error damage;     /* the first block that was passed over; empty for none */
	uint64_t damaged_blocks, damaged_rows[TRACE_KIND_COUNT];
	struct trace_error damage_text; /* all of it, in words */
	bool header_is_copy;
	uint64_t *columns[COLUMNS_MAX];
	size_t column_rows[COLUMNS_MAX]; /* that fit */
	uint64_t loaded;		 /* mask of columns of the block read last */
};

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

/* Finds the columns of the mask and checks what can be wrong with them. 0 or -EINVAL. */
static int view_rows(const struct trace_reader *reader, const struct block *block, uint64_t mask,
		     struct column_view views[COLUMNS_MAX])
{
	const struct trace_schema *schema = &trace_schemas[block->kind];
	int err = block_columns(block, schema->columns, schema->column_count, mask, views);

	if (err)
		return err;
	if (mask & 1ull << TRACE_COL_TIME && !views[TRACE_COL_TIME].width)
		return -EINVAL;
	if (block->rows && mask & 1ull << SYSCALL_OP && trace_has_operations(block->kind) &&
	    (!reader->header.operation_count ||
	     column_reaches(&views[SYSCALL_OP], reader->header.operation_count, block->rows)))
		return -EINVAL;
	return 0;
}

/* Differences to times. */
static void sum_up(uint64_t *times, size_t count, uint64_t t0)
{
	for (size_t i = 0; i < count; i++)
		times[i] = t0 += times[i];
}

/* Loads the columns of the mask. 0, -EINVAL, -ENOMEM. */
static int load_rows(struct trace_reader *reader, const struct block *block, uint64_t mask)
{
	struct column_view views[COLUMNS_MAX];
	int err = view_rows(reader, block, mask, views);

	reader->loaded = 0;
	for (size_t c = 0; !err && c < trace_schemas[block->kind].column_count; c++)
		if (mask & 1ull << c)
			err = load_column(reader, &views[c], c, block->rows);
	if (err)
		return err;
	if (mask & 1ull << TRACE_COL_TIME)
		sum_up(reader->columns[TRACE_COL_TIME], block->rows, block->t0);
	reader->loaded = mask;
	return 0;
}

/* --- damage: a block that cannot be read is passed over, and counted --- */

static void note_damage(struct trace_reader *reader, const struct trace_error *error)
{
	if (!reader->damaged_blocks++)
		reader->damage = *error;
}

uint32_t trace_reader_pass_over(struct trace_reader *reader, size_t number,
				const struct trace_error *error)
{
	struct catalog_place *place = &reader->catalog.places[number];

	if (place->passed_over)
		return 0;
	place->passed_over = true;
	note_damage(reader, error);
	reader->damaged_rows[place->info.kind] += place->info.rows;
	return place->info.rows;
}

uint64_t trace_reader_damaged_rows(const struct trace_reader *reader, enum trace_kind kind)
{
	return reader->damaged_rows[kind];
}

const char *trace_reader_damage(struct trace_reader *reader)
{
	unsigned long long blocks = reader->damaged_blocks, rows = 0;
	unsigned long long names = reader->catalog.missing_strings;

	if (!blocks)
		return NULL;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		rows += reader->damaged_rows[kind];
	if (rows && names)
		trace_fail(&reader->damage_text, 0,
			   "the trace %s; %llu rows and %llu names are left out",
			   reader->damage.text, rows, names);
	else if (rows || names)
		trace_fail(&reader->damage_text, 0, "the trace %s; %llu %s%s left out",
			   reader->damage.text, rows ? rows : names, rows ? "row" : "name",
			   rows + names == 1 ? " is" : "s are");
	else
		trace_fail(&reader->damage_text, 0,
			   "the trace %s; %llu block%s left out, of how many rows is not known",
			   reader->damage.text, blocks, blocks == 1 ? " is" : "s are");
	return reader->damage_text.text;
}

bool trace_reader_header_is_copy(const struct trace_reader *reader)
{
	return reader->header_is_copy;
}

/* --- the way over all frames --- */

/* What an index would have said of a block of rows; checks all its columns. */
static int survey_rows(struct trace_reader *reader, const struct block *block,
		       struct catalog_place *place)
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

static int survey_args(struct trace_reader *reader, const struct block *block,
		       const struct catalog_place *place)
{
	struct args_place found = { .offset = place->info.offset, .length = place->length };
	int err = args_blocks_survey(block, &found);

	return err ? err : args_blocks_add(reader->catalog.args, &found);
}

/* Takes in one frame. 0, -EINVAL, -ENOMEM. */
static int survey_frame(struct trace_reader *reader, struct mp content, struct catalog_place *place)
{
	struct block block;
	int err;

	if (!content.at) /* skippable */
		return 0;
	err = block_parse(&block, content);
	if (!err && block.type == BLOCK_STRINGS)
		return texts_add(&reader->catalog.texts, &block);
	if (!err && block.type == BLOCK_ARGS)
		return survey_args(reader, &block, place);
	if (!err && block.type == BLOCK_FLUSH && block.t0 > reader->flushed_ns)
		reader->flushed_ns = block.t0;
	if (err || block.type != BLOCK_ROWS)
		return err;
	err = survey_rows(reader, &block, place);
	return err ? err : catalog_add(&reader->catalog, place);
}

/* Reads the frame at `offset` and takes it in. 0, -EINVAL, -ENODATA, -ENOMEM, -errno of a read;
 * -EPROTO for a whole frame that holds no block as it should be. */
static int walk_frame(struct trace_reader *reader, uint64_t offset, uint64_t *next,
		      struct trace_error *found)
{
	struct catalog_place place = { .info = { .offset = offset } };
	struct mp content;
	int err = input_frame(&reader->input, &reader->buffers, offset, 0, &content, next, found);

	if (err)
		return err;
	place.length = *next - offset;
	err = survey_frame(reader, content, &place);
	if (err != -EINVAL)
		return err;
	trace_damaged(found, offset, "the block is not what it should be");
	return -EPROTO;
}

/* Finds the next frame behind a damaged one that can be read, and takes it in. -ENODATA if there is
 * none up to the end. */
static int walk_on(struct trace_reader *reader, uint64_t offset, uint64_t *next)
{
	struct trace_error found;
	int err = -EINVAL;

	while (err == -EINVAL || err == -ENODATA) {
		err = input_find_frame(&reader->input, &reader->buffers, offset + 1, &offset,
				       &found);
		if (err)
			return err;
		err = walk_frame(reader, offset, next, &found);
	}
	return err;
}

/*
 * Reads frame by frame up to the end. A frame that is not whole is passed over where a whole one
 * follows; a whole one that holds something else was not written by us, nor is what follows. Sets
 * `incomplete`: who calls this found no end that could be used. Fails only if memory or the disk
 * does.
 */
static int walk(struct trace_reader *reader, uint64_t offset, const char *why,
		struct trace_error *error)
{
	struct trace_error *incomplete = &reader->incomplete, found;
	uint64_t next = offset;
	int err = 0;

	catalog_clear(&reader->catalog);
	for (; offset < reader->input.size; offset = next) {
		err = walk_frame(reader, offset, &next, &found);
		if ((err == -EINVAL || err == -ENODATA) && reader->damaged_blocks < DAMAGES_MAX) {
			int further = walk_on(reader, offset, &next);

			if (!further) {
				if (err == -ENODATA)
					trace_damaged(&found, offset, "not a whole block");
				note_damage(reader, &found);
			}
			err = further == -ENODATA ? err : further;
		}
		if (err)
			break;
	}
	if (err == -ENOMEM)
		return trace_no_memory(error);
	if (err && err != -EINVAL && err != -ENODATA && err != -EPROTO)
		return trace_fail(error, err, "%s", found.text);
	if (err == -EINVAL || err == -EPROTO)
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

/* Whether the file ends as a complete trace does. 1, 0 or -errno. */
static int find_tail(struct trace_reader *reader, uint64_t start, struct format_tail *tail,
		     struct trace_error *error)
{
	const struct input *input = &reader->input;
	const uint8_t *bytes;
	int err;

	if (input->size < start + sizeof(*tail))
		return 0;
	err = input_bytes(input, &reader->buffers, input->size - sizeof(*tail), sizeof(*tail),
			  &bytes, error);
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
	struct block block;
	int err;

	err = catalog_open_block(&reader->input, &reader->buffers, tail->totals, end - tail->totals,
				 BLOCK_TOTALS, &block, error);
	if (!err)
		err = totals_parse(&reader->totals, block.object, &reader->header, &reader->arena,
				   error);
	if (!err)
		err = catalog_read_index(&reader->catalog, &reader->input, &reader->buffers, start,
					 tail->index, error);
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
	if (!err && reader->catalog.damage.text[0])
		note_damage(reader, &reader->catalog.damage);
	if (err != -EINVAL && err != -ENODATA)
		return err ? trace_fail(error, err, "%s", found.text) : 0;
	snprintf(why, sizeof(why), "the trace %s", found.text);
	return walk(reader, start, why, error);
}

/* --- opening --- */

/* Looks for the header's copy among the whole frames behind the header. `start` receives where the
 * first of them is. */
static int find_header_copy(struct trace_reader *reader, uint64_t *start, struct trace_error *error)
{
	const struct input *input = &reader->input;
	uint64_t offset = 0, next, first = 0;
	struct block block;
	struct mp content;
	int err = 0;

	for (; !err && offset < HEADER_REACH_BYTES; offset = next - 1) {
		err = input_find_frame(input, &reader->buffers, offset + 1, &offset, error);
		if (err)
			break;
		err = input_frame(input, &reader->buffers, offset, 0, &content, &next, error);
		if (err == -EINVAL || err == -ENODATA) { /* not a frame, or not a whole one */
			next = offset + 1;
			err = 0;
			continue;
		}
		first = first ? first : offset;
		if (!err && content.at && !block_parse(&block, content) &&
		    block.type == BLOCK_HEADER) {
			*start = first;
			return header_parse(&reader->header, content, &reader->arena, error);
		}
	}
	return err ? err : -ENODATA;
}

static int read_first_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error)
{
	struct mp content, rest;
	int err;

	if (!reader->input.size)
		return trace_fail(error, -EINVAL,
				  "is empty: whatever recorded it was ended before it could write");
	err = input_frame(&reader->input, &reader->buffers, 0, 0, &content, next, error);
	if (err == -ENODATA)
		return trace_fail(error, -EINVAL,
				  "is cut inside its header, or is not a Faultline "
				  "trace");
	if (err && err != -EINVAL)
		return err;
	rest = content;
	if (err || !content.at || mp_skip(&rest))
		return trace_fail(error, -EINVAL, "is not a Faultline trace");
	return header_parse(&reader->header, content, &reader->arena, error);
}

/* From the copy if the first cannot be read. `next` receives where blocks may begin. */
static int read_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error)
{
	struct trace_error found;
	int err = read_first_header(reader, next, error);

	if (err != -EINVAL || !reader->input.size || find_header_copy(reader, next, &found))
		return err;
	reader->header_is_copy = true;
	return 0;
}

/* Opens what is in reader->input. */
static int open_reader(struct trace_reader **result, struct trace_reader *reader,
		       struct trace_error *error)
{
	uint64_t size = reader->input.size, start;
	int err;

	reader->catalog.texts.bytes_max = TEXT_BYTES_MAX;
	if (size < SIZE_MAX / 2 / TEXT_BYTES_PER_BYTE)
		reader->catalog.texts.bytes_max += size * TEXT_BYTES_PER_BYTE;
	reader->catalog.args = args_blocks_new(&reader->input, &reader->buffers);
	err = reader->catalog.args ? read_header(reader, &start, error) : trace_no_memory(error);
	if (!err)
		err = find_blocks(reader, start, error);
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
	for (size_t c = 0; c < COLUMNS_MAX; c++) {
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
	return &reader->catalog.places[number].info;
}

static int open_rows(const struct trace_reader *reader, struct trace_buffers *buffers,
		     const struct catalog_place *place, struct block *block,
		     struct trace_error *error)
{
	int err = catalog_open_block(&reader->input, buffers, place->info.offset, place->length,
				     BLOCK_ROWS, block, error);

	if (err)
		return err == -ENODATA ? -EINVAL : err;
	if (block->kind != place->info.kind || block->rows != place->info.rows)
		return trace_damaged(error, place->info.offset,
				     "the block is not what its index says");
	return 0;
}

static int say_damage(const struct catalog_place *place, int err, struct trace_error *error)
{
	if (err == -ENOMEM)
		return trace_no_memory(error);
	return err ? trace_damaged(error, place->info.offset, "the block is not what it should be")
		   : 0;
}

static uint64_t known_columns(const struct catalog_place *place, uint64_t columns)
{
	return columns & ((1ull << trace_schemas[place->info.kind].column_count) - 1);
}

int trace_reader_read(struct trace_reader *reader, size_t number, uint64_t columns,
		      struct trace_error *error)
{
	const struct catalog_place *place = &reader->catalog.places[number];
	struct block block;
	int err = open_rows(reader, &reader->buffers, place, &block, error);

	reader->loaded = 0;
	return err ? err
		   : say_damage(place, load_rows(reader, &block, known_columns(place, columns)),
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
	const struct catalog_place *place = &reader->catalog.places[number];
	struct block block;
	int err = open_rows(reader, buffers, place, &block, error);

	if (err)
		return err;
	view->rows = block.rows;
	view->t0 = block.t0;
	return say_damage(place,
			  view_rows(reader, &block, known_columns(place, columns), view->columns),
			  error);
}

void trace_view_times(const struct trace_view *view, uint64_t *times)
{
	column_widen(&view->columns[TRACE_COL_TIME], times, view->rows);
	sum_up(times, view->rows, view->t0);
}

const uint64_t *trace_reader_column(const struct trace_reader *reader, unsigned int column)
{
	return column < COLUMNS_MAX && reader->loaded & 1ull << column ? reader->columns[column]
								       : NULL;
}

struct trace_string trace_reader_string(const struct trace_reader *reader, uint64_t id)
{
	struct trace_string text = texts_find(&reader->catalog.texts, id);

	return text.length ? text : args_blocks_find(reader->catalog.args, id);
}

const char *trace_reader_string_error(const struct trace_reader *reader)
{
	const struct args_blocks *args = reader->catalog.args;

	return args->error.text[0] ? args->error.text : NULL;
}
