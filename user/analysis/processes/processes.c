/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "processes": identity, exit status and I/O of each process. Excludes lost events; times are
 * merged over the threads of a process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/processes/process_storage.h"
#include "analysis/processes/process_waits.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/rollup.h"
#include "analysis/shared/trace_text.h"
#include "analysis/shared/sites.h"
#include "base/number.h"
#include "base/units.h"
#include "base/strbuf.h"
#include "collections/compare.h"

#define FAILED_FAULT (EVENT_FAULT | EVENT_FAILED)

struct processes {
	const struct job *job;
	struct arena *arena;
	struct rollup rollup;  /* by process */
	uint64_t *submissions; /* of each process known so far */
	size_t room;
	struct failed_fault *failed; /* of each process up to the last one that has any */
	size_t failed_room;
	struct still_waiting still_waiting;
	bool *summed; /* it has aggregated operations */
	size_t summed_room;
	struct processes_sums sums;
	struct process_storages storages;
	struct process_waits waits[PROCESS_WAITS];
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct processes *processes = state;

	processes->job = job;
	processes->arena = arena;
	rollup_init(&processes->rollup, arena, job, rollup_find_key("process"), ROLLUP_ALL);
	process_storages_init(&processes->storages, arena, job);
	for (int what = 0; what < PROCESS_WAITS; what++)
		process_waits_init(&processes->waits[what], arena, job, what);
}

static void add_submissions(struct processes *processes, const struct event *event)
{
	if (ARENA_GROW(processes->arena, processes->submissions, processes->room,
		       (size_t)event->process + 1))
		processes->submissions[event->process] += event_value(event, SYSCALL_RESULT);
}

static void add_failed_fault(struct processes *processes, const struct event *event)
{
	if (ARENA_GROW(processes->arena, processes->failed, processes->failed_room,
		       (size_t)event->process + 1))
		processes->failed[event->process] =
			(struct failed_fault) { event->file, event->offset };
}

static void add_sums(struct processes *processes, const struct event *event)
{
	struct processes_sums *sums = &processes->sums;
	uint32_t process = event->process;

	if (event->flags & (EVENT_CLASSES | EVENT_SECOND) ||
	    !ARENA_GROW(processes->arena, processes->summed, processes->summed_room,
			(size_t)process + 1))
		return;
	sums->operations += event->summed_count;
	if (event_value(event, PROFILE_FILE) == TRACE_FILE_OTHER)
		sums->other += event->summed_count;
	if (process == PROCESS_UNKNOWN || processes->summed[process])
		return;
	processes->summed[process] = true;
	if (!sums->processes++)
		sums->first = process;
}

static void add_wait(struct processes *processes, const struct event *event)
{
	if (event->class == IO_WRITE || event->class == IO_SYNC || event->class == IO_METADATA)
		process_waits_add(&processes->waits[PROCESS_SAVES], event);
	else if (event->class == IO_READ)
		process_waits_add(&processes->waits[PROCESS_LOADS], event);
}

