/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A rank that the others wait for, by what each does on its critical path. */
#include <stdlib.h>

#include "analysis/finding/finding_made.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/stacks/lines.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"

struct rank_path {
	int64_t rank;
	uint64_t parts[THREAD_STATE_COUNT];
	uint64_t busy_ns; /* what a rank does itself; it waits for the rest */
	uint64_t end_ns;  /* of its last process */
};

struct behind {
	uint64_t ranks, rank, busy_ns, starved_ns, median_ns, waits_ns, ended_ns;
	const char *verb, *state;
};

static const struct table_column behind_columns[] = {
	FACT(behind, ranks, "ranks", COUNT, "ranks"),
	FACT(behind, rank, "rank", NONE, "rank that is busy the longest"),
	{ "verb", "verb", UNIT_NONE, KIND_FACT, "what it does longer than the others",
	  TABLE_LITERAL(struct behind, verb), 0 },
	FACT(behind, busy_ns, "busy", NS,
	     "its critical-path time on a CPU, waiting for a CPU, in I/O and asleep; sleep is left "
	     "out if the others sleep to wait for it"),
	FACT(behind, starved_ns, "CPU wait", NS, "part of that waiting for a CPU; null: none"),
	FACT(behind, median_ns, "median", NS, "median of the other ranks"),
	FACT(behind, waits_ns, "waits", NS,
	     "other wait time of the median rank, and the time after its end"),
	FACT(behind, ended_ns, "ended", NS, "part of that after its end; null: none"),
};

COMPARE_BY(compare_busy, struct rank_path,
	   COMPARE(a->busy_ns, b->busy_ns) ?: COMPARE(b->rank, a->rank))

static void add_share(struct rank_path *rank, const struct path_share *share, const struct job *job)
{
	const struct process *process = &job->processes.processes[share->process];

	for (int part = 0; part < THREAD_STATE_COUNT; part++)
		rank->parts[part] = number_add(rank->parts[part], share->parts[part]);
	rank->end_ns = number_max(rank->end_ns, process->ended ? process->end_ns : job->end_ns);
}

/* Sums up the path by rank. Returns the number of ranks, or -ENOMEM. */
static int sum_up(const struct findings *findings, struct rank_path *ranks)
{
	uint64_t whole_ns, roots;
	size_t shares_count;
	const struct path_share *shares =
		critical_path_threads(findings->results, &shares_count, &whole_ns, &roots);
	const struct process *processes = findings->results->job->processes.processes;
	struct map numbers;
	int count = 0;

	map_init(&numbers, 1, 1);
	for (size_t i = 0; i < shares_count; i++) {
		const uint64_t key = (uint64_t)processes[shares[i].process].rank;
		uint64_t *number;
		bool added;

		if (processes[shares[i].process].rank < 0)
			continue;
		number = map_add(&numbers, &key, &added);
		if (!number) {
			count = -ENOMEM;
			break;
		}
		if (added) {
			*number = count;
			ranks[count++] = (struct rank_path) { .rank = (int64_t)key };
		}
		add_share(&ranks[*number], &shares[i], findings->results->job);
	}
	map_free(&numbers);
	return count;
}

static uint64_t waits_ns(const struct rank_path *rank)
{
	uint64_t time_ns = 0;

	for (int part = 0; part < THREAD_STATE_COUNT; part++)
		time_ns = number_add(time_ns, rank->parts[part]);
	return number_sub(time_ns, rank->busy_ns);
}

/* Names what a rank does longer than another. */
static void name_work(struct behind *behind, const struct rank_path *last,
		      const struct rank_path *other)
{
	const uint64_t half_ns = number_sub(last->busy_ns, other->busy_ns) / 2;

	behind->verb = "computes";
	behind->state = sample_state_names[THREAD_CPU];
	if (number_sub(last->parts[PATH_IO], other->parts[PATH_IO]) > half_ns) {
		behind->verb = "reads and writes";
		behind->state = sample_state_names[SAMPLE_IO];
	} else if (number_sub(last->parts[THREAD_SLEEP], other->parts[THREAD_SLEEP]) > half_ns) {
		behind->verb = "sleeps";
		behind->state = sample_state_names[THREAD_SLEEP];
	}
}

