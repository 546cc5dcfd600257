/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "totals": the job's I/O by class and, for each class, by method. A class is the sum of its
 * methods, except for merged time.
 *
 * Counts, errors, bytes and thread time are exact even if events were lost: what the kernel counted
 * beyond the trace's rows is added. For a complete trace the sum equals the kernel's own count; an
 * incomplete trace has only its rows. The class of a lost event is known because the kernel counts
 * by operation. Merged time can only come from rows.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/devices/devices.h"
#include "analysis/shared/measure.h"
#include "analysis/shared/results.h"
#include "analysis/totals/totals.h"
#include "analysis/devices/writeback.h"

enum { STORAGE_READ, STORAGE_WRITE, STORAGE_SIDES };

struct totals {
	const struct job *job;
	struct submissions submissions;
	struct submissions reported; /* the same; TABLE_NO_UINT if unknown */
	struct tally paths[IO_CLASS_COUNT][METHOD_NONE + 1];
	struct interval_union classes[IO_CLASS_COUNT], all; /* merged over methods */
	struct tally tallies[MEASURES];			    /* all methods; set at the end */
	struct trace_operation_total memory[TOTALS_MEMORY_FAULTS];
	struct trace_operation_total pages[TOTALS_PAGES];
	struct trace_operation_total storage[STORAGE_SIDES];
	struct trace_operation_total throttled;
	uint64_t stores_bytes; /* written back because of stores through mappings */
	struct unmapped unmapped;
};

#define ALL_COLUMNS (~0u)
#define MOVING_TITLED (ALL_COLUMNS & ~MEASURE_CREATED)
#define WRITING_TITLED (ALL_COLUMNS & ~MEASURE_READ_FOR_WRITE)
#define STILL_TITLED (MEASURE_COUNT | MEASURE_ERRORS | MEASURE_TIME | MEASURE_THREAD_TIME)

/* In table order, with the columns shown in the text report. */
static const struct {
	unsigned int measure, titled;
} shown[] = {
	{ MEASURE_IO, ALL_COLUMNS },	  { IO_READ, MOVING_TITLED },
	{ IO_WRITE, WRITING_TITLED },	  { IO_METADATA, STILL_TITLED },
	{ IO_SYNC, STILL_TITLED },	  { IO_MMAP_READ, MOVING_TITLED },
	{ IO_MMAP_WRITE, MOVING_TITLED },
};

#define SUM_OF_OPERATION(member) TABLE_UINT(struct trace_operation_total, member)

static const struct table_column memory_fields[] = {
	COLUMN(trace_operation_total, count, NULL, COUNT, SUM,
	       "page faults without a known file: on anonymous memory, on shared memory (tmpfs "
	       "included), or on a mapping that was not found"),
	COLUMN_AS("major", trace_operation_total, major_faults, "major", COUNT, SUM,
		  "such faults that were major: they waited for pages to be swapped in; null: "
		  "older traces"),
	COLUMN_AS("time_ns", trace_operation_total, thread_time_ns, "thread time", NS, THREAD,
		  "time of such faults, summed over threads"),
};

static const struct {
	const char *operation;
	struct table_group group;
} memory_faults[TOTALS_MEMORY_FAULTS] = {
	[TOTALS_ANONYMOUS] = { "anonymous_fault",
			       { "anonymous_faults", "anonymous faults", 0,
				 TABLE_COLUMNS(memory_fields) } },
	[TOTALS_SHMEM] = { "shmem_fault",
			   { "shmem_faults", "shared memory faults", 0,
			     TABLE_COLUMNS(memory_fields) } },
	[TOTALS_UNKNOWN] = { "unknown_fault",
			     { "unknown_faults", "faults on unknown mappings", 0,
			       TABLE_COLUMNS(memory_fields) } },
};

