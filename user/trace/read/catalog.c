/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists the blocks of a file and loads its strings, using the index. */
#include "trace/read/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/error.h"
#include "collections/grow.h"

#define INDEX_KINDS_MAX 1024
#define WRONG_INDEX "malformed index"

int catalog_add(struct catalog *catalog, const struct catalog_position *position)
{
	if (!GROW(catalog->positions, catalog->capacity, catalog->count + 1))
		return -ENOMEM;
	catalog->positions[catalog->count++] = *position;
	return 0;
}

void catalog_clear(struct catalog *catalog)
{
	size_t bytes_max = catalog->texts.bytes_max;

	catalog->count = 0;
	catalog->missing_strings = 0;
	texts_free(&catalog->texts);
	catalog->texts.bytes_max = bytes_max;
	args_blocks_clear(catalog->args);
}

void catalog_free(struct catalog *catalog)
{
	free(catalog->positions);
	texts_free(&catalog->texts);
	args_blocks_free(catalog->args);
	memset(catalog, 0, sizeof(*catalog));
}

int catalog_open_block(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
		       uint64_t length, enum block_type type, struct block *block,
		       struct trace_error *error)
{
	struct mp content;
	uint64_t next;
	int err = input_frame(input, buffers, offset, length, &content, &next, error);

	if (err)
		return err;
	if (!content.at || block_parse(block, content) || block->type != type)
		return trace_damaged(error, offset, "the block does not match the index");
	return 0;
}

struct index_kind {
	enum block_type type;
	enum trace_kind kind;
};

/* An index frame with its columns widened. */
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
		if (index->kinds[i].type == BLOCK_UNKNOWN && mp_is(&name, FORMAT_ARGS))
			index->kinds[i].type = BLOCK_ARGS;
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
		if (!views[c].width && c >= ENTRY_COLUMNS_NEEDED)
			continue;    /* optional */
		if (!views[c].width) /* limits the rows by the bytes in the file */
			return -EINVAL;
		index->columns[c] = calloc(index->rows + 1, sizeof(uint64_t));
		if (!index->columns[c])
			return -ENOMEM;
		column_widen(&views[c], index->columns[c], index->rows);
	}
	return err;
}

static int load_texts(struct catalog *catalog, const struct input *input,
		      struct trace_buffers *buffers, uint64_t offset, uint64_t length,
		      struct trace_error *error)
{
	struct block block;
	int err = catalog_open_block(input, buffers, offset, length, BLOCK_STRINGS, &block, error);

	if (err)
		return err;
	err = texts_add(&catalog->texts, &block);
	if (err == -ENOMEM)
		return trace_no_memory(error);
	return err ? trace_damaged(error, offset, "malformed strings") : 0;
}

/* Adds a block according to its type; unknown types are skipped. */
static int use_entry(struct catalog *catalog, const struct input *input,
		     struct trace_buffers *buffers, const struct index *index, size_t row,
		     uint64_t length, struct trace_error *error)
{
	const struct index_kind *kind = &index->kinds[index->columns[ENTRY_KIND][row]];
	uint64_t offset = index->columns[ENTRY_OFFSET][row];
	uint64_t start = index->columns[ENTRY_START][row], end = index->columns[ENTRY_END][row];
	int err = 0;

	if (kind->type == BLOCK_STRINGS) {
		struct trace_error found;

		err = load_texts(catalog, input, buffers, offset, length, &found);
		if (err != -EINVAL && err != -ENODATA)
			return err ? trace_fail(error, err, "%s", found.text) : 0;
		if (!catalog->damage.text[0])
			catalog->damage = found;
		catalog->missing_strings += index->columns[ENTRY_ROWS][row] & UINT32_MAX;
		return 0;
	}
	if (kind->type == BLOCK_ARGS) {
		err = args_blocks_add(catalog->args, &(struct args_position) { start, end, offset,
									       length, false });
	} else if (kind->type == BLOCK_ROWS) {
		uint64_t rows = index->columns[ENTRY_ROWS][row];
		const uint64_t *pids = index->columns[ENTRY_PIDS];
		const uint64_t *files = index->columns[ENTRY_FILES];
		struct trace_block_info info = { .kind = kind->kind,
						 .rows = rows,
						 .offset = offset,
						 .start = start,
						 .end = end,
						 .pids = pids ? pids[row] : 0,
						 .files = files ? files[row] : 0 };

		if (rows > TRACE_BLOCK_ROWS_MAX)
			return trace_damaged(error, offset, WRONG_INDEX);
		err = catalog_add(catalog,
				  &(struct catalog_position) { .info = info, .length = length });
	}
	return err ? trace_no_memory(error) : 0;
}

