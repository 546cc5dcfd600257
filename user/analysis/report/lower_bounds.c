/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Marks numbers that are lower bounds. */
#include "analysis/report/lower_bounds.h"

/* Returns whether more events would make a number of this kind larger. */
static bool is_bound(const struct table_column *column, bool counted)
{
	switch (column->kind) {
	case KIND_THREAD:
		return column->unit == UNIT_NS && !counted;
	case KIND_UNION:
	case KIND_COVERED:
	case KIND_UNOVERLAPPED:
	case KIND_LARGEST:
		return column->unit == UNIT_NS;
	default:
		return false;
	}
}

void lower_bounds_mark(struct table *table, const struct job *job, bool counted)
{
	if (job->complete && !job->lost)
		return;
	for (size_t i = 0; i < table->column_count; i++)
		for (size_t row = 0; row < table->row_count; row++)
			if (is_bound(&table->columns[i], counted && job->complete))
				table_row(table, row)[i].at_least = true;
}
