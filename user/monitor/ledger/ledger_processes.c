/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes by pid, from their start until everything they did has been booked; pids are reused. */
#include "monitor/ledger/ledger_state.h"

#include <stdlib.h>
#include <string.h>

static struct ledger_process **chain_of(struct ledger *ledger, uint32_t pid)
{
	return &ledger->chains[(pid * 0x9e3779b1u) >> 20];
}

struct ledger_process *ledger_process(struct ledger *ledger, uint32_t pid)
{
	struct ledger_process *process = *chain_of(ledger, pid);

	while (process && (process->pid != pid || process->end_ns))
		process = process->chain;
	return process;
}

/* --- their jobs --- */

static void leave_job(struct ledger_process *process)
{
	struct ledger_job *job = process->job;

	if (process->previous)
		process->previous->next = process->next;
	else
		job->processes = process->next;
	if (process->next)
		process->next->previous = process->previous;
	process->next = process->previous = NULL;
}

static void join_job(struct ledger_process *process, struct ledger_job *job)
{
	process->job = job;
	process->next = job->processes;
	process->previous = NULL;
	if (job->processes)
		job->processes->previous = process;
	job->processes = process;
}

/* Counts a process in or out of its job and program. */
static void count_living(struct ledger_process *process, int by, uint64_t time_ns)
{
	process->job->process_count += by;
	process->program->processes += by;
	if (process->job->last_ns < time_ns)
		process->job->last_ns = time_ns;
	if (process->program->last_ns < time_ns)
		process->program->last_ns = time_ns;
}

void ledger_on_join(struct ledger *ledger, ledger_joined_fn *emit, void *context)
{
	ledger->joined = emit;
	ledger->joined_context = context;
}

static void report_join(const struct ledger *ledger, const struct ledger_process *process,
			const struct ledger_job *before)
{
	if (ledger->joined)
		ledger->joined(ledger->joined_context, process, before);
}

static void change_job(struct ledger *ledger, struct ledger_process *process,
		       struct ledger_job *job, const char *program, uint64_t time_ns)
{
	struct ledger_job *before = process->job;
	const bool lives = !process->end_ns;

	if (lives)
		count_living(process, -1, time_ns);
	if (job != before) {
		leave_job(process);
		join_job(process, job);
		if (lives)
			report_join(ledger, process, before);
	}
	process->program = ledger_command_of(job, program, time_ns);
	if (lives)
		count_living(process, 1, time_ns);
}

/* --- starting --- */

static struct ledger_process *make(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				   struct ledger_job *job, const char *program)
{
	struct ledger_process **chain = chain_of(ledger, pid);
	struct ledger_process *process = NULL;

	if (job && ledger->process_count < LEDGER_PROCESSES_MAX)
		process = calloc(1, sizeof(*process));
	if (!process) {
		ledger->node.processes_unreported++;
		return NULL;
	}
	process->pid = pid;
	process->start_ns = start_ns;
	process->rank = -1;
	process->chain = *chain;
	*chain = process;
	join_job(process, job);
	process->program = ledger_command_of(job, program, start_ns);
	count_living(process, 1, start_ns);
	ledger->process_count++;
	ledger->node.processes_begun++;
	report_join(ledger, process, NULL);
	return process;
}

void ledger_fork(struct ledger *ledger, uint32_t parent_pid, uint32_t child, uint64_t time_ns)
{
	struct ledger_process *parent, *process = ledger_process(ledger, child);

	if (process) /* its exit was not reported */
		ledger_vanish(ledger, process, time_ns);
	parent = ledger_process(ledger, parent_pid);
	if (!parent)
		return;
	process = make(ledger, child, time_ns, parent->job, parent->program->name);
	if (!process)
		return;
	process->forked = true;
	process->uid = parent->uid;
	process->cgroup_set = parent->cgroup_set;
	process->checked_ns = parent->checked_ns;
	process->rank = parent->rank;
	process->command = parent->command ? strdup(parent->command) : NULL;
}

/* Returns the command line as one string. */
static char *line_of(const struct ledger_who *who)
{
	size_t bytes = who->command_bytes;
	char *line;

	while (bytes && !who->command[bytes - 1])
		bytes--;
	if (bytes >= LEDGER_COMMAND_LINE_BYTES)
		bytes = LEDGER_COMMAND_LINE_BYTES - 1;
	line = malloc(bytes + 1);
	for (size_t i = 0; line && i < bytes; i++)
		line[i] = who->command[i] ? who->command[i] : ' ';
	if (line)
		line[bytes] = 0;
	return line;
}

void ledger_exec(struct ledger *ledger, const struct ledger_who *who, uint64_t time_ns)
{
	struct ledger_process *process = ledger_process(ledger, who->pid);
	struct ledger_job *job = ledger_job_of(ledger, who->cgroup, who->uid, who->user, time_ns);

	if (process && who->start_ns > process->start_ns + LEDGER_START_WITHIN_NS) {
		/* Another process with the same pid. */
		ledger_vanish(ledger, process, who->start_ns);
		process = NULL;
	}
	if (!job)
		return;
	if (!process) {
		process = make(ledger, who->pid, who->start_ns ? who->start_ns : time_ns, job,
			       who->program);
		if (!process)
			return;
	} else {
		process->job_before = process->job;
		process->program_before = process->program;
		process->exec_ns = time_ns;
		change_job(ledger, process, job, who->program, time_ns);
	}
	process->forked = false;
	process->uid = who->uid;
	process->checked_ns = time_ns;
	process->cgroup_set = who->cgroup_set;
	if (who->rank >= 0)
		process->rank = who->rank;
	free(process->command);
	process->command = line_of(who);
}

