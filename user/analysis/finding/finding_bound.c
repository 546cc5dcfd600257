/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about runs that wait for reads, writes or mappings where no other rule says why: how
 * much was moved, how fast, and how much of it at once.
 */
#include "analysis/finding/finding.h"
#include "analysis/finding/finding_files.h"
#include "analysis/totals/totals.h"

#include <math.h>

/* A file with at least this part of the time stands for all of it. */
#define ONE_FILE 0.5

struct bound {
	struct table_text path, file;
	uint64_t others, count, bytes, bytes_each, storage_bytes, time_ns, bandwidth;
	uint64_t data_ns; /* summed over these files */
	double at_once;
	double of_file; /* its part of data_ns; NAN: most of it */
};

#define NUMBER(name, title, unit, kind, meaning)                                                   \
	{                                                                                          \
#name, title, UNIT_##unit, KIND_##kind, meaning, TABLE_UINT(struct bound, name), 0 \
	}

static const struct table_column bound_evidence[] = {
	{ "path", "path", UNIT_NONE, KIND_FACT, "file with the most time",
	  TABLE_TEXT(struct bound, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct bound, file), 0 },
	NUMBER(others, "others", COUNT, FACT, "other files, programs excluded; null: none"),
	NUMBER(count, "count", COUNT, FACT,
	       "calls or faults on these files; null: no faults, only calls that map"),
	NUMBER(bytes, "bytes", BYTES, FACT, "bytes moved; null for faults"),
	NUMBER(bytes_each, "each", BYTES, FACT, "average bytes per call; null for faults"),
	NUMBER(storage_bytes, "from storage", BYTES, FACT,
	       "bytes read from storage, into or past the page cache"),
	NUMBER(time_ns, "time", NS, UNION,
	       "time with at least one such call or fault in flight, on any file; for faults, "
	       "programs excluded"),
	NUMBER(bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time; null: none"),
	{ "at_once", "at once", UNIT_NONE, KIND_FACT, "average calls in flight in that time",
	  TABLE_REAL(struct bound, at_once), 0 },
	{ "of_file", "of file", UNIT_SHARE, KIND_FACT,
	  "share of the time on these files spent on the named one; null: half or more",
	  TABLE_REAL(struct bound, of_file), 0 },
};

/* --- findings that cover the same time, and more of it --- */

#define OF_DEVICES                                                                                 \
	&finding_device_errors, &finding_device_slow, &finding_device_overloaded,                  \
		&finding_requests_small, &finding_shallow_queue
#define OF_PHASES &finding_epoch_storage, &finding_loader_io
#define OF_READERS                                                                                 \
	&finding_fetched_again, &finding_load_waits, &finding_read_again,                          \
		&finding_read_by_several, &finding_cold_start, &finding_readahead_unused

static const struct finding_rule *const reads_reported_by[] = {
	&finding_small_reads_storage,
	&finding_small_reads_cached,
	&finding_random_reads,
	&finding_small_files,
	&finding_imports,
	&finding_held_back,
	&finding_small_direct,
	&finding_short_reads,
	OF_READERS,
	OF_DEVICES,
	OF_PHASES,
	NULL,
};

static const struct finding_rule *const writes_reported_by[] = {
	&finding_save_waits,
	&finding_sync_writes,
	&finding_shared_writes,
	&finding_shared_across,
	&finding_partial_writes,
	&finding_small_writes,
	&finding_small_direct,
	&finding_throttled,
	&finding_amplified,
	&finding_sync_checkpoint,
	OF_DEVICES,
	NULL,
};

static const struct finding_rule *const mappings_reported_by[] = {
	&finding_mmap_random,
	&finding_mmap_strided,
	&finding_mmap_in_order,
	&finding_mmap_single,
	&finding_mmap_minor,
	&finding_mmap_stores,
	&finding_mmap_copied,
	&finding_mmap_summed,
	&finding_swapped,
	OF_READERS,
	OF_DEVICES,
	OF_PHASES,
	NULL,
};

static bool is_felt(const struct findings *findings, uint64_t time_ns)
{
	return time_ns >= threshold(THRESHOLD_BOUND_SHARE) * findings->duration_ns;
}

/* Sums up the files that are not programs, and finds the one with the most time. */
static void add_files(const struct findings *findings, const struct finding_rule *rule,
		      struct bound *bound)
{
	enum use use = rule->class == IO_READ	 ? USE_READ
		       : rule->class == IO_WRITE ? USE_WRITE
						 : USE_MMAP;
	uint64_t most_ns = 0, files = 0;
	struct file_view file;

	for (uint32_t i = 0; i < files_count(findings->results); i++) {
		const struct tally *tally = &file.tallies[use];

		if (!files_used(findings->results, i, &file) || file_group_is_program(&file) ||
		    !tally->time.measure)
			continue;
		file_group_forget_holes(findings, i, &file);
		files++;
		bound->count += tally->count;
		bound->bytes += tally->bytes;
		bound->data_ns += tally->time.measure;
		if (use != USE_WRITE)
			bound->storage_bytes += tally->fetched_bytes;
		if (use == USE_READ)
			bound->storage_bytes += file.direct_bytes;
		if (bound->path.length && tally->time.measure <= most_ns)
			continue;
		most_ns = tally->time.measure;
		bound->path = file.path;
	}
	bound->file = finding_base_name(bound->path);
	bound->others = files > 1 ? files - 1 : TABLE_NO_UINT;
	bound->of_file = finding_share(most_ns, bound->data_ns);
	if (bound->of_file >= ONE_FILE)
		bound->of_file = NAN;
	bound->bytes_each = bound->count ? bound->bytes / bound->count : 0;
}

/* Most of the bytes must be of known files. */
static int find_bound(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally all = totals_class(findings->results, rule->class);
	struct bound bound = { .time_ns = all.time.measure };
	struct finding_verdict verdict = {
		.cost_ns = finding_unhidden(findings, rule->class, all.time.measure),
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_LIKELY,
	};

	if (!is_felt(findings, verdict.cost_ns))
		return 0;
	add_files(findings, rule, &bound);
	if (!bound.count || bound.bytes < all.bytes / 2)
		return 0;
	bound.bandwidth = finding_bandwidth(bound.bytes, bound.time_ns);
	bound.at_once = finding_share(all.thread_time_ns, all.time.measure);
	return finding_add(findings, rule, &bound, &verdict);
}

/* Faults on programs are not data: reports the time on other files. */
static int find_mmap_bound(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally all = totals_class(findings->results, IO_MMAP_READ);
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_LIKELY };
	struct bound bound = { .bytes = 0 };

	if (!is_felt(findings, all.time.measure))
		return 0; /* then no part of it is either */
	add_files(findings, rule, &bound);
	bound.time_ns = bound.data_ns < all.time.measure ? bound.data_ns : all.time.measure;
	verdict.cost_ns = finding_unhidden(findings, IO_MMAP_READ, bound.time_ns);
	if (!verdict.cost_ns || !is_felt(findings, verdict.cost_ns))
		return 0;
	bound.bytes = bound.bytes_each = TABLE_NO_UINT;
	if (!bound.count)
		bound.count = TABLE_NO_UINT;
	bound.bandwidth = bound.storage_bytes
				  ? finding_bandwidth(bound.storage_bytes, bound.time_ns)
				  : TABLE_NO_UINT;
	bound.at_once = finding_share(all.thread_time_ns, all.time.measure);
	return finding_add(findings, rule, &bound, &verdict);
}

