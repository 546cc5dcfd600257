/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "processes": who they were, how they ended, what I/O each did. Numbers are those of
 * rows; times are merged over the threads of a process. Knows nothing of files or doors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/analysis.h"
#include "analysis/tally.h"

struct process_use {
	struct tally classes[IO_CLASS_COUNT];
};

struct processes {
	const struct job *job;
	struct process_use *uses; /* by number of the process */
	size_t room;
};

static int begin(const struct job *job, void **state)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->job = job;
	*state = processes;
	return 0;
}

static void end(void *state)
{
	struct processes *processes = state;

	free(processes->uses);
	free(processes);
}

/* The job's table grows when a pid turns up that no fork or exec has told of. */
static int make_room(struct processes *processes)
{
	size_t count = processes->job->processes.count;
	size_t room = processes->room * 2 > count ? processes->room * 2 : count;
	struct process_use *uses;

	if (count <= processes->room)
		return 0;
	uses = reallocarray(processes->uses, room, sizeof(*uses));
	if (!uses)
		return -ENOMEM;
	memset(uses + processes->room, 0, (room - processes->room) * sizeof(*uses));
	processes->uses = uses;
	processes->room = room;
	return 0;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct processes *processes = state;
	int status = make_room(processes);

	if (status)
		return status;
	for (const struct event *event = events; event < events + count; event++)
		if (event->class != IO_NONE)
			tally_add(&processes->uses[event->process].classes[event->class], event);
	return 0;
}

/* --- the table --- */

#define SUM(member) offsetof(struct tally, member)

