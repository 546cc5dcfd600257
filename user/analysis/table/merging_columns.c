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
		int place = i < fixed ? -1 : table_find_column(b, a->columns[i].name);

		for (; place >= 0 && next <= (size_t)place; next++)
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

static int copy_percentiles(struct table *all, const struct table *from, const size_t *places)
{
	int status = 0;

	for (size_t i = 0; i < from->percentile_count && !status; i++) {
		const struct table_percentile *of = &from->percentiles[i];

		if (places[of->column] != SIZE_MAX)
			status = merge_copy_percentile(all, of->row, places[of->column], of);
	}
	return status;
}

int merge_widen(const struct table *from, const struct table *other, bool first, size_t fixed,
		struct table **result)
{
	size_t *places = calloc(from->column_count + 1, sizeof(*places));
	struct table *all = table_new(from->name, from->title, from->shape);
	int status = 0;

	*result = NULL;
	add_all_columns(all, first ? from : other, first ? other : from, fixed);
	if (!places || table_status(all))
		status = -ENOMEM;
	for (size_t i = 0; i < from->column_count && !status; i++) {
		int place = table_find_column(all, from->columns[i].name);

		places[i] = place < 0 ? SIZE_MAX : (size_t)place;
	}
	for (size_t row = 0; row < from->row_count && !status; row++) {
		struct cell *cells = table_add_row(all);

		for (size_t i = 0; cells && i < from->column_count; i++)
			if (places[i] != SIZE_MAX)
				table_copy_cell(all, &cells[places[i]], &table_row(from, row)[i]);
		status = table_status(all);
	}
	if (!status)
		status = copy_percentiles(all, from, places);
	table_set_note(all, from->note);
	free(places);
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
