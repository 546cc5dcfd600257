/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "files": activity by file, and access patterns. Excludes lost events. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/files/file_use.h"
#include "collections/compare.h"
#include "collections/longest.h"
#include "analysis/shared/measure.h"
#include "analysis/shared/results.h"
#include "base/units.h"
#include "base/strbuf.h"

/* Per use: its measure in the roll-up, its table columns, and the columns shown in the text
 * report. */
#define CALL_COLUMNS                                                                               \
	(MEASURE_COUNT | MEASURE_BYTES | MEASURE_TIME | MEASURE_FETCHED | MEASURE_CREATED |        \
	 MEASURE_READ_FOR_WRITE)
#define STILL_COLUMNS (MEASURE_COUNT | MEASURE_TIME)
#define FAULT_COLUMNS                                                                              \
	(MEASURE_COUNT | MEASURE_MAJOR | MEASURE_FETCHED | MEASURE_CREATED | MEASURE_DIRTIED |     \
	 MEASURE_TIME)

static const struct {
	unsigned int measure;
	unsigned int columns, titled;
} uses[USES] = {
	[USE_READ] = { IO_READ, CALL_COLUMNS, MEASURE_BYTES | MEASURE_TIME | MEASURE_FETCHED },
	[USE_WRITE] = { IO_WRITE, CALL_COLUMNS,
			MEASURE_BYTES | MEASURE_TIME | MEASURE_FETCHED | MEASURE_CREATED },
	[USE_MMAP] = { MEASURE_MMAP, FAULT_COLUMNS,
		       FAULT_COLUMNS & ~(MEASURE_CREATED | MEASURE_DIRTIED) },
	[USE_METADATA] = { IO_METADATA, STILL_COLUMNS, STILL_COLUMNS },
	[USE_SYNC] = { IO_SYNC, STILL_COLUMNS, MEASURE_TIME },
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	file_uses_init(state, arena, job);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	return file_uses_add(state, events, count);
}

static int add_series(void *state, const struct event_series *series)
{
	return file_uses_add_series(state, series);
}

/* --- the table --- */

static const struct table_column first_columns[] = {
	COLUMN(file_view, path, "file", PATH, KEY,
	       "path of the file; null: unknown; \"(name lost, dev 8:1 inode 123)\" or \"(files "
	       "whose names were lost)\" if the trace is damaged"),
	COLUMN(file_view, time_ns, "time", NS, UNION,
	       "I/O time on the file, the sum of its read, write, mmap, metadata and sync times", 0,
	       STRETCH(TIME)),
	COLUMN(file_view, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache by any operation, readahead included",
	       JOB_PAGECACHE, STRETCH(FETCHED)),
	COLUMN(file_view, created_bytes, "newly cached", BYTES, SUM,
	       "bytes of new page-cache pages filled by writes", JOB_PAGECACHE, STRETCH(CREATED)),
	COLUMN(file_view, host, NULL, NONE, KEY, "host of the file"),
	COLUMN(file_view, dev, NULL, NONE, KEY, "st_dev of the file, as major:minor"),
	COLUMN(file_view, ino, NULL, NONE, KEY, "inode number of the file"),
	COLUMN(file_view, instance, NULL, NONE, FACT,
	       "tells apart devices that used the same number one after another, such as mounts; "
	       "null: unknown"),
	COLUMN(file_view, size_bytes, "size", BYTES, FACT,
	       "last known size of the file, or the end of the furthest access if larger"),
	COLUMN(file_view, deleted, "deleted", NONE, ANY,
	       "whether the file was deleted and had no name left"),
	COLUMN(file_view, filesystem, NULL, NONE, FACT, "file system type of the file"),
	COLUMN(file_view, readahead_bytes, NULL, BYTES, FACT,
	       "readahead limit of the file's device (read_ahead_kb); null: unknown"),
	{ "stripe_count", NULL, UNIT_COUNT, KIND_FACT,
	  "stripes of the file on Lustre (lustre.lov), of the part that has the most; null: "
	  "unknown",
	  TABLE_UINT(struct file_view, stripes) },
	COLUMN(file_view, stripe_bytes, NULL, BYTES, FACT, "size of these stripes; null: unknown"),
	COLUMN(file_view, processes, "processes", COUNT, SUM, "processes that used the file"),
	COLUMN(file_view, opens, "opens", COUNT, SUM, "successful opens of the file", 0,
	       STRETCH(OPENS)),
};

#define PATTERN(which, member) TABLE_UINT(struct file_view, patterns[which][member])
#define JUMPS(which, member) TABLE_UINT(struct file_view, jumps[which].member)

