/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding on workers that are forked for each epoch or task. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/path.h"
#include "analysis/finding/finding.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/processes/starts.h"
#include "analysis/shared/sites.h"
#include "analysis/shared/trace_text.h"
#include "collections/map.h"
#include "base/number.h"

THRESHOLD_MIN(FORKED_AGAIN, STARTS_AGAIN, UNIT_COUNT, "times that a process forks workers",
	      "a choice: two may be coincidence");

struct renewed {
	uint64_t parent_pid, workers, times, time_ns;
	struct table_text program;
};

static const struct table_column renewed_evidence[] = {
	FACT(renewed, program, "program", NONE, "name of the workers"),
	FACT(renewed, parent_pid, "forked by", NONE, "PID of the process with the most of them"),
	FACT(renewed, workers, "workers", COUNT, "workers that it forked"),
	FACT(renewed, times, "times", COUNT,
	     "how many times it forked workers, each time after earlier ones had ended"),
	COLUMN(renewed, time_ns, "time", NS, UNION,
	       "critical-path time until replacement workers were ready, averaged over main "
	       "threads: the extra length of the first wait for each, and forks, imports and "
	       "exits"),
};

/* The workers of one process. */
struct forks {
	uint64_t ended_ns; /* the first end among those that it forked last */
	uint64_t workers, times, time_ns;
	/* For workers that were waited for only once: time running or waiting for a CPU, and the
	 * part spent on their task. Sums over all of them, because each has few samples. */
	double once_ns, work_ns;
	double joined_ns, late_ns; /* for others: time until they ended; the part of late work */
	bool has_stacks;	   /* any of them */
};

/* The time of a process's threads on the critical path. */
struct worker_path {
	uint64_t ready_ns;
	/* For threads that were waited for only once: time running or waiting for a CPU. */
	double once_ns, work_ns;   /* work_ns: the part spent on the worker's task */
	double joined_ns, late_ns; /* for others: while others waited for their end */
	bool has_stacks;
};

static double with_waits(const struct path_share *share, uint64_t time_ns)
{
	return time_ns + (double)share->parts[THREAD_RUNNABLE] *
				 finding_share(time_ns, share->parts[THREAD_CPU]);
}

static void add_thread(struct worker_path *path, const struct path_share *share, uint32_t main_tid)
{
	if (share->tid == main_tid)
		path->ready_ns = share->ready_ns;
	if (share->is_once)
		path->once_ns += with_waits(share, share->parts[THREAD_CPU]);
	else
		path->joined_ns += share->joined_ns;
}

static void add_worker(struct forks *forks, const struct process *process,
		       const struct worker_path *path)
{
	const uint64_t end_ns = process->ended ? process->end_ns : UINT64_MAX;

	if (!forks->times || process->start_ns >= forks->ended_ns) {
		forks->times++;
		forks->ended_ns = end_ns;
	}
	forks->ended_ns = number_min(forks->ended_ns, end_ns);
	forks->workers++;
	if (forks->times <= 1)
		return;
	forks->time_ns = number_add(forks->time_ns, path->ready_ns);
	forks->once_ns += path->once_ns;
	forks->work_ns += path->work_ns;
	forks->joined_ns += path->joined_ns;
	forks->late_ns += path->late_ns;
	forks->has_stacks |= path->has_stacks;
}

/* A shell that has forked may execute another program, whose workers those are not. */
static uint64_t program_start_ns(const struct process_table *table, uint32_t number)
{
	const uint32_t earlier = table->processes[number].earlier;

	return earlier ? table->programs[earlier - 1].until_ns : 0;
}

/* Fills `forks`, by parent. `paths`: by process. */
static void add_workers(const struct job *job, const struct worker_path *paths, struct forks *forks)
{
	const struct process_table *table = &job->processes;

	for (size_t i = 1; i < table->count; i++) {
		const struct process *process = &table->processes[i];

		if (!process->executed && !process->guessed && process->parent < i &&
		    process->start_ns >= program_start_ns(table, process->parent) &&
		    !strcmp(process_kind(job, i), "worker"))
			add_worker(&forks[process->parent], process, &paths[i]);
	}
}

