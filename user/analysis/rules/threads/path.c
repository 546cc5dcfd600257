/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about what the main threads wait for other than I/O: computation and fresh memory. */
#include <math.h>

#include "analysis/files/file_use.h"
#include "analysis/phases/levels.h"
#include "analysis/rules/threads/path.h"
#include "analysis/totals/totals.h"
#include "collections/interval.h"
#include "base/number.h"

/* --- on a CPU --- */

/* Returns the CPU work that a finding's change saves. */
static uint64_t cpu_work_ns(const struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;

	if (!rule->causes_work || finding->verdict.cost_ns == TABLE_NO_UINT)
		return 0;
	if (rule->work_at_lines || rule->files.takes) /* the rest of its cost is I/O */
		return finding->cost_cpu_ns == TABLE_NO_UINT ? 0 : finding->cost_cpu_ns;
	return finding->verdict.cost_ns;
}

/* Returns the CPU time that other findings promise to save. */
static uint64_t claimed_ns(const struct findings *findings)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < findings->count; i++)
		time_ns = number_add(time_ns, cpu_work_ns(&findings->all[i]));
	return time_ns;
}

/* Returns the time in which workers exist, in the trace with the most of it. */
static uint64_t workers_lived_ns(const struct findings *findings)
{
	const struct job *job = findings->results->job;
	struct interval_union lived = { .measure = 0 };
	uint64_t most_ns = 0;
	uint32_t trace = 0;

	for (size_t i = PROCESS_UNKNOWN + 1; i < job->processes.count; i++) {
		const struct process *process = &job->processes.processes[i];

		if (strcmp(process_kind(job, i), "worker"))
			continue;
		/* Workers have parents, so they were found when their traces were loaded, one after
		 * the other. */
		if (process->trace != trace)
			lived = (struct interval_union) { .measure = 0 };
		trace = process->trace;
		interval_add(&lived, process->start_ns,
			     process->ended ? process->end_ns : job->end_ns);
		most_ns = number_max(most_ns, lived.measure);
	}
	return most_ns;
}

/* Returns the CPUs that the run keeps busy while its main threads wait for workers: one worker's
 * each, and those of work that the path leaves out, which can only be done while workers exist. */
static double busy_with_workers(const struct findings *findings,
				const struct path_evidence *evidence)
{
	uint64_t whole_ns, roots, cpu_ns, path_ns = 0;
	size_t count;
	const struct path_share *shares =
		critical_path_threads(findings->results, &count, &whole_ns, &roots);

	path_active_ns(findings, &cpu_ns);
	for (size_t i = 0; i < count; i++)
		path_ns = number_add(path_ns, shares[i].parts[THREAD_CPU]);
	return fmax(evidence->busy,
		    roots + finding_share(number_sub(cpu_ns, path_ns), workers_lived_ns(findings)));
}

/* More workers help only on free CPUs. A helper's work also costs the time in which it waits for a
 * CPU. */
static uint64_t cpu_cost_ns(const struct findings *findings, enum path_kind kind,
			    const struct path_evidence *evidence)
{
	struct path_sum runnable;

	if (kind == PATH_WORKER && evidence->cpus)
		return path_free_cpus_ns(findings, evidence, busy_with_workers(findings, evidence));
	if (kind == PATH_HELPER &&
	    path_sum_up(findings, THREAD_RUNNABLE, PATH_KIND(PATH_HELPER), &runnable))
		return number_min(number_add(evidence->time_ns, runnable.time_ns),
				  findings->duration_ns);
	return evidence->time_ns;
}

/* Without free CPUs only faster code helps workers. How much that saves is not known, as for a main
 * thread. */
static bool is_worker_note(const struct findings *findings, enum path_kind kind, uint64_t cost_ns)
{
	return kind == PATH_WORKER && !finding_is_of_run(findings, cost_ns, THRESHOLD_PART_OF_RUN);
}

