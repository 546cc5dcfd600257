/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "levels": where time went on each level between the application and the page, as
 * DFAnalyzer tells it (application, data loader, system call), and page faults. Knows nothing of
 * how intervals are measured.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/activity.h"
#include "analysis/analysis.h"

static const struct {
	const char *level, *name;
	enum activity_of activity;
	unsigned int needs; /* JOB_*; none: it is spans */
} levels[] = {
	{ "application", "compute", ACTIVITY_COMPUTE, 0 },
	{ "application", "data loading", ACTIVITY_DATA, 0 },
	{ "application", "checkpoint", ACTIVITY_CHECKPOINT, 0 },
	{ "data loader", "workers", ACTIVITY_WORKER, 0 },
	{ "data loader", "preprocess", ACTIVITY_PREPROCESS, 0 },
	{ "data loader", "item", ACTIVITY_ITEM, 0 },
	{ "system call", "> 4 KiB", ACTIVITY_LARGE, JOB_SYSCALL },
	{ "system call", "<= 4 KiB", ACTIVITY_SMALL, JOB_SYSCALL },
	{ "system call", "others", ACTIVITY_OTHER, JOB_SYSCALL },
	{ "page fault", "file mappings", ACTIVITY_FAULT, JOB_FAULT },
};

enum { LEVEL, NAME, COUNT, TIME_NS, UNOVERLAPPED_NS, BYTES };
static const struct table_column columns[] = {
	[LEVEL] = { "level", "level", UNIT_NONE },
	[NAME] = { "name", "", UNIT_NONE },
	[COUNT] = { "count", "count", UNIT_COUNT },
	[TIME_NS] = { "time_ns", "time", UNIT_NS },
	[UNOVERLAPPED_NS] = { "unoverlapped_ns", "not hidden by compute", UNIT_NS },
	[BYTES] = { "bytes", "bytes", UNIT_BYTES },
};

static int begin(const struct job *job, void **state)
{
	const struct job **kept = malloc(sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	*kept = job;
	*state = kept;
	return 0;
}

static void set_numbers(struct cell *row, const struct job *job, size_t number)
{
	const struct activity_group *group = &job->activities->groups[ACTIVITY_JOB];
	const struct activity *activity = &group->of[levels[number].activity];
	unsigned int needs = levels[number].needs;
	bool compute = levels[number].activity == ACTIVITY_COMPUTE;

	if ((job->layers & needs) != needs)
		return;
	cell_uint(&row[COUNT], activity->count);
	cell_uint(&row[TIME_NS], activity->time_ns);
	if (group->of[ACTIVITY_COMPUTE].count && !compute)
		cell_uint(&row[UNOVERLAPPED_NS], activity->time_ns - activity->hidden_ns);
	if (needs && (needs != JOB_FAULT || job->layers & JOB_PAGECACHE))
		cell_uint(&row[BYTES], activity->bytes);
}

static int fill(void *state, struct table *table)
{
	const struct job *job = *(const struct job **)state;
	int status = table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));

	if (!status && !job->activities->wanted) {
		table->absent = true;
		return table_set_note(table,
				      job->layers & JOB_SPAN
					      ? "the application marked no spans"
					      : "spans of the application were not recorded");
	}
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && !status; i++) {
		struct cell *row;

		status = table_add_row(table, &row);
		if (!status)
			status = table_set_text(table, &row[LEVEL], levels[i].level,
						strlen(levels[i].level));
		if (!status)
			status = table_set_text(table, &row[NAME], levels[i].name,
						strlen(levels[i].name));
		if (!status)
			set_numbers(row, job, i);
	}
	if (!status && job->lost)
		status = table_set_note(table, "lost events are missing here");
	return status;
}

const struct analysis analysis_levels = {
	.name = "levels",
	.title = "Levels",
	.shape = TABLE_LIST,
	.begin = begin,
	.fill = fill,
	.end = free,
};
