/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "advice": fadvise and madvise calls by file and advice, and whether dropped pages were
 * fetched again.
 */
#include "analysis/files/advice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/trace_text.h"
#include "collections/compare.h"
#include "base/number.h"

#define MADVISE "madvise"
#define ADVICE_MAX 65536 /* files with advice, for each advice; more are left out */

/* By bit number relative to TRACE_OP_ADVISED. */
static const char *const words[] = {
	"normal",  "random", "sequential", "willneed", "dontneed",
	"noreuse", "cold",   "pageout",	   "other",
};
enum {
	ADVICE_NORMAL,
	ADVICE_RANDOM,
	ADVICE_SEQUENTIAL,
	ADVICE_DONTNEED = 4,
	ADVICE_UNKNOWN = sizeof(words) / sizeof(words[0])
};

/* Map values. */
struct advised {
	uint64_t count, bytes, thread_time_ns;
};

/* Calls that dropped parts of a file: before any of it was fetched again (fresh), and after. */
struct dropped {
	uint64_t fresh, fresh_bytes;
	uint64_t again, again_bytes;
};
#define WORDS(type) (sizeof(struct type) / sizeof(uint64_t))

struct advice {
	const struct job *job;
	struct arena *arena;
	bool advises[JOB_OPERATIONS_MAX]; /* per operation */
	uint32_t madvise;		  /* its operation number; UINT32_MAX: none */
	struct map advised;		  /* file, operation << 8 | advice -> struct advised */
	struct map dropped;		  /* file -> struct dropped */
	bool cut;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct advice *advice = state;

	advice->job = job;
	advice->arena = arena;
	map_init_in(&advice->advised, arena, 2, WORDS(advised));
	map_init_in(&advice->dropped, arena, 1, WORDS(dropped));
	advice->madvise = UINT32_MAX;
	for (size_t i = 0; i < job->operation_count; i++) {
		bool is_madvise = !strcmp(job->operations[i].name, MADVISE);

		advice->advises[i] = is_madvise || job->operations[i].advises;
		if (is_madvise)
			advice->madvise = i;
	}
}

/* Returns the value for a key, or NULL if the map is full or there is no memory. */
static void *value_of(struct advice *advice, struct map *map, const uint64_t *key)
{
	void *value;
	bool added;

	if (map->count >= ADVICE_MAX) {
		value = map_find(map, key);
		advice->cut |= !value;
		return value;
	}
	return map_add(map, key, &added);
}

/* Length 0 means up to the end of the file. */
static uint64_t bytes_named(const struct advice *advice, const struct event *event, bool of_file)
{
	uint64_t size = advice->job->files.files[event->file].size_bytes;
	uint64_t offset = event->offset > 0 ? event->offset : 0;

	if (event->asked_bytes || !of_file)
		return event->asked_bytes;
	return number_sub(size, offset);
}

static void add_dropped(struct advice *advice, const struct event *event)
{
	const uint64_t key = event->file;
	struct dropped *dropped = value_of(advice, &advice->dropped, &key);

	if (!dropped)
		return;
	dropped->fresh++;
	dropped->fresh_bytes = number_add(dropped->fresh_bytes, bytes_named(advice, event, true));
}

static void add_advice(struct advice *advice, const struct event *event)
{
	uint64_t given = event_value(event, SYSCALL_FLAGS) & TRACE_OP_ADVICE;
	uint64_t number = given ? __builtin_ctzll(given / TRACE_OP_ADVISED) : ADVICE_UNKNOWN;
	const uint64_t key[] = { event->file, (uint64_t)event->operation << 8 | number };
	bool of_file = advice->job->operations[event->operation].advises;
	struct advised *advised = value_of(advice, &advice->advised, key);

	if (!advised)
		return;
	advised->count++;
	advised->bytes = number_add(advised->bytes, bytes_named(advice, event, of_file));
	advised->thread_time_ns += event->end - event->start;
	if (event->flags & EVENT_DROPS)
		add_dropped(advice, event);
}

/* Part of a dropped file is fetched again. */
static void add_fetched(struct advice *advice, uint32_t file)
{
	const uint64_t key = file;
	struct dropped *dropped = (struct dropped *)map_find(&advice->dropped, &key);

	if (!dropped || !dropped->fresh)
		return;
	dropped->again += dropped->fresh;
	dropped->again_bytes = number_add(dropped->again_bytes, dropped->fresh_bytes);
	dropped->fresh = dropped->fresh_bytes = 0;
}

