/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about files read with system calls; mmap.c covers mappings. */
#include <math.h>

#include "analysis/finding/finding_files.h"
#include "analysis/processes/threads.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

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

static bool are_many(const struct findings *findings, const struct file_group *file_group)
{
	return finding_is_enough(file_group->count, &THRESHOLD_SMALL_REQUESTS, file_group->of_run);
}

/* --- small reads from storage --- */

static bool takes_small_storage(const struct file_view *file)
{
	/* A data set may be many shards of a few MiB: their reads count. */
	return is_small(file, threshold(THRESHOLD_SMALL_READ)) &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes > threshold(THRESHOLD_SMALL_FILE) && is_from_storage(file) &&
	       !is_random(file);
}

THRESHOLD_MAX(SMALL_READS_WORK, 2, UNIT_NONE,
	      "CPU time counted at the same lines, besides the kernel's around each "
	      "call, relative to the reads' time",
	      "measured: Python's loop and call around a read take 1.1 to 1.8 times its time");

const struct finding_rule finding_small_reads_storage = {
	.id = "small-reads-storage",
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_SMALL_READS_WORK,
	.order = 160,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.class = IO_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_READ,
		.takes = takes_small_storage,
		.speaks = are_many,
		.stays = file_group_copies_stay,
		.cost_bytes = file_group_fetched,
		.keeps_busy = true,
	},
	.reported_by = { "held-back" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_SMALL_READ, &THRESHOLD_SMALL_REQUESTS,
			&THRESHOLD_FROM_STORAGE_SHARE, &THRESHOLD_SMALL_FILE, &THRESHOLD_HOLES,
			&THRESHOLD_SMALL_READS_WORK, &THRESHOLD_CALL_BYTES,
			&THRESHOLD_BUSY_REQUESTS,
			&THRESHOLD_SCAN_ORDER, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Small reads of {file} from storage",
	.says = "{count} reads of {bytes_each} on average, {fetched_bytes} from storage[, at "
		"{bandwidth}/s; {consecutive} are sequential][; {others:more such file|more such "
		"files}]",
	.advice = "[Remove POSIX_FADV_RANDOM (set {misadvised:time|times}): the file is read in "
		  "order, which readahead would serve. Or read ||Read ]≥ 1 MiB at a time, or use "
		  "posix_fadvise(WILLNEED) ahead of use; buffer in the program",
	.more = "faultline report --table operations TRACE",
	.pictures = "sizes read direct",
	.rule = "Each read that the page cache cannot serve waits for the device. Small sequential "
		"reads benefit from readahead, but wait again at each window; small reads with "
		"gaps, and all after POSIX_FADV_RANDOM, wait at nearly each call. With larger "
		"reads, or advice ahead of use, the device works while the program computes. The "
		"cost leaves out the time in which it is busy with several requests at once, "
		"because it has to read the data in any case, and the time of copying the data.",
};

/* --- small reads from the page cache --- */

THRESHOLD_MAX(SMALL_CACHED_READ, 16384, UNIT_BYTES, "average size of a read from memory",
	      "measured: a call costs as much as copying 4 KiB; at 16 KiB, a fifth");
THRESHOLD_MIN(SMALL_READS_OF_FILE, 10, UNIT_COUNT, "small reads of a file from memory per open",
	      "a choice: fewer read a small file as a whole");

/* Bytes that may have been read before: what the run wrote in between is new. */
static uint64_t same_bytes(const struct file_view *file)
{
	return number_sub(reads_of(file)->bytes, file->tallies[USE_WRITE].bytes);
}

THRESHOLD_MIN(SCANS, 10, UNIT_NONE, "bytes read divided by the file's size, for small files",
	      "a choice: more than the epochs of a short run");
THRESHOLD_MIN(PARSED_AGAIN, 4, UNIT_NONE,
	      "bytes read divided by the files' size, for CPU work at the same lines to count",
	      "a choice: fewer may be parts that overlap, or different parts");
THRESHOLD_MIN(PARSED_FILE, 1048576, UNIT_BYTES, "size of a file to which that applies",
	      "a choice: smaller ones are samples rather than caches, indexes or tables");
