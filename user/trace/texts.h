/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The strings of a trace by id. Knows nothing of files. Private to user/trace.
 */
#ifndef FAULTLINE_TRACE_TEXTS_H
#define FAULTLINE_TRACE_TEXTS_H

#include "arena.h"
#include "block.h"
#include "reader.h"

struct text {
	uint64_t id;
	struct trace_string string;
};

struct texts {
	struct text *items;
	size_t count, capacity;
	struct arena arena;
	size_t bytes_max; /* -EINVAL when they would take more memory */
};

/* Makes room for so many more, as far as that is not absurd. Returns 0 or -ENOMEM. */
int texts_reserve(struct texts *texts, uint64_t more);
/* Adds the strings of a block. 0, -EINVAL, -ENOMEM. */
int texts_add(struct texts *texts, const struct block *block);
/* To be called after the last texts_add and before the first texts_find. */
void texts_sort(struct texts *texts);
/* The empty string for an unknown id. */
struct trace_string texts_find(const struct texts *texts, uint64_t id);
void texts_free(struct texts *texts);

#endif