/* Whether Python's multiprocessing forks there. */
static bool is_in_fork(const struct job *job, const struct path_stack *sampled)
{
	uint64_t stack = sampled->stack;
	struct stack_frame frame;

	return stack_table_next(&job->stacks, sampled->trace, &stack, &frame) &&
	       path_ends(frame.source.bytes, frame.source.length, "/multiprocessing/popen_fork.py");
}

static bool is_in_multiprocessing(const struct stack_frame *frame)
{
	static const char *const sources[] = { "/multiprocessing/process.py",
					       "/multiprocessing/popen_fork.py",
					       "/multiprocessing/util.py" };

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (path_ends(frame->source.bytes, frame->source.length, sources[i]))
			return true;
	return false;
}

/* Whether it is the function in which a process of Python's multiprocessing does its work, which
 * programs may replace. */
static bool is_run(struct trace_string function)
{
	return path_ends(function.bytes, function.length, ".run") ||
	       (function.length == 3 && !memcmp(function.bytes, "run", 3));
}

/* Whether a worker's stack is in what it does before and after its work: imports, Python's
 * multiprocessing and what that calls, and exits, in which its main thread has left all code. */
static bool is_around_work(const struct job *job, const struct path_stack *sampled)
{
	static const char importing[] = "<frozen importlib";
	uint64_t stack = sampled->stack;
	struct stack_frame frame;
	bool works = false;

	if (!stack)
		return sampled->tid == job->processes.processes[sampled->process].pid;
	for (int depth = 0; depth < STACK_FRAMES_MAX &&
			    stack_table_next(&job->stacks, sampled->trace, &stack, &frame);
	     depth++) {
		if (path_begins(frame.source.bytes, frame.source.length, importing))
			return true;
		works = works || is_run(frame.function) ||
			frame_owner(frame.source, frame.line) == OWNER_APPLICATION;
		if (!works && is_in_multiprocessing(&frame))
			return true;
	}
	return false;
}

/* Threads on the path. */
struct path_threads {
	const struct path_share *shares;
	size_t count;
	struct map numbers; /* see critical_path_number */
};

static const struct path_share *share_of(const struct path_threads *threads,
					 const struct path_stack *stack)
{
	return critical_path_share(&threads->numbers, threads->shares, stack->process, stack->tid);
}

/* Adds work of threads that were waited for once, or of the others until they ended. */
static void add_work(const struct results *results, const struct path_threads *threads,
		     struct worker_path *paths, bool once)
{
	size_t count;
	const struct path_stack *stacks =
		critical_path_stacks(results, once ? THREAD_CPU : PATH_JOINED, &count);

	for (; count; count--, stacks++) {
		struct worker_path *path = &paths[stacks->process];
		const struct path_share *share = share_of(threads, stacks);

		path->has_stacks |= stacks->stack != 0;
		if (!share || share->is_once != once)
			continue;
		if (!is_around_work(results->job, stacks))
			*(once ? &path->work_ns : &path->late_ns) +=
				with_waits(share, stacks->time_ns);
	}
}

/* Fills `paths`, by process. */
static void add_threads(const struct results *results, const struct path_threads *threads,
			struct worker_path *paths)
{
	const struct process *processes = results->job->processes.processes;

	for (size_t i = 0; i < threads->count; i++) {
		const struct path_share *share = &threads->shares[i];

		add_thread(&paths[share->process], share, processes[share->process].pid);
	}
	add_work(results, threads, paths, true);
	add_work(results, threads, paths, false);
}

/* Adds the CPU time on the path in forks, with waits for CPUs: a fork copies the page tables of all
 * memory. The samples do not say which fork, so each has as much. */
static void add_forks(const struct results *results, const struct path_threads *threads,
		      struct forks *forks)
{
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);

	for (; count; count--, stacks++) {
		struct forks *of = &forks[stacks->process];
		const struct path_share *share;

		if (of->times <= 1 || !is_in_fork(results->job, stacks))
			continue;
		share = share_of(threads, stacks);
		if (share)
			of->time_ns = number_add(
				of->time_ns, finding_limited(with_waits(share, stacks->time_ns) *
							     (of->times - 1) / of->times));
	}
}

