/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "latency_breakdown", by file; the columns that split time into device, queue and other, for
 * every table that has them; and results for other analyses.
 */
#include "analysis/devices/chain_state.h"

#include <stdlib.h>

#include "collections/compare.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/units.h"

/* Where the time was spent. */
static const struct table_column where[] = {
	{ "device_ns", "at device", UNIT_NS, KIND_SUM,
	  "part of the operations' time with at least one of their own requests at a device, or "
	  "with the server of a " SERVED_MOUNT ", summed over threads",
	  TABLE_UINT(struct chain_line, time.device_ns), 0 },
	COLUMN_AS("queue_ns", chain_line, time.queue_ns, "in queue", NS, SUM,
		  "part of the operations' time with some of their own requests queued and none at "
		  "a device, summed over threads; part of device_ns on mounts where that is "
		  "unknown (FUSE, 9p, CIFS, AFS, Ceph)"),
	COLUMN(chain_line, other_ns, "other", NS, SUM,
	       "part of the operations' time with none of their own requests in flight (locks, I/O "
	       "of other tasks, flushes, CPU), summed over threads"),
};

void chain_add_columns(struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(where));
}

static const struct table_column whole[] = {
	COLUMN_AS(
		"time_ns", chain_line, time.time_ns, NULL, NS, THREAD,
		"time of operations that had requests of their own in flight, summed over threads"),
};

void chain_add_group(struct table *table, size_t base)
{
	const unsigned int needs = JOB_PARTS | JOB_EVENTS;
	const struct table_group time = { "waiting", NULL, needs, TABLE_COLUMNS(whole) };
	const struct table_group parts = { "waiting", "waiting", needs, TABLE_COLUMNS(where) };

	table_add_group(table, &time, base);
	/* Without the layer the first group stands for both. */
	if ((table->recorded & needs) == needs)
		table_add_group(table, &parts, base);
}

struct chain_line chain_line(const struct chain_time *time, bool queue_unknown)
{
	struct chain_line line = {
		.time = *time,
		.other_ns = number_sub(time->time_ns, time->queue_ns + time->device_ns),
	};

	if (queue_unknown && time->device_ns && !time->queue_ns)
		line.time.queue_ns = TABLE_NO_UINT;
	return line;
}

/* --- the table --- */

struct latency_breakdown_row {
	struct chain_line chain;
	struct table_text path;
	const char *host; /* NULL: no file */
};

static const struct table_column first_columns[] = {
	COLUMN_AS("count", latency_breakdown_row, chain.time.count, "operations", COUNT, SUM,
		  "calls and faults with requests of their own in flight: bios that their thread "
		  "queued during them, or earlier for the same file"),
	COLUMN_AS("time_ns", latency_breakdown_row, chain.time.time_ns, "thread time", NS, THREAD,
		  "time of these operations, summed over threads"),
};

static const struct table_column last_columns[] = {
	{ "bios", "bios", UNIT_COUNT, KIND_SUM,
	  "bios of these operations: contiguous parts of files in requests; or requests "
	  "to " SERVED_MOUNTS,
	  TABLE_UINT(struct latency_breakdown_row, chain.time.bios), 0 },
	COLUMN_AS("bytes", latency_breakdown_row, chain.time.bytes, "bytes", BYTES, SUM,
		  "bytes moved by these bios"),
	COLUMN(latency_breakdown_row, host, NULL, NONE, KEY, "host of the file"),
	COLUMN(latency_breakdown_row, path, "file", PATH, KEY, "path of the file; null: unknown"),
};

static const char *host_of(const struct job *job, uint32_t file)
{
	return job->traces[job->files.files[file].trace].header->host;
}

COMPARE_BY(compare_slowness, struct chain_operation,
	   COMPARE(b->time.time_ns, a->time.time_ns) ?: COMPARE(a->start, b->start))

/* Chooses the files with the most time. */
static void choose(struct chain *chain, size_t max)
{
	for (size_t file = 0; file < chain->file_room; file++)
		if (chain->files[file].count)
			longest_add(&chain->choice, chain->arena, max, chain->files[file].time_ns);
	longest_decide(&chain->choice, 0);
}

/* Whether a file has a row. For all files in order, with a copy of the choice. */
static bool has_row(const struct chain *chain, struct longest_choice *choice, size_t file)
{
	return chain->files[file].count && longest_takes(choice, chain->files[file].time_ns);
}

static void set_note(const struct chain *chain, struct table *table)
{
	struct strbuf note = { .used = 0 };
	char number[UNITS_TEXT];

	if (chain->choice.count < chain->choice.items)
		strbuf_clause(&note, "further files are omitted");
	if (chain->overflow)
		strbuf_clause(&note, "%s bios of further threads are omitted",
			      units_count(number, chain->overflow));
	if (note.used)
		table_set_note(table, note.bytes);
}