THRESHOLD_MAX(PARSED_FILES, 4, UNIT_COUNT, "such files below 16 MiB",
	      "a choice: more are the shards of a data set, which each epoch reads");

static bool is_read_times(const struct file_view *file, double times)
{
	return file->size_bytes && file->size_bytes != TABLE_NO_UINT &&
	       same_bytes(file) >= times * file->size_bytes;
}

static bool is_read_again(const struct file_view *file)
{
	return is_read_times(file, threshold(is_large(file) ? THRESHOLD_AGAIN : THRESHOLD_SCANS));
}

/* Whether a file is read so often that it may be parsed each time; which only a few files are. */
static bool is_parsed_again(const struct file_view *file)
{
	return file->size_bytes >= threshold(THRESHOLD_PARSED_FILE) &&
	       is_read_times(file, threshold(THRESHOLD_PARSED_AGAIN));
}

/* Returns whether the same data was read so often that what follows each read is repeated, too. */
static bool is_repeated(const void *evidence)
{
	const struct file_group *file_group = evidence;

	return file_group->bytes >= threshold(THRESHOLD_PARSED_AGAIN) * file_group->size_bytes &&
	       !file_group->too_large;
}

/* The first time remains. */
static double is_beyond_first(const struct findings *findings, const struct file_group *file_group)
{
	return 1 - fmin(finding_share(file_group->size_bytes, file_group->bytes), 1);
}

/* Larger reads do not help if the file is read from beginning to end, again and again. */
static bool is_scanned(const struct file_view *file)
{
	const uint64_t *patterns = file->patterns[BY_READS];
	const uint64_t all = patterns[SEQUENTIAL] + patterns[RANDOM];

	return is_read_again(file) &&
	       same_bytes(file) >= threshold(THRESHOLD_SCANS) * file->size_bytes &&
	       finding_share(patterns[CONSECUTIVE], all) >= threshold(THRESHOLD_SCAN_ORDER);
}

/* Whether memory served nearly all reads: nearly all bytes, or, of a small file that readahead
 * fetches at once, nearly all calls. */
static bool is_from_memory(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);
	const double fetched_bytes = reads->fetched_bytes + file->direct_bytes;
	const double most = threshold(THRESHOLD_FROM_MEMORY_SHARE);

	return fetched_bytes <= most * reads->bytes ||
	       (file->size_bytes <= threshold(THRESHOLD_SMALL_FILE) && !file->direct_bytes &&
		fetched_bytes / 4096 <= most * reads->count); /* a page or more for each miss */
}

static bool takes_small_cached(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);

	/* Excludes small files that are read at once, those that opened-again explains, and
	 * O_DIRECT reads, which are never cached. */
	return !is_scanned(file) &&
	       file->opens <
		       threshold(THRESHOLD_OPENS_EACH) * (file->processes ? file->processes : 1) &&
	       is_small(file, threshold(THRESHOLD_SMALL_CACHED_READ)) &&
	       reads->count - reads->errors >=
		       threshold(THRESHOLD_SMALL_READS_OF_FILE) * (file->opens ? file->opens : 1) &&
	       is_from_memory(file);
}

/* All of the time is on a CPU. */
static double cached_copies_stay(const struct findings *findings,
				 const struct file_group *file_group)
{
	(void)findings;
	return file_group_copies(file_group);
}

const struct finding_rule finding_small_reads_cached = {
	.id = "small-reads-cached",
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_SMALL_READS_WORK,
	.order = 170,
	.causes_work = true,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.class = IO_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_READ,
		.takes = takes_small_cached,
		.speaks = are_many,
		.stays = cached_copies_stay,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_SMALL_CACHED_READ, &THRESHOLD_SMALL_READS_OF_FILE,
			&THRESHOLD_SMALL_REQUESTS, &THRESHOLD_FROM_MEMORY_SHARE,
			&THRESHOLD_SMALL_FILE, &THRESHOLD_CALL_BYTES, &THRESHOLD_SMALL_READS_WORK, &THRESHOLD_TIME_DECIDES,
			&THRESHOLD_FEW },
	.title = "Small reads of {file} from memory: call overhead dominates",
	.says = "{count} reads of {bytes_each} on average[, {fetched_share} of the bytes from "
		"storage][; {others:more such file|more such files}]",
	.advice = "Read more at a time, through a buffer, or map the file into memory",
	.more = "faultline report --table files TRACE",
	.pictures = "sizes read",
	.rule = "The data is already in memory. A call costs some hundred nanoseconds whatever it "
		"reads, so reads of a few KiB spend most of their time on the call itself. The "
		"cost leaves out the time of copying the data.",
};

