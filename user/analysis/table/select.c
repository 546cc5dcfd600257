/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Selects from tables, and lists the tables and columns that can be selected. */
#include "analysis/table/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "base/number.h"

/* --- columns --- */

static int find_column(const struct table *table, const char *name, size_t length, size_t *column)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const char *known = table->columns[i].name;

		if (strlen(known) == length && !memcmp(known, name, length)) {
			*column = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Chooses the requested columns, or all, or the view's; `columns` has room for all of them. */
static int choose(const struct table *table, const struct selection *selection, size_t *columns,
		  size_t *count, const char **unknown)
{
	const char *at = selection->columns;
	const struct table_view *view = &table->view;
	int status = 0;

	*count = 0;
	if (!at && selection->shown && view->shown_count) {
		memcpy(columns, view->shown, view->shown_count * sizeof(*columns));
		*count = view->shown_count;
		return 0;
	}
	for (size_t i = 0; !at && i < table->column_count; i++)
		if (!selection->shown || table->columns[i].title)
			columns[(*count)++] = i;
	while (at && *at && !status) {
		size_t length = strcspn(at, ",");

		*unknown = at;
		if (*count == table->column_count)
			return -EINVAL; /* a name is repeated */
		status = find_column(table, at, length, &columns[(*count)++]);
		at += length + (at[length] == ',');
	}
	return status;
}

/* --- rows --- */

struct selected_row {
	const struct cell *cell; /* sort key */
	size_t number;
};

static double number_of(const struct cell *cell)
{
	switch (cell->type) {
	case CELL_UINT:
		return cell->uint;
	case CELL_INT:
		return cell->sint;
	case CELL_REAL:
		return cell->real;
	case CELL_BOOL:
		return cell->flag;
	default:
		return -1e300; /* unmeasured values come last */
	}
}

static int compare_cells(const struct cell *a, const struct cell *b)
{
	double left = number_of(a), right = number_of(b);

	if (a->type == CELL_TEXT && b->type == CELL_TEXT) {
		size_t shorter = number_min(a->length, b->length);
		int order = memcmp(a->text, b->text, shorter);

		return order ? order : (int)(a->length > b->length) - (int)(a->length < b->length);
	}
	return left > right ? -1 : left < right;
}

static int compare_rows(const void *left, const void *right)
{
	const struct selected_row *a = left, *b = right;
	int order = a->cell ? compare_cells(a->cell, b->cell) : 0;

	return order ?: COMPARE(a->number, b->number);
}

static int add_rows(struct table *made, const struct table *table, const size_t *columns,
		    const struct selection *selection, size_t sort)
{
	struct selected_row *rows = calloc(table->row_count + 1, sizeof(*rows));
	size_t count = table->row_count;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++) {
		rows[i].number = i;
		if (selection->sort)
			rows[i].cell = &table_row(table, i)[sort];
	}
	qsort(rows, count, sizeof(*rows), compare_rows);
	if (selection->top && selection->top < count)
		count = selection->top;
	for (size_t i = 0; i < count; i++) {
		struct cell *cells = table_add_row(made);

		for (size_t j = 0; cells && j < made->column_count; j++)
			cells[j] = table->cells[rows[i].number * table->column_count + columns[j]];
	}
	free(rows);
	return table_status(made);
}

static int fill(struct table *made, const struct table *table, const struct selection *selection,
		size_t *columns, const char **unknown)
{
	size_t count, sort = 0;
	int status = choose(table, selection, columns, &count, unknown);

	if (!status && selection->sort) {
		*unknown = selection->sort;
		status = find_column(table, selection->sort, strlen(selection->sort), &sort);
	}
	for (size_t i = 0; i < count && !status; i++) {
		struct table_column column = table->columns[columns[i]];

		column.get = NULL;
		if (!column.title)
			column.title = column.name;
		table_add_column(made, &column);
	}
	return status ? status : add_rows(made, table, columns, selection, sort);
}

int select_make(struct table **made, const struct table *table, const struct selection *selection,
		const char **unknown)
{
	size_t *columns = calloc(table->column_count + 1, sizeof(*columns));
	int status = -ENOMEM;

	*made = table_new(table->name, table->title, table->shape);
	*unknown = "";
	if (columns && *made) {
		(*made)->absent = table->absent;
		table_set_note(*made, table->note);
		status = table_status(*made);
	}
	if (!status && (!table->absent || table->column_count))
		status = fill(*made, table, selection, columns, unknown);
	free(columns);
	if (status) {
		table_free(*made);
		*made = NULL;
	}
	return status;
}

/* --- lists --- */

struct select_row {
	const char *name, *what, *unit, *kind, *type;
	uint64_t rows;
};

static const struct table_column table_columns[] = {
	COLUMN_AS("table", select_row, name, "table", NONE, FACT, "name of the table"),
	COLUMN(select_row, rows, "rows", COUNT, FACT, "number of rows"),
	COLUMN_AS("meaning", select_row, what, "contents", NONE, FACT, "content of the table"),
};

static const struct table_column column_columns[] = {
	COLUMN_AS("column", select_row, name, "column", NONE, FACT, "name of the column"),
	COLUMN(select_row, unit, "unit", NONE, FACT, "unit of the column"),
	COLUMN(select_row, kind, "kind", NONE, FACT,
	       "what its values are, and how those of several runs merge"),
	COLUMN(select_row, type, "type", NONE, FACT,
	       "integer, real, bool or text; lists count as text"),
	COLUMN_AS("meaning", select_row, what, "meaning", NONE, FACT, "meaning of the column"),
};

int select_list_tables(struct table **list, struct table *const *tables, size_t count)
{
	*list = table_new("tables", NULL, TABLE_LIST);
	table_add_columns(*list, TABLE_COLUMNS(table_columns));
	for (size_t i = 0; i < count; i++) {
		const struct select_row line = {
			.name = tables[i]->name,
			.what = tables[i]->meaning,
			.rows = tables[i]->absent ? TABLE_NO_UINT : tables[i]->row_count,
		};

		table_add(*list, &line);
	}
	return table_status(*list);
}

int select_list_columns(struct table **list, const struct table *table)
{
	static const char *const types[] = {
		[CELL_UINT] = "integer", [CELL_INT] = "integer", [CELL_REAL] = "real",
		[CELL_BOOL] = "bool",	 [CELL_TEXT] = "text",
	};

	*list = table_new("columns", NULL, TABLE_LIST);
	table_add_columns(*list, TABLE_COLUMNS(column_columns));
	for (size_t i = 0; i < table->column_count; i++) {
		const struct select_row line = {
			.name = table->columns[i].name,
			.unit = table_unit_name(table->columns[i].unit),
			.kind = table_kinds[table->columns[i].kind].name,
			.type = types[table_column_type(&table->columns[i])],
			.what = table->columns[i].meaning ? table->columns[i].meaning
							  : "its layer was not recorded",
		};

		table_add(*list, &line);
	}
	return table_status(*list);
}
