/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "habits": ways of doing I/O that cost, with how often and on which file most. Numbers
 * are those of rows. Knows nothing of what is too much.
 */
#include "analysis/habits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/loaded.h"
#include "analysis/measured.h"
#include "analysis/model/path.h"

#define FILES_MOST 65536 /* pairs of a habit and a file; of further ones no file is told */

/* Calls on one file, one after the other, on their way into the map. */
struct habit_run {
	uint32_t file;
	uint64_t time_ns;
};

/* The write to a file that ends last, of all that began, and the one that does of those of anybody
 * else: who comes meanwhile waits for the first of them that is not his own. */
struct last_write {
	uint64_t end, who; /* end: 0 for none; who: the thread, or the trace */
};
struct writing {
	struct last_write last[2];
};

/* What an operation does for a lock of a file. */
enum locking {
	LOCK_NONE,
	LOCK_ASKS, /* gets it or not, and gives it back, at once: only a server makes it wait */
	LOCK_WAITS,
};

/* What was asked of a file's path; the bit above each is the answer. */
enum looked { LOOKED_LOADED = 1, LOOKED_MODULE = 4 };

struct habits {
	const struct job *job;
	struct habit_run runs[HABITS];
	enum locking locks[JOB_OPERATIONS_MOST]; /* of each operation */
	struct tally tallies[HABITS];
	struct map writings;	  /* trace << 32 | file -> struct writing */
	struct map across;	  /* file -> struct writing: by trace */
	uint8_t *looked;	  /* enum looked, of each file; */
	struct path_memory paths; /* and of paths whether they are modules', plus 1 */
	struct map times;	  /* habit, file -> time in it, summed over threads */
	uint64_t most_ns[HABITS], files[HABITS]; /* most: of the worst */
	uint32_t worst[HABITS];
	uint32_t rows[HABITS]; /* of the table */
};

static const char *const names[HABITS] = {
	[HABIT_SYNC_WRITE] = "sync_write",
	[HABIT_FSYNC] = "fsync",
	[HABIT_SMALL_DIRECT] = "small_direct",
	[HABIT_SMALL_WRITE] = "small_write",
	[HABIT_PARTIAL_WRITE] = "partial_write",
	[HABIT_SHORT_READ] = "short_read",
	[HABIT_FAILED] = "failed",
	[HABIT_LOCK] = "lock",
	[HABIT_SHARED_WRITE] = "shared_write",
	[HABIT_MODULE] = "module",
	[HABIT_SHARED_ACROSS] = "shared_write_across", /* in no table */
};

/* By the kernel's names of the calls. */
static enum locking locking_of(const char *name)
{
	static const struct {
		const char *name;
		enum locking locking;
	} calls[] = {
		{ "flock", LOCK_WAITS },
		{ "fcntl_setlk", LOCK_ASKS },
		{ "fcntl_setlkw", LOCK_WAITS },
		{ "fcntl_ofd_setlk", LOCK_ASKS },
		{ "fcntl_ofd_setlkw", LOCK_WAITS },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(name, calls[i].name))
			return calls[i].locking;
	return LOCK_NONE;
}

/* Whether a call may have to wait for a lock. What takes time without is the processor's. */
static inline bool waits_for_lock(const struct habits *habits, const struct event *event)
{
	const enum locking locking = habits->locks[event->operation];

	if (locking == LOCK_WAITS && !(event->flags & EVENT_NOWAIT))
		return true;
	return locking != LOCK_NONE &&
	       !file_table_is_on(&habits->job->files, event->file, FILE_SYSTEM_LOCKS_HERE);
}

static int begin(const struct job *job, void **state)
{
	struct habits *habits = calloc(1, sizeof(*habits));

	if (!habits)
		return -ENOMEM;
	*state = habits;
	habits->job = job;
	map_init(&habits->times, 2, 1);
	map_init(&habits->writings, 1, sizeof(struct writing) / sizeof(uint64_t));
	map_init(&habits->across, 1, sizeof(struct writing) / sizeof(uint64_t));
	for (size_t i = 0; i < job->operation_count; i++)
		habits->locks[i] = locking_of(job->operations[i].name);
	for (int i = 0; i < HABITS; i++)
		habits->runs[i].file = habits->worst[i] = FILE_NONE;
	habits->looked = calloc(job->files.count, sizeof(*habits->looked));
	return habits->looked ? 0 : -ENOMEM;
}

