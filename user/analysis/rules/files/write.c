/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about writing, and about calls that cost time but move little. Each uses one pattern of
 * I/O.
 */
#include <math.h>

#include "analysis/finding/finding_lines.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/processes/threads.h"
#include "analysis/rules/files/calls.h"
#include "base/number.h"

static const struct table_column columns[] = { CALLS_COLUMNS };

const struct finding_evidence calls_evidence = FINDING_EVIDENCE_OF(struct calls, columns);

struct calls calls_of(const struct findings *findings, const struct finding_rule *rule,
		      uint64_t *cost_ns)
{
	struct io_pattern_view view = io_patterns_view(findings->results, rule->io_pattern);
	const struct tally *tally = &view.tally;
	const uint64_t count = tally->count;

	finding_divide(view.class_ns, tally->time.measure, rule->class);
	*cost_ns = finding_unhidden_of(findings, view.class_ns);
	return (struct calls) {
		.path = view.path,
		.file = finding_base_name(view.path),
		.files = view.files,
		.other_files = view.files > 1 && view.files != TABLE_NO_UINT ? view.files - 1
									     : TABLE_NO_UINT,
		.count = count,
		.bytes = tally->bytes,
		.bytes_each = finding_average(tally->bytes, count),
		.time_ns = tally->time.measure,
		.each_ns = count ? tally->thread_time_ns / count : 0,
	};
}

bool calls_are_enough(const struct findings *findings, const struct finding_rule *rule,
		      const struct calls *calls, uint64_t cost_ns)
{
	return finding_is_enough_in(findings, calls->count, rule->thresholds[0], cost_ns);
}

int calls_find(struct findings *findings, const struct finding_rule *rule)
{
	const struct io_pattern_view view = io_patterns_view(findings->results, rule->io_pattern);
	uint64_t cost_ns;
	const struct calls calls = calls_of(findings, rule, &cost_ns);

	return calls_are_enough(findings, rule, &calls, cost_ns)
		       ? finding_add_as(findings, rule, &calls,
					&(struct finding_verdict) {
						.cost_ns = cost_ns,
						.cost_bytes = TABLE_NO_UINT,
						.confidence = rule->confidence,
						.severity = rule->severity,
						.uses = finding_uses_of(view.class_ns),
					})
		       : 0;
}

/* --- concurrent writes to one file --- */

THRESHOLD_MIN(SHARED_WRITES, 10, UNIT_COUNT, "writes that wait for another to the file",
	      "a choice: their time matters more");

const struct finding_rule finding_shared_writes = {
	.id = "shared-writes",
	.order = 370,
	.lines = 1u << USE_WRITE,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = calls_find,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.io_pattern = IO_PATTERN_SHARED_WRITE,
	.class = IO_WRITE,
	/* Without the other ranks' copies, nothing waits. */
	.reported_by = { "written-by-several" },
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_SHARED_WRITES, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Concurrent writes to {file} wait for each other",
	.says = "{count} writes of {bytes_each} began while another thread or process wrote to the "
		"same file; they waited {each_ns} each, {time_ns} in total",
	.advice = "Use one file per rank or thread (joined later), one writer that receives the "
		  "others' data, or O_DIRECT if the file system allows concurrent direct writes",
	.more = "faultline print --op write --file '*/{file}' TRACE",
	.pictures = "took write, parts write",
	.rule = "A write through the page cache holds the lock of its file for its whole duration, "
		"also while it waits for storage: only one of several writers to a file makes "
		"progress at a time, at whatever offset. The time of a write counts up to the end "
		"of the last write that another thread began before it. The holder of the lock is "
		"not recorded. Direct writes, pipes, devices and stores through mappings do not "
		"count, nor do writers that were traced separately: see shared-writes-ranks.",
};

