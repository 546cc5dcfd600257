/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about files read with system calls; finding_mmap.c covers mappings. */
#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/totals/totals.h"

static uint64_t cost_again(const struct file_group *file_group)
{
	return file_group->again_bytes;
}

static const struct tally *reads_of(const struct file_view *file)
{
	return &file->tallies[USE_READ];
}

/* Returns whether reads have at most `bytes` on average. */
static bool is_small(const struct file_view *file, double bytes)
{
	const struct tally *reads = reads_of(file);
	uint64_t count = reads->count - reads->errors;

	return count && reads->bytes <= bytes * count;
}

static bool is_from_storage(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);

	return finding_share(reads->fetched_bytes, reads->bytes) >=
	       threshold(THRESHOLD_FROM_STORAGE_SHARE);
}

static bool is_large(const struct file_view *file)
{
	return file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes >= threshold(THRESHOLD_LARGE_FILE);
}

static bool is_random(const struct file_view *file)
{
	return is_large(file) &&
	       file_group_backward(file, BY_READS) >= threshold(THRESHOLD_RANDOM_SHARE);
}

static bool are_many(const struct file_group *file_group)
{
	return finding_is_enough(file_group->count, THRESHOLD_SMALL_REQUESTS, file_group->of_run);
}

/* --- throttled reads --- */

struct held_back {
	struct table_text path, file;
	uint64_t files, requests, bytes, time_ns, held_ns, fetched_bytes, bandwidth;
};

static const struct table_column held_evidence[] = {
	{ "path", "path", UNIT_NONE, KIND_FACT, "file whose reads are throttled longest",
	  TABLE_TEXT(struct held_back, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct held_back, file), 0 },
	{ "files", "files", UNIT_COUNT, KIND_FACT, "such files",
	  TABLE_UINT(struct held_back, files), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "time in reads of these files and faults on them",
	  TABLE_UINT(struct held_back, time_ns), 0 },
	{ "held_ns", "throttled", UNIT_NS, KIND_FACT,
	  "time in reads while no request for these files was in flight, until a late one was",
	  TABLE_UINT(struct held_back, held_ns), 0 },
	{ "requests", "requests", UNIT_COUNT, KIND_FACT, "request parts that came late",
	  TABLE_UINT(struct held_back, requests), 0 },
	{ "bytes", "bytes", UNIT_BYTES, KIND_FACT, "bytes of these requests",
	  TABLE_UINT(struct held_back, bytes), 0 },
	{ "fetched_bytes", "from storage", UNIT_BYTES, KIND_FACT, "bytes from storage, late or not",
	  TABLE_UINT(struct held_back, fetched_bytes), 0 },
	{ "bandwidth", "bandwidth", UNIT_BYTES, KIND_RATIO,
	  "bytes from storage per second of read time", TABLE_UINT(struct held_back, bandwidth),
	  0 },
};

static void add_held(struct held_back *sum, uint64_t *longest_ns, const struct file_view *file,
		     const struct chain_late *late)
{
	const struct tally *reads = &file->tallies[USE_READ], *faults = &file->tallies[USE_MMAP];
	uint64_t time_ns = reads->time.measure + faults->time.measure;

	if (late->time.measure < threshold(THRESHOLD_HELD_BACK) * time_ns)
		return;
	sum->files++;
	sum->requests += late->parts;
	sum->bytes += late->bytes;
	sum->time_ns += time_ns;
	sum->held_ns += late->time.measure;
	sum->fetched_bytes += reads->fetched_bytes + faults->fetched_bytes + file->direct_bytes;
	if (late->time.measure < *longest_ns)
		return;
	*longest_ns = late->time.measure;
	sum->path = file->path;
}

static int find_held_back(struct findings *findings, const struct finding_rule *rule)
{
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_LIKELY,
					   FINDING_BY_COST };
	const uint64_t most_ns = totals_class(findings->results, IO_READ).time.measure +
				 totals_class(findings->results, IO_MMAP_READ).time.measure;
	struct held_back sum = { 0 };
	uint64_t longest_ns = 0;
	struct file_view file;
	size_t count;
	const struct chain_late *all = chain_late_of_files(findings->results, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].parts && files_used(findings->results, i, &file) && file.known)
			add_held(&sum, &longest_ns, &file, &all[i]);
	if (!sum.files)
		return 0;
	sum.file = finding_base_name(sum.path);
	/* Times of several files may overlap. */
	sum.time_ns = sum.time_ns < most_ns ? sum.time_ns : most_ns;
	sum.held_ns = sum.held_ns < sum.time_ns ? sum.held_ns : sum.time_ns;
	sum.bandwidth = finding_bandwidth(sum.fetched_bytes, sum.time_ns);
	verdict.cost_ns = finding_unhidden(findings, IO_READ, sum.held_ns);
	return finding_add(findings, rule, &sum, &verdict);
}