const struct finding_rule finding_read_bound = {
	.id = "read-bound",
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL,
	.find = find_bound,
	.reported_by = reads_reported_by,
	.class = IO_READ,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	FINDING_THRESHOLD(THRESHOLD_BOUND_SHARE),
	.title = "Run waits for reads, most of all of {file}[, one of many files ({of_file} of "
		 "that time)]",
	.says = "{count} reads of {bytes_each} took {time_ns}, at {bandwidth}/s, {at_once} in "
		"flight on average; {storage_bytes} from storage[; {others:more file|more files}]",
	.advice = "Read less, keep data in memory or use a faster device if the device is busy "
		  "(--table devices); if it is not, issue more reads at once, ahead of use",
	.more = "faultline report --table devices TRACE",
	.rule = "Reported if reads take a noticeable part of the run and no finding about reads "
		"accounts for it: neither their size nor their order makes them slow. The cause is "
		"then the device, a limit of the job's cgroup, memory, CPUs that others use, or "
		"too few reads in flight. Without compute spans, reads by threads next to "
		"computation count as if the run waited.",
};

const struct finding_rule finding_write_bound = {
	.id = "write-bound",
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL,
	.find = find_bound,
	.reported_by = writes_reported_by,
	.class = IO_WRITE,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	FINDING_THRESHOLD(THRESHOLD_BOUND_SHARE),
	.title = "Run waits for writes, most of all to {file}[, one of many files ({of_file} of "
		 "that time)]",
	.says = "{count} writes of {bytes_each} took {time_ns}, at {bandwidth}/s, {at_once} in "
		"flight on average[; {others:more file|more files}]",
	.advice = "Write less, less often or to a faster device if the device is busy (--table "
		  "devices); if it is not, write in a separate thread during the next work; if a "
		  "thread already does, mark compute with spans, because only unoverlapped writes "
		  "cost time",
	.more = "faultline report --table devices TRACE",
	.rule = "Reported if writes take a noticeable part of the run and no finding about writes "
		"accounts for it. Writes go to memory until more is dirty than the kernel allows, "
		"or until its journal waits; then they wait for the device, or for memory and CPUs "
		"that others use. Without compute spans, writes by threads next to computation "
		"count as if the run waited.",
};

const struct finding_rule finding_mmap_bound = {
	.id = "mmap-bound",
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE,
	.find = find_mmap_bound,
	.reported_by = mappings_reported_by,
	.class = IO_MMAP_READ,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	FINDING_THRESHOLD(THRESHOLD_BOUND_SHARE),
	.title = "Run waits for mapped files, most of all for {file}[, one of many files "
		 "({of_file} of that time)]",
	.says = "{time_ns} in [{count:fault|faults} and in ]calls that map, populate or lock; "
		"{storage_bytes} from storage[, at {bandwidth}/s][; {others:more file|more files}]",
	.advice = "Map and populate in a separate thread during earlier work, map only what is "
		  "needed, or keep it in memory between runs; if the device is busy (--table "
		  "devices), read less or use a faster device",
	.more = "faultline report --table devices TRACE",
	.rule = "Reported if mappings take a noticeable part of the run and no finding about them "
		"accounts for it: a file that MAP_POPULATE or mlock reads as a whole, in order and "
		"fast, still takes its time, and the program waits for the call. Programs and "
		"libraries do not count.",
};
