/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "levels": time on each level between the application and the page, with DFAnalyzer's levels
 * (application, data loader, system call) and page faults.
 */

#include "analysis/phases/levels.h"
#include "analysis/shared/results.h"

static const struct {
	const char *level, *name;
	enum activity_of activity;
	unsigned int needs; /* JOB_*; none: spans */
} levels[] = {
	{ "application", "compute", ACTIVITY_COMPUTE, 0 },
	{ "application", "data loading", ACTIVITY_DATA, 0 },
	{ "application", "checkpoint", ACTIVITY_CHECKPOINT, 0 },
	{ "data loader", "workers", ACTIVITY_WORKER, 0 },
	{ "data loader", "preprocess", ACTIVITY_PREPROCESS, 0 },
	{ "data loader", "item", ACTIVITY_ITEM, 0 },
	{ "system call", "> 4 KiB", ACTIVITY_LARGE, JOB_SYSCALL | JOB_EVENTS },
	{ "system call", "<= 4 KiB", ACTIVITY_SMALL, JOB_SYSCALL | JOB_EVENTS },
	{ "system call", "others", ACTIVITY_OTHER, JOB_SYSCALL | JOB_EVENTS },
	{ "page fault", "file mappings", ACTIVITY_FAULT, JOB_FAULT | JOB_EVENTS },
};

/* A table row. */
struct levels_row {
	const char *level, *name;
	uint64_t count, time_ns, unoverlapped_ns, io_ns, bytes;
};

static const struct table_column columns[] = {
	COLUMN(levels_row, level, "level", NONE, KEY,
	       "level between the application and the page: application and data loader (spans), "
	       "system call, page fault"),
	COLUMN(levels_row, name, "", NONE, KEY,
	       "activity on that level: spans by category or name, workers (data and preprocess "
	       "spans in descendants of a process with spans), or calls by bytes moved"),
	COLUMN(levels_row, count, "count", COUNT, SUM, "number of spans, calls or faults", 0,
	       STRETCH(COUNT)),
	COLUMN(levels_row, time_ns, "time", NS, COVERED,
	       "time with at least one of them in progress", 0, STRETCH(TIME)),
	COLUMN(levels_row, unoverlapped_ns, "unoverlapped", NS, UNOVERLAPPED,
	       "time with at least one of them in progress, outside compute"),
	COLUMN(levels_row, io_ns, "I/O", NS, UNOVERLAPPED,
	       "part of the unoverlapped time with I/O of the job in progress; only for data "
	       "loading and checkpoints",
	       JOB_EVENTS),
	COLUMN(levels_row, bytes, "bytes", BYTES, SUM,
	       "bytes moved; for faults, bytes read from storage", 0,
	       STRETCH_MOVED | STRETCH(READ_FAULTED) | STRETCH(WRITE_FAULTED)),
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	*(const struct job **)state = job;
}

static void add_row(struct table *table, const struct job *job, size_t number)
{
	const struct activity_group *group = &job->activities->groups[ACTIVITY_JOB];
	const struct activity *activity = &group->of[levels[number].activity];
	enum activity_wait_of wait = activity_wait_of(levels[number].activity);
	unsigned int needs = levels[number].needs;
	struct levels_row line = {
		.level = levels[number].level,
		.name = levels[number].name,
		.count = TABLE_NO_UINT,
		.time_ns = TABLE_NO_UINT,
		.unoverlapped_ns = TABLE_NO_UINT,
		.io_ns = TABLE_NO_UINT,
		.bytes = TABLE_NO_UINT,
	};

	if ((job->layers & needs) != needs) {
		table_add(table, &line);
		return;
	}
	line.count = activity->count;
	line.time_ns = activity->time_ns;
	if (group->of[ACTIVITY_COMPUTE].count && levels[number].activity != ACTIVITY_COMPUTE)
		line.unoverlapped_ns = activity_unhidden_ns(activity);
	if (wait != ACTIVITY_WAITS && line.unoverlapped_ns != TABLE_NO_UINT)
		line.io_ns = group->waits[wait].io_ns;
	if (needs && (!(needs & JOB_FAULT) || job->layers & JOB_PAGECACHE))
		line.bytes = activity->bytes;
	table_add(table, &line);
}

