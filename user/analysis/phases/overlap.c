/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "overlap": I/O during compute and I/O outside it, for the job and for each rank. Absent
 * without compute.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/activity.h"
#include "analysis/phases/overlap.h"
#include "analysis/shared/results.h"
#include "collections/compare.h"

static void begin(void *state, const struct job *job, struct arena *arena)
{
	*(const struct job **)state = job;
}

/* --- values of a group: a row of "overlap" or "ranks" --- */

struct spread {
	uint64_t min, median, max;
};

enum { SPREAD_COMPUTE, SPREAD_IO, SPREAD_UNOVERLAPPED_IO, SPREADS };

struct class_line {
	uint64_t count, bytes, time_ns, unoverlapped_ns;
};

struct overlap_row {
	int64_t rank;
	uint64_t compute_ns, io_ns, unoverlapped_io_ns, unoverlapped_compute_ns;
	uint64_t app_io_ns, unoverlapped_app_io_ns, unoverlapped_app_compute_ns;
	/* Only for the job: */
	int64_t slowest_rank;
	struct class_line classes[IO_CLASS_COUNT];
	struct spread spreads[SPREADS];
	const struct activity_group *const *ranks; /* sorted by rank */
	size_t rank_count;
};

static const struct table_column rank_column =
	COLUMN(overlap_row, rank, "rank", NONE, KEY, "rank of the job");

static const struct table_column measures[] = {
	COLUMN(overlap_row, compute_ns, "compute", NS, COVERED,
	       "time covered by compute (compute spans and GPU activity)"),
	COLUMN(overlap_row, io_ns, "I/O", NS, UNION,
	       "time with at least one operation or fault in progress", JOB_EVENTS),
	COLUMN(overlap_row, unoverlapped_io_ns, "unoverlapped I/O", NS, UNOVERLAPPED,
	       "I/O time outside compute", JOB_EVENTS),
	COLUMN(overlap_row, unoverlapped_compute_ns, "compute without I/O", NS, REMAINDER,
	       "compute time without I/O", JOB_EVENTS),
	COLUMN(overlap_row, app_io_ns, "app I/O", NS, COVERED,
	       "time in the application's own I/O spans: category io, data, reader, dataloader or "
	       "checkpoint, without bodies of loops over data"),
	COLUMN(overlap_row, unoverlapped_app_io_ns, "unoverlapped app I/O", NS, UNOVERLAPPED,
	       "time in the application's own I/O spans outside compute"),
	COLUMN(overlap_row, unoverlapped_app_compute_ns, "compute without app I/O", NS, REMAINDER,
	       "compute time outside the application's own I/O spans"),
};

static struct overlap_row line_of(const struct activity_group *group)
{
	const struct activity *compute = &group->of[ACTIVITY_COMPUTE];
	const struct activity *io = &group->of[ACTIVITY_IO];
	const struct activity *app_io = &group->of[ACTIVITY_APP_IO];

	return (struct overlap_row) {
		.rank = group->rank,
		.slowest_rank = TABLE_NO_INT,
		.compute_ns = compute->time_ns,
		.io_ns = io->time_ns,
		.unoverlapped_io_ns = activity_unhidden_ns(io),
		.unoverlapped_compute_ns = compute->time_ns - io->hidden_ns,
		.app_io_ns = app_io->time_ns,
		.unoverlapped_app_io_ns = activity_unhidden_ns(app_io),
		.unoverlapped_app_compute_ns = compute->time_ns - app_io->hidden_ns,
	};
}

/* --- classes of I/O --- */

static const struct {
	const char *name;
	unsigned int needs; /* JOB_* */
	bool still;	    /* moves no bytes */
} classes[IO_CLASS_COUNT] = {
	[IO_READ] = { "read", JOB_MOVED, false },
	[IO_WRITE] = { "write", JOB_MOVED, false },
	[IO_METADATA] = { "metadata", JOB_SYSCALL, true },
	[IO_SYNC] = { "sync", JOB_MOVED, true },
	[IO_MMAP_READ] = { "mmap_read", JOB_FAULT | JOB_PAGECACHE, false },
	[IO_MMAP_WRITE] = { "mmap_write", JOB_FAULT | JOB_PAGECACHE, false },
};

