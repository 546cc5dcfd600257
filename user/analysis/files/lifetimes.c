/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "lifetimes": files that the run created and removed again, by unlink or by a rename over
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/results.h"
#include "analysis/files/files.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "analysis/events/path.h"
#include "analysis/shared/trace_text.h"

#define LIFETIME_CELLS 8 /* columns */

/* What a call does to names. */
enum { NOTHING, REMOVES, MOVES, LINKS };

/* A file created by the run; removed_ns is 0 while it exists. */
struct made_file {
	uint32_t file, maker, remover;
	uint32_t links; /* hard links beyond its first name */
	uint64_t made_ns, removed_ns;
};

struct lifetimes {
	const struct job *job;
	struct arena *arena;
	uint8_t *does; /* per operation */
	struct made_file *files;
	size_t count, room, max;
	uint64_t overflow; /* files created after `max` others */
	bool *is_there;	   /* per file: created and not removed yet */
	struct map names;  /* host, path hash -> index + 1; 0: none */
};

static uint8_t what_does(const char *name)
{
	if (!strcmp(name, "unlink") || !strcmp(name, "unlinkat"))
		return REMOVES;
	if (!strcmp(name, "link") || !strcmp(name, "linkat"))
		return LINKS;
	return !strcmp(name, "rename") || !strcmp(name, "renameat") || !strcmp(name, "renameat2")
		       ? MOVES
		       : NOTHING;
}

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct lifetimes *lifetimes = state;

	lifetimes->job = job;
	lifetimes->arena = arena;
	lifetimes->max = job_rows_max(job, LIFETIME_CELLS);
	map_init_in(&lifetimes->names, arena, 2, 1);
	lifetimes->does = arena_alloc(arena, (job->operation_count + 1) * sizeof(*lifetimes->does));
	lifetimes->is_there =
		arena_alloc(arena, (job->files.count + 1) * sizeof(*lifetimes->is_there));
	for (size_t i = 0; lifetimes->does && i < job->operation_count; i++)
		lifetimes->does[i] = what_does(job->operations[i].name);
}

/* --- during the walk --- */

/* A name on a host. Only names of created files are kept, which bounds their number. */
struct name {
	uint32_t host;
	const char *path;
	size_t length;
};

/* Returns NULL if no created file has had the name. */
static uint64_t *entry_of(const struct lifetimes *lifetimes, const struct name *name)
{
	const uint64_t key[2] = { name->host,
				  map_hash_bytes(&lifetimes->names, name->path, name->length) };

	return map_find(&lifetimes->names, key);
}

static int set_place(struct lifetimes *lifetimes, const struct name *name, uint64_t number)
{
	const uint64_t key[2] = { name->host,
				  map_hash_bytes(&lifetimes->names, name->path, name->length) };
	bool added;
	uint64_t *entry = map_add(&lifetimes->names, key, &added);

	if (!entry)
		return -ENOMEM;
	*entry = number;
	return 0;
}

/* Returns the path passed to a call, from two columns of its row; empty if it was lost. Uses `path`
 * as the buffer. */
static struct name name_of(const struct lifetimes *lifetimes, const struct event *event,
			   unsigned int dir, unsigned int column, char path[PATH_JOIN_BYTES])
{
	const uint32_t trace = event->block->trace;
	size_t length = path_join(&lifetimes->job->files, trace, event_value(event, dir),
				  event_value(event, column), path);

	return (struct name) { lifetimes->job->traces[trace].host, path, length };
}

/* An open with O_CREAT while no created file has that name: taken as its creation, under the first
 * known path. Later paths come from renames. */
static int add_made(struct lifetimes *lifetimes, const struct event *event)
{
	const struct trace_string path = file_table_first_path(&lifetimes->job->files, event->file);
	const struct name name = { lifetimes->job->traces[event->block->trace].host, path.bytes,
				   path.length };
	const uint64_t *entry = path.length ? entry_of(lifetimes, &name) : NULL;

	if (!path.length || (entry && *entry) || lifetimes->is_there[event->file])
		return 0;
	if (lifetimes->count == lifetimes->max) {
		lifetimes->overflow++;
		return 0;
	}
	if (!ARENA_GROW(lifetimes->arena, lifetimes->files, lifetimes->room, lifetimes->count + 1))
		return -ENOMEM;
	lifetimes->files[lifetimes->count++] = (struct made_file) {
		.file = event->file,
		.maker = event->process,
		.made_ns = event->start,
	};
	lifetimes->is_there[event->file] = true;
	return set_place(lifetimes, &name, lifetimes->count);
}

