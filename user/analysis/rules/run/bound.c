/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about runs that reads, writes or mappings take much of, if no other finding says why:
 * how much was moved, how fast, and how much of it at once. */
#include <math.h>

#include "analysis/finding/finding_files.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/processes/threads.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

struct bound {
	struct table_text path, file;
	uint64_t others, count, bytes, bytes_each, storage_bytes, time_ns, bandwidth;
	uint64_t data_ns;   /* summed over these files */
	uint64_t busy_ns;   /* TABLE_NO_UINT: not most of it, or unknown */
	uint64_t waited_ns; /* time_ns; TABLE_NO_UINT: busy, or nearly nothing came from devices */
	uint64_t cached_bytes; /* of reads; TABLE_NO_UINT: not nearly all of them, or unknown */
	double at_once;
	double of_file; /* its part of data_ns; NAN: most of it */
};

static const struct table_column bound_evidence[] = {
	FACT(bound, path, "path", NONE, "file with the most time"),
	FACT(bound, file, "file", NONE, "its name"),
	FACT(bound, others, "others", COUNT, "other files, programs excluded; null: none"),
	FACT(bound, count, "count", COUNT,
	     "calls or faults on these files; null: no faults, only calls that map"),
	FACT(bound, bytes, "bytes", BYTES, "bytes moved; null for faults"),
	FACT(bound, bytes_each, "each", BYTES, "average bytes per call; null for faults"),
	FACT(bound, storage_bytes, "from storage", BYTES,
	     "bytes read from storage, into or past the page cache"),
	COLUMN(bound, time_ns, "time", NS, UNION,
	       "time with at least one such call or fault in flight, on any file; for faults, "
	       "programs excluded"),
	COLUMN(bound, bandwidth, "bandwidth", BYTES, RATIO,
	       "bytes per second of that time; null: none"),
	FACT(bound, at_once, "at once", NONE,
	     "average calls in flight in that time; null: unknown"),
	FACT(bound, busy_ns, "busy", NS,
	     "part of that time in which the devices had several requests at once, if that is most "
	     "of it"),
	FACT(bound, waited_ns, "waited", NS,
	     "that time, unless the devices had several requests at once for most of it, or little "
	     "came from storage; null: one of these, or writes"),
	FACT(bound, cached_bytes, "from memory", BYTES,
	     "bytes that the page cache served, if they are nearly all; null: they are not"),
	FACT(bound, of_file, "of file", SHARE,
	     "share of the time on these files spent on the named one; null: half or more"),
};

/* Findings that cover the same time, and more of it. */
#define OF_DEVICES                                                                                 \
	"device-errors", "device-slow", "device-overloaded", "requests-small", "shallow-queue"
#define OF_PHASES "epoch-from-storage", "loader-io"
#define OF_READERS                                                                                 \
	"fetched-again", "load-waits", "read-again", "read-by-several", "cold-start",              \
		"readahead-unused"

/* Sums up the files that are not programs, and finds the one with the most time. */
static void add_files(const struct findings *findings, const struct finding_rule *rule,
		      struct bound *bound)
{
	const enum use use = files_use_of(rule->class);
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
	bound->of_file = finding_share_of_file(most_ns, bound->data_ns);
	bound->bytes_each = finding_average(bound->bytes, bound->count);
}

THRESHOLD_MIN(COPY_BUSY, 0.5, UNIT_SHARE, "share of the time of I/O on CPUs, for reads to copy",
	      "a majority");

/* Whether nearly nothing that calls read came from storage, and the time is that of copying: a
 * server that a network file system or FUSE waits for is no storage, either. */
static bool is_cached(const struct findings *findings, const struct finding_rule *rule,
		      const struct bound *bound)
{
	const struct job *job = findings->results->job;

	return rule->class == IO_READ && job && job->layers & JOB_PAGECACHE &&
	       threads_busy_of_io(findings->results) >= threshold(THRESHOLD_COPY_BUSY) &&
	       bound->storage_bytes < threshold(THRESHOLD_FROM_MEMORY_SHARE) * bound->bytes;
}

/* If the device delivers all that it can, only the job's owner knows whether it must read that
 * much: a note. */
static int add_bound(struct findings *findings, const struct finding_rule *rule,
		     struct bound *bound, uint64_t cost_ns)
{
	const uint64_t busy_ns =
		rule->class == IO_WRITE ? 0 : finding_busy_ns(findings, bound->storage_bytes);
	const bool busy = busy_ns && busy_ns >= threshold(THRESHOLD_MOSTLY_BUSY) * bound->time_ns;
	const bool cached = is_cached(findings, rule, bound);