static const struct table_column class_columns[] = {
	COLUMN(class_line, count, NULL, COUNT, SUM, "number of operations", JOB_EVENTS),
	COLUMN(class_line, bytes, NULL, BYTES, SUM,
	       "bytes moved; for faults, bytes read from storage", JOB_EVENTS),
	COLUMN(class_line, time_ns, NULL, NS, UNION,
	       "time with at least one operation of the class in progress", JOB_EVENTS),
	COLUMN(class_line, unoverlapped_ns, NULL, NS, UNOVERLAPPED,
	       "time with at least one operation of the class in progress, outside compute",
	       JOB_EVENTS),
};

static void add_class_columns(struct table *table, unsigned int class)
{
	const struct table_group group = { classes[class].name, NULL, 0,
					   TABLE_COLUMNS(class_columns) };

	table_add_group(table, &group,
			offsetof(struct overlap_row, classes) + class * sizeof(struct class_line));
}

static struct class_line class_of(const struct job *job, const struct activity_group *group,
				  unsigned int class)
{
	const struct activity *activity = &group->of[ACTIVITY_CLASS + class];
	unsigned int needs = classes[class].needs, layer = needs & ~JOB_PAGECACHE;
	bool bytes = !classes[class].still && (job->layers & needs) == needs;

	if (!(job->layers & layer))
		return (struct class_line) { TABLE_NO_UINT, TABLE_NO_UINT, TABLE_NO_UINT,
					     TABLE_NO_UINT };
	return (struct class_line) {
		.count = activity->count,
		.bytes = bytes ? activity->bytes : TABLE_NO_UINT,
		.time_ns = activity->time_ns,
		.unoverlapped_ns = activity_unhidden_ns(activity),
	};
}

/* --- ranks --- */

static int compare_ranks(const void *left, const void *right)
{
	const struct activity_group *const *a = left, *const *b = right;

	return COMPARE((*a)->rank, (*b)->rank);
}

static void get_ranks(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	const struct overlap_row *job = row;
	struct table *list = table_set_table(table, cell, TABLE_LIST);

	table_add_column(list, &rank_column);
	table_add_columns(list, TABLE_COLUMNS(measures));
	for (size_t i = 0; i < job->rank_count; i++) {
		const struct overlap_row line = line_of(job->ranks[i]);

		table_add(list, &line);
	}
}

/* Columns with a spread over ranks. */
static const struct {
	const char *name;
	size_t offset; /* in struct overlap_row */
} spread[SPREADS] = {
	[SPREAD_COMPUTE] = { "spread.compute_ns", offsetof(struct overlap_row, compute_ns) },
	[SPREAD_IO] = { "spread.io_ns", offsetof(struct overlap_row, io_ns) },
	[SPREAD_UNOVERLAPPED_IO] = { "spread.unoverlapped_io_ns",
				     offsetof(struct overlap_row, unoverlapped_io_ns) },
};

static const struct table_column spread_columns[] = {
	COLUMN(spread, min, NULL, NS, DERIVED, "minimum over ranks"),
	COLUMN(spread, median, NULL, NS, DERIVED, "median over ranks"),
	COLUMN(spread, max, NULL, NS, DERIVED, "maximum over ranks"),
};

static void add_spread_columns(struct table *table)
{
	for (size_t i = 0; i < SPREADS; i++) {
		unsigned int needs = i == SPREAD_COMPUTE ? 0 : JOB_EVENTS;
		const struct table_group group = { spread[i].name, NULL, needs,
						   TABLE_COLUMNS(spread_columns) };

		table_add_group(table, &group,
				offsetof(struct overlap_row, spreads) + i * sizeof(struct spread));
	}
}

static int set_spreads(struct overlap_row *job)
{
	uint64_t *sorted = reallocarray(NULL, job->rank_count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < SPREADS; i++) {
		for (size_t j = 0; j < job->rank_count; j++) {
			const struct overlap_row line = line_of(job->ranks[j]);

			sorted[j] = *(const uint64_t *)((const char *)&line + spread[i].offset);
		}
		qsort(sorted, job->rank_count, sizeof(*sorted), compare_u64);
		job->spreads[i] = (struct spread) { sorted[0], sorted[(job->rank_count - 1) / 2],
						    sorted[job->rank_count - 1] };
	}
	free(sorted);
	return 0;
}

/* The slowest rank is the one with the most unoverlapped I/O. */
static int set_ranks(struct overlap_row *job, const struct activity_group **ranks,
		     const struct activities *all)
{
	uint64_t max = 0;

	job->rank_count = all->group_count - 1;
	job->ranks = ranks;
	if (!job->rank_count) {
		memset(job->spreads, 0xff, sizeof(job->spreads)); /* TABLE_NO_UINT */
		return 0;
	}
	for (size_t i = 0; i < job->rank_count; i++)
		ranks[i] = &all->groups[i + 1];
	qsort(ranks, job->rank_count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < job->rank_count; i++) {
		const struct overlap_row line = line_of(ranks[i]);

		if (i && line.unoverlapped_io_ns <= max)
			continue;
		max = line.unoverlapped_io_ns;
		job->slowest_rank = line.rank;
	}
	return set_spreads(job);
}

