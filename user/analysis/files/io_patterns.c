/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "io_patterns": costly I/O patterns, how often they occur and the file most affected.
 * Excludes lost events.
 */
#include "analysis/files/io_patterns.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/shared/loaded.h"
#include "analysis/shared/results.h"
#include "analysis/events/path.h"

#define FILES_MAX 65536 /* pairs of a pattern and a file; further ones name no file */

/* Consecutive calls on one file, not yet added to the map. */
struct io_pattern_run {
	uint32_t file;
	uint64_t time_ns;
};

/* The write with the latest end so far, and the one with the latest end among writes by others: a
 * new write waits for the first of them that is not its own. */
struct last_write {
	uint64_t end, who; /* end: 0 for none; who: thread or trace */
};
struct writing {
	struct last_write last[2];
};

/* How an operation locks a file. */
enum locking {
	LOCK_NONE,
	LOCK_ASKS, /* tries or unlocks, returns at once: only a server makes it wait */
	LOCK_WAITS,
};

/* Cached checks of a file's path; the next higher bit of each holds the result. */
enum looked { LOOKED_LOADED = 1, LOOKED_MODULE = 4 };

struct io_patterns {
	const struct job *job;
	struct io_pattern_run runs[IO_PATTERNS];
	enum locking locks[JOB_OPERATIONS_MAX]; /* per operation */
	struct tally tallies[IO_PATTERNS];
	uint64_t class_ns[IO_PATTERNS][IO_CLASS_COUNT]; /* thread time */
	struct map writings;				/* trace << 32 | file -> struct writing */
	struct map across;				/* file -> struct writing: by trace */
	uint8_t *looked;				/* enum looked, per file */
	struct path_memory paths;			/* per path: 1 + whether it is a module's */
	struct map times;				/* io_pattern, file -> thread time */
	uint64_t max_ns[IO_PATTERNS];			/* of the worst file */
	uint64_t files[IO_PATTERNS];			/* TABLE_NO_UINT: unknown */
	uint32_t worst[IO_PATTERNS];
	uint32_t rows[IO_PATTERNS]; /* in the table */
};

static const char *const names[IO_PATTERNS] = {
	[IO_PATTERN_SYNC_WRITE] = "sync_write",
	[IO_PATTERN_FSYNC] = "fsync",
	[IO_PATTERN_SMALL_DIRECT] = "small_direct",
	[IO_PATTERN_SMALL_WRITE] = "small_write",
	[IO_PATTERN_PARTIAL_WRITE] = "partial_write",
	[IO_PATTERN_SHORT_READ] = "short_read",
	[IO_PATTERN_FAILED] = "failed",
	[IO_PATTERN_LOCK] = "lock",
	[IO_PATTERN_SHARED_WRITE] = "shared_write",
	[IO_PATTERN_MODULE] = "module",
	[IO_PATTERN_SHARED_ACROSS] = "shared_write_across", /* in no table */
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

/* Whether a call may have to wait for a lock. Otherwise its time is CPU time. */
static inline bool waits_for_lock(const struct io_patterns *io_patterns, const struct event *event)
{
	const enum locking locking = io_patterns->locks[event->operation];

	if (locking == LOCK_WAITS && !(event->flags & EVENT_NOWAIT))
		return true;
	return locking != LOCK_NONE &&
	       !file_table_is_on(&io_patterns->job->files, event->file, FILE_SYSTEM_LOCKS_HERE);
}

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct io_patterns *io_patterns = state;

	io_patterns->job = job;
	io_patterns->paths.arena = arena;
	map_init_in(&io_patterns->times, arena, 2, 1);
	map_init_in(&io_patterns->writings, arena, 1, sizeof(struct writing) / sizeof(uint64_t));
	map_init_in(&io_patterns->across, arena, 1, sizeof(struct writing) / sizeof(uint64_t));
	for (size_t i = 0; i < job->operation_count; i++)
		io_patterns->locks[i] = locking_of(job->operations[i].name);
	for (int i = 0; i < IO_PATTERNS; i++)
		io_patterns->runs[i].file = io_patterns->worst[i] = FILE_NONE;
	io_patterns->looked = arena_alloc(arena, job->files.count * sizeof(*io_patterns->looked));
}

static bool is_directory(const struct io_patterns *io_patterns, uint32_t file)
{
	const struct file_table *files = &io_patterns->job->files;

	return file < files->count && S_ISDIR(files->files[file].mode);
}

/* Whether this file becomes the one to name: the one with the most time. A directory, synced for
 * entries created in it, is named only if there is no file. */
