/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about files read through mappings. */
#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_weight.h"

/* Returns whether most faults were stores to a private mapping. */
static bool is_copied(const struct file_view *file)
{
	return file->copied_pages && file->copied_pages >= threshold(THRESHOLD_MMAP_COPIED) *
								   file->tallies[USE_MMAP].count;
}

/* --- random reads, with readahead around each fault --- */

/* Faults that wait for readahead windows, in any order. */
static bool takes_windows(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	/* How a loader maps libraries cannot be changed. */
	return !alike_is_program(file) && finding_share(faults->fetched_bytes, faults->major) >=
						  threshold(THRESHOLD_MMAP_RANDOM_BYTES_EACH);
}

static uint64_t count_of_major(const struct file_view *file)
{
	return file->tallies[USE_MMAP].major;
}

/* A readahead window may hold the whole file. Then bytes decide, not the number of windows. */
static uint64_t count_of_windows(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return faults->fetched_bytes >= threshold(THRESHOLD_MMAP_RANDOM_BYTES)
		       ? threshold(THRESHOLD_MMAP_RANDOM_MAJOR)
		       : faults->major;
}

static bool takes_random(const struct file_view *file)
{
	return takes_windows(file) && file->tallies[USE_MMAP].count >= threshold(THRESHOLD_ORDER) &&
	       alike_backward(file, BY_FAULTS) >= threshold(THRESHOLD_MMAP_RANDOM_SHARE);
}

static const struct alike_rule random_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_random,
	.counts = count_of_windows,
	.least = THRESHOLD_MMAP_RANDOM_MAJOR,
	.cost_bytes = alike_fetched,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold random_thresholds[] = {
	THRESHOLD_MMAP_RANDOM_SHARE,
	THRESHOLD_MMAP_RANDOM_MAJOR,
	THRESHOLD_MMAP_RANDOM_BYTES,
	THRESHOLD_MMAP_RANDOM_BYTES_EACH,
	THRESHOLD_ORDER,
	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

const struct finding_rule finding_mmap_random = {
	.id = "mmap-random",
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.find = finding_add_alike,
	.alike = &random_files,
	.of_runs = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(random_thresholds),
	.title = "page faults on {file}, read at random through a mapping",
	.says = "{major} major faults brought {fetched_bytes} from storage, {fetched_each} each "
		"(readahead {readahead_bytes}); "
		"{backward} of the faults went backward, {consecutive} followed the one before[; "
		"{others:file|files} more like it]",
	.advice =
		"[it was given MADV_RANDOM {random:time|times} already: ||MADV_RANDOM, or ]samples "
		"of 1 MiB and more, or MADV_WILLNEED ahead of use",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.rule = "A fault on a page that is not cached reads a window of the file around it, on the "
		"assumption that what lies near is needed next. A program that jumps uses little "
		"of it and waits for all of it. With MADV_RANDOM (mmap.madvise in Python) only the "
		"page itself is read; with larger samples, more of what was read is used; "
		"MADV_WILLNEED on the next samples reads them while this one is computed with.",
};

/* --- in order --- */

/* Each fault follows the pages that the previous one mapped, without gaps. */
static bool is_scan(const struct file_view *file)
{
	const uint64_t *patterns = file->patterns[BY_FAULTS];
	const uint64_t count = file->tallies[USE_MMAP].count;

	return file->aligned_faults == TABLE_NO_UINT ||
	       file->aligned_faults >= threshold(THRESHOLD_MMAP_SCAN) * count ||
	       patterns[CONSECUTIVE] >= threshold(THRESHOLD_MMAP_SCAN) * count;
}

/* Most of the file came in through the mapping, forward. */
static bool came_in_order(const struct file_view *file)
{
	/* Faults of several threads are not serial. */
	if ((file->jumps[BY_FAULTS].several && file->processes == 1) || is_copied(file))
		return false;
	return !alike_is_program(file) && file->tallies[USE_MMAP].fetched_bytes &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes >= threshold(THRESHOLD_LARGE_FILE) &&
	       alike_backward(file, BY_FAULTS) <= threshold(THRESHOLD_MMAP_ORDER_BACKWARD) &&
	       file->faulted_bytes >= threshold(THRESHOLD_MMAP_WHOLE) * file->size_bytes &&
	       file->faulted_bytes < threshold(THRESHOLD_AGAIN) * file->size_bytes;
}

/* --- strided reads --- */

static bool takes_strided(const struct file_view *file)
{
	return came_in_order(file) && !is_scan(file) &&
	       file->tallies[USE_MMAP].count >= threshold(THRESHOLD_MMAP_RANDOM_MAJOR);
}

static const struct alike_rule strided_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_strided,
	.cost_bytes = alike_fetched,
	.costs_time = true,
	.confidence = FINDING_LIKELY,
};

