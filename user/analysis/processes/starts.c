/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "starts". A process that has started may wait a long time for work, so a start ends with
 * the last file that the process loads, not with the first data that it reads.
 */
#include "analysis/processes/starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collections/compare.h"
#include "collections/interval.h"
#include "collections/map.h"
#include "analysis/shared/loaded.h"
#include "analysis/events/path.h"
#include "analysis/processes/threads.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"

/* A process that loads nothing for this long has started. */
#define PAUSE_NS 2000000000ull
/* Touching what was loaded is part of the start only until then: a program does so until it ends.
 */
#define TOUCH_PAUSE_NS 50000000ull

/* The role of a file in the start of a process. */
enum file_part { PART_UNKNOWN, PART_LOADED, PART_MODULE, PART_DATA, PART_NEITHER };

struct start {
	uint64_t last_ns; /* end of the last access to a loaded file; 0: none yet */
	uint64_t files, modules;
	bool over;
};

/* Starts of one name by one parent. */
struct started {
	struct starts_view view;
	struct interval_union time;
	uint64_t ended_ns; /* the first end */
	uint32_t parent;   /* its number in the job, or PROCESS_NONE */
};

/* All groups of one parent that start again. */
struct parent_starts {
	struct interval_union time;
	struct interval_union
		first; /* of each group, up to the first end of one of its processes */
	uint64_t first_group, others; /* the group with the longest time, and how many others */
	struct starts_view sums;
};

struct starts {
	const struct job *job;
	struct arena *arena;
	uint8_t *parts;	   /* enum file_part, per file */
	struct start *all; /* by process number */
	size_t count, room;
	struct started *groups;		/* filled at the end */
	struct parent_starts **parents; /* by process number; NULL: starts nothing again */
	size_t group_count, group_room;
	struct map places; /* parent and name -> index in groups */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct starts *starts = state;

	starts->job = job;
	starts->arena = arena;
	map_init_in(&starts->places, arena, 2, 1);
	starts->parts = arena_alloc(arena, job->files.count + 1);
}

/* --- during the walk --- */

/* Configuration files are neither: programs read them while they start. */
static enum file_part part_of(const struct job *job, uint32_t file)
{
	static const char *const settings[] = { "/etc/", "/usr/", "/proc/", "/sys/" };
	const struct trace_string path = file_table_path(&job->files, file);

	if (loaded_in(&job->files, trace_text(path)))
		return !S_ISDIR(job->files.files[file].mode) &&
				       loaded_in_is_module(&job->files, trace_text(path))
			       ? PART_MODULE
			       : PART_LOADED;
	if (loaded_is(trace_text(path))) /* may be the program itself */
		return PART_NEITHER;
	if (!S_ISREG(job->files.files[file].mode) || !path.length)
		return PART_NEITHER;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (path_begins(path.bytes, path.length, settings[i]))
			return PART_NEITHER;
	return PART_DATA;
}

static struct start *start_of(struct starts *starts, uint32_t process)
{
	if (process >= starts->count) {
		size_t count = process + 1ul;

		if (!ARENA_GROW(starts->arena, starts->all, starts->room, count))
			return NULL;
		memset(starts->all + starts->count, 0,
		       (count - starts->count) * sizeof(*starts->all));
		starts->count = count;
	}
	return &starts->all[process];
}

static void add_event(struct starts *starts, struct start *start, const struct event *event)
{
	uint8_t *part = &starts->parts[event->file];

	if (*part == PART_UNKNOWN)
		*part = part_of(starts->job, event->file);
	if (start->last_ns && event->start > start->last_ns + PAUSE_NS) {
		start->over = true;
		return;
	}
	if (event->flags & EVENT_FAULT && !event->major && *part != PART_DATA &&
	    event->start > start->last_ns + TOUCH_PAUSE_NS)
		return;
	if (*part == PART_LOADED || *part == PART_MODULE) {
		start->last_ns = number_max(event->end, start->last_ns);
		start->files += event->flags & EVENT_OPENS ? 1 : 0;
		start->modules += *part == PART_MODULE && event->flags & EVENT_OPENS;
	} else if (*part == PART_DATA &&
		   (event->class == IO_READ || event->class == IO_MMAP_READ)) {
		start->over = true;
	}
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct starts *starts = state;

	for (const struct event *event = events; event < events + count; event++) {
		struct start *start;

		if (event->file == FILE_NONE || event->file == FILE_UNKNOWN ||
		    event->class == IO_NONE || event->process == PROCESS_UNKNOWN ||
		    event->flags & EVENT_FAILED)
			continue;
		start = start_of(starts, event->process);
		if (!start)
			return -ENOMEM;
		if (!start->over)
			add_event(starts, start, event);
	}
	return 0;
}