/* Columns after the groups. */
static const struct table_column last_columns[] = {
	COLUMN(file_view, unattributed.fetched_bytes, "unattributed from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, attributed to no operation",
	       JOB_OTHER_PAGES),
	COLUMN(file_view, unattributed.created_bytes, "unattributed newly cached", BYTES, SUM,
	       "bytes newly cached by writes, attributed to no operation", JOB_OTHER_PAGES),
	COLUMN(file_view, indirect.fetched_bytes, "indirect from storage", BYTES, SUM,
	       "bytes read from storage into the page cache by operations on another file",
	       JOB_OTHER_PAGES),
	COLUMN(file_view, indirect.created_bytes, "indirect newly cached", BYTES, SUM,
	       "bytes newly cached by operations on another file", JOB_OTHER_PAGES),
	{ "mmap.written_pages", "pages dirtied", UNIT_COUNT, KIND_SUM,
	  "pages dirtied by stores through mappings, counted in whole folios",
	  TABLE_UINT(struct file_view, written_pages), JOB_DIRTIED },
	{ "pattern.sequential", "sequential", UNIT_COUNT, KIND_SUM,
	  "read and write calls that start at or past the end of the process's previous one "
	  "through the same open file, consecutive ones included",
	  PATTERN(BY_CALLS, SEQUENTIAL), JOB_SYSCALL | JOB_EVENTS },
	{ "pattern.consecutive", NULL, UNIT_COUNT, KIND_SUM,
	  "read and write calls that start exactly at the end of the process's previous one "
	  "through the same open file",
	  PATTERN(BY_CALLS, CONSECUTIVE), JOB_SYSCALL | JOB_EVENTS },
	{ "pattern.random", "random", UNIT_COUNT, KIND_SUM,
	  "read and write calls that start before the end of the process's previous one through "
	  "the same open file",
	  PATTERN(BY_CALLS, RANDOM), JOB_SYSCALL | JOB_EVENTS },
	{ "read.pattern.sequential", NULL, UNIT_COUNT, KIND_SUM,
	  "reads that start at or past the end of the process's previous read through the same "
	  "open file, writes ignored; consecutive ones included",
	  PATTERN(BY_READS, SEQUENTIAL), JOB_SYSCALL | JOB_EVENTS },
	{ "read.pattern.consecutive", NULL, UNIT_COUNT, KIND_SUM,
	  "reads that start exactly at the end of the process's previous read, writes ignored",
	  PATTERN(BY_READS, CONSECUTIVE), JOB_SYSCALL | JOB_EVENTS },
	{ "read.pattern.random", NULL, UNIT_COUNT, KIND_SUM,
	  "reads that start before the end of the process's previous read, writes ignored",
	  PATTERN(BY_READS, RANDOM), JOB_SYSCALL | JOB_EVENTS },
	{ "mmap.pattern.sequential", "mmap sequential", UNIT_COUNT, KIND_SUM,
	  "faults past the page that the process faulted on before, consecutive ones included",
	  PATTERN(BY_FAULTS, SEQUENTIAL), JOB_FAULT | JOB_EVENTS },
	{ "mmap.pattern.consecutive", NULL, UNIT_COUNT, KIND_SUM,
	  "faults on the page right after the one that the process faulted on before",
	  PATTERN(BY_FAULTS, CONSECUTIVE), JOB_FAULT | JOB_EVENTS },
	{ "mmap.pattern.random", "mmap random", UNIT_COUNT, KIND_SUM,
	  "faults on the page that the process faulted on before, or on an earlier one",
	  PATTERN(BY_FAULTS, RANDOM), JOB_FAULT | JOB_EVENTS },
	{ "pattern.followed", NULL, UNIT_COUNT, KIND_SUM,
	  "read and write calls after an earlier one on the file by the same thread",
	  JUMPS(BY_CALLS, known), JOB_SYSCALL | JOB_EVENTS },
	{ "pattern.backward", NULL, UNIT_COUNT, KIND_SUM,
	  "read and write calls that start before the end of the thread's previous one",
	  JUMPS(BY_CALLS, back), JOB_SYSCALL | JOB_EVENTS },
	{ "read.pattern.followed", NULL, UNIT_COUNT, KIND_SUM,
	  "reads after an earlier one of the file by the same thread", JUMPS(BY_READS, known),
	  JOB_SYSCALL | JOB_EVENTS },
	{ "read.pattern.backward", NULL, UNIT_COUNT, KIND_SUM,
	  "reads that start before the end of the thread's previous one", JUMPS(BY_READS, back),
	  JOB_SYSCALL | JOB_EVENTS },
	{ "mmap.pattern.followed", NULL, UNIT_COUNT, KIND_SUM,
	  "faults after an earlier one on the file by the same thread", JUMPS(BY_FAULTS, known),
	  JOB_FAULT | JOB_EVENTS },
	{ "mmap.pattern.backward", NULL, UNIT_COUNT, KIND_SUM,
	  "faults more than 1 MiB before the thread's previous one, unless they resume where it "
	  "was before a jump ahead",
	  JUMPS(BY_FAULTS, back), JOB_FAULT | JOB_EVENTS },
	{ "mmap.pattern.several", NULL, UNIT_NONE, KIND_DERIVED,
	  "whether several threads faulted on the file",
	  TABLE_BOOL(struct file_view, jumps[BY_FAULTS].several), JOB_FAULT | JOB_EVENTS },
	{ "mmap.faulted_bytes", NULL, UNIT_BYTES, KIND_SUM,
	  "bytes read from storage by faults, map calls excluded",
	  TABLE_UINT(struct file_view, faulted_bytes), JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS },
	{ "mmap.aligned_faults", NULL, UNIT_COUNT, KIND_SUM,
	  "faults on the first or last page of 64 KiB; a fault also maps the pages around it, so a "
	  "scan, forward or backward, faults only there",
	  TABLE_UINT(struct file_view, aligned_faults), JOB_FAULT | JOB_EVENTS },
	{ "mmap.touched_pages", "pages touched", UNIT_COUNT, KIND_SUM,
	  "estimate of the pages that programs used: one per fault, but 64 KiB for a fault 2 pages "
	  "to 64 KiB past the thread's previous one, because an access of N pages crosses an edge "
	  "of 64 KiB, and faults again, in N - 1 of 16 cases",
	  TABLE_UINT(struct file_view, touched_pages), JOB_FAULT | JOB_EVENTS },
	{ "mmap.copied_pages", "pages copied", UNIT_COUNT, KIND_SUM,
	  "pages copied on stores to private mappings, one per fault",
	  TABLE_UINT(struct file_view, copied_pages), JOB_FAULT | JOB_EVENTS },
	{ "mmap.copied_bytes", NULL, UNIT_BYTES, KIND_SUM,
	  "bytes of pages copied on stores to private mappings; the copies are private memory",
	  TABLE_UINT(struct file_view, copied_bytes), JOB_FAULT | JOB_EVENTS },
	{ "mmap.first_rank", NULL, UNIT_NONE, KIND_MIN,
	  "lowest rank that accessed the file through a mapping; null: none",
	  TABLE_UINT(struct file_view, first_rank), JOB_FAULT },
	{ "mmap.last_rank", NULL, UNIT_NONE, KIND_MAX,
	  "highest rank that accessed the file through a mapping; null: none",
	  TABLE_UINT(struct file_view, last_rank), JOB_FAULT },
	COLUMN(file_view, direct_bytes, NULL, BYTES, SUM, "bytes read with O_DIRECT", JOB_MOVED),
	COLUMN(file_view, advised, NULL, COUNT, SUM,
	       "fadvise calls that fetched nothing and whose advice is unknown", JOB_SYSCALL),
	{ "list.count", NULL, UNIT_COUNT, KIND_SUM,
	  "successful calls that list the entries of the directory, also in metadata.count",
	  TABLE_UINT(struct file_view, listed), JOB_SYSCALL },
	{ "list.time_ns", NULL, UNIT_NS, KIND_UNION,
	  "time with at least one listing call in progress, also in metadata.time_ns",
	  TABLE_UINT(struct file_view, listing_ns), JOB_SYSCALL },
	{ "lock.time_ns", NULL, UNIT_NS, KIND_UNION,
	  "time with at least one call in progress that locks or unlocks the file (flock, fcntl), "
	  "also in metadata.time_ns",
	  TABLE_UINT(struct file_view, locking_ns), JOB_SYSCALL },
	{ "overwrite.time_ns", NULL, UNIT_NS, KIND_UNION,
	  "time with at least one open in progress that truncates the file, which may wait for its "
	  "earlier data; also in metadata.time_ns",
	  TABLE_UINT(struct file_view, overwriting_ns), JOB_SYSCALL | JOB_EVENTS },
	{ "overwrite.count", NULL, UNIT_COUNT, KIND_SUM, "opens that truncate the file",
	  TABLE_UINT(struct file_view, overwrites), JOB_SYSCALL | JOB_EVENTS },
	{ "overwrite.grown", NULL, UNIT_COUNT, KIND_SUM,
	  "truncating opens after which calls wrote more than after the previous one",
	  TABLE_UINT(struct file_view, grown), JOB_SYSCALL | JOB_EVENTS },
	{ "overwrite.repeated_bytes", NULL, UNIT_BYTES, KIND_SUM,
	  "sizes of the versions before these, summed: as the file grows, its content is probably "
	  "written again",
	  TABLE_UINT(struct file_view, repeated_bytes), JOB_SYSCALL | JOB_EVENTS },
	{ "overwrite.ranks", NULL, UNIT_COUNT, KIND_MAX,
	  "ranks that opened the file with O_TRUNC; ranks whose numbers differ by a multiple of 64 "
	  "count once; over several summaries, those of the one with the most",
	  TABLE_UINT(struct file_view, overwriters), JOB_SYSCALL | JOB_EVENTS },
};