/* Reserves room for the strings that an index frame lists. */
static int reserve_texts(struct catalog *catalog, const struct index *index)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < index->rows; i++)
		if (index->columns[ENTRY_KIND][i] < index->kind_count &&
		    index->kinds[index->columns[ENTRY_KIND][i]].type == BLOCK_STRINGS)
			rows += index->columns[ENTRY_ROWS][i] & UINT32_MAX;
	return texts_reserve(&catalog->texts, rows);
}

/* Adds the blocks of the index frame at `end`, which lie between `start` and `end`. */
static int use_index(struct catalog *catalog, const struct input *input,
		     struct trace_buffers *buffers, const struct index *index, uint64_t start,
		     uint64_t end, struct trace_error *error)
{
	if (reserve_texts(catalog, index))
		return trace_no_memory(error);
	for (size_t i = 0; i < index->rows; i++) {
		uint64_t kind = index->columns[ENTRY_KIND][i],
			 offset = index->columns[ENTRY_OFFSET][i];
		uint64_t next = i + 1 < index->rows ? index->columns[ENTRY_OFFSET][i + 1] : end;
		int err;

		if (kind >= index->kind_count || offset < start || next > end || next < offset ||
		    next - offset < INPUT_FRAME_BYTES_MIN)
			return trace_damaged(error, end, WRONG_INDEX);
		err = use_entry(catalog, input, buffers, index, i, next - offset, error);
		if (err)
			return err;
	}
	return 0;
}

/* Offsets of index frames, last one first: each names the previous one. */
struct index_list {
	uint64_t *offsets;
	size_t count, capacity;
};

static int add_index(struct index_list *list, uint64_t offset)
{
	if (!GROW(list->offsets, list->capacity, list->count + 1))
		return -ENOMEM;
	list->offsets[list->count++] = offset;
	return 0;
}

/* Offsets must decrease from frame to frame, so that the list ends. */
static int list_indexes(const struct input *input, struct trace_buffers *buffers, uint64_t offset,
			uint64_t start, struct index_list *list, struct trace_error *error)
{
	uint64_t previous;
	struct block block;
	struct mp mp;
	int err;

	for (; offset; offset = previous) {
		err = catalog_open_block(input, buffers, offset, 0, BLOCK_INDEX, &block, error);
		if (err)
			return err;
		if (mp_find(block.object, "previous", &mp) != 1 || mp_uint(&mp, &previous) ||
		    (previous && (previous < start || previous >= offset)))
			return trace_damaged(error, offset, WRONG_INDEX);
		if (add_index(list, offset))
			return trace_no_memory(error);
	}
	return 0;
}

static int use_indexes(struct catalog *catalog, const struct input *input,
		       struct trace_buffers *buffers, const struct index_list *list, uint64_t start,
		       struct trace_error *error)
{
	int err = 0;

	for (size_t i = list->count; i-- > 0 && !err; start = list->offsets[i]) {
		struct index index = { 0 };
		struct block block;

		err = catalog_open_block(input, buffers, list->offsets[i], 0, BLOCK_INDEX, &block,
					 error);
		if (err)
			break;
		err = load_index(&index, &block);
		if (err)
			err = err == -ENOMEM ? trace_no_memory(error)
					     : trace_damaged(error, list->offsets[i], WRONG_INDEX);
		else
			err = use_index(catalog, input, buffers, &index, start, list->offsets[i],
					error);
		free_index(&index);
	}
	return err;
}

int catalog_read_index(struct catalog *catalog, const struct input *input,
		       struct trace_buffers *buffers, uint64_t start, uint64_t last,
		       struct trace_error *error)
{
	struct index_list list = { 0 };
	int err = list_indexes(input, buffers, last, start, &list, error);

	if (!err)
		err = use_indexes(catalog, input, buffers, &list, start, error);
	free(list.offsets);
	return err;
}