void ledger_move(struct ledger *ledger, struct ledger_process *process, const char *cgroup)
{
	const char *user = process->uid == process->job->uid ? process->job->user : NULL;
	struct ledger_job *job =
		ledger_job_of(ledger, cgroup, process->uid, user, process->checked_ns);
	char program[LEDGER_COMMAND_BYTES];

	if (!job || job == process->job)
		return;
	strcpy(program, process->program->name);
	change_job(ledger, process, job, program, process->checked_ns);
	process->cgroup_set = 0; /* was that of the old cgroup */
}

/* --- ending --- */

void ledger_vanish(struct ledger *ledger, struct ledger_process *process, uint64_t time_ns)
{
	if (process->end_ns)
		return;
	count_living(process, -1, time_ns);
	process->end_ns = time_ns ? time_ns : 1;
	process->job->ended_processes++;
	ledger->node.processes_ended++;
	report_join(ledger, process, process->job);
}

void ledger_exit(struct ledger *ledger, uint32_t pid, uint64_t time_ns)
{
	struct ledger_process *process = ledger_process(ledger, pid);

	if (process)
		ledger_vanish(ledger, process, time_ns);
}

static void forget(struct ledger *ledger, struct ledger_process *process)
{
	leave_job(process);
	sums_free(&process->sums);
	free(process->command);
	free(process);
	ledger->process_count--;
}

void ledger_forget_ended(struct ledger *ledger, uint64_t until_ns)
{
	for (unsigned int i = 0; i < PROCESS_CHAINS; i++) {
		struct ledger_process **link = &ledger->chains[i], *process;

		while ((process = *link)) {
			if (process->exec_ns < until_ns)
				process->job_before = NULL;
			if (process->end_ns && process->end_ns < until_ns) {
				*link = process->chain;
				forget(ledger, process);
			} else {
				link = &process->chain;
			}
		}
	}
}

void ledger_each_process(struct ledger *ledger,
			 void (*take)(void *context, struct ledger_process *process), void *context)
{
	for (unsigned int i = 0; i < PROCESS_CHAINS; i++)
		for (struct ledger_process *process = ledger->chains[i]; process;
		     process = process->chain)
			if (!process->end_ns)
				take(context, process);
}

/* --- finding owners --- */

static struct ledger_owner owner_of(struct ledger_process *process, uint64_t last_ns)
{
	if (process->job_before && last_ns < process->exec_ns)
		return (struct ledger_owner) { process->job_before, process->program_before,
					       process, false };
	return (struct ledger_owner) { process->job, process->program, process, false };
}

/*
 * Finds the process that started then. The kernel's start time is never before the end of the
 * previous process with that pid. A reported one is late by the time the fork took, or early by the
 * resolution of /proc.
 */
static struct ledger_process *find_started(struct ledger *ledger, uint32_t pid, uint64_t start_ns)
{
	struct ledger_process *nearest = NULL;
	uint64_t min_ns = LEDGER_START_WITHIN_NS;

	for (struct ledger_process *process = *chain_of(ledger, pid); process;
	     process = process->chain) {
		uint64_t off_ns = process->start_ns > start_ns ? process->start_ns - start_ns
							       : start_ns - process->start_ns;

		if (process->pid != pid || off_ns >= min_ns)
			continue;
		/* An end before the process's own start is only a lower bound: it vanished. */
		if (process->end_ns >= process->start_ns && process->end_ns < start_ns)
			continue;
		nearest = process;
		min_ns = off_ns;
	}
	return nearest;
}

/* Finds the process that had the pid between two moments. */
static struct ledger_owner find_between(struct ledger *ledger, uint32_t pid, uint64_t first_ns,
					uint64_t last_ns)
{
	struct ledger_owner found = { 0 }, owner;

	for (struct ledger_process *process = *chain_of(ledger, pid); process;
	     process = process->chain) {
		if (process->pid != pid || process->start_ns > last_ns ||
		    (process->end_ns && process->end_ns < first_ns))
			continue;
		owner = owner_of(process, last_ns);
		if (!found.job) {
			found = owner;
		} else if (found.job == owner.job && found.command == owner.command) {
			found.process = NULL; /* any of them */
		} else {
			return (struct ledger_owner) { .several = true };
		}
	}
	return found;
}

struct ledger_owner ledger_find_owner(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				      uint64_t first_ns, uint64_t last_ns)
{
	struct ledger_process *process;

	if (!start_ns)
		return find_between(ledger, pid, first_ns, last_ns);
	process = find_started(ledger, pid, start_ns);
	return process ? owner_of(process, last_ns) : (struct ledger_owner) { 0 };
}

struct ledger_owner ledger_find_begun(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				      uint64_t last_ns, bool reported)
{
	struct ledger_process *process = find_started(ledger, pid, start_ns);

	return process && !(reported && process->forked) ? owner_of(process, last_ns)
							 : (struct ledger_owner) { 0 };
}

bool ledger_knows(const struct ledger *ledger, uint32_t pid, uint64_t start_ns, uint64_t time_ns)
{
	const struct ledger_process *process = *chain_of((struct ledger *)ledger, pid);

	if (start_ns)
		return find_started((struct ledger *)ledger, pid, start_ns);
	while (process && (process->pid != pid || process->start_ns > time_ns))
		process = process->chain;
	return process;
}
