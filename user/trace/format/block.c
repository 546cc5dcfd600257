/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses blocks. */
#include "trace/format/block.h"

#include <errno.h>
#include <string.h>

enum block_type block_type_of(const struct mp_value *name, enum trace_kind *kind)
{
	for (int i = 0; i < TRACE_KIND_COUNT; i++) {
		if (mp_is(name, trace_schemas[i].kind)) {
			*kind = i;
			return BLOCK_ROWS;
		}
	}
	*kind = 0;
	if (mp_is(name, FORMAT_STRING))
		return BLOCK_STRINGS;
	if (mp_is(name, FORMAT_INDEX))
		return BLOCK_INDEX;
	if (mp_is(name, FORMAT_TOTALS))
		return BLOCK_TOTALS;
	if (mp_is(name, FORMAT_FLUSH))
		return BLOCK_FLUSH;
	if (mp_is(name, FORMAT_HEADER))
		return BLOCK_HEADER;
	return BLOCK_UNKNOWN;
}

/* Reads the number at a key; `missing` if there is no such key. */
static int find_number(struct mp object, const char *key, uint64_t missing, uint64_t *number)
{
	struct mp mp;
	int found = mp_find(object, key, &mp);

	*number = missing;
	return found == 1 ? mp_uint(&mp, number) : found;
}

/* "of" says whether strings are arguments. */
static int parse_of(struct block *block)
{
	struct mp_value of;
	struct mp mp;
	int found = mp_find(block->object, "of", &mp);

	if (found == 1 && !mp_next(&mp, &of) && mp_is(&of, FORMAT_ARGS))
		block->type = BLOCK_ARGS;
	return found < 0 ? -EINVAL : 0;
}

int block_parse(struct block *block, struct mp object)
{
	struct mp mp = object;
	struct mp_value name;

	memset(block, 0, sizeof(*block));
	block->object = object;
	if (mp_skip(&mp) || mp.at != mp.end)
		return -EINVAL;
	if (mp_find(object, "block", &mp) != 1 || mp_next(&mp, &name))
		return -EINVAL;
	if (name.type != MP_STR && name.type != MP_BIN)
		return -EINVAL;
	block->type = block_type_of(&name, &block->kind);
	if (block->type == BLOCK_UNKNOWN)
		return 0;
	if (block->type == BLOCK_STRINGS && parse_of(block))
		return -EINVAL;
	if (find_number(object, "n", 0, &block->rows) || find_number(object, "t0", 0, &block->t0))
		return -EINVAL;
	return block->rows <= TRACE_BLOCK_ROWS_MAX ? 0 : -EINVAL;
}

int block_columns(const struct block *block, const struct trace_column *columns, size_t count,
		  uint64_t mask, struct column_view *views)
{
	struct mp mp = block->object;
	struct mp_value key;
	uint32_t pairs;

	memset(views, 0, count * sizeof(*views));
	if (mp_map(&mp, &pairs))
		return -EINVAL;
	while (pairs--) {
		struct mp name = mp;
		size_t c = 0;

		if (mp_skip(&mp) || mp_next(&name, &key))
			return -EINVAL;
		while (c < count && !mp_is(&key, columns[c].name))
			c++;
		if (c == count || !(mask & 1ull << c)) {
			if (mp_skip(&mp))
				return -EINVAL;
			continue;
		}
		if (views[c].width || column_parse(&mp, block->rows, &views[c]))
			return -EINVAL;
	}
	return 0;
}
