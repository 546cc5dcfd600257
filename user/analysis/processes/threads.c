/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "threads": where every second of every thread went. */
#include "analysis/processes/threads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/processes/thread_cuts.h"
#include "analysis/shared/analysis.h"
#include "analysis/shared/results.h"
#include "analysis/shared/trace_text.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"

#define THREADS_MAX 65536 /* further ones are summed up by process, as if they were one thread */

struct threads {
	const struct job *job;
	struct arena *arena;
	struct thread *all;
	size_t count, room;
	struct map numbers; /* process and tid -> index in `all` */
	struct thread_cuts cuts;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct threads *threads = state;

	threads->job = job;
	threads->arena = arena;
	map_init_in(&threads->numbers, arena, 1, 1);
	thread_cuts_init(&threads->cuts, arena, job);
}

/* --- during the walk --- */

/* Returns NULL if out of memory. */
static struct thread *find_thread(struct threads *threads, const struct event *event)
{
	uint64_t key = (uint64_t)event->process << 32 | event->thread;
	const uint64_t *number = map_find(&threads->numbers, &key);
	struct thread *thread;
	bool added;

	if (number)
		return &threads->all[*number];
	if (threads->count >= THREADS_MAX && event->thread != THREAD_NONE) {
		struct event other = *event;

		other.thread = THREAD_NONE;
		return find_thread(threads, &other);
	}
	thread = MAP_ITEM(&threads->numbers, &key, threads->all, threads->room, threads->count,
			  &added);
	if (thread)
		*thread = (struct thread) {
			.process = event->process,
			.tid = event->thread,
			.start_ns = event->start,
		};
	return thread;
}

/* A hostile trace may have any numbers. */
static uint64_t whole_of(double value)
{
	return value < 0x1p64 ? value : UINT64_MAX;
}

/* Returns how much of an event lies in the run, and where that ends. */
static uint64_t inside_of(const struct job *job, const struct event *event, uint64_t *end_ns)
{
	uint64_t start_ns = event->start;

	*end_ns = event->end;
	if (job->cut) {
		start_ns = number_max(start_ns, job->start_ns);
		*end_ns = number_min(*end_ns, job->end_ns);
	}
	return number_sub(*end_ns, start_ns);
}

static void add_interval(struct threads *threads, struct thread *thread, const struct event *event,
			 bool is_cut)
{
	struct thread_times times = {
		.io_wait_ns = event_value(event, THREAD_TIME_IO_WAIT),
		.io_ns = event_value(event, THREAD_TIME_IO),
		.user_ns = event_value(event, THREAD_TIME_USER),
		.system_ns = event_value(event, THREAD_TIME_SYSTEM),
	};

	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		times.states[i] = event_value(event, THREAD_TIME_CPU + i);
		times.time_ns = number_add(times.time_ns, times.states[i]);
	}
	if (!is_cut || !thread_cuts_add(&threads->cuts, event, thread - threads->all, &times))
		thread_times_add(&thread->times, &times);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct threads *threads = state;

	for (const struct event *event = events; event < events + count; event++) {
		struct thread *thread;
		uint64_t inside_ns, end_ns;

		if (!(event->flags & EVENT_THREAD) || event_kind(event) != TRACE_THREAD_TIME)
			continue;
		inside_ns = inside_of(threads->job, event, &end_ns);
		if (!inside_ns)
			continue;
		thread = find_thread(threads, event);
		if (!thread)
			return -ENOMEM;
		add_interval(threads, thread, event, inside_ns < event->end - event->start);
		thread->end_ns = number_max(end_ns, thread->end_ns);
	}
	return 0;
}

/* --- columns --- */

#define TIMES_OF(member) offsetof(struct thread_times, member)

/* The kernel samples user and system time; their ratio splits the exact time on a CPU. */
static void get_system(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	const struct thread_times *times =
		(const void *)((const char *)row + column->key - TIMES_OF(system_ns));
	double both_ns = (double)times->user_ns + times->system_ns;

	(void)table;
	if (both_ns > 0)
		cell_uint(cell, whole_of(times->states[THREAD_CPU] * (times->system_ns / both_ns)));
}

