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
#include "base/grow.h"
#include "base/units.h"
#include "base/strbuf.h"

#define FAILED_FAULT (EVENT_FAULT | EVENT_FAILED)

struct processes {
	const struct job *job;
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

static int begin(const struct job *job, void **state)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->job = job;
	rollup_init(&processes->rollup, job, rollup_find_key("process"), ROLLUP_ALL);
	process_storages_init(&processes->storages, job);
	for (int what = 0; what < PROCESS_WAITS; what++)
		process_waits_init(&processes->waits[what], job, what);
	*state = processes;
	return 0;
}

static void end(void *state)
{
	struct processes *processes = state;

	rollup_free(&processes->rollup);
	process_storages_free(&processes->storages);
	for (int what = 0; what < PROCESS_WAITS; what++)
		process_waits_free(&processes->waits[what]);
	free(processes->submissions);
	free(processes->failed);
	free(processes->summed);
	free(processes);
}

static int add_submissions(struct processes *processes, const struct event *event)
{
	if (!GROW(processes->submissions, processes->room, (size_t)event->process + 1))
		return -ENOMEM;
	processes->submissions[event->process] += event_value(event, SYSCALL_RESULT);
	return 0;
}

static int add_failed_fault(struct processes *processes, const struct event *event)
{
	if (!GROW(processes->failed, processes->failed_room, (size_t)event->process + 1))
		return -ENOMEM;
	processes->failed[event->process] = (struct failed_fault) { event->file, event->offset };
	return 0;
}

static int add_sums(struct processes *processes, const struct event *event)
{
	struct processes_sums *sums = &processes->sums;
	uint32_t process = event->process;

	if (event->flags & (EVENT_CLASSES | EVENT_SECOND))
		return 0;
	if (!GROW(processes->summed, processes->summed_room, (size_t)process + 1))
		return -ENOMEM;
	sums->operations += event->summed_count;
	if (event_value(event, PROFILE_FILE) == TRACE_FILE_OTHER)
		sums->other += event->summed_count;
	if (process == PROCESS_UNKNOWN || processes->summed[process])
		return 0;
	processes->summed[process] = true;
	if (!sums->processes++)
		sums->first = process;
	return 0;
}

static int add_wait(struct processes *processes, const struct event *event)
{
	switch (event->class) {
	case IO_WRITE:
	case IO_SYNC:
		return process_waits_add(&processes->waits[PROCESS_SAVES], event);
	case IO_READ:
		return process_waits_add(&processes->waits[PROCESS_LOADS], event);
	default:
		return 0;
	}
}

static int add_event(struct processes *processes, const struct event *event)
{
	int status = event->flags & EVENT_SUMMED ? add_sums(processes, event) : 0;

	if (event->flags & EVENT_FAILED)
		still_waiting_add(&processes->still_waiting, event);
	if (!status)
		status = add_wait(processes, event);
	if (!status && (event->flags & FAILED_FAULT) == FAILED_FAULT && !still_waiting_is(event))
		status = add_failed_fault(processes, event);
	if (status)
		return status;
	if (event->class != IO_NONE)
		return rollup_add(&processes->rollup, event->process, event);
	if (event->flags & EVENT_SUBMITS)
		return add_submissions(processes, event);
	if (event->flags & (EVENT_BIO | EVENT_DEVICE))
		return process_storages_add(&processes->storages, event);
	return 0;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct processes *processes = state;
	/* The job's table grows when a pid appears without a recorded fork or exec. */
	int status = rollup_make_room(&processes->rollup, processes->job->processes.count);

	for (const struct event *event = events; event < events + count && !status; event++)
		status = add_event(processes, event);
	return status ? -ENOMEM : 0;
}

/* Saves and loads are added event by event. */
static int add_series(void *state, const struct event_series *series)
{
	struct processes *processes = state;
	const struct event *event = series->events;

	for (size_t i = 0; i < series->count; i++) {
		if (event[i].flags & EVENT_FAILED)
			still_waiting_add(&processes->still_waiting, &event[i]);
		if (add_wait(processes, &event[i]))
			return -ENOMEM;
	}
	if (rollup_make_room(&processes->rollup, processes->job->processes.count) ||
	    rollup_add_series(&processes->rollup, event->process, series))
		return -ENOMEM;
	return 0;
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
	uint64_t pid, ppid, time_ns, start_ns, end_ns;
	int64_t rank, exit_code, signal;
	struct table_text comm, command;
	const char *host;
	struct tally classes[IO_CLASS_COUNT];
	uint64_t submissions;
	struct process_storage storage;
};