static int rows_with(uint32_t activities, struct row_of rows[ROWS_OF_MAX])
{
	int count = 0;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (activities >> levels[i].activity & 1)
			rows[count++] = (struct row_of) { .row = i };
	return count;
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	return event->class == IO_NONE ? 0 : rows_with(1u << activity_of_event(event), rows);
}

/* GPU compute does not pass as an event. */
static int rows_of_span(void *state, uint32_t slot, bool begins, struct row_of rows[ROWS_OF_MAX])
{
	const struct job *job = *(const struct job **)state;
	uint32_t unknown = job->activities->gpu ? 1u << ACTIVITY_COMPUTE : 0;
	uint32_t kinds =
		begins ? activities_of_span(job->activities, slot) : job->activities->kinds[slot];

	return rows_with(kinds & ~unknown, rows);
}

/* Claims that there were no spans only if that is certain. */
static const char *why_none(const struct job *job)
{
	if (!(job->layers & JOB_SPAN))
		return "application spans were not recorded";
	if (job->lost_spans)
		return "no spans were recorded, but some were lost or may have been missed";
	if (!job->complete)
		return "no spans were recorded, but the trace is incomplete";
	if (job_count_notes(job, TRACE_NOTE_ENDED_UNSEEN))
		return "no spans were recorded, but programs ended before Faultline knew whether "
		       "they mark any";
	return "no spans were marked";
}

static void fill(void *state, struct table *table)
{
	const struct job *job = *(const struct job **)state;

	table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));
	table->recorded = job->layers;
	if (table_absent_if(table, !job->activities->wanted, why_none(job)))
		return;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		add_row(table, job, i);
	if (job->lost)
		table_set_note(table, "excludes lost events");
}

/* --- reading back --- */

static bool view_of_row(const struct table *table, size_t row, struct level_view *view)
{
	view->io_known = table_number(table, row, "io_ns", &view->io_ns);
	if (!view->io_known)
		view->io_ns = 0;
	return table_number(table, row, "count", &view->count) &&
	       table_number(table, row, "time_ns", &view->time_ns) &&
	       table_number(table, row, "unoverlapped_ns", &view->unhidden_ns);
}

static bool view_of_table(const struct report *report, enum activity_of which,
			  struct level_view *view)
{
	const struct table *table = report_by(report, &analysis_levels);
	int name = table_find_column(table, "name");

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		for (size_t row = 0;
		     levels[i].activity == which && name >= 0 && row < table->row_count; row++)
			if (cell_is(&table_row(table, row)[name], levels[i].name))
				return view_of_row(table, row, view);
	return false;
}

bool levels_view(const struct results *results, enum activity_of which, struct level_view *view)
{
	const unsigned int io = JOB_EVENTS | JOB_MOVED | JOB_FAULT;
	enum activity_wait_of wait = activity_wait_of(which);
	const struct activity_group *group;

	*view = (struct level_view) { .count = 0 };
	if (!results->job)
		return view_of_table(results->report, which, view);
	group = &results->job->activities->groups[ACTIVITY_JOB];
	view->count = group->of[which].count;
	view->time_ns = group->of[which].time_ns;
	view->unhidden_ns = activity_unhidden_ns(&group->of[which]);
	view->io_ns = wait != ACTIVITY_WAITS ? group->waits[wait].io_ns : 0;
	view->io_known = (results->job->layers & io) == io;
	return true;
}

const struct analysis analysis_levels = {
	.name = "levels",
	.meaning = "time on each level between the application and the page; null if no spans are "
		   "marked",
	.title = "Levels",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(const struct job *),
	.begin = begin,
	.fill = fill,
	.rows_of = rows_of,
	.rows_of_span = rows_of_span,
	.merging = { .whole = true },
};