/* --- random or backward reads of a large file --- */

/* Without the page cache nothing is read ahead, in any order: large reads lose nothing. */
static bool takes_random(const struct file_view *file)
{
	const struct tally *reads = reads_of(file);
	bool small_direct = is_small(file, threshold(THRESHOLD_SMALL_READ)) &&
			    finding_share(reads->fetched_bytes + file->direct_bytes,
					  reads->bytes) >= threshold(THRESHOLD_FROM_STORAGE_SHARE);

	return is_random(file) && (is_from_storage(file) || small_direct) &&
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

THRESHOLD_MIN(REVERSED, 0.9, UNIT_SHARE,
	      "share of backward reads, for a file to count as read from its end",
	      "a choice: uniform access has 0.5");

THRESHOLD(WAIT_CPU, 0.5, UNIT_SHARE,
	  "share of the calls' CPU time that remains with many reads in flight",
	  "measured: 0.35 with WILLNEED for 64 reads, 0.65 with 8 threads; sleeping, waking up and "
	  "each single request cost the rest");

/* With many reads in flight, only a part of the calls' CPU time remains, and of their wait for
 * CPUs. For a file read from its end, reading forward saves nearly all of the time. */
static double is_waiting(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->backward >= threshold(THRESHOLD_REVERSED)
		       ? 1
		       : 1 - threshold(THRESHOLD_WAIT_CPU) * threads_busy_of_io(findings->results);
}

const struct finding_rule finding_random_reads = {
	.id = "random-reads",
	.order = 190,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.class = IO_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_READ,
		.takes = takes_random,
		.counts = count_of_reads,
		.counts_min = &THRESHOLD_RANDOM_READS,
		.cost_bytes = cost_random,
		.saved = is_waiting,
	},
	/* If the same reads go one at a time, the queue depth is what to change first. */
	.reported_by = { "held-back", "shallow-queue" },
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_RANDOM_SHARE, &THRESHOLD_RANDOM_READS, &THRESHOLD_LARGE_FILE,
			&THRESHOLD_FROM_STORAGE_SHARE, &THRESHOLD_SMALL_READ, &THRESHOLD_HOLES,
			&THRESHOLD_ORDER, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_REVERSED, &THRESHOLD_WAIT_CPU },
	.title = "Random reads of {file} from storage",
	.says = "{count} reads of {bytes_each}, {backward} of them backward, {storage_bytes} from "
		"storage[ ({direct_bytes} with O_DIRECT)], at {bandwidth}/s[; {others:more such "
		"file|more such files}]",
	.advice = "Read larger pieces, in the order of the file, keep more of them in flight (threads, "
		  "io_uring, posix_fadvise WILLNEED ahead of use), or shuffle in memory",
	.more = "faultline print --file '*/{file}' TRACE",
	.pictures = "map, parts read",
	.rule = "Readahead serves sequential reads. Reads that jump each wait for the device, one "
		"after another. Concurrent reads (threads, io_uring), larger pieces or file order "
		"use the device better. With O_DIRECT, which has no readahead, only small reads "
		"count. Holes of a sparse file come from no device: on file systems that read as "
		"many bytes as they return (ext4, xfs), nothing counts as from storage if device "
		"requests were recorded and are far fewer. The cost leaves out half of the CPU time "
		"of the calls, which stays, unless the file is read from its end.",
};

/* --- repeated reads --- */

THRESHOLD_MIN(BY_EACH, 0.75, UNIT_SHARE,
	      "part of the file's size that each reader reads on average",
	      "a choice: some are still reading at the end of the run, or skip a header");

/* Read about once per reader. */
static bool takes_by_several(const struct file_view *file)
{
	double times;

	if (file->processes < 2 || file->size_bytes == TABLE_NO_UINT ||
	    file->size_bytes <= threshold(THRESHOLD_SMALL_FILE))
		return false;
	times = (double)same_bytes(file) / file->size_bytes;
	return times <= file->processes + 0.5 &&
	       times >= threshold(THRESHOLD_BY_EACH) * file->processes;
}