static int add_cpu(struct findings *findings, const struct finding_rule *rule, enum path_kind kind)
{
	struct level_view compute = { .time_ns = 0 };
	struct finding_verdict verdict = {
		.cost_bytes = TABLE_NO_UINT,
		.confidence = rule->confidence,
		.severity = rule->severity,
	};
	const size_t before = findings->count;
	struct path_sum sum;
	uint64_t cost_ns;
	int status;

	if (!path_sum_up(findings, THREAD_CPU, PATH_KIND(kind), &sum) ||
	    (kind == PATH_MAIN && !sum.is_most))
		return 0;
	if (kind == PATH_MAIN && levels_view(findings->results, ACTIVITY_COMPUTE, &compute) &&
	    compute.count)
		sum.evidence.compute_ns = compute.time_ns;
	sum.evidence.time_ns =
		number_sub(sum.time_ns, number_add(compute.time_ns, claimed_ns(findings)));
	if (!finding_is_of_run(findings, sum.evidence.time_ns, THRESHOLD_MUCH_OF_RUN))
		return 0;
	sum.evidence.share = finding_share(sum.evidence.time_ns, findings->duration_ns);
	verdict.cost_ns = cost_ns = cpu_cost_ns(findings, kind, &sum.evidence);
	if (is_worker_note(findings, kind, cost_ns)) {
		verdict.cost_ns = sum.evidence.time_ns;
		verdict.severity = FINDING_NOTE;
	}
	status = finding_add_as(findings, rule, &sum.evidence, &verdict);
	/* A note makes no other finding redundant. */
	if (findings->count > before)
		findings->all[before].waited_ns = cost_ns;
	return status;
}

static int find_main_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, PATH_MAIN);
}

static int find_worker_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, PATH_WORKER);
}

static int find_helper_cpu(struct findings *findings, const struct finding_rule *rule)
{
	return add_cpu(findings, rule, PATH_HELPER);
}

static bool is_of_kind(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	const struct path_evidence *path = evidence;

	return path->kind == thread_kind(job, stack->process, stack->tid) &&
	       process_runs_same(job, path->process, stack->process);
}

#define CPU_RULE                                                                                   \
	.lines_path = is_of_kind, PATH_RULE,                                                       \
	.says = "{time_ns} ({share} of the run) on a CPU outside I/O[ and {compute_ns} of "        \
		"compute spans], mostly in [{program} ]thread {tid}; the run kept {busy} of "      \
		"[the {limit:CPU|CPUs} that it may use||{cpus} CPUs] busy"

const struct finding_rule finding_cpu_bound = {
	.id = "cpu-bound",
	.order = 670,
	.breadth = FINDING_REST,
	.severity = FINDING_NOTE,
	.find = find_main_cpu,
	.lines_whole = "all CPU time", /* that in compute spans, too */
	.thresholds = { &THRESHOLD_MUCH_OF_RUN },
	.title = "Run is bound by the CPU, in {program}'s main thread",
	.advice = "Speed up or parallelize this code, or do its work once and store "
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
	.of_run = &THRESHOLD_PART_OF_RUN,
	.order = 680,
	.breadth = FINDING_PATTERN,
	.find = find_worker_cpu,
	.lines_whole = "the workers' CPU time",
	.reported_by = { "lock-wait", "loader-preprocessing", "worker-slow", "workers-renewed" },
	.thresholds = { &THRESHOLD_MUCH_OF_RUN, &THRESHOLD_CPUS_BUSY, &THRESHOLD_PART_OF_RUN },
	.title = "Main thread waits for [{program} ]workers, which are bound by the CPU",
	.advice = "[Request more CPUs for more workers: all {full_cpus:CPU is|CPUs are} busy; or "
		  "s||Add workers, or s]peed up their code, or prepare the data once and store the "
		  "result",
	CPU_RULE,
	.rule = PATH_MEANING
	"Much of that is computation in worker processes. The cost is the part "
	"that more workers could save on the CPUs that the run does not keep busy while it has "
	"workers: if half of them are free, half of that time; less if threads wait for CPUs, "
	"because other programs then use them. If they could save little, this is a note with all "
	"of the time: faster code saves part of it.",
};

const struct finding_rule finding_helper_bound = {
	.id = "helper-bound",
	.order = 690,
	.exactness = FINDING_AT_MOST,
	.breadth = FINDING_PATTERN,
	.find = find_helper_cpu,
	.lines_whole = "the helper threads' CPU time",
	.thresholds = { &THRESHOLD_MUCH_OF_RUN },
	.title = "Main thread waits for {program}'s helper threads (a lock they hold, or their "
		 "results)",
	.advice = "Do less at these lines while holding a lock (in Python: the GIL), do it in "
		  "processes, or hand over data earlier",
	CPU_RULE,
	.rule = PATH_MEANING
	"Much of that is computation in other threads of the same process, "
	"which then woke the main thread: they released a lock (or Python's global "
	"interpreter lock), or put something in a queue. The cost includes the time in which "
	"these threads waited for a CPU. It is an upper bound: all of it is saved if the work does "
	"not need the lock, but processes on two CPUs still take half of it.",
};