static void remove_file(struct lifetimes *lifetimes, uint64_t *entry, const struct event *event)
{
	struct made_file *file;

	if (!entry || !*entry)
		return;
	file = &lifetimes->files[*entry - 1];
	*entry = 0;
	/* The file still has another name. */
	if (file->links) {
		file->links--;
		return;
	}
	file->removed_ns = event->end;
	file->remover = event->process;
	lifetimes->is_there[file->file] = false;
}

static int add_removed(struct lifetimes *lifetimes, const struct event *event)
{
	char path[PATH_JOIN_BYTES];
	const struct name name =
		name_of(lifetimes, event, SYSCALL_PATH_DIR, SYSCALL_PATH_PATH, path);

	remove_file(lifetimes, entry_of(lifetimes, &name), event);
	return 0;
}

/* Adds a name to a created file. */
static int add_linked(struct lifetimes *lifetimes, const struct event *event)
{
	char path[PATH_JOIN_BYTES];
	struct name name = name_of(lifetimes, event, SYSCALL_PATH_DIR, SYSCALL_PATH_PATH, path);
	const uint64_t *entry = entry_of(lifetimes, &name);
	uint64_t number = entry ? *entry : 0;

	if (!number)
		return 0;
	name = name_of(lifetimes, event, SYSCALL_PATH_DIR2, SYSCALL_PATH_PATH2, path);
	if (!name.length)
		return 0;
	lifetimes->files[number - 1].links++;
	return set_place(lifetimes, &name, number);
}

/* The file that had the new name is removed. */
static int add_moved(struct lifetimes *lifetimes, const struct event *event)
{
	char path[PATH_JOIN_BYTES];
	struct name name = name_of(lifetimes, event, SYSCALL_PATH_DIR, SYSCALL_PATH_PATH, path);
	uint64_t *entry = entry_of(lifetimes, &name), number = entry ? *entry : 0;

	if (entry)
		*entry = 0;
	name = name_of(lifetimes, event, SYSCALL_PATH_DIR2, SYSCALL_PATH_PATH2, path);
	remove_file(lifetimes, entry_of(lifetimes, &name), event);
	return number && name.length ? set_place(lifetimes, &name, number) : 0;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct lifetimes *lifetimes = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		int does;

		if (event->class != IO_METADATA || event->flags & EVENT_FAILED ||
		    !(event->flags & EVENT_CALL))
			continue;
		does = lifetimes->does[event->operation];
		if (event->flags & EVENT_OPENS && event->file != FILE_NONE &&
		    event_value(event, SYSCALL_FLAGS) & TRACE_OP_CREATE)
			status = add_made(lifetimes, event);
		else if (does && event_kind(event) == TRACE_SYSCALL_PATH)
			status = does == MOVES	 ? add_moved(lifetimes, event)
				 : does == LINKS ? add_linked(lifetimes, event)
						 : add_removed(lifetimes, event);
	}
	return status;
}

/* --- the table --- */

struct lifetimes_row {
	struct table_text path, maker, remover;
	uint64_t lived_ns, made_ns, maker_pid, remover_pid, written_bytes;
};

static const struct table_column columns[] = {
	COLUMN(lifetimes_row, path, "file", PATH, FACT,
	       "last known path of the file; removals are matched by absolute path, without "
	       "resolving symbolic links or \"..\""),
	COLUMN(lifetimes_row, lived_ns, "lived", NS, DURATION,
	       "time from the first open with O_CREAT until the end of the unlink, or of the "
	       "rename onto it, that removed the file"),
	COLUMN(lifetimes_row, made_ns, NULL, NS, MOMENT,
	       "creation of the file, since the start of the run"),
	COLUMN(lifetimes_row, written_bytes, "written", BYTES, SUM,
	       "bytes written to the file by calls"),
	COLUMN_AS("maker.pid", lifetimes_row, maker_pid, "creator pid", NONE, FACT,
		  "process ID of the creator"),
	COLUMN_AS("maker.comm", lifetimes_row, maker, "creator", NONE, FACT,
		  "name of the program that created the file"),
	COLUMN_AS("remover.pid", lifetimes_row, remover_pid, "removed by pid", NONE, FACT,
		  "process ID of the process that removed the file"),
	COLUMN_AS("remover.comm", lifetimes_row, remover, "removed by", NONE, FACT,
		  "name of the program that removed the file"),
};

