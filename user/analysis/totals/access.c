/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "access": one row per access method and per class of calls that move no bytes, ordered by
 * time, then unattributed page-cache fills. Each byte is counted in one row. The only measurement
 * of its own is which directories metadata calls look up; the rest comes from other analyses.
 */
#include "analysis/totals/access.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/totals/methods.h"
#include "analysis/table/merging_cells.h"
#include "analysis/shared/rollup.h"
#include "analysis/totals/totals.h"
#include "collections/compare.h"
#include "base/units.h"
#include "base/strbuf.h"

/* Calls and directories named in the note when metadata leads. */
#define LEADING_CALLS 3
#define LEADING_DIRECTORIES 2
#define DIRECTORY_MAX 120   /* bytes of a directory's name */
#define DIRECTORY_SHARE 0.1 /* minimum share of metadata time */

/* A table row. */
struct access_row {
	const char *name;
	uint64_t time_ns, count, errors, bytes, fetched_bytes, created_bytes, thread_time_ns;
	double share;
};

static const struct table_column columns[ACCESS_COLUMNS] = {
	[ACCESS_NAME] = COLUMN(access_row, name, "how", NONE, KEY,
			       "access method, or class of calls that move no bytes; first row: "
			       "all I/O; last rows: indirect, unattributed"),
	[ACCESS_TIME] = COLUMN(
		access_row, time_ns, "time", NS, UNION,
		"time with at least one such operation in progress (union over threads)", JOB_IO),
	[ACCESS_SHARE] = COLUMN(access_row, share, "of I/O", SHARE, RATIO, "share of all I/O time"),
	[ACCESS_COUNT] = COLUMN(access_row, count, "ops", COUNT, SUM, "calls and faults"),
	[ACCESS_ERRORS] = COLUMN(access_row, errors, "errors", COUNT, SUM, "calls that failed"),
	[ACCESS_BYTES] =
		COLUMN(access_row, bytes, "by calls", BYTES, SUM,
		       "bytes moved by calls; null for page faults and for calls that move none"),
	[ACCESS_FETCHED] = COLUMN(access_row, fetched_bytes, "from storage", BYTES, SUM,
				  "bytes read from storage into the page cache, readahead included",
				  JOB_PAGECACHE),
	[ACCESS_CREATED] = COLUMN(access_row, created_bytes, "newly cached", BYTES, SUM,
				  "bytes of new page-cache pages filled by writes", JOB_PAGECACHE),
	[ACCESS_THREAD_TIME] = COLUMN(access_row, thread_time_ns, "thread time", NS, THREAD,
				      "operation time summed over threads"),
};

/* Rows by method and side. */
static const struct {
	enum io_method method;
	enum method_side side;
	const char *name;
	unsigned int needs;
} paths[] = {
	{ METHOD_MMAP, SIDE_READ, "page faults", JOB_FAULT },
	{ METHOD_MMAP, SIDE_WRITE, "page faults, writing", JOB_FAULT },
	{ METHOD_SYSCALL, SIDE_READ, "read()", JOB_MOVED },
	{ METHOD_SYSCALL, SIDE_WRITE, "write()", JOB_MOVED },
	{ METHOD_DIRECT, SIDE_READ, "read(), O_DIRECT", JOB_MOVED },
	{ METHOD_DIRECT, SIDE_WRITE, "write(), O_DIRECT", JOB_MOVED },
	{ METHOD_SPLICE, SIDE_READ, "sendfile, splice: read", JOB_MOVED },
	{ METHOD_SPLICE, SIDE_WRITE, "sendfile, splice: write", JOB_MOVED },
	{ METHOD_URING, SIDE_READ, "io_uring reads", JOB_ASYNC },
	{ METHOD_URING, SIDE_WRITE, "io_uring writes", JOB_ASYNC },
	{ METHOD_LIBAIO, SIDE_READ, "libaio reads", JOB_ASYNC },
	{ METHOD_LIBAIO, SIDE_WRITE, "libaio writes", JOB_ASYNC },
	{ METHOD_KERNEL, SIDE_READ, "kernel reads", JOB_VFS },
	{ METHOD_KERNEL, SIDE_WRITE, "kernel writes", JOB_VFS },
	{ METHOD_UNKNOWN, SIDE_READ, "lost read calls", JOB_MOVED },
	{ METHOD_UNKNOWN, SIDE_WRITE, "lost write calls", JOB_MOVED },
};
#define PATHS (sizeof(paths) / sizeof(paths[0]))