const struct finding_rule finding_held_back = {
	.id = "held-back",
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE | JOB_BLOCK,
	.find = find_held_back,
	FINDING_EVIDENCE(struct held_back, held_evidence),
	FINDING_THRESHOLD(THRESHOLD_HELD_BACK),
	.title = "Reads of {file} are throttled",
	.says = "{fetched_bytes} from {files:file|files}, at {bandwidth}/s; threads waited "
		"{held_ns} of {time_ns} before the device received their {requests} requests",
	.advice = "Raise the cgroup's I/O limit (io.max, blkio.throttle.*), which a container, a "
		  "batch system or systemd sets, or read less: once, packed, kept in memory",
	.more = "faultline report --table devices TRACE",
	.rule = "Requests for data that the run read were queued by other threads, while the run's "
		"own threads waited and the device had no requests for them; most of the read time "
		"passed this way. A cgroup limit on bytes or requests per second has this effect; "
		"a device that forwards requests to another one after a delay looks the same. "
		"Neither the device nor the size of reads is the cause then, but with a limit on "
		"requests, larger reads need fewer.",
};

/* --- small reads from storage --- */

const struct finding_rule *const file_group_held_back[] = { &finding_held_back, NULL };

static bool takes_small_storage(const struct file_view *file)
{
	/* A data set may be many shards of a few MiB: their reads count. */
	return !file_group_is_program(file) && is_small(file, threshold(THRESHOLD_SMALL_READ)) &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes > threshold(THRESHOLD_SMALL_FILE) && is_from_storage(file) &&
	       !is_random(file);
}

static const struct file_group_rule small_storage_files = {
	.use = USE_READ,
	.class = IO_READ,
	.takes = takes_small_storage,
	.speaks = are_many,
	.cost_bytes = file_group_fetched,
	.costs_time = true,
	.confidence = FINDING_LIKELY,
};

static const enum threshold small_storage_thresholds[] = {
	THRESHOLD_SMALL_READ, THRESHOLD_SMALL_REQUESTS, THRESHOLD_FROM_STORAGE_SHARE,
	THRESHOLD_SMALL_FILE, THRESHOLD_HOLES,
};

const struct finding_rule finding_small_reads_storage = {
	.id = "small-reads-storage",
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.find = finding_add_alike,
	.file_group = &small_storage_files,
	.reported_by = file_group_held_back,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(small_storage_thresholds),
	.title = "Small reads of {file} from storage",
	.says = "{count} reads of {bytes_each} on average, {fetched_bytes} from storage[, at "
		"{bandwidth}/s; {consecutive} are sequential][; {others:more such file|more such "
		"files}]",
	.advice = "Read ≥ 1 MiB at a time, or use posix_fadvise(WILLNEED) ahead of use; buffer in "
		  "the program",
	.more = "faultline report --table operations TRACE",
	.rule = "Each read that the page cache cannot serve waits for the device. Small sequential "
		"reads benefit from readahead, but wait again at each window; small reads with "
		"gaps wait at nearly each call. With larger reads, or advice ahead of use, the "
		"device works while the program computes.",
};

/* --- small reads from the page cache --- */

static bool takes_small_cached(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);

	/* Excludes small files that are read at once, and O_DIRECT reads, which are never
	 * cached. */
	return !file_group_is_program(file) &&
	       is_small(file, threshold(THRESHOLD_SMALL_CACHED_READ)) &&
	       reads->count - reads->errors >=
		       threshold(THRESHOLD_SMALL_READS_OF_FILE) * (file->opens ? file->opens : 1) &&
	       finding_share(reads->fetched_bytes + file->direct_bytes, reads->bytes) <=
		       threshold(THRESHOLD_FROM_MEMORY_SHARE);
}

