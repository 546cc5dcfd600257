/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Gives tables with different columns the columns of both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/merging_cells.h"

/* "read" stands for all of "read.*" if that was not recorded. */
static bool is_missing(const struct table *table, const struct table_column *column)
{
	size_t length = strlen(column->name);

	for (size_t i = 0; i < table->column_count; i++)
		if (!strncmp(table->columns[i].name, column->name, length) &&
		    table->columns[i].name[length] == '.')
			return true;
	return false;
}

/* Adds the columns of both. A column that `a` lacks follows the same column as it does in `b`. */
static void add_all_columns(struct table *all, const struct table *a, const struct table *b,
			    size_t fixed)
{
	size_t next = 0; /* next column of b to add */

	for (size_t i = 0; i < a->column_count; i++) {
		int column = i < fixed ? -1 : table_find_column(b, a->columns[i].name);

		for (; column >= 0 && next <= (size_t)column; next++)
			if (table_find_column(a, b->columns[next].name) < 0 &&
			    !is_missing(a, &b->columns[next]))
				table_add_column(all, &b->columns[next]);
		if (i < fixed || !is_missing(b, &a->columns[i]))
			table_add_column(all, &a->columns[i]);
	}
	for (; next < b->column_count; next++)
		if (table_find_column(a, b->columns[next].name) < 0 &&
		    !is_missing(a, &b->columns[next]))
			table_add_column(all, &b->columns[next]);
}

static int copy_percentiles(struct table *all, const struct table *from, const size_t *columns)
{
	int status = 0;

	for (size_t i = 0; i < from->percentile_count && !status; i++) {
		const struct table_percentile *of = &from->percentiles[i];

		if (columns[of->column] != SIZE_MAX)
			status = merge_copy_percentile(all, of->row, columns[of->column], of);
	}
	return status;
}

int merge_widen(const struct table *from, const struct table *other, bool first, size_t fixed,
		struct table **result)
{
	size_t *columns = calloc(from->column_count + 1, sizeof(*columns));
	struct table *all = table_new(from->name, from->title, from->shape);
	int status = 0;

	*result = NULL;
	add_all_columns(all, first ? from : other, first ? other : from, fixed);
	if (!columns || table_status(all))
		status = -ENOMEM;
	for (size_t i = 0; i < from->column_count && !status; i++) {
		int column = table_find_column(all, from->columns[i].name);

		columns[i] = column < 0 ? SIZE_MAX : (size_t)column;
	}
	for (size_t row = 0; row < from->row_count && !status; row++) {
		struct cell *cells = table_add_row(all);

		for (size_t i = 0; cells && i < from->column_count; i++)
			if (columns[i] != SIZE_MAX)
				table_copy_cell(all, &cells[columns[i]], &table_row(from, row)[i]);
		status = table_status(all);
	}
	if (!status)
		status = copy_percentiles(all, from, columns);
	table_set_note(all, from->note);
	free(columns);
	if (!status)
		status = table_status(all);
	if (status) {
		table_free(all);
		return status;
	}
	all->meaning = from->meaning;
	all->folded = from->folded;
	all->cut = from->cut;
	*result = all;
	return 0;
}