static bool is_worst(const struct io_patterns *io_patterns, enum io_pattern io_pattern,
		     uint32_t file, uint64_t time_ns)
{
	const uint32_t worst = io_patterns->worst[io_pattern];

	if (worst == FILE_NONE ||
	    is_directory(io_patterns, file) == is_directory(io_patterns, worst))
		return time_ns >= io_patterns->max_ns[io_pattern];
	return is_directory(io_patterns, worst);
}

/* Adds the current run of a pattern to its file. */
static int book(struct io_patterns *io_patterns, enum io_pattern io_pattern)
{
	struct io_pattern_run run = io_patterns->runs[io_pattern];
	const uint64_t key[] = { io_pattern, run.file };
	uint64_t *time_ns;
	bool added = false;

	io_patterns->runs[io_pattern].time_ns = 0;
	if (run.file == FILE_NONE)
		return 0;
	time_ns = io_patterns->times.count < FILES_MAX ? map_add(&io_patterns->times, key, &added)
						       : map_find(&io_patterns->times, key);
	if (!time_ns)
		return io_patterns->times.count < FILES_MAX ? -ENOMEM : 0;
	if (added && file_table_is_rest(&io_patterns->job->files, run.file))
		io_patterns->files[io_pattern] = TABLE_NO_UINT;
	else if (added && io_patterns->files[io_pattern] != TABLE_NO_UINT)
		io_patterns->files[io_pattern]++;
	*time_ns += run.time_ns;
	if (is_worst(io_patterns, io_pattern, run.file, *time_ns)) {
		io_patterns->max_ns[io_pattern] = *time_ns;
		io_patterns->worst[io_pattern] = run.file;
	}
	return 0;
}

static int add(struct io_patterns *io_patterns, enum io_pattern io_pattern,
	       const struct event *event)
{
	struct io_pattern_run *run = &io_patterns->runs[io_pattern];
	int status = 0;

	tally_add(&io_patterns->tallies[io_pattern], event);
	if (event->class < IO_CLASS_COUNT)
		io_patterns->class_ns[io_pattern][event->class] += event_time_ns(event);
	if (run->file != event->file) {
		status = book(io_patterns, io_pattern);
		run->file = event->file;
	}
	run->time_ns += event_time_ns(event);
	return status;
}

/* Whether a file's path is of a kind; cached, because there may be a million files. */
static bool is_kind(struct io_patterns *io_patterns, uint32_t file, enum looked kind,
		    bool (*is)(const struct file_table *files, struct table_text path))
{
	uint8_t *looked = &io_patterns->looked[file];
	struct trace_string path;

	if (!(*looked & kind)) {
		path = file_table_name(&io_patterns->job->files, file);
		*looked |= kind;
		if (is(&io_patterns->job->files, (struct table_text) { path.bytes, path.length }))
			*looked |= kind << 1;
	}
	return *looked & kind << 1;
}

/* Programs and modules are read by loaders and interpreters: users cannot change how. */
static bool is_loaded(struct io_patterns *io_patterns, uint32_t file)
{
	return is_kind(io_patterns, file, LOOKED_LOADED, loaded_in);
}

/* Whether the path of a call without a file names a module: the file does not exist or was not
 * identified. */
static int names_module(struct io_patterns *io_patterns, const struct event *event)
{
	const struct path_argument argument = path_argument_of(event);
	uint32_t *known = path_memory_of(&io_patterns->paths, &argument);
	char path[PATH_JOIN_BYTES];

	if (!known)
		return -ENOMEM;
	if (!*known) {
		size_t length = path_join(&io_patterns->job->files, argument.trace, argument.dir,
					  argument.path, path);

		*known = 1 + loaded_names_module((struct table_text) { path, length });
	}
	return *known - 1;
}

/* Whether a metadata call searches for or accesses a module; or -ENOMEM. */
static int is_of_module(struct io_patterns *io_patterns, const struct event *event)
{
	if (event->class != IO_METADATA)
		return 0;
	if (event->file != FILE_UNKNOWN && event->file < io_patterns->job->files.count)
		return is_kind(io_patterns, event->file, LOOKED_MODULE, loaded_in_is_module);
	if (event->flags & EVENT_SUMMED || event_kind(event) != TRACE_SYSCALL_PATH ||
	    !event_value(event, SYSCALL_PATH_PATH))
		return 0;
	return names_module(io_patterns, event);
}