/* A file of the table, with its sort key. */
struct files_row {
	uint64_t time_ns;
	uint32_t file;
};

COMPARE_BY(compare_lines, struct files_row,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->file, b->file))

static uint64_t time_of(const struct file_uses *files, uint32_t file)
{
	struct tally tally;
	uint64_t time_ns = 0;

	for (size_t i = 0; i < USES; i++) {
		file_uses_tally(files, file, i, &tally);
		time_ns += tally.time.measure;
	}
	return time_ns;
}

/* Chooses the `max` files with the most time; all files if only one would be left out. */
static void choose(const struct file_uses *files, size_t max, struct longest_choice *choice)
{
	for (uint32_t i = 0; i < files->job->files.count; i++)
		if (file_uses_any(files, i))
			longest_add(choice, files->arena, max, time_of(files, i));
	longest_decide(choice, 1);
}

uint32_t files_count(const struct results *results)
{
	return results->job ? results->job->files.count
			    : report_by(results->report, &analysis_files)->row_count;
}

bool files_used(const struct results *results, uint32_t file, struct file_view *view)
{
	const struct file_uses *files = results_state(results, &analysis_files);

	if (!results->job) {
		*view = file_view_of_row(report_by(results->report, &analysis_files), file);
		return true;
	}
	if (!file_uses_any(files, file))
		return false;
	*view = file_uses_view(files, file);
	return true;
}