/* All events of a series belong to one process. */
static int add_series(void *state, const struct event_series *series)
{
	const struct starts *starts = state;
	uint32_t process = series->events->process;

	if (process < starts->count && starts->all[process].over)
		return 0;
	return add_events(state, series->events, series->count);
}

/* --- the table --- */

static const struct table_column columns[] = {
	COLUMN(starts_view, program, "program", NONE, FACT, "name of the program"),
	COLUMN(starts_view, parent_pid, "started by", NONE, FACT, "process ID of the parent"),
	COLUMN(starts_view, processes, "processes", COUNT, SUM,
	       "processes that executed the program"),
	COLUMN(starts_view, time_ns, "time", NS, COVERED,
	       "time with at least one of these processes starting up: from its start to the last "
	       "library or module that it loads before it reads data or loads nothing for 2 s"),
	COLUMN(starts_view, thread_time_ns, "thread time", NS, THREAD,
	       "startup time summed over these processes"),
	COLUMN(starts_view, longest_ns, "longest", NS, MAX, "longest startup time of one process"),
	COLUMN(starts_view, files, "files loaded", COUNT, SUM,
	       "libraries and modules that these processes opened during startup, in total"),
};

/* Returns NULL if out of memory. */
static struct started *group_of(struct starts *starts, const struct process *process,
				uint32_t number)
{
	const struct process_table *table = &starts->job->processes;
	const uint64_t key[] = { (uint64_t)process->trace << 32 | process->parent, process->comm };
	struct started *group;
	bool added;

	group = MAP_ITEM(&starts->places, key, starts->groups, starts->group_room,
			 starts->group_count, &added);
	if (!group || !added)
		return group;
	*group = (struct started) {
		.ended_ns = UINT64_MAX,
		.parent = process->parent,
		.view = { .needless = true,
			  .program = trace_text(job_comm(starts->job, number)),
			  .parent_pid = process->parent == PROCESS_NONE
						? TABLE_NO_UINT
						: table->processes[process->parent].pid },
	};
	return group;
}

#define AS_MUCH 0.75 /* minimum share of a child's files that its parent has loaded */

/* Whether the parent has loaded about as much itself, so that a fork would have been enough: not
 * for a rank, which a launcher (mpirun, torchrun) has to start. */
static bool is_needless(const struct starts *starts, const struct process *process,
			const struct start *start)
{
	const struct process_table *table = &starts->job->processes;
	const uint32_t parent = process->parent;

	return parent < starts->count && starts->all[parent].files >= AS_MUCH * start->files &&
	       process->rank == table->processes[parent].rank;
}

/* Servers of Python's multiprocessing start once, next to the workers. */
static bool is_start(const struct starts *starts, uint32_t number)
{
	const struct process *process = &starts->job->processes.processes[number];

	return process->executed && !process->guessed &&
	       starts->all[number].last_ns > process->start_ns &&
	       strcmp(process_kind(starts->job, number), "helper");
}

/* Processes are nearly in order of start time, so the union misses little. */
static void group_starts(struct starts *starts)
{
	const struct process_table *table = &starts->job->processes;

	for (size_t i = 1; i < starts->count && i < table->count; i++) {
		const struct process *process = &table->processes[i];
		const struct start *start = &starts->all[i];
		struct started *group;
		uint64_t time_ns;

		if (!is_start(starts, i))
			continue;
		group = group_of(starts, process, i);
		if (!group)
			return;
		time_ns = start->last_ns - process->start_ns;
		interval_add(&group->time, process->start_ns, start->last_ns);
		if (process->start_ns < group->ended_ns)
			group->view.first_ns = group->time.measure;
		if (process->ended && process->end_ns < group->ended_ns)
			group->ended_ns = process->end_ns;
		group->view.needless &= is_needless(starts, process, start);
		group->view.processes++;
		group->view.files += start->files;
		group->view.modules += start->modules;
		group->view.time_ns = group->time.measure;
		group->view.thread_time_ns += time_ns;
		if (time_ns > group->view.longest_ns)
			group->view.longest_ns = time_ns;
	}
}

