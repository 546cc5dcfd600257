/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Marks sums that stand for unions. */
#include "analysis/report/summed.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && !strcmp(name + length - end_length, end);
}

static bool is_union(const struct table_column *column)
{
	return column->kind == KIND_UNION || column->kind == KIND_RATIO;
}

/* Returns whether a column is a time that requires single operations: it stays null. */
static bool is_missing(const struct table *table, const struct table_column *column)
{
	return column->needs & ~table->recorded & JOB_EVENTS &&
	       (column->kind == KIND_UNION || column->kind == KIND_UNOVERLAPPED);
}

/* "read time" becomes "read thread time". */
static void retitle(struct table *table, size_t number)
{
	const char *title = table->columns[number].title;
	char text[128];

	if (!title || !ends_with(title, "time") || ends_with(title, "thread time"))
		return;
	snprintf(text, sizeof(text), "%.*sthread time", (int)(strlen(title) - strlen("time")),
		 title);
	table_set_title(table, number, text);
}

/* Of a time and its sum over threads, shows only the first. */
static void show_once(struct table *table)
{
	struct table_view *view = &table->view;
	bool times = false;
	size_t kept = 0;

	for (size_t i = 0; i < view->shown_count; i++)
		times |= table->columns[view->shown[i]].kind == KIND_UNION;
	for (size_t i = 0; i < view->shown_count; i++)
		if (!times || table->columns[view->shown[i]].kind != KIND_THREAD)
			view->shown[kept++] = view->shown[i];
	view->shown_count = kept;
}

static void say_no_io(struct table *table)
{
	char note[1024];

	snprintf(note, sizeof(note),
		 "%.800s%sI/O times require individual operations (--mode trace)",
		 table->note ? table->note : "", table->note ? "; " : "");
	table_set_note(table, note);
}

void summed_mark(struct table *table, const struct job *job)
{
	bool missing = false;

	if (!job->aggregated || table->absent)
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		missing |= is_missing(table, &table->columns[i]);
		if (!is_union(&table->columns[i]) || is_missing(table, &table->columns[i]))
			continue;
		retitle(table, i);
		for (size_t row = 0; row < table->row_count; row++)
			table_row(table, row)[i].summed = true;
	}
	if (missing && table->row_count)
		say_no_io(table);
	show_once(table);
}
