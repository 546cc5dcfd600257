/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about what the main threads wait for other than I/O: computation, CPUs, locks, other
 * processes, sleep, memory, devices.
 */
#include <math.h>
#include <string.h>

#include "analysis/finding/finding_made.h"
#include "analysis/phases/levels.h"
#include "analysis/processes/critical_path.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/totals.h"

struct path_evidence {
	struct table_text program, peer;
	const char *kind, *state; /* of struct lines_row */
	uint32_t process;	  /* its number in the job */
	uint64_t pid, tid, time_ns, cpus, starved_cpus, shared_cpus;
	double share, busy, limit, limited_cpus, full_cpus;
};

#define KIND(kind) (1u << (kind))
enum path_kind { KIND_MAIN, KIND_WORKER, KIND_HELPER, KIND_OTHER, KINDS };
static const char *const kinds[KINDS] = { "main", "worker", "helper", "other" };

static const struct table_column evidence_columns[] = {
	FACT(path_evidence, program, "program", NONE, "program of the thread with the most of it"),
	{ "kind", "kind", UNIT_NONE, KIND_FACT, "kind of that thread, as in table threads",
	  TABLE_LITERAL(struct path_evidence, kind), 0 },
	FACT(path_evidence, pid, "pid", NONE, "its process"),
	FACT(path_evidence, tid, "tid", NONE, "its thread ID"),
	COLUMN(path_evidence, time_ns, "time", NS, UNION,
	       "this part of the critical path, of one main thread on average"),
	FACT(path_evidence, share, "share", SHARE, "its share of the critical path"),
	FACT(path_evidence, busy, "busy", NONE, "CPUs that the run kept busy on average"),
	FACT(path_evidence, cpus, "cpus", COUNT, "CPUs of the host"),
	FACT(path_evidence, limit, "limit", NONE,
	     "CPUs that the run can use at once, as in table trace; null: all"),
	FACT(path_evidence, limited_cpus, "limited", NONE,
	     "the same, if the run uses them up; null: it does not, or has no limit"),
	FACT(path_evidence, starved_cpus, "starved", COUNT,
	     "CPUs of the host, if the run itself keeps most of them busy; null: it does not, or "
	     "reached its limit first"),
	FACT(path_evidence, shared_cpus, "shared", COUNT,
	     "CPUs of the host, if neither is so: others keep them busy; otherwise null"),
	FACT(path_evidence, full_cpus, "full", NONE,
	     "CPUs that the run can use, if most of them are busy; otherwise null"),
	FACT(path_evidence, peer, "peer", NONE,
	     "for a wait: program of the thread with the most time on CPUs off the critical path; "
	     "null: none"),
};

THRESHOLD(CPUS_BUSY, 0.75, UNIT_SHARE,
	  "share of the CPUs that it can use that the run keeps busy to compete with itself, at "
	  "least",
	  "a choice: with less, others must have them");

/* Returns the time that all threads, on the path or not, spent on CPUs, waiting for them, and in
 * storage waits. */
static uint64_t active_ns(const struct findings *findings, uint64_t *cpu_ns)
{
	size_t count;
	const struct thread *threads = threads_all(findings->results, &count);
	uint64_t time_ns = 0;

	*cpu_ns = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *states = threads[i].times.states;

		*cpu_ns = clock_add(*cpu_ns, states[THREAD_CPU]);
		time_ns = clock_add(
			time_ns, clock_add(clock_add(states[THREAD_CPU], states[THREAD_RUNNABLE]),
					   states[THREAD_STORAGE]));
	}
	return time_ns;
}

/* Sum of one part of the path over some kinds of threads. */
struct path_sum {
	uint64_t time_ns; /* of one main thread on average */
	uint64_t idle_ns; /* the same minus activity of other threads, which it may wait for */
	bool is_most;	  /* other kinds have less of it */
	struct path_evidence evidence;
};

static double usable_cpus(const struct path_evidence *evidence)
{
	return fmin(evidence->limit, evidence->cpus);
}

/* Decides who keeps the CPUs busy: the run, up to its limit or on all of them, or others. */
static void judge_cpus(const struct findings *findings, uint64_t part_ns,
		       struct path_evidence *evidence)
{
	const struct job *job = findings->results->job;
	const double throttled_ns = 1e3 * job_count_notes(job, TRACE_NOTE_CPU_THROTTLED);
	const double busy_ones = evidence->busy / threshold(THRESHOLD_CPUS_BUSY);