/* Returns NULL if the parent is unknown, the group does not start again, or out of memory. */
static struct parent_starts *parent_of(const struct starts *starts, const struct started *group)
{
	struct parent_starts **parent;

	if (!starts->parents || group->parent >= starts->job->processes.count ||
	    group->view.processes < STARTS_AGAIN)
		return NULL;
	parent = &starts->parents[group->parent];
	if (!*parent)
		*parent = arena_alloc(starts->arena, sizeof(**parent));
	return *parent;
}

/* Measures the starts of all programs that a process starts again and again. */
static void join_starts(struct starts *starts)
{
	const struct process_table *table = &starts->job->processes;

	starts->parents = arena_alloc(starts->arena, table->count * sizeof(*starts->parents) + 1);
	for (size_t i = 1; i < starts->count && i < table->count; i++) {
		const struct process *process = &table->processes[i];
		const struct started *group;
		struct parent_starts *parent;

		if (!is_start(starts, i))
			continue;
		group = group_of(starts, process, i);
		parent = group ? parent_of(starts, group) : NULL;
		if (!parent)
			continue;
		interval_add(&parent->time, process->start_ns, starts->all[i].last_ns);
		if (process->start_ns < group->ended_ns)
			interval_add(&parent->first, process->start_ns, starts->all[i].last_ns);
	}
}

static void add_group(struct starts_view *sums, const struct starts_view *view)
{
	sums->processes += view->processes;
	sums->files += view->files;
	sums->modules += view->modules;
	if (view->longest_ns > sums->longest_ns)
		sums->longest_ns = view->longest_ns;
	sums->thread_time_ns += view->thread_time_ns;
	sums->needless &= view->needless;
}

/* Sums up these programs. Groups must be sorted. */
static void sum_groups(struct starts *starts)
{
	for (size_t i = 0; i < starts->group_count; i++) {
		const struct started *group = &starts->groups[i];
		struct parent_starts *parent = parent_of(starts, group);

		if (!parent)
			continue;
		if (!parent->sums.processes) {
			parent->first_group = i;
			parent->sums = group->view;
			continue;
		}
		parent->others++;
		add_group(&parent->sums, &group->view);
		parent->sums.time_ns = parent->time.measure;
		parent->sums.first_ns = parent->first.measure;
	}
}

COMPARE_BY(compare_groups, struct started,
	   COMPARE(b->view.time_ns, a->view.time_ns)
		   ?: COMPARE(a->view.parent_pid, b->view.parent_pid))

static void fill(void *state, struct table *table)
{
	struct starts *starts = state;

	group_starts(starts);
	join_starts(starts);
	table_add_columns(table, TABLE_COLUMNS(columns));
	if (starts->group_count)
		qsort(starts->groups, starts->group_count, sizeof(*starts->groups), compare_groups);
	sum_groups(starts);
	for (size_t i = 0; i < starts->group_count; i++)
		table_add(table, &starts->groups[i].view);
}

bool starts_of(const struct results *results, size_t number, struct starts_view *view)
{
	const struct starts *starts = results_state(results, &analysis_starts);

	if (!starts || number >= starts->group_count)
		return false;
	*view = starts->groups[number].view;
	return true;
}

uint64_t starts_of_parent(const struct results *results, size_t number, struct starts_view *view)
{
	const struct starts *starts = results_state(results, &analysis_starts);
	const struct started *group = &starts->groups[number];
	const struct parent_starts *parent = parent_of(starts, group);

	*view = parent ? parent->sums : group->view;
	if (!parent)
		return 0;
	return parent->first_group == number ? parent->others : UINT64_MAX;
}

const struct analysis analysis_starts = {
	.name = "starts",
	.meaning = "startup time of programs, by parent process",
	.title = NULL, /* only with --table, and for findings */
	.shown = "program,parent_pid,processes,time_ns,longest_ns,files",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct starts),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .series = add_series },
	.fill = fill,
	/* Processes of different runs do not start each other. */
	.merging = { .sorted = "-time_ns", .many = "programs" },
};