static const enum threshold strided_thresholds[] = {
	THRESHOLD_LARGE_FILE, THRESHOLD_MMAP_ORDER_BACKWARD, THRESHOLD_MMAP_WHOLE,
	THRESHOLD_AGAIN,      THRESHOLD_MMAP_SCAN,	     THRESHOLD_MMAP_RANDOM_MAJOR,
};

const struct finding_rule finding_mmap_strided = {
	.id = "mmap-strided",
	.needs = JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS,
	.find = finding_add_alike,
	.alike = &strided_files,
	.of_runs = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(strided_thresholds),
	.title = "{file} is read in strides through a mapping",
	.says = "{count} faults leave out what lies between them, and readahead fetched it all: "
		"{fetched_bytes} from storage[; {others:file|files} more like it]",
	.advice = "[It was given MADV_RANDOM {random:time|times} already: store ||Use "
		  "MADV_RANDOM, or pread() what is needed, or store ]what is read together side "
		  "by side (a copy by columns, or chunks)",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.rule = "A fault maps the pages around its own, 64 KiB in all, so that a scan faults at "
		"the start of 64 KiB only. Faults elsewhere skip pages that the program does not "
		"use, such as the other columns of a matrix that is stored by rows. Readahead "
		"fetches these pages as well.",
};

/* --- reads of the whole file in order, by serial faults --- */

static bool takes_in_order(const struct file_view *file)
{
	return came_in_order(file) && is_scan(file);
}

static bool is_felt(const struct alike *alike)
{
	return alike->bandwidth <= threshold(THRESHOLD_MMAP_ORDER_BANDWIDTH);
}

static const struct alike_rule in_order_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_in_order,
	.speaks = is_felt,
	.cost_bytes = alike_fetched,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold in_order_thresholds[] = {
	THRESHOLD_MMAP_SCAN,  THRESHOLD_LARGE_FILE, THRESHOLD_MMAP_ORDER_BACKWARD,
	THRESHOLD_MMAP_WHOLE, THRESHOLD_AGAIN,	    THRESHOLD_MMAP_ORDER_BANDWIDTH,
};

const struct finding_rule finding_mmap_in_order = {
	.id = "mmap-in-order",
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.find = finding_add_alike,
	.alike = &in_order_files,
	.told_by = alike_held_back,
	.of_runs = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(in_order_thresholds),
	.title = "{file} is loaded through a mapping, one fault after the other",
	.says = "{fetched_bytes} came from storage by {count} faults, at {bandwidth}/s of "
		"waiting[; {others:file|files} more like it]",
	.advice = "[leave out MADV_RANDOM, given {misadvised:time|times}, or ||]"
		  "MADV_POPULATE_READ or MADV_WILLNEED before use, several threads, or read() into "
		  "memory",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.rule = "A file that is needed as a whole (weights of a model: safetensors, torch.load "
		"with "
		"mmap) comes in windows of readahead, and at the edge of each the program stands "
		"still. Told ahead, or read by several threads, the device is kept busy.",
};

/* --- single pages, as after MADV_RANDOM --- */

static bool takes_single(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return !alike_is_program(file) && faults->fetched_bytes &&
	       finding_share(faults->fetched_bytes, faults->major) <
		       threshold(THRESHOLD_MMAP_RANDOM_BYTES_EACH);
}