/* --- the table --- */

static const struct table_column slowest_column =
	COLUMN(overlap_row, slowest_rank, "slowest rank", NONE, DERIVED,
	       "rank with the most I/O that its own compute did not overlap", JOB_EVENTS);
static const struct table_column ranks_column = {
	"by_rank",
	NULL,
	UNIT_NONE,
	KIND_DERIVED,
	"list of each rank's times, from compute_ns to unoverlapped_app_compute_ns",
	.get = get_ranks
};

static void add_columns(struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(measures));
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		add_class_columns(table, i);
	table_add_column(table, &slowest_column);
	add_spread_columns(table);
	table_add_column(table, &ranks_column);
}

static int add_job(struct table *table, const struct job *job)
{
	const struct activities *all = job->activities;
	const struct activity_group *group = &all->groups[ACTIVITY_JOB];
	const struct activity_group **ranks =
		reallocarray(NULL, all->group_count, sizeof(const struct activity_group *));
	struct overlap_row line = line_of(group);
	int status;

	if (!ranks)
		return -ENOMEM;
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		line.classes[i] = class_of(job, group, i);
	status = set_ranks(&line, ranks, all);
	if (!status)
		table_add(table, &line);
	free(ranks);
	return status;
}

static void fill(void *state, struct table *table)
{
	const struct job *job = *(const struct job **)state;
	const struct activities *all = job->activities;

	if (table_absent_if(table, !all->groups[ACTIVITY_JOB].of[ACTIVITY_COMPUTE].count,
			    all->wanted || job->layers & JOB_SPAN
				    ? "no span of category compute: overlap is unknown"
				    : "application spans were not recorded"))
		return;
	table->recorded = job->layers;
	add_columns(table);
	if (job->lost)
		table_set_note(table, "excludes lost events");
	table_fail(table, add_job(table, job));
}

/* --- the table "ranks" --- */

static void fill_ranks(void *state, struct table *table)
{
	const struct job *job = *(const struct job **)state;
	const struct activities *all = job->activities;
	bool computes = all->groups[ACTIVITY_JOB].of[ACTIVITY_COMPUTE].count;

	if (table_absent_if(table, job->aggregated && all->group_count <= 1,
			    "operations were aggregated, and no rank marked spans"))
		return;
	table->recorded = job->layers;
	table_add_column(table, &rank_column);
	table_add_columns(table, TABLE_COLUMNS(measures));
	for (size_t i = 1; i < all->group_count; i++) {
		struct overlap_row line = line_of(&all->groups[i]);

		if (!computes)
			line.compute_ns = line.unoverlapped_io_ns = line.unoverlapped_compute_ns =
				line.unoverlapped_app_io_ns = line.unoverlapped_app_compute_ns =
					TABLE_NO_UINT;
		table_add(table, &line);
	}
}

/* --- sampling --- */

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = i + 1;
}

static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct activities *all = state;
	struct activity_sum compute, io, app_io;

	if (number >= all->group_count)
		return;
	compute = activities_at(state, number, now_ns, ACTIVITY_COMPUTE);
	io = activities_at(state, number, now_ns, ACTIVITY_IO);
	app_io = activities_at(state, number, now_ns, ACTIVITY_APP_IO);
	values[0] = compute.time_ns;
	values[1] = io.time_ns;
	values[2] = io.time_ns - io.hidden_ns;
	values[3] = compute.time_ns - io.hidden_ns;
	values[4] = app_io.time_ns;
	values[5] = app_io.time_ns - app_io.hidden_ns;
	values[6] = compute.time_ns - app_io.hidden_ns;
}

static const struct sampled sampled = {
	.columns = { "compute_ns", "io_ns", "unoverlapped_io_ns", "unoverlapped_compute_ns",
		     "app_io_ns", "unoverlapped_app_io_ns", "unoverlapped_app_compute_ns" },
	.state_bytes = sizeof(struct activities),
	.begin = activities_begin_again,
	.consumer = &activities_calls,
	.filled = &analysis_ranks,
	.numbers = numbers,
	.at = at,
};

/* --- reading back --- */

