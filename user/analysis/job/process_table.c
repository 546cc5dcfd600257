/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the table of a job's processes. */
#include "analysis/job/process_table.h"
#include "collections/compare.h"
#include "collections/grow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define PID_LIMIT (4u << 20) /* PID_MAX_LIMIT of include/linux/threads.h */

/* --- the table --- */

static bool pid_possible(uint64_t pid)
{
	return pid > 0 && pid <= PID_LIMIT;
}

static uint32_t latest(const struct process_table *table, uint32_t trace, uint64_t pid)
{
	const uint64_t *found = map_find(&table->pids[trace], &pid);

	return found ? *found : PROCESS_NONE;
}

/*
 * Each process that had a pid links to the previous one and to one further back, so that any of
 * them is found in a logarithmic number of steps: the pointers of E. Myers, "An applicative
 * random-access stack", 1983.
 */
static uint32_t far_before(const struct process_table *table, uint32_t previous)
{
	const struct process *one = &table->processes[previous], *two, *three;

	if (one->before == PROCESS_NONE)
		return previous;
	two = &table->processes[one->before];
	if (two->before == PROCESS_NONE)
		return previous;
	three = &table->processes[two->before];
	return one->reuses - two->reuses == two->reuses - three->reuses ? two->before : previous;
}

/* Adds a process as the latest with its pid. Beyond the limit, nothing is added, and *process is a
 * dummy. */
static int add_process(struct process_table *table, uint32_t trace, uint64_t pid, uint64_t start_ns,
		       struct process **process)
{
	uint64_t *number;
	bool added;

	if (table->max && table->count >= table->max) {
		table->overflow++;
		*process = &table->none;
		return 0;
	}
	if (!GROW(table->processes, table->room, table->count + 1))
		return -ENOMEM;
	number = map_add(&table->pids[trace], &pid, &added);
	if (!number)
		return -ENOMEM;
	*process = &table->processes[table->count];
	**process = (struct process) {
		.start_ns = start_ns,
		.rank = -1,
		.pid = pid,
		.trace = trace,
		.previous = added ? PROCESS_NONE : *number,
		.before = added ? PROCESS_NONE : far_before(table, *number),
		.reuses = added ? 0 : table->processes[*number].reuses + 1,
		.parent = PROCESS_NONE,
	};
	*number = table->count++;
	return 0;
}

int process_table_init(struct process_table *table, size_t trace_count)
{
	struct process *unknown;
	int status;

	*table = (struct process_table) { .trace_count = trace_count };
	table->pids = calloc(trace_count, sizeof(*table->pids));
	table->found = calloc(PROCESS_FOUND, sizeof(*table->found));
	if (!table->pids || !table->found)
		return -ENOMEM;
	for (size_t i = 0; i < trace_count; i++)
		map_init(&table->pids[i], 1, 1);
	status = add_process(table, 0, 0, UINT64_MAX, &unknown);
	if (!status)
		unknown->guessed = true;
	return status;
}

void process_table_free(struct process_table *table)
{
	for (size_t i = 0; table->pids && i < table->trace_count; i++)
		map_free(&table->pids[i]);
	free(table->pids);
	free(table->found);
	free(table->processes);
	free(table->programs);
	*table = (struct process_table) { 0 };
}

int process_table_search(struct process_table *table, uint32_t trace, uint64_t pid,
			 uint64_t time_ns, uint32_t *process)
{
	uint64_t until = UINT64_MAX;
	struct process *found;
	uint32_t number;
	int status;

	number = pid_possible(pid) ? latest(table, trace, pid) : PROCESS_UNKNOWN;
	if (number == PROCESS_NONE) {
		status = add_process(table, trace, pid, time_ns, &found);
		if (status)
			return status;
		found->guessed = true;
		number = found == &table->none ? PROCESS_UNKNOWN : table->count - 1;
	}
	found = &table->processes[number];
	while (found->start_ns > time_ns && found->previous != PROCESS_NONE) {
		until = found->start_ns;
		number = found->previous;
		if (table->processes[found->before].start_ns > time_ns)
			number = found->before;
		found = &table->processes[number];
	}
	if (found->guessed && found->start_ns > time_ns)
		found->start_ns = time_ns;
	table->found[process_slot(trace, pid)] = (struct process_found) {
		.pid = pid,
		.from_ns = found->start_ns,
		.until_ns = until,
		.trace = trace,
		.process = number,
	};
	*process = number;
	return 0;
}

/* --- fork, exec and exit rows --- */

enum life_kind { LIFE_FORK, LIFE_EXEC, LIFE_EXIT };

