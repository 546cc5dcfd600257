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

static bool is_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

#define IS_OF(name, list) is_of(name, list, sizeof(list) / sizeof((list)[0]))

/* Tables whose times are exact: those of devices, spans and the run. */
static const char *const exact_tables[] = { "trace", "operations", "devices", "device_heat",
					    "spans" };

/* Tables about spans, and the I/O during them. */
static const char *const of_spans[] = { "overlap", "ranks", "levels", "epochs", "steps" };

/* Columns that are always sums over threads, or times of something else. */
static const char *const exact_columns[] = { "anonymous_faults.time_ns", "shmem_faults.time_ns",
					     "unknown_faults.time_ns" };

/* Columns of the timeline that are not times of operations. */
static const char *const stretches[] = { "start_ns", "length_ns", "compute_ns" };

static bool is_union(const struct table *table, const struct table_column *column)
{
	if (!strcmp(table->name, "access") && !strcmp(column->name, "share"))
		return true;
	if (column->unit != UNIT_NS)
		return false;
	if (!strcmp(table->name, "timeline"))
		return !IS_OF(column->name, stretches);
	return ends_with(column->name, "time_ns") && !ends_with(column->name, "thread_time_ns") &&
	       !IS_OF(column->name, exact_columns);
}

/* "read time" becomes "read thread time". */
static int retitle(struct table *table, size_t number)
{
	const char *title = table->columns[number].title;
	char text[128];

	if (!title || !ends_with(title, "time") || ends_with(title, "thread time"))
		return 0;
	snprintf(text, sizeof(text), "%.*sthread time", (int)(strlen(title) - strlen("time")),
		 title);
	return table_set_title(table, number, text);
}

/* Of a time and its sum over threads, shows only the first. */
static void show_once(struct table *table)
{
	struct table_view *view = &table->view;
	bool times = false;
	size_t kept = 0;

	for (size_t i = 0; i < view->shown_count; i++)
		times |= !strcmp(table->columns[view->shown[i]].name, "time_ns");
	for (size_t i = 0; i < view->shown_count; i++)
		if (!times || strcmp(table->columns[view->shown[i]].name, "thread_time_ns"))
			view->shown[kept++] = view->shown[i];
	view->shown_count = kept;
}

static int say_no_io(struct table *table)
{
	char note[1024];

	snprintf(note, sizeof(note),
		 "%.800s%sI/O times require individual operations (--mode trace)",
		 table->note ? table->note : "", table->note ? "; " : "");
	return table_set_note(table, note);
}

int summed_mark(struct table *table, const struct job *job)
{
	int status = 0;

	if (!job->summed || table->absent)
		return 0;
	if (IS_OF(table->name, of_spans))
		return table->row_count ? say_no_io(table) : 0;
	if (IS_OF(table->name, exact_tables))
		return 0;
	for (size_t i = 0; i < table->column_count && !status; i++) {
		if (!is_union(table, &table->columns[i]))
			continue;
		status = retitle(table, i);
		for (size_t row = 0; row < table->row_count; row++)
			table_row(table, row)[i].summed = true;
	}
	show_once(table);
	return status;
}
