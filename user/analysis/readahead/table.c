/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "readahead": how much of each file was fetched ahead of requests, and used. */
#include <math.h>

#include "analysis/readahead/state.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/units.h"

struct readahead_row {
	struct readahead_sums sums;
	struct table_text path;
	uint64_t window_bytes;
	double used; /* share */
};

static const struct table_column columns[] = {
	COLUMN(readahead_row, path, "file", PATH, KEY, "path of the file"),
	COLUMN_AS("fetched_bytes", readahead_row, sums.fetched_bytes, "fetched", BYTES, SUM,
		  "bytes read from storage into the page cache by block reads, O_DIRECT and file "
		  "system metadata excluded"),
	COLUMN_AS(
		"asked_bytes", readahead_row, sums.asked_bytes, "requested", BYTES, SUM,
		"fetched bytes in pages that an operation in progress reads, writes or faults on"),
	COLUMN_AS("ahead_bytes", readahead_row, sums.ahead_bytes, "ahead", BYTES, SUM,
		  "fetched bytes in pages that no operation had requested yet"),
	COLUMN_AS("advised_bytes", readahead_row, sums.advised_bytes, "by advice", BYTES, SUM,
		  "bytes fetched ahead because a call advised it (readahead, fadvise, madvise, "
		  "populate)"),
	COLUMN_AS("used_bytes", readahead_row, sums.used_bytes, "used", BYTES, SUM,
		  "bytes fetched ahead and read or faulted on later, in whole pages; use by "
		  "programs that were not recorded is not seen"),
	COLUMN_AS("unseen_bytes", readahead_row, sums.unseen_bytes, "unknown", BYTES, SUM,
		  "bytes fetched ahead whose use cannot be seen: never faulted on but mapped "
		  "around a fault, in its large folio or by a map call; or fetched by operations "
		  "on other files"),
	COLUMN_AS("unused_bytes", readahead_row, sums.unused_bytes, "unused", BYTES, SUM,
		  "bytes fetched ahead and not used by the end of the recording"),
	COLUMN(readahead_row, used, "used share", SHARE, DERIVED,
	       "share of the bytes fetched ahead that were used"),
	COLUMN_AS("unplaced_bytes", readahead_row, sums.unplaced_bytes, NULL, BYTES, SUM,
		  "bytes fetched at an unknown offset: compressed, or not in pages of the file"),
	COLUMN(readahead_row, window_bytes, "window", BYTES, FACT,
	       "readahead limit of the file's device (read_ahead_kb); null: unknown"),
};

/* It is unknown which pages these are, so this many of the unused ones become unknown. */
static void count_elsewhere(struct read_file *file)
{
	struct readahead_sums *sums = &file->sums;
	uint64_t unseen = number_min(file->elsewhere_bytes, sums->unused_bytes);

	sums->unused_bytes -= unseen;
	sums->unseen_bytes += unseen;
}

/* Pages left in the map were not used. */
static void count_rest(struct readahead *readahead)
{
	struct fetched_rest rest;

	for (size_t at = 0; fetched_map_next(&readahead->map, &at, &rest);) {
		struct readahead_sums *sums = &readahead->files[rest.file]->sums;

		sums->unused_bytes += rest.unused * FETCHED_PAGE;
		sums->unseen_bytes += rest.unseen * FETCHED_PAGE;
	}
	for (uint32_t i = 0; i < readahead->job->files.count; i++)
		if (readahead->files[i])
			count_elsewhere(readahead->files[i]);
}

static const char *missing(const struct job *job)
{
	if (job_lacks_requests(job))
		return job_lacks_requests(job);
	if ((job->layers & (JOB_SYSCALL | JOB_FAULT)) != (JOB_SYSCALL | JOB_FAULT))
		return "requires the layers syscall and fault, which show what is used";
	if (job->chosen)
		return "requires all events: a filter hides use by other processes";
	return NULL;
}