	evidence->cpus = finding_trace_number(findings, "cpus");
	evidence->limit = job_cpu_limit(job);
	evidence->limited_cpus = evidence->full_cpus = NAN;
	evidence->starved_cpus = evidence->shared_cpus = TABLE_NO_UINT;
	if (isfinite(evidence->limit) &&
	    (busy_ones >= evidence->limit || 2 * throttled_ns >= part_ns))
		evidence->limited_cpus = evidence->limit;
	else if (busy_ones >= evidence->cpus)
		evidence->starved_cpus = evidence->cpus;
	else
		evidence->shared_cpus = evidence->cpus;
	if (busy_ones >= usable_cpus(evidence) || threads_free_cpus(findings->results) < 0.5)
		evidence->full_cpus = usable_cpus(evidence);
}

#define PATH_STARVED THREAD_STATE_COUNT /* waiting for a CPU, also in I/O */

/* Returns false if it is unknown or nothing. */
static bool sum_up(const struct findings *findings, unsigned int part, unsigned int of_kinds,
		   struct path_sum *sum)
{
	const struct job *job = findings->results->job;
	uint64_t whole_ns, roots, part_ns = 0, path_ns = 0, most_ns = 0, rest_ns = 0, cpu_ns,
				  other_ns;
	uint64_t kinds_ns[KINDS] = { 0 };
	size_t count;
	const struct path_share *shares =
		critical_path_threads(findings->results, &count, &whole_ns, &roots);
	const struct path_share *worst = NULL;

	for (size_t i = 0; i < count; i++) {
		const uint64_t one_ns = part == PATH_STARVED
						? clock_add(shares[i].parts[THREAD_RUNNABLE],
							    shares[i].io_runnable_ns)
						: shares[i].parts[part];
		const char *kind = thread_kind(job, shares[i].process, shares[i].tid);

		path_ns = clock_add(path_ns, clock_add(clock_add(shares[i].parts[THREAD_CPU],
								 shares[i].parts[THREAD_RUNNABLE]),
						       shares[i].parts[PATH_IO]));
		for (unsigned int j = 0; j < KINDS; j++) {
			if (strcmp(kind, kinds[j]) != 0)
				continue;
			kinds_ns[j] = clock_add(kinds_ns[j], one_ns);
			if (of_kinds & KIND(j) && one_ns > most_ns) {
				most_ns = one_ns;
				worst = &shares[i];
			}
		}
	}
	for (unsigned int j = 0; j < KINDS; j++)
		if (of_kinds & KIND(j))
			part_ns = clock_add(part_ns, kinds_ns[j]);
		else
			rest_ns = finding_most(rest_ns, kinds_ns[j]);
	if (!worst || !part_ns || !roots)
		return false;
	other_ns = clock_subtract(active_ns(findings, &cpu_ns), path_ns);
	*sum = (struct path_sum) {
		.time_ns = finding_least(part_ns / roots, findings->duration_ns),
		.idle_ns = clock_subtract(part_ns, other_ns) / roots,
		.is_most = part_ns > rest_ns,
		.evidence = {
			.program = trace_text(job_comm(job, worst->process)),
			.kind = thread_kind(job, worst->process, worst->tid),
			.process = worst->process,
			.pid = job->processes.processes[worst->process].pid,
			.tid = worst->tid,
			.share = finding_share(part_ns, whole_ns),
			.busy = finding_share(cpu_ns, findings->duration_ns),
		},
	};
	judge_cpus(findings, sum->time_ns, &sum->evidence);
	return true;
}

/* --- on a CPU --- */

/* Returns the CPU time that other findings promise to save. */
static uint64_t claimed_ns(const struct findings *findings)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->all[i].rule->drags &&
		    findings->all[i].verdict.cost_ns != TABLE_NO_UINT)
			time_ns = clock_add(time_ns, findings->all[i].verdict.cost_ns);
	return time_ns;
}

THRESHOLD(PATH_SHARE, 0.1, UNIT_SHARE, "share of the run that it takes, at least",
	  "a choice: the threshold of severity high");

