/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the block of an id, decodes it, and keeps the few most recently used.
 *
 * If ranges of ids overlap, which no writer produces, only the one that begins last is searched: a
 * forged file gets an empty string, not a long search.
 */
#include "trace/read/args_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/bisect.h"
#include "collections/compare.h"
#include "trace/read/error.h"
#include "collections/grow.h"

struct args_blocks *args_blocks_new(const struct input *input, struct trace_buffers *buffers)
{
	struct args_blocks *args = calloc(1, sizeof(*args));

	if (!args)
		return NULL;
	args->input = input;
	args->buffers = buffers;
	return args;
}

void args_blocks_clear(struct args_blocks *args)
{
	for (size_t i = 0; i < ARGS_BLOCKS_KEPT; i++) {
		texts_free(&args->kept[i].texts);
		args->kept[i].position = NULL;
	}
	args->count = 0;
	args->error.text[0] = '\0';
}

void args_blocks_free(struct args_blocks *args)
{
	if (!args)
		return;
	args_blocks_clear(args);
	free(args->positions);
	free(args);
}

int args_blocks_add(struct args_blocks *args, const struct args_position *position)
{
	if (!GROW(args->positions, args->capacity, args->count + 1))
		return -ENOMEM;
	args->positions[args->count++] = *position;
	return 0;
}

/* Decodes a block. `texts` must be freed even after an error. */
static int decode(const struct block *block, struct texts *texts)
{
	int err;

	memset(texts, 0, sizeof(*texts));
	if (block->object.end - block->object.at > ARGS_BLOCK_BYTES_MAX)
		return -EINVAL;
	texts->bytes_max = ARGS_TEXT_BYTES_MAX;
	err = texts_add(texts, block);
	if (!err)
		texts_sort(texts);
	return err;
}

int args_blocks_survey(const struct block *block, struct args_position *position)
{
	struct texts texts;
	int err = decode(block, &texts);

	position->first = UINT64_MAX;
	position->last = 0;
	if (!err && texts.count) {
		position->first = texts.items[0].id;
		position->last = texts.items[texts.count - 1].id;
	}
	texts_free(&texts);
	return err;
}

COMPARE_BY(by_first, struct args_position,
	   COMPARE(a->first, b->first) ?: COMPARE(a->offset, b->offset))

void args_blocks_sort(struct args_blocks *args)
{
	if (args->count)
		qsort(args->positions, args->count, sizeof(*args->positions), by_first);
}

/* Returns the last block that begins at or before the id, if it reaches the id. */
static struct args_position *find_position(struct args_blocks *args, uint64_t id)
{
	const size_t count = BISECT(i, 0, args->count, args->positions[i].first <= id);

	return count && args->positions[count - 1].last >= id ? &args->positions[count - 1] : NULL;
}

/* Returns the slot of the block, or the slot to replace. */
static struct args_kept *find_kept(struct args_blocks *args, const struct args_position *position)
{
	struct args_kept *oldest = &args->kept[0];

	for (size_t i = 0; i < ARGS_BLOCKS_KEPT; i++) {
		struct args_kept *kept = &args->kept[i];

		if (kept->position == position)
			return kept;
		if (kept->used < oldest->used)
			oldest = kept;
	}
	return oldest;
}

/* Loads a block into a slot. Returns the same as catalog_open_block. */
static int load(struct args_blocks *args, struct args_kept *kept,
		const struct args_position *position, struct trace_error *error)
{
	struct block block;
	struct mp content;
	uint64_t next;
	int err = input_frame(args->input, args->buffers, position->offset, position->length,
			      &content, &next, error);

	texts_free(&kept->texts);
	kept->position = NULL;
	if (err)
		return err;
	if (!content.at || block_parse(&block, content) || block.type != BLOCK_ARGS)
		return trace_damaged(error, position->offset, "the block does not match the index");
	err = decode(&block, &kept->texts);
	if (err) {
		texts_free(&kept->texts);
		return err == -ENOMEM ? trace_no_memory(error)
				      : trace_damaged(error, position->offset, "malformed strings");
	}
	kept->position = position;
	return 0;
}

struct trace_string args_blocks_find(struct args_blocks *args, uint64_t id)
{
	struct trace_string none = { .bytes = "", .length = 0 };
	struct args_position *position = find_position(args, id);
	struct args_kept *kept;
	struct trace_error error;
	int err;

	if (!id || !position || position->is_bad)
		return none;
	kept = find_kept(args, position);
	kept->used = ++args->lookups;
	if (kept->position == position)
		return texts_find(&kept->texts, id);
	err = load(args, kept, position, &error);
	if (!err)
		return texts_find(&kept->texts, id);
	position->is_bad = err == -EINVAL || err == -ENODATA; /* trying again is useless */
	if (!args->error.text[0])
		args->error = error;
	return none;
}
