/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The strings of a trace by id. Private to user/trace. */
#pragma once

#include "collections/arena.h"
#include "trace/format/block.h"
#include "trace/read/reader.h"

struct text {
	uint64_t id;
	struct trace_string string;
};

struct texts {
	struct text *items;
	size_t count, capacity;
	struct arena arena;
	size_t bytes_max; /* -EINVAL if they would take more memory */
	size_t cut_count; /* strings that were longer than TRACE_STRING_BYTES_MAX */
};

/* Copies a text of a trace; longer ones than TRACE_STRING_BYTES_MAX are cut, and end with an
 * ellipsis. The bytes are NULL if out of memory. */
struct trace_string texts_copy(struct arena *arena, const void *bytes, size_t length);
/* Makes room for `more` strings, within reason. Returns 0 or -ENOMEM. */
int texts_reserve(struct texts *texts, uint64_t more);
/* Adds the strings of a block. Returns 0, -EINVAL or -ENOMEM. */
int texts_add(struct texts *texts, const struct block *block);
/* Must run after the last texts_add and before the first texts_find. */
void texts_sort(struct texts *texts);
/* Returns the empty string for an unknown id. */
struct trace_string texts_find(const struct texts *texts, uint64_t id);
void texts_free(struct texts *texts);