/* Finds the rank that is busy longest. Returns what it costs the others. */
static uint64_t judge(const struct findings *findings, struct rank_path *ranks, size_t count,
		      bool sleeps, struct behind *behind)
{
	static const int busy[] = { THREAD_CPU, THREAD_RUNNABLE, THREAD_SLEEP, PATH_IO };
	/* In the middle of the others. */
	const struct rank_path *last = &ranks[count - 1], *median = &ranks[(count - 2) / 2];
	uint64_t more_ns, ended_ns, all_ns = 0;

	for (size_t i = 0; i < count; i++) {
		ranks[i].busy_ns = 0;
		for (size_t j = 0; j < sizeof(busy) / sizeof(busy[0]); j++)
			if (sleeps || busy[j] != THREAD_SLEEP)
				ranks[i].busy_ns =
					number_add(ranks[i].busy_ns, ranks[i].parts[busy[j]]);
		all_ns = number_add(all_ns, ranks[i].busy_ns);
	}
	qsort(ranks, count, sizeof(*ranks), compare_busy);
	more_ns = number_sub(last->busy_ns, median->busy_ns);
	ended_ns = number_sub(last->end_ns, median->end_ns);
	*behind = (struct behind) {
		.ranks = count,
		.rank = last->rank,
		.busy_ns = last->busy_ns,
		.starved_ns = finding_or_none(last->parts[THREAD_RUNNABLE]),
		.median_ns = median->busy_ns,
		.waits_ns = number_add(waits_ns(median), ended_ns),
		.ended_ns = finding_or_none(ended_ns),
	};
	name_work(behind, last, median);
	/* Dividing its computation evenly saves time only if the other ranks have free CPUs. */
	if (2 * number_sub(last->parts[THREAD_CPU], median->parts[THREAD_CPU]) > more_ns)
		more_ns = number_min(more_ns, number_sub(last->busy_ns, all_ns / count)) *
			  threads_free_cpus(findings->results);
	return number_min(more_ns, behind->waits_ns);
}

/* Whether a finding on I/O covers a cost, and names its reason. */
static bool is_io_reported(const struct findings *findings, uint64_t cost_ns)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->all[i];

		if ((finding->rule->lines || finding->rule->files.takes) &&
		    finding->waited_ns >= threshold(THRESHOLD_SAME_WAIT) * cost_ns)
			return true;
	}
	return false;
}

/* A rank that sleeps is busy, unless that is how it waits for the others. */
static int add_behind(struct findings *findings, const struct finding_rule *rule,
		      struct rank_path *ranks, size_t count)
{
	static const char *const of_ranks[] = { "straggler", "ranks-uneven", "rank-slow", NULL };
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = rule->confidence };
	struct behind behind, polled;
	uint64_t cost_ns = judge(findings, ranks, count, true, &behind);
	const uint64_t polled_ns = judge(findings, ranks, count, false, &polled);

	if (polled_ns > cost_ns) {
		behind = polled;
		cost_ns = polled_ns;
	}
	if (!finding_is_of_run(findings, cost_ns, THRESHOLD_MUCH_OF_RUN))
		return 0;
	verdict.cost_ns = cost_ns;
	if (behind.state == sample_state_names[SAMPLE_IO]) {
		if (finding_is_reported(findings, of_ranks, cost_ns, NULL))
			return 0;
		if (is_io_reported(findings, cost_ns))
			verdict.severity = FINDING_NOTE;
	}
	return finding_add_as(findings, rule, &behind, &verdict);
}

static int find_behind(struct findings *findings, const struct finding_rule *rule)
{
	uint64_t whole_ns, roots;
	size_t shares;
	struct rank_path *ranks;
	int count, status = 0;

	critical_path_threads(findings->results, &shares, &whole_ns, &roots);
	ranks = calloc(shares + 1, sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	count = sum_up(findings, ranks);
	if (count >= 2)
		status = add_behind(findings, rule, ranks, count);
	free(ranks);
	return count < 0 ? count : status;
}

static bool is_of_rank(const void *evidence, const struct lines_row *row)
{
	const struct behind *behind = evidence;

	return row->state == behind->state && row->rank == (int64_t)behind->rank;
}

const struct finding_rule finding_rank_behind = {
	.id = "rank-behind",
	.order = 635,
	.breadth = FINDING_OF_ONE,
	.needs = JOB_THREAD,
	.sums = FINDING_OF_SPANS,
	.find = find_behind,
	.confidence = FINDING_LIKELY,
	.lines_row = is_of_rank,
	.lines_whole = "its time",
	FINDING_EVIDENCE(struct behind, behind_columns),
	.thresholds = { &THRESHOLD_MUCH_OF_RUN },
	.title = "Ranks wait for rank {rank}, which {verb} longer than the others",
	.says = "of {ranks} ranks, rank {rank} is busy for {busy_ns}[, {starved_ns} of it waiting "
		"for CPUs]; the median of the others is busy for {median_ns} and waits for "
		"{waits_ns}[, {ended_ns} of it after its end]",
	.advice = "Give each rank as much work (distribute samples by their length or cost, let "
		  "all ranks prepare data), or find what slows this one down: its CPUs, its "
		  "cgroup's limits, its node, or the reason it sleeps",
	.more = "faultline report --table critical_path TRACE",
	.pictures = "path",
	.rule = "The critical path of a rank is what its main thread does and, while that waits "
		"for a worker, what the worker does. One rank computes, waits for CPUs, does I/O "
		"or sleeps longer than the others, and these wait as long on sockets, pipes or "
		"locks, or sleep until it is done: ranks that train together meet at each step. "
		"The cost is the smaller of the two; of computing, what dividing it evenly saves, "
		"less if the run waits for CPUs. If a finding on I/O names the reason, this one is "
		"a note. A rank that has ended waits, too. Ranks that wait by polling without "
		"sleep look busy.",
};
