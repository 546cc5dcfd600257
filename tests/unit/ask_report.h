/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reports of made traces, and queries on their tables. Include after cmocka.h. */
#pragma once

#include <string.h>

#include "analysis/report/report.h"
#include "make_trace.h"

MADE struct report *made_report_with(struct trace_reader *const *readers, size_t count,
				     const struct report_options *options)
{
	static const char *const names[] = { "a.flt", "b.flt", "c.flt" };
	struct trace_error error = { "" };
	struct report *report;

	if (report_make(&report, readers, names, count, options, &error))
		fail_msg("%s", error.text);
	return report;
}

MADE struct report *made_report(struct trace_reader *const *readers, size_t count)
{
	return made_report_with(readers, count, NULL);
}

/* Reports on a single trace that has ended. */
MADE struct report *report_with(struct made_trace *made, const struct report_options *options)
{
	return made_report_with(&made->reader, 1, options);
}

/* A report on a single trace is refused with these words. */
MADE void check_refused(struct trace_reader *reader, const struct report_options *options,
			int status, const char *words)
{
	static const char *const names[] = { "a.flt" };
	struct trace_error error = { "" };
	struct report *report;

	assert_int_equal(report_make(&report, &reader, names, 1, options, &error), status);
	if (!strstr(error.text, words))
		fail_msg("%s", error.text);
}

/* --- queries --- */

MADE const struct cell *ask(const struct report *report, const char *name, size_t row,
			    const char *column)
{
	const struct table *table = report_table(report, name);
	int number;

	assert_non_null(table);
	number = table_find_column(table, column);
	if (number < 0 || row >= table->row_count)
		fail_msg("%s has no column %s or no row %zu", name, column, row);
	return &table->cells[row * table->column_count + number];
}

/* The row with the given text in a column, or -1. */
MADE int row_with(const struct report *report, const char *name, const char *column,
		  const char *text)
{
	const struct table *table = report_table(report, name);

	for (size_t i = 0; i < table->row_count; i++)
		if (cell_is(ask(report, name, i, column), text))
			return i;
	return -1;
}

/* The same for a row that must exist. */
MADE size_t find_row(const struct report *report, const char *name, const char *column,
		     const char *text)
{
	int row = row_with(report, name, column, text);

	if (row < 0)
		fail_msg("%s has no row whose %s is %s", name, column, text);
	return row;
}

MADE int row_of_finding(const struct report *report, const char *id)
{
	return row_with(report, "findings", "id", id);
}

MADE size_t finding_row(const struct report *report, const char *id)
{
	return find_row(report, "findings", "id", id);
}

#define CHECK(report, table, row, column, expected)                                                \
	check_uint(report, table, row, column, expected, __FILE__, __LINE__)

MADE void check_uint(const struct report *report, const char *table, size_t row, const char *column,
		     uint64_t expected, const char *file, int line)
{
	const struct cell *cell = ask(report, table, row, column);
	uint64_t value = cell->type == CELL_INT ? (uint64_t)cell->sint : cell->uint;

	if ((cell->type != CELL_UINT && cell->type != CELL_INT) || value != expected) {
		print_error("%s[%zu].%s is %s%lld, not %lld\n", table, row, column,
			    cell->type == CELL_NULL ? "null: " : "", (long long)value,
			    (long long)expected);
		_fail(file, line);
	}
}

MADE void check_text(const struct report *report, const char *table, size_t row, const char *column,
		     const char *expected)
{
	const struct cell *cell = ask(report, table, row, column);

	assert_int_equal(cell->type, CELL_TEXT);
	if (cell->length != strlen(expected) || memcmp(cell->text, expected, cell->length) != 0)
		fail_msg("%s of %s is \"%.*s\", not \"%s\"", column, table, (int)cell->length,
			 cell->text, expected);
}

MADE void check_finding_text(const struct report *report, const char *id, const char *column,
			     const char *expected)
{
	check_text(report, "findings", finding_row(report, id), column, expected);
}

MADE void check_null(const struct report *report, const char *table, size_t row, const char *column)
{
	if (ask(report, table, row, column)->type != CELL_NULL)
		fail_msg("%s[%zu].%s is not null", table, row, column);
}

/* Ends a single trace and reports on it; done() frees both. */
MADE struct report *report_between(struct made_trace *made, uint64_t start_ns, uint64_t end_ns)
{
	made_finish(made, start_ns, end_ns);
	return made_report(&made->reader, 1);
}

MADE struct report *report_of(struct made_trace *made, uint64_t end_ns)
{
	return report_between(made, 0, end_ns);
}

MADE void done(struct made_trace *made, struct report *report)
{
	report_free(report);
	made_close(made);
}
