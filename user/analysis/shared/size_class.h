/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Size classes with inclusive upper bounds: up to 4 KiB, 16 KiB ... 4 GiB, above. Each bound is
 * four times the previous one.
 */
#pragma once

#include <stdint.h>

#include "analysis/table/table.h"

#define SIZE_CLASSES 12

static inline unsigned int size_class(uint64_t bytes)
{
	unsigned int bits, class;

	if (bytes <= 4096)
		return 0;
	bits = 64 - __builtin_clzll(bytes - 1); /* of the next power of two */
	class = (bits - 11) / 2;
	return class < SIZE_CLASSES - 1 ? class : SIZE_CLASSES - 1;
}

/* Adds columns "sizes.<=4KiB" etc. for a uint64_t[SIZE_CLASSES] at offset `key` of the row. */
void size_class_add_columns(struct table *table, const char *meaning, size_t key);