/* Rows by class, for classes that move no bytes. */
static const struct {
	enum io_class class;
	const char *name;
} classes[] = { { IO_METADATA, "metadata" }, { IO_SYNC, "sync" } };
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

#define LINES (PATHS + CLASSES)

static struct access_row line_of(const char *name, const struct tally *tally)
{
	return (struct access_row) {
		.name = name,
		.time_ns = tally->time.measure,
		.count = tally->count,
		.errors = tally->errors,
		.bytes = tally->bytes,
		.fetched_bytes = tally->fetched_bytes,
		.created_bytes = tally->created_bytes,
		.thread_time_ns = tally->thread_time_ns,
	};
}

static size_t make_lines(const struct results *results, struct access_row *lines)
{
	unsigned int layers = results->job->layers;
	size_t count = 0;

	for (size_t i = 0; i < PATHS; i++) {
		const struct tally tally = methods_tally(results, paths[i].method, paths[i].side);
		struct access_row *line = &lines[count];

		if ((layers & paths[i].needs) != paths[i].needs ||
		    !(tally.count | tally.fetched_bytes | tally.created_bytes | tally.bytes))
			continue;
		*line = line_of(paths[i].name, &tally);
		/* Bytes accessed through a mapping are not recorded. */
		if (paths[i].method == METHOD_MMAP)
			line->bytes = TABLE_NO_UINT;
		if (paths[i].method == METHOD_UNKNOWN)
			line->time_ns = TABLE_NO_UINT;
		count++;
	}
	for (size_t i = 0; i < CLASSES && layers & JOB_MOVED; i++) {
		const struct tally tally = totals_class(results, classes[i].class);

		if (!tally.count)
			continue;
		lines[count] = line_of(classes[i].name, &tally);
		lines[count++].bytes = TABLE_NO_UINT;
	}
	return count;
}

static int compare_lines(const void *left, const void *right)
{
	uint64_t a = ((const struct access_row *)left)->time_ns,
		 b = ((const struct access_row *)right)->time_ns;

	a = a == TABLE_NO_UINT ? 0 : a;
	b = b == TABLE_NO_UINT ? 0 : b;
	return COMPARE(b, a);
}

static void add_known(uint64_t *sum, uint64_t number)
{
	*sum += number == TABLE_NO_UINT ? 0 : number;
}

/* The first row: the sum of the rows below, without unattributed fills. */
static struct access_row sum_up(const struct results *results, const struct access_row *lines,
				size_t count)
{
	const struct tally *all = totals_all(results);
	struct access_row sum = {
		.name = "all I/O",
		.time_ns = all->time.measure,
		.share = all->time.measure ? 1 : NAN,
		.thread_time_ns = all->thread_time_ns,
	};

	for (size_t i = 0; i < count; i++) {
		add_known(&sum.count, lines[i].count);
		add_known(&sum.errors, lines[i].errors);
		add_known(&sum.bytes, lines[i].bytes);
		add_known(&sum.fetched_bytes, lines[i].fetched_bytes);
		add_known(&sum.created_bytes, lines[i].created_bytes);
	}
	return sum;
}

/* Adds page-cache fills of files that are not the subject of an operation. */
static void add_pages(struct table *table, const struct results *results)
{
	static const char *const names[TOTALS_PAGES] = {
		[TOTALS_INDIRECT] = "indirect",
		[TOTALS_UNATTRIBUTED] = "unattributed",
	};

	for (int i = TOTALS_PAGES - 1; i >= 0; i--) {
		const struct trace_operation_total *pages = totals_pages(results, i);
		const struct access_row line = {
			.name = names[i],
			.time_ns = TABLE_NO_UINT,
			.share = NAN,
			.count = pages->count,
			.errors = TABLE_NO_UINT,
			.bytes = TABLE_NO_UINT,
			.fetched_bytes = pages->fetched_bytes,
			.created_bytes = pages->created_bytes,
			.thread_time_ns = TABLE_NO_UINT,
		};

		if (pages->count)
			table_add(table, &line);
	}
}

static int compare_operations(const void *left, const void *right)
{
	const struct operation *const *a = left, *const *b = right;
	uint64_t first = (*a)->seen.thread_time_ns + (*a)->unseen.thread_time_ns;
	uint64_t second = (*b)->seen.thread_time_ns + (*b)->unseen.thread_time_ns;

	return COMPARE(second, first);
}

/* --- when metadata leads: the top calls and directories --- */

static void begin(void *state, const struct job *job, struct arena *arena)
{
	rollup_init(state, arena, job, rollup_find_key("directory"), 0);
}

