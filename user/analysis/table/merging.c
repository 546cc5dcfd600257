/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges tables row by row, and folds rows. */
#include "analysis/table/merging_cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"

#define MANY_MAX 64

/* --- rows --- */

struct key {
	char *bytes;
	size_t length, room;
};

static int add_to_key(struct key *key, const void *bytes, size_t length)
{
	if (!GROW(key->bytes, key->room, key->length + length + 1))
		return -ENOMEM;
	memcpy(key->bytes + key->length, bytes, length);
	key->length += length;
	return 0;
}

static int key_of(const struct merged *merged, const struct table *from, size_t row,
		  struct key *key)
{
	int status = 0;

	for (size_t i = 0; i < from->column_count && !status; i++) {
		const struct cell *cell = &table_row(from, row)[i];
		const uint64_t head[2] = { cell->type, cell->type == CELL_TEXT ? cell->length
						       : merge_is_number(cell) ? cell->uint
									       : 0 };

		if (merged->table->columns[i].kind != KIND_KEY)
			continue;
		status = add_to_key(key, head, sizeof(head));
		if (!status && cell->type == CELL_TEXT)
			status = add_to_key(key, cell->text, cell->length);
	}
	return status;
}

static int add_row(struct merged *merged, const struct table *from, size_t row,
		   const struct merge_source *source)
{
	struct table *table = merged->table;
	struct cell *cells = table_add_row(table);
	int status = table_status(table);

	if (!status && !GROW(merged->sources, merged->source_room, table->row_count))
		status = -ENOMEM;
	for (size_t i = 0; i < from->column_count && !status; i++) {
		const struct table_percentile *of = table_find_percentile(from, row, i);

		table_copy_cell(table, &cells[i], &table_row(from, row)[i]);
		if (table->columns[i].kind == KIND_MOMENT && cells[i].type == CELL_UINT)
			cells[i].uint = number_add(cells[i].uint, source->shift);
		if (!status && of)
			status = merge_copy_percentile(table, table->row_count - 1, i, of);
	}
	return status ? status : table_status(table);
}

static bool is_costlier(const struct merged *merged, const struct cell *from,
			const struct cell *into)
{
	const char *at = merged->merging->costliest;

	while (at && *at) {
		size_t length = strcspn(at, ",");

		for (size_t i = 0; i < merged->table->column_count; i++) {
			const char *name = merged->table->columns[i].name;
			int order;

			if (strlen(name) != length || memcmp(name, at, length))
				continue;
			order = merge_compare(&from[i], &into[i]);
			if (order)
				return order > 0;
		}
		at += length + (at[length] == ',');
	}
	return false;
}

static int merge_into(struct merged *merged, size_t into, const struct table *from, size_t row,
		      const struct merge_source *source)
{
	struct table *table = merged->table;
	const struct cell *cells = table_row(from, row);
	bool costlier = is_costlier(merged, cells, table_row(table, into));
	int status = 0;

	for (size_t i = 0; i < from->column_count && !status; i++) {
		struct cell *cell = &table_row(table, into)[i], moved = cells[i];
		enum table_kind kind = table->columns[i].kind;

		if (kind == KIND_MOMENT && moved.type == CELL_UINT)
			moved.uint = number_add(moved.uint, source->shift);
		if (kind == KIND_PERCENTILE)
			status = merge_percentile(table, into, i, &moved,
						  table_find_percentile(from, row, i));
		else if (kind == KIND_LARGEST && costlier)
			table_copy_cell(table, cell, &moved);
		else if (kind != KIND_LARGEST && kind != KIND_KEY)
			merge_cell(table, cell, &moved, kind, source->disjoint);
	}
	return status ? status : table_status(table);
}

/* Returns whether a row is never merged, whatever its keys. */
static bool stands_alone(const struct merged *merged, const struct table *from, size_t row)
{
	const struct merging *merging = merged->merging;

	for (size_t i = 0; i < from->column_count; i++) {
		const char *name = from->columns[i].name;
		bool known = table_row(from, row)[i].type != CELL_NULL;

		if ((merging->single && known && !strcmp(name, merging->single)) ||
		    (merging->named && !known && !strcmp(name, merging->named)))
			return true;
	}
	return !merged->keyed;
}