static void add_event(struct processes *processes, const struct event *event)
{
	if (event->flags & EVENT_SUMMED)
		add_sums(processes, event);
	if (event->flags & EVENT_FAILED)
		still_waiting_add(&processes->still_waiting, event);
	add_wait(processes, event);
	if ((event->flags & FAILED_FAULT) == FAILED_FAULT && !still_waiting_is(event))
		add_failed_fault(processes, event);
	if (event->class != IO_NONE)
		rollup_add(&processes->rollup, event->process, event);
	else if (event->flags & EVENT_SUBMITS)
		add_submissions(processes, event);
	else if (event->flags & (EVENT_BIO | EVENT_DEVICE))
		process_storages_add(&processes->storages, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct processes *processes = state;

	/* The job's table grows when a pid appears without a recorded fork or exec. */
	if (!rollup_make_room(&processes->rollup, processes->job->processes.count))
		return -ENOMEM;
	for (const struct event *event = events; event < events + count; event++)
		add_event(processes, event);
	return arena_status(processes->arena);
}

/* Saves and loads are added event by event. */
static int add_series(void *state, const struct event_series *series)
{
	struct processes *processes = state;
	const struct event *event = series->events;

	for (size_t i = 0; i < series->count; i++) {
		if (event[i].flags & EVENT_FAILED)
			still_waiting_add(&processes->still_waiting, &event[i]);
		add_wait(processes, &event[i]);
	}
	if (rollup_make_room(&processes->rollup, processes->job->processes.count))
		rollup_add_series(&processes->rollup, event->process, series);
	return arena_status(processes->arena);
}

/* --- the table --- */

/* Per class, the table's columns and those shown in the text report. */
#define CALL_COLUMNS                                                                               \
	(MEASURE_COUNT | MEASURE_ERRORS | MEASURE_BYTES | MEASURE_TIME | MEASURE_THREAD_TIME |     \
	 MEASURE_FETCHED | MEASURE_CREATED | MEASURE_READ_FOR_WRITE)
#define STILL_COLUMNS (MEASURE_COUNT | MEASURE_ERRORS | MEASURE_TIME | MEASURE_THREAD_TIME)
#define FAULT_COLUMNS                                                                              \
	(MEASURE_COUNT | MEASURE_MAJOR | MEASURE_FETCHED | MEASURE_CREATED | MEASURE_TIME |        \
	 MEASURE_THREAD_TIME)

static const struct {
	unsigned int columns, titled;
} classes[IO_CLASS_COUNT] = {
	[IO_READ] = { CALL_COLUMNS, MEASURE_BYTES | MEASURE_TIME | MEASURE_FETCHED },
	[IO_WRITE] = { CALL_COLUMNS,
		       MEASURE_BYTES | MEASURE_TIME | MEASURE_FETCHED | MEASURE_CREATED },
	[IO_METADATA] = { STILL_COLUMNS, MEASURE_COUNT | MEASURE_TIME },
	[IO_SYNC] = { STILL_COLUMNS, MEASURE_COUNT | MEASURE_TIME },
	[IO_MMAP_READ] = { FAULT_COLUMNS, MEASURE_COUNT | MEASURE_FETCHED | MEASURE_TIME },
	[IO_MMAP_WRITE] = { FAULT_COLUMNS, MEASURE_COUNT | MEASURE_FETCHED | MEASURE_TIME },
};

/* A process of the table, with its sort keys. */
struct processes_row {
	uint64_t start_ns, time_ns;
	uint32_t process;
};

/* A process as the columns see it; mostly empty for the row of impossible pids. */
struct process_row {
	uint64_t pid, ppid, time_ns, start_ns, end_ns, peak_rss_bytes;
	int64_t rank, exit_code, signal;
	struct table_text comm, command, ended_at;
	const char *host;
	struct tally classes[IO_CLASS_COUNT];
	uint64_t submissions;
	struct process_storage storage;
};

/* Splits the command line into a list: in the trace, each argument ends with NUL. */
static void get_command(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column)
{
	struct table_text command = ((const struct process_row *)row)->command;

	if (command.length)
		table_set_texts(table, cell, NULL, 0);
	for (size_t at = 0; at < command.length;) {
		const struct cell text = { .type = CELL_TEXT,
					   .length =
						   strnlen(command.bytes + at, command.length - at),
					   .text = command.bytes + at };

		table_append_text(table, cell, &text);
		at += text.length + 1;
	}
}

static const struct table_column columns[] = {
	COLUMN(process_row, pid, "pid", NONE, KEY,
	       "process ID; 0: the kernel (its writeback, readahead and journal writes); null: "
	       "processes without a row of their own"),
	COLUMN(process_row, time_ns, "time", NS, UNION,
	       "time with at least one operation or fault in progress", JOB_IO, STRETCH(TIME)),
	COLUMN(process_row, ppid, "parent", NONE, FACT, "process ID of the parent"),
	COLUMN(process_row, comm, "name", NONE, KEY, "name of the program"),
	{ "command", NULL, UNIT_NONE, KIND_FACT, "command line, as a list of arguments",
	  .get = get_command },
	COLUMN(process_row, rank, "rank", NONE, FACT, "rank of the process in the job; null: none"),
	COLUMN(process_row, host, NULL, NONE, FACT, "host that the process ran on"),
	COLUMN(process_row, start_ns, "start", NS, MOMENT,
	       "start of the process, since the start of the run"),
	COLUMN(process_row, end_ns, "end", NS, MOMENT,
	       "end of the process, since the start of the run; null if it outlived the run"),
	COLUMN(process_row, exit_code, "exit", NONE, FACT,
	       "exit status; 128 + N if signal N killed the process; null if it outlived the run"),
	COLUMN(process_row, signal, NULL, NONE, FACT,
	       "number of the signal that killed the process; null: none"),
	COLUMN(process_row, peak_rss_bytes, "peak memory", BYTES, MAX,
	       "most memory that was resident at once, including pages of mapped files, as "
	       "getrusage counts it (ru_maxrss); null if it outlived the run, or unknown"),
	COLUMN(process_row, ended_at, "ended at", NONE, FACT,
	       "line at which a signal, or an exit status other than 0, ended the process: "
	       "train.py:31 in load; null after sys.exit, which first leaves all functions of "
	       "Python"),
};

static const struct table_column async_columns[] = {
	{ "async_submissions", NULL, UNIT_COUNT, KIND_SUM,
	  "operations submitted to io_uring and libaio, not traced because layer async was off",
	  TABLE_UINT(struct process_row, submissions), JOB_SYSCALL | JOB_EVENTS },
};

static const struct table_column storage_columns[] = {
	{ "storage_read_bytes", "device read", UNIT_BYTES, KIND_SUM,
	  "bytes of block reads queued by the process, or by the kernel for files of the run",
	  TABLE_UINT(struct process_row, storage.read_bytes), JOB_BLOCK },
	{ "storage_write_bytes", "device written", UNIT_BYTES, KIND_SUM,
	  "bytes of block writes queued by the process; the kernel itself writes most dirty pages "
	  "later",
	  TABLE_UINT(struct process_row, storage.write_bytes), JOB_BLOCK },
	{ "storage_metadata_bytes", "metadata", UNIT_BYTES, KIND_SUM,
	  "bytes of file system metadata read and written; for the kernel, including journal "
	  "writes for any process to devices that the run used",
	  TABLE_UINT(struct process_row, storage.metadata_bytes), JOB_BLOCK },
};

static struct table_text text_of(const struct job_trace *trace, uint64_t string)
{
	return trace_text(trace_reader_string(trace->reader, string));
}

static void set_identity(struct process_row *view, const struct job *job,
			 const struct process *process)
{
	const struct job_trace *trace = &job->traces[process->trace];

	view->pid = process->pid;
	if (process->ppid)
		view->ppid = process->ppid;
	if (process->rank >= 0)
		view->rank = process->rank;
	view->comm = text_of(trace, process->comm);
	view->command = text_of(trace, process->command);
	view->host = trace->header->host;
	view->start_ns = number_sub(process->start_ns, job->start_ns);
	if (!process->ended)
		return;
	view->end_ns = number_sub(process->end_ns, job->start_ns);
	view->exit_code = WIFSIGNALED(process->status) ? 128 + WTERMSIG(process->status)
						       : WEXITSTATUS(process->status);
	if (WIFSIGNALED(process->status))
		view->signal = WTERMSIG(process->status);
	if (process->peak_rss_bytes)
		view->peak_rss_bytes = process->peak_rss_bytes;
}

/* All values unknown. */
static const struct process_row nobody = {
	.pid = TABLE_NO_UINT,
	.ppid = TABLE_NO_UINT,
	.time_ns = TABLE_NO_UINT,
	.start_ns = TABLE_NO_UINT,
	.end_ns = TABLE_NO_UINT,
	.peak_rss_bytes = TABLE_NO_UINT,
	.rank = TABLE_NO_INT,
	.exit_code = TABLE_NO_INT,
	.signal = TABLE_NO_INT,
};

static uint64_t submissions_of(const struct processes *processes, uint32_t process)
{
	return process < processes->room ? processes->submissions[process] : 0;
}

static void add_line(struct table *table, const struct processes *processes, uint32_t number)
{
	const struct job *job = processes->job;
	const struct process *process = &job->processes.processes[number];
	struct process_row view = nobody;
	char at[LOCATION_BYTES];

	view.submissions = submissions_of(processes, number);
	view.storage = process_storage_of(&processes->storages, number);
	for (int i = 0; i < IO_CLASS_COUNT; i++)
		view.classes[i] = *rollup_tally(&processes->rollup, number, i);
	view.time_ns = rollup_tally(&processes->rollup, number, MEASURE_IO)->time.measure;
	if (number != PROCESS_UNKNOWN)
		set_identity(&view, job, process);
	view.ended_at.length = site_locate_stack(at, job, process->trace, process->ended_at);
	view.ended_at.bytes = view.ended_at.length ? at : NULL;
	table_add(table, &view);
}

/* Adds a row for I/O that kernel threads queued: writeback, and the kernel's own reads. */
static void add_kernel(struct table *table, const struct processes *processes)
{
	const struct process_storage storage = process_storage_of_kernel(&processes->storages);
	struct process_row kernel = nobody;

	if (!storage.read_bytes && !storage.write_bytes && !storage.metadata_bytes)
		return;
	kernel.pid = 0;
	kernel.comm = (struct table_text) { "kernel", strlen("kernel") };
	kernel.storage = storage;
	table_add(table, &kernel);
}

/* Adds a row for the processes without a row of their own. */
static void add_others(struct table *table, const struct processes *processes,
		       const struct processes_row *lines, size_t count)
{
	struct process_row others = nobody;
	char name[64];

	for (size_t i = 0; i < count; i++) {
		struct process_storage more =
			process_storage_of(&processes->storages, lines[i].process);

		others.submissions += submissions_of(processes, lines[i].process);
		others.storage.read_bytes += more.read_bytes;
		others.storage.write_bytes += more.write_bytes;
		others.storage.metadata_bytes += more.metadata_bytes;
		for (int j = 0; j < IO_CLASS_COUNT; j++)
			tally_fold(&others.classes[j],
				   rollup_tally(&processes->rollup, lines[i].process, j));
	}
	snprintf(name, sizeof(name), "other (%zu processes)", count);
	others.comm = (struct table_text) { name, strlen(name) };
	table->folded = count;
	table_add(table, &others);
}

static void set_note(struct table *table, const struct job *job)
{
	char count[UNITS_TEXT], max[UNITS_TEXT];
	struct strbuf note = { .used = 0 };

	if (job->lost)
		strbuf_clause(&note, "excludes lost events");
	if (job->processes.overflow)
		strbuf_clause(&note,
			      "%s forks, execs and exits of processes beyond the first %s did not "
			      "fit in memory: their activity is in the row without a pid (raise "
			      "report --memory)",
			      units_count(count, job->processes.overflow),
			      units_count(max, job->processes.max));
	if (note.used)
		table_set_note(table, note.bytes);
}

/* Most I/O time first. */
COMPARE_BY(compare_times, struct processes_row,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->process, b->process))

