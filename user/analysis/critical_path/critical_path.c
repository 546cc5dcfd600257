/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "critical_path", and access to the path for findings. */
#include "analysis/critical_path/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/shared/results.h"
#include "collections/compare.h"
#include "base/number.h"

/* --- shares --- */

/* Returns how long a thread waited for a CPU in I/O operations: off CPU there, and not blocked. */
static uint64_t io_runnable_ns(const struct critical_path *path, const struct thread_times *times)
{
	static const enum thread_state blocked[] = { THREAD_STORAGE, THREAD_MEMORY, THREAD_OTHER };
	uint64_t off_ns = times->io_wait_ns;

	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		off_ns = number_sub(off_ns, times->states[blocked[i]]);
	if (path->locks_blocked_ns) /* file locks are operations */
		off_ns = number_sub(off_ns, times->states[THREAD_LOCK]);
	return number_min(off_ns, times->states[THREAD_RUNNABLE]);
}

/* CPU time and short waits have no rows: divides those outside I/O, in which the thread was starved
 * of a CPU for so long, in the proportions of the thread's life. */
static void divide_rest(struct path_share *share, const struct path_thread *thread,
			uint64_t starved_ns, const struct thread_times *times)
{
	uint64_t rest_ns = share->time_ns, left_ns, weights[THREAD_STATE_COUNT];
	double all = 0;

	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		rest_ns = number_sub(rest_ns, share->parts[i]);
		weights[i] = number_sub(times->states[i], thread->all_waits_ns[i]);
		if (i == THREAD_CPU)
			weights[i] = number_sub(weights[i], thread_times_io_cpu(times));
		if (i == THREAD_RUNNABLE)
			weights[i] = number_sub(weights[i], starved_ns);
		if (i == THREAD_STORAGE)
			weights[i] =
				number_sub(weights[i], number_sub(times->io_wait_ns, starved_ns));
		all += weights[i];
	}
	if (all <= 0) { /* nothing is known about it */
		share->parts[THREAD_OTHER] += rest_ns;
		return;
	}
	left_ns = rest_ns;
	for (int i = THREAD_STATE_COUNT - 1; i > THREAD_CPU; i--) {
		const uint64_t part_ns = number_min(rest_ns * (weights[i] / all), left_ns);

		share->parts[i] += part_ns;
		left_ns -= part_ns;
	}
	share->parts[THREAD_CPU] += left_ns;
}

static uint64_t ready_ns(const struct path_thread *thread)
{
	const uint64_t later = number_sub(thread->stays, thread->joins + 1);
	const uint64_t later_ns =
		number_sub(thread->time_ns, number_add(thread->first_ns, thread->joined_ns));

	return later ? number_sub(thread->first_ns, later_ns / later) : 0;
}

static void add_share(struct critical_path *path, struct path_thread *thread,
		      const struct thread_times *times)
{
	struct path_share *share = &path->shares[path->share_count];
	const uint64_t starved_ns = io_runnable_ns(path, times);

	/* It was assumed to live until the end of the run. */
	if (thread->is_root) {
		thread->time_ns =
			number_sub(thread->time_ns, number_sub(path->job->end_ns, thread->last_ns));
		path->whole_ns = number_add(path->whole_ns, thread->time_ns);
	}
	*share = (struct path_share) {
		.process = thread->process,
		.tid = thread->tid,
		.time_ns = number_sub(thread->time_ns, thread->passed_ns),
		.ready_ns = ready_ns(thread),
		.joined_ns = thread->joined_ns,
		.is_once = thread->stays - thread->joins <= 1,
	};
	if (!share->time_ns)
		return;
	share->parts[PATH_IO] =
		path->job->aggregated ? number_min(times->io_ns, share->time_ns) : thread->io_ns;
	if (times->io_ns)
		share->io_runnable_ns =
			share->parts[PATH_IO] * fmin((double)starved_ns / times->io_ns, 1);
	for (int i = 0; i < THREAD_STATE_COUNT; i++)
		share->parts[i] += thread->waits_ns[i];
	divide_rest(share, thread, starved_ns, times);
	path->share_count++;
}

COMPARE_BY(compare_shares, struct path_share,
	   COMPARE(b->time_ns, a->time_ns) ?:
	   COMPARE(a->process, b->process) ?:
	   COMPARE(a->tid, b->tid))

