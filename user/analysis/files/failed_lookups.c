/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "failed_lookups": calls with a path that failed (open, stat, access ...), by directory.
 * Shows searches for modules and libraries. Excludes lost events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/files/failed_lookups.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/results.h"
#include "collections/arena.h"
#include "analysis/events/path.h"
#include "collections/compare.h"
#include "base/number.h"

/* A hostile trace could name a directory in each row; directories beyond this share a row. */
#define DIRECTORIES_MAX 65536
#define TEXTS_SHARE 16 /* ... and beyond this fraction of the memory for their paths */

struct directory {
	const char *path, *example;
	size_t length, example_length;
	uint64_t count, enoent, thread_time_ns;
	uint32_t number; /* before sorting */
};

struct lookups {
	const struct job *job;
	struct arena *arena;
	bool opens[JOB_OPERATIONS_MAX]; /* per operation: it opens a file */
	struct directory *directories;	/* entry 0 stands for all beyond DIRECTORIES_MAX */
	size_t count, room;
	uint32_t *rows;			    /* of the table, by directory number */
	size_t text_bytes, text_bytes_most; /* of paths and examples */
	struct map numbers;		    /* hash of the path -> number */
	struct path_memory memory;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct lookups *lookups = state;

	lookups->job = job;
	lookups->arena = arena;
	lookups->memory.arena = arena;
	lookups->text_bytes_most = job->memory_bytes / TEXTS_SHARE;
	map_init_in(&lookups->numbers, arena, 1, 1);
	for (size_t i = 0; i < job->operation_count; i++)
		lookups->opens[i] = !strncmp(job->operations[i].name, "open", 4);
	if (ARENA_GROW(arena, lookups->directories, lookups->room, 1))
		lookups->count = 1;
}

/* Adds the directory of a path that becomes its example. */
static void add_directory(struct lookups *lookups, const char *path, size_t length, size_t whole)
{
	struct directory *directory;

	if (!ARENA_GROW(lookups->arena, lookups->directories, lookups->room, lookups->count + 1))
		return;
	lookups->text_bytes += length + whole;
	directory = &lookups->directories[lookups->count];
	*directory = (struct directory) { .length = length,
					  .example_length = whole,
					  .number = lookups->count++ };
	directory->path = arena_text(lookups->arena, path, length);
	directory->example = arena_text(lookups->arena, path, whole);
}

/* Paths with the same 64-bit hash, under a seed of this run, are taken as equal. */
static uint32_t find_directory(struct lookups *lookups, const struct path_argument *argument)
{
	char path[PATH_JOIN_BYTES];
	size_t whole = path_join(&lookups->job->files, argument->trace, argument->dir,
				 argument->path, path);
	size_t length = path_directory(path, whole);
	uint64_t key = map_hash_bytes(&lookups->numbers, path, length), *found;
	uint32_t number = lookups->count;
	bool added;

	found = map_find(&lookups->numbers, &key);
	if (found)
		return *found;
	if (lookups->count > DIRECTORIES_MAX ||
	    lookups->text_bytes + length + whole > lookups->text_bytes_most)
		return 0;
	add_directory(lookups, path, length, whole);
	found = map_add(&lookups->numbers, &key, &added);
	if (!found)
		return 0;
	*found = number;
	return number;
}

/* Returns the directory of a failed look-up; 0, which exists, after an error, too. */
static uint32_t number_of(struct lookups *lookups, const struct event *event)
{
	const struct path_argument argument = path_argument_of(event);
	uint32_t *known = path_memory_of(&lookups->memory, &argument);

	if (!known)
		return 0;
	if (!*known)
		*known = find_directory(lookups, &argument) + 1;
	return *known - 1;
}

/* A program that opens each name as a directory (glob, walks) asks whether it is one: ENOTDIR is
 * the answer, not a failure. */
static bool is_answered(const struct lookups *lookups, const struct event *event)
{
	return lookups->opens[event->operation] &&
	       event_value(event, SYSCALL_RESULT) == (uint64_t)-ENOTDIR;
}

static int add_failure(void *state, const struct event *event)
{
	struct lookups *lookups = state;
	struct directory *directory;
	uint32_t number;

	if (is_answered(lookups, event))
		return 0;
	number = number_of(lookups, event); /* may move the directories */
	directory = &lookups->directories[number];
	directory->count++;
	directory->enoent += event_value(event, SYSCALL_RESULT) == (uint64_t)-ENOENT;
	directory->thread_time_ns += event->end - event->start;
	return arena_status(lookups->arena);
}

/* Errors that mean that nothing has this name or that it is unreachable. Other errors are about
 * what was found (readlink of a regular file, mkdir of an existing directory). */
static bool is_no_way(uint64_t result)
{
	static const int errors[] = { ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, ESTALE };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (result == (uint64_t)-errors[i])
			return true;
	return false;
}

/* Returns the error of a failed look-up; 0 for any other event. */
static uint64_t failed_with(const struct event *event)
{
	uint64_t result;

	if (event->class != IO_METADATA || !(event->flags & EVENT_FAILED) ||
	    event_kind(event) != TRACE_SYSCALL_PATH || !event_value(event, SYSCALL_PATH_PATH))
		return 0;
	result = event_value(event, SYSCALL_RESULT);
	return is_no_way(result) ? result : 0;
}

