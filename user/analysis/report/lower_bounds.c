/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Marks numbers that are lower bounds. */
#include "analysis/report/lower_bounds.h"

#include <string.h>

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && !strcmp(name + length - end_length, end);
}

/* Thread time in these tables comes from the kernel's totals, which are exact if the trace is
 * complete. */
static bool is_exact(const struct table *table, const char *name, bool complete)
{
	return complete && ends_with(name, "thread_time_ns") &&
	       (!strcmp(table->name, "totals") || !strcmp(table->name, "operations"));
}

static bool is_bound(const struct table_column *column)
{
	static const char *const ends[] = { "time_ns", "io_ns", "cost_ns" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (column->unit == UNIT_NS && ends_with(column->name, ends[i]))
			return true;
	return false;
}

void lower_bounds_mark(struct table *table, const struct job *job)
{
	if (job->complete && !job->lost)
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		if (!is_bound(column) || is_exact(table, column->name, job->complete))
			continue;
		for (size_t row = 0; row < table->row_count; row++)
			table_row(table, row)[i].at_least = true;
	}
}
