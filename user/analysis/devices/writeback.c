/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "writeback": for each file how much was dirtied and by whom, how long writers were
 * throttled, and when how much reached a device. Excludes lost events.
 *
 * Calls dirty what they return: the whole folios that the kernel dirties would be more than was
 * written. Stores have a lower bound, the pages on which they faulted, and an upper bound, the
 * folios that this dirtied: newer kernels map a folio as a whole, and later stores to it cannot be
 * seen. Written-back data are the parts of write requests that belong to the file. O_DIRECT
 * bypasses the page cache and is left out.
 */
#include "analysis/devices/writeback.h"

#include <errno.h>
#include <math.h>

#include "analysis/devices/dirty_map.h"
#include "analysis/devices/writers.h"
#include "collections/longest.h"
#include "base/number.h"

/* Maximum extent of a file that btrfs compresses as one: BTRFS_MAX_UNCOMPRESSED. */
#define COMPRESSED_MAX (128u << 10)

#define REGION_SHARE 16 /* fraction of the job's memory for regions */

struct written {
	struct writeback_view view;
	struct dirty_map map;
	struct dirty_region elsewhere; /* written at an unknown offset */
	struct dirty_wait wait;
	/* Latest large folio dirtied, and the process: it may have been mapped as a whole. */
	uint64_t folio_offset, folio_bytes;
	uint32_t folio_process;
};

struct writeback {
	const struct job *job;
	struct arena *arena;
	unsigned int layers;	/* JOB_*: those that can be reported */
	struct written **files; /* by file number; NULL: nothing was written */
	struct writers writers;
	size_t regions_left;
	struct longest_choice choice; /* of files with a row, by what was written */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct writeback *writeback = state;

	writeback->job = job;
	writeback->arena = arena;
	/* While the kernel works, it is unknown for whom. */
	writeback->layers = job->chosen ? job->layers & ~JOB_BLOCK : job->layers;
	writeback->regions_left = job->memory_bytes / REGION_SHARE / sizeof(struct dirty_region);
	writers_init(&writeback->writers, arena, job);
	writeback->files = arena_alloc(arena, job->files.count * sizeof(*writeback->files));
}

/* --- during the walk --- */

static struct written *written_of(struct writeback *writeback, uint32_t file)
{
	struct written **written = &writeback->files[file];

	if (!*written) {
		*written = arena_alloc(writeback->arena, sizeof(**written));
		if (*written)
			(*written)->view.first_dirtied_ns = (*written)->view.first_reached_ns =
				TABLE_NO_UINT;
	}
	return *written;
}

static uint64_t page_bytes_of(const struct writeback *writeback, const struct event *event)
{
	return writeback->job->traces[event->block->trace].header->page_bytes;
}

/* Sets what an event dirtied; returns false if it dirties nothing. */
static bool dirties(const struct writeback *writeback, const struct event *event,
		    struct writer_sums *sums)
{
	*sums = (struct writer_sums) { 0 };
	if (event->flags & EVENT_THROTTLED) {
		sums->pause_ns = event->end - event->start;
		sums->pauses = 1;
	} else if (event->class == IO_WRITE && !(event->flags & EVENT_DIRECT)) {
		sums->call_bytes = event->bytes;
	} else if (event->class == IO_MMAP_WRITE) {
		sums->dirtied_bytes = event->dirtied_bytes;
		sums->stored_bytes =
			event->flags & EVENT_FAULT
				? event->flags & EVENT_FAILED ? 0 : page_bytes_of(writeback, event)
				: event->dirtied_bytes;
	}
	return sums->pauses || sums->call_bytes || sums->stored_bytes || sums->dirtied_bytes;
}

/*
 * Pages of a large folio on which no fault was seen may have been stored to. Another fault on the
 * folio by the same process, while it is still dirty, shows that its pages are mapped one by one. A
 * folio lies at a multiple of its size.
 */
