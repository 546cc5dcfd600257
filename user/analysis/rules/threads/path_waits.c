/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about what the main threads wait for other than I/O and computation: CPUs, locks, other
 * processes, sleep, memory, devices. */
#include <math.h>

#include "analysis/rules/threads/path.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "base/number.h"

THRESHOLD_MIN(WAIT_IDLE, 0.5, UNIT_SHARE,
	      "part of the wait in which no other thread of the run works; below it, sleeps, "
	      "peer-waits and lock-waits count only part of the wait",
	      "a majority; otherwise it may wait for them by polling");

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
	struct map on_path;

	map_init_in(&on_path, &arena, 1, 1);
	if (critical_path_number(&on_path, shares, path_count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct path_share *share =
			critical_path_share(&on_path, shares, threads[i].process, threads[i].tid);
		const uint64_t cpu_ns = number_sub(threads[i].times.states[THREAD_CPU],
						   share ? share->parts[THREAD_CPU] : 0);

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
	const uint64_t computing_ns = path_free_cpus_ns(findings, evidence, evidence->busy);
	uint64_t cpu_ns;
	const double computing = finding_share(threads_computing_ns(findings->results),
					       path_active_ns(findings, &cpu_ns));

	return finding_limited(computing_ns + number_sub(evidence->time_ns, computing_ns) *
						      fmax(1 - computing, 0));
}

/* Returns the cost of a sleep during which other threads of the run work most of the time. It may
 * be polling for them, or have nothing to do with them: then only the rest counts. */
static uint64_t polling_cost_ns(const struct findings *findings, struct path_sum *sum)
{
	const uint64_t idle_ns = number_min(sum->idle_ns, sum->time_ns);
	const uint64_t others_ns = sum->evidence.cpus ? of_others_ns(findings, &sum->evidence) : 0;

	if (others_ns > idle_ns && !finding_is_of_run(findings, idle_ns, THRESHOLD_PART_OF_RUN))
		sum->evidence.peer = find_peer(findings, THREAD_SLEEP, sum);
	return sum->evidence.peer.bytes ? others_ns : idle_ns;
}

/* Returns the cost of a wait during which other threads of the run work most of the time, or 0;
 * names the program of the busiest. Waits on pipes and locks are for these threads, but each is too
 * short for the path to follow. */
static uint64_t shared_wait_cost_ns(const struct findings *findings, enum thread_state state,
				    struct path_sum *sum)
{
	if (findings->aggregated)
		return 0;
	if (state == THREAD_SLEEP)
		return polling_cost_ns(findings, sum);
	if ((state != THREAD_PIPE && state != THREAD_LOCK) || !sum->evidence.cpus)
		return 0;
	sum->evidence.peer = find_peer(findings, state, sum);
	return of_others_ns(findings, &sum->evidence);
}

/* Whether the run's own threads use up the CPUs, and another finding saves as much work on them, as
 * calls or at their lines: with less work, they wait less for each other. */
static bool is_of_own_work(const struct findings *findings, const struct path_evidence *path,
			   uint64_t cost_ns)
{
	const double busy =
		threads_busy_of_io(findings->results) ?: 1; /* if unknown, or all of it */
	double work_ns;

	if (path->shared_cpus != TABLE_NO_UINT)
		return false;
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->all[i];

		if (finding->verdict.severity == FINDING_NOTE ||
		    finding->verdict.cost_ns == TABLE_NO_UINT)
			continue;
		work_ns = busy * finding->verdict.cost_ns;
		if (finding->cost_cpu_ns != TABLE_NO_UINT)
			work_ns = fmax(work_ns,
				       number_add(finding->cost_cpu_ns, finding->cost_cpu_wait_ns));
		if (work_ns >= threshold(THRESHOLD_SAME_WAIT) * cost_ns)
			return true;
	}
	return false;
}

/* Whether the time may be well spent: a launcher, too, polls for what it has started. */
static bool is_noted(const struct findings *findings, const struct finding_rule *rule,
		     const struct path_evidence *path, uint64_t cost_ns)
{
	return (rule->state == THREAD_RUNNABLE && is_of_own_work(findings, path, cost_ns)) ||
	       (rule->state == THREAD_SLEEP && path->peer.bytes);
}

static int find_wait(struct findings *findings, const struct finding_rule *rule)
{
	struct path_file_locks locks;
	struct path_sum sum;
	uint64_t cost_ns;

	if (!path_sum_up(findings, rule->state == THREAD_RUNNABLE ? PATH_STARVED : rule->state,
			 PATH_KINDS_ALL, &sum))
		return 0;
	cost_ns = sum.time_ns;
	/* See lock-wait. */
	if (rule->state == THREAD_LOCK && critical_path_file_locks(findings->results, &locks))
		cost_ns = number_sub(cost_ns, locks.blocked_ns);
	sum.evidence.share *= finding_share(cost_ns, sum.time_ns);
	sum.evidence.time_ns = cost_ns;
	/* Waiting for a CPU implies that other threads run. */
	if (rule->state != THREAD_RUNNABLE &&
	    sum.idle_ns < threshold(THRESHOLD_WAIT_IDLE) * cost_ns)
		cost_ns = shared_wait_cost_ns(findings, rule->state, &sum);
	if (!finding_is_of_run(findings, cost_ns, THRESHOLD_PART_OF_RUN))
		return 0;
	sum.evidence.state = sample_state_names[rule->state];
	return finding_add_as(findings, rule, &sum.evidence,
			      &(struct finding_verdict) {
				      .cost_ns = cost_ns,
				      .cost_bytes = TABLE_NO_UINT,
				      .confidence = rule->confidence,
				      .severity = is_noted(findings, rule, &sum.evidence, cost_ns)
							  ? FINDING_NOTE
							  : rule->severity,
			      });
}