const struct finding_rule finding_shared_across = {
	.id = "shared-writes-ranks",
	.order = 380,
	.lines = 1u << USE_WRITE,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = calls_find,
	.confidence = FINDING_SURE,
	/* Threads of ranks may wait for each other, too: the same writes are reported once. */
	.reported_by = { "shared-writes", "written-by-several" },
	.io_pattern = IO_PATTERN_SHARED_ACROSS,
	.class = IO_WRITE,
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_SHARED_WRITES, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Concurrent writes to {file} by separately traced ranks wait for each other",
	.says = "{count} writes of {bytes_each} began while another trace's process wrote to the "
		"same file; they waited {each_ns} each, {time_ns} in total",
	.advice = "Use one file per rank (joined later), one writer that receives the others' "
		  "data, or O_DIRECT if the file system allows concurrent direct writes",
	.more = "faultline print --op write --file '*/{file}' TRACE...",
	.pictures = "took write, parts write",
	.rule = "Like shared-writes, for several traces that are read together: writes to one file "
		"on one host, with the same device, inode and generation, that began during a "
		"write of another trace. It is unknown for ranks on other hosts, and for "
		"summaries, which lack single writes.",
};

/* --- writes that read first --- */

struct partial_writes {
	struct calls calls;
	uint64_t read_for_write_bytes;
};

static const struct table_column partial_writes_evidence[] = {
	CALLS_COLUMNS,
	FACT(partial_writes, read_for_write_bytes, "read for write", BYTES,
	     "bytes that these writes first read from storage"),
};

static int find_partial_writes(struct findings *findings, const struct finding_rule *rule)
{
	struct io_pattern_view view = io_patterns_view(findings->results, rule->io_pattern);
	uint64_t cost_ns;
	struct partial_writes partial = {
		.calls = calls_of(findings, rule, &cost_ns),
		.read_for_write_bytes = view.tally.read_for_write_bytes,
	};

	return calls_are_enough(findings, rule, &partial.calls, cost_ns)
		       ? finding_add(findings, rule, &partial, cost_ns,
				     partial.read_for_write_bytes)
		       : 0;
}

THRESHOLD_MIN(PARTIAL_WRITES, 100, UNIT_COUNT, "writes that first read from storage",
	      "a choice: appending to files causes a few");

