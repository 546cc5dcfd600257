/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about wasted readahead. */
#include "analysis/finding/finding.h"
#include "analysis/shared/loaded.h"
#include "analysis/files/readahead.h"
#include "analysis/shared/trace_text.h"

struct unused {
	struct table_text path, file; /* the one with the most unused bytes */
	uint64_t files;
	uint64_t fetched_bytes, unused_bytes, unseen_bytes; /* of all files */
	uint64_t window_bytes;
	double share;
};

static const struct table_column unused_evidence[] = {
	{ "path", "path", UNIT_NONE, KIND_FACT, "path of the file with the most unused bytes",
	  TABLE_TEXT(struct unused, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct unused, file), 0 },
	{ "files", "files", UNIT_COUNT, KIND_FACT, "such files", TABLE_UINT(struct unused, files),
	  0 },
	{ "fetched_bytes", "fetched", UNIT_BYTES, KIND_FACT,
	  "bytes of these files read into the page cache", TABLE_UINT(struct unused, fetched_bytes),
	  0 },
	{ "unused_bytes", "unused", UNIT_BYTES, KIND_FACT,
	  "bytes read ahead and neither read nor near a later fault",
	  TABLE_UINT(struct unused, unused_bytes), 0 },
	{ "unseen_bytes", "unseen", UNIT_BYTES, KIND_FACT,
	  "bytes mapped around a fault: their use is unknown, and they are not counted",
	  TABLE_UINT(struct unused, unseen_bytes), 0 },
	{ "window_bytes", "readahead", UNIT_BYTES, KIND_FACT,
	  "initial limit on readahead for the file", TABLE_UINT(struct unused, window_bytes), 0 },
	{ "share", "share", UNIT_SHARE, KIND_FACT, "unused share of the bytes read",
	  TABLE_REAL(struct unused, share), 0 },
};

static int find_unused(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const struct file_table *files = &results->job->files;
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_SURE,
					   FINDING_BY_COST };
	struct unused unused = { .window_bytes = TABLE_NO_UINT };
	uint64_t worst = 0;

	if (results->job->lost) /* lost events may have used it */
		return 0;
	for (uint32_t i = 0; i < files->count; i++) {
		struct readahead_sums sums;
		struct table_text path;

		if (!readahead_of(results, i, &sums) ||
		    sums.unused_bytes < threshold(THRESHOLD_READAHEAD_BYTES) ||
		    sums.unused_bytes <
			    threshold(THRESHOLD_READAHEAD_UNUSED) *
				    clock_subtract(sums.fetched_bytes, sums.unseen_bytes) ||
		    sums.unused_bytes < threshold(THRESHOLD_READAHEAD_OF_ALL) * sums.fetched_bytes)
			continue;
		path = trace_text(file_table_name(files, i));
		if (loaded_is(path)) /* how a loader reads cannot be changed */
			continue;
		unused.files++;
		unused.fetched_bytes += sums.fetched_bytes;
		unused.unused_bytes += sums.unused_bytes;
		unused.unseen_bytes += sums.unseen_bytes;
		if (sums.unused_bytes <= worst)
			continue;
		worst = sums.unused_bytes;
		unused.path = path;
		unused.file = finding_base_name(path);
		if (files->files[i].readahead_bytes)
			unused.window_bytes = files->files[i].readahead_bytes;
	}
	if (!unused.files)
		return 0;
	unused.share = (double)unused.unused_bytes / unused.fetched_bytes;
	verdict.cost_bytes = unused.unused_bytes;
	return finding_add(findings, rule, &unused, &verdict);
}

static const enum threshold unused_thresholds[] = {
	THRESHOLD_READAHEAD_UNUSED,
	THRESHOLD_READAHEAD_OF_ALL,
	THRESHOLD_READAHEAD_BYTES,
};

const struct finding_rule finding_readahead_unused = {
	.id = "readahead-unused",
	.needs = JOB_BLOCK | JOB_SYSCALL | JOB_FAULT,
	.find = find_unused,
	FINDING_EVIDENCE(struct unused, unused_evidence),
	FINDING_THRESHOLDS(unused_thresholds),
	.title = "Wasted readahead on {file}",
	.says = "{unused_bytes} of {fetched_bytes} from storage ({share}) were neither read nor "
		"faulted on later (readahead up to {window_bytes}), on {files:file|files}",
	.advice = "Use POSIX_FADV_RANDOM or MADV_RANDOM for random access, lower read_ahead_kb, or "
		  "read larger pieces in order",
	.more = "faultline report --table readahead TRACE",
	.rule = "The kernel assumes that a program continues reading where it is, and reads ahead, "
		"also around a fault. If the assumption is wrong, the device moves bytes that "
		"nothing uses, and other programs, as well as the program's own next access, have "
		"to wait for them. Pages mapped around a fault may be used without being observed, "
		"so they do not count as unused. Programs, libraries and modules are excluded: how "
		"they are loaded cannot be changed.",
};