static void look_at_folio(const struct writeback *writeback, struct written *written,
			  const struct event *event)
{
	struct writeback_view *view = &written->view;
	uint64_t page_bytes = page_bytes_of(writeback, event), bytes = event->dirtied_bytes;
	uint64_t offset = event->offset;

	if (!(event->flags & EVENT_FAULT))
		return;
	if (bytes > page_bytes && !(bytes & (bytes - 1))) {
		written->folio_offset = offset & ~(bytes - 1);
		written->folio_bytes = bytes;
		written->folio_process = event->process;
		view->unseen_bytes += bytes - page_bytes;
		view->large_faults++;
		view->inside_faults += offset - written->folio_offset >= page_bytes;
	} else if (!bytes && written->folio_bytes && event->process == written->folio_process &&
		   offset - written->folio_offset < written->folio_bytes) {
		view->unseen_bytes -= written->folio_bytes - page_bytes;
		written->folio_bytes = 0;
	}
}

static int add_dirtied(struct writeback *writeback, struct written *written,
		       const struct event *event, const struct writer_sums *sums)
{
	struct writeback_view *view = &written->view;
	uint64_t bytes = sums->call_bytes ? sums->call_bytes : sums->stored_bytes;

	writer_sums_add(&view->sums, sums);
	if (!bytes)
		return 0;
	if (sums->stored_bytes)
		look_at_folio(writeback, written, event);
	if (event->start < view->first_dirtied_ns)
		view->first_dirtied_ns = event->start;
	if (event->end > view->last_dirtied_ns)
		view->last_dirtied_ns = event->end;
	if (event->offset >= 0)
		return dirty_map_add(&written->map, writeback->arena, &writeback->regions_left,
				     event->offset, bytes, event->start);
	if (written->elsewhere.since_ns <= written->elsewhere.written_ns)
		written->elsewhere.since_ns = event->start;
	written->elsewhere.bytes += bytes;
	return 0;
}

/* A part of a write request has completed. */
static void add_reached(struct written *written, const struct event *event)
{
	struct writeback_view *view = &written->view;
	struct dirty_region *elsewhere = &written->elsewhere;
	uint64_t known = written->wait.bytes, bytes = event->bytes;

	view->device_bytes += event->bytes;
	if (event->end < view->first_reached_ns)
		view->first_reached_ns = event->end;
	if (event->end > view->last_reached_ns)
		view->last_reached_ns = event->end;
	if (event_value(event, BIO_FLAGS) & TRACE_BLOCK_COMPRESSED)
		bytes = COMPRESSED_MAX;
	if (event->offset >= 0)
		dirty_map_take(&written->map, event->offset, bytes, event->start, event->end,
			       &written->wait);
	if (known != written->wait.bytes || !elsewhere->since_ns)
		return;
	written->wait.byte_ns +=
		(unsigned __int128)event->bytes * (event->end - elsewhere->since_ns);
	written->wait.bytes += event->bytes;
	if (event->end - elsewhere->since_ns > written->wait.longest_ns)
		written->wait.longest_ns = event->end - elsewhere->since_ns;
	elsewhere->bytes = number_sub(elsewhere->bytes, event->bytes);
	elsewhere->written_ns = event->start;
}

static bool is_write_back(const struct writeback *writeback, const struct event *event)
{
	return event->flags & EVENT_BIO && event->bytes && /* otherwise a flush */
	       writeback->job->operations[event->operation].use == DEVICE_WRITES &&
	       !(event_value(event, BIO_FLAGS) & (TRACE_BLOCK_DIRECT | TRACE_BLOCK_META));
}

static int add_event(struct writeback *writeback, const struct event *event)
{
	struct writer_sums sums;
	struct written *written;

	if (event->flags & EVENT_TRUNCATES && writeback->files[event->file])
		dirty_map_cut(&writeback->files[event->file]->map, event->asked_bytes);
	if (is_write_back(writeback, event)) {
		written = written_of(writeback, event->file);
		if (!written)
			return -ENOMEM;
		add_reached(written, event);
		return 0;
	}
	if (!dirties(writeback, event, &sums))
		return 0;
	written = written_of(writeback, event->file);
	if (!written || add_dirtied(writeback, written, event, &sums))
		return -ENOMEM;
	return writers_add(&writeback->writers, event, &sums);
}

#define MATTERS (EVENT_BIO | EVENT_THROTTLED | EVENT_TRUNCATES)

/* Fast path: most events are reads and irrelevant here. */
static bool matters(const struct event *event)
{
	return event->file != FILE_NONE &&
	       (event->class == IO_WRITE || event->class == IO_MMAP_WRITE ||
		event->flags & MATTERS);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		if (matters(&events[i]))
			status = add_event(state, &events[i]);
	return status;
}