	bound->busy_ns = busy ? number_min(busy_ns, bound->time_ns) : TABLE_NO_UINT;
	bound->waited_ns =
		busy || cached || rule->class == IO_WRITE ? TABLE_NO_UINT : bound->time_ns;
	bound->cached_bytes =
		cached ? number_sub(bound->bytes, bound->storage_bytes) : TABLE_NO_UINT;
	return finding_add_as(findings, rule, bound,
			      &(struct finding_verdict) {
				      .cost_ns = cost_ns,
				      .cost_bytes = TABLE_NO_UINT,
				      .confidence = rule->confidence,
				      .severity = busy ? FINDING_NOTE : rule->severity,
			      });
}

/* Sums over threads do not show it. */
static double at_once(const struct findings *findings, const struct tally *all)
{
	return findings->aggregated ? NAN : finding_share(all->thread_time_ns, all->time.measure);
}

/* Returns the part of a class's time that the run waited for. Of sums, at most what the main
 * threads' I/O took: others may have run ahead. */
static uint64_t bound_ns(const struct findings *findings, enum io_class class, uint64_t time_ns)
{
	uint64_t whole_ns, roots, io_ns = 0;
	size_t count;
	const struct path_share *shares =
		critical_path_threads(findings->results, &count, &whole_ns, &roots);

	for (size_t i = 0; i < count; i++)
		io_ns = number_add(io_ns, shares[i].parts[PATH_IO]);
	if (!findings->aggregated)
		return finding_unhidden(findings, class, time_ns);
	return roots ? number_min(time_ns, io_ns / roots) : 0;
}

/* Returns what the largest of the more specific findings leaves of the time, without waits for
 * CPUs. Sums overlap, so they do not show how much these explain. */
static uint64_t unexplained_ns(const struct findings *findings, const struct finding_rule *rule,
			       uint64_t time_ns)
{
	const struct finding_io io = { .uses = 1u << files_use_of(rule->class) };
	uint64_t most_ns = rule->class == IO_WRITE ? finding_synced_ns(findings) : 0;

	for (const char *const *id = rule->reported_by; *id; id++)
		most_ns = number_max(most_ns, finding_cost_of(findings, *id, &io));
	if (findings->aggregated && most_ns)
		return 0;
	return finding_limited(number_sub(time_ns, most_ns) *
			       (1 - critical_path_io_runnable(findings->results)));
}

/* Most of the bytes must be of known files. */
static int find_bound(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally all = totals_class(findings->results, rule->class);
	const uint64_t cost_ns =
		unexplained_ns(findings, rule, bound_ns(findings, rule->class, all.time.measure));
	struct bound bound = {
		.time_ns = all.time.measure,
		.at_once = at_once(findings, &all),
	};

	if (!finding_is_of_run(findings, cost_ns, THRESHOLD_MUCH_OF_RUN))
		return 0;
	add_files(findings, rule, &bound);
	if (!bound.count || bound.bytes < all.bytes / 2)
		return 0;
	bound.bandwidth = finding_bandwidth(bound.bytes, bound.time_ns);
	return add_bound(findings, rule, &bound, cost_ns);
}

/* Faults on programs are not data: reports the time on other files. */
static int find_mmap_bound(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally all = totals_class(findings->results, IO_MMAP_READ);
	struct bound bound = { .at_once = at_once(findings, &all) };
	uint64_t cost_ns;

	if (!finding_is_of_run(findings, all.time.measure, THRESHOLD_MUCH_OF_RUN))
		return 0; /* if all of it is not much, no part is */
	add_files(findings, rule, &bound);
	bound.time_ns = number_min(bound.data_ns, all.time.measure);
	cost_ns = unexplained_ns(findings, rule, bound_ns(findings, IO_MMAP_READ, bound.time_ns));
	if (!cost_ns || !finding_is_of_run(findings, cost_ns, THRESHOLD_MUCH_OF_RUN))
		return 0;
	bound.bytes = bound.bytes_each = TABLE_NO_UINT;
	bound.count = finding_or_none(bound.count);
	bound.bandwidth = bound.storage_bytes
				  ? finding_bandwidth(bound.storage_bytes, bound.time_ns)
				  : TABLE_NO_UINT;
	return add_bound(findings, rule, &bound, cost_ns);
}

