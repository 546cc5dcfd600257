/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Totals by class of I/O. Makes no numbers of its own but shares of the run's duration.
 */
#include "output/classes.h"

#include <string.h>

#include "output/pick.h"

/* Columns, and the names of the numbers in the report; those of the first screen come first. */
static const struct {
	struct pick_column column;
	const char *name, *other; /* `other` where there is no `name` */
} columns[] = {
	{ { "", UNIT_NONE }, NULL, NULL },
	{ { "time", UNIT_NS }, "time_ns", NULL },
	{ { "of the run", UNIT_SHARE }, NULL, NULL },
	{ { "calls", UNIT_COUNT }, "count", "faults" },
	{ { "bytes", UNIT_BYTES }, "bytes", NULL },
	{ { "from storage", UNIT_BYTES }, "fetched_bytes", NULL },
	{ { "errors", UNIT_COUNT }, "errors", NULL },
	{ { "major", UNIT_COUNT }, "major", NULL },
	{ { "thread time", UNIT_NS }, "thread_time_ns", NULL },
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))
#define BRIEF_COUNT (COLUMN_COUNT - 2)

enum { TITLE, TIME, SHARE, CALLS };

static const struct {
	const char *name, *title;
	enum { WHEN_ANY, ALWAYS, NEVER_BRIEF } when;
} rows[] = {
	{ "io", "all I/O", NEVER_BRIEF },
	{ "read", "read", ALWAYS },
	{ "write", "write", WHEN_ANY },
	{ "metadata", "metadata", WHEN_ANY },
	{ "sync", "sync", WHEN_ANY },
	{ "mmap_read", "mmap read (faults)", ALWAYS },
	{ "mmap_write", "mmap write (faults)", WHEN_ANY },
	{ "anonymous_faults", "anonymous faults", NEVER_BRIEF },
	{ "shmem_faults", "shared memory faults", NEVER_BRIEF },
};

static int add_row(struct table *table, size_t number, const struct table *totals,
		   uint64_t duration)
{
	struct cell *row;
	int status = table_add_row(table, &row);

	if (status)
		return status;
	for (size_t i = 0; i < table->column_count; i++) {
		if (columns[i].name)
			row[i] = *pick_in(totals, 0, rows[number].name, columns[i].name);
		if (columns[i].other && row[i].type == CELL_NULL)
			row[i] = *pick_in(totals, 0, rows[number].name, columns[i].other);
	}
	if (row[TIME].type == CELL_UINT && duration)
		cell_real(&row[SHARE], (double)row[TIME].uint / duration);
	return table_set_text(table, &row[TITLE], rows[number].title, strlen(rows[number].title));
}

static bool is_shown(size_t number, const struct table *totals)
{
	const struct cell *count = pick_in(totals, 0, rows[number].name, columns[CALLS].name);

	if (rows[number].when != WHEN_ANY)
		return rows[number].when == ALWAYS;
	if (count->type == CELL_NULL)
		count = pick_in(totals, 0, rows[number].name, columns[CALLS].other);
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
	status = pick_new_list(out, "Totals", picked, brief ? BRIEF_COUNT : COLUMN_COUNT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !status; i++)
		if (!brief || is_shown(i, totals))
			status = add_row(*out, i, totals, duration);
	return status;
}