static void make_shares(struct critical_path *path, const struct results *results)
{
	static const struct thread_times none;
	size_t count;
	const struct thread *threads = threads_all(results, &count);
	struct arena arena = { 0 };
	struct map numbers;

	path->shares = arena_alloc(path->arena, (path->count + 1) * sizeof(*path->shares));
	map_init_in(&numbers, &arena, 1, 1);
	for (size_t i = 0; i < count; i++) {
		const uint64_t key = path_thread_key(threads[i].process, threads[i].tid);
		bool added;
		uint64_t *number = map_add(&numbers, &key, &added);

		if (number)
			*number = i;
	}
	for (size_t i = 0; i < path->count && path->shares; i++) {
		struct path_thread *thread = &path->threads[i];
		const uint64_t key = path_thread_key(thread->process, thread->tid);
		const uint64_t *number = map_find(&numbers, &key);

		if (thread->time_ns)
			add_share(path, thread, number ? &threads[*number].times : &none);
	}
	if (path->share_count)
		qsort(path->shares, path->share_count, sizeof(*path->shares), compare_shares);
	if (arena_status(&arena))
		path->arena->failed = true;
	arena_free(&arena);
}

static const struct critical_path *path_of(const struct results *results)
{
	const struct critical_path *path =
		results->job ? results_state(results, &analysis_critical_path) : NULL;

	return path && path->whole_ns ? path : NULL;
}

const struct path_share *critical_path_threads(const struct results *results, size_t *count,
					       uint64_t *whole_ns, uint64_t *roots)
{
	const struct critical_path *path = path_of(results);

	*count = path ? path->share_count : 0;
	*whole_ns = path ? path->whole_ns : 0;
	*roots = path ? path->root_count : 0;
	return path ? path->shares : NULL;
}

/* What a main thread's branch has of some time, and what it waits for others. */
struct branch_time {
	uint64_t part_ns, alive_ns, waits_ns;
};

static void add_branches(const struct critical_path *path, const uint64_t *process_ns,
			 struct branch_time *branches)
{
	for (size_t i = 0; i < path->process_count; i++)
		if (path->branches[i].root != NO_THREAD)
			branches[path->branches[i].root].part_ns += process_ns[i];
	for (size_t i = 0; i < path->share_count; i++) {
		const struct path_share *share = &path->shares[i];
		struct branch_time *branch;

		if (share->process >= path->process_count ||
		    path->branches[share->process].root == NO_THREAD)
			continue;
		branch = &branches[path->branches[share->process].root];
		branch->alive_ns += share->time_ns;
		branch->waits_ns += share->parts[THREAD_LOCK] + share->parts[THREAD_PIPE];
	}
}

int critical_path_number(struct map *numbers, const struct path_share *shares, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t key = path_thread_key(shares[i].process, shares[i].tid);
		bool added;
		uint64_t *number = map_add(numbers, &key, &added);

		if (!number)
			return -ENOMEM;
		*number = i;
	}
	return 0;
}

const struct path_share *critical_path_share(const struct map *numbers,
					     const struct path_share *shares, uint32_t process,
					     uint32_t tid)
{
	const uint64_t key = path_thread_key(process, tid);
	const uint64_t *number = map_find(numbers, &key);

	return number ? &shares[*number] : NULL;
}

uint64_t critical_path_saved_ns(const struct results *results, const uint64_t *process_ns)
{
	const struct critical_path *path = path_of(results);
	uint64_t all_ns = 0, max_ns = 0, longest_ns = 0, saved_ns = UINT64_MAX;
	struct branch_time *branches;

	if (!path || !path->root_count)
		return 0;
	for (size_t i = 0; i < path->process_count; i++)
		all_ns = number_add(all_ns, process_ns[i]);
	all_ns /= path->root_count;
	branches = path->root_count > 1 ? calloc(path->process_count + 1, sizeof(*branches)) : NULL;
	if (!branches)
		return all_ns;
	add_branches(path, process_ns, branches);
	for (size_t i = 0; i < path->process_count; i++) {
		max_ns = number_max(max_ns, branches[i].part_ns);
		longest_ns = number_max(longest_ns, branches[i].alive_ns);
	}
	for (size_t i = 0; i < path->process_count; i++) {
		const struct branch_time *branch = &branches[i];

		if (branch->alive_ns)
			saved_ns = number_min(saved_ns,
					      branch->part_ns +
						      number_min(max_ns - branch->part_ns,
								 branch->waits_ns + longest_ns -
									 branch->alive_ns));
	}
	free(branches);
	return saved_ns == UINT64_MAX ? all_ns : number_max(all_ns, saved_ns);
}

uint64_t critical_path_io_ns(const struct results *results, enum io_class class)
{
	const struct critical_path *path = path_of(results);

	return path && !results->job->aggregated ? path->io[class].time_ns : UINT64_MAX;
}

uint64_t critical_path_file_ns(const struct results *results, uint32_t file, enum io_class class)
{
	const struct critical_path *path = path_of(results);

	if (!path || results->job->aggregated)
		return UINT64_MAX;
	return file < path->file_room ? path->files[file][class] : 0;
}