/* Page-cache fills of files that are not an operation's own. */
static const struct table_column page_fields[] = {
	{ "events", "events", UNIT_COUNT, KIND_SUM,
	  "times pages of a file were added to the page cache by no operation (unattributed), or "
	  "by an operation on another file (indirect)",
	  SUM_OF_OPERATION(count), 0, STRETCH(MARKED) },
	COLUMN(trace_operation_total, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, readahead included", 0,
	       STRETCH(FETCHED)),
	COLUMN(trace_operation_total, created_bytes, "newly cached", BYTES, SUM,
	       "bytes of new page-cache pages filled by writes", 0, STRETCH(CREATED)),
};

static const struct {
	enum trace_family family;
	struct table_group group;
} page_groups[TOTALS_PAGES] = {
	[TOTALS_UNATTRIBUTED] = { TRACE_CACHE,
				  { "unattributed", "unattributed", JOB_OTHER_PAGES,
				    TABLE_COLUMNS(page_fields) } },
	[TOTALS_INDIRECT] = { TRACE_INDIRECT,
			      { "indirect", "indirect", JOB_OTHER_PAGES,
				TABLE_COLUMNS(page_fields) } },
};

/* Part of the time of the calls and faults that it happens in. */
static const struct table_column throttled_fields[] = {
	{ "pauses", "pauses", UNIT_COUNT, KIND_SUM,
	  "times the kernel throttled a writing thread because of too many dirty pages",
	  SUM_OF_OPERATION(count), 0, STRETCH(MARKED) },
	{ "pause_ns", "thread time", UNIT_NS, KIND_SUM,
	  "time writers were throttled because of too many dirty pages, summed over threads; part "
	  "of the time of their calls and faults",
	  SUM_OF_OPERATION(thread_time_ns), 0, STRETCH(THREAD_TIME) },
};
static const struct table_group throttled_group = { "throttled", "throttled", JOB_THROTTLED,
						    TABLE_COLUMNS(throttled_fields) };

static const struct table_column async_fields[] = {
	COLUMN_AS("submissions_not_traced", submissions, all, "submissions, not traced", COUNT, SUM,
		  "operations submitted to io_uring and libaio, not traced because layer async was "
		  "off; the bytes they moved are unknown"),
	COLUMN_AS("io_uring", submissions, uring, NULL, COUNT, SUM,
		  "untraced operations submitted to io_uring"),
	COLUMN(submissions, libaio, NULL, COUNT, SUM, "untraced operations submitted to libaio"),
	COLUMN(submissions, polled_rings, NULL, COUNT, SUM,
	       "rings polled by the kernel; most submissions to them are not even counted"),
};
static const struct table_group async_group = { "async", "asynchronous", JOB_SYSCALL,
						TABLE_COLUMNS(async_fields) };

/* The run's part of requests. */
static const struct table_column storage_fields[] = {
	{ "requests", "requests", UNIT_COUNT, KIND_SUM,
	  "completed requests that contain bytes of the run", SUM_OF_OPERATION(count), 0,
	  STRETCH(MARKED) },
	COLUMN(trace_operation_total, bytes, "bytes", BYTES, SUM,
	       "bytes of the run in completed requests", 0, STRETCH_MOVED),
};

static const struct {
	const char *operation;
	struct table_group group;
} storage_groups[STORAGE_SIDES] = {
	{ "request_read",
	  { "storage_read", "read from devices", JOB_BLOCK, TABLE_COLUMNS(storage_fields) } },
	{ "request_write",
	  { "storage_write", "written to devices", JOB_BLOCK, TABLE_COLUMNS(storage_fields) } },
};

/* Groups of the table's only row, for plots: measures, followed by ... */
enum {
	GROUP_PAGES = MEASURES,
	GROUP_THROTTLED = GROUP_PAGES + TOTALS_PAGES,
	GROUP_STORAGE,
	GROUPS = GROUP_STORAGE + STORAGE_SIDES,
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct totals *totals = state;

	totals->job = job;
}