/* Finds the row with the same key from an earlier table; rows of one table are not merged. */
static int find_row(struct merged *merged, const struct table *from, size_t row, size_t before,
		    size_t *found)
{
	struct key key = { 0 };
	uint64_t hash, *place;
	bool added = false;
	int status = key_of(merged, from, row, &key);

	*found = SIZE_MAX;
	if (!status) {
		hash = map_hash_bytes(&merged->rows, key.bytes, key.length);
		place = map_add(&merged->rows, &hash, &added);
		status = place ? 0 : -ENOMEM;
	}
	free(key.bytes);
	if (status)
		return status;
	if (added)
		*place = merged->table->row_count;
	else if (*place < before)
		*found = *place;
	return 0;
}

/* Adds a row to the one for all folded rows, whose keys and texts are unknown. */
static int fold_row(struct merged *merged, const struct table *from, size_t row,
		    const struct merge_source *source)
{
	const struct merge_source overlapping = { source->shift, false };
	struct cell *cells;
	int status;

	if (merged->other)
		return merge_into(merged, merged->other - 1, from, row, &overlapping);
	status = add_row(merged, from, row, source);
	if (status)
		return status;
	merged->other = merged->table->row_count;
	cells = table_row(merged->table, merged->other - 1);
	for (size_t i = 0; i < merged->table->column_count; i++) {
		enum table_kind kind = merged->table->columns[i].kind;

		if (kind == KIND_KEY || kind == KIND_MOMENT || kind == KIND_DURATION ||
		    kind == KIND_FACT || kind == KIND_SHARED ||
		    (cells[i].type != CELL_NULL && !merge_is_number(&cells[i])))
			merge_forget(&cells[i]);
	}
	return 0;
}

/* --- tables --- */

static bool has_columns(const struct table *table, const struct table *from)
{
	bool same = table->column_count == from->column_count;

	for (size_t i = 0; i < from->column_count && same; i++)
		same = !strcmp(table->columns[i].name, from->columns[i].name);
	return same;
}

static void find_keys(struct merged *merged)
{
	merged->keyed = false;
	for (size_t i = 0; i < merged->table->column_count; i++)
		merged->keyed |= merged->table->columns[i].kind == KIND_KEY;
}

static int take_rows(struct merged *merged, const struct table *from,
		     const struct merge_source *source)
{
	size_t before = merged->table->row_count;
	bool lacks = from->folded || from->cut;
	int status = 0;

	for (size_t row = 0; row < from->row_count && !status; row++) {
		size_t found = SIZE_MAX;

		if (from->folded && row + 1 == from->row_count) {
			status = fold_row(merged, from, row, source);
			break;
		}
		if (from->shape == TABLE_RECORD && before)
			found = 0;
		else if (!stands_alone(merged, from, row))
			status = find_row(merged, from, row, before, &found);
		if (status)
			break;
		if (found == SIZE_MAX) {
			found = merged->table->row_count;
			status = add_row(merged, from, row, source);
		} else {
			status = merge_into(merged, found, from, row, source);
		}
		if (!status) {
			merged->sources[found].tables++;
			merged->sources[found].incomplete += lacks;
		}
	}
	merged->tables++;
	if (from->row_count > merged->longest)
		merged->longest = from->row_count;
	merged->incomplete += lacks;
	merged->folded = number_add(merged->folded, from->folded);
	merged->cut = number_add(merged->cut, from->cut);
	return status;
}

static int begin(struct merged *merged, const struct merging *merging, const struct table *like,
		 const struct table_column *columns, size_t count)
{
	*merged = (struct merged) { .merging = merging };
	map_init(&merged->rows, 1, 1);
	merged->table = table_new(like->name, like->title, like->shape);
	table_add_columns(merged->table, columns, count);
	table_set_note(merged->table, like->note);
	if (table_status(merged->table))
		return -ENOMEM;
	merged->table->meaning = like->meaning;
	find_keys(merged);
	return 0;
}

int merged_begin(struct merged *merged, const struct merging *merging, const struct table *like)
{
	if (merging->fixed)
		return begin(merged, merging, like, merging->fixed, merging->fixed_count);
	return begin(merged, merging, like, like->columns, like->column_count);
}