static bool is_failure(const struct event *event)
{
	return failed_with(event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct lookups *lookups = state;

	return path_memory_emit(&lookups->memory, events, count, is_failure, add_failure, lookups);
}

/* --- the table --- */

/* A table row. */
struct failed_lookups_row {
	struct table_text directory, example;
	uint64_t count, enoent, other, thread_time_ns;
};

static const struct table_column columns[] = {
	COLUMN(failed_lookups_row, directory, "directory", PATH, KEY, "directory of the path"),
	COLUMN(failed_lookups_row, count, "count", COUNT, SUM,
	       "calls on paths in this directory that failed because the path does not exist or "
	       "cannot be reached",
	       0, STRETCH(COUNT)),
	COLUMN(failed_lookups_row, enoent, "not found", COUNT, SUM,
	       "calls that failed because the name does not exist (ENOENT)", 0, STRETCH(MARKED)),
	COLUMN(failed_lookups_row, other, "other errors", COUNT, SUM,
	       "calls that failed with ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG or ESTALE", 0,
	       STRETCH_UNMARKED),
	COLUMN(failed_lookups_row, thread_time_ns, "thread time", NS, THREAD,
	       "time of these calls, summed over threads", 0, STRETCH(THREAD_TIME)),
	COLUMN(failed_lookups_row, example, "for example", PATH, FIRST,
	       "first path in the directory on which such a call failed"),
};

static int compare_directories(const void *left, const void *right)
{
	const struct directory *a = left, *b = right;
	size_t shorter = number_min(a->length, b->length);

	return COMPARE(b->count, a->count) ?:
	       (shorter ? memcmp(a->path, b->path, shorter) : 0) ?: COMPARE(a->length, b->length);
}

/* A relative path whose directory is unknown has no directory. */
static void add_line(struct table *table, const struct directory *directory)
{
	const struct failed_lookups_row line = {
		.directory = { directory->length ? directory->path : NULL, directory->length },
		.example = { directory->example, directory->example_length },
		.count = directory->count,
		.enoent = directory->enoent,
		.other = directory->count - directory->enoent,
		.thread_time_ns = directory->thread_time_ns,
	};

	table_add(table, &line);
}

static void set_note(struct table *table, const struct lookups *lookups)
{
	char note[160];

	snprintf(note, sizeof(note),
		 "failures beyond the first %zu directories share the row without a directory or "
		 "an example (raise report --memory)",
		 lookups->count - 1);
	table_set_note(table, note);
}

static void fill(void *state, struct table *table)
{
	struct lookups *lookups = state;

	table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));
	if (lookups->job->lost)
		table_set_note(table, "excludes lost events");
	if (lookups->directories[0].count)
		set_note(table, lookups);
	if (table_absent_if(table, !(lookups->job->layers & JOB_SYSCALL),
			    "system calls were not recorded"))
		return;
	lookups->rows = arena_alloc(lookups->arena, lookups->count * sizeof(*lookups->rows));
	if (!lookups->rows)
		return;
	qsort(lookups->directories, lookups->count, sizeof(*lookups->directories),
	      compare_directories);
	for (size_t i = 0; i < lookups->count; i++) {
		lookups->rows[lookups->directories[i].number] = i;
		if (lookups->directories[i].count) /* those without failures come last */
			add_line(table, &lookups->directories[i]);
	}
}

/* Marked: ENOENT. */
static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	struct lookups *lookups = state;
	uint64_t result = failed_with(event);
	uint32_t number;

	if (!result || is_answered(lookups, event))
		return 0;
	number = number_of(lookups, event);
	if (arena_status(lookups->arena))
		return -ENOMEM;
	rows[0] = (struct row_of) { lookups->rows[number], result == (uint64_t)-ENOENT, NULL };
	return 1;
}

/* Negative if `a` sorts before `b`; a missing text sorts before all others. */
static int compare_texts(struct table_text a, struct table_text b)
{
	size_t shorter = number_min(a.length, b.length);
	int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;

	return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

/* A directory is classified by its example path. */
struct lookups_view failed_lookups_worst(const struct report *report, enum lookups_of of)
{
	const struct table *table = report_by(report, &analysis_failed_lookups);
	struct lookups_view view = { 0 };

	for (size_t row = 0; row < table->row_count; row++) {
		bool many = table->folded && row + 1 == table->row_count;
		struct failed_lookups_row line = { .count = 0 };

		table_read_row(table, row, &line);
		if (of == LOOKUPS_OF_DATA && loaded_is(line.example))
			continue;
		view.all_count += line.count;
		view.all_thread_time_ns += line.thread_time_ns;
		if (many || line.count < view.count ||
		    (line.count == view.count &&
		     compare_texts(line.directory, view.directory) >= 0))
			continue;
		view.count = line.count;
		view.directory = line.directory;
		view.example = line.example;
	}
	return view;
}

const struct analysis analysis_failed_lookups = {
	.name = "failed_lookups",
	.meaning = "calls that failed because their path does not exist or cannot be reached, by "
		   "directory",
	.title = "Failed path lookups",
	.shown = "directory,count,enoent,other,thread_time_ns",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct lookups),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_FAILED },
	.columns[TRACE_SYSCALL_PATH] = 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH,
	.fill = fill,
	.rows_of = rows_of,
	.merging = { .sorted = "-count",
		     .many = "directories",
		     .fixed = columns,
		     .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
