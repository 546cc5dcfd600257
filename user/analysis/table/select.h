/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A table made of another one: some of its columns, its rows in another order and fewer of them.
 */
#ifndef FAULTLINE_SELECT_H
#define FAULTLINE_SELECT_H

#include "analysis/table/table.h"

struct selection {
	const char *columns; /* names separated by commas; NULL: all (`shown`: those of its view) */
	const char *sort; /* a column, largest first, texts from A; NULL: the table's own order */
	uint64_t top;	  /* rows at most; 0 for all */
	bool shown;
};

/*
 * The new table's cells point into the old one, which must outlive it. Returns 0, -ENOMEM, or
 * -EINVAL for a column that there is not; then *unknown is where its name begins, which ends at a
 * comma or at the end.
 */
int select_make(struct table **made, const struct table *table, const struct selection *selection,
		const char **unknown);

/* Tables that tell of tables: names and titles; or columns with their units and meanings. Return 0
 * or -ENOMEM. */
int select_list_tables(struct table **list, struct table *const *tables, size_t count);
int select_list_columns(struct table **list, const struct table *table);

#endif