static const struct tally_field read_fields[] = {
	{ "count", NULL, UNIT_COUNT, SUM(count), 0 },
	{ "errors", NULL, UNIT_COUNT, SUM(errors), 0 },
	{ "bytes", "bytes", UNIT_BYTES, SUM(bytes), 0 },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", NULL, UNIT_NS, SUM(thread_time_ns), 0 },
	{ "fetched_bytes", "into cache", UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
};

/* Most pages that writes bring into the cache are new: storage had no part in it. */
static const struct tally_field write_fields[] = {
	{ "count", NULL, UNIT_COUNT, SUM(count), 0 },
	{ "errors", NULL, UNIT_COUNT, SUM(errors), 0 },
	{ "bytes", "bytes", UNIT_BYTES, SUM(bytes), 0 },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", NULL, UNIT_NS, SUM(thread_time_ns), 0 },
	{ "fetched_bytes", NULL, UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
};

static const struct tally_field still_fields[] = {
	{ "count", "calls", UNIT_COUNT, SUM(count), 0 },
	{ "errors", NULL, UNIT_COUNT, SUM(errors), 0 },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", NULL, UNIT_NS, SUM(thread_time_ns), 0 },
};

static const struct tally_field fault_fields[] = {
	{ "faults", "faults", UNIT_COUNT, SUM(count), 0 },
	{ "major", NULL, UNIT_COUNT, SUM(major), 0 },
	{ "fetched_bytes", "into cache", UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", NULL, UNIT_NS, SUM(thread_time_ns), 0 },
};

static const struct tally_group groups[IO_CLASS_COUNT] = {
	[IO_READ] = { "read", "read", JOB_SYSCALL, TALLY_FIELDS(read_fields) },
	[IO_WRITE] = { "write", "write", JOB_SYSCALL, TALLY_FIELDS(write_fields) },
	[IO_METADATA] = { "metadata", "metadata", JOB_SYSCALL, TALLY_FIELDS(still_fields) },
	[IO_SYNC] = { "sync", "sync", JOB_SYSCALL, TALLY_FIELDS(still_fields) },
	[IO_MMAP_READ] = { "mmap_read", "mmap read", JOB_FAULT, TALLY_FIELDS(fault_fields) },
	[IO_MMAP_WRITE] = { "mmap_write", "mmap write", JOB_FAULT, TALLY_FIELDS(fault_fields) },
};

enum { PID, PPID, COMM, COMMAND, RANK, HOST, START_NS, END_NS, EXIT_STATUS, SIGNAL, FIRST_GROUP };
static const struct table_column columns[] = {
	[PID] = { "pid", "pid", UNIT_NONE },
	[PPID] = { "ppid", "parent", UNIT_NONE },
	[COMM] = { "comm", "name", UNIT_NONE },
	[COMMAND] = { "command", NULL, UNIT_NONE },
	[RANK] = { "rank", "rank", UNIT_NONE },
	[HOST] = { "host", NULL, UNIT_NONE },
	[START_NS] = { "start_ns", "start", UNIT_NS },
	[END_NS] = { "end_ns", "end", UNIT_NS },
	[EXIT_STATUS] = { "exit_code", "exit", UNIT_NONE },
	[SIGNAL] = { "signal", NULL, UNIT_NONE },
};

/* A process of the table, and what it is sorted by. */
struct line {
	uint64_t start_ns;
	uint32_t process;
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->process < b->process ? -1 : 1;
}

/* The command line as a list: arguments stand in the trace with a NUL behind each. */
static int set_command(struct table *table, struct cell *cell, struct trace_string command)
{
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

static void set_end(struct cell *row, const struct job *job, const struct process *process)
{
	if (!process->ended)
		return;
	cell_uint(&row[END_NS], clock_subtract(process->end_ns, job->start_ns));
	if (WIFSIGNALED(process->status)) {
		cell_int(&row[EXIT_STATUS], 128 + WTERMSIG(process->status));
		cell_int(&row[SIGNAL], WTERMSIG(process->status));
	} else {
		cell_int(&row[EXIT_STATUS], WEXITSTATUS(process->status));
	}
}

static int set_identity(struct table *table, struct cell *row, const struct job *job,
			const struct process *process)
{
	const struct job_trace *trace = &job->traces[process->trace];
	struct trace_string comm = trace_reader_string(trace->reader, process->comm);
	struct trace_string command = trace_reader_string(trace->reader, process->command);
	int status;

	cell_uint(&row[PID], process->pid);
	if (process->ppid)
		cell_uint(&row[PPID], process->ppid);
	if (process->rank >= 0)
		cell_int(&row[RANK], process->rank);
	cell_uint(&row[START_NS], clock_subtract(process->start_ns, job->start_ns));
	set_end(row, job, process);
	status =
		table_set_text(table, &row[HOST], trace->header->host, strlen(trace->header->host));
	if (!status && comm.length)
		status = table_set_text(table, &row[COMM], comm.bytes, comm.length);
	if (!status)
		status = set_command(table, &row[COMMAND], command);
	return status;
}

static int add_line(struct table *table, const struct processes *processes, uint32_t number)
{
	const struct job *job = processes->job;
	const struct process_use *use = &processes->uses[number];
	struct cell *row, *cell;
	int status = table_add_row(table, &row);

	if (!status && number != PROCESS_UNKNOWN)
		status = set_identity(table, row, job, &job->processes.processes[number]);
	if (status)
		return status;
	cell = row + FIRST_GROUP;
	for (size_t i = 0; i < IO_CLASS_COUNT; i++)
		cell = tally_fill(cell, job, &groups[i], &use->classes[i]);
	return 0;
}

/* Events of impossible pids get a line without one, if there are any. */
static size_t make_lines(const struct processes *processes, struct line *lines)
{
	static const struct process_use nothing;
	const struct process_table *table = &processes->job->processes;
	bool unknown = memcmp(&processes->uses[PROCESS_UNKNOWN], &nothing, sizeof(nothing));
	size_t count = 0;

	for (uint32_t i = 0; i < table->count; i++)
		if (i != PROCESS_UNKNOWN || unknown)
			lines[count++] = (struct line) { table->processes[i].start_ns, i };
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static int fill(void *state, struct table *table)
{
	struct processes *processes = state;
	struct line *lines = NULL;
	size_t count;
	int status = table_add_columns(table, columns, FIRST_GROUP);

	for (size_t i = 0; i < IO_CLASS_COUNT && !status; i++)
		status = tally_add_columns(table, processes->job, &groups[i]);
	if (!status && processes->job->lost)
		status = table_set_note(table, "lost events are missing here");
	if (!status)
		status = make_room(processes);
	if (status)
		return status;
	lines = reallocarray(NULL, processes->job->processes.count, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	count = make_lines(processes, lines);
	for (size_t i = 0; i < count && !status; i++)
		status = add_line(table, processes, lines[i].process);
	free(lines);
	return status;
}

const struct analysis analysis_processes = {
	.name = "processes",
	.title = "Processes",
	.shape = TABLE_LIST,
	.begin = begin,
	.events = add_events,
	.fill = fill,
	.end = end,
};