static struct chain_line waiting_of(const struct results *results, uint32_t file)
{
	size_t count;
	const struct chain_time *times = chain_of_files(results, &count);

	return file < count ? chain_line(&times[file], chain_queue_unknown(results))
			    : (struct chain_line) { 0 };
}

/* Adds the numbers that add up, by the kinds of their columns. */
static void add_numbers(struct file_view *sum, const struct file_view *view,
			const struct table_column *columns, size_t count)
{
	for (const struct table_column *column = columns; column < columns + count; column++) {
		uint64_t *total = (uint64_t *)((char *)sum + column->key);
		const uint64_t *more = (const uint64_t *)((const char *)view + column->key);

		if (column->get == table_get_uint && *more != TABLE_NO_UINT &&
		    (column->kind == KIND_SUM || column->kind == KIND_UNION))
			*total = number_add(*total, *more);
	}
}

/* The files without a row of their own. */
struct others {
	struct file_view view;
	struct chain_time waiting;
	size_t count;
};

static void add_to_others(struct others *others, const struct file_view *view,
			  const struct chain_time *waiting)
{
	struct file_view *sum = &others->view;

	others->count++;
	others->waiting.time_ns += waiting->time_ns;
	others->waiting.device_ns += waiting->device_ns;
	others->waiting.queue_ns += waiting->queue_ns == TABLE_NO_UINT ? 0 : waiting->queue_ns;
	sum->size_bytes += view->known ? view->size_bytes : 0;
	add_numbers(sum, view, TABLE_COLUMNS(first_columns));
	for (size_t i = 0; i < USES; i++)
		tally_fold(&sum->tallies[i], &view->tallies[i]);
	add_numbers(sum, view, TABLE_COLUMNS(last_columns));
	sum->jumps[BY_FAULTS].several |= view->jumps[BY_FAULTS].several;
}

