/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "overlap": how much I/O there was while the job computed and how much was not hidden
 * so, for the job and for each rank. Without compute nobody knows: then the table is absent. Knows
 * nothing of how intervals are measured.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/activity.h"
#include "analysis/analysis.h"

static int begin(const struct job *job, void **state)
{
	const struct job **kept = malloc(sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	*kept = job;
	*state = kept;
	return 0;
}

/* --- numbers of a group --- */

enum measure {
	COMPUTE_NS,
	IO_NS,
	UNOVERLAPPED_IO_NS,
	UNOVERLAPPED_COMPUTE_NS,
	APP_IO_NS,
	UNOVERLAPPED_APP_IO_NS,
	UNOVERLAPPED_APP_COMPUTE_NS,
	MEASURES,
};
static const struct table_column measures[MEASURES] = {
	[COMPUTE_NS] = { "compute_ns", "compute", UNIT_NS },
	[IO_NS] = { "io_ns", "I/O", UNIT_NS },
	[UNOVERLAPPED_IO_NS] = { "unoverlapped_io_ns", "I/O not hidden", UNIT_NS },
	[UNOVERLAPPED_COMPUTE_NS] = { "unoverlapped_compute_ns", "compute without I/O", UNIT_NS },
	[APP_IO_NS] = { "app_io_ns", "app I/O", UNIT_NS },
	[UNOVERLAPPED_APP_IO_NS] = { "unoverlapped_app_io_ns", "app I/O not hidden", UNIT_NS },
	[UNOVERLAPPED_APP_COMPUTE_NS] = { "unoverlapped_app_compute_ns", "compute without app I/O",
					  UNIT_NS },
};

static void measure(const struct activity_group *group, uint64_t values[MEASURES])
{
	const struct activity *compute = &group->of[ACTIVITY_COMPUTE];
	const struct activity *io = &group->of[ACTIVITY_IO];
	const struct activity *app_io = &group->of[ACTIVITY_APP_IO];

	values[COMPUTE_NS] = compute->time_ns;
	values[IO_NS] = io->time_ns;
	values[UNOVERLAPPED_IO_NS] = io->time_ns - io->hidden_ns;
	values[UNOVERLAPPED_COMPUTE_NS] = compute->time_ns - io->hidden_ns;
	values[APP_IO_NS] = app_io->time_ns;
	values[UNOVERLAPPED_APP_IO_NS] = app_io->time_ns - app_io->hidden_ns;
	values[UNOVERLAPPED_APP_COMPUTE_NS] = compute->time_ns - app_io->hidden_ns;
}

/* --- classes of I/O --- */

static const struct {
	const char *name;
	unsigned int needs; /* JOB_* */
	bool still;	    /* moves no bytes */
} classes[IO_CLASS_COUNT] = {
	[IO_READ] = { "read", JOB_SYSCALL, false },
	[IO_WRITE] = { "write", JOB_SYSCALL, false },
	[IO_METADATA] = { "metadata", JOB_SYSCALL, true },
	[IO_SYNC] = { "sync", JOB_SYSCALL, true },
	[IO_MMAP_READ] = { "mmap_read", JOB_FAULT | JOB_PAGECACHE, false },
	[IO_MMAP_WRITE] = { "mmap_write", JOB_FAULT | JOB_PAGECACHE, false },
};

enum { COUNT, BYTES, TIME_NS, UNOVERLAPPED_NS, CLASS_COLUMNS };
static const struct table_column class_columns[CLASS_COLUMNS] = {
	[COUNT] = { "count", NULL, UNIT_COUNT },
	[BYTES] = { "bytes", NULL, UNIT_BYTES },
	[TIME_NS] = { "time_ns", NULL, UNIT_NS },
	[UNOVERLAPPED_NS] = { "unoverlapped_ns", NULL, UNIT_NS },
};

static int add_class_columns(struct table *table, unsigned int class)
{
	char name[64];
	int status = 0;

	for (unsigned int i = 0; i < CLASS_COLUMNS && !status; i++) {
		snprintf(name, sizeof(name), "%s.%s", classes[class].name, class_columns[i].name);
		status = table_add_column(table, name, NULL, class_columns[i].unit);
	}
	return status;
}

static void set_class(struct cell *cells, const struct job *job, const struct activity_group *group,
		      unsigned int class)
{
	const struct activity *activity = &group->of[ACTIVITY_CLASS + class];
	unsigned int layer = classes[class].needs & ~JOB_PAGECACHE;

	if (!(job->layers & layer))
		return;
	cell_uint(&cells[COUNT], activity->count);
	if (!classes[class].still && (job->layers & classes[class].needs) == classes[class].needs)
		cell_uint(&cells[BYTES], activity->bytes);
	cell_uint(&cells[TIME_NS], activity->time_ns);
	cell_uint(&cells[UNOVERLAPPED_NS], activity->time_ns - activity->hidden_ns);
}

/* --- ranks --- */

static int compare_ranks(const void *left, const void *right)
{
	const struct activity_group *const *a = left, *const *b = right;

	return (*a)->rank < (*b)->rank ? -1 : (*a)->rank > (*b)->rank;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int fill_ranks(struct table *table, struct cell *cell,
		      const struct activity_group *const *ranks, size_t count)
{
	struct table *list;
	int status = table_set_table(table, cell, TABLE_LIST, &list);

	if (!status)
		status = table_add_column(list, "rank", "rank", UNIT_NONE);
	if (!status)
		status = table_add_columns(list, measures, MEASURES);
	for (size_t i = 0; i < count && !status; i++) {
		uint64_t values[MEASURES];
		struct cell *row;

		status = table_add_row(list, &row);
		if (status)
			break;
		measure(ranks[i], values);
		cell_int(&row[0], ranks[i]->rank);
		for (int j = 0; j < MEASURES; j++)
			cell_uint(&row[1 + j], values[j]);
	}
	return status;
}

/* The spread over ranks is told of these. */
static const enum measure spread[] = { COMPUTE_NS, IO_NS, UNOVERLAPPED_IO_NS };
#define SPREAD (sizeof(spread) / sizeof(spread[0]))
static const char *const spread_names[] = { "min", "median", "max" };
#define SPREAD_NAMES (sizeof(spread_names) / sizeof(spread_names[0]))

static int add_spread_columns(struct table *table)
{
	char name[64];
	int status = 0;

	for (size_t i = 0; i < SPREAD && !status; i++)
		for (size_t j = 0; j < SPREAD_NAMES && !status; j++) {
			snprintf(name, sizeof(name), "spread.%s.%s", measures[spread[i]].name,
				 spread_names[j]);
			status = table_add_column(table, name, NULL, UNIT_NS);
		}
	return status;
}

/* The slowest is the one with the most I/O that no compute hid. */
static int set_spread(struct cell *slowest, struct cell *cells,
		      const struct activity_group *const *ranks, size_t count)
{
	uint64_t *sorted, values[MEASURES], most = 0;

	if (!count)
		return 0;
	sorted = reallocarray(NULL, count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < SPREAD; i++) {
		for (size_t j = 0; j < count; j++) {
			measure(ranks[j], values);
			sorted[j] = values[spread[i]];
			if (!j || values[UNOVERLAPPED_IO_NS] > most) {
				most = values[UNOVERLAPPED_IO_NS];
				cell_int(slowest, ranks[j]->rank);
			}
		}
		qsort(sorted, count, sizeof(*sorted), compare_numbers);
		cell_uint(cells++, sorted[0]);
		cell_uint(cells++, sorted[(count - 1) / 2]);
		cell_uint(cells++, sorted[count - 1]);
	}
	free(sorted);
	return 0;
}

static int set_ranks(struct table *table, struct cell *slowest, struct cell *cells,
		     struct cell *list, const struct activities *all)
{
	size_t count = all->group_count - 1;
	const struct activity_group **ranks = reallocarray(NULL, count + 1, sizeof(*ranks));
	int status;

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ranks[i] = &all->groups[i + 1];
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	status = set_spread(slowest, cells, ranks, count);
	if (!status)
		status = fill_ranks(table, list, ranks, count);
	free(ranks);
	return status;
}

/* --- the table --- */

static int fill(void *state, struct table *table)
{
	const struct job *job = *(const struct job **)state;
	const struct activities *all = job->activities;
	const struct activity_group *group = &all->groups[ACTIVITY_JOB];
	uint64_t values[MEASURES];
	struct cell *cell;
	int status = 0;

	if (!group->of[ACTIVITY_COMPUTE].count) {
		table->absent = true;
		return table_set_note(table,
				      all->wanted || job->layers & JOB_SPAN
					      ? "no span of category compute: overlap is "
						"unknown"
					      : "spans of the application were not recorded");
	}
	status = table_add_columns(table, measures, MEASURES);
	for (unsigned int i = 0; i < IO_CLASS_COUNT && !status; i++)
		status = add_class_columns(table, i);
	if (!status)
		status = table_add_column(table, "slowest_rank", "slowest rank", UNIT_NONE);
	if (!status)
		status = add_spread_columns(table);
	if (!status)
		status = table_add_column(table, "by_rank", NULL, UNIT_NONE);
	if (!status && job->lost)
		status = table_set_note(table, "lost events are missing here");
	if (!status)
		status = table_add_row(table, &cell);
	if (status)
		return status;
	measure(group, values);
	for (int i = 0; i < MEASURES; i++)
		cell_uint(cell++, values[i]);
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++, cell += CLASS_COLUMNS)
		set_class(cell, job, group, i);
	return set_ranks(table, cell, cell + 1, cell + 1 + SPREAD * SPREAD_NAMES, all);
}

const struct analysis analysis_overlap = {
	.name = "overlap",
	.title = "Overlap of I/O and compute",
	.shape = TABLE_RECORD,
	.begin = begin,
	.fill = fill,
	.end = free,
};