const struct finding_rule finding_partial_writes = {
	.id = "partial-writes",
	.order = 390,
	.lines = 1u << USE_WRITE,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL | JOB_PAGECACHE | JOB_BLOCK,
	.find = find_partial_writes,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	.io_pattern = IO_PATTERN_PARTIAL_WRITE,
	.class = IO_WRITE,
	FINDING_EVIDENCE(struct partial_writes, partial_writes_evidence),
	.thresholds = { &THRESHOLD_PARTIAL_WRITES, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Writes[ to {file}][ and {other_files:more file|more files}] read from storage "
		 "first",
	.says = "{count} writes of {bytes_each} on average changed parts of uncached pages and "
		"read {read_for_write_bytes} to complete them, {each_ns} each, {time_ns} in total",
	.advice = "Write whole pages (offset and length in multiples of 4 KiB), or read the file "
		  "into memory before changing it",
	.more = "faultline report --table io_patterns TRACE",
	.pictures = "sizes write",
	.rule = "The page cache holds whole pages. A write that changes part of a page that is in "
		"storage but not in memory waits until the rest of the page is read. The bytes are "
		"those that such writes read from block devices.",
};

/* --- small writes --- */

struct small_writes {
	struct calls calls;
	uint64_t each_file; /* TABLE_NO_UINT: many, or unknown */
};

static const struct table_column small_writes_evidence[] = {
	CALLS_COLUMNS,
	FACT(small_writes, each_file, "each file", COUNT,
	     "average writes per file; null: many, or unknown"),
};

THRESHOLD_MAX(SMALL_WRITES_OF_FILE, 4, UNIT_COUNT,
	      "small writes per file for the files themselves to be small",
	      "a choice: a header, data and a trailer");

THRESHOLD_MAX(SMALL_WRITES_WORK, 1, UNIT_NONE,
	      "CPU time counted at the same lines, besides the kernel's around each "
	      "call, relative to the writes' time",
	      "measured: the loop and formatting stay, so Python saves 0.5 to 0.8");

static int find_small_writes(struct findings *findings, const struct finding_rule *rule)
{
	uint64_t cost_ns;
	struct small_writes small = { .calls = calls_of(findings, rule, &cost_ns),
				      .each_file = TABLE_NO_UINT };
	const struct calls *calls = &small.calls;

	if (!calls_are_enough(findings, rule, calls, cost_ns))
		return 0;
	if (calls->other_files != TABLE_NO_UINT &&
	    calls->count <= threshold(THRESHOLD_SMALL_WRITES_OF_FILE) * calls->files)
		small.each_file = (calls->count + calls->files - 1) / calls->files;
	return finding_add(findings, rule, &small, cost_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_small_writes = {
	.id = "small-writes",
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_SMALL_WRITES_WORK,
	.order = 400,
	.lines = 1u << USE_WRITE,
	.lines_of_pattern = true,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.find = find_small_writes,
	.confidence = FINDING_SURE,
	/* One finding for the same writes is enough. */
	.reported_by = { "partial-writes" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	.io_pattern = IO_PATTERN_SMALL_WRITE,
	.class = IO_WRITE,
	FINDING_EVIDENCE(struct small_writes, small_writes_evidence),
	.thresholds = { &THRESHOLD_SMALL_REQUESTS, &THRESHOLD_SMALL_WRITES_OF_FILE,
			&THRESHOLD_SMALL_WRITES_WORK, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Small writes[ to {file}][ and {other_files:more file|more files}]",
	.says = "{count} writes of {bytes_each} on average, {time_ns} in total[; {each_file} per "
		"file]",
	.advice = "[Pack the data of files with ≤ {each_file:write|writes} into a few large files "
		  "(tar shards, HDF5, LMDB), and buffer ||Buffer ]in the program and write ≥ 1 MiB "
		  "at a time",
	.more = "faultline report --table operations TRACE",
	.pictures = "sizes write",
	.rule = "Writes of up to 4 KiB: each costs a call and takes the file's lock, and a partly "
		"written page may have to be read first. A file that gets only a few of them is "
		"small itself: a buffer does not help there, but one file instead of many does.",
};

const struct finding_rule finding_small_direct = {
	.id = "small-direct",
	.order = 410,
	.lines = 1u << USE_READ | 1u << USE_WRITE,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = calls_find,
	.confidence = FINDING_SURE,
	/* The same reads are reported once. */
	.reported_by = { "random-reads" },
	.cross_run = true,
	.io_pattern = IO_PATTERN_SMALL_DIRECT,
	.class = IO_READ,
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_SMALL_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Small direct I/O on {file}: each call waits for the device",
	.says = "{count} O_DIRECT calls of {bytes_each}, {each_ns} each, {time_ns} in "
		"total",
	.advice = "Use larger requests or many at once (io_uring, threads), or drop O_DIRECT",
	.more = "faultline report --table operations TRACE",
	.pictures = "sizes direct async",
	.rule = "With O_DIRECT nothing is read ahead, cached or merged: a request of less than 64 "
		"KiB pays the device's latency for little data, one after another.",
};

/* --- calls that wait or fail --- */

THRESHOLD_MIN(LOCKS, 10, UNIT_COUNT, "calls that wait for locks",
	      "a choice: their time matters more");

struct locks {
	struct calls calls;
	struct table_text held_at;
};

static const struct table_column locks_evidence[] = {
	CALLS_COLUMNS,
	FACT(locks, held_at, "held at", NONE,
	     "line at which threads that held a lock were most of the time that others waited; "
	     "null: unknown"),
};

/* Without the lock, threads work at the same time: as far as that is computing, only on free CPUs,
 * less the part of the time in which they wait for CPUs as it is. */
static uint64_t lock_cost_ns(const struct findings *findings, const struct finding_rule *rule,
			     const struct calls *calls)
{
	const struct results *results = findings->results;
	const uint64_t cpus = results->job ? job_cpus(results->job) : 0;
	const uint64_t computing_ns = results->job ? threads_computing_ns(results) : 0;
	const double computing = fmin(finding_share(computing_ns, findings->duration_ns), 1);
	struct path_file_locks locks;
	uint64_t most_ns;

	if (!results->job || !critical_path_file_locks(results, &locks))
		return finding_unhidden(findings, rule->class, calls->time_ns);
	most_ns = number_sub(findings->duration_ns, cpus ? computing_ns / cpus : 0);
	most_ns = number_min(locks.time_ns, most_ns);
	most_ns *= 1 - computing * (1 - threads_free_cpus(results)) / 2;
	return finding_waited(findings, rule->class, calls->time_ns, most_ns);
}

static int find_locks(struct findings *findings, const struct finding_rule *rule)
{
	uint64_t cost_ns;
	struct locks locks = { .calls = calls_of(findings, rule, &cost_ns) };

	cost_ns = lock_cost_ns(findings, rule, &locks.calls);
	if (!calls_are_enough(findings, rule, &locks.calls, cost_ns))
		return 0;
	if (findings->results->job && finding_held_at(findings, &locks.held_at))
		return -ENOMEM;
	return finding_add(findings, rule, &locks, cost_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_locks = {
	.id = "lock-wait",
	.order = 300,
	.lines = 1u << USE_METADATA,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = find_locks,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	.io_pattern = IO_PATTERN_LOCK,
	.class = IO_METADATA,
	FINDING_EVIDENCE(struct locks, locks_evidence),
	.thresholds = { &THRESHOLD_LOCKS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Lock waits[ on {file}]",
	.says = "{count} flock and fcntl calls waited {each_ns} each, {time_ns} in total[; the "
		"lock was held at {held_at}]",
	.advice = "Use one writer per file or one file per rank, or hold locks for a shorter time",
	.more = "faultline print --file '*/{file}' TRACE",
	.pictures = "depth locks, calls metadata",
	.rule = "A file lock makes each later caller wait for the first. On shared file systems "
		"even a free lock is a server round trip. Calls that took less than 10 us found "
		"the lock free and do not count; nor do calls that do not wait (F_SETLK, "
		"F_OFD_SETLK, flock with LOCK_NB or LOCK_UN, any release of a lock) on file "
		"systems whose locks the kernel itself keeps. Without the lock, processes would "
		"compute at the same time: the cost is what the most delayed one and its "
		"descendants waited while a main thread waited, limited by the free CPUs.",
};

THRESHOLD_MIN(FAILED_CALLS, 100, UNIT_COUNT, "failed calls", "a choice: their time matters more");

const struct finding_rule finding_failed_calls = {
	.id = "failed-calls",
	.order = 420,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.find = calls_find,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.io_pattern = IO_PATTERN_FAILED,
	.class = IO_METADATA,
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_FAILED_CALLS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Failed calls take time",
	.says = "{count} calls failed, {each_ns} each, {time_ns} in total[, mostly on {path}]",
	.advice = "Check which calls fail and why: full file systems, quotas, I/O errors, locks "
		  "held by others, or calls that the file does not support",
	.more = "faultline report --table operations TRACE",
	.pictures = "calls failed",
	.rule = "A failed call does nothing for the program, but may still contact a server or "
		"wait. The rule considers time, whatever the error. Calls that name a path, such "
		"as open and stat, are not among them: see failed-lookups.",
};

THRESHOLD_MIN(SHORT_READS, 1000, UNIT_COUNT, "short reads",
	      "Drishti: small_requests_absolute 1000");

const struct finding_rule finding_short_reads = {
	.id = "short-reads",
	.order = 430,
	.lines = 1u << USE_READ,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = calls_find,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.io_pattern = IO_PATTERN_SHORT_READ,
	.class = IO_READ,
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_SHORT_READS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Reads return nothing, or less than requested",
	.says = "{count} reads returned {bytes_each} each[, on {files:file|files}]; {time_ns} in "
		"total",
	.advice = "Request only what is there: know the sizes, read whole records, and stop at the "
		  "end of a file",
	.more = "faultline print --op read --file '*/{file}' TRACE",
	.pictures = "sizes read",
	.rule = "This counts reads that returned nothing, as at the end of a file, and reads that "
		"returned less although the file continues, because its file system returns less "
		"at a time. A read up to the end of a file does not count. Each is a call that has "
		"to be repeated.",
};