static const struct file_group_rule small_cached_files = {
	.use = USE_READ,
	.class = IO_READ,
	.takes = takes_small_cached,
	.speaks = are_many,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold small_cached_thresholds[] = {
	THRESHOLD_SMALL_CACHED_READ,
	THRESHOLD_SMALL_READS_OF_FILE,
	THRESHOLD_SMALL_REQUESTS,
	THRESHOLD_FROM_MEMORY_SHARE,
};

const struct finding_rule finding_small_reads_cached = {
	.id = "small-reads-cached",
	.drags = true,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.find = finding_add_alike,
	.file_group = &small_cached_files,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(small_cached_thresholds),
	.title = "Small reads of {file} from memory: call overhead dominates",
	.says = "{count} reads of {bytes_each} on average, {fetched_share} of the bytes from "
		"storage[; {others:more such file|more such files}]",
	.advice = "Read more at a time, through a buffer, or map the file into memory",
	.more = "faultline report --table files TRACE",
	.rule = "The data is already in memory. A call costs some hundred nanoseconds whatever it "
		"reads, so reads of a few KiB spend most of their time on the call itself.",
};

/* --- random or backward reads of a large file --- */

/* Without the page cache nothing is read ahead, in any order: large reads lose nothing. */
static bool takes_random(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);
	bool small_direct = is_small(file, threshold(THRESHOLD_SMALL_READ)) &&
			    finding_share(reads->fetched_bytes + file->direct_bytes,
					  reads->bytes) >= threshold(THRESHOLD_FROM_STORAGE_SHARE);

	return !file_group_is_program(file) && is_random(file) &&
	       (is_from_storage(file) || small_direct) &&
	       reads->count >= threshold(THRESHOLD_ORDER);
}

static uint64_t count_of_reads(const struct file_view *file)
{
	return reads_of(file)->count;
}

static uint64_t cost_random(const struct file_group *file_group)
{
	return file_group->storage_bytes;
}