/* Splits the command line into a list: in the trace, each argument ends with NUL. */
static int get_command(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	struct table_text command = ((const struct process_row *)row)->command;
	struct cell *texts;
	size_t count = 0, at = 0;
	int status;

	for (size_t i = 0; i < command.length; i++)
		count += !command.bytes[i] || i + 1 == command.length;
	if (!count)
		return 0;
	texts = calloc(count, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t length = strnlen(command.bytes + at, command.length - at);

		texts[i] = (struct cell) { .type = CELL_TEXT,
					   .length = length,
					   .text = command.bytes + at };
		at += length + 1;
	}
	status = table_set_texts(table, cell, texts, count);
	free(texts);
	return status;
}

static const struct table_column columns[] = {
	{ "pid", "pid", UNIT_NONE, KIND_KEY,
	  "process ID; 0: the kernel (its writeback, readahead and journal writes); null: "
	  "processes without a row of their own",
	  TABLE_UINT(struct process_row, pid), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION,
	  "time with at least one operation or fault in progress",
	  TABLE_UINT(struct process_row, time_ns), JOB_IO, STRETCH(TIME) },
	{ "ppid", "parent", UNIT_NONE, KIND_FACT, "process ID of the parent",
	  TABLE_UINT(struct process_row, ppid), 0 },
	{ "comm", "name", UNIT_NONE, KIND_KEY, "name of the program",
	  TABLE_TEXT(struct process_row, comm), 0 },
	{ "command", NULL, UNIT_NONE, KIND_FACT, "command line, as a list of arguments",
	  .get = get_command },
	{ "rank", "rank", UNIT_NONE, KIND_FACT, "rank of the process in the job; null: none",
	  TABLE_INT(struct process_row, rank), 0 },
	{ "host", NULL, UNIT_NONE, KIND_FACT, "host that the process ran on",
	  TABLE_LITERAL(struct process_row, host), 0 },
	{ "start_ns", "start", UNIT_NS, KIND_MOMENT,
	  "start of the process, since the start of the run",
	  TABLE_UINT(struct process_row, start_ns), 0 },
	{ "end_ns", "end", UNIT_NS, KIND_MOMENT,
	  "end of the process, since the start of the run; null if it outlived the run",
	  TABLE_UINT(struct process_row, end_ns), 0 },
	{ "exit_code", "exit", UNIT_NONE, KIND_FACT,
	  "exit status; 128 + N if signal N killed the process; null if it outlived the run",
	  TABLE_INT(struct process_row, exit_code), 0 },
	{ "signal", NULL, UNIT_NONE, KIND_FACT,
	  "number of the signal that killed the process; null: none",
	  TABLE_INT(struct process_row, signal), 0 },
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
	view->start_ns = clock_subtract(process->start_ns, job->start_ns);
	if (!process->ended)
		return;
	view->end_ns = clock_subtract(process->end_ns, job->start_ns);
	view->exit_code = WIFSIGNALED(process->status) ? 128 + WTERMSIG(process->status)
						       : WEXITSTATUS(process->status);
	if (WIFSIGNALED(process->status))
		view->signal = WTERMSIG(process->status);
}

/* All values unknown. */
static const struct process_row nobody = {
	.pid = TABLE_NO_UINT,
	.ppid = TABLE_NO_UINT,
	.time_ns = TABLE_NO_UINT,
	.start_ns = TABLE_NO_UINT,
	.end_ns = TABLE_NO_UINT,
	.rank = TABLE_NO_INT,
	.exit_code = TABLE_NO_INT,
	.signal = TABLE_NO_INT,
};

static uint64_t submissions_of(const struct processes *processes, uint32_t process)
{
	return process < processes->room ? processes->submissions[process] : 0;
}

static int add_line(struct table *table, const struct processes *processes, uint32_t number)
{
	struct process_row view = nobody;

	view.submissions = submissions_of(processes, number);
	view.storage = process_storage_of(&processes->storages, number);
	for (int i = 0; i < IO_CLASS_COUNT; i++)
		view.classes[i] = *rollup_tally(&processes->rollup, number, i);
	view.time_ns = rollup_tally(&processes->rollup, number, MEASURE_IO)->time.measure;
	if (number != PROCESS_UNKNOWN)
		set_identity(&view, processes->job, &processes->job->processes.processes[number]);
	return table_add(table, &view);
}

