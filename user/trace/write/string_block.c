/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs blocks of strings. */
#include "trace/write/string_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format/column.h"
#include "trace/format/format.h"
#include "collections/grow.h"

#define TEXT_HEAD_BYTES 8

int string_block_reserve(struct string_block *block, size_t length)
{
	if (!GROW(block->ids, block->capacity, block->count + 1))
		return -ENOMEM;
	return pack_reserve(&block->texts, length + TEXT_HEAD_BYTES);
}

void string_block_add(struct string_block *block, uint64_t id, const void *bytes, size_t length)
{
	pack_text(&block->texts, bytes, length);
	block->ids[block->count++] = id;
}

int string_block_pack(const struct string_block *block, const char *of, struct pack *object)
{
	pack_map(object, of ? 5 : 4);
	pack_cstring(object, "block");
	pack_cstring(object, FORMAT_STRING);
	if (of) {
		pack_cstring(object, "of");
		pack_cstring(object, of);
	}
	pack_cstring(object, "n");
	pack_uint(object, block->count);
	column_pack_values(object, "id", block->ids, 1, block->count);
	pack_cstring(object, "text");
	pack_array(object, block->count);
	pack_raw(object, block->texts.bytes, block->texts.length);
	return object->error ? -ENOMEM : 0;
}

void string_block_clear(struct string_block *block)
{
	pack_clear(&block->texts);
	block->count = 0;
}

void string_block_free(struct string_block *block)
{
	pack_free(&block->texts);
	free(block->ids);
	memset(block, 0, sizeof(*block));
}
