/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about what the kernel does with the page cache: wasted readahead, throttled writers,
 * and stores that write much more than was stored.
 */
#include "analysis/devices/devices.h"
#include "analysis/devices/writeback.h"
#include "analysis/readahead/readahead.h"
#include "analysis/finding/finding.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

/* --- wasted readahead --- */

struct unused {
	struct table_text path, file; /* the one with the most unused bytes */
	uint64_t files;
	uint64_t fetched_bytes, unused_bytes, unseen_bytes; /* of all files */
	uint64_t window_bytes;
	double share;
};

static const struct table_column unused_evidence[] = {
	FACT(unused, path, "path", NONE, "path of the file with the most unused bytes"),
	FACT(unused, file, "file", NONE, "its name"),
	FACT(unused, files, "files", COUNT, "such files"),
	FACT(unused, fetched_bytes, "fetched", BYTES,
	     "bytes of these files read into the page cache"),
	FACT(unused, unused_bytes, "unused", BYTES,
	     "bytes read ahead and neither read nor near a later fault"),
	FACT(unused, unseen_bytes, "unseen", BYTES,
	     "bytes mapped around a fault: their use is unknown, and they are not counted"),
	FACT(unused, window_bytes, "readahead", BYTES, "initial limit on readahead for the file"),
	FACT(unused, share, "share", SHARE, "unused share of the bytes read"),
};

THRESHOLD_MIN(READAHEAD_BYTES, 4194304, UNIT_BYTES, "bytes fetched ahead and not used",
	      "a choice: many of the kernel's default windows of 128 KiB");
THRESHOLD_MIN(READAHEAD_UNUSED, 0.5, UNIT_SHARE,
	      "share of the fetched bytes with known use that were not used", "a majority");
THRESHOLD_MIN(READAHEAD_OF_ALL, 0.25, UNIT_SHARE, "share of all fetched bytes that were not used",
	      "a choice: data used by nine tenths was worth fetching");

THRESHOLD_MIN(READAHEAD_OF_RUN, 0.01, UNIT_SHARE,
	      "share of the run in which devices read bytes that were not used",
	      "a choice: a tenth of severity high");

/* In proportion to all bytes that the devices read; true if these are unknown. */
static bool devices_are_busy_with(const struct findings *findings, uint64_t unused_bytes)
{
	const struct device_waits reads = devices_reads(findings->results);
	const double share = finding_share(unused_bytes, reads.bytes);

	return !reads.bytes ||
	       finding_is_of_run(findings, finding_limited(reads.time.measure * share),
				 THRESHOLD_READAHEAD_OF_RUN);
}

/* These ask for the same change to a file. */
static const char *const random_rules[] = { "mmap-random", "mmap-strided", "random-reads", NULL };

static bool is_reported_as_random(const struct findings *findings, uint32_t number)
{
	struct file_view file;
	bool reported = false;

	if (!files_used(findings->results, number, &file))
		return false;
	for (const char *const *id = random_rules; *id && !reported; id++)
		reported = finding_rule_named(*id)->files.takes(&file) &&
			   finding_cost_of(findings, *id, NULL);
	return reported;
}

