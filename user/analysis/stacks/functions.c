/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "functions": the lines of each function, summed up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/analysis.h"
#include "analysis/shared/results.h"
#include "analysis/stacks/lines.h"
#include "base/compare.h"

static const struct table_column columns[] = {
	COLUMN(lines_row, file, "file", PATH, KEY, "source file, as in table lines"),
	COLUMN(lines_row, function, "function", NONE, KEY, "qualified name"),
};

static int compare_texts(struct table_text a, struct table_text b)
{
	const size_t length = a.length < b.length ? a.length : b.length;
	const int order = length ? memcmp(a.bytes, b.bytes, length) : 0;

	return order ? order : COMPARE(a.length, b.length);
}

static int compare_literals(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int compare_rows(const void *left, const void *right)
{
	const struct lines_row *a = left, *b = right;

	return compare_texts(a->file, b->file) ?: compare_texts(a->function, b->function) ?:
	       compare_literals(a->state, b->state) ?: compare_literals(a->reason, b->reason);
}

/* Sums up equal rows; returns how many are left. */
static size_t merge_rows(struct lines_row *rows, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++) {
		if (kept && !compare_rows(&rows[kept - 1], &rows[i]))
			line_sums_add(&rows[kept - 1].sums, &rows[i].sums);
		else
			rows[kept++] = rows[i];
		rows[kept - 1].line = TABLE_NO_UINT;
	}
	return kept;
}

static void conclude(const struct results *results, struct table *table)
{
	struct lines_row *rows;
	size_t count;

	if (lines_absent(table, results->job))
		return;
	table_add_columns(table, TABLE_COLUMNS(columns));
	lines_add_columns(table);
	rows = lines_rows(results, &count);
	if (rows)
		lines_add_rows(table, results->job, rows, merge_rows(rows, count));
	else
		table_fail(table, -ENOMEM);
	free(rows);
}

const struct analysis analysis_functions = {
	.name = "functions",
	.meaning = "time in each function of Python: in operations, blocked, and on a CPU",
	.title = NULL, /* only with --table or --by */
	.shown = "location,time_ns,share,uncertainty_ns,state,count,fetched_bytes",
	.by = "time_ns",
	.merges = true,
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude,
	.merging = { .sorted = "-time_ns", .many = "functions", .label = "location" },
	.remake = lines_remake,
};
