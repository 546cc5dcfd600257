/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Classes of sizes, right-closed: up to 4 KiB, 16 KiB ... 4 GiB, above. Each is four times the one
 * before. Knows nothing of what is of such a size.
 */
#ifndef FAULTLINE_SIZE_CLASS_H
#define FAULTLINE_SIZE_CLASS_H

#include <stdint.h>

#include "analysis/table/table.h"

#define SIZE_CLASSES 12

static inline unsigned int size_class(uint64_t bytes)
{
	unsigned int bits, class;

	if (bytes <= 4096)
		return 0;
	bits = 64 - __builtin_clzll(bytes - 1); /* of the power of two that holds it */
	class = (bits - 11) / 2;
	return class < SIZE_CLASSES - 1 ? class : SIZE_CLASSES - 1;
}

/* Columns "sizes.<=4KiB" and so on, of a uint64_t[SIZE_CLASSES] at `key` in the row. Returns 0 or
 * -ENOMEM. */
int size_class_add_columns(struct table *table, const char *meaning, size_t key);

#endif