static void end(void *state)
{
	struct habits *habits = state;

	free(habits->looked);
	map_free(&habits->times);
	map_free(&habits->writings);
	map_free(&habits->across);
	path_memory_free(&habits->paths);
	free(habits);
}

static bool is_directory(const struct habits *habits, uint32_t file)
{
	const struct file_table *files = &habits->job->files;

	return file < files->count && S_ISDIR(files->files[file].mode);
}

/* Whether a file is the one to be named: that with the most time; a directory, which is synced for
 * what was made in it, only where there is no file. */
static bool is_worst(const struct habits *habits, enum habit habit, uint32_t file, uint64_t time_ns)
{
	const uint32_t worst = habits->worst[habit];

	if (worst == FILE_NONE || is_directory(habits, file) == is_directory(habits, worst))
		return time_ns >= habits->most_ns[habit];
	return is_directory(habits, worst);
}

/* Books the run of a habit. */
static int book(struct habits *habits, enum habit habit)
{
	struct habit_run run = habits->runs[habit];
	const uint64_t key[] = { habit, run.file };
	uint64_t *time_ns;
	bool added = false;

	habits->runs[habit].time_ns = 0;
	if (run.file == FILE_NONE)
		return 0;
	time_ns = habits->times.count < FILES_MOST ? map_add(&habits->times, key, &added)
						   : map_find(&habits->times, key);
	if (!time_ns)
		return habits->times.count < FILES_MOST ? -ENOMEM : 0;
	habits->files[habit] += added;
	*time_ns += run.time_ns;
	if (is_worst(habits, habit, run.file, *time_ns)) {
		habits->most_ns[habit] = *time_ns;
		habits->worst[habit] = run.file;
	}
	return 0;
}

static int add(struct habits *habits, enum habit habit, const struct event *event)
{
	struct habit_run *run = &habits->runs[habit];
	int status = 0;

	tally_add(&habits->tallies[habit], event);
	if (run->file != event->file) {
		status = book(habits, habit);
		run->file = event->file;
	}
	run->time_ns += event_time_ns(event);
	return status;
}

/* Whether a file's path is of a kind: asked once of each, there may be a million. */
static bool is_kind(struct habits *habits, uint32_t file, enum looked asked,
		    bool (*is)(const struct file_table *files, struct table_text path))
{
	uint8_t *looked = &habits->looked[file];
	struct trace_string path;

	if (!(*looked & asked)) {
		path = file_table_name(&habits->job->files, file);
		*looked |= asked;
		if (is(&habits->job->files, (struct table_text) { path.bytes, path.length }))
			*looked |= asked << 1;
	}
	return *looked & asked << 1;
}

/* Programs and modules are read by loaders and interpreters, and nobody else can change how. */
static bool is_loaded(struct habits *habits, uint32_t file)
{
	return is_kind(habits, file, LOOKED_LOADED, loaded_in);
}

/* What a call named that ended without a file: there is none, or nobody asked which it is. */
static int names_module(struct habits *habits, const struct event *event)
{
	const struct path_asked asked = path_asked_by(event);
	uint32_t *known = path_memory_of(&habits->paths, &asked);
	char path[PATH_JOIN_BYTES];

	if (!known)
		return -ENOMEM;
	if (!*known) {
		size_t length =
			path_join(&habits->job->files, asked.trace, asked.dir, asked.path, path);

		*known = 1 + loaded_is_module((struct table_text) { path, length });
	}
	return *known - 1;
}

/* Whether a call of metadata looks for a module, or looks at one; or -ENOMEM. */
static int is_of_module(struct habits *habits, const struct event *event)
{
	if (event->class != IO_METADATA)
		return 0;
	if (event->file != FILE_UNKNOWN && event->file < habits->job->files.count)
		return is_kind(habits, event->file, LOOKED_MODULE, loaded_in_is_module);
	if (event->flags & EVENT_SUMMED || event_kind(event) != TRACE_SYSCALL_PATH ||
	    !event_value(event, SYSCALL_PATH_PATH))
		return 0;
	return names_module(habits, event);
}