static const struct file_group_rule random_files = {
	.use = USE_READ,
	.class = IO_READ,
	.takes = takes_random,
	.counts = count_of_reads,
	.least = THRESHOLD_RANDOM_READS,
	.cost_bytes = cost_random,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold random_thresholds[] = {
	THRESHOLD_RANDOM_SHARE, THRESHOLD_RANDOM_READS,
	THRESHOLD_LARGE_FILE,	THRESHOLD_FROM_STORAGE_SHARE,
	THRESHOLD_SMALL_READ,	THRESHOLD_HOLES,
	THRESHOLD_ORDER,	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

/* If the same reads go one at a time, the queue depth is what to change first. */
static const struct finding_rule *const random_reported_by[] = { &finding_held_back,
								 &finding_shallow_queue, NULL };

const struct finding_rule finding_random_reads = {
	.id = "random-reads",
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.find = finding_add_alike,
	.file_group = &random_files,
	.reported_by = random_reported_by,
	.cross_run = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(random_thresholds),
	.title = "Random reads of {file} from storage",
	.says = "{count} reads of {bytes_each}, {backward} of them backward, {storage_bytes} from "
		"storage[ ({direct_bytes} with O_DIRECT)], at {bandwidth}/s[; {others:more such "
		"file|more such files}]",
	.advice = "Read larger pieces, sort the reads, keep more of them in flight (threads, "
		  "io_uring, posix_fadvise WILLNEED ahead of use), or shuffle in memory",
	.more = "faultline print --file '*/{file}' TRACE",
	.rule = "Readahead serves sequential reads. Reads that jump each wait for the device, one "
		"after another. Concurrent reads (threads, io_uring), larger pieces or file order "
		"use the device better. With O_DIRECT, which has no readahead, only small reads "
		"count. Holes of a sparse file come from no device: on file systems that read as "
		"many bytes as they return (ext4, xfs), nothing counts as from storage if device "
		"requests were recorded and are far fewer.",
};

/* --- repeated reads --- */

static bool is_read_again(const struct file_view *file)
{
	return !file_group_is_program(file) && is_large(file) &&
	       reads_of(file)->bytes >= threshold(THRESHOLD_AGAIN) * file->size_bytes;
}

/* Read about once per reader: each reads the whole file. */
static bool takes_by_several(const struct file_view *file)
{
	const double times = (double)reads_of(file)->bytes / file->size_bytes;

	return is_read_again(file) && file->processes > 1 && times <= file->processes + 0.5 &&
	       times >= threshold(THRESHOLD_BY_EACH) * file->processes;
}

static bool takes_again(const struct file_view *file)
{
	bool random =
		takes_random(file) && reads_of(file)->count >= threshold(THRESHOLD_RANDOM_READS);

	return is_read_again(file) && !takes_by_several(file) && !random;
}

static bool takes_fetched_again(const struct file_view *file)
{
	return (is_large(file) || !file_group_is_program(file)) && file->size_bytes &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file_group_fetched_to_read(file) >= threshold(THRESHOLD_AGAIN) * file->size_bytes;
}

/* The shards of a data set may each be small. */
static bool are_large(const struct file_group *file_group)
{
	return file_group->size_bytes >= threshold(THRESHOLD_LARGE_FILE);
}

/* The wait is the same, whether the data was in memory or not. */
static const struct finding_rule *const waits_again[] = { &finding_fetched_again,
							  &finding_load_waits, NULL };

static const struct file_group_rule again_files = {
	.use = USE_READ,
	.class = IO_READ,
	.takes = takes_again,
	.cost_bytes = cost_again,
	.costs_time = true,
	.confidence = FINDING_LIKELY,
};

static const struct file_group_rule by_several_files = {
	.use = USE_READ,
	.class = IO_READ,
	.takes = takes_by_several,
	.cost_bytes = cost_again,
	.costs_time = true,
	.confidence = FINDING_LIKELY,
};

static const struct file_group_rule fetched_again_files = {
	.use = USE_READ,
	.class = IO_READ,
	.with_faults = true,
	.takes = takes_fetched_again,
	.speaks = are_large,
	.cost_bytes = file_group_fetched,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold again_thresholds[] = { THRESHOLD_AGAIN, THRESHOLD_LARGE_FILE };
static const enum threshold several_thresholds[] = { THRESHOLD_AGAIN, THRESHOLD_BY_EACH,
						     THRESHOLD_LARGE_FILE };

const struct finding_rule finding_read_again = {
	.id = "read-again",
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.find = finding_add_alike,
	.file_group = &again_files,
	.reported_by = waits_again,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(again_thresholds),
	.title = "{file} is read repeatedly",
	.says = "{bytes} were read from {size_bytes} of data; {fetched_share} from storage[, "
		"{direct_bytes} with O_DIRECT, which caches nothing][; {others:more such file|more "
		"such files}]",
	.advice = "Keep what was read (and decoded) in memory, or read each part once; a benchmark "
		  "may read its file repeatedly on purpose",
	.more = "faultline report --table files TRACE",
	.rule = "More bytes were read than the file has. Reads from memory cost calls and copies, "
		"other reads also cost device time; a second epoch is one cause, a header parsed "
		"for each sample another. With O_DIRECT each read goes to the device: the program "
		"has to keep what it needs again. For parts drawn at random from storage, see "
		"random-reads.",
};

const struct finding_rule finding_read_by_several = {
	.id = "read-by-several",
	.needs = JOB_SYSCALL,
	.find = finding_add_alike,
	.file_group = &by_several_files,
	.reported_by = waits_again,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(several_thresholds),
	.title = "{file} is read in full by each of {processes} processes",
	.says = "{bytes} were read from {size_bytes} of data; {fetched_share} from storage[; "
		"{others:more such file|more such files}]",
	.advice = "Let each rank or worker read its own part (shard), or share one copy in memory",
	.more = "faultline report --table processes TRACE",
	.rule = "The bytes read are about the file's size times the number of its readers. On one "
		"host the page cache serves all but the first; across hosts each copy comes from "
		"storage.",
};

const struct finding_rule finding_fetched_again = {
	.id = "fetched-again",
	.needs = JOB_PAGECACHE,
	.find = finding_add_alike,
	.file_group = &fetched_again_files,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(again_thresholds),
	.title = "{file}[ and {others:more file|more files}] came from storage more than once",
	.says = "{fetched_bytes} from storage for {size_bytes} of data: [the job dropped it with "
		"{dropped:POSIX_FADV_DONTNEED call|POSIX_FADV_DONTNEED calls}||memory did not hold "
		"it][, or the job dropped it with {advised:fadvise call|fadvise calls}]",
	.advice = "[Remove the {dropped:POSIX_FADV_DONTNEED call|POSIX_FADV_DONTNEED calls} while "
		  "the data is still to be read||Give the job more memory (cgroup limit), read "
		  "less at random, or evict data that is done with (POSIX_FADV_DONTNEED on other "
		  "files)][; if its {advised:fadvise call is|fadvise calls are} "
		  "POSIX_FADV_DONTNEED, remove the advice while the data is still to be read]",
	.more = "faultline report --table files TRACE",
	.rule = "Data that was read stays in the page cache until memory is needed. If more came "
		"from storage than the file has, parts of it were evicted in between, or it was "
		"read with O_DIRECT. The job itself evicts data with POSIX_FADV_DONTNEED; it is "
		"reported as the cause if such calls named as much as was read again, and more was "
		"read after them. In aggregated or older traces, the kind and time of fadvise "
		"calls are unknown.",
};