static bool is_known(const struct table *table, const char *name)
{
	int column = table_find_column(table, name);

	for (size_t row = 0; column >= 0 && row < table->row_count; row++) {
		const struct cell *cell = &table_row(table, row)[column];

		if (cell->type != CELL_UINT || cell->summed)
			return false;
	}
	return column >= 0 && table->row_count && !table->cut;
}

bool overlap_of(const struct report *report, enum io_class class, struct overlap_view *view)
{
	const struct table *table = report_by(report, &analysis_overlap);
	char time[64], unoverlapped[64];

	snprintf(time, sizeof(time), "%s.time_ns", classes[class].name);
	snprintf(unoverlapped, sizeof(unoverlapped), "%s.unoverlapped_ns", classes[class].name);
	if (!table->row_count || table_find_column(table, time) < 0 ||
	    table_find_column(table, unoverlapped) < 0)
		return false;
	*view = (struct overlap_view) { table_uint(table, 0, time),
					table_uint(table, 0, unoverlapped) };
	return view->time_ns;
}

/* --- merging reports --- */

/* Ranks have their own table, from which the values over all ranks are computed. */
static int remake_spreads(const struct table *ranks, struct table *table)
{
	static const size_t parts[] = { offsetof(struct spread, min),
					offsetof(struct spread, median),
					offsetof(struct spread, max) };
	uint64_t *sorted = reallocarray(NULL, ranks->row_count + 1, sizeof(*sorted));
	size_t last = ranks->row_count - 1;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < SPREADS; i++) {
		const char *name = spread[i].name + strlen("spread.");
		struct spread found;

		if (!is_known(ranks, name))
			continue;
		for (size_t row = 0; row < ranks->row_count; row++)
			sorted[row] = table_uint(ranks, row, name);
		qsort(sorted, ranks->row_count, sizeof(*sorted), compare_u64);
		found = (struct spread) { sorted[0], sorted[last / 2], sorted[last] };
		for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++) {
			char column[64];
			int number;

			snprintf(column, sizeof(column), "%s.%s", spread[i].name,
				 spread_columns[j].name);
			number = table_find_column(table, column);
			if (number >= 0)
				cell_uint(&table->cells[number],
					  *(const uint64_t *)((const char *)&found + parts[j]));
			if (number >= 0)
				table->cells[number].summed = false;
		}
	}
	free(sorted);
	return 0;
}

static void remake(const struct report *report, struct table *table)
{
	const struct table *ranks = report_by(report, &analysis_ranks);
	int slowest = table_find_column(table, slowest_column.name);
	int all = table_find_column(table, ranks_column.name);
	const struct cell within = { .type = CELL_TABLE, .table = ranks };
	uint64_t max = 0;
	bool known;

	if (!table->row_count || ranks->absent)
		return;
	known = slowest >= 0 && is_known(ranks, measures[2].name);
	for (size_t row = 0; row < ranks->row_count && known; row++) {
		uint64_t time_ns = table_uint(ranks, row, measures[2].name);
		const struct cell *rank = table_row(ranks, row);

		if (row && time_ns <= max)
			continue;
		max = time_ns;
		table->cells[slowest] = *rank;
	}
	if (all >= 0)
		table_copy_cell(table, &table->cells[all], &within);
	table_fail(table, remake_spreads(ranks, table));
}

const struct analysis analysis_ranks = {
	.name = "ranks",
	.meaning = "I/O overlapped and not overlapped by compute, by rank",
	.title = "Ranks, most unoverlapped I/O first",
	.shape = TABLE_LIST,
	.shown = "rank,unoverlapped_io_ns,io_ns,compute_ns,unoverlapped_compute_ns,app_io_ns,"
		 "unoverlapped_app_io_ns",
	.by = "unoverlapped_io_ns",
	.text_only = true,
	.aggregated_ok = true,
	.state_bytes = sizeof(const struct job *),
	.begin = begin,
	.fill = fill_ranks,
	.sampled = &sampled,
	.merging = { .named = "rank", .own = true, .sorted = "rank", .many = "ranks" },
};

const struct analysis analysis_overlap = {
	.name = "overlap",
	.meaning = "I/O overlapped and not overlapped by compute, for the job; null without "
		   "compute (spans of category compute, or GPU activity from --spans)",
	.shape = TABLE_RECORD,
	.aggregated_ok = true,
	.state_bytes = sizeof(const struct job *),
	.begin = begin,
	.fill = fill,
	.merging = { .whole = true },
	.remake = remake,
};