/* A read to the end of its file gets what there is; only what comes after it gets nothing. */
static bool is_short(struct habits *habits, const struct event *event)
{
	const struct file_table *files = &habits->job->files;

	if (event->bytes >= event->asked_bytes)
		return false;
	if (event->file >= files->count)
		return !event->bytes;
	if (event->bytes && (event->offset < 0 ||
			     event->offset + event->bytes >= files->files[event->file].size_bytes))
		return false;
	return !is_loaded(habits, event->file);
}

/* A read that got all that it asked for, nearly all of them: a case of nothing. */
static inline bool is_plain_read(const struct event *event)
{
	return event->class == IO_READ && event->door != DOOR_DIRECT &&
	       event->bytes >= event->asked_bytes && !(event->flags & EVENT_FAILED);
}

/* Of calls that were summed up: what they are on average, where that tells. */
static unsigned int habits_of_sums(const struct habits *habits, const struct event *event)
{
	const uint64_t count = event->summed_count;
	unsigned int found = 0;

	if (event->summed_ns / HABIT_LOCK_WAIT_NS >= count && waits_for_lock(habits, event))
		found |= 1u << HABIT_LOCK;
	if (event->class == IO_SYNC)
		found |= 1u << HABIT_FSYNC;
	if (event->read_for_write_sectors)
		found |= 1u << HABIT_PARTIAL_WRITE;
	if (event->class == IO_WRITE && event->door == DOOR_SYSCALL &&
	    event->bytes / HABIT_SMALL_WRITE_BYTES < count)
		found |= 1u << HABIT_SMALL_WRITE;
	return found;
}

static unsigned int habits_of_call(struct habits *habits, const struct event *event)
{
	bool moves = event->class == IO_READ || event->class == IO_WRITE;
	bool waits =
		event->end - event->start >= HABIT_LOCK_WAIT_NS && waits_for_lock(habits, event);
	bool syncs = event->class == IO_WRITE && event_value(event, SYSCALL_FLAGS) & TRACE_OP_SYNC;
	unsigned int found = waits << HABIT_LOCK;

	/* Look-ups that fail have a table of their own, and who asks not to wait is told so. */
	if (event->flags & EVENT_FAILED) {
		if (event_kind(event) != TRACE_SYSCALL_PATH &&
		    !(moves && event_value(event, SYSCALL_RESULT) == (uint64_t)-EAGAIN))
			found |= 1u << HABIT_FAILED;
		return found;
	}
	if (event->class == IO_SYNC)
		found |= 1u << HABIT_FSYNC;
	if (syncs)
		found |= 1u << HABIT_SYNC_WRITE;
	if (moves && event->door == DOOR_DIRECT && event->bytes < HABIT_SMALL_DIRECT_BYTES)
		found |= 1u << HABIT_SMALL_DIRECT;
	if (event->class == IO_WRITE && !syncs && event->door == DOOR_SYSCALL &&
	    event->bytes <= HABIT_SMALL_WRITE_BYTES)
		found |= 1u << HABIT_SMALL_WRITE;
	if (event->read_for_write_sectors)
		found |= 1u << HABIT_PARTIAL_WRITE;
	if (event->class == IO_READ && is_short(habits, event))
		found |= 1u << HABIT_SHORT_READ;
	return found;
}

static inline bool is_call(const struct event *event)
{
	return event->flags & EVENT_CALL && !(event->flags & (EVENT_SECOND | EVENT_CLASSES));
}

/* What an event is a case of, whatever came before it; a mask of 1 << enum habit, or -ENOMEM. */
static inline int habits_of(struct habits *habits, const struct event *event)
{
	int found, of_module;

	if (!is_call(event) || is_plain_read(event))
		return 0;
	of_module = is_of_module(habits, event);
	if (of_module < 0)
		return of_module;
	found = event->flags & EVENT_SUMMED ? habits_of_sums(habits, event)
					    : habits_of_call(habits, event);
	return found | of_module << HABIT_MODULE;
}

/* Writes through the page cache hold the lock of their file from begin to end; past the cache, and
 * to pipes and devices, they need not. */