/* --- fresh memory --- */

struct fresh_memory {
	uint64_t faults, each_ns, time_ns;
	double share;
	uint64_t forked;     /* TABLE_NO_UINT: none that copy */
	uint64_t kept_bytes; /* see kept_bytes_of; TABLE_NO_UINT: none, or unknown */
	uint64_t unmap_ns;   /* TABLE_NO_UINT: none, or unknown */
	enum { OF_ANY, OF_FORKED, OF_OTHERS } most;
};

static const struct table_column memory_evidence[] = {
	FACT(fresh_memory, faults, "faults", COUNT, "page faults on anonymous memory"),
	FACT(fresh_memory, each_ns, "each", NS, "average time of such a fault"),
	COLUMN(fresh_memory, time_ns, "time", NS, THREAD,
	       "time of these faults, summed over threads"),
	FACT(fresh_memory, share, "share", SHARE,
	     "part of the time that threads were on a CPU or waited for one"),
	FACT(fresh_memory, forked, "forked", COUNT,
	     "number of forked processes, if most minor faults are theirs and none has more than "
	     "its parent (copy-on-write); null: otherwise, or unknown"),
	FACT(fresh_memory, unmap_ns, "unmapping", NS,
	     "time of calls that gave memory back (munmap), summed over threads; null: none, or "
	     "unknown"),
	FACT(fresh_memory, kept_bytes, "kept", BYTES,
	     "memory that the processes kept rather than replaced, at least: the sum of their "
	     "peaks of resident memory, less 64 KiB for each fault on a file; forked processes "
	     "excluded; null: none, or unknown"),
};

THRESHOLD_MIN(FRESH_SHARE, 0.15, UNIT_SHARE, "share of the run that it takes",
	      "measured: unpacking data into new buffers spends a tenth of the time in them");

THRESHOLD_MIN(FRESH_NS, 50000000, UNIT_NS, "time of these faults, summed over threads",
	      "measured: a Python program's start takes up to 10 ms of it");

static bool is_forked(const struct process *process)
{
	return !process->executed && process->parent != PROCESS_NONE &&
	       process->parent != PROCESS_UNKNOWN;
}

/* Finds which processes took most of the minor faults. Nearly all of so many are on anonymous
 * memory. The faults of a process are known once it has ended, and not those of all its threads. */
static void find_faulting(const struct job *job, struct fresh_memory *fresh)
{
	const struct process *processes = job->processes.processes;
	uint64_t forked = 0, forked_faults = 0, copying_faults = 0, faults = 0, all;

	for (size_t i = PROCESS_UNKNOWN + 1; i < job->processes.count; i++) {
		const uint64_t own = processes[i].minor_faults;

		faults = number_add(faults, own);
		if (!own || !is_forked(&processes[i]))
			continue;
		forked++;
		forked_faults = number_add(forked_faults, own);
		if (own <= processes[processes[i].parent].minor_faults)
			copying_faults = number_add(copying_faults, own);
	}
	all = number_max(faults, fresh->faults);
	fresh->most = forked_faults > all / 2			    ? OF_FORKED
		      : number_sub(faults, forked_faults) > all / 2 ? OF_OTHERS
								    : OF_ANY;
	fresh->forked = copying_faults > all / 2 ? forked : TABLE_NO_UINT;
}

static bool is_faulting(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	const struct fresh_memory *fresh = evidence;

	return fresh->most != OF_ANY &&
	       is_forked(&job->processes.processes[stack->process]) == (fresh->most == OF_FORKED);
}

/*
 * Returns how much of the memory the processes kept: no reuse saves these faults. A process's peak
 * includes what it mapped of files: at most 64 KiB a fault (fault_around_bytes). Forked processes
 * start with their parent's memory.
 */
static uint64_t kept_bytes_of(const struct results *results)
{
	const uint64_t files_bytes =
		FAULT_AROUND_BYTES * (totals_class(results, IO_MMAP_READ).count +
				      totals_class(results, IO_MMAP_WRITE).count);
	const struct process_table *table = &results->job->processes;
	uint64_t peaks_bytes = 0;

	for (size_t i = PROCESS_UNKNOWN + 1; i < table->count; i++)
		if (!is_forked(&table->processes[i]))
			peaks_bytes = number_add(peaks_bytes, table->processes[i].peak_rss_bytes);
	return number_sub(peaks_bytes, files_bytes);
}

/* Returns the part of the faults that reuse of memory saves. Where huge pages hide how much memory
 * they brought, the bytes that were given back tell, if each call was recorded. */