static bool is_metadata(const struct event *event)
{
	return event->class == IO_METADATA;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct rollup *rollup = state;

	return path_memory_emit(&rollup->paths, events, count, is_metadata, rollup_event, rollup);
}

/* Returns the directory with the most metadata time below `below_ns`; empty if no such directory
 * has a name. */
static struct table_text leading_directory(struct rollup *directories, uint64_t below_ns,
					   const struct tally **tally)
{
	struct table_text directory = { NULL, 0 };
	uint64_t max_ns = 0;
	uint32_t leading = 0;

	for (uint32_t group = 0; group < directories->count; group++) {
		uint64_t time_ns = rollup_tally(directories, group, IO_METADATA)->time.measure;

		if (time_ns <= max_ns || time_ns >= below_ns ||
		    !rollup_name(directories, group).length)
			continue;
		max_ns = time_ns;
		leading = group;
	}
	if (max_ns)
		directory = rollup_name(directories, leading);
	*tally = rollup_tally(directories, leading, IO_METADATA);
	return directory;
}

/* Returns the name of a directory up to and with the component after `length` bytes, which are
 * those of `above`; empty if there is none, or it is elsewhere. */
static struct table_text below(struct table_text name, struct table_text above)
{
	const size_t length = above.length;
	const char *end;

	if (name.length < length + 2 || (length && memcmp(name.bytes, above.bytes, length) != 0) ||
	    name.bytes[length] != '/')
		return (struct table_text) { NULL, 0 };
	end = memchr(name.bytes + length + 1, '/', name.length - length - 1);
	return (struct table_text) { name.bytes, end ? (size_t)(end - name.bytes) : name.length };
}

static bool is_same(struct table_text a, struct table_text b)
{
	return a.length == b.length && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

/* Returns the directory below `above` with more than half of all metadata time; empty if there is
 * none. First the majority vote of Boyer and Moore, with times as weights, finds a candidate. */
static struct table_text leading_below(struct rollup *directories, struct table_text above,
				       uint64_t all_ns)
{
	struct table_text candidate = { NULL, 0 };
	uint64_t lead_ns = 0, own_ns = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t group = 0; group < directories->count; group++) {
			const struct tally *tally = rollup_tally(directories, group, IO_METADATA);
			const uint64_t time_ns = tally->time.measure;
			const struct table_text name =
				below(rollup_name(directories, group), above);

			if (!name.length)
				continue;
			if (pass)
				own_ns += is_same(name, candidate) ? time_ns : 0;
			else if (is_same(name, candidate))
				lead_ns += time_ns;
			else if (time_ns <= lead_ns)
				lead_ns -= time_ns;
			else
				candidate = name, lead_ns = time_ns - lead_ns;
		}
	return own_ns > all_ns / 2 ? candidate : (struct table_text) { NULL, 0 };
}

struct table_text access_metadata_place(const struct results *results)
{
	struct rollup *directories;
	struct table_text directory = { NULL, 0 }, next = directory;
	uint64_t all_ns = 0;

	if (!results->job)
		return directory;
	directories = results_state(results, &analysis_access);
	for (uint32_t group = 0; group < directories->count; group++)
		all_ns += rollup_tally(directories, group, IO_METADATA)->time.measure;
	do {
		directory = next;
		next = leading_below(directories, directory, all_ns);
	} while (next.length);
	return directory;
}

static void add_calls(struct strbuf *note, const struct job *job)
{
	const struct operation *calls[JOB_OPERATIONS_MAX];
	char time[UNITS_TEXT], number[UNITS_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < job->operation_count && count < JOB_OPERATIONS_MAX; i++)
		if (job->operations[i].family == TRACE_METADATA)
			calls[count++] = &job->operations[i];
	qsort(calls, count, sizeof(calls[0]), compare_operations);
	for (size_t i = 0; i < count && i < LEADING_CALLS; i++) {
		const struct operation *call = calls[i];
		uint64_t calls_made = call->seen.count + call->unseen.count;

		if (calls_made)
			strbuf_add(note, "%s %.32s %s in %s calls", i ? "," : "", call->name,
				   units_ns(time, call->seen.thread_time_ns +
							  call->unseen.thread_time_ns),
				   units_count(number, calls_made));
	}
}