static void add_unmapped(struct totals *totals, const struct event *event)
{
	const uint32_t flags = event->flags & (EVENT_CALL | EVENT_FAILED | EVENT_SUMMED);
	struct unmapped *unmapped = &totals->unmapped;

	if (flags != EVENT_CALL || event->file != FILE_NONE ||
	    !totals->job->operations[event->operation].unmaps)
		return;
	unmapped->bytes = number_add(unmapped->bytes, event->asked_bytes);
	unmapped->thread_time_ns = number_add(unmapped->thread_time_ns, event->end - event->start);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct totals *totals = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (event->class == IO_NONE) {
			add_unmapped(totals, event);
			continue;
		}
		tally_add(&totals->paths[event->class][event->method], event);
		if (!(event->flags & EVENT_TIMED))
			continue;
		tally_merge_time(&totals->classes[event->class], event);
		tally_merge_time(&totals->all, event);
	}
	return 0;
}

static int add_series(void *state, const struct event_series *series)
{
	struct totals *totals = state;
	const struct event *event = series->events;

	event_series_add(&totals->paths[event->class][event->method], series);
	if (event->flags & EVENT_TIMED) {
		event_series_merge_time(&totals->classes[event->class], series);
		event_series_merge_time(&totals->all, series);
	}
	return 0;
}

/* Lost events have a class and a method, too. */
static void add_unseen(struct totals *totals)
{
	for (size_t i = 0; i < totals->job->operation_count; i++) {
		const struct operation *operation = &totals->job->operations[i];
		struct event_unseen targets[2];
		size_t count = event_unseen(operation, targets);

		for (size_t j = 0; j < count; j++)
			tally_add_unseen(&totals->paths[targets[j].class][targets[j].method],
					 &operation->unseen, &targets[j]);
	}
}

static void sum_up(struct totals *totals)
{
	struct tally *all = &totals->tallies[MEASURE_IO];

	add_unseen(totals);
	for (size_t i = 0; i < IO_CLASS_COUNT; i++) {
		struct tally *class = &totals->tallies[i];

		for (size_t method = 0; method <= METHOD_NONE; method++)
			tally_fold(class, &totals->paths[i][method]);
		class->time = totals->classes[i];
		all->thread_time_ns += class->thread_time_ns;
	}
	all->time = totals->all;
}

static void add_submissions(struct totals *totals)
{
	struct submissions *sums = &totals->submissions;

	for (size_t i = 0; i < totals->job->operation_count; i++) {
		const struct operation *operation = &totals->job->operations[i];
		uint64_t count = operation->seen.submissions + operation->unseen.submissions;

		if (operation->family != TRACE_SUBMITS)
			continue;
		if (operation->polls) {
			sums->polled_rings += operation->seen.submissions;
			if (!(totals->job->layers & JOB_ASYNC))
				sums->polled_rings +=
					operation->unseen.count - operation->unseen.errors;
			continue;
		}
		sums->all += count;
		if (!strcmp(operation->name, "io_submit"))
			sums->libaio += count;
		else
			sums->uring += count;
	}
}

/* Submissions are counted in the kernel and known only from its totals: zero is unknown if the
 * totals are missing. */
static void emit_submissions(struct totals *totals)
{
	struct submissions *reported = &totals->reported;
	uint64_t *counts[] = { &reported->all, &reported->uring, &reported->libaio,
			       &reported->polled_rings };

	*reported = totals->submissions;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (totals->job->filtered & JOB_SYSCALL || (!*counts[i] && !totals->job->complete))
			*counts[i] = TABLE_NO_UINT;
}

/* The kernel's totals are complete only at the end of every trace. */
static const struct operation *find_memory_faults(const struct job *job, const char *name)
{
	if (!job->complete || !(job->layers & JOB_FAULT) || job->filtered & JOB_FAULT)
		return NULL;
	for (size_t i = 0; i < job->operation_count; i++)
		if (!strcmp(job->operations[i].name, name) &&
		    job->operations[i].family == TRACE_ANONFAULT)
			return &job->operations[i];
	return NULL;
}