struct life {
	uint64_t time_ns;
	size_t sequence; /* position of the row in the file */
	enum life_kind kind;
	uint32_t pid, other; /* other: the child of a fork, the parent of an exec, 1 for the exit of
			      * a first thread */
	uint64_t comm, command, stack, minor_faults, oom_limit_bytes, peak_rss_bytes;
	int64_t rank;
	uint32_t status;
	bool process_ends, not_followed, oom;
	bool present; /* it ran before all other rows */
};

#define THREADS_SLOTS 256

struct lives {
	struct life *rows;
	size_t count, room;
	size_t max; /* maximum rows; 0: no limit */
	uint64_t overflow;
	uint64_t major_faults; /* of all threads that have ended */
	uint32_t trace;
	struct trace_reader *reader;
	struct clock_shift clock;
	uint32_t threads[THREADS_SLOTS]; /* pids that recently created a thread, by low bits */
};

/* For each row kind: the columns it needs, and its decoder; false for a row of no interest. */
struct life_source {
	enum trace_kind kind;
	uint64_t columns;
	bool (*take)(struct life *life, const uint64_t *const *columns, size_t row);
};

static bool take_fork(struct life *life, const uint64_t *const *columns, size_t row)
{
	life->kind = LIFE_FORK;
	life->pid = columns[FORK_PID][row];
	life->other = columns[FORK_CHILD_PID][row];
	return pid_possible(columns[FORK_CHILD_PID][row]);
}

static bool take_exec(struct life *life, const uint64_t *const *columns, size_t row)
{
	life->kind = LIFE_EXEC;
	life->pid = columns[EXEC_PID][row];
	life->other = pid_possible(columns[EXEC_PPID][row]) ? columns[EXEC_PPID][row] : 0;
	life->comm = columns[EXEC_COMM][row];
	life->command = columns[EXEC_COMMAND][row];
	life->rank = (int64_t)columns[EXEC_RANK][row];
	life->not_followed = columns[EXEC_FLAGS][row] & TRACE_EXEC_NOT_FOLLOWED;
	life->present = columns[EXEC_FLAGS][row] & TRACE_EXEC_PRESENT;
	return pid_possible(columns[EXEC_PID][row]);
}

static bool take_exit(struct life *life, const uint64_t *const *columns, size_t row)
{
	life->kind = LIFE_EXIT;
	life->pid = columns[EXIT_PID][row];
	life->comm = columns[EXIT_COMM][row];
	life->status = columns[EXIT_CODE][row];
	life->process_ends = columns[EXIT_PROCESS][row];
	/* The first thread's name is the process's; other threads matter only if they are last. */
	life->other = columns[EXIT_TID][row] == columns[EXIT_PID][row];
	life->oom = columns[EXIT_OOM][row];
	life->oom_limit_bytes = columns[EXIT_OOM_LIMIT][row];
	life->minor_faults = columns[EXIT_MINOR][row];
	life->peak_rss_bytes = columns[EXIT_PEAK_RSS][row];
	life->stack = columns[EXIT_STACK][row];
	return pid_possible(columns[EXIT_PID][row]) &&
	       (life->other || life->process_ends || life->oom || life->stack);
}

static const struct life_source sources[] = {
	{ TRACE_FORK, 1ull << FORK_TIME | 1ull << FORK_PID | 1ull << FORK_CHILD_PID, take_fork },
	{ TRACE_EXEC,
	  1ull << EXEC_TIME | 1ull << EXEC_PID | 1ull << EXEC_PPID | 1ull << EXEC_COMM |
		  1ull << EXEC_COMMAND | 1ull << EXEC_RANK | 1ull << EXEC_FLAGS,
	  take_exec },
	{ TRACE_EXIT,
	  1ull << EXIT_TIME | 1ull << EXIT_PID | 1ull << EXIT_TID | 1ull << EXIT_PROCESS |
		  1ull << EXIT_CODE | 1ull << EXIT_COMM | 1ull << EXIT_MAJOR | 1ull << EXIT_MINOR |
		  1ull << EXIT_OOM | 1ull << EXIT_OOM_LIMIT | 1ull << EXIT_PEAK_RSS |
		  1ull << EXIT_STACK,
	  take_exit },
};

static int keep(struct lives *lives, const struct life *life)
{
	if (lives->max && lives->count == lives->max) {
		lives->overflow++;
		return 0;
	}
	if (!GROW(lives->rows, lives->room, lives->count + 1))
		return -ENOMEM;
	lives->rows[lives->count] = *life;
	lives->rows[lives->count].sequence = lives->count;
	lives->count++;
	return 0;
}

