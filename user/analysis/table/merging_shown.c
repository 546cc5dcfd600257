/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merges the rows of a table that look the same, because they differ in columns that are not shown.
 */
#include <errno.h>
#include <math.h>

#include "analysis/table/merging_cells.h"
#include "collections/map.h"

/* Whether a column says what a row is, and not how much. */
static bool is_name(const struct table_column *column)
{
	return column->kind == KIND_KEY || column->kind == KIND_FACT || column->kind == KIND_FIRST;
}

static uint64_t key_of(const struct map *rows, const struct table *table, const struct cell *cells)
{
	uint64_t key[3] = { 0 };

	for (size_t i = 0; i < table->view.shown_count; i++) {
		const size_t column = table->view.shown[i];
		const struct cell *cell = &cells[column];

		if (!is_name(&table->columns[column]))
			continue;
		key[1] = cell->type;
		key[2] = cell->type == CELL_TEXT   ? map_hash_bytes(rows, cell->text, cell->length)
			 : cell->type == CELL_NULL ? 0
						   : cell->uint;
		key[0] = map_hash_bytes(rows, key, sizeof(key));
	}
	return key[0];
}

/* Shares of the same whole add up. Errors add up like those of independent samples. */
static void merge_derived(struct cell *into, const struct cell *from, enum table_unit unit)
{
	if (unit == UNIT_SHARE && into->type == CELL_REAL && from->type == CELL_REAL)
		into->real += from->real;
	else if (unit == UNIT_NS && into->type == CELL_UINT && from->type == CELL_UINT)
		into->uint = llround(hypot(into->uint, from->uint));
	else
		*into = (struct cell) { .type = CELL_NULL };
}

static void merge_row(struct table *table, struct cell *into, const struct cell *from)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		if (is_name(column) && merge_compare(&into[i], &from[i]))
			into[i] = (struct cell) { .type = CELL_NULL };
		else if (column->kind == KIND_DERIVED)
			merge_derived(&into[i], &from[i], column->unit);
		else if (!is_name(column))
			merge_cell(table, &into[i], &from[i], column->kind, false);
	}
}

/* Adds a row, or merges it into the one that looks the same. */
static int take_row(struct table *table, struct map *rows, const struct table *from, size_t row)
{
	const struct cell *cells = table_row(from, row);
	const uint64_t key = key_of(rows, table, cells);
	uint64_t *number = table_is_rest(from, row) ? NULL : map_find(rows, &key);
	struct cell *added;
	bool is_new;

	if (number) {
		merge_row(table, table_row(table, *number), cells);
		return 0;
	}
	added = table_add_row(table);
	for (size_t i = 0; added && i < table->column_count; i++)
		table_copy_cell(table, &added[i], &cells[i]);
	number = table_is_rest(from, row) ? NULL : map_add(rows, &key, &is_new);
	if (number)
		*number = table->row_count - 1;
	return number || table_is_rest(from, row) ? table_status(table) : -ENOMEM;
}

int merging_shown(const struct table *from, const struct table_view *view, struct table **merged)
{
	struct table *table = table_new(from->name, from->title, from->shape);
	struct map rows;
	int status;

	map_init(&rows, 1, 1);
	table_add_columns(table, from->columns, from->column_count);
	status = table_status(table);
	if (!status)
		table->view = *view;
	for (size_t row = 0; row < from->row_count && !status; row++)
		status = take_row(table, &rows, from, row);
	map_free(&rows);
	if (status) {
		table_free(table);
		return status;
	}
	table->folded = from->folded;
	table->cut = from->cut;
	*merged = table;
	return 0;
}
