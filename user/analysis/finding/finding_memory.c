/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about memory that was swapped out. */
#include "analysis/finding/finding.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/totals/totals.h"

struct swapped {
	uint64_t major, count, time_ns;
};

static const struct table_column swapped_evidence[] = {
	{ "major", "major", UNIT_COUNT, KIND_FACT,
	  "major faults of ended threads by the kernel's count, excluding those on files",
	  TABLE_UINT(struct swapped, major), 0 },
	{ "count", "count", UNIT_COUNT, KIND_FACT,
	  "all faults on memory without a file, or with one on tmpfs",
	  TABLE_UINT(struct swapped, count), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "thread time of these faults",
	  TABLE_UINT(struct swapped, time_ns), 0 },
};

static int find_swapped(struct findings *findings, const struct finding_rule *rule)
{
	static const enum totals_memory memory[] = { TOTALS_ANONYMOUS, TOTALS_SHMEM };
	uint64_t files = totals_class(findings->results, IO_MMAP_READ).major +
			 totals_class(findings->results, IO_MMAP_WRITE).major;
	struct swapped swapped = {
		.major = clock_subtract(findings->results->job->processes.major_faults, files),
	};
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_LIKELY };
	uint64_t major = 0; /* older traces have only those of whole processes */
	bool counted = true;

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		const struct trace_operation_total *total =
			totals_memory(findings->results, memory[i]);

		swapped.count += total->count;
		swapped.time_ns += total->thread_time_ns;
		counted &= total->major_faults != TRACE_NOT_COUNTED;
		major += counted ? total->major_faults : 0;
	}
	if (counted)
		swapped.major = major;
	if (findings->results->job->chosen ||
	    !finding_is_enough(swapped.major, THRESHOLD_SWAPPED_FAULTS,
			       finding_share(swapped.time_ns, findings->duration_ns)) ||
	    swapped.major < threshold(THRESHOLD_SWAPPED_SHARE) * swapped.count)
		return 0;
	verdict.cost_ns =
		swapped.time_ns < findings->duration_ns ? swapped.time_ns : findings->duration_ns;
	return finding_add(findings, rule, &swapped, &verdict);
}

static const enum threshold swapped_thresholds[] = {
	THRESHOLD_SWAPPED_FAULTS,
	THRESHOLD_SWAPPED_SHARE,
};

const struct finding_rule finding_swapped = {
	.id = "swapped",
	.needs = JOB_FAULT,
	.find = find_swapped,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct swapped, swapped_evidence),
	FINDING_THRESHOLDS(swapped_thresholds),
	.title = "Run waits for its own memory, which was swapped out",
	.says = "{major:major fault|major faults} on memory without a file; {count} faults on such "
		"memory took {time_ns} of thread time",
	.advice = "Give it more memory (machine, cgroup limit) or reduce its need: fewer workers, "
		  "smaller batches, mapped files instead of copies",
	.more = "faultline report --table totals TRACE",
	.rule = "A page of a program's own memory that was swapped out is read back from the swap "
		"device when it is accessed: a major fault without a file. The kernel counts the "
		"major faults of each thread; those on files are known, so the rest are on swapped "
		"memory. Their time is that of all faults on such memory, including the first "
		"access to each page: an upper bound.",
};
