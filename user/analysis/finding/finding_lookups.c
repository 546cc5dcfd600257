/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about failed path lookups. */
#include "analysis/failed_lookups.h"
#include "analysis/finding/finding.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/totals.h"

struct failed {
	struct table_text directory, example;
	uint64_t count, there, time_ns;
};

static const struct table_column failed_evidence[] = {
	{ "directory", "directory", UNIT_NONE, "where most of them failed",
	  TABLE_TEXT(struct failed, directory), 0 },
	{ "example", "example", UNIT_NONE, "one of them", TABLE_TEXT(struct failed, example), 0 },
	{ "count", "count", UNIT_COUNT, "calls that named a path and failed",
	  TABLE_UINT(struct failed, count), 0 },
	{ "there", "there", UNIT_COUNT, "of them in that directory",
	  TABLE_UINT(struct failed, there), 0 },
	{ "time_ns", "time", UNIT_NS, "time in them, summed over threads",
	  TABLE_UINT(struct failed, time_ns), 0 },
};

static bool are_many(const struct findings *findings, const struct lookups_view *failed)
{
	return finding_is_enough(failed->all_count, THRESHOLD_FAILED_LOOKUPS,
				 finding_share(failed->all_thread_time_ns, findings->duration_ns));
}

/* Uses the job's own lookups if there are many, otherwise all of them, including the search for
 * modules. */
static int find_failed(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally metadata = totals_class(findings->measured, IO_METADATA);
	struct lookups_view worst = failed_lookups_worst(findings->report, LOOKUPS_OF_DATA);
	struct failed failed;
	struct finding_verdict verdict = {
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_SURE,
	};

	if (!are_many(findings, &worst))
		worst = failed_lookups_worst(findings->report, LOOKUPS_ALL);
	if (!are_many(findings, &worst))
		return 0;
	failed = (struct failed) {
		.directory = worst.directory,
		.example = worst.example,
		.count = worst.all_count,
		.there = worst.count,
		.time_ns = worst.all_thread_time_ns,
	};
	verdict.cost_ns =
		failed.time_ns < metadata.time.measure ? failed.time_ns : metadata.time.measure;
	verdict.cost_ns = finding_unhidden(findings, IO_METADATA, verdict.cost_ns);
	return finding_add(findings, rule, &failed, &verdict);
}

static const enum threshold failed_thresholds[] = { THRESHOLD_FAILED_LOOKUPS };

const struct finding_rule finding_failed_lookups = {
	.id = "failed-lookups",
	.needs = JOB_SYSCALL,
	.find = find_failed,
	.of_runs = true,
	FINDING_EVIDENCE(struct failed, failed_evidence),
	FINDING_THRESHOLDS(failed_thresholds),
	.title = "files are looked for where they are not",
	.says = "{count} look-ups failed, {there} of them in {directory}, such as {example}",
	.advice = "remember what is not there, shorten search paths (PYTHONPATH, LD_LIBRARY_PATH, "
		  "sys.path), or put local disk first",
	.more = "faultline report --table failed_lookups TRACE",
	.rule = "Searching a list of directories asks for the file in each until it is found. On a "
		"shared file system each look-up that fails is a round trip, for every process of "
		"every node. What is looked for to be run, such as modules, counts where the job's "
		"own files alone are too few.",
};