int merged_add(struct merged *merged, const struct table *from, const struct merge_source *source)
{
	size_t fixed = merged->merging->fixed_count;
	struct table *wide = NULL, *table;
	int status = 0;

	if (!has_columns(merged->table, from)) {
		status = merge_widen(from, merged->table, false, fixed, &wide);
		if (!status)
			status = merge_widen(merged->table, from, true, fixed, &table);
		if (!status) {
			table_free(merged->table);
			merged->table = table;
			find_keys(merged);
		}
	}
	if (!status)
		status = take_rows(merged, wide ? wide : from, source);
	table_free(wide);
	return status;
}

void merged_shift(struct merged *merged, uint64_t shift)
{
	const struct table *table = merged->table;

	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].kind != KIND_MOMENT)
			continue;
		for (size_t row = 0; row < table->row_count; row++) {
			struct cell *cell = &table_row(table, row)[i];

			if (cell->type == CELL_UINT)
				cell->uint = number_add(cell->uint, shift);
		}
	}
}

/* --- finishing --- */

static bool grows(enum table_kind kind)
{
	return kind == KIND_SUM || kind == KIND_THREAD || kind == KIND_UNION ||
	       kind == KIND_COVERED || kind == KIND_MAX || kind == KIND_TOTAL;
}

/* Marks lower bounds: a table that lacks rows may have more. */
static void mark_bounds(struct merged *merged)
{
	if (!merged->keyed || merged->merging->own || !merged->incomplete)
		return;
	for (size_t row = 0; row < merged->table->row_count; row++) {
		if (merged->sources[row].incomplete == merged->incomplete ||
		    row + 1 == merged->other)
			continue;
		for (size_t i = 0; i < merged->table->column_count; i++) {
			struct cell *cell = &table_row(merged->table, row)[i];

			if (merge_is_number(cell) && grows(merged->table->columns[i].kind))
				cell->at_least = true;
		}
	}
}

struct row_order {
	size_t column, last;
	bool largest;
};

/* Breaks ties, so that the order of rows does not depend on the order of tables. */
static int compare_cells(const struct table *table, size_t a, size_t b)
{
	int order = 0;

	for (size_t i = 0; i < table->column_count && !order; i++)
		order = merge_compare(&table_row(table, a)[i], &table_row(table, b)[i]);
	return order;
}

static int compare_sorted(const struct table *table, size_t a, size_t b, const void *context)
{
	const struct row_order *order = context;
	int sign = order->largest ? -1 : 1, found;

	if (a == order->last || b == order->last)
		return a == order->last ? 1 : -1;
	if (order->column == SIZE_MAX)
		return 0;
	if (!table_row(table, a)[order->column].type || !table_row(table, b)[order->column].type)
		found = !table_row(table, a)[order->column].type -
			!table_row(table, b)[order->column].type;
	else
		found = sign * merge_compare(&table_row(table, a)[order->column],
					     &table_row(table, b)[order->column]);
	return found ? found : compare_cells(table, a, b);
}

static int sort_rows(struct merged *merged)
{
	const char *by = merged->merging->sorted;
	struct row_order order = { .column = SIZE_MAX, .last = merged->other - 1 };
	int column;

	if (by) {
		order.largest = by[0] == '-';
		column = table_find_column(merged->table, by + order.largest);
		order.column = column < 0 ? SIZE_MAX : (size_t)column;
	}
	if (order.column == SIZE_MAX && !merged->other)
		return 0;
	table_sort(merged->table, compare_sorted, &order);
	return table_status(merged->table);
}

/* Returns the column of that name, or else the first key that is a text. */
static size_t label_column(const struct merged *merged)
{
	const struct table *table = merged->table;
	const char *label = merged->merging->label;

	for (size_t i = 0; i < table->column_count; i++) {
		if (label && !strcmp(table->columns[i].name, label))
			return i;
		for (size_t row = 0; row + 1 < table->row_count && !label; row++)
			if (table->columns[i].kind == KIND_KEY &&
			    table_row(table, row)[i].type == CELL_TEXT)
				return i;
	}
	return SIZE_MAX;
}