static uint64_t pid_of(const struct job *job, uint32_t number)
{
	return number == PROCESS_UNKNOWN ? TABLE_NO_UINT : job->processes.processes[number].pid;
}

static void add_line(const struct results *results, struct table *table,
		     const struct made_file *file)
{
	const struct job *job = results->job;
	struct file_view view;
	const struct lifetimes_row line = {
		.path = trace_text(file_table_path(&job->files, file->file)),
		.lived_ns = number_sub(file->removed_ns, file->made_ns),
		.made_ns = number_sub(file->made_ns, job->start_ns),
		.written_bytes = files_used(results, file->file, &view)
					 ? view.tallies[USE_WRITE].bytes
					 : TABLE_NO_UINT,
		.maker_pid = pid_of(job, file->maker),
		.maker = trace_text(job_comm(job, file->maker)),
		.remover_pid = pid_of(job, file->remover),
		.remover = trace_text(job_comm(job, file->remover)),
	};

	table_add(table, &line);
}

/* Shortest life first, then by creation time. */
static int compare_lives(const void *left, const void *right)
{
	const struct made_file *a = left, *b = right;
	uint64_t lived[2] = { number_sub(a->removed_ns, a->made_ns),
			      number_sub(b->removed_ns, b->made_ns) };

	return COMPARE(lived[0], lived[1]) ?: COMPARE(a->made_ns, b->made_ns);
}

_Static_assert(sizeof(columns) / sizeof(columns[0]) == LIFETIME_CELLS, "rows fit in memory");

static void append_beyond(const struct lifetimes *lifetimes, struct table *table)
{
	struct strbuf note = { .used = 0 };
	char number[UNITS_TEXT], max[UNITS_TEXT];

	strbuf_add(&note,
		   "%s files created after the first %s did not fit in memory (raise report "
		   "--memory)",
		   units_count(number, lifetimes->overflow), units_count(max, lifetimes->max));
	table_append_note(table, note.bytes);
}

static void conclude(const struct results *results, struct table *table)
{
	struct lifetimes *lifetimes = results_state(results, &analysis_lifetimes);

	table_add_columns(table, TABLE_COLUMNS(columns));
	if (results->job->lost)
		table_set_note(table, "excludes lost events");
	if (table_absent_if(table, !(results->job->layers & JOB_SYSCALL),
			    "system calls were not recorded"))
		return;
	/* A removal names only a path, so a filter may have dropped it. */
	if (table_absent_if(table, results->job->chosen,
			    "requires all events: the filter may exclude removals"))
		return;
	if (lifetimes->overflow)
		append_beyond(lifetimes, table);
	if (lifetimes->count)
		qsort(lifetimes->files, lifetimes->count, sizeof(*lifetimes->files), compare_lives);
	for (size_t i = 0; i < lifetimes->count; i++)
		if (lifetimes->files[i].removed_ns)
			add_line(results, table, &lifetimes->files[i]);
}

const struct analysis analysis_lifetimes = {
	.name = "lifetimes",
	.meaning = "files created and removed during the run, and how long they existed",
	.title = NULL, /* every compiler and shell creates some: only with --table */
	.shown = "lived_ns,maker.pid,maker.comm,remover.pid,remover.comm,written_bytes,path",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct lifetimes),
	.begin = begin,
	.consumer = { .parallel = true,
		     .events = add_events,
		     .matters = WALK_CLASS(IO_METADATA) },
	.columns = {
		[TRACE_SYSCALL] = 1ull << SYSCALL_FLAGS,
		[TRACE_SYSCALL_PATH] = 1ull << SYSCALL_FLAGS | 1ull << SYSCALL_PATH_DIR |
				       1ull << SYSCALL_PATH_PATH | 1ull << SYSCALL_PATH_DIR2 |
				       1ull << SYSCALL_PATH_PATH2,
	},
	.conclude = conclude,
	/* A run that created a file does not know whether another run removed it. */
	.merging = { .sorted = "lived_ns", .many = "files" },
};