/* --- the table --- */

static double times(uint64_t whole, uint64_t part)
{
	return whole && part ? (double)whole / part : NAN;
}

static struct writeback_view view_of(const struct writeback *writeback, uint32_t file)
{
	const struct written *written = writeback->files[file];
	struct writeback_view view = written->view;
	struct trace_string path = file_table_name(&writeback->job->files, file);

	if (path.length)
		view.path = (struct table_text) { path.bytes, path.length };
	view.unwritten_bytes = dirty_map_bytes(&written->map) + written->elsewhere.bytes;
	view.changed_bytes = view.sums.call_bytes + view.sums.stored_bytes;
	view.amplification = times(view.device_bytes, view.changed_bytes + view.unseen_bytes);
	view.amplification_most = times(view.device_bytes, view.changed_bytes);
	view.delay_ns = view.longest_delay_ns = view.after_ns = TABLE_NO_UINT;
	if (written->wait.bytes) {
		view.delay_ns = written->wait.byte_ns / written->wait.bytes;
		view.longest_delay_ns = written->wait.longest_ns;
	}
	if (!view.last_dirtied_ns)
		view.last_dirtied_ns = TABLE_NO_UINT;
	if (!view.last_reached_ns)
		view.last_reached_ns = TABLE_NO_UINT;
	else if (view.last_dirtied_ns != TABLE_NO_UINT)
		view.after_ns = number_sub(view.last_reached_ns, view.last_dirtied_ns);
	return view;
}

static const struct table_column columns[] = {
	COLUMN(writeback_view, path, "file", PATH, KEY, "path of the file"),
	COLUMN_AS("written_bytes", writeback_view, sums.call_bytes, "written by calls", BYTES, SUM,
		  "bytes written into the page cache by calls, O_DIRECT excluded", JOB_SYSCALL),
	COLUMN_AS("stored_bytes", writeback_view, sums.stored_bytes, "stored", BYTES, SUM,
		  "bytes of pages faulted on by stores: lower bound of what was stored to, as "
		  "later stores to a large folio may not fault",
		  JOB_FAULT),
	COLUMN_AS("dirtied_bytes", writeback_view, sums.dirtied_bytes, "dirtied by stores", BYTES,
		  SUM, "bytes of whole folios dirtied by stores: upper bound of what was stored to",
		  JOB_DIRTIED),
	COLUMN(writeback_view, device_bytes, "written to the device", BYTES, SUM,
	       "bytes of the file in completed write requests, O_DIRECT and the file system's own "
	       "blocks excluded",
	       JOB_BLOCK),
	COLUMN(writeback_view, amplification, "ratio", NONE, DERIVED,
	       "bytes written to the device per byte that calls wrote or stores may have changed: "
	       "lower bound",
	       JOB_BLOCK),
	COLUMN(writeback_view, amplification_most, NULL, NONE, DERIVED,
	       "bytes written to the device per byte that calls wrote or stores faulted on: upper "
	       "bound",
	       JOB_BLOCK),
	COLUMN(writeback_view, unwritten_bytes, "not written yet", BYTES, SUM,
	       "bytes still dirty when the recording ended, to be written back later or never: "
	       "upper bound",
	       JOB_BLOCK),
	COLUMN(writeback_view, delay_ns, "delay", NS, DERIVED,
	       "time from dirtying a byte until it reached the device, mean over bytes; measured "
	       "by page, in large files by region (up to 256)",
	       JOB_BLOCK),
	COLUMN(writeback_view, longest_delay_ns, "longest", NS, MAX,
	       "longest time from dirtying a byte until it reached the device", JOB_BLOCK),
	COLUMN(writeback_view, after_ns, "after the last write", NS, DERIVED,
	       "time from the end of the last write or store until the last bytes reached the "
	       "device",
	       JOB_BLOCK),
	COLUMN_AS("pauses", writeback_view, sums.pauses, NULL, COUNT, SUM,
		  "times the kernel throttled a thread writing to the file", JOB_THROTTLED),
	COLUMN_AS("pause_ns", writeback_view, sums.pause_ns, "throttled", NS, SUM,
		  "time threads writing to the file were throttled, summed over threads",
		  JOB_THROTTLED),
	COLUMN(writeback_view, first_dirtied_ns, NULL, NS, MOMENT,
	       "start of the first write or store, since the start of the run"),
	COLUMN(writeback_view, last_dirtied_ns, NULL, NS, MOMENT,
	       "end of the last write or store, since the start of the run"),
	COLUMN(writeback_view, first_reached_ns, NULL, NS, MOMENT,
	       "when the first bytes reached the device, since the start of the run", JOB_BLOCK),
	COLUMN(writeback_view, last_reached_ns, NULL, NS, MOMENT,
	       "when the last bytes reached the device, since the start of the run", JOB_BLOCK),
	{ "processes", "writers", UNIT_NONE, KIND_DERIVED,
	  "processes that dirtied the file: pid, comm, written_bytes, stored_bytes, dirtied_bytes, "
	  "pause_ns, device_bytes (by share of the bytes dirtied)",
	  .get = writers_get_processes, .key = offsetof(struct writeback_view, processes) },
	{ "spans", NULL, UNIT_NONE, KIND_DERIVED,
	  "innermost application spans in which the file was dirtied: as processes, with name and "
	  "category instead of pid and comm",
	  .get = writers_get_spans, .key = offsetof(struct writeback_view, spans),
	  .needs = JOB_SPAN },
};