static inline bool is_advice(const struct advice *advice, const struct event *event)
{
	return event->flags & (EVENT_CALL | EVENT_ASYNC) && advice->advises[event->operation] &&
	       !(event->flags & (EVENT_FAILED | EVENT_SECOND)) && event->file != FILE_NONE;
}

static inline bool may_fetch(const struct event *event)
{
	return event->class != IO_NONE || event->flags & EVENT_PAGECACHE;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct advice *advice = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (is_advice(advice, event))
			add_advice(advice, event);
		else if (advice->dropped.count && may_fetch(event) && event->fetched_bytes &&
			 event->file != FILE_NONE)
			add_fetched(advice, event->file);
	}
	return arena_status(advice->arena);
}

static int add_series(void *state, const struct event_series *series)
{
	const struct advice *advice = state;

	if (!is_advice(advice, series->events) &&
	    (!advice->dropped.count || !series->sums.fetched_bytes))
		return 0;
	return add_events(state, series->events, series->count);
}

/* --- the table --- */

struct advice_row {
	struct table_text path;
	const char *call, *advice;
	uint64_t count, bytes, thread_time_ns, again, again_bytes;
	uint32_t file;
};

static const struct table_column columns[] = {
	COLUMN(advice_row, path, "file", PATH, KEY, "path of the file"),
	COLUMN(advice_row, call, "call", NONE, KEY, "fadvise64, madvise or io_uring_fadvise"),
	COLUMN(advice_row, advice, "advice", NONE, KEY,
	       "POSIX_FADV_* or MADV_* name in lower case, without the prefix; other: any other "
	       "advice; null: unknown"),
	COLUMN(advice_row, count, "count", COUNT, SUM, "successful calls"),
	COLUMN(advice_row, bytes, "bytes", BYTES, SUM,
	       "bytes covered by the calls; for fadvise, a length of 0 counts up to the end of the "
	       "file"),
	COLUMN(advice_row, again, "refetched", COUNT, SUM,
	       "fadvise DONTNEED calls on the file, by any system call, after which part of the "
	       "file was fetched again; null for other advice",
	       JOB_PAGECACHE),
	COLUMN(advice_row, again_bytes, NULL, BYTES, SUM,
	       "bytes covered by the DONTNEED calls after which part of the file was fetched again",
	       JOB_PAGECACHE),
	COLUMN(advice_row, thread_time_ns, "thread time", NS, THREAD,
	       "time of the calls, summed over threads"),
};

static int compare_lines(const void *left, const void *right)
{
	const struct advice_row *a = left, *b = right;
	int order = COMPARE(b->count, a->count) ?:
		    COMPARE(a->file, b->file) ?: strcmp(a->call, b->call);

	if (order || !a->advice || !b->advice)
		return order ?: !a->advice - !b->advice;
	return strcmp(a->advice, b->advice);
}

static struct advice_row line_of(const struct advice *advice, const uint64_t *key,
				 const struct advised *advised)
{
	const struct operation *operation = &advice->job->operations[key[1] >> 8];
	unsigned int number = key[1] & 0xff;
	struct advice_row line = {
		.path = trace_text(file_table_name(&advice->job->files, key[0])),
		.call = operation->name,
		.advice = number < ADVICE_UNKNOWN ? words[number] : NULL,
		.count = advised->count,
		.bytes = advised->bytes,
		.thread_time_ns = advised->thread_time_ns,
		.again = TABLE_NO_UINT,
		.again_bytes = TABLE_NO_UINT,
		.file = key[0],
	};
	const struct dropped *dropped;

	if (number == ADVICE_DONTNEED && operation->advises) {
		dropped = (struct dropped *)map_find(&advice->dropped, key);
		line.again = dropped ? dropped->again : 0;
		line.again_bytes = dropped ? dropped->again_bytes : 0;
	}
	return line;
}

static void add_lines(const struct advice *advice, struct table *table)
{
	struct advice_row *lines =
		arena_alloc(advice->arena, (advice->advised.count + 1) * sizeof(*lines));
	size_t at = 0, count = 0;
	const uint64_t *key;
	uint64_t *value;

	while (lines && map_next(&advice->advised, &at, &key, &value))
		lines[count++] = line_of(advice, key, (struct advised *)value);
	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		table_add(table, &lines[i]);
}

