/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes a table from another one by selecting columns, sorting rows and limiting their number. */
#pragma once

#include "analysis/table/table.h"

struct selection {
	const char *columns; /* names separated by commas; NULL: all (if `shown`: the view's) */
	const char *sort;    /* a column, largest first, texts from A; NULL: the table's order */
	uint64_t top;	     /* maximum number of rows; 0: all */
	bool shown;
};

/*
 * The new table's cells point into the old one, which must outlive it. Returns 0, -ENOMEM, or
 * -EINVAL for an unknown column; then *unknown points to its name, which ends at a comma or at the
 * end.
 */
int select_make(struct table **made, const struct table *table, const struct selection *selection,
		const char **unknown);

/* Make tables that list tables with their meanings, or columns with their units and meanings.
 * Return 0 or -ENOMEM. */
int select_list_tables(struct table **list, struct table *const *tables, size_t count);
int select_list_columns(struct table **list, const struct table *table);