/* A read up to the end of the file gets what there is; only a read past the end gets nothing. */
static bool is_short(struct io_patterns *io_patterns, const struct event *event)
{
	const struct file_table *files = &io_patterns->job->files;

	if (event->bytes >= event->asked_bytes)
		return false;
	if (event->file >= files->count)
		return !event->bytes;
	if (event->bytes && (event->offset < 0 ||
			     event->offset + event->bytes >= files->files[event->file].size_bytes))
		return false;
	return !is_loaded(io_patterns, event->file);
}

/* A read that got all it asked for, as nearly all do: matches no pattern. */
static inline bool is_plain_read(const struct event *event)
{
	return event->class == IO_READ && event->method != METHOD_DIRECT &&
	       event->bytes >= event->asked_bytes && !(event->flags & EVENT_FAILED);
}

/* Patterns of aggregated calls, judged by their average where that is conclusive. */
static unsigned int io_patterns_of_sums(const struct io_patterns *io_patterns,
					const struct event *event)
{
	const uint64_t count = event->summed_count;
	unsigned int found = 0;

	if (event->summed_ns / IO_PATTERN_LOCK_WAIT_NS >= count &&
	    waits_for_lock(io_patterns, event))
		found |= 1u << IO_PATTERN_LOCK;
	if (event->class == IO_SYNC)
		found |= 1u << IO_PATTERN_FSYNC;
	if (event->read_for_write_sectors)
		found |= 1u << IO_PATTERN_PARTIAL_WRITE;
	if (event->class == IO_WRITE && event->method == METHOD_SYSCALL &&
	    event->bytes / IO_PATTERN_SMALL_WRITE_BYTES < count)
		found |= 1u << IO_PATTERN_SMALL_WRITE;
	return found;
}

static unsigned int io_patterns_of_call(struct io_patterns *io_patterns, const struct event *event)
{
	bool moves = event->class == IO_READ || event->class == IO_WRITE;
	bool waits = event->end - event->start >= IO_PATTERN_LOCK_WAIT_NS &&
		     waits_for_lock(io_patterns, event);
	bool syncs = event->class == IO_WRITE && event_value(event, SYSCALL_FLAGS) & TRACE_OP_SYNC;
	unsigned int found = waits << IO_PATTERN_LOCK;

	/* Failed look-ups have their own table, and EAGAIN is expected for non-blocking calls. */
	if (event->flags & EVENT_FAILED) {
		if (event_kind(event) != TRACE_SYSCALL_PATH &&
		    !(moves && event_value(event, SYSCALL_RESULT) == (uint64_t)-EAGAIN))
			found |= 1u << IO_PATTERN_FAILED;
		return found;
	}
	if (event->class == IO_SYNC)
		found |= 1u << IO_PATTERN_FSYNC;
	if (syncs)
		found |= 1u << IO_PATTERN_SYNC_WRITE;
	if (moves && event->method == METHOD_DIRECT && event->bytes < IO_PATTERN_SMALL_DIRECT_BYTES)
		found |= 1u << IO_PATTERN_SMALL_DIRECT;
	if (event->class == IO_WRITE && !syncs && event->method == METHOD_SYSCALL &&
	    event->bytes <= IO_PATTERN_SMALL_WRITE_BYTES)
		found |= 1u << IO_PATTERN_SMALL_WRITE;
	if (event->read_for_write_sectors)
		found |= 1u << IO_PATTERN_PARTIAL_WRITE;
	if (event->class == IO_READ && is_short(io_patterns, event))
		found |= 1u << IO_PATTERN_SHORT_READ;
	return found;
}

static inline bool is_call(const struct event *event)
{
	return event->flags & EVENT_CALL && !(event->flags & (EVENT_SECOND | EVENT_CLASSES));
}

/* Returns the patterns that an event matches, regardless of earlier events; a mask of 1 << enum
 * io_pattern, or -ENOMEM. */
static inline int io_patterns_of(struct io_patterns *io_patterns, const struct event *event)
{
	int found, of_module;

	if (!is_call(event) || is_plain_read(event))
		return 0;
	of_module = is_of_module(io_patterns, event);
	if (of_module < 0)
		return of_module;
	found = event->flags & EVENT_SUMMED ? io_patterns_of_sums(io_patterns, event)
					    : io_patterns_of_call(io_patterns, event);
	return found | of_module << IO_PATTERN_MODULE;
}

/* Writes through the page cache hold the file's lock for their whole duration; direct writes and
 * writes to pipes and devices need not. */