static int add_renewed(struct findings *findings, const struct finding_rule *rule,
		       struct forks *forks, uint64_t roots)
{
	const struct job *job = findings->results->job;
	const size_t count = job->processes.count;
	uint64_t time_ns = 0;
	size_t worst = 0;

	for (size_t i = 1; i < count; i++) {
		if (forks[i].times < threshold(THRESHOLD_FORKED_AGAIN))
			continue;
		if (forks[i].has_stacks)
			forks[i].time_ns = number_add(
				forks[i].time_ns,
				finding_limited(fmax(forks[i].once_ns - forks[i].work_ns, 0) +
						fmax(forks[i].joined_ns - forks[i].late_ns, 0)));
		time_ns = number_add(time_ns, forks[i].time_ns);
		if (!worst || forks[i].time_ns > forks[worst].time_ns)
			worst = i;
	}
	time_ns /= roots;
	if (time_ns < threshold(THRESHOLD_LOADED_NS) ||
	    !finding_is_of_run(findings, time_ns, THRESHOLD_PART_OF_RUN))
		return 0;
	return finding_add(findings, rule,
			   &(struct renewed) {
				   .program = trace_text(job_comm(job, worst)),
				   .parent_pid = job->processes.processes[worst].pid,
				   .workers = forks[worst].workers,
				   .times = forks[worst].times,
				   .time_ns = time_ns,
			   },
			   time_ns, TABLE_NO_UINT);
}

static int find_renewed(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	uint64_t whole_ns, roots;
	struct path_threads threads = { .count = 0 };
	struct worker_path *paths;
	struct forks *forks;
	int status;

	threads.shares =
		critical_path_threads(findings->results, &threads.count, &whole_ns, &roots);
	if (!threads.count || !roots)
		return 0;
	map_init(&threads.numbers, 1, 1);
	forks = calloc(job->processes.count, sizeof(*forks));
	paths = calloc(job->processes.count, sizeof(*paths));
	status = forks && paths
			 ? critical_path_number(&threads.numbers, threads.shares, threads.count)
			 : -ENOMEM;
	if (!status) {
		add_threads(findings->results, &threads, paths);
		add_workers(job, paths, forks);
		add_forks(findings->results, &threads, forks);
		status = add_renewed(findings, rule, forks, roots);
	}
	map_free(&threads.numbers);
	free(forks);
	free(paths);
	return status;
}

static bool is_worker(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	return evidence && !strcmp(thread_kind(job, stack->process, stack->tid), "worker");
}

const struct finding_rule finding_workers_renewed = {
	.id = "workers-renewed",
	.order = 204,
	.causes_work = true,
	.needs = JOB_THREAD | JOB_EVENTS,
	.find = find_renewed,
	.confidence = FINDING_LIKELY,
	.lines_path = is_worker,
	.lines_whole = "the workers' CPU time",
	FINDING_EVIDENCE(struct renewed, renewed_evidence),
	.thresholds = { &THRESHOLD_FORKED_AGAIN, &THRESHOLD_LOADED_NS, &THRESHOLD_PART_OF_RUN },
	.title = "{program} forks new workers {times} times and waits until they are ready",
	.says = "process {parent_pid} forked {workers} workers; forking and ending them, and waits "
		"for the first results of those that replaced earlier ones, took main threads "
		"{time_ns}",
	.advice = "Keep workers between epochs (persistent_workers=True for PyTorch), or load what "
		  "each of them needs before forking them",
	.more = "faultline report --table critical_path TRACE",
	.pictures = "path",
	.rule = "A worker that was just forked does work of its own before its first result: it "
		"loads an index, opens files, copies pages that it changes. If workers are forked "
		"for each epoch, the main thread waits for that each time. The cost is how much "
		"longer the first wait for each worker was than the later ones (of a worker that "
		"was waited for only once, the CPU time in imports and outside of its code), the "
		"time of the forks, which copy the page tables of all memory, and the waits for "
		"workers that end, which free theirs. The first workers are left out, because "
		"they are needed.",
};