static inline bool takes_turns(const struct habits *habits, const struct event *event)
{
	const struct file_table *files = &habits->job->files;
	unsigned int mode;

	if (event->class != IO_WRITE || event->door != DOOR_SYSCALL ||
	    event->flags & (EVENT_DIRECT | EVENT_FAILED | EVENT_SUMMED) || !is_call(event) ||
	    event->file >= files->count)
		return false;
	mode = files->files[event->file].mode;
	return !S_ISFIFO(mode) && !S_ISCHR(mode) && !S_ISSOCK(mode) && !S_ISBLK(mode);
}

static void add_writing(struct writing *writing, struct last_write new)
{
	struct last_write *last = writing->last, *place = &last[last[0].who != new.who];

	if (new.end <= place->end)
		return;
	if (place != last && new.end > last->end) {
		last[1] = last[0];
		place = last;
	}
	*place = new;
}

/* What a write waited for those of others before it, in the order of their begins, is its own time
 * up to where the last of them ended. */
static int add_shared(struct habits *habits, struct map *writings, uint64_t key, uint64_t who,
		      enum habit habit, const struct event *event)
{
	struct event waited = *event;
	struct writing *writing;
	bool added;
	uint64_t end;
	int status = 0;

	writing = writings->count < FILES_MOST ? (struct writing *)map_add(writings, &key, &added)
					       : (struct writing *)map_find(writings, &key);
	if (!writing)
		return writings->count < FILES_MOST ? -ENOMEM : 0;
	end = writing->last[writing->last[0].who == who].end;
	if (event->start < end) {
		if (end < waited.end)
			waited.end = end;
		status = add(habits, habit, &waited);
	}
	add_writing(writing, (struct last_write) { .end = event->end, .who = who });
	return status;
}

/* Threads of one trace, and traces apart from that: summaries do not tell of each other's. */
static int add_write(struct habits *habits, const struct event *event)
{
	const uint64_t trace = event->block->trace;
	int status = add_shared(habits, &habits->writings, trace << 32 | event->file, event->thread,
				HABIT_SHARED_WRITE, event);

	if (status || habits->job->trace_count < 2)
		return status;
	return add_shared(habits, &habits->across, event->file, trace, HABIT_SHARED_ACROSS, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct habits *habits = state;
	int status = 0;

	for (const struct event *event = events; event < events + count; event++) {
		int found = habits_of(habits, event);

		if (found < 0)
			return found;
		for (int habit = 0; found >> habit && !status; habit++)
			if (found >> habit & 1)
				status = add(habits, habit, event);
		if (!status && takes_turns(habits, event))
			status = add_write(habits, event);
		if (status)
			return status;
	}
	return 0;
}

/* Nearly all that are alike are reads that got all that they asked for. */
static int add_series(void *state, const struct event_series *series)
{
	if (!series->lacking && is_plain_read(series->events))
		return 0;
	return add_events(state, series->events, series->count);
}

/* --- the table --- */

struct line {
	const char *habit;
	uint64_t count, bytes, time_ns, thread_time_ns, files, file_time_ns, read_for_write_bytes;
	struct table_text path;
};

static const struct table_column columns[] = {
	{ "habit", "habit", UNIT_NONE, "name of the habit", TABLE_LITERAL(struct line, habit), 0 },
	{ "count", "count", UNIT_COUNT, "calls", TABLE_UINT(struct line, count), 0 },
	{ "bytes", "bytes", UNIT_BYTES, "bytes that they moved", TABLE_UINT(struct line, bytes),
	  0 },
	{ "time_ns", "time", UNIT_NS, "time with at least one of them under way",
	  TABLE_UINT(struct line, time_ns), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, "the same summed over threads",
	  TABLE_UINT(struct line, thread_time_ns), 0 },
	{ "files", "files", UNIT_COUNT, "files that it was done to", TABLE_UINT(struct line, files),
	  0 },
	{ "path", "file", UNIT_NONE,
	  "the one with the most time; a directory only where there is no file",
	  TABLE_TEXT(struct line, path), 0 },
	{ "file_thread_time_ns", "its time", UNIT_NS,
	  "of that file, summed over threads; of several summaries, in the one with the most of it",
	  TABLE_UINT(struct line, file_time_ns), 0 },
	{ "read_for_write_bytes", NULL, UNIT_BYTES,
	  "bytes that they read from storage to complete pages that they wrote in part",
	  TABLE_UINT(struct line, read_for_write_bytes), JOB_READ_FOR_WRITE },
};

static int fill(void *state, struct table *table)
{
	struct habits *habits = state;
	int status = table_add_columns(table, TABLE_COLUMNS(columns));

	if (!(habits->job->layers & JOB_SYSCALL)) {
		table->absent = true;
		return status ? status : table_set_note(table, "system calls were not recorded");
	}
	if (!status && habits->job->summed)
		status = table_set_note(
			table,
			"of operations that were summed up: fsync, module where "
			"files are known, partial_write, and small_write and lock as far as they "
			"are so on average; the others "
			"need --mode trace");
	for (int i = 0; i < HABITS && !status; i++)
		status = book(habits, i);
	for (int i = 0; i < HABITS_LISTED && !status; i++) {
		const struct tally *tally = &habits->tallies[i];
		struct trace_string path = { .length = 0 };
		struct line line = {
			.habit = names[i],
			.count = tally->count,
			.bytes = tally->bytes,
			.time_ns = tally->time.measure,
			.thread_time_ns = tally->thread_time_ns,
			.files = habits->files[i],
			.file_time_ns = habits->most_ns[i],
			.read_for_write_bytes = tally->read_for_write_bytes,
		};

		if (habits->worst[i] != FILE_NONE)
			path = file_table_name(&habits->job->files, habits->worst[i]);
		if (path.length)
			line.path = (struct table_text) { path.bytes, path.length };
		habits->rows[i] = table->row_count;
		if (tally->count)
			status = table_add(table, &line);
	}
	return status;
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MOST])
{
	struct habits *habits = state;
	int found = habits_of(habits, event), count = 0;

	if (found < 0)
		return found;
	for (; found; found &= found - 1)
		rows[count++] = (struct row_of) { .row = habits->rows[__builtin_ctz(found)] };
	return count;
}