static inline bool takes_turns(const struct io_patterns *io_patterns, const struct event *event)
{
	const struct file_table *files = &io_patterns->job->files;
	unsigned int mode;

	if (event->class != IO_WRITE || event->method != METHOD_SYSCALL ||
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

/* Adds the part of a write that it waited for earlier writes of others: from its start to the
 * latest of their ends. */
static int add_shared(struct io_patterns *io_patterns, struct map *writings, uint64_t key,
		      uint64_t who, enum io_pattern io_pattern, const struct event *event)
{
	struct event waited = *event;
	struct writing *writing;
	bool added;
	uint64_t end;
	int status = 0;

	writing = writings->count < FILES_MAX ? (struct writing *)map_add(writings, &key, &added)
					      : (struct writing *)map_find(writings, &key);
	if (!writing)
		return writings->count < FILES_MAX ? -ENOMEM : 0;
	end = writing->last[writing->last[0].who == who].end;
	if (event->start < end) {
		if (end < waited.end)
			waited.end = end;
		status = add(io_patterns, io_pattern, &waited);
	}
	add_writing(writing, (struct last_write) { .end = event->end, .who = who });
	return status;
}

/* Waits among threads of one trace and, separately, among traces: summaries cannot see the
 * latter. */
static int add_write(struct io_patterns *io_patterns, const struct event *event)
{
	const uint64_t trace = event->block->trace;
	int status = add_shared(io_patterns, &io_patterns->writings, trace << 32 | event->file,
				event->thread, IO_PATTERN_SHARED_WRITE, event);

	if (status || io_patterns->job->trace_count < 2)
		return status;
	return add_shared(io_patterns, &io_patterns->across, event->file, trace,
			  IO_PATTERN_SHARED_ACROSS, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct io_patterns *io_patterns = state;
	int status = 0;

	for (const struct event *event = events; event < events + count; event++) {
		int found = io_patterns_of(io_patterns, event);

		if (found < 0)
			return found;
		for (int io_pattern = 0; found >> io_pattern && !status; io_pattern++)
			if (found >> io_pattern & 1)
				status = add(io_patterns, io_pattern, event);
		if (!status && takes_turns(io_patterns, event))
			status = add_write(io_patterns, event);
		if (status)
			return status;
	}
	return 0;
}

/* Nearly all series of similar events are reads that got all they asked for. */
static int add_series(void *state, const struct event_series *series)
{
	if (!series->lacking && is_plain_read(series->events))
		return 0;
	return add_events(state, series->events, series->count);
}

/* Returns the path of the file with the most time in a pattern; none if it has no name. */
static struct table_text worst_path(const struct io_patterns *io_patterns,
				    enum io_pattern io_pattern)
{
	const struct file_table *files = &io_patterns->job->files;
	const uint32_t worst = io_patterns->worst[io_pattern];
	struct trace_string path = { .length = 0 };

	if (worst != FILE_NONE && !file_table_is_rest(files, worst))
		path = file_table_name(files, worst);
	return (struct table_text) { path.length ? path.bytes : NULL, path.length };
}

/* --- the table --- */

struct io_patterns_row {
	const char *io_pattern;
	uint64_t count, bytes, time_ns, thread_time_ns, files, file_time_ns, read_for_write_bytes;
	struct table_text path;
};

static const struct table_column columns[] = {
	COLUMN(io_patterns_row, io_pattern, "pattern", NONE, KEY,
	       "sync_write (O_SYNC), fsync, small_direct (< 64 KiB), small_write (<= 4 KiB), "
	       "partial_write, short_read, failed, lock (>= 10 us), shared_write, module"),
	COLUMN(io_patterns_row, count, "count", COUNT, SUM,
	       "calls that match the pattern; failed excludes calls with a path (see "
	       "failed_lookups); module: metadata calls on Python modules",
	       0, STRETCH(COUNT)),
	COLUMN(io_patterns_row, bytes, "bytes", BYTES, SUM, "bytes moved by these calls", 0,
	       STRETCH_MOVED),
	COLUMN(io_patterns_row, time_ns, "time", NS, UNION,
	       "time with at least one of these calls in progress; for shared_write only their "
	       "waits for other threads' writes to the file",
	       0, STRETCH(TIME)),
	COLUMN(io_patterns_row, thread_time_ns, "thread time", NS, THREAD,
	       "time of these calls, summed over threads; for shared_write only their waits for "
	       "other threads' writes to the file",
	       0, STRETCH(THREAD_TIME)),
	COLUMN(io_patterns_row, files, "files", COUNT, DERIVED,
	       "files that these calls accessed; "
	       "null: not all are known"),
	COLUMN(io_patterns_row, path, "file", NONE, LARGEST,
	       "file with the most time in these calls; a directory only if there is no file; "
	       "null: it is not known by name"),
	COLUMN_AS("file_thread_time_ns", io_patterns_row, file_time_ns, "file's time", NS, LARGEST,
		  "time of these calls on that file, summed over threads; over several summaries, "
		  "the largest of them"),
	COLUMN(io_patterns_row, read_for_write_bytes, NULL, BYTES, SUM,
	       "bytes read from storage by these calls to complete partially written pages",
	       JOB_READ_FOR_WRITE),
};

static void fill(void *state, struct table *table)
{
	struct io_patterns *io_patterns = state;
	int status = 0;

	table_add_columns(table, TABLE_COLUMNS(columns));
	if (table_absent_if(table, !(io_patterns->job->layers & JOB_SYSCALL),
			    "system calls were not recorded"))
		return;
	if (!status && io_patterns->job->aggregated)
		table_set_note(table, "aggregated operations cover only fsync, module (where "
				      "files are known), partial_write, and, judged by averages, "
				      "small_write and lock; the others require --mode trace");
	for (int i = 0; i < IO_PATTERNS && !status; i++)
		status = book(io_patterns, i);
	for (int i = 0; i < IO_PATTERNS_LISTED && !status; i++) {
		const struct tally *tally = &io_patterns->tallies[i];
		struct io_patterns_row line = {
			.io_pattern = names[i],
			.count = tally->count,
			.bytes = tally->bytes,
			.time_ns = tally->time.measure,
			.thread_time_ns = tally->thread_time_ns,
			.files = io_patterns->files[i],
			.file_time_ns = io_patterns->max_ns[i],
			.read_for_write_bytes = tally->read_for_write_bytes,
			.path = worst_path(io_patterns, i),
		};

		io_patterns->rows[i] = table->row_count;
		if (tally->count)
			table_add(table, &line);
	}
	table_fail(table, status);
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	struct io_patterns *io_patterns = state;
	int found = io_patterns_of(io_patterns, event), count = 0;

	if (found < 0)
		return found;
	for (; found; found &= found - 1)
		rows[count++] = (struct row_of) { .row = io_patterns->rows[__builtin_ctz(found)] };
	return count;
}

_Static_assert(IO_PATTERNS_LISTED <= ROWS_OF_MAX, "an event may match all patterns");

/* For merged reports. The number of distinct files is known only if a single report has any: others
 * may count the same files. */
static struct io_pattern_view view_of_table(const struct table *table, enum io_pattern io_pattern)
{
	struct io_pattern_view view = { .files = TABLE_NO_UINT };

	for (size_t row = 0; row < table->row_count; row++) {
		struct io_patterns_row line = { .files = TABLE_NO_UINT };

		if (!cell_is(&table_row(table, row)[0], names[io_pattern]))
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

struct io_pattern_view io_patterns_view(const struct results *results, enum io_pattern io_pattern)
{
	const struct io_patterns *io_patterns;
	struct io_pattern_view view;

	if (!results->job)
		return view_of_table(report_by(results->report, &analysis_io_patterns), io_pattern);
	io_patterns = results_state(results, &analysis_io_patterns);
	view = (struct io_pattern_view) { .tally = io_patterns->tallies[io_pattern],
					  .path = worst_path(io_patterns, io_pattern),
					  .files = io_patterns->files[io_pattern] };
	memcpy(view.class_ns, io_patterns->class_ns[io_pattern], sizeof(view.class_ns));
	return view;
}

bool io_patterns_has(const struct results *results, enum io_pattern io_pattern, uint32_t file)
{
	const struct io_patterns *io_patterns = results_state(results, &analysis_io_patterns);
	const uint64_t key[] = { io_pattern, file };

	return file != FILE_NONE &&
	       (map_find(&io_patterns->times, key) || io_patterns->times.count >= FILES_MAX);
}

#define FLAGS (1ull << SYSCALL_FLAGS)

const struct analysis analysis_io_patterns = {
	.name = "io_patterns",
	.meaning = "costly I/O patterns, as used by findings",
	.title = NULL,
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct io_patterns),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true, .sums = true, .events = add_events, .series = add_series },
	.columns[TRACE_SYSCALL] = FLAGS | 1ull << SYSCALL_RESULT,
	.columns[TRACE_SYSCALL_PATH] = FLAGS | 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH,
	.fill = fill,
	.rows_of = rows_of,
	.merging = { .costliest = "file_thread_time_ns,path",
		     .sorted = "io_pattern",
		     .fixed = columns,
		     .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
