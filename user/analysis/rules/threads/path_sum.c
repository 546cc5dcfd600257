/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parts of the critical path, summed over kinds of threads, and who keeps the CPUs busy. */
#include "analysis/rules/threads/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/trace_text.h"
#include "base/number.h"

static const char *const kinds[PATH_KINDS] = { "main", "worker", "helper", "other" };

static const struct table_column columns[] = {
	FACT(path_evidence, program, "program", NONE,
	     "program of the thread with the largest part of it"),
	{ "kind", "kind", UNIT_NONE, KIND_FACT, "kind of that thread, as in table threads",
	  TABLE_LITERAL(struct path_evidence, kind), 0 },
	FACT(path_evidence, pid, "pid", NONE, "its process"),
	FACT(path_evidence, tid, "tid", NONE, "its thread ID"),
	COLUMN(path_evidence, time_ns, "time", NS, UNION,
	       "time of this part of the critical path: the average of the main threads, or more "
	       "if the others wait for the one with the largest part"),
	FACT(path_evidence, share, "share", SHARE, "its share of the critical path"),
	FACT(path_evidence, busy, "busy", NONE, "CPUs that the run kept busy on average"),
	FACT(path_evidence, cpus, "cpus", COUNT, "CPUs of the hosts"),
	FACT(path_evidence, limit, "limit", NONE,
	     "CPUs that quotas and affinity let the run use at once; null: all"),
	FACT(path_evidence, limited_cpus, "limited", NONE,
	     "that limit, if the run uses all of it; otherwise null"),
	FACT(path_evidence, starved_cpus, "starved", COUNT,
	     "CPUs of the hosts, if the run itself keeps most of them busy and did not reach its "
	     "limit first; otherwise null"),
	FACT(path_evidence, shared_cpus, "shared", COUNT,
	     "CPUs of the hosts, if other programs keep them busy; otherwise null"),
	FACT(path_evidence, full_cpus, "full", NONE,
	     "CPUs that the run can use, if most of them are busy; otherwise null"),
	FACT(path_evidence, peer, "peer", NONE,
	     "for a wait: program of the thread with the most time on CPUs off the critical path; "
	     "null: none"),
	FACT(path_evidence, compute_ns, "compute", NS,
	     "time in spans of category compute, which is left out; null: there are none"),
};

const struct finding_evidence path_evidence = FINDING_EVIDENCE_OF(struct path_evidence, columns);

uint64_t path_active_ns(const struct findings *findings, uint64_t *cpu_ns)
{
	size_t count;
	const struct thread *threads = threads_all(findings->results, &count);
	uint64_t time_ns = 0;

	*cpu_ns = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *states = threads[i].times.states;

		*cpu_ns = number_add(*cpu_ns, states[THREAD_CPU]);
		time_ns = number_add(
			time_ns, number_add(number_add(states[THREAD_CPU], states[THREAD_RUNNABLE]),
					    states[THREAD_STORAGE]));
	}
	return time_ns;
}

static double usable_cpus(const struct path_evidence *evidence)
{
	return fmin(evidence->limit, evidence->cpus);
}

/* Whether most of the waiting would remain if nothing else ran: the run's threads want more CPUs at
 * once than there are. Others can have taken only those that the run did not get. */
static bool competes_with_itself(const struct findings *findings,
				 const struct path_evidence *evidence)
{
	const double wanted =
		finding_share(threads_computing_ns(findings->results), findings->duration_ns);

	return 2 * (wanted - evidence->cpus) >= wanted - evidence->busy;
}

/* Decides who keeps the CPUs busy: the run, up to its limit or on all of them, or others. */
static void judge_cpus(const struct findings *findings, uint64_t part_ns,
		       struct path_evidence *evidence)
{
	const struct job *job = findings->results->job;
	const double throttled_ns = job_count_notes(job, TRACE_NOTE_CPU_THROTTLED);
	const double busy_ones = evidence->busy / threshold(THRESHOLD_CPUS_BUSY);