_Static_assert(HABITS_LISTED <= ROWS_OF_MOST, "an event may be of each");

/* Of several reports. How many different files there are is known where one of them alone has any:
 * others might tell of the same ones. */
static struct habit_view view_of_table(const struct table *table, enum habit habit)
{
	struct habit_view view = { .files = TABLE_NO_UINT };

	for (size_t row = 0; row < table->row_count; row++) {
		struct line line = { .files = TABLE_NO_UINT };

		if (!cell_is(&table_row(table, row)[0], names[habit]))
			continue;
		table_read_row(table, row, &line);
		view.tally = (struct tally) { .count = line.count,
					      .bytes = line.bytes,
					      .thread_time_ns = line.thread_time_ns,
					      .read_for_write_bytes = line.read_for_write_bytes,
					      .time.measure = line.time_ns };
		view.path = line.path;
		view.files = line.files;
	}
	return view;
}

struct habit_view habits_view(const struct measured *measured, enum habit habit)
{
	const struct habits *habits;
	struct habit_view view;
	struct trace_string path;

	if (!measured->job)
		return view_of_table(report_by(measured->report, &analysis_habits), habit);
	habits = measured_state(measured, &analysis_habits);
	view = (struct habit_view) { .tally = habits->tallies[habit],
				     .files = habits->files[habit] };
	if (habits->worst[habit] == FILE_NONE)
		return view;
	path = file_table_name(&measured->job->files, habits->worst[habit]);
	if (path.length)
		view.path = (struct table_text) { path.bytes, path.length };
	return view;
}

#define FLAGS (1ull << SYSCALL_FLAGS)

const struct analysis analysis_habits = {
	.name = "habits",
	.meaning = "what processes do again and again, for findings",
	.title = NULL,
	.shape = TABLE_LIST,
	.begin = begin,
	.of_sums = true,
	.passing = { .apart = true, .sums = true, .events = add_events, .series = add_series },
	.columns[TRACE_SYSCALL] = FLAGS | 1ull << SYSCALL_RESULT,
	.columns[TRACE_SYSCALL_PATH] = FLAGS | 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH,
	.fill = fill,
	.rows_of = rows_of,
	.end = end,
	.merging = { .keys = "habit",
		     .added = "count,bytes,thread_time_ns,read_for_write_bytes",
		     .unions = "time_ns",
		     .unknown = "files",
		     .dearest = "file_thread_time_ns,path",
		     .sorted = "habit",
		     .fixed = columns,
		     .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