const struct finding_rule finding_read_bound = {
	.id = "read-bound",
	.order = 640,
	.lines = 1u << USE_READ,
	.lines_of_all = true,
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL,
	.sums = FINDING_OF_SUMS,
	.find = find_bound,
	.confidence = FINDING_LIKELY,
	.reported_by = { "small-reads-storage", "small-reads-cached", "random-reads",
			 "many-small-files", "opened-again", "imports", "held-back", "small-direct",
			 "short-reads", OF_READERS, OF_DEVICES, OF_PHASES },
	.class = IO_READ,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	.thresholds = { &THRESHOLD_MUCH_OF_RUN, &THRESHOLD_MOSTLY_BUSY, &THRESHOLD_BUSY_REQUESTS,
			&THRESHOLD_FROM_MEMORY_SHARE, &THRESHOLD_COPY_BUSY },
	.title = "Run [copies {cached_bytes} from the page cache||waits for reads], mostly of "
		 "{file}[, one of many files ({of_file} of that time)]",
	.says = "{count} reads of {bytes_each} took {time_ns}, at {bandwidth}/s[, {at_once} in "
		"flight on average]; {storage_bytes} from storage[; {others:more file|more files}]",
	.advice = "[Read less (compress, cache, shard) or use a faster device: it is busy with "
		  "several requests at once for {busy_ns}][Issue more reads at once, ahead of use, "
		  "or keep data in memory, to save part of {waited_ns}][Do not copy "
		  "what is in memory ({cached_bytes}): keep it in the process, share it between "
		  "processes, or map the file]",
	.advice_in_general =
		"Read less or use a faster device if it is busy; otherwise issue more "
		"reads at once, ahead of use. If the data is in memory, keep it in the "
		"process, share it, or map the file",
	.more = "faultline report --table devices TRACE",
	.pictures = "took read, parts read",
	.rule = "Reported if reads take a noticeable part of the run and no finding about reads "
		"accounts for it: neither their size nor their order makes them slow. If the "
		"device is busy for most of that time, it delivers what it can, and this is a "
		"note. Otherwise the cause is the device, a limit of the job's cgroup, memory, "
		"CPUs that others use, or too few reads in flight. Without compute spans, reads by "
		"threads next to "
		"computation count as if the run waited.",
};

const struct finding_rule finding_write_bound = {
	.id = "write-bound",
	.order = 650,
	.lines = 1u << USE_WRITE,
	.lines_of_all = true,
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL,
	.sums = FINDING_OF_SUMS,
	.find = find_bound,
	.confidence = FINDING_LIKELY,
	.reported_by = { "save-waits", "sync-writes", "shared-writes", "shared-writes-ranks",
			 "partial-writes", "small-writes", "small-direct", "writers-throttled",
			 "stores-amplified", "sync-checkpoint", OF_DEVICES },
	.class = IO_WRITE,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	.thresholds = { &THRESHOLD_MUCH_OF_RUN },
	.title = "Run waits for writes, mostly to {file}[, one of many files ({of_file} of "
		 "that time)]",
	.says = "{count} writes of {bytes_each} took {time_ns}, at {bandwidth}/s[, {at_once} in "
		"flight on average][; {others:more file|more files}]",
	.advice = "Write less, less often or to a faster device if the device is busy (--table "
		  "devices); if it is not, write in a separate thread during the next work; if a "
		  "thread already does, mark compute with spans, because only unoverlapped writes "
		  "cost time",
	.more = "faultline report --table devices TRACE",
	.pictures = "took write, parts write",
	.rule = "Reported if writes take a noticeable part of the run and no finding about writes "
		"accounts for it. Writes go to memory until more is dirty than the kernel allows, "
		"or until its journal waits; then they wait for the device, or for memory and CPUs "
		"that others use. Without compute spans, writes by threads next to computation "
		"count as if the run waited.",
};

const struct finding_rule finding_mmap_bound = {
	.id = "mmap-bound",
	.order = 660,
	.lines = 1u << USE_MMAP,
	.lines_of_all = true,
	.breadth = FINDING_REST,
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.find = find_mmap_bound,
	.confidence = FINDING_LIKELY,
	.reported_by = { "mmap-random", "mmap-strided", "mmap-in-order", "mmap-single",
			 "mmap-minor-faults", "mmap-store-faults", "mmap-copied", "mmap-faults",
			 "swapped", OF_READERS, OF_DEVICES, OF_PHASES },
	.class = IO_MMAP_READ,
	FINDING_EVIDENCE(struct bound, bound_evidence),
	.thresholds = { &THRESHOLD_MUCH_OF_RUN, &THRESHOLD_MOSTLY_BUSY, &THRESHOLD_BUSY_REQUESTS },
	.title = "Run waits for mapped files, mostly {file}[, one of many files "
		 "({of_file} of that time)]",
	.says = "{time_ns} in [{count:fault|faults} and in ]calls that map, populate or lock; "
		"{storage_bytes} from storage[, at {bandwidth}/s][; {others:more file|more files}]",
	.advice = "Map and populate in a separate thread during earlier work, map only what is "
		  "needed, or keep it in memory between runs[, or use a faster device: it is busy "
		  "with several requests at once for {busy_ns}]",
	.more = "faultline report --table devices TRACE",
	.pictures = "rates storage, map",
	.rule = "Reported if mappings take a noticeable part of the run and no finding about them "
		"accounts for it: a file that MAP_POPULATE or mlock reads as a whole, in order and "
		"fast, still takes its time, and the program waits for the call. Programs and "
		"libraries do not count.",
};