static const struct alike_rule single_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_single,
	.counts = count_of_major,
	.least = THRESHOLD_RANDOM_READS,
	.cost_bytes = alike_fetched,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold single_thresholds[] = {
	THRESHOLD_RANDOM_READS,
	THRESHOLD_MMAP_RANDOM_BYTES_EACH,
	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

const struct finding_rule finding_mmap_single = {
	.id = "mmap-single",
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.find = finding_add_alike,
	.alike = &single_files,
	.told_by = alike_held_back,
	.of_runs = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(single_thresholds),
	.title = "page faults on {file}, each of which waits for a page or a few",
	.says = "{major} major faults brought {fetched_bytes} from storage, {fetched_each} "
		"each[, at {bandwidth}/s of waiting]"
		"[; {others:file|files} more like it]",
	.advice = "[leave out MADV_RANDOM, given {misadvised:time|times}: the faults follow the "
		  "file, and readahead would serve them||MADV_WILLNEED on what comes next, several "
		  "threads or processes at once, or an order that follows the file]",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.rule = "Without readahead (MADV_RANDOM, or a window of next to nothing) a fault brings "
		"what "
		"is needed and no more, and waits a whole round to the device for it, one after "
		"the "
		"other. Told ahead, or asked for by several at once, the device works on many.",
};

/* Returns whether its counts are enough for one of the rules above. */
static bool waits_often(const struct file_view *file)
{
	return (takes_random(file) &&
		count_of_windows(file) >= threshold(THRESHOLD_MMAP_RANDOM_MAJOR)) ||
	       (takes_single(file) && count_of_major(file) >= threshold(THRESHOLD_RANDOM_READS));
}

/* --- stores, each page of which faults again --- */

/* Estimates faults that dirtied a page from bytes: each dirties a page, of 4 KiB or more, or a
 * folio. */
static bool takes_stores(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return !alike_is_program(file) && faults->count > 2 * faults->major &&
	       faults->dirtied_bytes / 4096 >= threshold(THRESHOLD_MMAP_STORED) * faults->count;
}

/* A minor fault takes a microsecond: a dozen are no storm, however short the run. */
static bool are_a_storm(uint64_t count, double of_run)
{
	bool felt = of_run >= threshold(THRESHOLD_TIME_DECIDES);

	return count >=
	       threshold(THRESHOLD_MMAP_MINOR_FAULTS) * (felt ? threshold(THRESHOLD_FEW) : 1);
}

static bool are_many_minor(const struct alike *alike)
{
	return are_a_storm(alike->minor, alike->of_run);
}

static const struct alike_rule store_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_WRITE,
	.takes = takes_stores,
	.speaks = are_many_minor,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold store_thresholds[] = {
	THRESHOLD_MMAP_STORED,
	THRESHOLD_MMAP_MINOR_FAULTS,
};

const struct finding_rule finding_mmap_stores = {
	.id = "mmap-store-faults",
	.needs = JOB_FAULT,
	.find = finding_add_alike,
	.alike = &store_files,
	.of_runs = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(store_thresholds),
	.title = "stores to {file} through a mapping fault page by page",
	.says = "{minor} faults, most of which made a page dirty, took {time_ns}"
		"[; {others:file|files} more like it]",
	.advice = "sync (msync, flush) less often, write() what changed in large pieces, or keep "
		  "the state in plain memory between saves",
	.more = "faultline report --table files TRACE",
	.rule = "The first store to a page of a shared mapping faults, so that the file system "
		"knows of it. Once the page is written back, by msync or by the kernel in time, it "
		"is made read-only, and the next store to it faults again: a state that is changed "
		"as a whole and flushed at each step pays for each of its pages each time.",
};

/* --- stores to private mappings, each of which copies a page --- */

static bool takes_copied(const struct file_view *file)
{
	/* Waits for readahead windows, or for the device each time, are reported as such. */
	return !alike_is_program(file) && is_copied(file) && !waits_often(file);
}

static bool are_many(const struct alike *alike)
{
	return are_a_storm(alike->count, alike->of_run);
}

static const struct alike_rule copied_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_copied,
	.speaks = are_many,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold copied_thresholds[] = {
	THRESHOLD_MMAP_COPIED,
	THRESHOLD_MMAP_MINOR_FAULTS,
};

const struct finding_rule finding_mmap_copied = {
	.id = "mmap-copied",
	.needs = JOB_FAULT,
	.find = finding_add_alike,
	.alike = &copied_files,
	.of_runs = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(copied_thresholds),
	.title = "stores to {file} through a private mapping copy it page by page",
	.says = "{count} faults, most of them stores, took {time_ns} and copied {copied_bytes} "
		"into "
		"memory of the processes' own; {fetched_bytes} came from storage"
		"[; {others:file|files} more like it]",
	.advice = "read() into plain memory what is to be changed, or MADV_POPULATE_WRITE before; "
		  "where nothing should change, find what stores to it",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.rule = "A private mapping (MAP_PRIVATE, np.memmap with mode 'c', torch.load with mmap) "
		"shares "
		"the page cache until it is stored to: the first store to each page faults, and "
		"the "
		"kernel copies the page for that process alone. Weights that are changed in place "
		"pay for each of their pages, and each worker after a fork keeps a copy of its "
		"own. "
		"Plain memory takes as much, but comes in huge pages and large reads.",
};

/* --- minor faults on cached data --- */

static bool takes_minor(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	/* Waits for storage are reported as such. */
	return !alike_is_program(file) && faults->count > 2 * faults->major &&
	       !takes_stores(file) && !is_copied(file) && !takes_in_order(file) &&
	       !waits_often(file);
}

static const struct alike_rule minor_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_minor,
	.speaks = are_many_minor,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold minor_thresholds[] = { THRESHOLD_MMAP_MINOR_FAULTS };

const struct finding_rule finding_mmap_minor = {
	.id = "mmap-minor-faults",
	.needs = JOB_FAULT,
	.find = finding_add_alike,
	.alike = &minor_files,
	.of_runs = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(minor_thresholds),
	.title = "a storm of minor faults on {file}, for what is in memory",
	.says = "{minor} minor faults in up to {processes} processes took {time_ns}; "
		"{fetched_bytes} came from storage[; {others:file|files} more like it]",
	.advice = "map once and keep it, let workers inherit it (fork after MAP_POPULATE), or huge "
		  "pages",
	.more = "faultline report --table processes TRACE",
	.rule = "The data is in memory, but each process that maps it takes a fault for every few "
		"pages, anew for each worker. A mapping that is populated once, or that lives as "
		"long "
		"as the worker, does so once.",
};

/* --- summed faults, whose order is unknown --- */

static const struct alike_rule summed_files = {
	.use = USE_MMAP,
	.class = IO_MMAP_READ,
	.takes = takes_windows,
	.counts = count_of_windows,
	.least = THRESHOLD_MMAP_RANDOM_MAJOR,
	.cost_bytes = alike_fetched,
	.costs_time = true,
	.confidence = FINDING_LIKELY,
};

/* With events, this is mmap-random or mmap-in-order. */
static int find_summed(struct findings *findings, const struct finding_rule *rule)
{
	return findings->summed ? finding_add_alike(findings, rule) : 0;
}

static const enum threshold summed_thresholds[] = {
	THRESHOLD_MMAP_RANDOM_MAJOR,
	THRESHOLD_MMAP_RANDOM_BYTES,
	THRESHOLD_MMAP_RANDOM_BYTES_EACH,
	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

const struct finding_rule finding_mmap_summed = {
	.id = "mmap-faults",
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.find = find_summed,
	.alike = &summed_files,
	.of_runs = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(summed_thresholds),
	.title = "page faults on {file}, which is read from storage through a mapping",
	.says = "{major} major faults brought {fetched_bytes} from storage, {fetched_each} each; "
		"in what order was not recorded",
	.advice = "record a part of the run with --mode trace, which tells: at random, MADV_RANDOM "
		  "or larger samples; in order, MADV_WILLNEED ahead, or MADV_POPULATE_READ",
	.more = "faultline report --table files TRACE",
	.rule = "Told of mode profile alone, which sums up faults and does not keep their order. A "
		"fault that waits for storage brings a window of the file around it. A program "
		"that jumps uses little of it; one that goes through the file stands still at "
		"each edge.",
};