	evidence->cpus = job_cpus(job);
	evidence->limit = job_cpu_limit(job);
	evidence->limited_cpus = evidence->full_cpus = NAN;
	evidence->starved_cpus = evidence->shared_cpus = TABLE_NO_UINT;
	if (isfinite(evidence->limit) &&
	    (busy_ones >= evidence->limit || 2 * throttled_ns >= part_ns))
		evidence->limited_cpus = evidence->limit;
	else if (busy_ones >= evidence->cpus && competes_with_itself(findings, evidence))
		evidence->starved_cpus = evidence->cpus;
	else
		evidence->shared_cpus = evidence->cpus;
	if (busy_ones >= usable_cpus(evidence) || threads_free_cpus(findings->results) < 0.5)
		evidence->full_cpus = usable_cpus(evidence);
}

static bool is_wait_for_others(unsigned int part)
{
	return part == THREAD_LOCK || part == THREAD_PIPE || part == THREAD_CHILD;
}

bool path_sum_up(const struct findings *findings, unsigned int part, unsigned int of_kinds,
		 struct path_sum *sum)
{
	const struct job *job = findings->results->job;
	uint64_t whole_ns, roots, part_ns = 0, saved_ns = 0, path_ns = 0, most_ns = 0, rest_ns = 0,
				  cpu_ns, other_ns;
	uint64_t kinds_ns[PATH_KINDS] = { 0 }, *process_ns;
	size_t count;
	const struct path_share *shares =
		critical_path_threads(findings->results, &count, &whole_ns, &roots);
	const struct path_share *worst = NULL;

	process_ns = calloc(job->processes.count + 1, sizeof(*process_ns));
	if (!process_ns)
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint64_t one_ns = part == PATH_STARVED
						? number_add(shares[i].parts[THREAD_RUNNABLE],
							     shares[i].io_runnable_ns)
						: shares[i].parts[part];
		const char *kind = thread_kind(job, shares[i].process, shares[i].tid);

		path_ns =
			number_add(path_ns, number_add(number_add(shares[i].parts[THREAD_CPU],
								  shares[i].parts[THREAD_RUNNABLE]),
						       shares[i].parts[PATH_IO]));
		for (unsigned int j = 0; j < PATH_KINDS; j++) {
			if (strcmp(kind, kinds[j]) != 0)
				continue;
			kinds_ns[j] = number_add(kinds_ns[j], one_ns);
			if (of_kinds & PATH_KIND(j))
				process_ns[shares[i].process] += one_ns;
			if (of_kinds & PATH_KIND(j) && one_ns > most_ns) {
				most_ns = one_ns;
				worst = &shares[i];
			}
		}
	}
	for (unsigned int j = 0; j < PATH_KINDS; j++)
		if (of_kinds & PATH_KIND(j))
			part_ns = number_add(part_ns, kinds_ns[j]);
		else
			rest_ns = number_max(rest_ns, kinds_ns[j]);
	if (part_ns && roots)
		saved_ns = is_wait_for_others(part)
				   ? part_ns / roots
				   : critical_path_saved_ns(findings->results, process_ns);
	free(process_ns);
	if (!worst || !part_ns || !roots)
		return false;
	other_ns = number_sub(path_active_ns(findings, &cpu_ns), path_ns);
	*sum = (struct path_sum) {
		.time_ns = number_min(saved_ns, findings->duration_ns),
		.idle_ns = finding_limited(finding_share(number_sub(part_ns, other_ns),
							 part_ns) * saved_ns),
		.is_most = part_ns > rest_ns,
		.evidence = {
			.program = trace_text(job_comm(job, worst->process)),
			.kind = thread_kind(job, worst->process, worst->tid),
			.process = worst->process,
			.pid = job->processes.processes[worst->process].pid,
			.tid = worst->tid,
			.compute_ns = TABLE_NO_UINT,
			.share = finding_share(part_ns, whole_ns),
			.busy = finding_share(cpu_ns, findings->duration_ns),
		},
	};
	judge_cpus(findings, sum->time_ns, &sum->evidence);
	return true;
}

uint64_t path_free_cpus_ns(const struct findings *findings, const struct path_evidence *evidence,
			   double busy)
{
	return finding_limited(evidence->time_ns * (1 - fmin(busy / usable_cpus(evidence), 1)) *
			       threads_free_cpus(findings->results));
}

bool path_is_any(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	(void)job, (void)evidence, (void)stack;
	return true;
}