/* Adds a row for I/O that kernel threads queued: writeback, and the kernel's own reads. */
static int add_kernel(struct table *table, const struct processes *processes)
{
	const struct process_storage storage = process_storage_of_kernel(&processes->storages);
	struct process_row kernel = nobody;

	if (!storage.read_bytes && !storage.write_bytes && !storage.metadata_bytes)
		return 0;
	kernel.pid = 0;
	kernel.comm = (struct table_text) { "kernel", strlen("kernel") };
	kernel.storage = storage;
	return table_add(table, &kernel);
}

/* Adds a row for the processes without a row of their own. */
static int add_others(struct table *table, const struct processes *processes,
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
	return table_add(table, &others);
}

static int set_note(struct table *table, const struct job *job)
{
	char count[UNITS_TEXT], most[UNITS_TEXT];
	struct strbuf note = { .used = 0 };

	if (job->lost)
		strbuf_clause(&note, "excludes lost events");
	if (job->processes.beyond)
		strbuf_clause(&note,
			      "%s forks, execs and exits of processes beyond the first %s did not "
			      "fit in memory: their activity is in the row without a pid (raise "
			      "report --memory)",
			      units_count(count, job->processes.beyond),
			      units_count(most, job->processes.most));
	return note.used ? table_set_note(table, note.bytes) : 0;
}

/* Most I/O time first. */
static int compare_times(const void *left, const void *right)
{
	const struct processes_row *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return a->process < b->process ? -1 : 1;
}

static int compare_lines(const void *left, const void *right)
{
	const struct processes_row *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->process < b->process ? -1 : 1;
}

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

static int fill(void *state, struct table *table)
{
	struct processes *processes = state;
	struct processes_row *lines = NULL;
	size_t count, most;
	int status = table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));

	table->recorded = processes->job->layers;
	for (size_t i = 0; i < IO_CLASS_COUNT && !status; i++)
		status = measure_add_columns(table, i, classes[i].columns, classes[i].titled,
					     offsetof(struct process_row, classes) +
						     i * sizeof(struct tally));
	if (!status)
		status = table_add_columns(table, TABLE_COLUMNS(async_columns));
	if (!status)
		status = table_add_columns(table, TABLE_COLUMNS(storage_columns));
	if (!status)
		status = set_note(table, processes->job);
	if (status)
		return status;
	lines = reallocarray(NULL, processes->job->processes.count, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	count = make_lines(processes, lines);
	most = job_rows_most(processes->job, table->column_count);
	if (count > most)
		qsort(lines, count, sizeof(*lines), compare_times);
	else
		most = count;
	qsort(lines, most, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < most && !status; i++)
		status = add_line(table, processes, lines[i].process);
	if (!status)
		status = add_kernel(table, processes);
	if (count > most && !status)
		status = add_others(table, processes, lines + most, count - most);
	free(lines);
	return status;
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

uint64_t processes_beside_ns(const struct results *results, uint32_t number)
{
	const struct job *job = results->job;
	const struct process *process = &job->processes.processes[number];
	uint64_t io_ns = processes_tally(results, number, MEASURE_IO)->time.measure;
	uint64_t end_ns = process->ended ? process->end_ns : job->end_ns;

	return clock_subtract(clock_subtract(end_ns, process->start_ns), io_ns);
}

uint64_t processes_kernel_metadata(const struct results *results, uint32_t dev)
{
	const struct processes *processes = results_state(results, &analysis_processes);

	return process_storage_kernel_metadata(&processes->storages, dev);
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
		 "metadata.count,mmap_read.faults,exit_code,storage_write_bytes,storage_metadata_bytes,"
		 "start_ns,end_ns",
	.by = "time_ns",
	.shape = TABLE_LIST,
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .apart = true, .sums = true, .events = add_events, .series = add_series },
	.columns = {
		[TRACE_SYSCALL] = STILL_WAITING_CALL,
		[TRACE_SYSCALL_PATH] = STILL_WAITING_PATH,
		[TRACE_ASYNC] = STILL_WAITING_PATH,
		[TRACE_FAULT] = 1ull << FAULT_FLAGS | 1ull << FAULT_FILE | 1ull << FAULT_OFFSET,
		[TRACE_BIO] = PROCESS_STORAGE_BIO,
		[TRACE_DEVICE] = PROCESS_STORAGE_DEVICE,
	},
	.fill = fill,
	.end = end,
	.merging = { .single = "host",
		     .sorted = "start_ns",
		     .many = "processes",
		     .label = "comm" },
};