/* Returns the part of a time in which others compute that more of them at once could save: only on
 * free CPUs. */
static uint64_t on_free_cpus_ns(const struct findings *findings,
				const struct path_evidence *evidence)
{
	return finding_limited(evidence->time_ns *
			       (1 - fmin(evidence->busy / usable_cpus(evidence), 1)) *
			       threads_free_cpus(findings->results));
}

/* More workers help only on free CPUs. A helper's work also costs the time in which it waits for a
 * CPU. */
static uint64_t cpu_cost_ns(const struct findings *findings, enum path_kind kind,
			    const struct path_evidence *evidence)
{
	struct path_sum runnable;

	if (kind == KIND_WORKER && evidence->cpus)
		return on_free_cpus_ns(findings, evidence);
	if (kind == KIND_HELPER && sum_up(findings, THREAD_RUNNABLE, KIND(KIND_HELPER), &runnable))
		return finding_least(clock_add(evidence->time_ns, runnable.time_ns),
				     findings->duration_ns);
	return evidence->time_ns;
}

static int add_cpu(struct findings *findings, const struct finding_rule *rule, enum path_kind kind)
{
	struct level_view compute = { .time_ns = 0 };
	struct path_sum sum;

	if (!sum_up(findings, THREAD_CPU, KIND(kind), &sum) || (kind == KIND_MAIN && !sum.is_most))
		return 0;
	if (kind == KIND_MAIN)
		levels_view(findings->results, ACTIVITY_COMPUTE, &compute);
	sum.evidence.time_ns =
		clock_subtract(sum.time_ns, clock_add(compute.time_ns, claimed_ns(findings)));
	if (!finding_is_of_run(findings, sum.evidence.time_ns, THRESHOLD_PATH_SHARE))
		return 0;
	sum.evidence.share = finding_share(sum.evidence.time_ns, findings->duration_ns);
	return finding_add(findings, rule, &sum.evidence,
			   cpu_cost_ns(findings, kind, &sum.evidence), TABLE_NO_UINT);
}

static int find_main_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, KIND_MAIN);
}

static int find_worker_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, KIND_WORKER);
}

static int find_helper_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, KIND_HELPER);
}

static bool is_of_kind(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	const struct path_evidence *path = evidence;

	return path->kind == thread_kind(job, stack->process, stack->tid) &&
	       process_runs_same(job, path->process, stack->process);
}

static bool is_any(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	(void)job, (void)evidence, (void)stack;
	return true;
}

#define PATH_RULE                                                                                  \
	.needs = JOB_THREAD, .sums = FINDING_OF_SPANS, .confidence = FINDING_LIKELY,               \
	FINDING_EVIDENCE(struct path_evidence, evidence_columns),                                  \
	.more = "faultline report --table critical_path TRACE", .pictures = "path"
#define PATH_MEANING                                                                               \
	"The critical path is what the main threads do and, while one waits for another thread "   \
	"of the run, what that thread does. "
#define CPU_RULE                                                                                   \
	.lines_path = is_of_kind, PATH_RULE,                                                       \
	.says = "{time_ns} ({share} of the run) on a CPU outside I/O, in [{program} ]thread "      \
		"{tid} most of all; the run kept {busy} of [the {limit:CPU|CPUs} that it may "     \
		"use||{cpus} CPUs] busy"

const struct finding_rule finding_cpu_bound = {
	.id = "cpu-bound",
	.order = 670,
	.breadth = FINDING_REST,
	.severity = FINDING_NOTE,
	.find = find_main_cpu,
	.lines_whole = "the CPU time",
	.thresholds = { &THRESHOLD_PATH_SHARE },
	.title = "Run is bound by the CPU, in {program}'s main thread",
	.advice = "Speed up or parallelize the code at these lines, or do its work once and store "
		  "the result: faster I/O does not save this time",
	CPU_RULE,
	.rule = PATH_MEANING
	"Most of that is computation in a main thread. No I/O causes it, so "
	"this is a note: only you know whether the computation is what the run is "
	"for. CPU time in spans of category compute is left out, and so is what other "
	"findings promise to save.",
};