static void add_directories(struct strbuf *note, struct rollup *directories, uint64_t all_ns)
{
	char time[UNITS_TEXT], number[UNITS_TEXT];
	uint64_t below_ns = UINT64_MAX;

	for (int i = 0; i < LEADING_DIRECTORIES; i++) {
		const struct tally *tally;
		struct table_text directory = leading_directory(directories, below_ns, &tally);

		below_ns = tally->time.measure;
		if (!directory.length || below_ns < DIRECTORY_SHARE * all_ns)
			return;
		strbuf_add(note, "%s %.*s %s in %s calls", i ? "," : "; in directories",
			   DIRECTORY_MAX < directory.length ? DIRECTORY_MAX : (int)directory.length,
			   directory.bytes, units_ns(time, below_ns),
			   units_count(number, tally->count));
	}
}

static void set_note(struct table *table, const struct results *results)
{
	struct strbuf note = { .used = 0 };

	strbuf_add(&note, "most I/O time is metadata:");
	add_calls(&note, results->job);
	add_directories(&note, results_state(results, &analysis_access),
			totals_class(results, IO_METADATA).time.measure);
	table_set_note(table, note.bytes);
}

/* The columns count the page cache, which O_DIRECT reads bypass. */
static void say_direct(struct table *table, const struct results *results)
{
	const uint64_t bytes = methods_tally(results, METHOD_DIRECT, SIDE_READ).bytes;
	char note[96], size[UNITS_TEXT];

	if (!bytes)
		return;
	snprintf(note, sizeof(note), "O_DIRECT read %s more from storage, past the page cache",
		 units_bytes(size, bytes));
	table_append_note(table, note);
}

static void conclude(const struct results *results, struct table *table)
{
	uint64_t all_ns = totals_all(results)->time.measure;
	struct access_row lines[LINES], all;
	size_t count = make_lines(results, lines);

	table_add_columns(table, columns, ACCESS_COLUMNS);
	table->recorded = results->job->layers;
	qsort(lines, count, sizeof(*lines), compare_lines);
	all = sum_up(results, lines, count);
	if (count && !strcmp(lines[0].name, "metadata"))
		set_note(table, results);
	say_direct(table, results);
	table_add(table, &all);
	for (size_t i = 0; i < count; i++) {
		lines[i].share = lines[i].time_ns == TABLE_NO_UINT || !all_ns
					 ? NAN
					 : (double)lines[i].time_ns / all_ns;
		table_add(table, &lines[i]);
	}
	add_pages(table, results);
}

/* --- merging reports --- */

/* The first row is the sum; the last rows have no time. */
static int compare_times(const struct table *table, size_t a, size_t b, const void *context)
{
	const struct cell *first = &table_row(table, a)[ACCESS_TIME];
	const struct cell *second = &table_row(table, b)[ACCESS_TIME];

	if (!a || !b || first->type != second->type || first->type != CELL_UINT)
		return !a ? -1 : !b ? 1 : first->type == second->type ? 0 : first->type ? -1 : 1;
	if (first->uint != second->uint)
		return first->uint > second->uint ? -1 : 1;
	return merge_compare(&table_row(table, a)[ACCESS_NAME], &table_row(table, b)[ACCESS_NAME]);
}

static void remake(const struct report *report, struct table *table)
{
	struct cell *all = table->row_count ? &table->cells[ACCESS_TIME] : NULL;

	for (size_t row = 0; row < table->row_count; row++) {
		struct cell *cells = table_row(table, row);
		const struct cell *time = &cells[ACCESS_TIME];

		cells[ACCESS_SHARE] = (struct cell) { .type = CELL_NULL };
		if (time->type != CELL_UINT || all->type != CELL_UINT || !all->uint)
			continue;
		cell_real(&cells[ACCESS_SHARE], (double)time->uint / all->uint);
		cells[ACCESS_SHARE].summed = time->summed || all->summed;
	}
	table_sort(table, compare_times, NULL);
}

uint64_t access_io_ns(const struct table *access)
{
	/* The first row is all I/O. */
	const struct cell *time = access->row_count ? &access->cells[ACCESS_TIME] : NULL;

	return time && time->type == CELL_UINT ? time->uint : 0;
}

const struct analysis analysis_access = {
	.name = "access",
	.meaning = "I/O time and bytes by access method and class of calls",
	.title = "By method",
	.shown = "name,time_ns,share,count,bytes,fetched_bytes,created_bytes",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct rollup),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true,
		      .sums = true,
		      .events = add_events,
		      .matters = WALK_CLASS(IO_METADATA) },
	.conclude = conclude,
	.merging = { .fixed = columns, .fixed_count = ACCESS_COLUMNS },
	.remake = remake,
};