static bool takes_again(const struct file_view *file)
{
	bool random =
		takes_random(file) && reads_of(file)->count >= threshold(THRESHOLD_RANDOM_READS);

	return (is_read_again(file) || is_parsed_again(file)) && !takes_by_several(file) && !random;
}

/* Not the shards of a data set in a few epochs. */
static bool are_again(const struct findings *findings, const struct file_group *file_group)
{
	(void)findings;
	return file_group->files <= threshold(THRESHOLD_PARSED_FILES) ||
	       file_group->size_each >= threshold(THRESHOLD_LARGE_FILE) ||
	       file_group->bytes >= threshold(THRESHOLD_SCANS) * file_group->size_bytes;
}

/* In whole pages, as they are fetched; some kernels have larger ones. */
static uint64_t pages_bytes(uint64_t bytes)
{
	return number_add(bytes, 4095) / 4096 * 4096;
}

static bool takes_fetched_again(const struct file_view *file)
{
	return (is_large(file) || !file_group_is_program(file)) && file->size_bytes &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file_group_fetched_to_read(file) >=
		       threshold(THRESHOLD_AGAIN) * pages_bytes(file->size_bytes);
}

/* The shards of a data set may each be small. */
static bool are_large(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->size_bytes >= threshold(THRESHOLD_LARGE_FILE);
}

const struct finding_rule finding_read_again = {
	.id = "read-again",
	.order = 220,
	.causes_work = true,
	.work_at_lines = is_repeated,
	.of_run = &THRESHOLD_PART_OF_RUN,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.class = IO_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_READ,
		.takes = takes_again,
		.speaks = are_again,
		.saved = is_beyond_first,
		.cost_bytes = cost_again,
	},
	/* The wait is the same, whether the data was in memory or not. */
	.reported_by = { "small-reads-storage", "small-reads-cached", "fetched-again",
			 "load-waits", "opened-again" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_AGAIN, &THRESHOLD_LARGE_FILE, &THRESHOLD_SCANS,
			&THRESHOLD_PARSED_AGAIN, &THRESHOLD_PARSED_FILE, &THRESHOLD_PARSED_FILES,
			&THRESHOLD_PART_OF_RUN },
	.title = "{file} is read repeatedly",
	.says = "{bytes} were read from {size_bytes} of data[; {fetched_share} from storage][, "
		"{direct_bytes} with O_DIRECT, which caches nothing][; {others:more such file|more "
		"such files}]",
	.advice = "Keep what was read (and decoded) in memory, or read each part once (from a "
		  "database, by an index)",
	.advice_on_work = "; or make the calls cheaper: for HDF5, use a chunk cache that holds "
			  "what is read again (rdcc_nbytes), and for selections with many parts, "
			  "read the enclosing range and select in memory",
	.more = "faultline report --table files TRACE",
	.pictures = "story, story all",
	.rule = "More bytes were read than the file has. Reads from memory cost calls and copies, "
		"other reads also cost device time; a second epoch is one cause, a header parsed "
		"for each sample another. With O_DIRECT each read goes to the device: the program "
		"has to keep what it needs again. Work at the same lines, such as parsing, is "
		"repeated, too: if the data was read four times or more and memory can hold it, "
		"all but the first time counts. It may also be work of the calls themselves. For "
		"parts drawn at random from storage, see random-reads.",
};

THRESHOLD_MIN(BY_EACH_OF_ALL, 0.6, UNIT_SHARE,
	      "share of such files in all bytes that the run reads",
	      "a choice: two workers that each draw half of the files in two epochs stay below it");

static bool are_most(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->bytes >=
	       threshold(THRESHOLD_BY_EACH_OF_ALL) * totals_class(findings->results, IO_READ).bytes;
}

/* Readers that read in order parse all of the data. */
static bool in_order(const void *evidence)
{
	const struct file_group *file_group = evidence;

	return file_group->consecutive >= threshold(THRESHOLD_SCAN_ORDER);
}