static int find_unused(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const struct file_table *files = &results->job->files;
	struct unused unused = { .window_bytes = TABLE_NO_UINT };
	uint64_t worst = 0;

	if (results->job->lost) /* lost events may have used it */
		return 0;
	for (uint32_t i = 0; i < files->count; i++) {
		struct readahead_sums sums;
		struct table_text path;

		if (!readahead_of(results, i, &sums) ||
		    sums.unused_bytes < threshold(THRESHOLD_READAHEAD_BYTES) ||
		    sums.unused_bytes < threshold(THRESHOLD_READAHEAD_UNUSED) *
						number_sub(sums.fetched_bytes, sums.unseen_bytes) ||
		    sums.unused_bytes < threshold(THRESHOLD_READAHEAD_OF_ALL) * sums.fetched_bytes)
			continue;
		path = trace_text(file_table_name(files, i));
		/* How a loader reads cannot be changed. */
		if (loaded_in(files, path) || is_reported_as_random(findings, i))
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
	if (!unused.files || !devices_are_busy_with(findings, unused.unused_bytes))
		return 0;
	unused.share = (double)unused.unused_bytes / unused.fetched_bytes;
	return finding_add(findings, rule, &unused, TABLE_NO_UINT, unused.unused_bytes);
}

const struct finding_rule finding_readahead_unused = {
	.id = "readahead-unused",
	.order = 460,
	.lines = 1u << USE_READ | 1u << USE_MMAP,
	.needs = JOB_BLOCK | JOB_SYSCALL | JOB_FAULT,
	.find = find_unused,
	.confidence = FINDING_SURE,
	FINDING_EVIDENCE(struct unused, unused_evidence),
	.thresholds = { &THRESHOLD_READAHEAD_UNUSED, &THRESHOLD_READAHEAD_OF_ALL,
			&THRESHOLD_READAHEAD_BYTES, &THRESHOLD_READAHEAD_OF_RUN },
	.title = "Wasted readahead on {file}",
	.says = "{unused_bytes} of {fetched_bytes} from storage ({share}) were neither read nor "
		"faulted on later (readahead up to {window_bytes}), on {files:file|files}",
	.advice = "Use POSIX_FADV_RANDOM or MADV_RANDOM for random access, lower read_ahead_kb, or "
		  "read larger pieces in order",
	.more = "faultline report --table readahead TRACE",
	.pictures = "story readahead, map",
	.rule = "The kernel assumes that a program continues reading where it is, and reads ahead, "
		"also around a fault. If the assumption is wrong, the device moves bytes that "
		"nothing uses, and other programs, as well as the program's own next access, have "
		"to wait for them. Pages mapped around a fault may be used without being observed, "
		"so they do not count as unused. Programs, libraries and modules are excluded: how "
		"they are loaded cannot be changed. So are files whose random reads are a finding: "
		"the change is the same.",
};

/* --- throttled writers --- */

struct throttled {
	struct table_text path, file; /* of the file whose writers waited most */
	uint64_t pauses, pause_ns;    /* of all files */
	uint64_t file_pause_ns, written_bytes, dirty_bytes;
	double share; /* of the time of writes and stores, summed over threads */
};

static const struct table_column throttled_evidence[] = {
	FACT(throttled, path, "path", NONE, "path of the file whose writers waited longest"),
	FACT(throttled, file, "file", NONE, "its name"),
	FACT(throttled, pauses, "pauses", COUNT, "times that a writing thread was throttled"),
	FACT(throttled, pause_ns, "throttled", NS, "throttled time, summed over threads"),
	FACT(throttled, file_pause_ns, NULL, NS, "throttled time on that file"),
	FACT(throttled, written_bytes, "written", BYTES, "bytes written and stored to all files"),
	FACT(throttled, dirty_bytes, NULL, BYTES,
	     "dirty bytes of the whole machine above which writers wait"),
	FACT(throttled, share, "of the time", SHARE, "share of write and store time"),
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

THRESHOLD_MIN(THROTTLED_SHARE, 0.1, UNIT_SHARE,
	      "share of the time of writes and stores in which they were throttled",
	      "a choice: below it something else makes them slow");

static int find_throttled(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const struct trace_operation_total *all = totals_throttled(results);
	uint64_t times_ns[IO_CLASS_COUNT] = {
		[IO_WRITE] = totals_class(results, IO_WRITE).thread_time_ns,
		[IO_MMAP_WRITE] = totals_class(results, IO_MMAP_WRITE).thread_time_ns,
	};
	const uint64_t writing_ns = times_ns[IO_WRITE] + times_ns[IO_MMAP_WRITE];
	struct throttled throttled = {
		.pauses = all->count,
		.pause_ns = all->thread_time_ns,
		.dirty_bytes = dirty_bytes_of(results->job),
	};
	struct writeback_view view;
	uint64_t cost_ns;

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
	cost_ns = number_min(throttled.pause_ns,
			     totals_class(results, IO_WRITE).time.measure +
				     totals_class(results, IO_MMAP_WRITE).time.measure);
	finding_divide(times_ns, cost_ns, IO_WRITE);
	return finding_add_of(findings, rule, &throttled, times_ns);
}

const struct finding_rule finding_throttled = {
	.id = "writers-throttled",
	.order = 440,
	.lines = 1u << USE_WRITE | 1u << USE_MMAP,
	.needs = JOB_THROTTLED,
	.find = find_throttled,
	.confidence = FINDING_SURE,
	FINDING_EVIDENCE(struct throttled, throttled_evidence),
	.thresholds = { &THRESHOLD_THROTTLED_SHARE },
	.title = "Writers are throttled: too much data waits for writeback",
	.says = "writing threads were throttled {pauses} times, {pause_ns} in total, {share} of "
		"the time of their writes and stores; most for {file}",
	.advice = "Start writeback earlier (sync_file_range, or fdatasync now and then, in a "
		  "separate thread), write less, or use O_DIRECT or a faster device; "
		  "vm.dirty_bytes and a cgroup's memory limit set how much may be dirty",
	.more = "faultline report --table writeback TRACE",
	.pictures = "rates written, writers",
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
	FACT(amplified, path, "path", NONE, "path of the file with the most excess bytes"),
	FACT(amplified, file, "file", NONE, "its name"),
	FACT(amplified, filesystem, "file system", NONE, "its file system type"),
	FACT(amplified, files, "files", COUNT, "such files"),
	FACT(amplified, changed_bytes, "changed", BYTES,
	     "bytes written by calls, plus pages that stores faulted on"),
	FACT(amplified, device_bytes, "written", BYTES, "bytes written to the device for these"),
	FACT(amplified, excess_bytes, "in excess", BYTES,
	     "bytes written to the device beyond that"),
	FACT(amplified, times, "times", NONE, "upper bound on written as a multiple of changed"),
	FACT(amplified, times_least, "at least", NONE,
	     "the same multiple if all pages of each large folio were stored to"),
	FACT(amplified, inside, "inside", SHARE,
	     "share of stores that dirtied a large folio outside its first page"),
};

THRESHOLD_MIN(AMPLIFIED_BYTES, 16777216, UNIT_BYTES, "bytes written in excess for a file",
	      "a choice: as for a large file");
THRESHOLD_MIN(AMPLIFIED, 2, UNIT_NONE, "bytes written to the device per byte stored",
	      "measured with one page stored per 64 KiB: btrfs 1, ext4 2.5, xfs 11.8");
THRESHOLD_MIN(SCATTERED_STORES, 16, UNIT_COUNT, "stores to large folios",
	      "a choice: fewer do not show how they are spread");
THRESHOLD_MIN(SCATTERED, 0.5, UNIT_SHARE,
	      "share of stores to large folios outside their first page",
	      "random stores in folios of two or more pages have at least 0.5");

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
	struct finding_verdict verdict = { .cost_ns = TABLE_NO_UINT,
					   .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_LIKELY,
					   .severity = FINDING_BY_COST };
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
	return finding_add_as(findings, rule, &sum, &verdict);
}

const struct finding_rule finding_amplified = {
	.id = "stores-amplified",
	.order = 450,
	.needs = JOB_FAULT | JOB_DIRTIED | JOB_BLOCK,
	.find = find_amplified,
	FINDING_EVIDENCE(struct amplified, amplified_evidence),
	.thresholds = { &THRESHOLD_AMPLIFIED, &THRESHOLD_AMPLIFIED_BYTES, &THRESHOLD_SCATTERED,
			&THRESHOLD_SCATTERED_STORES },
	.title = "Write amplification by stores to {file}",
	.says = "{device_bytes} written to the device for {changed_bytes} of changed pages: up to "
		"{times} times as much, ≥ {times_least} times, on {files:file|files}",
	.advice = "Change adjacent pages together, use pwrite for single pages instead of a "
		  "mapping, or sync less often; use MADV_RANDOM so that folios stay small",
	.more = "faultline report --table writeback TRACE",
	.pictures = "story amplified",
	.rule = "A store through a mapping dirties a whole folio, which may be many pages, and the "
		"whole folio is written back. Scattered stores therefore write much more than they "
		"change, and more so the larger the file system makes its folios. Newer kernels "
		"map a whole folio at its first fault: how many of its pages were stored to is "
		"then unknown, and the rule uses the position of the first store in the folio; "
		"sequential stores begin at its start.",
};