/* "other (12 files)" */
static int name_other(struct merged *merged)
{
	struct table *table = merged->table;
	size_t column = label_column(merged);
	char name[MANY_MAX];
	int length =
		snprintf(name, sizeof(name), "other (%llu %s)", (unsigned long long)merged->folded,
			 merged->merging->many ? merged->merging->many : "rows");

	if (column == SIZE_MAX)
		return 0;
	table_set_text(table, &table_row(table, table->row_count - 1)[column], name, length);
	return table_status(table);
}

static void forget_shared(struct merged *merged)
{
	for (size_t i = 0; i < merged->table->column_count && merged->tables > 1; i++)
		for (size_t row = 0; row < merged->table->row_count; row++)
			if (merged->table->columns[i].kind == KIND_SHARED)
				merge_forget(&table_row(merged->table, row)[i]);
}

int merged_finish(struct merged *merged)
{
	int status;

	mark_bounds(merged);
	forget_shared(merged);
	status = merged->tables == 1 ? 0 : sort_rows(merged); /* one table is already in order */
	if (merged->merging->top && merged->table->row_count > merged->longest)
		merged->table->row_count = merged->longest;
	if (!status && merged->other)
		status = name_other(merged);
	merged->table->folded = merged->other ? merged->folded : 0;
	merged->table->cut = merged->cut;
	return status;
}

struct table *merged_take(struct merged *merged)
{
	struct table *table = merged->table;

	merged->table = NULL;
	return table;
}

void merged_free(struct merged *merged)
{
	map_free(&merged->rows);
	free(merged->sources);
	table_free(merged->table);
	*merged = (struct merged) { 0 };
}

/* --- folding --- */

struct worth {
	const struct table *table;
	size_t column;
};

static int compare_worth(const void *left, const void *right, void *context)
{
	const struct worth *worth = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = 0;

	if (worth->column != TABLE_NO_COLUMN)
		order = -merge_compare(&table_row(worth->table, a)[worth->column],
				       &table_row(worth->table, b)[worth->column]);
	return order ?: COMPARE(a, b);
}

/* Returns the rows by the view's sort column; the row for the rest, if any, stays last. */
static size_t *order_rows(const struct table *table)
{
	struct worth worth = { table, table->view.by };
	size_t *rows = calloc(table->row_count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < table->row_count; i++)
		rows[i] = i;
	if (rows)
		qsort_r(rows, table->row_count - (table->folded ? 1 : 0), sizeof(*rows),
			compare_worth, &worth);
	return rows;
}

COMPARE_BY(compare_numbers, size_t, COMPARE(*a, *b))

static int fold_rows(struct merged *merged, const struct table *from, size_t *rows, size_t max)
{
	const struct merge_source source = { 0 };
	int status = 0;

	qsort(rows, max, sizeof(*rows), compare_numbers);
	for (size_t i = 0; i < max && !status; i++)
		status = add_row(merged, from, rows[i], &source);
	if (!merged->keyed || merged->merging->own) {
		merged->cut = number_add(from->cut, from->row_count - max);
		return status;
	}
	for (size_t i = max; i < from->row_count && !status; i++)
		status = fold_row(merged, from, rows[i], &source);
	merged->folded = from->row_count - max;
	if (from->folded)
		merged->folded = number_add(merged->folded - 1, from->folded);
	merged->cut = from->cut;
	return status;
}

int merging_fold(const struct merging *merging, struct table **table, size_t max)
{
	const struct table *from = *table;
	struct merged merged = { 0 };
	struct table *folded;
	size_t *rows;
	int status;

	if (from->absent || from->shape == TABLE_RECORD || from->row_count <= max + 1)
		return 0;
	rows = order_rows(from);
	status = rows ? begin(&merged, merging, from, from->columns, from->column_count) : -ENOMEM;
	if (!status)
		status = fold_rows(&merged, from, rows, max);
	free(rows);
	if (!status && merged.other)
		status = name_other(&merged);
	if (status) {
		merged_free(&merged);
		return status;
	}
	merged.table->folded = merged.folded;
	merged.table->cut = merged.cut;
	folded = merged_take(&merged);
	folded->view = from->view;
	merged_free(&merged);
	table_free(*table);
	*table = folded;
	return 0;
}
