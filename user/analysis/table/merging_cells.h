/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges cells of several tables. Private to merging*.c. */
#pragma once

#include "analysis/table/merging.h"

bool merge_is_number(const struct cell *cell);
/* Negative if a is less than b; unknown sorts first. */
int merge_compare(const struct cell *a, const struct cell *b);
/* Marks a cell permanently unknown: CELL_NULL and summed. */
void merge_forget(struct cell *cell);

/* `disjoint`: the runs of both cells do not overlap. */
void merge_cell(struct table *table, struct cell *into, const struct cell *from,
		enum table_kind kind, bool disjoint);

/* Functions return 0 or -ENOMEM. */
/* Records the histogram behind a percentile. */
int merge_copy_percentile(struct table *table, size_t row, size_t column,
			  const struct table_percentile *from);
/* Adds the histogram of another percentile, as if both had been recorded in one histogram. `more`
 * NULL (unknown) makes the result unknown. */
int merge_percentile(struct table *table, size_t row, size_t column, const struct cell *from,
		     const struct table_percentile *more);

/* Copies a table and adds the columns of another one, preserving both orders; where they leave a
 * choice, `other`'s columns come first if `first`. The first `fixed` columns of the leading table
 * stay together. */
int merge_widen(const struct table *from, const struct table *other, bool first, size_t fixed,
		struct table **result);
