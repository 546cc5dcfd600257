/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers picked out of a report's tables by name, and put into tables of one's own. What is not
 * there is a cell of CELL_NULL. Knows nothing of what the names mean.
 */
#ifndef FAULTLINE_PICK_H
#define FAULTLINE_PICK_H

#include "analysis/table.h"

/* NULL when it is missing or absent. */
const struct table *pick_table(const struct table *const *tables, size_t count, const char *name);
/* Never NULL; `table` may be. */
const struct cell *pick_cell(const struct table *table, size_t row, const char *column);
/* The cell of the column "group.name". */
const struct cell *pick_in(const struct table *table, size_t row, const char *group,
			   const char *name);
/* The value of a CELL_UINT, else 0. */
uint64_t pick_number(const struct cell *cell);

struct pick_column {
	const char *title;
	enum table_unit unit;
};

/* A list with these columns and no rows yet. Returns 0 or -ENOMEM. */
int pick_new_list(struct table **table, const char *title, const struct pick_column *columns,
		  size_t count);

#endif
