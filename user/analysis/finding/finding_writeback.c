/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about writeback by the kernel: throttled writers, and stores that write much more than
 * was stored.
 */
#include "analysis/finding/finding.h"
#include "analysis/totals/totals.h"
#include "analysis/shared/trace_text.h"
#include "analysis/devices/writeback.h"

/* --- throttled writers --- */

struct throttled {
	struct table_text path, file; /* of the file whose writers waited most */
	uint64_t pauses, pause_ns;    /* of all files */
	uint64_t file_pause_ns, written_bytes, dirty_bytes;
	double share; /* of the time of writes and stores, summed over threads */
};

static const struct table_column throttled_evidence[] = {
	{ "path", "path", UNIT_NONE, KIND_FACT, "path of the file whose writers waited longest",
	  TABLE_TEXT(struct throttled, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct throttled, file), 0 },
	{ "pauses", "pauses", UNIT_COUNT, KIND_FACT, "times that a writing thread was throttled",
	  TABLE_UINT(struct throttled, pauses), 0 },
	{ "pause_ns", "throttled", UNIT_NS, KIND_FACT, "throttled time, summed over threads",
	  TABLE_UINT(struct throttled, pause_ns), 0 },
	{ "file_pause_ns", NULL, UNIT_NS, KIND_FACT, "throttled time on that file",
	  TABLE_UINT(struct throttled, file_pause_ns), 0 },
	{ "written_bytes", "written", UNIT_BYTES, KIND_FACT,
	  "bytes written and stored to all files", TABLE_UINT(struct throttled, written_bytes), 0 },
	{ "dirty_bytes", NULL, UNIT_BYTES, KIND_FACT,
	  "dirty bytes of the whole machine above which writers wait",
	  TABLE_UINT(struct throttled, dirty_bytes), 0 },
	{ "share", "of the time", UNIT_SHARE, KIND_FACT, "share of write and store time",
	  TABLE_REAL(struct throttled, share), 0 },
};

/* Returns the minimum over all hosts. */
static uint64_t dirty_bytes_of(const struct job *job)
{
	uint64_t least = TABLE_NO_UINT;

	for (size_t i = 0; i < job->trace_count; i++) {
		uint64_t bytes = job->traces[i].header->dirty_bytes;

		if (bytes && bytes < least)
			least = bytes;
	}
	return least;
}

static int find_throttled(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const struct trace_operation_total *all = totals_throttled(results);
	uint64_t writing_ns = totals_class(results, IO_WRITE).thread_time_ns +
			      totals_class(results, IO_MMAP_WRITE).thread_time_ns;
	struct throttled throttled = {
		.pauses = all->count,
		.pause_ns = all->thread_time_ns,
		.dirty_bytes = dirty_bytes_of(results->job),
	};
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_SURE,
					   FINDING_BY_COST };
	struct writeback_view view;

	for (uint32_t i = 0; i < results->job->files.count; i++) {
		if (!writeback_of(results, i, &view))
			continue;
		throttled.written_bytes += view.changed_bytes;
		if (view.sums.pause_ns <= throttled.file_pause_ns)
			continue;
		throttled.file_pause_ns = view.sums.pause_ns;
		throttled.path = view.path;
		throttled.file = finding_base_name(view.path);
	}
	if (writing_ns)
		throttled.share = (double)throttled.pause_ns / writing_ns;
	if (!throttled.pauses || throttled.share < threshold(THRESHOLD_THROTTLED_SHARE))
		return 0;
	/* Several threads may have waited at the same time. */
	verdict.cost_ns = totals_class(results, IO_WRITE).time.measure +
			  totals_class(results, IO_MMAP_WRITE).time.measure;
	if (verdict.cost_ns > throttled.pause_ns)
		verdict.cost_ns = throttled.pause_ns;
	verdict.cost_ns = finding_unhidden(findings, IO_WRITE, verdict.cost_ns);
	return finding_add(findings, rule, &throttled, &verdict);
}

static const enum threshold throttled_thresholds[] = { THRESHOLD_THROTTLED_SHARE };

const struct finding_rule finding_throttled = {
	.id = "writers-throttled",
	.needs = JOB_THROTTLED,
	.find = find_throttled,
	FINDING_EVIDENCE(struct throttled, throttled_evidence),
	FINDING_THRESHOLDS(throttled_thresholds),
	.title = "Writers are throttled: too much data waits for writeback",
	.says = "writing threads were throttled {pauses} times, {pause_ns} in total, {share} of "
		"the time of their writes and stores; most for {file}",
	.advice = "Start writeback earlier (sync_file_range, or fdatasync now and then, in a "
		  "separate thread), write less, or use O_DIRECT or a faster device; "
		  "vm.dirty_bytes and a cgroup's memory limit set how much may be dirty",
	.more = "faultline report --table writeback TRACE",
	.rule = "A write is done once its data is in the page cache, until more is dirty than the "
		"kernel allows for the machine, the device or the cgroup. From then on writers "
		"sleep, so that they write no faster than the device does. A checkpoint below this "
		"limit is written at memory speed, a larger one is not.",
};

/* --- write amplification by sparse stores --- */

struct amplified {
	struct table_text path, file, filesystem; /* of the worst file */
	uint64_t files;
	uint64_t changed_bytes, device_bytes, excess_bytes; /* of all files */
	double times, times_least;
	double inside; /* share of the stores to large folios that were not to the first page */
};