/* All writers of one kind, and the position of the next file's writers. */
struct writer_cursor {
	struct writer *at, *end;
};

static void open_cursor(const struct writeback *writeback, enum writers_by by,
			struct writer_cursor *cursor)
{
	size_t count;

	cursor->at = writers_list(&writeback->writers, by, &count);
	cursor->end = cursor->at + count;
}

/* Must be called in order of file numbers. */
static struct writer_list list_of(const struct writeback *writeback, struct writer_cursor *cursor,
				  uint32_t file, const struct writeback_view *view)
{
	struct writer_list list = {
		.writers = &writeback->writers,
		.all_bytes = writer_sums_bytes(&view->sums),
		.device_bytes = writeback->layers & JOB_BLOCK ? view->device_bytes : TABLE_NO_UINT,
	};

	while (cursor->at < cursor->end && cursor->at->file < file)
		cursor->at++;
	list.of = cursor->at;
	while (cursor->at < cursor->end && cursor->at->file == file) {
		cursor->at++;
		list.count++;
	}
	return list;
}

/* Converts a time to one relative to the start of the run. */
static void count_from(uint64_t *time_ns, uint64_t start_ns)
{
	if (*time_ns != TABLE_NO_UINT)
		*time_ns = number_sub(*time_ns, start_ns);
}

/* In-memory files are never written back. */
static bool is_written_back(const struct writeback *writeback, uint32_t file)
{
	return writeback->files[file] &&
	       !file_table_is_on(&writeback->job->files, file, FILE_SYSTEM_IN_MEMORY);
}

static uint64_t written_bytes(const struct writeback *writeback, uint32_t file)
{
	const struct writeback_view *view = &writeback->files[file]->view;
	uint64_t dirtied = writer_sums_bytes(&view->sums);

	return number_max(view->device_bytes, dirtied);
}

/* Chooses the files to which most was written. */
static void choose(struct writeback *writeback, size_t max)
{
	for (uint32_t i = 0; i < writeback->job->files.count; i++)
		if (is_written_back(writeback, i))
			longest_add(&writeback->choice, writeback->arena, max,
				    written_bytes(writeback, i));
	longest_decide(&writeback->choice, 0);
}

/* Whether a file has a row. For all files in order, with a copy of the choice. */
static bool has_line(const struct writeback *writeback, struct longest_choice *choice,
		     uint32_t file)
{
	return is_written_back(writeback, file) &&
	       longest_takes(choice, written_bytes(writeback, file));
}

static void add_lines(const struct writeback *writeback, struct table *table,
		      struct writer_cursor cursors[WRITERS_KEYS])
{
	uint64_t start_ns = writeback->job->start_ns;
	struct longest_choice choice = writeback->choice;

