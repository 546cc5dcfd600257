/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells by name. Knows nothing of what the names mean.
 */
#include "output/pick.h"

#include <stdio.h>
#include <string.h>

const struct table *pick_table(const struct table *const *tables, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(tables[i]->name, name))
			return tables[i]->absent ? NULL : tables[i];
	return NULL;
}

const struct cell *pick_cell(const struct table *table, size_t row, const char *column)
{
	static const struct cell nothing = { .type = CELL_NULL };
	int number = table && row < table->row_count ? table_find_column(table, column) : -1;

	return number < 0 ? &nothing : &table->cells[row * table->column_count + number];
}

const struct cell *pick_in(const struct table *table, size_t row, const char *group,
			   const char *name)
{
	char column[96];

	snprintf(column, sizeof(column), "%s.%s", group, name);
	return pick_cell(table, row, column);
}

uint64_t pick_number(const struct cell *cell)
{
	return cell->type == CELL_UINT ? cell->uint : 0;
}

int pick_new_list(struct table **table, const char *title, const struct pick_column *columns,
		  size_t count)
{
	int status = table_new(table, "", title, TABLE_LIST);

	for (size_t i = 0; i < count && !status; i++)
		status = table_add_column(*table,
					  &(const struct table_column) { .name = columns[i].title,
									 .title = columns[i].title,
									 .unit = columns[i].unit });
	return status;
}