const struct finding_rule finding_worker_bound = {
	.id = "worker-bound",
	.order = 680,
	.breadth = FINDING_PATTERN,
	.find = find_worker_cpu,
	.lines_whole = "the workers' CPU time",
	.reported_by = { "lock-wait", "loader-preprocessing", "worker-slow", "workers-renewed" },
	.thresholds = { &THRESHOLD_PATH_SHARE, &THRESHOLD_CPUS_BUSY },
	.title = "Main thread waits for [{program} ]workers, which are bound by the CPU",
	.advice = "[Request more CPUs for more workers: all {full_cpus:CPU is|CPUs are} busy; or "
		  "s||Add "
		  "workers, or s]peed up the code at these lines, or prepare the data once and "
		  "store the result",
	CPU_RULE,
	.rule = PATH_MEANING
	"Much of that is computation in worker processes. The cost is the part "
	"that more workers could save on the CPUs that the run does not keep busy: with a "
	"half of them free, half of that time; less if threads wait for CPUs, which others keep "
	"busy then.",
};

const struct finding_rule finding_helper_bound = {
	.id = "helper-bound",
	.order = 690,
	.breadth = FINDING_PATTERN,
	.find = find_helper_cpu,
	.lines_whole = "the helper threads' CPU time",
	.thresholds = { &THRESHOLD_PATH_SHARE },
	.title = "Main thread waits for helper threads of {program}: for a lock that they hold, or "
		 "for their results",
	.advice = "Do less at these lines while holding a lock (in Python: the GIL), do it in "
		  "processes, or hand over data earlier",
	CPU_RULE,
	.rule = PATH_MEANING
	"Much of that is computation in other threads of the same process, "
	"which then woke the main thread: they released a lock (or Python's global "
	"interpreter lock), or put something in a queue. The cost includes the time in which "
	"these threads waited for a CPU.",
};

/* --- fresh memory --- */

struct fresh_memory {
	uint64_t faults, each_ns, time_ns;
	double share;
};

static const struct table_column memory_evidence[] = {
	FACT(fresh_memory, faults, "faults", COUNT, "page faults on anonymous memory"),
	FACT(fresh_memory, each_ns, "each", NS, "average time of such a fault"),
	COLUMN(fresh_memory, time_ns, "time", NS, THREAD,
	       "time of these faults, summed over threads"),
	FACT(fresh_memory, share, "share", SHARE,
	     "part of the time that threads were on a CPU or waited for one"),
};

THRESHOLD(FRESH_SHARE, 0.15, UNIT_SHARE, "share of the run that it takes, at least",
	  "measured: a program that unpacks data into new buffers spends a tenth of its time so");

THRESHOLD(FRESH_NS, 50000000, UNIT_NS, "time of these faults, summed over threads, at least",
	  "measured: a Python program's start takes up to 10 ms of it");

