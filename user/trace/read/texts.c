/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Strings by id.
 *
 * A writer's ids count up from 1, so the string of an id is usually at that index; but a file may
 * contain any ids, so there is only a sorted list, not a table over ids.
 */
#include "trace/read/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"
#include "base/utf8.h"

struct trace_string texts_copy(struct arena *arena, const void *bytes, size_t length)
{
	static const char mark[] = "\u2026";
	char *copy;

	if (length <= TRACE_STRING_BYTES_MAX)
		return (struct trace_string) { arena_text(arena, bytes, length), length };
	copy = arena_text(arena, bytes, TRACE_STRING_BYTES_MAX);
	if (!copy)
		return (struct trace_string) { NULL, 0 };
	length = utf8_cut(bytes, length, TRACE_STRING_BYTES_MAX - strlen(mark));
	memcpy(copy + length, mark, sizeof(mark));
	return (struct trace_string) { copy, length + strlen(mark) };
}

static int add_text(struct texts *texts, struct mp *mp, uint64_t id)
{
	const uint8_t *bytes;
	uint32_t length;
	struct text *text;

	if (mp_bytes(mp, &bytes, &length))
		return -EINVAL;
	if (texts->arena.bytes + length + texts->count * sizeof(*text) > texts->bytes_max)
		return -EINVAL;
	text = &texts->items[texts->count];
	text->id = id;
	text->string = texts_copy(&texts->arena, bytes, length);
	if (!text->string.bytes)
		return -ENOMEM;
	texts->count++;
	texts->cut_count += length > TRACE_STRING_BYTES_MAX;
	return 0;
}

/* Reserved but unused room takes address space, not memory: reallocarray does not touch it. */
#define RESERVED_MAX (1u << 22)

int texts_reserve(struct texts *texts, uint64_t more)
{
	size_t room = texts->count + number_min(more, RESERVED_MAX);
	struct text *items;

	if (room <= texts->capacity)
		return 0;
	items = reallocarray(texts->items, room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	texts->items = items;
	texts->capacity = room;
	return 0;
}

int texts_add(struct texts *texts, const struct block *block)
{
	static const struct trace_column id_column = { .name = "id", .type = TRACE_UINT };
	struct column_view view;
	uint32_t count;
	uint64_t *ids;
	struct mp mp;
	int err = 0;

	if (block_columns(block, &id_column, 1, 1, &view) || !view.width)
		return -EINVAL;
	if (mp_find(block->object, "text", &mp) != 1 || mp_array(&mp, &count))
		return -EINVAL;
	if (count != block->rows)
		return -EINVAL;
	if (!count)
		return 0;
	ids = calloc(count, sizeof(*ids));
	if (!ids || !GROW(texts->items, texts->capacity, texts->count + count)) {
		free(ids);
		return -ENOMEM;
	}
	column_widen(&view, ids, count);
	for (uint32_t i = 0; i < count && !err; i++)
		err = add_text(texts, &mp, ids[i]);
	free(ids);
	return err;
}

COMPARE_BY(by_id, struct text, COMPARE(a->id, b->id))

void texts_sort(struct texts *texts)
{
	for (size_t i = 1; i < texts->count; i++) {
		if (texts->items[i - 1].id > texts->items[i].id) {
			qsort(texts->items, texts->count, sizeof(*texts->items), by_id);
			return;
		}
	}
}

struct trace_string texts_find(const struct texts *texts, uint64_t id)
{
	const struct text wanted = { .id = id }, *found = NULL;

	if (id && id <= texts->count && texts->items[id - 1].id == id)
		found = &texts->items[id - 1];
	else if (id && texts->count)
		found = bsearch(&wanted, texts->items, texts->count, sizeof(wanted), by_id);
	return found ? found->string : (struct trace_string) { .bytes = "", .length = 0 };
}

void texts_free(struct texts *texts)
{
	free(texts->items);
	arena_free(&texts->arena);
	memset(texts, 0, sizeof(*texts));
}
