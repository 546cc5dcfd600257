/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of several tables made one. Private to those who merge.
 */
#ifndef FAULTLINE_MERGING_CELLS_H
#define FAULTLINE_MERGING_CELLS_H

#include "analysis/table/merging.h"

bool merge_is_number(const struct cell *cell);
/* Less than 0 where a is less than b; what is not known is less than all else. */
int merge_compare(const struct cell *a, const struct cell *b);
/* Makes it not known, whatever comes: null, as what stands for something else is. */
void merge_forget(struct cell *cell);

/* Functions return 0 or -ENOMEM. `apart`: the runs that both are of do not overlap. */
int merge_cell(struct table *table, struct cell *into, const struct cell *from,
	       enum merge_rule rule, bool apart);
/* Notes what a percentile is of. */
int merge_copy_percentile(struct table *table, size_t row, size_t column,
			  const struct table_percentile *from);
/* Adds what another percentile is of, as if all values had been in one histogram; `more` is NULL
 * where that is not told. */
int merge_percentile(struct table *table, size_t row, size_t column, const struct cell *from,
		     const struct table_percentile *more);

/* A copy of a table with all columns of another one, in the order of both: `first` says that its
 * own lead; the first `fixed` of the leading one stay together. */
int merge_widen(const struct table *from, const struct table *other, bool first, size_t fixed,
		struct table **result);

#endif