static double replaced_share(const struct findings *findings, const struct fresh_memory *fresh)
{
	const uint64_t page_bytes = findings->results->job->traces[0].header->page_bytes;
	const double unmapped_bytes = totals_unmapped(findings->results).bytes;
	double kept;

	if (fresh->kept_bytes == TABLE_NO_UINT)
		return 1;
	kept = finding_share(fresh->kept_bytes, (double)fresh->faults * page_bytes);
	if (findings->aggregated && kept > 1)
		return 1;
	return fmax(1 - kept, unmapped_bytes / (unmapped_bytes + fresh->kept_bytes));
}

/* The critical path has as much of it as all threads' time on CPUs. */
static int find_fresh_memory(struct findings *findings, const struct finding_rule *rule)
{
	const struct trace_operation_total *faults =
		totals_memory(findings->results, TOTALS_ANONYMOUS);
	const uint64_t computing_ns = threads_computing_ns(findings->results);
	const uint64_t unmap_ns = totals_unmapped(findings->results).thread_time_ns;
	struct fresh_memory fresh = {
		.faults = faults->count,
		.each_ns = faults->count ? faults->thread_time_ns / faults->count : 0,
		.time_ns = faults->thread_time_ns,
		.unmap_ns = finding_or_none(unmap_ns),
		.share = fmin(finding_share(faults->thread_time_ns, computing_ns), 1),
		.kept_bytes = TABLE_NO_UINT,
	};
	struct path_sum cpu, runnable = { .time_ns = 0 };
	uint64_t cost_ns;

	if (fresh.time_ns < threshold(THRESHOLD_FRESH_NS) ||
	    !path_sum_up(findings, THREAD_CPU, PATH_KINDS_ALL, &cpu))
		return 0;
	path_sum_up(findings, THREAD_RUNNABLE, PATH_KINDS_ALL, &runnable);
	find_faulting(findings->results->job, &fresh);
	if (fresh.forked == TABLE_NO_UINT)
		fresh.kept_bytes = finding_or_none(kept_bytes_of(findings->results));
	cost_ns = number_add(cpu.time_ns, runnable.time_ns) *
		  fmin(finding_share(number_add(fresh.time_ns, unmap_ns), computing_ns), 1) *
		  replaced_share(findings, &fresh);
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
	.causes_work = true,
	.find = find_fresh_memory,
	.confidence = FINDING_LIKELY,
	.lines_path = is_faulting,
	.lines_whole = "the CPU time of processes with most of the faults",
	.reported_by = { "swapped", "pickled-data" },
	FINDING_EVIDENCE(struct fresh_memory, memory_evidence),
	.thresholds = { &THRESHOLD_FRESH_SHARE, &THRESHOLD_FRESH_NS },
	.title = "Run keeps faulting in new memory",
	.says = "{faults} page faults on anonymous memory took {each_ns} each, {share} of the time "
		"that threads computed[, most of them in {forked:forked process|forked "
		"processes}][; giving memory back took {unmap_ns}]",
	.advice =
		"[Do not write to what {forked:forked process|forked processes} inherited, which "
		"copies it page by page. Python writes to each object that it uses: keep data in "
		"arrays instead of lists and dicts, and call gc.freeze before the fork. Or keep "
		"||Keep ]buffers and write into them (out=, a pool) instead of allocating for each "
		"batch; keep freed memory in the process (MALLOC_TRIM_THRESHOLD_ and "
		"MALLOC_MMAP_THRESHOLD_, jemalloc); or use huge pages",
	.advice_in_general =
		"Keep buffers and write into them (out=, a pool) instead of allocating for each "
		"batch; keep freed memory in the process (MALLOC_TRIM_THRESHOLD_ and "
		"MALLOC_MMAP_THRESHOLD_, jemalloc); or use huge pages. After a fork, do not write "
		"to what was inherited: keep data in arrays instead of Python's lists and dicts, "
		"and call gc.freeze before it",
	.more = "faultline report --table operations TRACE",
	.pictures = "path",
	.rule = "Memory that a program allocates comes page by page, when it is first touched: the "
		"kernel takes the fault, finds a page and clears it. Large arrays go back to the "
		"kernel when they are freed, so the next one pays again; and the first write to a "
		"page shared with a parent copies it. The cost is the part of the critical path's "
		"time on CPUs that all threads spend in such faults, and in calls that give memory "
		"back, less what the processes keep. Lines are those of forked processes or of the "
		"others, whichever took most minor faults.",
};