COMPARE_BY(compare_lines, struct processes_row,
	   COMPARE(a->start_ns, b->start_ns) ?: COMPARE(a->process, b->process))

/* Events with impossible pids, if any, get a row without a pid. */
static size_t make_lines(const struct processes *processes, struct processes_row *lines)
{
	const struct process_table *table = &processes->job->processes;
	bool unknown = rollup_used(&processes->rollup, PROCESS_UNKNOWN);
	size_t count = 0;

	for (uint32_t i = 0; i < table->count; i++)
		if (i != PROCESS_UNKNOWN || unknown)
			lines[count++] = (struct processes_row) {
				table->processes[i].start_ns,
				rollup_tally(&processes->rollup, i, MEASURE_IO)->time.measure, i
			};
	return count;
}

static void fill(void *state, struct table *table)
{
	struct processes *processes = state;
	struct processes_row *lines = NULL;
	size_t count, max;

	table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));
	table->recorded = processes->job->layers;
	for (size_t i = 0; i < IO_CLASS_COUNT; i++)
		measure_add_columns(table, i, classes[i].columns, classes[i].titled,
				    offsetof(struct process_row, classes) +
					    i * sizeof(struct tally));
	table_add_columns(table, TABLE_COLUMNS(async_columns));
	table_add_columns(table, TABLE_COLUMNS(storage_columns));
	set_note(table, processes->job);
	device_list_note(&processes->storages.devices, table);
	lines = arena_alloc(processes->arena, processes->job->processes.count * sizeof(*lines));
	if (!lines)
		return;
	count = make_lines(processes, lines);
	max = job_rows_max(processes->job, table->column_count);
	if (count > max)
		qsort(lines, count, sizeof(*lines), compare_times);
	else
		max = count;
	qsort(lines, max, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < max; i++)
		add_line(table, processes, lines[i].process);
	add_kernel(table, processes);
	if (count > max)
		add_others(table, processes, lines + max, count - max);
}

