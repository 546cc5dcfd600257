/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables: the order of their rows, with the percentiles that follow them, and views. */
#include "analysis/table/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/grow.h"

/* --- percentiles --- */

void table_note_percentile(struct table *table, const struct cell *cell,
			   const struct histogram *histogram, unsigned int percent)
{
	size_t index = cell - table->cells;
	struct table_percentile *noted;

	if (table_status(table))
		return;
	if (!GROW(table->percentiles, table->percentile_room, table->percentile_count + 1)) {
		table_fail(table, -ENOMEM);
		return;
	}
	noted = &table->percentiles[table->percentile_count++];
	*noted = (struct table_percentile) { .row = index / table->column_count,
					     .column = index % table->column_count,
					     .percent = percent };
	table_fail(table, sparse_histogram_of(&noted->of, histogram));
}

COMPARE_BY(compare_percentiles, struct table_percentile,
	   COMPARE(a->row, b->row) ?: COMPARE(a->column, b->column))

struct table_percentile *table_find_percentile(const struct table *table, size_t row, size_t column)
{
	const struct table_percentile key = { .row = row, .column = column };

	return table->percentile_count ? bsearch(&key, table->percentiles, table->percentile_count,
						 sizeof(*table->percentiles), compare_percentiles)
				       : NULL;
}

/* --- the order of rows --- */

struct sorted_by {
	const struct table *table;
	int (*compare)(const struct table *table, size_t a, size_t b, const void *context);
	const void *context;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct sorted_by *sorting = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = sorting->compare(sorting->table, a, b, sorting->context);

	return order ?: COMPARE(a, b);
}

/* Reorders the rows in place, one cycle after the other; `order` has their old numbers, and `saved`
 * room for a row. */
static void move_rows(struct table *table, struct cell *saved, size_t *order, size_t *places)
{
	const size_t bytes = table->column_count * sizeof(*saved);

	for (size_t i = 0; i < table->row_count; i++)
		places[order[i]] = i;
	for (size_t i = 0, to = 0; i < table->row_count; to = ++i) {
		memcpy(saved, table_row(table, i), bytes);
		for (size_t from = order[i]; from != i; from = order[to]) {
			memcpy(table_row(table, to), table_row(table, from), bytes);
			order[to] = to;
			to = from;
		}
		memcpy(table_row(table, to), saved, bytes);
		order[to] = to;
	}
	for (size_t i = 0; i < table->percentile_count; i++)
		table->percentiles[i].row = places[table->percentiles[i].row];
	if (table->percentile_count)
		qsort(table->percentiles, table->percentile_count, sizeof(*table->percentiles),
		      compare_percentiles);
}

void table_sort(struct table *table,
		int (*compare)(const struct table *table, size_t a, size_t b, const void *context),
		const void *context)
{
	struct sorted_by sorting = { table, compare, context };
	size_t count = table_status(table) ? 0 : table->row_count, *order;
	struct cell *saved;

	if (count < 2 || !table->column_count)
		return;
	order = calloc(2 * count, sizeof(*order));
	saved = calloc(table->column_count + 1, sizeof(*saved));
	if (order && saved) {
		for (size_t i = 0; i < count; i++)
			order[i] = i;
		qsort_r(order, count, sizeof(*order), compare_rows, &sorting);
		move_rows(table, saved, order, order + count);
	} else {
		table_fail(table, -ENOMEM);
	}
	free(saved);
	free(order);
}

/* --- views --- */

static bool is_name(const char *name, const char *given, size_t length)
{
	return strlen(name) == length && !memcmp(name, given, length);
}

/* A column NAME stands for all of NAME.* if these were not recorded. */
static bool is_missing_group(const char *name, const char *given, size_t length)
{
	size_t group = strlen(name);

	return group < length && !memcmp(name, given, group) && given[group] == '.';
}

/* Sets *column, to TABLE_NO_COLUMN if it was not recorded. */
static int find_given(const struct table *table, const char *given, size_t length, size_t *column)
{
	*column = TABLE_NO_COLUMN;
	for (size_t i = 0; i < table->column_count; i++) {
		if (is_name(table->columns[i].name, given, length)) {
			*column = i;
			return 0;
		}
		if (is_missing_group(table->columns[i].name, given, length))
			return 0;
	}
	return -EINVAL;
}

int table_show(struct table *table, const char *shown, const char *by, const char *only,
	       const char **unknown)
{
	int status = table_status(table);
	const char *at = shown ? shown : "";
	struct table_view *view;

	if (status)
		return status;
	view = &table->view;
	view->shown_count = 0;
	view->by = TABLE_NO_COLUMN;
	view->only = TABLE_NO_COLUMN;
	while (*at && !status) {
		size_t length = strcspn(at, ","), column;

		status = find_given(table, at, length, &column);
		if (!status && view->shown_count == TABLE_SHOWN_MAX)
			status = -EINVAL;
		if (status && unknown)
			*unknown = at;
		if (!status && column != TABLE_NO_COLUMN)
			view->shown[view->shown_count++] = column;
		at += length + (at[length] == ',');
	}
	if (!status && by) {
		status = find_given(table, by, strlen(by), &view->by);
		if (status && unknown)
			*unknown = by;
	}
	if (!status && only) {
		status = find_given(table, only, strlen(only), &view->only);
		if (status && unknown)
			*unknown = only;
	}
	return status;
}

struct ordered {
	double key;
	size_t row;
	bool rest;
};

COMPARE_BY(compare_ordered, struct ordered,
	   COMPARE(a->rest, b->rest) ?:
	   COMPARE(b->key, a->key) ?:
	   COMPARE(a->row, b->row))

size_t *table_order(const struct table *table)
{
	struct ordered *ordered = calloc(table->row_count + 1, sizeof(*ordered));
	size_t *rows = calloc(table->row_count + 1, sizeof(*rows)), by = table->view.by;

	for (size_t row = 0; ordered && rows && row < table->row_count; row++) {
		const struct cell *cell = by == TABLE_NO_COLUMN ? NULL : &table_row(table, row)[by];

		ordered[row].row = row;
		ordered[row].rest = table_is_rest(table, row);
		if (cell && cell->type == CELL_UINT)
			ordered[row].key = cell->uint;
		else if (cell && cell->type == CELL_REAL)
			ordered[row].key = cell->real;
	}
	if (ordered && rows)
		qsort(ordered, table->row_count, sizeof(*ordered), compare_ordered);
	for (size_t row = 0; ordered && rows && row < table->row_count; row++)
		rows[row] = ordered[row].row;
	if (!ordered) {
		free(rows);
		rows = NULL;
	}
	free(ordered);
	return rows;
}