	for (uint32_t i = 0; i < writeback->job->files.count; i++) {
		struct writeback_view view;

		if (!has_line(writeback, &choice, i))
			continue;
		view = view_of(writeback, i);
		view.processes = list_of(writeback, &cursors[WRITERS_BY_PROCESS], i, &view);
		view.spans = list_of(writeback, &cursors[WRITERS_BY_SPAN], i, &view);
		count_from(&view.first_dirtied_ns, start_ns);
		count_from(&view.last_dirtied_ns, start_ns);
		count_from(&view.first_reached_ns, start_ns);
		count_from(&view.last_reached_ns, start_ns);
		table_add(table, &view);
	}
	if (writeback->choice.count < writeback->choice.items)
		table_append_note(table, "further files did not fit in memory: see table files "
					 "(raise report --memory)");
}

static void fill(void *state, struct table *table)
{
	struct writeback *writeback = state;
	struct writer_cursor cursors[WRITERS_KEYS] = { 0 };

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = writeback->layers;
	if (table_absent_if(table, !(table->recorded & (JOB_SYSCALL | JOB_FAULT | JOB_BLOCK)),
			    "no layer that records writes was on"))
		return;
	if (writeback->job->lost)
		table_set_note(table, "excludes lost events");
	for (int by = 0; by < WRITERS_KEYS; by++)
		open_cursor(writeback, by, &cursors[by]);
	choose(writeback, job_rows_max(writeback->job, table->column_count));
	add_lines(writeback, table, cursors);
}

bool writeback_of(const struct results *results, uint32_t file, struct writeback_view *view)
{
	const struct writeback *writeback = results_state(results, &analysis_writeback);

	if (!writeback->files[file])
		return false;
	*view = view_of(writeback, file);
	return true;
}

uint64_t writeback_of_stores(const struct results *results)
{
	const struct writeback *writeback = results_state(results, &analysis_writeback);
	uint64_t bytes = 0;

	if (!writeback || !(writeback->layers & JOB_BLOCK))
		return TABLE_NO_UINT;
	for (uint32_t i = 0; i < writeback->job->files.count; i++) {
		const struct writeback_view *view;
		uint64_t all;

		if (!writeback->files[i])
			continue;
		view = &writeback->files[i]->view;
		all = writer_sums_bytes(&view->sums);
		if (all)
			bytes += (unsigned __int128)view->device_bytes *
				 (all - view->sums.call_bytes) / all;
	}
	return bytes;
}

/* --- sampling --- */

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct writeback *writeback = filled;
	struct longest_choice choice = writeback->choice;

	for (uint32_t i = 0; i < writeback->job->files.count && count; i++) {
		if (!has_line(writeback, &choice, i))
			continue;
		*numbers++ = i;
		count--;
	}
}

static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct writeback *writeback = state;
	const struct writeback_view *view;

	if (!writeback->files[number])
		return;
	view = &writeback->files[number]->view;
	values[0] = view->sums.call_bytes;
	values[1] = view->sums.stored_bytes;
	values[2] = view->sums.dirtied_bytes;
	values[3] = view->device_bytes;
	values[4] = view->sums.pauses;
	values[5] = view->sums.pause_ns;
}

static const struct sampled sampled = {
	.columns = { "written_bytes", "stored_bytes", "dirtied_bytes", "device_bytes", "pauses",
		     "pause_ns" },
	.state_bytes = sizeof(struct writeback),
	.begin = begin,
	.consumer = &analysis_writeback.consumer,
	.filled = &analysis_writeback,
	.numbers = numbers,
	.at = at,
};

const struct analysis analysis_writeback = {
	.name = "writeback",
	.meaning = "data dirtied and written back, by file and writer",
	.title = "Writeback",
	.shown = "path,device_bytes,written_bytes,stored_bytes,amplification,pause_ns,delay_ns,"
		 "after_ns,unwritten_bytes,processes",
	.by = "device_bytes",
	.share = "of all written",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct writeback),
	.begin = begin,
	.consumer.events = add_events,
	.consumer.matters = MATTERS | WALK_CLASS(IO_WRITE) | WALK_CLASS(IO_MMAP_WRITE),
	.columns[TRACE_BIO] = 1ull << BIO_FLAGS,
	.fill = fill,
	.sampled = &sampled,
	.merging = { .single = "path", /* runs do not know each other's activity */
		     .sorted = "-device_bytes",
		     .many = "files" },
};
