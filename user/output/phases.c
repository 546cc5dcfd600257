/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Overlap and steps for reading. Makes no numbers of its own but shares of the run's duration.
 */
#include "output/phases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/escape.h"
#include "output/grid.h"
#include "output/pick.h"
#include "units.h"

/* --- overlap --- */

enum { TITLE, TIME, SHARE, UNOVERLAPPED, UNOVERLAPPED_SHARE, COUNT, BYTES, OVERLAP_COLUMNS };
static const struct pick_column overlap_columns[OVERLAP_COLUMNS] = {
	[TITLE] = { "", UNIT_NONE },
	[TIME] = { "time", UNIT_NS },
	[SHARE] = { "of the run", UNIT_SHARE },
	[UNOVERLAPPED] = { "not overlapped", UNIT_NS },
	[UNOVERLAPPED_SHARE] = { "of the run", UNIT_SHARE },
	[COUNT] = { "operations", UNIT_COUNT },
	[BYTES] = { "bytes", UNIT_BYTES },
};

/* Rows, and where their numbers stand in the report. */
static const struct {
	const char *title, *time, *unoverlapped, *count, *bytes;
	bool always;
} rows[] = {
	{ "compute", "compute_ns", "unoverlapped_compute_ns", NULL, NULL, true },
	{ "all I/O", "io_ns", "unoverlapped_io_ns", NULL, NULL, true },
#define CLASS(title, name)                                                                         \
	{                                                                                          \
		"  " title, name ".time_ns", name ".unoverlapped_ns", name ".count",               \
			name ".bytes", false                                                       \
	}
	CLASS("read", "read"),
	CLASS("write", "write"),
	CLASS("metadata", "metadata"),
	CLASS("sync", "sync"),
	CLASS("mmap read (faults)", "mmap_read"),
	CLASS("mmap write (faults)", "mmap_write"),
#undef CLASS
	{ "application I/O", "app_io_ns", "unoverlapped_app_io_ns", NULL, NULL, true },
};

static const struct cell *pick_named(const struct table *table, const char *name)
{
	return pick_cell(table, 0, name ? name : "");
}

static void set_share(struct cell *cell, const struct cell *time, uint64_t duration)
{
	if (time->type == CELL_UINT && duration)
		cell_real(cell, (double)time->uint / duration);
}

/* What all the others are shares of. */
static int add_run_row(struct table *table, uint64_t duration)
{
	struct cell *row;
	int status = table_add_row(table, &row);

	if (status)
		return status;
	cell_uint(&row[TIME], duration);
	set_share(&row[SHARE], &row[TIME], duration);
	return table_set_text(table, &row[TITLE], "run", strlen("run"));
}

static int add_overlap_row(struct table *table, const struct table *overlap, size_t number,
			   uint64_t duration)
{
	const struct cell *time = pick_named(overlap, rows[number].time);
	struct cell *row;
	int status;

	if (!rows[number].always && !pick_number(pick_named(overlap, rows[number].count)))
		return 0;
	status = table_add_row(table, &row);
	if (status)
		return status;
	row[TIME] = *time;
	row[UNOVERLAPPED] = *pick_named(overlap, rows[number].unoverlapped);
	row[COUNT] = *pick_named(overlap, rows[number].count);
	row[BYTES] = *pick_named(overlap, rows[number].bytes);
	set_share(&row[SHARE], &row[TIME], duration);
	set_share(&row[UNOVERLAPPED_SHARE], &row[UNOVERLAPPED], duration);
	return table_set_text(table, &row[TITLE], rows[number].title, strlen(rows[number].title));
}

/* "I/O not hidden, over ranks: 1.0 s to 2.0 s, median 1.5 s; rank 7 has the most" */
static void write_spread(struct sink *out, const struct table *overlap, int64_t slowest,
			 size_t width)
{
	static const char group[] = "spread.unoverlapped_io_ns";
	char least[UNITS_TEXT], median[UNITS_TEXT], most[UNITS_TEXT], line[160];

	snprintf(line, sizeof(line),
		 "I/O not hidden, over ranks: %s to %s, median %s; rank %lld has the most",
		 units_ns(least, pick_number(pick_in(overlap, 0, group, "min"))),
		 units_ns(most, pick_number(pick_in(overlap, 0, group, "max"))),
		 units_ns(median, pick_number(pick_in(overlap, 0, group, "median"))),
		 (long long)slowest);
	grid_wrapped(out, line, width);
}