static void fill(void *state, struct table *table)
{
	struct advice *advice = state;

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = advice->job->layers;
	if (table_absent_if(table, !(advice->job->layers & JOB_SYSCALL),
			    "system calls were not recorded"))
		return;
	if (advice->cut)
		table_set_note(table, "further files are omitted");
	else if (advice->job->lost)
		table_set_note(table, "excludes lost events");
	add_lines(advice, table);
}

/* --- lookup by other analyses --- */

static int add_row(struct map *by_path, const struct table *table, size_t row)
{
	struct advice_row line = { .again = TABLE_NO_UINT, .again_bytes = TABLE_NO_UINT };
	const struct cell *cells = table_row(table, row);
	struct advice_view *view;
	uint64_t path;
	bool added;

	if (cells[0].type != CELL_TEXT)
		return 0;
	path = map_hash_bytes(by_path, cells[0].text, cells[0].length);
	view = (struct advice_view *)map_add(by_path, &path, &added);
	if (!view)
		return -ENOMEM;
	table_read_row(table, row, &line);
	/* Pages dropped at the end of one run may have been fetched by another. */
	if (line.again != TABLE_NO_UINT) {
		view->dropped += line.count;
		view->dropped_bytes = number_add(view->dropped_bytes, line.bytes);
	}
	if (cell_is(&cells[1], MADVISE))
		view->random += cell_is(&cells[2], words[ADVICE_RANDOM]) ? line.count : 0;
	else if (cell_is(&cells[2], words[ADVICE_RANDOM]))
		view->random_reads += line.count;
	else if (cell_is(&cells[2], words[ADVICE_NORMAL]) ||
		 cell_is(&cells[2], words[ADVICE_SEQUENTIAL]))
		view->ordered_reads += line.count;
	return 0;
}

int advice_index_make(struct advice_index *index, const struct results *results)
{
	const struct table *table;
	int status = 0;

	index->advice = NULL;
	map_init(&index->by_path, 1, WORDS(advice_view));
	if (results->job) {
		index->advice = results_state(results, &analysis_advice);
		return 0;
	}
	table = report_by(results->report, &analysis_advice);
	for (size_t row = 0; row < table->row_count && !status; row++)
		status = add_row(&index->by_path, table, row);
	return status;
}

void advice_index_free(struct advice_index *index)
{
	map_free(&index->by_path);
}

/* Returns how often an operation gave an advice. */
static uint64_t count_of(const struct advice *advice, uint64_t file, uint64_t operation,
			 uint64_t number)
{
	const uint64_t pair[] = { file, operation << 8 | number };
	const struct advised *advised = (struct advised *)map_find(&advice->advised, pair);

	return advised ? advised->count : 0;
}

static struct advice_view view_of_file(const struct advice *advice, uint64_t file)
{
	const struct dropped *dropped = (struct dropped *)map_find(&advice->dropped, &file);
	struct advice_view view = {
		.dropped = dropped ? dropped->again : 0,
		.dropped_bytes = dropped ? dropped->again_bytes : 0,
		.random = count_of(advice, file, advice->madvise, ADVICE_RANDOM),
	};

	for (size_t i = 0; i < advice->job->operation_count; i++) {
		if (!advice->advises[i] || i == advice->madvise)
			continue;
		view.random_reads += count_of(advice, file, i, ADVICE_RANDOM);
		view.ordered_reads += count_of(advice, file, i, ADVICE_NORMAL) +
				      count_of(advice, file, i, ADVICE_SEQUENTIAL);
	}
	return view;
}

struct advice_view advice_of(const struct advice_index *index, uint32_t file,
			     struct table_text path)
{
	const struct advice_view *view;
	uint64_t key;

	if (index->advice)
		return view_of_file(index->advice, file);
	key = map_hash_bytes(&index->by_path, path.bytes, path.length);
	view = (struct advice_view *)map_find(&index->by_path, &key);
	return view ? *view : (struct advice_view) { .dropped = 0 };
}

#define FLAGS (1ull << SYSCALL_FLAGS)

const struct analysis analysis_advice = {
	.name = "advice",
	.meaning = "fadvise and madvise calls, by file",
	.title = NULL, /* for --table and findings only */
	.shown = "count,call,advice,bytes,again,thread_time_ns,path",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct advice),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .series = add_series },
	.columns = { [TRACE_SYSCALL] = FLAGS, [TRACE_ASYNC] = FLAGS },
	.fill = fill,
	.merging = { .sorted = "-count",
		     .many = "files",
		     .fixed = columns,
		     .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
