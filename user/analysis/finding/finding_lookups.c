/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about failed path lookups. */
#include "analysis/files/failed_lookups.h"
#include "analysis/finding/finding.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/totals/totals.h"

struct failed {
	struct table_text directory, example;
	uint64_t count, there, time_ns;
};

static const struct table_column failed_evidence[] = {
	{ "directory", "directory", UNIT_NONE, KIND_FACT, "directory with the most failures",
	  TABLE_TEXT(struct failed, directory), 0 },
	{ "example", "example", UNIT_NONE, KIND_FACT, "one of the paths",
	  TABLE_TEXT(struct failed, example), 0 },
	{ "count", "count", UNIT_COUNT, KIND_FACT, "calls with a path that failed",
	  TABLE_UINT(struct failed, count), 0 },
	{ "there", "there", UNIT_COUNT, KIND_FACT, "failures in that directory",
	  TABLE_UINT(struct failed, there), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "thread time in these calls",
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
	const struct tally metadata = totals_class(findings->results, IO_METADATA);
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
	.cross_run = true,
	FINDING_EVIDENCE(struct failed, failed_evidence),
	FINDING_THRESHOLDS(failed_thresholds),
	.title = "Failed path lookups",
	.says = "{count} lookups failed, {there} of them in {directory}, such as {example}",
	.advice = "Remember which files do not exist, shorten search paths (PYTHONPATH, "
		  "LD_LIBRARY_PATH, sys.path), or put local disk first",
	.more = "faultline report --table failed_lookups TRACE",
	.rule = "A search through a list of directories tries each one until it finds the file. On "
		"a shared file system each failed lookup is a round trip, for every process of "
		"every node. Lookups of programs and modules count only if the job's own files "
		"have too few.",
};