/* The critical path has as much of it as all threads' time on CPUs. */
static int find_fresh_memory(struct findings *findings, const struct finding_rule *rule)
{
	const struct trace_operation_total *faults =
		totals_memory(findings->results, TOTALS_ANONYMOUS);
	struct fresh_memory fresh = {
		.faults = faults->count,
		.each_ns = faults->count ? faults->thread_time_ns / faults->count : 0,
		.time_ns = faults->thread_time_ns,
		.share = fmin(finding_share(faults->thread_time_ns,
					    threads_computing_ns(findings->results)),
			      1),
	};
	struct path_sum cpu, runnable = { .time_ns = 0 };
	uint64_t cost_ns;

	if (fresh.time_ns < threshold(THRESHOLD_FRESH_NS) ||
	    !sum_up(findings, THREAD_CPU, KIND(KINDS) - 1, &cpu))
		return 0;
	sum_up(findings, THREAD_RUNNABLE, KIND(KINDS) - 1, &runnable);
	cost_ns = clock_add(cpu.time_ns, runnable.time_ns) * fresh.share;
	if (!finding_is_of_run(findings, cost_ns, THRESHOLD_FRESH_SHARE))
		return 0;
	return finding_add(findings, rule, &fresh, cost_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_fresh_memory = {
	.id = "fresh-memory",
	.order = 665,
	.breadth = FINDING_PATTERN,
	.needs = JOB_THREAD | JOB_FAULT,
	.sums = FINDING_OF_SPANS,
	.drags = true,
	.find = find_fresh_memory,
	.confidence = FINDING_LIKELY,
	.lines_path = is_any,
	.lines_whole = "the CPU time",
	.reported_by = { "swapped", "pickled-data" },
	FINDING_EVIDENCE(struct fresh_memory, memory_evidence),
	.thresholds = { &THRESHOLD_FRESH_SHARE, &THRESHOLD_FRESH_NS },
	.title = "Run gets fresh memory from the kernel again and again",
	.says = "{faults} page faults on anonymous memory took {each_ns} each, {share} of the time "
		"that threads computed",
	.advice =
		"Keep buffers and write into them (out=, a pool) instead of allocating for each "
		"batch; keep freed memory in the process (MALLOC_TRIM_THRESHOLD_ and "
		"MALLOC_MMAP_THRESHOLD_, jemalloc); or use huge pages. After a fork, do not write "
		"to what was inherited (gc.freeze before it)",
	.more = "faultline report --table operations TRACE",
	.pictures = "path",
	.rule = "Memory that a program allocates comes page by page, when it is first touched: the "
		"kernel takes the fault, finds a page and clears it. Large arrays go back to the "
		"kernel when they are freed, so the next one pays again; and the first write to a "
		"page shared with a parent copies it. The cost is the part of the critical path's "
		"time on CPUs that all threads spend in such faults; returning the memory costs "
		"more.",
};

/* --- waiting for something else --- */

THRESHOLD(WAIT_SHARE, 0.05, UNIT_SHARE, "share of the run that it takes, at least",
	  "a choice: half the threshold of severity high");
THRESHOLD(WAIT_IDLE, 0.5, UNIT_SHARE,
	  "part of the wait in which no other thread of the run works, at least; below it, "
	  "sleeps, peer-waits and lock-waits count only part of the wait",
	  "a choice: most of it; otherwise it may wait for them by polling");

/* Returns the program of the thread with the most time on CPUs off the path, if that is at least
 * half of the wait. Only a thread of the same process can hold a lock. */
static struct table_text find_peer(const struct findings *findings, enum thread_state state,
				   const struct path_sum *sum)
{
	const struct job *job = findings->results->job;
	size_t count, path_count;
	uint64_t whole_ns, roots, most_ns = 0;
	const struct thread *threads = threads_all(findings->results, &count);
	const struct path_share *shares =
		critical_path_threads(findings->results, &path_count, &whole_ns, &roots);
	struct table_text peer = { NULL, 0 };
	struct arena arena = { .bytes = 0 };
	struct map on_path; /* process and tid -> ns on a CPU */

	map_init_in(&on_path, &arena, 1, 1);
	for (size_t i = 0; i < path_count; i++) {
		const uint64_t key = path_thread_key(shares[i].process, shares[i].tid);
		bool added;
		uint64_t *cpu_ns = map_add(&on_path, &key, &added);

		if (cpu_ns)
			*cpu_ns = shares[i].parts[THREAD_CPU];
	}
	for (size_t i = 0; i < count; i++) {
		const uint64_t key = path_thread_key(threads[i].process, threads[i].tid);
		const uint64_t *path_ns = map_find(&on_path, &key);
		const uint64_t cpu_ns =
			clock_subtract(threads[i].times.states[THREAD_CPU], path_ns ? *path_ns : 0);

		if (cpu_ns <= most_ns ||
		    (state == THREAD_LOCK && (threads[i].process != sum->evidence.process ||
					      threads[i].tid == sum->evidence.tid)))
			continue;
		most_ns = cpu_ns;
		peer = trace_text(job_comm(job, threads[i].process));
	}
	arena_free(&arena);
	return most_ns >= sum->time_ns / 2 ? peer : (struct table_text) { NULL, 0 };
}

/* Returns the part of a wait for others that more of them at once could save: all of what they wait
 * for storage. */
static uint64_t of_others_ns(const struct findings *findings, const struct path_evidence *evidence)
{
	const uint64_t computing_ns = on_free_cpus_ns(findings, evidence);
	uint64_t cpu_ns;
	const double computing = finding_share(threads_computing_ns(findings->results),
					       active_ns(findings, &cpu_ns));

	return finding_limited(computing_ns + clock_subtract(evidence->time_ns, computing_ns) *
						      fmax(1 - computing, 0));
}

/* Returns what a wait costs in most of which others work, or 0; names them. Of a sleep it is the
 * part in which they do not: it may be a way to wait for them. For pipes and locks, they are what
 * it waits for, too briefly each time for the path to follow. */
static uint64_t beside_others_ns(const struct findings *findings, enum thread_state state,
				 struct path_sum *sum)
{
	if (findings->aggregated)
		return 0;
	if (state == THREAD_SLEEP)
		return finding_least(sum->idle_ns, sum->time_ns);
	if ((state != THREAD_PIPE && state != THREAD_LOCK) || !sum->evidence.cpus)
		return 0;
	sum->evidence.peer = find_peer(findings, state, sum);
	return of_others_ns(findings, &sum->evidence);
}

static int find_wait(struct findings *findings, const struct finding_rule *rule)
{
	struct path_file_locks locks;
	struct path_sum sum;
	uint64_t cost_ns;

	if (!sum_up(findings, rule->state == THREAD_RUNNABLE ? PATH_STARVED : rule->state,
		    KIND(KINDS) - 1, &sum))
		return 0;
	cost_ns = sum.time_ns;
	/* See lock-wait. */
	if (rule->state == THREAD_LOCK && critical_path_file_locks(findings->results, &locks))
		cost_ns = clock_subtract(cost_ns, locks.blocked_ns);
	sum.evidence.share *= finding_share(cost_ns, sum.time_ns);
	sum.evidence.time_ns = cost_ns;
	/* Waiting for a CPU implies that other threads run. */
	if (rule->state != THREAD_RUNNABLE &&
	    sum.idle_ns < threshold(THRESHOLD_WAIT_IDLE) * cost_ns)
		cost_ns = beside_others_ns(findings, rule->state, &sum);
	if (!finding_is_of_run(findings, cost_ns, THRESHOLD_WAIT_SHARE))
		return 0;
	sum.evidence.state = sample_state_names[rule->state];
	return finding_add(findings, rule, &sum.evidence, cost_ns, TABLE_NO_UINT);
}

static bool is_wait(const void *evidence, const struct lines_row *row)
{
	const struct path_evidence *path = evidence;

	return row->state == path->state && row->kind == path->kind;
}

#define WAIT_RULE .thresholds = { &THRESHOLD_WAIT_SHARE, &THRESHOLD_WAIT_IDLE }, PATH_RULE
#define WAIT_SAYS                                                                                  \
	"{time_ns} ({share} of the critical path), in [{program} ]thread {tid} most of all"
#define BRIEF_MEANING                                                                              \
	" Either no other thread of the run did much in that time, or each wait was too short to " \
	"be recorded with the thread that ended it: then the cost excludes computing for which "   \
	"no CPU was free."
#define IDLE_MEANING " While it waited, no other thread of the run did much."

const struct finding_rule finding_cpu_starved = {
	.id = "cpu-starved",
	.order = 700,
	.breadth = FINDING_PATTERN,
	.find = find_wait,
	.state = THREAD_RUNNABLE,
	.title = "Run waits for CPUs",
	.says = WAIT_SAYS "; the run kept {busy} of [the {limit:CPU|CPUs} that it may use||{cpus} "
			  "CPUs] busy",
	.advice =
		"[Raise its limit of {limited_cpus:CPU|CPUs} (cpu.max of its cgroup, CPU affinity, "
		"--cpus-per-task), or use fewer threads (OMP_NUM_THREADS, torch.set_num_threads) "
		"or workers][Use fewer threads (OMP_NUM_THREADS, torch.set_num_threads) or "
		"workers, or request more than {starved_cpus} CPUs][Find what else runs on the "
		"{shared_cpus} CPUs, or request CPUs of its own]",
	.thresholds = { &THRESHOLD_WAIT_SHARE, &THRESHOLD_CPUS_BUSY },
	PATH_RULE,
	.rule = PATH_MEANING
	"Part of that is time in which a thread could run, but no CPU was "
	"free, or its cgroup's limit was used up: it was if the run "
	"kept most of the CPUs in this limit busy, or the kernel counted half of "
	"the time as throttled.",
};

const struct finding_rule finding_sleeps = {
	.id = "sleeps",
	.order = 710,
	.breadth = FINDING_CAUSE,
	.find = find_wait,
	.state = THREAD_SLEEP,
	.reported_by = { "lock-wait" },
	.lines_row = is_wait,
	.lines_path = is_any,
	.lines_whole = "its sleep",
	.title = "Run sleeps, in {program}",
	.says = WAIT_SAYS,
	.advice = "Wait for the event itself (a condition, select, a queue) rather than for a "
		  "time, or sleep less",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is sleep. If other threads of the run were on a CPU, or waited for one or "
	"for storage, "
	"for most of that time, the sleep may be polling for them, and only the rest counts.",
};

const struct finding_rule finding_peer_waits = {
	.id = "peer-waits",
	.order = 720,
	.breadth = FINDING_PATTERN,
	.find = find_wait,
	.state = THREAD_PIPE,
	.reported_by = { "lock-wait", "rank-behind", "pickled-data", "worker-bound",
			 "helper-bound" },
	.lines_row = is_wait,
	.lines_path = is_any,
	.lines_whole = "its waits on pipes and sockets",
	.title = "[Run waits for pipes or sockets, in {program}, while {peer} works||Run waits for "
		 "the network or for other processes, in {program}]",
	.says = WAIT_SAYS ", blocked on sockets or pipes",
	.advice = "[Start {peer} earlier, run several at once, make it faster, or store its result "
		  "and reuse it||Request earlier or several at once (threads, "
		  "prefetch), keep connections open, or keep a local copy]",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is blocked on a socket or pipe, and what ended it was "
	"no thread of the run: a process that is not traced, or another host." BRIEF_MEANING,
};

const struct finding_rule finding_lock_waits = {
	.id = "lock-waits",
	.order = 730,
	.breadth = FINDING_PATTERN,
	.find = find_wait,
	.state = THREAD_LOCK,
	.lines_row = is_wait,
	.lines_path = is_any,
	.lines_whole = "its waits for locks",
	.reported_by = { "lock-wait", "helper-bound", "pickled-data" },
	.title = "Run waits for locks, in {program}[, while other threads of {peer} work]",
	.says = WAIT_SAYS ", blocked on a lock",
	.advice = "Find who holds the lock at these lines (--table critical_path), and hold it for "
		  "less time[, not during the I/O or computing of {peer}]",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is blocked on a lock that no thread of the run is known "
	"to have released: its holder is not traced, or waits itself. Locks of files are left "
	"out: see lock-wait." BRIEF_MEANING,
};

const struct finding_rule finding_memory_waits = {
	.id = "memory-waits",
	.order = 740,
	.breadth = FINDING_CAUSE,
	.find = find_wait,
	.state = THREAD_MEMORY,
	.reported_by = { "swapped" },
	.title = "Run waits for memory, in {program}",
	.says = WAIT_SAYS ", blocked in reclaim, swap-in or a memory limit",
	.advice = "Raise the memory limit of its cgroup, or use less: fewer workers, smaller "
		  "batches, mapped files instead of copies",
	WAIT_RULE,
	.rule = PATH_MEANING "Part of that is blocked for memory." IDLE_MEANING,
};

const struct finding_rule finding_device_waits = {
	.id = "device-waits",
	.order = 750,
	.breadth = FINDING_REST,
	.severity = FINDING_NOTE,
	.find = find_wait,
	.state = THREAD_DEVICE,
	.lines_row = is_wait,
	.lines_path = is_any,
	.lines_whole = "its waits",
	.title = "Run waits for a device such as a GPU, in {program}",
	.says = WAIT_SAYS ", blocked in a device's driver",
	.advice = "Profile what the device does: faster I/O does not save this time",
	WAIT_RULE,
	.rule = PATH_MEANING "Part of that is blocked in a driver (ioctl), as GPU libraries do "
			     "until a kernel ends." IDLE_MEANING,
};

const struct finding_rule finding_stopped = {
	.id = "stopped",
	.order = 760,
	.breadth = FINDING_CAUSE,
	.find = find_wait,
	.state = THREAD_STOPPED,
	.title = "Run was stopped, in {program}",
	.says = WAIT_SAYS,
	.advice = "Find who sent SIGSTOP or froze its cgroup (a scheduler that suspends jobs, a "
		  "debugger, a container pause)",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that it was stopped by a signal, a debugger or the freezer." IDLE_MEANING,
};
