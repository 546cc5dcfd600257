/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the header and the blocks of a trace.
 *
 * The list of blocks comes from the index, found from the file's end, or, if the end is missing or
 * not to be trusted, from a walk over all frames. The index is trusted only for where blocks may
 * be: each is checked when it is read.
 */
#include "trace/read/reader_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/read/error.h"
#include "trace/read/meta.h"

#define HEADER_REACH_BYTES (64u << 20) /* from the start: the header's copy is within it */
#define DAMAGES_MAX 64		       /* searches of a walk for the next whole frame */
#define FALSE_STARTS_MAX 1000	       /* of frames, in all searches */

/* --- walking all frames --- */

/* Computes what an index would say about a row block; checks all its columns. */
static int survey_rows(struct trace_reader *reader, const struct block *block,
		       struct catalog_position *position)
{
	const struct trace_schema *schema = &trace_schemas[block->kind];
	const uint64_t *times, *durations = NULL;
	int err = reader_load_rows(reader, block, (1ull << schema->column_count) - 1);

	if (err)
		return err;
	times = reader->columns[TRACE_COL_TIME];
	if (schema->duration >= 0)
		durations = reader->columns[schema->duration];
	position->info.kind = block->kind;
	position->info.rows = block->rows;
	position->info.start = block->rows ? UINT64_MAX : block->t0;
	position->info.end = block->rows ? 0 : block->t0;
	for (size_t i = 0; i < block->rows; i++) {
		uint64_t end = times[i] + (durations ? durations[i] : 0);

		if (end < times[i])
			end = UINT64_MAX;
		if (times[i] < position->info.start)
			position->info.start = times[i];
		if (end > position->info.end)
			position->info.end = end;
	}
	return 0;
}

static int survey_args(struct trace_reader *reader, const struct block *block,
		       const struct catalog_position *position)
{
	struct args_position found = { .offset = position->info.offset,
				       .length = position->length };
	int err = args_blocks_survey(block, &found);

	return err ? err : args_blocks_add(reader->catalog.args, &found);
}

/* Adds one frame. Returns 0, -EINVAL or -ENOMEM. */
static int survey_frame(struct trace_reader *reader, struct mp content,
			struct catalog_position *position)
{
	struct block block;
	int err;

	if (!content.at) /* skippable */
		return 0;
	err = block_parse(&block, content);
	if (!err && block.type == BLOCK_STRINGS)
		return texts_add(&reader->catalog.texts, &block);
	if (!err && block.type == BLOCK_ARGS)
		return survey_args(reader, &block, position);
	if (!err && block.type == BLOCK_FLUSH && block.t0 > reader->flushed_ns)
		reader->flushed_ns = block.t0;
	if (err || block.type != BLOCK_ROWS)
		return err;
	err = survey_rows(reader, &block, position);
	return err ? err : catalog_add(&reader->catalog, position);
}

/* Reads the frame at `offset` and adds it. Returns 0, -EINVAL, -ENODATA, -ENOMEM, -errno of a read;
 * -EPROTO for a whole frame without a valid block. */
static int walk_frame(struct trace_reader *reader, uint64_t offset, uint64_t *next,
		      struct trace_error *found)
{
	struct catalog_position position = { .info = { .offset = offset } };
	struct mp content;
	int err = input_frame(&reader->input, &reader->buffers, offset, 0, &content, next, found);

	if (err)
		return err;
	position.length = *next - offset;
	err = survey_frame(reader, content, &position);
	if (err != -EINVAL)
		return err;
	trace_damaged(found, offset, "malformed block");
	return -EPROTO;
}

/* Counts what looked like the start of a frame. Returns whether a search has to end: each may take
 * as long as reading the largest frame. */
static bool gives_up(struct trace_reader *reader)
{
	return reader->false_starts++ >= FALSE_STARTS_MAX;
}

/* Finds the next readable frame after a damaged one, and adds it. -ENODATA if there is none. */
static int walk_on(struct trace_reader *reader, uint64_t offset, uint64_t *next)
{
	struct trace_error found;
	int err = -EINVAL;

	while (err == -EINVAL || err == -ENODATA) {
		if (gives_up(reader))
			return -ENODATA;
		err = input_find_frame(&reader->input, &reader->buffers, offset + 1, &offset,
				       &found);
		if (err)
			return err;
		err = walk_frame(reader, offset, next, &found);
	}
	return err;
}

/*
 * Reads frame by frame up to the end. A frame that is not whole is skipped if a whole one follows;
 * a whole one with other content was not written by Faultline, nor is what follows. Sets
 * `incomplete`: the caller found no usable end. Fails only if memory or the disk does.
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
					trace_damaged(&found, offset, "incomplete block");
				reader_note_damage(reader, &found);
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
		trace_fail(incomplete, 0, "the trace %s; the rest was not read", found.text);
	else if (why)
		trace_fail(incomplete, 0, "%s", why);
	else if (err == -ENODATA)
		trace_fail(incomplete, 0,
			   "the trace has no end: the tracer was killed or could not write "
			   "(truncated in the block at byte %llu)",
			   (unsigned long long)offset);
	else
		trace_fail(incomplete, 0,
			   "the trace has no end: the tracer was killed or could not write (the "
			   "last complete block ends at byte %llu)",
			   (unsigned long long)offset);
	return 0;
}

/* --- using the index --- */

/* Checks whether the file ends like a complete trace. Returns 1, 0 or -errno. */
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

/* Reads totals and blocks from where the tail says they are. */
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

int reader_find_blocks(struct trace_reader *reader, uint64_t start, struct trace_error *error)
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
		reader_note_damage(reader, &reader->catalog.damage);
	if (err != -EINVAL && err != -ENODATA)
		return err ? trace_fail(error, err, "%s", found.text) : 0;
	snprintf(why, sizeof(why), "the trace %s", found.text);
	return walk(reader, start, why, error);
}

/* --- the header --- */

/* Searches the whole frames after the header for its copy. `start` receives the offset of the first
 * of these frames. */
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
			err = gives_up(reader) ? -ENODATA : 0;
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
				  "is empty: the recorder ended before it could write");
	err = input_frame(&reader->input, &reader->buffers, 0, 0, &content, next, error);
	if (err == -ENODATA)
		return trace_fail(error, -EINVAL,
				  "is truncated in its header, or is not a Faultline trace");
	if (err && err != -EINVAL)
		return err;
	rest = content;
	if (err || !content.at || mp_skip(&rest))
		return trace_fail(error, -EINVAL, "is not a Faultline trace");
	return header_parse(&reader->header, content, &reader->arena, error);
}

int reader_find_header(struct trace_reader *reader, uint64_t *next, struct trace_error *error)
{
	struct trace_error found;
	int err = read_first_header(reader, next, error);

	if (err != -EINVAL || !reader->input.size || find_header_copy(reader, next, &found))
		return err;
	reader->header_is_copy = true;
	return 0;
}
