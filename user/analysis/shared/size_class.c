/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Columns of counts by size class. */
#include "analysis/shared/size_class.h"

#include <string.h>

/* Upper bounds are inclusive: 4096 bytes belong to "<=4KiB". */
static const char *const names[SIZE_CLASSES] = {
	"sizes.<=4KiB",	  "sizes.<=16KiB", "sizes.<=64KiB", "sizes.<=256KiB",
	"sizes.<=1MiB",	  "sizes.<=4MiB",  "sizes.<=16MiB", "sizes.<=64MiB",
	"sizes.<=256MiB", "sizes.<=1GiB",  "sizes.<=4GiB",  "sizes.>4GiB",
};

void size_class_add_columns(struct table *table, const char *meaning, size_t key)
{
	for (size_t i = 0; i < SIZE_CLASSES; i++) {
		const struct table_column column = {
			.name = names[i],
			.title = names[i] + strlen("sizes."),
			.unit = UNIT_COUNT,
			.kind = KIND_SUM,
			.meaning = meaning,
			.get = table_get_uint,
			.key = key + i * sizeof(uint64_t),
		};

		table_add_column(table, &column);
	}
}