static void fill(void *state, struct table *table)
{
	struct chain *chain = state;
	struct longest_choice choice;

	if (table_absent_if(table, !(chain->job->layers & JOB_PARTS),
			    "requests to block devices were not recorded"))
		return;
	chain_settle_until(chain, UINT64_MAX);
	qsort(chain->slowest, chain->slowest_count, sizeof(*chain->slowest), compare_slowness);
	table_add_columns(table, TABLE_COLUMNS(first_columns));
	chain_add_columns(table);
	table_add_columns(table, TABLE_COLUMNS(last_columns));
	choose(chain, job_rows_max(chain->job, table->column_count));
	choice = chain->choice;
	for (size_t file = 0; file < chain->file_room; file++) {
		struct latency_breakdown_row line = { .chain = chain_line(&chain->files[file],
									  chain->queue_unknown) };
		struct trace_string path;

		if (!has_row(chain, &choice, file))
			continue;
		path = file_table_name(&chain->job->files, file);
		line.path = (struct table_text) { path.bytes, path.length };
		if (file != FILE_UNKNOWN)
			line.host = host_of(chain->job, file);
		table_add(table, &line);
	}
	set_note(chain, table);
}

const struct chain_operation *chain_slowest(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain->slowest_count;
	return chain->job->layers & JOB_PARTS ? chain->slowest : NULL;
}

const struct chain_pieces *chain_pieces_of_files(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain->piece_room;
	return chain->pieces;
}

const struct chain_late *chain_late_of_files(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain->late_room;
	return chain->late;
}

bool chain_queue_unknown(const struct results *results)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	return chain && chain->queue_unknown;
}

const struct chain_time *chain_of_files(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain ? chain->file_room : 0;
	return chain ? chain->files : NULL;
}

const struct chain_time *chain_of_names(const struct results *results)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	return &chain->names;
}

const struct chain_replacing *chain_of_replacing(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain->replacing_room;
	return chain->replacing;
}

const struct chain_time *chain_of_labels(const struct results *results, size_t *count)
{
	const struct chain *chain = results_state(results, &analysis_latency_breakdown);

	*count = chain ? chain->label_room : 0;
	return chain ? chain->labels : NULL;
}

/* --- sampling --- */

void chain_times_numbers(const struct chain_time *times, size_t room, uint64_t *numbers,
			 size_t count)
{
	for (size_t i = 0; i < room && count; i++) {
		if (!times[i].count)
			continue;
		*numbers++ = i;
		count--;
	}
}

void chain_times_at(const struct chain_time *times, size_t room, uint64_t number,
		    uint64_t values[SAMPLED_MAX])
{
	const struct chain_time *time;

	if (number >= room)
		return;
	time = &times[number];
	values[0] = time->time_ns;
	values[1] = time->device_ns;
	values[2] = time->queue_ns;
	values[3] = number_sub(time->time_ns, time->queue_ns + time->device_ns);
	values[4] = time->count;
	values[5] = time->bios;
	values[6] = time->bytes;
}

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct chain *chain = filled;
	struct longest_choice choice = chain->choice;

	for (size_t file = 0; file < chain->file_room && count; file++) {
		if (!has_row(chain, &choice, file))
			continue;
		*numbers++ = file;
		count--;
	}
}

static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct chain *chain = state;

	chain_times_at(chain->files, chain->file_room, number, values);
}

static const struct sampled sampled = { CHAIN_SAMPLED, .numbers = numbers, .at = at };

const struct analysis analysis_latency_breakdown = {
	.name = "latency_breakdown",
	.title = "Waiting for storage, by file",
	.share = "share",
	.meaning = "time of operations split into device, queue and other, by file",
	.shown = "path,time_ns,device_ns,queue_ns,other_ns,count,bios,bytes",
	.by = "time_ns",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct chain),
	.begin = chain_begin,
	.consumer.events = chain_add_events,
	.columns = { [TRACE_BIO] = 1ull << BIO_FLAGS | 1ull << BIO_QUEUE | 1ull << BIO_REQUEST |
				   1ull << BIO_DEV | 1ull << BIO_PID,
		     [TRACE_REMOTE] =
			     1ull << REMOTE_QUEUE | 1ull << REMOTE_DEV | 1ull << REMOTE_PID },
	.fill = fill,
	.sampled = &sampled,
	.merging = { .sorted = "-time_ns", .many = "files" },
};