/* Returns the part of the bytes from storage that are more than the files have. */
static double fetched_beyond(const struct file_group *file_group)
{
	return 1 - finding_share(number_min(file_group->size_bytes, file_group->fetched_bytes),
				 file_group->fetched_bytes);
}

/* If each reads its own part, it copies less, and waits less for a CPU to do so; but all of the
 * data still comes from storage. */
static double is_of_others(const struct findings *findings, const struct file_group *file_group)
{
	const double busy = threads_busy_of_io(findings->results);
	const double copies = file_group->fetched_bytes && busy ? busy : 1; /* 0: unknown */

	return copies * (1 - 1.0 / file_group->processes) +
	       (1 - copies) * fetched_beyond(file_group);
}

const struct finding_rule finding_read_by_several = {
	.id = "read-by-several",
	.causes_work = true,
	.work_at_lines = in_order,
	.order = 205,
	.needs = JOB_SYSCALL,
	.class = IO_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_READ,
		.takes = takes_by_several,
		.speaks = are_most,
		.saved = is_of_others,
		.cost_bytes = cost_again,
	},
	/* Workers that persist read it once each. */
	.reported_by = { "fetched-again", "workers-renewed" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_BY_EACH, &THRESHOLD_BY_EACH_OF_ALL, &THRESHOLD_SMALL_FILE,
			&THRESHOLD_SCAN_ORDER },
	.title = "{file} is read about once by each of {processes} processes",
	.says = "{bytes} were read from {size_bytes} of data[; {fetched_share} from storage][; "
		"{others:more such file|more such files}]",
	.advice = "Let each rank or worker read its own part (shard), once, or share one copy in "
		  "memory: load it before workers are forked, or keep workers between epochs "
		  "(persistent_workers=True in PyTorch)",
	.more = "faultline report --table processes TRACE",
	.pictures = "story, story all",
	.rule = "The bytes read are about the file's size times the number of its readers. Whether "
		"each reads all of it, or a part of it several times, is not known. On one host "
		"the page cache serves all but the first; across hosts each copy comes from "
		"storage. The cost leaves out the time in which the data comes from storage once. "
		"If they read in order, CPU work at the same lines counts, too.",
};

/* The first fetch from storage and all copies remain. */
static double is_saved(const struct findings *findings, const struct file_group *file_group)
{
	return fetched_beyond(file_group) * (1 - threads_cpu_of_io(findings->results));
}

const struct finding_rule finding_fetched_again = {
	.id = "fetched-again",
	.order = 200,
	.needs = JOB_PAGECACHE,
	.class = IO_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_READ,
		.with_faults = true,
		.takes = takes_fetched_again,
		.programs = true,
		.speaks = are_large,
		.saved = is_saved,
		.cost_bytes = file_group_fetched,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_AGAIN, &THRESHOLD_LARGE_FILE },
	.title = "{file}[ and {others:more file|more files}] came from storage more than once",
	.says = "{fetched_bytes} from storage for {size_bytes} of data: [the job dropped it with "
		"{dropped:POSIX_FADV_DONTNEED call|POSIX_FADV_DONTNEED calls}||memory did not hold "
		"it][, or the job dropped it with {advised:fadvise call|fadvise calls}][; the "
		"cgroup's memory limit is {limit_bytes}]",
	.advice = "[Remove the {dropped:POSIX_FADV_DONTNEED call|POSIX_FADV_DONTNEED calls} while "
		  "the data is still to be read||Give the job more memory (cgroup limit), read "
		  "less at random, or evict data that is done with (POSIX_FADV_DONTNEED on other "
		  "files)][; if its {advised:fadvise call is|fadvise calls are} "
		  "POSIX_FADV_DONTNEED, remove the advice while the data is still to be read]",
	.more = "faultline report --table files TRACE",
	.pictures = "story, story all",
	.rule = "Data that was read stays in the page cache until memory is needed. If more came "
		"from storage than the file has, parts of it were evicted in between, or it was "
		"read with O_DIRECT. The job itself evicts data with POSIX_FADV_DONTNEED; it is "
		"reported as the cause if such calls named as much as was read again, and more was "
		"read after them. The cost is the time in these reads less what one reading from "
		"storage and the copies from memory take. In aggregated or older traces, the "
		"kind and time of fadvise "
		"calls are unknown.",
};