double critical_path_io_runnable(const struct results *results)
{
	const struct critical_path *path = path_of(results);
	double io_ns = 0, runnable_ns = 0;

	for (size_t i = 0; path && i < path->share_count; i++) {
		io_ns += path->shares[i].parts[PATH_IO];
		runnable_ns += path->shares[i].io_runnable_ns;
	}
	return io_ns > 0 ? runnable_ns / io_ns : 0;
}

const struct path_stack *critical_path_stacks(const struct results *results, unsigned int set,
					      size_t *count)
{
	const struct critical_path *path = path_of(results);

	*count = path ? path->stacks[set].count : 0;
	return path ? path->stacks[set].all : NULL;
}

bool critical_path_file_locks(const struct results *results, struct path_file_locks *locks)
{
	const struct critical_path *path = path_of(results);

	if (!path || !path->root_count || results->job->aggregated)
		return false;
	locks->time_ns = critical_path_locks_ns(path);
	locks->blocked_ns = path->locks_blocked_ns / path->root_count;
	return true;
}

/* --- table --- */

struct path_row {
	struct thread_key key;
	struct path_share share;
};

#define PART(part, name, title, meaning)                                                           \
	{                                                                                          \
		name, title, UNIT_NS, KIND_THREAD, meaning,                                        \
			TABLE_UINT(struct path_row, share.parts[part]), 0                          \
	}

static const struct table_column columns[] = {
	COLUMN_AS(
		"time_ns", path_row, share.time_ns, "time", NS, THREAD,
		"time on the critical path: what this thread did or waited for, as a main thread "
		"or while one waited for it; all rows add up to the lifetimes of the main threads"),
	PART(THREAD_CPU, "cpu_ns", "on CPU",
	     "part of it on a CPU, outside I/O operations; estimated where waits of less than 1 ms "
	     "matter, from the thread's states"),
	PART(THREAD_RUNNABLE, "runnable_ns", "CPU wait", "waiting for a CPU"),
	PART(PATH_IO, "io_ns", "I/O", "in I/O operations"),
	COLUMN_AS("io_runnable_ns", path_row, share.io_runnable_ns, "CPU wait in I/O", NS, THREAD,
		  "part of io_ns spent waiting for a CPU; estimated from the thread's states"),
	PART(THREAD_MEMORY, "memory_ns", "memory", "blocked for memory"),
	PART(THREAD_LOCK, "lock_ns", "lock",
	     "blocked on a lock that no thread of the run is known to have released"),
	PART(THREAD_PIPE, "pipe_ns", "pipe",
	     "blocked on a pipe, socket or poll that no thread of the run is known to have served"),
	PART(THREAD_CHILD, "child_ns", "child", "blocked until a child ends that is not followed"),
	PART(THREAD_SLEEP, "sleep_ns", "sleep", "asleep"),
	PART(THREAD_DEVICE, "device_ns", "device", "blocked in a device's driver"),
	PART(THREAD_STOPPED, "stopped_ns", "stopped", "stopped"),
	PART(THREAD_OTHER, "other_ns", "other", "blocked elsewhere in the kernel"),
};

static void conclude(const struct results *results, struct table *table)
{
	struct critical_path *path = results_state(results, &analysis_critical_path);
	const struct job *job = results->job;
	size_t max;

	if (threads_absent(table, job))
		return;
	critical_path_io_end(path);
	make_shares(path, results);
	thread_key_add_columns(table);
	table_add_columns(table, TABLE_COLUMNS(columns));
	max = job_rows_max(job, table->column_count);
	for (size_t i = 0; i < path->share_count && i < max; i++) {
		const struct path_share *share = &path->shares[i];

		table_add(table, &(struct path_row) {
					 thread_key_of(job, share->process, share->tid), *share });
	}
	if (path->share_count > max)
		table->cut = path->share_count - max;
}

const struct analysis analysis_critical_path = {
	.name = "critical_path",
	.meaning = "what the main threads did or waited for, followed through the threads that "
		   "they waited for; mode profile does not know those",
	.title = "Critical path",
	.shown = "comm,tid,kind,rank,cpu_ns,runnable_ns,io_ns,io_runnable_ns,sleep_ns,lock_ns,"
		 "pipe_ns,child_ns,memory_ns,device_ns,stopped_ns,other_ns",
	.by = "time_ns",
	.share = "share",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct critical_path),
	.begin = critical_path_begin,
	.consumer = { .parallel = true,
		      .events = critical_path_events,
		      .series = critical_path_series },
	.columns = { [TRACE_WAIT] = CRITICAL_PATH_WAIT_COLUMNS,
		     [TRACE_SAMPLE] = CRITICAL_PATH_SAMPLE_COLUMNS },
	.conclude = conclude,
	.merging = { .single = "host", .sorted = "-time_ns", .many = "threads", .label = "comm" },
};
