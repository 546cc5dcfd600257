/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Getters for columns whose cells are members of the row, their inverse, and their types. */
#include <math.h>

#include "analysis/table/table.h"
#include "base/units.h"

static const void *member_of(const void *row, const struct table_column *column)
{
	return (const char *)row + column->key;
}

void table_get_uint(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	const uint64_t *value = member_of(row, column);

	if (*value != TABLE_NO_UINT)
		cell_uint(cell, *value);
}

void table_get_int(struct table *table, struct cell *cell, const void *row,
		   const struct table_column *column)
{
	const int64_t *value = member_of(row, column);

	if (*value != TABLE_NO_INT)
		cell_int(cell, *value);
}

void table_get_real(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	const double *value = member_of(row, column);

	if (isfinite(*value))
		cell_real(cell, *value);
}

void table_get_bool(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	const bool *value = member_of(row, column);

	cell_bool(cell, *value);
}

void table_get_maybe(struct table *table, struct cell *cell, const void *row,
		     const struct table_column *column)
{
	const int8_t *value = member_of(row, column);

	if (*value >= 0)
		cell_bool(cell, *value);
}

void table_get_device(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	const uint32_t *dev = member_of(row, column);
	char text[UNITS_TEXT];

	if (*dev)
		table_set_literal(table, cell, units_device(text, *dev));
}

void table_get_literal(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	const char *const *text = member_of(row, column);

	table_set_literal(table, cell, *text);
}

void table_get_text(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	const struct table_text *text = member_of(row, column);

	if (text->bytes)
		table_set_text(table, cell, text->bytes, text->length);
}

static void get_percentile(struct table *table, struct cell *cell, const void *row,
			   const struct table_column *column, unsigned int percent)
{
	const struct histogram *const *histogram = member_of(row, column);

	if (!*histogram)
		return;
	cell_uint(cell, histogram_percentile(*histogram, percent));
	table_note_percentile(table, cell, *histogram, percent);
}

void table_get_p50(struct table *table, struct cell *cell, const void *row,
		   const struct table_column *column)
{
	get_percentile(table, cell, row, column, 50);
}

void table_get_p99(struct table *table, struct cell *cell, const void *row,
		   const struct table_column *column)
{
	get_percentile(table, cell, row, column, 99);
}

void table_adopt(struct table *table, void (*add_columns)(struct table *like))
{
	struct table *like = table_new(table->name, NULL, table->shape);

	if (like)
		add_columns(like);
	table_fail(table, table_status(like));
	for (size_t i = 0; i < table->column_count && !table_status(table); i++) {
		int same = table_find_column(like, table->columns[i].name);

		table->columns[i].get = same < 0 ? NULL : like->columns[same].get;
		table->columns[i].key = same < 0 ? 0 : like->columns[same].key;
	}
	table_free(like);
}

static void read_cell(const struct table_column *column, const struct cell *cell, void *member)
{
	if (column->get == table_get_uint && cell->type == CELL_UINT)
		*(uint64_t *)member = cell->uint;
	else if (column->get == table_get_int && cell->type == CELL_INT)
		*(int64_t *)member = cell->sint;
	else if (column->get == table_get_bool && cell->type == CELL_BOOL)
		*(bool *)member = cell->flag;
	else if (column->get == table_get_text && cell->type == CELL_TEXT)
		*(struct table_text *)member = (struct table_text) { cell->text, cell->length };
}

void table_read_row(const struct table *table, size_t row, void *into)
{
	const struct cell *cells = table_row(table, row);

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].get)
			read_cell(&table->columns[i], &cells[i],
				  (char *)into + table->columns[i].key);
}

enum cell_type table_column_type(const struct table_column *column)
{
	static const struct {
		table_getter *get;
		enum cell_type type;
	} known[] = {
		{ table_get_uint, CELL_UINT },	{ table_get_int, CELL_INT },
		{ table_get_real, CELL_REAL },	{ table_get_bool, CELL_BOOL },
		{ table_get_maybe, CELL_BOOL }, { table_get_literal, CELL_TEXT },
		{ table_get_text, CELL_TEXT },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (column->get == known[i].get)
			return known[i].type;
	if (column->unit == UNIT_SHARE)
		return CELL_REAL;
	return column->unit == UNIT_NONE || column->unit == UNIT_PATH ? CELL_TEXT : CELL_UINT;
}

bool table_number(const struct table *table, size_t row, const char *name, uint64_t *number)
{
	int column = table_find_column(table, name);
	const struct cell *cell = column < 0 ? NULL : &table_row(table, row)[column];

	*number = cell && cell->type == CELL_UINT ? cell->uint : 0;
	return !cell || !cell->summed;
}

uint64_t table_uint(const struct table *table, size_t row, const char *name)
{
	uint64_t number;

	table_number(table, row, name, &number);
	return number;
}
