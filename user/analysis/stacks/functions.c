/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "functions": the lines of each function, summed up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/analysis.h"
#include "analysis/shared/results.h"
#include "analysis/stacks/lines.h"
#include "collections/compare.h"
#include "base/number.h"

static const struct table_column columns[] = {
	COLUMN(lines_row, file, "file", PATH, KEY, "source file, as in table lines"),
	COLUMN(lines_row, function, "function", NONE, KEY, "qualified name"),
};

static int compare_texts(struct table_text a, struct table_text b)
{
	const size_t length = number_min(a.length, b.length);
	const int order = length ? memcmp(a.bytes, b.bytes, length) : 0;

	return order ? order : COMPARE(a.length, b.length);
}

static int compare_literals(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

COMPARE_BY(compare_rows, struct lines_row,
	   compare_texts(a->file, b->file) ?:
	   compare_texts(a->function, b->function) ?:
	   compare_literals(a->state, b->state) ?:
	   compare_literals(a->reason, b->reason))

struct functions {
	struct arena *arena;
	void *lines;	   /* the state of the analysis of lines */
	uint32_t *of_line; /* by the number of a line: the number of its function's row */
	uint32_t *rows;	   /* of the table: their numbers */
	size_t count;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	((struct functions *)state)->arena = arena;
}

/* Sums up equal rows, and notes the row of each; returns how many are left. */
static size_t merge_rows(struct lines_row *rows, size_t count, uint32_t *of_line)
{
	size_t kept = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++) {
		const uint32_t line = rows[i].number;

		if (kept && !compare_rows(&rows[kept - 1], &rows[i]))
			line_sums_add(&rows[kept - 1].sums, &rows[i].sums);
		else
			rows[kept++] = rows[i];
		rows[kept - 1].line = TABLE_NO_UINT;
		of_line[line] = rows[kept - 1].number;
	}
	return kept;
}

static void conclude(const struct results *results, struct table *table)
{
	struct functions *functions = results_state(results, &analysis_functions);
	struct lines_row *rows;
	size_t count;

	if (lines_absent(table, results->job))
		return;
	table_add_columns(table, TABLE_COLUMNS(columns));
	lines_add_columns(table);
	rows = lines_rows(results, &count);
	functions->lines = results_state(results, &analysis_lines);
	functions->of_line = arena_alloc(functions->arena, (count + 1) * sizeof(uint32_t));
	functions->rows = arena_alloc(functions->arena, (count + 1) * sizeof(uint32_t));
	if (rows && functions->rows) {
		functions->count = merge_rows(rows, count, functions->of_line);
		lines_add_rows(table, results->job, rows, functions->count);
		for (size_t i = 0; i < functions->count; i++)
			functions->rows[i] = rows[i].number;
	} else {
		table_fail(table, -ENOMEM);
	}
	free(rows);
}

static void row_numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct functions *functions = filled;

	for (size_t i = 0; i < count; i++)
		numbers[i] = functions->rows[i];
	if (count < functions->count) /* the last one sums up those without room */
		numbers[count - 1] = UINT32_MAX;
}

static bool add_to_row(void *filled, const struct event *event, struct sampled_sum *sum)
{
	struct functions *functions = filled;
	const bool adds = lines_add_to_row(functions->lines, event, sum);

	sum->number = adds ? functions->of_line[sum->number] : 0;
	return adds;
}

static const struct sampled function_times = {
	.columns = LINES_SAMPLED,
	.spread = LINES_SPREAD,
	.filled = &analysis_functions,
	.numbers = row_numbers,
	.adds = add_to_row,
	.matters = EVENT_THREAD,
};

const struct analysis analysis_functions = {
	.name = "functions",
	.meaning = "time in each function of Python: in operations, blocked, and on a CPU",
	.title = NULL, /* only with --table or --by */
	.shown = "location,time_ns,share,uncertainty_ns,state,count,fetched_bytes",
	.by = "time_ns",
	.merges = true,
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct functions),
	.begin = begin,
	.conclude = conclude,
	.sampled = &function_times,
	.merging = { .sorted = "-time_ns", .many = "functions", .label = "location" },
	.remake = lines_remake,
};