static void set_note(const struct readahead *readahead, struct table *table)
{
	struct strbuf note = { .used = 0 };
	char number[UNITS_TEXT];

	if (readahead->job->lost)
		strbuf_clause(&note, "excludes lost events: more may have been used");
	if (readahead->map.overflow)
		strbuf_clause(&note,
			      "%s fetched ahead did not fit in memory: their use is unknown (raise "
			      "report --memory)",
			      units_bytes(number, readahead->map.overflow * FETCHED_PAGE));
	if (readahead->choice.count < readahead->choice.items)
		strbuf_clause(&note, "further files are omitted");
	if (note.used)
		table_set_note(table, note.bytes);
}

static uint64_t fetched_of(const struct readahead *readahead, uint32_t file)
{
	return readahead->files[file] ? readahead->files[file]->sums.fetched_bytes : 0;
}

static void fill(void *state, struct table *table)
{
	struct readahead *readahead = state;
	const struct job *job = readahead->job;
	const char *reason = missing(job);
	size_t max;

	if (table_absent_if(table, reason, reason))
		return;
	count_rest(readahead);
	table_add_columns(table, TABLE_COLUMNS(columns));
	max = job_rows_max(job, table->column_count);
	for (uint32_t i = 0; i < job->files.count; i++)
		if (fetched_of(readahead, i))
			longest_add(&readahead->choice, readahead->arena, max,
				    fetched_of(readahead, i));
	longest_decide(&readahead->choice, 0);
	set_note(readahead, table);
	for (uint32_t i = 0; i < job->files.count; i++) {
		struct readahead_row line = { .window_bytes = job->files.files[i].readahead_bytes,
					      .used = NAN };

		if (!fetched_of(readahead, i) ||
		    !longest_takes(&readahead->choice, fetched_of(readahead, i)))
			continue;
		readahead->files[i]->listed = true;
		line.sums = readahead->files[i]->sums;
		line.path = trace_text(file_table_name(&job->files, i));
		if (!line.window_bytes)
			line.window_bytes = TABLE_NO_UINT;
		if (line.sums.ahead_bytes)
			line.used = (double)line.sums.used_bytes / line.sums.ahead_bytes;
		table_add(table, &line);
	}
}

bool readahead_of(const struct results *results, uint32_t file, struct readahead_sums *sums)
{
	const struct readahead *readahead = results_state(results, &analysis_readahead);

	/* Aggregated data has no events to walk. */
	if (!readahead || missing(results->job) || !readahead->files[file])
		return false;
	*sums = readahead->files[file]->sums;
	return sums->fetched_bytes;
}

/* --- sampling --- */

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct readahead *readahead = filled;

	for (uint32_t i = 0; i < readahead->job->files.count && count; i++) {
		if (!readahead->files[i] || !readahead->files[i]->listed)
			continue;
		*numbers++ = i;
		count--;
	}
}

/* A page read ahead counts as used when it is requested, whenever it was fetched. */
static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct readahead *readahead = state;
	const struct readahead_sums *sums;

	if (!readahead->files[number])
		return;
	sums = &readahead->files[number]->sums;
	values[0] = sums->fetched_bytes;
	values[1] = sums->asked_bytes;
	values[2] = sums->ahead_bytes;
	values[3] = sums->advised_bytes;
	values[4] = sums->used_bytes;
}

static const struct sampled sampled = {
	.columns = { "fetched_bytes", "asked_bytes", "ahead_bytes", "advised_bytes", "used_bytes" },
	.state_bytes = sizeof(struct readahead),
	.begin = readahead_begin,
	.consumer = &analysis_readahead.consumer,
	.filled = &analysis_readahead,
	.numbers = numbers,
	.at = at,
};

const struct analysis analysis_readahead = {
	.name = "readahead",
	.title = "Readahead",
	.meaning = "data fetched ahead of requests, by file, and how much of it was used; null "
		   "without layers block, syscall and fault, or with a filter",
	.shown = "path,fetched_bytes,ahead_bytes,used_bytes,unseen_bytes,unused_bytes,used",
	.by = "fetched_bytes",
	.share = "of all",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct readahead),
	.begin = readahead_begin,
	.consumer = { .parallel = true,
		      .events = readahead_add_events,
		      .series = readahead_add_series },
	.columns[TRACE_BIO] = 1ull << BIO_FLAGS,
	.fill = fill,
	.sampled = &sampled,
	.merging = { .single = "path", /* runs do not know each other's activity */
		     .sorted = "-fetched_bytes",
		     .many = "files" },
};