/* Ranks are rows of a table within; one of its own shows them like any list. */
static int write_ranks(struct sink *out, const struct table *overlap,
		       const struct text_options *options)
{
	const struct cell *ranks = pick_cell(overlap, 0, "by_rank");
	const struct cell *slowest = pick_cell(overlap, 0, "slowest_rank");
	struct table list;

	if (ranks->type != CELL_TABLE || !ranks->table->row_count)
		return 0;
	list = *ranks->table;
	list.title = "Overlap by rank";
	sink_char(out, '\n');
	text_table(out, &list, options);
	if (slowest->type == CELL_INT && list.row_count > 1)
		write_spread(out, overlap, slowest->sint, options->width);
	return 0;
}

int phases_overlap(struct sink *out, const struct table *trace, const struct table *overlap,
		   const struct text_options *options)
{
	const struct text_options whole = { .width = options->width };
	uint64_t duration = pick_number(pick_cell(trace, 0, "duration_ns"));
	struct table *table;
	int status = pick_new_list(&table, overlap->title, overlap_columns, OVERLAP_COLUMNS);

	if (!status)
		status = add_run_row(table, duration);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !status; i++)
		status = add_overlap_row(table, overlap, i, duration);
	if (!status && overlap->note)
		status = table_set_note(table, overlap->note);
	if (!status)
		text_table(out, table, &whole);
	table_free(table);
	return status ? status : write_ranks(out, overlap, options);
}

/* --- steps --- */

/* "Steps: ...", in as many lines as it needs. */
static void write_summary(struct sink *out, const struct table *table, size_t width)
{
	struct sink line;

	sink_open_memory(&line);
	sink_format(&line, "%s: ", table->title);
	sink_text(&line, table->note ? table->note : "none");
	sink_bytes(&line, "", 1);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		grid_wrapped(out, line.buffer, width);
	sink_close(&line);
}

int phases_steps(struct sink *out, const struct table *steps, const struct text_options *options)
{
	struct text_options all = { .width = options->width };
	struct table *table;
	int status = table_new(&table, steps->name, "Steps that stand out", TABLE_LIST);

	for (size_t i = 0; i < steps->column_count && !status; i++) {
		struct table_column column = steps->columns[i];

		if (!strcmp(column.name, "outlier"))
			column.title = NULL;
		status = table_add_column(table, &column);
	}
	for (size_t i = 0; i < steps->row_count && !status; i++) {
		const struct cell *from = steps->cells + i * steps->column_count;
		const struct cell *outlier = pick_cell(steps, i, "outlier");
		struct cell *row;

		if (outlier->type != CELL_BOOL || !outlier->flag)
			continue;
		status = table_add_row(table, &row);
		if (!status)
			memcpy(row, from, steps->column_count * sizeof(*row));
	}
	if (!status && steps->note)
		status = table_set_note(table, steps->note);
	if (!status && table->row_count) {
		all.top = options->top;
		text_table(out, table, &all);
	} else if (!status) {
		table->title = "Steps";
		write_summary(out, table, options->width);
	}
	table_free(table);
	return status;
}

/* --- the first screen --- */

void phases_line(struct sink *out, const struct table *trace, const struct table *spans,
		 const struct table *overlap, size_t width)
{
	uint64_t duration = pick_number(pick_cell(trace, 0, "duration_ns"));
	uint64_t compute = pick_number(pick_cell(overlap, 0, "compute_ns"));
	uint64_t stall = pick_number(pick_cell(overlap, 0, "unoverlapped_io_ns"));
	char time[UNITS_TEXT], share[UNITS_TEXT], stall_share[UNITS_TEXT];
	struct sink line;

	if (!overlap && (!spans || !spans->row_count))
		return;
	sink_open_memory(&line);
	if (!overlap || !duration)
		sink_text(&line, "compute: unknown, no span of category compute");
	else
		sink_format(&line, "compute %s of the run; I/O not hidden by it: %s (%s)",
			    units_share(share, (double)compute / duration), units_ns(time, stall),
			    units_share(stall_share, (double)stall / duration));
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		escape_shortened(out, line.buffer, line.used, width);
	sink_char(out, '\n');
	sink_close(&line);
}
