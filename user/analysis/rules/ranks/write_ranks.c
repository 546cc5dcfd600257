/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding on a file that each of several ranks writes as a whole. */
#include "analysis/finding/finding_files.h"

THRESHOLD_MIN(
	WRITTEN_WHOLE, 0.75, UNIT_SHARE, "part of the file's size that each rank writes on average",
	"a choice: as for readers of a file; the last one may be cut off by the end of the run");

static bool takes_overwritten(const struct file_view *file)
{
	return file->overwriters != TABLE_NO_UINT && file->overwriters > 1 &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file->tallies[USE_WRITE].bytes >=
		       threshold(THRESHOLD_WRITTEN_WHOLE) * file->size_bytes * file->overwriters;
}

static bool are_of_run(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->of_run >= threshold(THRESHOLD_TIME_DECIDES);
}

/* All ranks but one save it. */
static double is_of_other_ranks(const struct findings *findings,
				const struct file_group *file_group)
{
	return 1 - 1.0 / file_group->overwriters;
}

const struct finding_rule finding_written_by_several = {
	.id = "written-by-several",
	.order = 325,
	.needs = JOB_SYSCALL,
	.class = IO_WRITE,
	.confidence = FINDING_LIKELY,
	.lines = 1u << USE_METADATA,
	.files = {
		.use = USE_WRITE,
		.with_metadata = true,
		.takes = takes_overwritten,
		.speaks = are_of_run,
		.saved = is_of_other_ranks,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_WRITTEN_WHOLE, &THRESHOLD_TIME_DECIDES },
	.title = "Each of {overwriters} ranks writes the whole of {file}",
	.says = "{bytes} were written for {size_bytes} of data, in {time_ns}[; {others:more such "
		"file|more such files}]",
	.advice = "Write it on one rank only (if rank == 0), and let the others wait for it; or, if "
		  "their data differs, give each rank a file of its own",
	.more = "faultline report --table files --columns overwrite TRACE",
	.pictures = "story, story all",
	.rule = "Several ranks open the file with O_TRUNC and write all of it on average: only the "
		"last rank's data remains, and the other writes are wasted. Each open waits for "
		"the writes of the ranks before it, and a reader may see half a file.",
};