static void add_others(const struct results *results, struct table *table, struct others *others)
{
	char name[64];
	int length = snprintf(name, sizeof(name), "other (%zu files)", others->count);

	others->view.path = (struct table_text) { name, length };
	others->view.waiting = chain_line(&others->waiting, chain_queue_unknown(results));
	others->view.ino = others->view.readahead_bytes = others->view.processes = TABLE_NO_UINT;
	others->view.overwriters = others->view.instance = TABLE_NO_UINT;
	others->view.stripes = others->view.stripe_bytes = TABLE_NO_UINT;
	others->view.first_rank = others->view.last_rank = TABLE_NO_UINT;
	others->view.deleted = -1;
	table->folded = others->count;
	table_add(table, &others->view);
}

static void set_note(struct table *table, const struct file_uses *files)
{
	const struct job *job = files->job;
	char count[UNITS_TEXT], max[UNITS_TEXT];
	struct strbuf note = { .used = 0 };

	if (job->lost)
		strbuf_clause(&note, "excludes lost events");
	if (job->files.overflow)
		strbuf_clause(&note,
			      "%s file identities beyond the first %s did not fit in memory: their "
			      "activity is in the row without a path (raise report --memory)",
			      units_count(count, job->files.overflow),
			      units_count(max, job->files.max));
	if (files->overflow)
		strbuf_clause(&note,
			      "%s accesses by process and file pairs beyond the first %s did not "
			      "fit in memory: they count for no pattern, and process counts are "
			      "lower bounds (raise report --memory)",
			      units_count(count, files->overflow),
			      units_count(max, files->pairs_max));
	if (note.used)
		table_set_note(table, note.bytes);
}

static void add_columns(struct table *table, unsigned int recorded)
{
	table_add_columns(table, TABLE_COLUMNS(first_columns));
	table->recorded = recorded;
	for (size_t i = 0; i < USES; i++)
		measure_add_columns(table, uses[i].measure, uses[i].columns, uses[i].titled,
				    offsetof(struct file_view, tallies) + i * sizeof(struct tally));
	table_add_columns(table, TABLE_COLUMNS(last_columns));
	chain_add_group(table, offsetof(struct file_view, waiting));
}

/* Sums up files without a row; returns the number of files with one. */
static size_t make_lines(const struct results *results, struct longest_choice choice,
			 struct files_row *lines, struct others *others)
{
	const struct file_uses *files = results_state(results, &analysis_files);
	size_t count = 0;

	for (uint32_t i = 0; i < files->job->files.count; i++) {
		uint64_t time_ns = time_of(files, i);
		struct chain_line waiting;
		struct file_view view;

		if (!file_uses_any(files, i))
			continue;
		if (longest_takes(&choice, time_ns)) {
			lines[count++] = (struct files_row) { time_ns, i };
			continue;
		}
		waiting = waiting_of(results, i);
		view = file_uses_view(files, i);
		add_to_others(others, &view, &waiting.time);
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static size_t rows_max(const struct job *job, const struct table *table)
{
	size_t max = job_rows_max(job, table->column_count);

	return job->file_rows && job->file_rows < max ? job->file_rows : max;
}

/* Must run after the waits of operations are known. */
static void conclude(const struct results *results, struct table *table)
{
	const struct file_uses *files = results_state(results, &analysis_files);
	struct others others = { .count = 0 };
	struct longest_choice choice = { 0 };
	struct files_row *lines;
	size_t count;

	add_columns(table, files->job->layers);
	set_note(table, files);
	choose(files, rows_max(files->job, table), &choice);
	lines = arena_alloc(files->arena, (choice.count + 1) * sizeof(*lines));
	if (!lines)
		return;
	count = make_lines(results, choice, lines, &others);
	for (size_t i = 0; i < count; i++) {
		struct file_view view = file_uses_view(files, lines[i].file);

		view.waiting = waiting_of(results, lines[i].file);
		table_add(table, &view);
	}
	if (others.count)
		add_others(results, table, &others);
}

static void add_all_columns(struct table *like)
{
	add_columns(like, ~0u);
}

/* Adds missing columns for files_used(). */
static void remake(const struct report *report, struct table *table)
{
	table_adopt(table, add_all_columns);
}

const struct analysis analysis_files = {
	.name = "files",
	.meaning = "I/O on each file, with access patterns",
	.title = "Files",
	.shown = "path,time_ns,fetched_bytes,read.bytes,mmap.faults,write.bytes,opens,"
		 "pattern.random,metadata.count,size_bytes,processes,mmap.major",
	.by = "time_ns",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct file_uses),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true, .sums = true, .events = add_events, .series = add_series },
	.conclude = conclude,
	.merging = { .sorted = "-time_ns", .many = "files", .many_single = true },
	.remake = remake,
};