const struct tally *processes_tally(const struct results *results, uint32_t process,
				    unsigned int measure)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return rollup_tally(&processes->rollup, process, measure);
}

struct processes_sums processes_sums(const struct results *results)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return processes->sums;
}

struct failed_fault processes_failed_fault(const struct results *results, uint32_t process)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	if (process < processes->failed_room)
		return processes->failed[process];
	return (struct failed_fault) { FILE_UNKNOWN, -1 };
}

const struct still_waiting *processes_still_waiting(const struct results *results)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return &processes->still_waiting;
}

uint64_t processes_without_io_ns(const struct results *results, uint32_t number)
{
	const struct job *job = results->job;
	const struct process *process = &job->processes.processes[number];
	uint64_t io_ns = processes_tally(results, number, MEASURE_IO)->time.measure;
	uint64_t end_ns = process->ended ? process->end_ns : job->end_ns;

	return number_sub(number_sub(end_ns, process->start_ns), io_ns);
}

uint64_t processes_kernel_metadata(const struct results *results, uint32_t host, uint64_t device)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return process_storage_kernel_metadata(&processes->storages, host, device);
}

bool processes_wait(const struct results *results, enum process_waits_for what, size_t number,
		    struct process_wait *wait)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return process_waits_view(&processes->waits[what], number, wait);
}

const struct analysis analysis_processes = {
	.name = "processes",
	.meaning = "I/O, identity and exit status of each process",
	.title = "Processes",
	.shown = "comm,pid,rank,time_ns,read.bytes,mmap_read.fetched_bytes,write.bytes,"
		 "metadata.count,peak_rss_bytes,exit_code,ended_at,mmap_read.faults,storage_write_bytes,storage_metadata_bytes,"
		 "start_ns,end_ns",
	.by = "time_ns",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct processes),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true, .sums = true, .events = add_events, .series = add_series },
	.columns = {
		[TRACE_SYSCALL] = STILL_WAITING_CALL,
		[TRACE_SYSCALL_PATH] = STILL_WAITING_PATH,
		[TRACE_ASYNC] = STILL_WAITING_PATH,
		[TRACE_FAULT] = 1ull << FAULT_FLAGS | 1ull << FAULT_FILE | 1ull << FAULT_OFFSET,
		[TRACE_BIO] = PROCESS_STORAGE_BIO,
		[TRACE_DEVICE] = PROCESS_STORAGE_DEVICE,
	},
	.fill = fill,
	.merging = { .single = "host",
		     .sorted = "start_ns",
		     .many = "processes",
		     .label = "comm" },
};