static void add_memory_fault_columns(struct table *table, struct totals *totals, size_t i)
{
	const struct table_column nothing = { .name = memory_faults[i].group.name,
					      .kind = KIND_FACT };
	const struct operation *operation =
		find_memory_faults(totals->job, memory_faults[i].operation);

	if (!operation) {
		table_add_column(table, &nothing);
		return;
	}
	totals->memory[i] = operation->unseen;
	table_add_group(table, &memory_faults[i].group,
			offsetof(struct totals, memory) + i * sizeof(struct trace_operation_total));
}

static void add_operations(struct totals *totals)
{
	for (size_t i = 0; i < totals->job->operation_count; i++) {
		const struct operation *operation = &totals->job->operations[i];

		for (size_t j = 0; j < TOTALS_PAGES; j++)
			if (operation->family == page_groups[j].family)
				job_add_operation(&totals->pages[j], operation);
		if (operation->family == TRACE_DELAY)
			job_add_operation(&totals->throttled, operation);
		for (size_t j = 0; j < STORAGE_SIDES; j++)
			if (operation->family == TRACE_STORAGE &&
			    !strcmp(operation->name, storage_groups[j].operation))
				job_add_operation(&totals->storage[j], operation);
	}
}

static void fill(void *state, struct table *table)
{
	struct totals *totals = state;

	sum_up(totals);
	add_operations(totals);
	add_submissions(totals);
	emit_submissions(totals);
}

/* Follows the other columns of mmap_write, if there are any. */
static const struct table_column stores_column =
	COLUMN_AS("mmap_write.written_back_bytes", totals, stores_bytes, "mmap write written back",
		  BYTES, SUM,
		  "bytes written to devices because of stores through mappings, by the stores' "
		  "share of each file's dirtied bytes",
		  JOB_DIRTIED | JOB_BLOCK);

/* Adds the columns of tallies by measure at offset `base` of the rows. */
static void add_measures(struct table *table, unsigned int recorded, size_t base)
{
	table->recorded = recorded;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		measure_add_columns(table, shown[i].measure, ALL_COLUMNS, shown[i].titled,
				    base + shown[i].measure * sizeof(struct tally));
}

/* Requests without a completion event may belong to the run. */
static void mark_storage(const struct results *results, struct table *table)
{
	static const enum device_use uses[STORAGE_SIDES] = { DEVICE_READS, DEVICE_WRITES };

	for (size_t i = 0; i < table->column_count; i++)
		for (size_t side = 0; side < STORAGE_SIDES; side++) {
			const char *name = storage_groups[side].group.name;

			if (devices_unseen(results, uses[side]) &&
			    !strncmp(table->columns[i].name, name, strlen(name)) &&
			    table->cells[i].type == CELL_UINT)
				table->cells[i].at_least = true;
		}
}

/* Adds results of other tables, too. */
static void conclude(const struct results *results, struct table *table)
{
	struct totals *totals = results_state(results, &analysis_totals);

	add_measures(table, totals->job->layers, offsetof(struct totals, tallies));
	totals->stores_bytes = writeback_of_stores(results);
	if (totals->job->layers & JOB_FAULT)
		table_add_column(table, &stores_column);
	for (size_t i = 0; i < TOTALS_PAGES; i++)
		table_add_group(table, &page_groups[i].group,
				offsetof(struct totals, pages) +
					i * sizeof(struct trace_operation_total));
	table_add_group(table, &throttled_group, offsetof(struct totals, throttled));
	for (size_t i = 0; i < TOTALS_MEMORY_FAULTS; i++)
		add_memory_fault_columns(table, totals, i);
	table_add_group(table, &async_group, offsetof(struct totals, reported));
	for (size_t i = 0; i < STORAGE_SIDES; i++)
		table_add_group(table, &storage_groups[i].group,
				offsetof(struct totals, storage) +
					i * sizeof(struct trace_operation_total));
	table_add(table, totals);
	if (!table_status(table))
		mark_storage(results, table);
}