/* A thread is not a new process, and one is enough to know that a process has threads: a program
 * may create a million of them. */
static bool is_one_more_thread(struct lives *lives, const struct life *life)
{
	uint32_t *slot = &lives->threads[life->pid % THREADS_SLOTS];

	if (life->kind != LIFE_FORK || life->other != life->pid)
		return false;
	if (*slot == life->pid)
		return true;
	*slot = life->pid;
	return false;
}

#define LIFE_COLUMNS EXIT_COLUMNS /* the most of the three */
static_assert((int)LIFE_COLUMNS >= (int)EXEC_COLUMNS && (int)LIFE_COLUMNS >= (int)FORK_COLUMNS,
	      "columns of lives");

static int load_block(struct lives *lives, size_t block, const struct life_source *source,
		      struct trace_error *error)
{
	uint32_t rows = trace_reader_block_info(lives->reader, block)->rows;
	const uint64_t *columns[LIFE_COLUMNS] = { NULL };
	int status = trace_reader_read(lives->reader, block, source->columns, error);

	if (status == -EINVAL) { /* damaged: the other blocks are still useful */
		trace_reader_pass_over(lives->reader, block, error);
		return 0;
	}
	if (status)
		return status;
	for (unsigned int i = 0; i < LIFE_COLUMNS; i++)
		if (source->columns >> i & 1)
			columns[i] = trace_reader_column(lives->reader, i);
	for (uint32_t i = 0; i < rows && !status; i++) {
		struct life life = { .time_ns = clock_shifted(lives->clock, columns[0][i]) };

		if (source->take(&life, columns, i) && !is_one_more_thread(lives, &life))
			status = keep(lives, &life);
		if (source->kind == TRACE_EXIT)
			lives->major_faults += columns[EXIT_MAJOR][i];
	}
	return status;
}

COMPARE_BY(compare_lives, struct life,
	   COMPARE(b->present, a->present) ?:
	   COMPARE(a->time_ns, b->time_ns) ?:
	   COMPARE(a->kind, b->kind) ?:
	   COMPARE(a->sequence, b->sequence))

/* --- replay, in time order --- */

/* Copies what a child has from its parent until it execs: name, command line, and the rank, which
 * comes from the environment. */
static void inherit(struct process_table *table, struct process *child, uint32_t parent_number)
{
	const struct process *parent = &table->processes[parent_number];

	child->comm = parent->comm;
	child->command = parent->command;
	child->rank = parent->rank;
	child->parent = parent_number;
}

static int replay_fork(struct process_table *table, uint32_t trace, const struct life *life)
{
	uint32_t parent = latest(table, trace, life->pid);
	struct process *child;
	int status;

	if (life->other == life->pid) {
		if (parent != PROCESS_NONE)
			table->processes[parent].threads = true;
		return 0;
	}
	status = add_process(table, trace, life->other, life->time_ns, &child);
	if (status)
		return status;
	child->ppid = life->pid;
	if (parent != PROCESS_NONE)
		inherit(table, child, parent);
	return 0;
}

/* Records the name of what a process ran until now. */
static int keep_program(struct process_table *table, struct process *process, uint64_t now_ns)
{
	if (table->max && table->program_count >= table->max)
		return 0;
	if (!GROW(table->programs, table->program_room, table->program_count + 1))
		return -ENOMEM;
	table->programs[table->program_count++] = (struct process_program) {
		.until_ns = now_ns,
		.comm = process->comm,
		.earlier = process->earlier,
	};
	process->earlier = table->program_count;
	return 0;
}

uint64_t process_table_comm(const struct process_table *table, uint32_t process, uint64_t time_ns)
{
	uint64_t comm = table->processes[process].comm;

	for (uint32_t at = table->processes[process].earlier; at;) {
		const struct process_program *program = &table->programs[at - 1];

		if (time_ns >= program->until_ns)
			break;
		comm = program->comm;
		at = program->earlier;
	}
	return comm;
}

/* A process that ran before the recording has executed a program, or is a fork of its parent, with
 * the same command line. One that has changed its title is taken for a program. */
static bool is_copy(const struct process_table *table, uint32_t parent, const struct life *life)
{
	return life->present && life->command && parent != PROCESS_NONE &&
	       table->processes[parent].command == life->command;
}

