/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Totals by class of I/O. Makes no numbers of its own but shares of the run's duration.
 */
#include "output/classes.h"

#include <string.h>

#include "output/pick.h"

/* Those of the first screen come first. */
enum { TITLE, TIME, SHARE, CALLS, BYTES, FETCHED, ERRORS, CREATED, MAJOR, THREAD_TIME };

/* Columns, and the names of the numbers in the report. */
static const struct {
	struct pick_column column;
	const char *names[3]; /* the first that there is */
} columns[] = {
	[TITLE] = { { "", UNIT_NONE }, { NULL } },
	[TIME] = { { "time", UNIT_NS }, { "time_ns" } },
	[SHARE] = { { "of the run", UNIT_SHARE }, { NULL } },
	[CALLS] = { { "calls", UNIT_COUNT }, { "count", "faults", "events" } },
	[BYTES] = { { "bytes", UNIT_BYTES }, { "bytes" } },
	[FETCHED] = { { "from storage", UNIT_BYTES }, { "fetched_bytes" } },
	[CREATED] = { { "created by writes", UNIT_BYTES }, { "created_bytes" } },
	[ERRORS] = { { "errors", UNIT_COUNT }, { "errors" } },
	[MAJOR] = { { "major", UNIT_COUNT }, { "major" } },
	[THREAD_TIME] = { { "thread time", UNIT_NS }, { "thread_time_ns" } },
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))
#define BRIEF_COUNT CREATED

enum {
	ALWAYS = 1 << 0, /* on the first screen even if it did not occur */
	DETAIL = 1 << 1, /* never on the first screen */
	SUMMED = 1 << 2, /* its time is that of all threads, one added to the other */
	IF_ANY = 1 << 3, /* on the first screen only if there are any */
};

static const struct {
	const char *name, *title;
	unsigned int flags;
} rows[] = {
	{ "io", "all I/O", DETAIL },
	{ "read", "read", ALWAYS },
	{ "write", "write", 0 },
	{ "metadata", "metadata", 0 },
	{ "sync", "sync", 0 },
	{ "mmap_read", "mmap read (faults)", ALWAYS },
	{ "mmap_write", "mmap write (faults)", 0 },
	{ "anonymous_faults", "anonymous faults", DETAIL | SUMMED },
	{ "shmem_faults", "shared memory faults", DETAIL | SUMMED },
	{ "unknown_faults", "faults of unknown mappings", SUMMED | IF_ANY },
	{ "indirect", "indirect (other files)", DETAIL },
	{ "unattributed", "unattributed", IF_ANY },
};

/* The number of a row for a column, NULL where there is none. */
static const struct cell *pick_first(const struct table *totals, size_t number, size_t column)
{
	const struct cell *cell = NULL;

	for (size_t i = 0; i < 3 && columns[column].names[i]; i++) {
		cell = pick_in(totals, 0, rows[number].name, columns[column].names[i]);
		if (cell->type != CELL_NULL)
			return cell;
	}
	return cell;
}

static int add_row(struct table *table, size_t number, const struct table *totals,
		   uint64_t duration)
{
	struct cell *row;
	int status = table_add_row(table, &row);

	if (status)
		return status;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct cell *cell = pick_first(totals, number, i);

		if (cell)
			row[i] = *cell;
	}
	if (rows[number].flags & SUMMED) {
		if (table->column_count > THREAD_TIME)
			row[THREAD_TIME] = row[TIME];
		row[TIME].type = CELL_NULL;
	}
	if (row[TIME].type == CELL_UINT && duration)
		cell_real(&row[SHARE], (double)row[TIME].uint / duration);
	return table_set_text(table, &row[TITLE], rows[number].title, strlen(rows[number].title));
}

static bool is_on_screen(size_t number, const struct table *totals)
{
	const struct cell *count = pick_first(totals, number, CALLS);

	if (rows[number].flags & (ALWAYS | DETAIL))
		return rows[number].flags & ALWAYS;
	if (rows[number].flags & IF_ANY)
		return pick_number(count);
	return count->type != CELL_UINT || count->uint;
}

int classes_make(struct table **out, const struct table *trace, const struct table *totals,
		 bool brief)
{
	struct pick_column picked[COLUMN_COUNT];
	uint64_t duration = pick_number(pick_cell(trace, 0, "duration_ns"));
	int status;

	for (size_t i = 0; i < COLUMN_COUNT; i++)
		picked[i] = columns[i].column;
	status = pick_new_list(out, brief ? NULL : "Totals", picked,
			       brief ? BRIEF_COUNT : COLUMN_COUNT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !status; i++)
		if (!brief || is_on_screen(i, totals))
			status = add_row(*out, i, totals, duration);
	return status;
}