static bool is_wait(const void *evidence, const struct lines_row *row)
{
	const struct path_evidence *path = evidence;

	return row->state == path->state && row->kind == path->kind;
}

#define WAIT_RULE .thresholds = { &THRESHOLD_PART_OF_RUN, &THRESHOLD_WAIT_IDLE }, PATH_RULE
#define WAIT_SAYS                                                                                  \
	"{time_ns} ({share} of the critical path), mostly in [{program} ][{kind} ]thread {tid}"
#define BRIEF_MEANING                                                                              \
	" Other threads of the run did little in that time, or the waits were too short to "       \
	"record what ended them. In the second case, the cost leaves out computation for which "   \
	"no CPU was free."
#define IDLE_MEANING " Other threads of the run did little in that time."

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
	.advice_in_general =
		"Raise the run's limit of CPUs (cpu.max of its cgroup, CPU affinity, "
		"--cpus-per-task), request more CPUs, use fewer threads (OMP_NUM_THREADS, "
		"torch.set_num_threads) or workers, or find what else runs on the CPUs",
	.thresholds = { &THRESHOLD_PART_OF_RUN, &THRESHOLD_CPUS_BUSY, &THRESHOLD_SAME_WAIT },
	PATH_RULE,
	.rule = PATH_MEANING
	"Part of that is time in which a thread could run, but no CPU was free, or the cgroup's "
	"limit was used up. The limit is named if the run kept most of its CPUs busy, or if the "
	"kernel counted half of the time as throttled. If the run's own threads use the CPUs, and "
	"the change of another finding saves half as much or more, this is a note: with less work, "
	"they wait less.",
};

const struct finding_rule finding_sleeps = {
	.id = "sleeps",
	.order = 710,
	.breadth = FINDING_CAUSE,
	.find = find_wait,
	.state = THREAD_SLEEP,
	.reported_by = { "lock-wait", "rank-behind" },
	.lines_row = is_wait,
	.lines_path = path_is_any,
	.lines_whole = "its sleep",
	.title = "Run sleeps, in {program}[, while {peer} works, perhaps polling for it]",
	.says = WAIT_SAYS,
	.advice = "[If it polls for {peer}, start that earlier, run several at once, make it "
		  "faster, or store its result and reuse it; w||W]ait for the event itself (a "
		  "condition, select, a queue) rather than for a time, or sleep less",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is sleep. If other threads of the run were on a CPU, or waited for one or "
	"for storage, for most of that time, the sleep may be polling for them. Then the cost is "
	"the time without such work; or, in a note, what more of them at once could save, if that "
	"is more.",
};

const struct finding_rule finding_peer_waits = {
	.id = "peer-waits",
	.order = 720,
	.breadth = FINDING_PATTERN,
	.find = find_wait,
	.state = THREAD_PIPE,
	.reported_by = { "lock-wait", "rank-behind", "pickled-data", "worker-bound", "helper-bound",
			 "straggler", "ranks-uneven", "rank-slow" },
	.lines_row = is_wait,
	.lines_path = path_is_any,
	.lines_whole = "its waits on pipes and sockets",
	.title = "[Run waits for pipes or sockets, in {program}, while {peer} works||Run waits for "
		 "the network or for other processes, in {program}]",
	.says = WAIT_SAYS ", blocked on sockets or pipes",
	.advice = "[Start {peer} earlier, run several at once, make it faster, or store its result "
		  "and reuse it||Request earlier or several at once (threads, "
		  "prefetch), keep connections open, or keep a local copy]",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is a wait on a socket or pipe until a process that is not traced, or another "
	"host, answers." BRIEF_MEANING,
};

const struct finding_rule finding_lock_waits = {
	.id = "lock-waits",
	.order = 730,
	.breadth = FINDING_PATTERN,
	.find = find_wait,
	.state = THREAD_LOCK,
	.lines_row = is_wait,
	.lines_path = path_is_any,
	.lines_whole = "its waits for locks",
	.reported_by = { "lock-wait", "helper-bound", "pickled-data" },
	.title = "Run waits for locks, in {program}[, while other threads of {peer} work]",
	.says = WAIT_SAYS ", blocked on a lock",
	.advice = "Find who holds the lock at these lines (--table critical_path), and hold it for "
		  "less time[, not during the I/O or computing of {peer}]",
	WAIT_RULE,
	.rule = PATH_MEANING
	"Part of that is a wait for a lock that no thread of the run is known to have released: "
	"its holder is not traced, or waits itself. Locks of files are left out: see "
	"lock-wait." BRIEF_MEANING,
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
	.rule = PATH_MEANING "Part of that is a wait for memory." IDLE_MEANING,
};

const struct finding_rule finding_device_waits = {
	.id = "device-waits",
	.order = 750,
	.breadth = FINDING_REST,
	.severity = FINDING_NOTE,
	.find = find_wait,
	.state = THREAD_DEVICE,
	.lines_row = is_wait,
	.lines_path = path_is_any,
	.lines_whole = "its waits",
	.title = "Run waits for a device such as a GPU, in {program}",
	.says = WAIT_SAYS ", blocked in a device's driver",
	.advice = "Profile what the device does: faster I/O does not save this time",
	WAIT_RULE,
	.rule = PATH_MEANING "Part of that is a wait in a driver (ioctl), as in GPU libraries "
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
	.rule = PATH_MEANING "For part of that time, it was stopped by a signal, a debugger or the "
			     "freezer." IDLE_MEANING,
};