static int replay_exec(struct process_table *table, uint32_t trace, const struct life *life)
{
	uint32_t number = latest(table, trace, life->pid);
	uint32_t parent = latest(table, trace, life->other);
	struct process *process;
	int status;

	/* The first process, or one whose fork was lost. */
	if (number == PROCESS_NONE || table->processes[number].ended) {
		status = add_process(table, trace, life->pid, life->time_ns, &process);
		if (status)
			return status;
		if (parent != PROCESS_NONE)
			inherit(table, process, parent);
	} else {
		process = &table->processes[number];
		status = process->comm ? keep_program(table, process, life->time_ns) : 0;
		if (status)
			return status;
	}
	if (!process->ppid)
		process->ppid = life->other;
	process->comm = life->comm;
	process->command = life->command;
	if (life->rank >= 0)
		process->rank = life->rank;
	process->executed = !is_copy(table, parent, life);
	process->threads |= life->present;
	process->not_followed = life->not_followed;
	return 0;
}

static int replay_exit(struct process_table *table, uint32_t trace, const struct life *life)
{
	uint32_t number = latest(table, trace, life->pid);
	struct process *process;
	int status;

	if (number == PROCESS_NONE) {
		status = add_process(table, trace, life->pid, life->time_ns, &process);
		if (status)
			return status;
		process->guessed = true;
	} else {
		process = &table->processes[number];
	}
	process->oom |= life->oom;
	if (life->oom_limit_bytes)
		process->oom_limit_bytes = life->oom_limit_bytes;
	if (life->peak_rss_bytes)
		process->peak_rss_bytes = life->peak_rss_bytes;
	process->minor_faults = number_add(process->minor_faults, life->minor_faults);
	if (life->stack)
		process->ended_at = life->stack;
	/* Two threads that exit at once may both be taken for the last one. */
	if (process->ended)
		return 0;
	if (!process->executed && !process->named && (life->other || life->process_ends))
		process->comm = life->comm;
	if (life->other)
		process->named = true;
	if (life->process_ends) {
		process->ended = true;
		process->end_ns = life->time_ns;
		process->status = life->status;
	}
	return 0;
}

static int (*const replays[])(struct process_table *, uint32_t, const struct life *) = {
	[LIFE_FORK] = replay_fork,
	[LIFE_EXEC] = replay_exec,
	[LIFE_EXIT] = replay_exit,
};

static enum process_role role_of(struct trace_string command)
{
	static const struct {
		const char *module;
		enum process_role role;
	} modules[] = {
		{ "multiprocessing.spawn", ROLE_WORKER },
		{ "multiprocessing.forkserver", ROLE_HELPER },
		{ "multiprocessing.resource_tracker", ROLE_HELPER },
	};

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (memmem(command.bytes, command.length, modules[i].module,
			   strlen(modules[i].module)))
			return modules[i].role;
	return ROLE_MAIN;
}

/* Sets the roles of a trace's processes, from number `first` on. Each command line is searched
 * once. */
static int find_roles(struct process_table *table, const struct trace_reader *reader, size_t first)
{
	struct map roles; /* by string id of the command line */
	int status = 0;

	map_init(&roles, 1, 1);
	for (size_t i = first; i < table->count && !status; i++) {
		struct process *process = &table->processes[i];
		bool added;
		uint64_t *role = map_add(&roles, &process->command, &added);

		if (role && added)
			*role = role_of(trace_reader_string(reader, process->command));
		if (role)
			process->role = *role;
		else
			status = -ENOMEM;
	}
	map_free(&roles);
	return status;
}

int process_table_load(struct process_table *table, uint32_t trace, struct trace_reader *reader,
		       struct clock_shift clock, struct trace_error *error)
{
	/* Twice the process limit: one row to begin and one to end. */
	struct lives lives = {
		.trace = trace, .reader = reader, .clock = clock, .max = 2 * table->max
	};
	size_t blocks = trace_reader_block_count(reader), first = table->count;
	int status = 0;

	for (size_t i = 0; i < blocks; i++) {
		enum trace_kind kind = trace_reader_block_info(reader, i)->kind;

		for (size_t j = 0; j < sizeof(sources) / sizeof(sources[0]) && !status; j++)
			if (sources[j].kind == kind)
				status = load_block(&lives, i, &sources[j], error);
	}
	if (!status && lives.count)
		qsort(lives.rows, lives.count, sizeof(*lives.rows), compare_lives);
	for (size_t i = 0; i < lives.count && !status; i++)
		status = replays[lives.rows[i].kind](table, trace, &lives.rows[i]);
	if (!status)
		status = find_roles(table, reader, first);
	table->overflow += lives.overflow;
	table->major_faults += lives.major_faults;
	free(lives.rows);
	return status;
}