static uint32_t group_of_request(const struct totals *totals, const struct event *event)
{
	const char *name = totals->job->operations[event->operation].name;

	for (size_t i = 0; i < STORAGE_SIDES; i++)
		if (!strcmp(name, storage_groups[i].operation))
			return GROUP_STORAGE + i;
	return GROUPS;
}

/* Marked: events that are not operations. */
static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	uint32_t group = GROUPS;

	if (event->class != IO_NONE) {
		rows[0] = (struct row_of) { .row = event->class };
		rows[1] = (struct row_of) { .row = MEASURE_IO };
		return event->flags & EVENT_TIMED ? 2 : 1;
	}
	if (event->flags & EVENT_PAGECACHE)
		group = GROUP_PAGES +
			(event->flags & EVENT_INDIRECT ? TOTALS_INDIRECT : TOTALS_UNATTRIBUTED);
	else if (event->flags & EVENT_THROTTLED)
		group = GROUP_THROTTLED;
	else if (event->flags & EVENT_REQUEST)
		group = group_of_request(state, event);
	rows[0] = (struct row_of) { .row = group, .marked = true };
	return group < GROUPS ? 1 : 0;
}

const char *totals_group(uint32_t row)
{
	if (row < MEASURES)
		return measure_name(row);
	if (row < GROUP_THROTTLED)
		return page_groups[row - GROUP_PAGES].group.name;
	return row == GROUP_THROTTLED ? throttled_group.name
				      : storage_groups[row - GROUP_STORAGE].group.name;
}

struct unmapped totals_unmapped(const struct results *results)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return totals->unmapped;
}

struct submissions totals_submissions(const struct results *results)
{
	const struct totals *totals = results_state(results, &analysis_totals);
	struct submissions reported = { 0 };
	const struct table *table;

	if (results->job)
		return totals->submissions;
	table = report_by(results->report, &analysis_totals);
	for (size_t i = 0; i < async_group.count && table->row_count; i++) {
		const struct table_column *column = &async_fields[i];
		char name[64];

		snprintf(name, sizeof(name), "%s.%s", async_group.name, column->name);
		table_number(table, 0, name, (uint64_t *)((char *)&reported + column->key));
	}
	return reported;
}

struct tally totals_class(const struct results *results, enum io_class class)
{
	const struct totals *totals = results_state(results, &analysis_totals);
	struct tally reported[MEASURES] = { 0 };
	const struct table *table;

	if (results->job)
		return totals->tallies[class];
	table = report_by(results->report, &analysis_totals);
	if (table->row_count)
		table_read_row(table, 0, reported);
	return reported[class];
}

const struct tally *totals_path(const struct results *results, enum io_class class,
				enum io_method method)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return &totals->paths[class][method];
}

const struct tally *totals_all(const struct results *results)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return &totals->tallies[MEASURE_IO];
}

const struct trace_operation_total *totals_pages(const struct results *results,
						 enum totals_pages which)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return &totals->pages[which];
}

const struct trace_operation_total *totals_memory(const struct results *results,
						  enum totals_memory which)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return &totals->memory[which];
}

const struct trace_operation_total *totals_throttled(const struct results *results)
{
	const struct totals *totals = results_state(results, &analysis_totals);

	return &totals->throttled;
}

static void add_all_measures(struct table *like)
{
	add_measures(like, ~0u, 0);
}

/* Adds missing columns for totals_class(). */
static void remake(const struct report *report, struct table *table)
{
	table_adopt(table, add_all_measures);
}

const struct analysis analysis_totals = {
	.name = "totals",
	.meaning = "the job's I/O by class; counts and bytes are exact even if events were lost",
	.shape = TABLE_RECORD,
	.state_bytes = sizeof(struct totals),
	.begin = begin,
	.aggregated_ok = true,
	.counted = true,
	.consumer = { .parallel = true, .sums = true, .events = add_events, .series = add_series },
	.fill = fill,
	.conclude = conclude,
	.rows_of = rows_of,
	.remake = remake,
};