/* The wait of an operation that has not ended is known, and its time is not. */
uint64_t thread_times_io_cpu(const struct thread_times *times)
{
	const uint64_t io_cpu_ns = number_sub(times->io_ns, times->io_wait_ns);

	return number_min(io_cpu_ns, times->states[THREAD_CPU]);
}

static void get_io_cpu(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	const struct thread_times *times =
		(const void *)((const char *)row + column->key - TIMES_OF(io_ns));

	(void)table;
	cell_uint(cell, thread_times_io_cpu(times));
}

#define STATE_COLUMN(id, name, title, meaning)                                                     \
	{ "states." name,                                                                          \
	  title,                                                                                   \
	  UNIT_NS,                                                                                 \
	  KIND_THREAD,                                                                             \
	  meaning,                                                                                 \
	  .get = table_get_uint,                                                                   \
	  .key = TIMES_OF(states[THREAD_##id]) },

static const struct table_column times_columns[] = {
	THREAD_STATES(STATE_COLUMN) { "system_ns", "in the kernel", UNIT_NS, KIND_THREAD,
				      "part of states.cpu in system calls, faults and interrupts: "
				      "estimated from the kernel's "
				      "samples at ticks; null if it took none",
				      .get = get_system, .key = TIMES_OF(system_ns) },
	{ "io_wait_ns", "off CPU in I/O", UNIT_NS, KIND_THREAD,
	  "time off CPU inside recorded I/O operations: blocked in any state, or waiting for a CPU",
	  .get = table_get_uint, .key = TIMES_OF(io_wait_ns) },
	{ "io_cpu_ns", "on CPU in I/O", UNIT_NS, KIND_THREAD,
	  "part of states.cpu inside recorded I/O operations, for example copying from the page "
	  "cache: the time of those that have ended, less io_wait_ns",
	  .get = get_io_cpu, .key = TIMES_OF(io_ns) },
};

void thread_times_add(struct thread_times *sum, const struct thread_times *times)
{
	sum->time_ns = number_add(sum->time_ns, times->time_ns);
	for (int i = 0; i < THREAD_STATE_COUNT; i++)
		sum->states[i] = number_add(sum->states[i], times->states[i]);
	sum->io_wait_ns = number_add(sum->io_wait_ns, times->io_wait_ns);
	sum->io_ns = number_add(sum->io_ns, times->io_ns);
	sum->user_ns = number_add(sum->user_ns, times->user_ns);
	sum->system_ns = number_add(sum->system_ns, times->system_ns);
}

void thread_times_add_columns(struct table *table, size_t base)
{
	for (size_t i = 0; i < sizeof(times_columns) / sizeof(times_columns[0]); i++) {
		struct table_column column = times_columns[i];

		column.key += base;
		table_add_column(table, &column);
	}
}

/* --- kinds of threads --- */

const char *process_kind(const struct job *job, uint32_t number)
{
	static const char *const kinds[] = {
		[ROLE_MAIN] = "main",
		[ROLE_WORKER] = "worker",
		[ROLE_HELPER] = "helper",
	};
	const struct process *process = &job->processes.processes[number];

	if (process->executed)
		return kinds[process->role];
	if (process->parent == PROCESS_NONE || process->parent == PROCESS_UNKNOWN)
		return kinds[ROLE_MAIN];
	return kinds[ROLE_WORKER];
}

const char *thread_kind(const struct job *job, uint32_t process, uint32_t tid)
{
	if (tid == THREAD_NONE)
		return "other";
	return tid == job->processes.processes[process].pid ? process_kind(job, process) : "helper";
}

/* Its command line up to the first argument that is not an option. Each argument ends with NUL. */
static struct trace_string what_runs(const struct job *job, uint32_t number)
{
	const struct process *process = &job->processes.processes[number];
	struct trace_string command =
		trace_reader_string(job->traces[process->trace].reader, process->command);
	size_t at = strnlen(command.bytes, command.length);
	bool option = true;

	while (at + 1 < command.length && option) {
		option = command.bytes[++at] == '-';
		at += strnlen(command.bytes + at, command.length - at);
	}
	command.length = at;
	return command;
}

/* The process that a worker or a helper belongs to. Forged traces may have endless lines of forks.
 */
static uint32_t program_of(const struct job *job, uint32_t number)
{
	const struct process *processes = job->processes.processes;

	for (int i = 0; i < PROCESS_GENERATIONS_MAX; i++) {
		const struct process *process = &processes[number];

		if ((process->executed && process->role == ROLE_MAIN) ||
		    process->parent == PROCESS_NONE || process->parent == PROCESS_UNKNOWN)
			break;
		number = process->parent;
	}
	return number;
}

bool process_runs_same(const struct job *job, uint32_t number, uint32_t other)
{
	const uint32_t one = program_of(job, number), two = program_of(job, other);
	const struct trace_string a = what_runs(job, one), b = what_runs(job, two);

	return one == two ||
	       (a.length && a.length == b.length && !memcmp(a.bytes, b.bytes, a.length));
}

/* --- table "threads" --- */

static const struct table_column key_columns[] = {
	COLUMN(thread_key, pid, "pid", NONE, KEY, "process ID"),
	COLUMN(thread_key, tid, "tid", NONE, KEY,
	       "thread ID; null: all threads of the process without a row of their own"),
	COLUMN(thread_key, comm, "program", NONE, FACT, "name of the program"),
	COLUMN(thread_key, kind, "kind", NONE, FACT, THREAD_KIND_MEANING),
	COLUMN(thread_key, rank, "rank", NONE, FACT, "rank of the process in the job; null: none"),
	COLUMN(thread_key, host, NULL, NONE, FACT, "host that the process ran on"),
};

void thread_key_add_columns(struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(key_columns));
}

struct thread_key thread_key_of(const struct job *job, uint32_t number, uint32_t tid)
{
	const struct process *process = &job->processes.processes[number];

	return (struct thread_key) {
		.pid = process->pid,
		.tid = tid == THREAD_NONE ? TABLE_NO_UINT : tid,
		.rank = process->rank < 0 ? TABLE_NO_INT : process->rank,
		.kind = thread_kind(job, number, tid),
		.host = job->traces[process->trace].header->host,
		.comm = trace_text(job_comm(job, number)),
	};
}

struct thread_row {
	struct thread_key key;
	uint64_t start_ns, end_ns;
	struct thread_times times;
};

static const struct table_column thread_columns[] = {
	COLUMN(thread_row, start_ns, "start", NS, MOMENT,
	       "when the thread began, or began to be recorded, since the start of the run"),
	COLUMN(thread_row, end_ns, "end", NS, MOMENT,
	       "when it or the recording ended, since the start of the run"),
	{ "time_ns", "time", UNIT_NS, KIND_THREAD,
	  "time between them, without gaps in which no thread had this ID: the states add up to it",
	  TABLE_UINT(struct thread_row, times.time_ns), 0 },
};

static const char *why_absent(const struct job *job)
{
	if (job->layers & JOB_THREAD)
		return NULL;
	return job->filtered & JOB_THREAD
		       ? "thread times are not operations: filters by file, operation, method, "
			 "span or duration exclude them"
		       : "requires layer thread";
}

bool threads_absent(struct table *table, const struct job *job)
{
	const char *why = why_absent(job);

	if (!why && job->cut)
		table_set_note(table, "at the ends of the range, times other than waits of ≥ 1 ms "
				      "are estimated: sums over up to 1 s, spread evenly");
	return table_absent_if(table, why, why);
}

COMPARE_BY(compare_threads, struct thread,
	   COMPARE(a->process, b->process) ?:
	   COMPARE(a->start_ns, b->start_ns) ?:
	   COMPARE(a->tid, b->tid))

static void fill(void *state, struct table *table)
{
	struct threads *threads = state;
	const struct job *job = threads->job;
	size_t max;

	if (threads_absent(table, job))
		return;
	table_fail(table, thread_cuts_finish(&threads->cuts));
	for (size_t i = 0; i < threads->cuts.count; i++)
		thread_times_add(&threads->all[threads->cuts.all[i].thread].times,
				 &threads->cuts.all[i].times);
	thread_key_add_columns(table);
	table_add_columns(table, TABLE_COLUMNS(thread_columns));
	thread_times_add_columns(table, offsetof(struct thread_row, times));
	max = job_rows_max(job, table->column_count);
	if (threads->count)
		qsort(threads->all, threads->count, sizeof(*threads->all), compare_threads);
	for (size_t i = 0; i < threads->count && i < max; i++) {
		const struct thread *thread = &threads->all[i];

		table_add(table, &(struct thread_row) {
					 .key = thread_key_of(job, thread->process, thread->tid),
					 .start_ns = number_sub(thread->start_ns, job->start_ns),
					 .end_ns = number_sub(thread->end_ns, job->start_ns),
					 .times = thread->times,
				 });
	}
	if (threads->count > max)
		table->cut = threads->count - max;
}

const struct thread *threads_all(const struct results *results, size_t *count)
{
	const struct threads *threads = results_state(results, &analysis_threads);

	*count = threads->count;
	return threads->all;
}

/* Adds up the times of all threads. */
static struct thread_times times_of_all(const struct results *results)
{
	struct thread_times sum = { .time_ns = 0 };
	size_t count;
	const struct thread *threads = results->job ? threads_all(results, &count) : NULL;

	for (size_t i = 0; threads && i < count; i++)
		thread_times_add(&sum, &threads[i].times);
	return sum;
}

double threads_cpu_of_io(const struct results *results)
{
	const struct thread_times all = times_of_all(results);
	const uint64_t cpu_ns = thread_times_io_cpu(&all);

	return cpu_ns < all.io_ns ? (double)cpu_ns / all.io_ns : 0;
}

double threads_busy_of_io(const struct results *results)
{
	const struct thread_times all = times_of_all(results);
	const double cpu_ns = thread_times_io_cpu(&all);
	const double runnable_ns =
		all.states[THREAD_CPU]
			? all.states[THREAD_RUNNABLE] * (cpu_ns / all.states[THREAD_CPU])
			: 0;

	if (!all.io_ns || cpu_ns >= all.io_ns)
		return 0;
	return fmin(cpu_ns + runnable_ns, number_sub(all.io_ns, all.states[THREAD_STORAGE])) /
	       all.io_ns;
}

uint64_t threads_kernel_ns(const struct results *results)
{
	const struct thread_times all = times_of_all(results);
	const double both_ns = (double)all.user_ns + all.system_ns;

	return both_ns > 0 ? number_sub(all.states[THREAD_CPU] * (all.system_ns / both_ns),
					thread_times_io_cpu(&all))
			   : 0;
}

uint64_t threads_computing_ns(const struct results *results)
{
	const struct thread_times all = times_of_all(results);

	return number_add(all.states[THREAD_CPU], all.states[THREAD_RUNNABLE]);
}

double threads_free_cpus(const struct results *results)
{
	const struct thread_times all = times_of_all(results);
	const uint64_t computing_ns = threads_computing_ns(results);

	return computing_ns ? fmax(1 - 2.0 * all.states[THREAD_RUNNABLE] / computing_ns, 0) : 1;
}

uint64_t threads_main_storage_ns(const struct results *results, uint32_t process)
{
	const uint32_t pid = results->job->processes.processes[process].pid;
	size_t count;
	const struct thread *threads = threads_all(results, &count);

	for (size_t i = 0; threads && i < count; i++)
		if (threads[i].process == process && threads[i].tid == pid)
			return threads[i].times.states[THREAD_STORAGE];
	return UINT64_MAX;
}

const struct analysis analysis_threads = {
	.name = "threads",
	.meaning = "time of each thread on a CPU, waiting for one, and blocked, by reason",
	.title = "Threads",
	.shown = "comm,tid,kind,rank," THREAD_STATES_SHOWN,
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct threads),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_THREAD },
	.columns = { [TRACE_THREAD_TIME] =
			     ((2ull << THREAD_TIME_IO) - 1) & ~((1ull << THREAD_TIME_CPU) - 1) },
	.fill = fill,
	.merging = { .single = "host", .sorted = "start_ns", .many = "threads", .label = "comm" },
};
