/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about files that are rewritten in full as they grow. */

#include "analysis/finding/finding_files.h"

THRESHOLD_MIN(VERSIONS, 16, UNIT_COUNT, "times that the file grows",
	      "a choice: fewer are saves of a few kinds of results");

THRESHOLD_MIN(VERSIONS_SHARE, 0.8, UNIT_SHARE,
	      "share of truncating opens after which the file grows beyond its earlier size",
	      "a choice: sizes that vary at random grow half of the time");

static bool takes_grown(const struct file_view *file)
{
	return file->grown && file->overwrites != TABLE_NO_UINT &&
	       file->grown >= threshold(THRESHOLD_VERSIONS_SHARE) * file->overwrites;
}

bool finding_rewritten_takes(const struct file_view *file)
{
	return takes_grown(file) && file->grown >= threshold(THRESHOLD_VERSIONS);
}

static uint64_t count_of_versions(const struct file_view *file)
{
	return file->grown;
}

static double share_repeated(const struct findings *findings, const struct file_group *file_group)
{
	return finding_share(file_group->repeated_bytes, file_group->bytes);
}

static uint64_t cost_repeated(const struct file_group *file_group)
{
	return file_group->repeated_bytes;
}

const struct finding_rule finding_rewritten = {
	.id = "rewritten",
	.order = 212,
	.causes_work = true,
	.work_at_lines = finding_always,
	.lines = 1u << USE_METADATA,
	.needs = JOB_SYSCALL,
	.class = IO_WRITE,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_WRITE,
		.with_metadata = true,
		.with_overwriting = true,
		.takes = takes_grown,
		.counts = count_of_versions,
		.counts_min = &THRESHOLD_VERSIONS,
		.saved = share_repeated,
		.cost_bytes = cost_repeated,
	},
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_VERSIONS, &THRESHOLD_VERSIONS_SHARE, &THRESHOLD_TIME_DECIDES,
			&THRESHOLD_FEW },
	.title = "{file} is rewritten in full as it grows",
	.says = "{files:file|files} truncated and rewritten {versions:time|times}, longer each time; {repeated_bytes} of the {bytes} written repeat what was there",
	.advice = "Append only what is new (mode \"a\", one record per line), or keep the records in "
		  "memory and write them once",
	.more = "faultline report --table files --columns path,size_bytes,write.bytes,overwrite TRACE",
	.pictures = "calls metadata, took write",
	.rule = "A program that opens its log, history or table of results with mode \"w\" rewrites and reformats all records for each new one: the work grows with the square of their number. Contents are not recorded: a version that is "
		"larger than the one before is taken to begin with the same content. The cost is "
		"the share of such bytes in the time of the writes and opens, and in the CPU work "
		"at the same lines.",
};