static const struct table_column amplified_evidence[] = {
	{ "path", "path", UNIT_NONE, KIND_FACT, "path of the file with the most excess bytes",
	  TABLE_TEXT(struct amplified, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct amplified, file), 0 },
	{ "filesystem", "file system", UNIT_NONE, KIND_FACT, "its file system type",
	  TABLE_TEXT(struct amplified, filesystem), 0 },
	{ "files", "files", UNIT_COUNT, KIND_FACT, "such files",
	  TABLE_UINT(struct amplified, files), 0 },
	{ "changed_bytes", "changed", UNIT_BYTES, KIND_FACT,
	  "bytes written by calls, plus pages that stores faulted on",
	  TABLE_UINT(struct amplified, changed_bytes), 0 },
	{ "device_bytes", "written", UNIT_BYTES, KIND_FACT, "bytes written to the device for these",
	  TABLE_UINT(struct amplified, device_bytes), 0 },
	{ "excess_bytes", "in excess", UNIT_BYTES, KIND_FACT,
	  "bytes written to the device beyond that", TABLE_UINT(struct amplified, excess_bytes),
	  0 },
	{ "times", "times", UNIT_NONE, KIND_FACT, "upper bound on written as a multiple of changed",
	  TABLE_REAL(struct amplified, times), 0 },
	{ "times_least", "at least", UNIT_NONE, KIND_FACT,
	  "the same multiple if all pages of each large folio were stored to",
	  TABLE_REAL(struct amplified, times_least), 0 },
	{ "inside", "inside", UNIT_SHARE, KIND_FACT,
	  "share of stores that dirtied a large folio outside its first page",
	  TABLE_REAL(struct amplified, inside), 0 },
};

/*
 * Where the kernel maps pages one by one, it is certain that more was written than changed. Where
 * it maps large folios whole, sequential stores begin at the first page of each: those that do not
 * are scattered.
 */
static enum finding_confidence is_amplified(const struct writeback_view *view, bool *amplified)
{
	uint64_t least_bytes = view->changed_bytes + threshold(THRESHOLD_AMPLIFIED_BYTES);
	bool sure = view->amplification >= threshold(THRESHOLD_AMPLIFIED);
	bool scattered = view->large_faults >= threshold(THRESHOLD_SCATTERED_STORES) &&
			 view->inside_faults >= threshold(THRESHOLD_SCATTERED) * view->large_faults;

	*amplified = view->sums.stored_bytes > view->sums.call_bytes &&
		     view->device_bytes >= least_bytes &&
		     view->amplification_most >= threshold(THRESHOLD_AMPLIFIED) &&
		     (sure || scattered);
	return sure ? FINDING_LIKELY : FINDING_GUESS;
}

static int find_amplified(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_LIKELY,
					   FINDING_BY_COST };
	struct amplified sum = { 0 };
	uint64_t worst_bytes = 0, excess_bytes, unseen_bytes = 0, large = 0, inside = 0;

	for (uint32_t i = 0; i < results->job->files.count; i++) {
		enum finding_confidence confidence;
		struct writeback_view view;
		bool amplified;

		if (!writeback_of(results, i, &view))
			continue;
		confidence = is_amplified(&view, &amplified);
		if (!amplified)
			continue;
		if (confidence < verdict.confidence)
			verdict.confidence = confidence;
		excess_bytes = view.device_bytes - view.changed_bytes;
		sum.files++;
		sum.changed_bytes += view.changed_bytes;
		sum.device_bytes += view.device_bytes;
		sum.excess_bytes += excess_bytes;
		unseen_bytes += view.unseen_bytes;
		large += view.large_faults;
		inside += view.inside_faults;
		if (excess_bytes <= worst_bytes)
			continue;
		worst_bytes = excess_bytes;
		sum.path = view.path;
		sum.file = finding_base_name(view.path);
		sum.filesystem = trace_text(file_table_filesystem(&results->job->files, i));
	}
	if (!sum.files)
		return 0;
	sum.times = (double)sum.device_bytes / sum.changed_bytes;
	sum.times_least = (double)sum.device_bytes / (sum.changed_bytes + unseen_bytes);
	sum.inside = finding_share(inside, large);
	verdict.cost_bytes = sum.excess_bytes;
	return finding_add(findings, rule, &sum, &verdict);
}

static const enum threshold amplified_thresholds[] = {
	THRESHOLD_AMPLIFIED,
	THRESHOLD_AMPLIFIED_BYTES,
	THRESHOLD_SCATTERED,
	THRESHOLD_SCATTERED_STORES,
};

const struct finding_rule finding_amplified = {
	.id = "stores-amplified",
	.needs = JOB_FAULT | JOB_DIRTIED | JOB_BLOCK,
	.find = find_amplified,
	FINDING_EVIDENCE(struct amplified, amplified_evidence),
	FINDING_THRESHOLDS(amplified_thresholds),
	.title = "Write amplification by stores to {file}",
	.says = "{device_bytes} written to the device for {changed_bytes} of changed pages: up to "
		"{times} times as much, ≥ {times_least} times, on {files:file|files}",
	.advice = "Change adjacent pages together, use pwrite for single pages instead of a "
		  "mapping, or sync less often; use MADV_RANDOM so that folios stay small",
	.more = "faultline report --table writeback TRACE",
	.rule = "A store through a mapping dirties a whole folio, which may be many pages, and the "
		"whole folio is written back. Scattered stores therefore write much more than they "
		"change, and more so the larger the file system makes its folios. Newer kernels "
		"map a whole folio at its first fault: how many of its pages were stored to is "
		"then unknown, and the rule uses the position of the first store in the folio; "
		"sequential stores begin at its start.",
};
