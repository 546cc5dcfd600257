/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables "thread_kinds", "thread_ranks" and "thread_processes": the times of threads, summed up. */
#include <string.h>

#include "analysis/job/job.h"
#include "analysis/processes/threads.h"
#include "analysis/shared/analysis.h"
#include "analysis/shared/results.h"
#include "analysis/shared/trace_text.h"
#include "collections/map.h"
#include "base/number.h"

#define GROUPS_MAX 65536 /* further ones count as the last one */

/* A row of any of the tables, each of which uses a part of the keys. */
struct group {
	const char *kind, *host;
	struct table_text comm;
	int64_t rank;
	uint64_t pid, start_ns;
	uint64_t threads;
	struct thread_times times;
};

/* The keys of a table's rows, as numbers that differ if they do. */
#define KEYS 2
struct group_key {
	uint64_t at[KEYS];
};
typedef struct group_key group_by(const struct job *job, const struct map *map,
				  const struct thread *thread);

static struct group_key by_kind(const struct job *job, const struct map *map,
				const struct thread *thread)
{
	const struct table_text comm = trace_text(job_comm(job, thread->process));
	const char *kind = thread_kind(job, thread->process, thread->tid);

	return (struct group_key) { { map_hash_bytes(map, comm.bytes, comm.length),
				      (uintptr_t)kind } };
}

static struct group_key by_rank(const struct job *job, const struct map *map,
				const struct thread *thread)
{
	const struct process *process = &job->processes.processes[thread->process];

	(void)map;
	return (struct group_key) { { process->rank,
				      (uintptr_t)thread_kind(job, thread->process, thread->tid) } };
}

static struct group_key by_process(const struct job *job, const struct map *map,
				   const struct thread *thread)
{
	(void)job;
	(void)map;
	return (struct group_key) { { thread->process } };
}

static struct group group_of(const struct job *job, const struct thread *thread)
{
	const struct process *process = &job->processes.processes[thread->process];

	return (struct group) {
		.kind = thread_kind(job, thread->process, thread->tid),
		.comm = trace_text(job_comm(job, thread->process)),
		.rank = process->rank < 0 ? TABLE_NO_INT : process->rank,
		.host = job->traces[process->trace].header->host,
		.pid = process->pid,
		.start_ns = number_sub(thread->start_ns, job->start_ns),
	};
}

/* Adds a row per group, in the order of their first threads. */
static void add_groups(const struct results *results, struct table *table, group_by *by)
{
	struct arena arena = { 0 };
	struct map numbers;
	struct group *groups = NULL;
	size_t count = 0, room = 0, thread_count;
	const struct thread *threads = threads_all(results, &thread_count);

	map_init_in(&numbers, &arena, KEYS, 1);
	for (size_t i = 0; i < thread_count; i++) {
		const struct group_key key = by(results->job, &numbers, &threads[i]);
		struct thread_times times = threads[i].times;
		uint64_t *number;
		bool added;

		if (!ARENA_GROW(&arena, groups, room, count + 1))
			break;
		number = map_add(&numbers, key.at, &added);
		if (!number)
			break;
		if (added && count < GROUPS_MAX) {
			*number = count;
			groups[count++] = group_of(results->job, &threads[i]);
		} else if (added) {
			*number = GROUPS_MAX - 1;
		}
		groups[*number].threads++;
		/* One thread's wait in an unfinished operation must not hide others' CPU time. */
		times.io_ns = number_add(times.io_wait_ns, thread_times_io_cpu(&times));
		thread_times_add(&groups[*number].times, &times);
	}
	for (size_t i = 0; i < count; i++)
		table_add(table, &groups[i]);
	table_fail(table, arena_status(&arena));
	arena_free(&arena);
}

/* --- columns --- */

static const struct table_column kind_columns[] = {
	COLUMN(group, comm, "program", NONE, KEY, "name of the program"),
	COLUMN(group, kind, "kind", NONE, KEY, THREAD_KIND_MEANING),
};

static const struct table_column rank_columns[] = {
	COLUMN(group, rank, "rank", NONE, KEY, "rank of their processes in the job; null: none"),
	COLUMN(group, kind, "kind", NONE, KEY, THREAD_KIND_MEANING),
};

static const struct table_column process_columns[] = {
	COLUMN(group, pid, "pid", NONE, KEY, "process ID"),
	COLUMN(group, comm, "program", NONE, KEY, "name of the program"),
	COLUMN(group, rank, "rank", NONE, FACT, "rank of the process in the job; null: none"),
	COLUMN(group, host, NULL, NONE, FACT, "host that the process ran on"),
	COLUMN(group, start_ns, "start", NS, MOMENT,
	       "when its first thread began, or began to be recorded, since the start of the run"),
};

static const struct table_column sum_columns[] = {
	COLUMN(group, threads, "threads", COUNT, SUM, "number of these threads"),
	COLUMN_AS("time_ns", group, times.time_ns, "time", NS, THREAD,
		  "recorded time of these threads, summed: the states add up to it"),
};

static void make(const struct results *results, struct table *table,
		 const struct table_column *columns, size_t count, group_by *by)
{
	if (threads_absent(table, results->job))
		return;
	table_add_columns(table, columns, count);
	table_add_columns(table, TABLE_COLUMNS(sum_columns));
	thread_times_add_columns(table, offsetof(struct group, times));
	add_groups(results, table, by);
}

static void conclude_kinds(const struct results *results, struct table *table)
{
	make(results, table, TABLE_COLUMNS(kind_columns), by_kind);
}

static void conclude_ranks(const struct results *results, struct table *table)
{
	make(results, table, TABLE_COLUMNS(rank_columns), by_rank);
}

static void conclude_processes(const struct results *results, struct table *table)
{
	make(results, table, TABLE_COLUMNS(process_columns), by_process);
}

const struct analysis analysis_thread_kinds = {
	.name = "thread_kinds",
	.meaning = "time of the threads of each program in each state, by kind of thread",
	.title = "Where threads spent their time",
	.shown = "comm,kind,threads," THREAD_STATES_SHOWN,
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude_kinds,
	.merging = { .sorted = "-time_ns", .many = "kinds" },
};

const struct analysis analysis_thread_ranks = {
	.name = "thread_ranks",
	.meaning = "time of the threads of each rank in each state, by kind of thread",
	.title = NULL, /* only with --table */
	.shown = "rank,kind,threads," THREAD_STATES_SHOWN,
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude_ranks,
	.merging = { .sorted = "rank", .many = "ranks" },
};

const struct analysis analysis_thread_processes = {
	.name = "thread_processes",
	.meaning = "time of the threads of each process in each state",
	.title = NULL, /* only with --table */
	.shown = "comm,pid,rank,threads," THREAD_STATES_SHOWN,
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude_processes,
	.merging = { .single = "host", .sorted = "start_ns", .many = "processes", .label = "comm" },
};
