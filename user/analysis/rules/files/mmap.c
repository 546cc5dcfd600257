/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about files read through mappings. */
#include <math.h>

#include "analysis/devices/devices.h"
#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_made.h"
#include "analysis/processes/threads.h"
#include "analysis/totals/totals.h"

THRESHOLD_MIN(MMAP_COPIED, 0.5, UNIT_SHARE, "share of faults that copied a page", "a majority");

/* Returns whether most faults were stores to a private mapping. */
static bool is_copied(const struct file_view *file)
{
	return file->copied_pages && file->copied_pages >= threshold(THRESHOLD_MMAP_COPIED) *
								   file->tallies[USE_MMAP].count;
}

/* --- random reads, with readahead around each fault --- */

THRESHOLD(MMAP_RANDOM_BYTES_EACH, 65536, UNIT_BYTES,
	  "bytes from storage per major fault: more is random, less is page by page",
	  "16 pages, which one fault maps if they are cached (fault_around_bytes)");

/* Faults that wait for readahead windows, in any order. */
static bool takes_windows(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	/* How a loader maps libraries cannot be changed. */
	return finding_share(faults->fetched_bytes, faults->major) >=
	       threshold(THRESHOLD_MMAP_RANDOM_BYTES_EACH);
}

static uint64_t count_of_major(const struct file_view *file)
{
	return file->tallies[USE_MMAP].major;
}

THRESHOLD_MIN(MMAP_RANDOM_BYTES, 16777216, UNIT_BYTES, "or bytes they read from storage",
	      "a choice: two readahead windows of 8 MiB");
THRESHOLD_MIN(MMAP_RANDOM_MAJOR, 16, UNIT_COUNT, "major faults of a file",
	      "a choice: program startup causes fewer");

/* A readahead window may hold the whole file. Then bytes decide, not the number of windows. */
static uint64_t count_of_windows(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return faults->fetched_bytes >= threshold(THRESHOLD_MMAP_RANDOM_BYTES)
		       ? threshold(THRESHOLD_MMAP_RANDOM_MAJOR)
		       : faults->major;
}

THRESHOLD_MIN(MMAP_RANDOM_SHARE, 0.20, UNIT_SHARE,
	      "share of faults over 1 MiB before the thread's last one",
	      "Drishti: random_operations 0.2; uniform access has 0.5");

static bool takes_random(const struct file_view *file)
{
	return takes_windows(file) && file->tallies[USE_MMAP].count >= threshold(THRESHOLD_ORDER) &&
	       file_group_backward(file, BY_FAULTS) >= threshold(THRESHOLD_MMAP_RANDOM_SHARE);
}

THRESHOLD(MMAP_PAGE_NS, 80000, UNIT_NS,
	  "time of a fault that reads a single page, if the run made few small reads",
	  "measured: 70 to 100 us on flash");
THRESHOLD_MIN(MMAP_PAGE_READS, 20, UNIT_COUNT,
	      "reads of ≤ 64 KiB from the device, for the fastest tenth to replace that time",
	      "measured: it takes 0.7 to 1 times a fault's time, the fastest 0.4 to 0.8 times, the "
	      "median up to 3 times, because it queues behind readahead");

/* Returns what a fault that reads a single page takes on the device that the run reads most from:
 * less than one that reads a window, which takes `window_ns`, unless that waits for others. */
static double page_ns(const struct findings *findings, double window_ns)
{
	const double usual_ns = threshold(THRESHOLD_MMAP_PAGE_NS);
	double time_ns = usual_ns;
	uint64_t most_bytes = 0;
	struct device_view view;

	for (size_t i = 0; devices_view(findings->results, i, &view); i++) {
		const struct device_waits *reads = &view.waits[DEVICE_READS];

		if (reads->bytes <= most_bytes)
			continue;
		most_bytes = reads->bytes;
		time_ns = usual_ns;
		if (view.small_reads >= threshold(THRESHOLD_MMAP_PAGE_READS) &&
		    view.small_read_ns < window_ns)
			time_ns = view.small_read_ns;
		else if (reads->service_p50_ns)
			time_ns = fmin(usual_ns, reads->service_p50_ns);
	}
	return time_ns;
}

/* Without readahead each page that is touched is still read, by as many threads at once. A program
 * that touches much of the file gains little or nothing. */
static double is_of_readahead(const struct findings *findings, const struct file_group *file_group)
{
	const struct tally all = totals_class(findings->results, IO_MMAP_READ);
	const double time_ns =
		fmax(finding_share(all.thread_time_ns, all.time.measure), 1) * file_group->time_ns;
	const double each_ns = page_ns(findings, finding_share(time_ns, file_group->major));
	/* Summaries of older versions do not have it. */
	const uint64_t pages = file_group->touched_pages == TABLE_NO_UINT
				       ? file_group->count
				       : file_group->touched_pages;

	return fmax(1 - finding_share(each_ns * pages, time_ns), 0);
}

const struct finding_rule finding_mmap_random = {
	.id = "mmap-random",
	.order = 70,
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.class = IO_MMAP_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_MMAP,
		.takes = takes_random,
		.counts = count_of_windows,
		.counts_min = &THRESHOLD_MMAP_RANDOM_MAJOR,
		.saved = is_of_readahead,
		.cost_bytes = file_group_fetched,
	},
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_MMAP_PAGE_NS, &THRESHOLD_MMAP_PAGE_READS,
			&THRESHOLD_MMAP_RANDOM_SHARE,
			&THRESHOLD_MMAP_RANDOM_MAJOR,
			&THRESHOLD_MMAP_RANDOM_BYTES, &THRESHOLD_MMAP_RANDOM_BYTES_EACH,
			&THRESHOLD_ORDER, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Random mmap reads of {file}",
	.says = "{major} major faults read {fetched_bytes} from storage, {fetched_each} each "
		"(readahead {readahead_bytes})[, to use about {touched_pages} pages]; {backward} jump "
		"backward, {consecutive} are sequential[; {others:more such file|more such files}]",
	.advice = "[Use larger samples (≥ 1 MiB), or MADV_WILLNEED ahead of use; MADV_RANDOM was "
		  "already set {random:time|times}||Use MADV_RANDOM, larger samples (≥ 1 MiB), or "
		  "MADV_WILLNEED ahead of use]",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.pictures = "map, rates major",
	.rule = "A fault on an uncached page reads a window of the file around it, because nearby "
		"data is usually needed next. A program that jumps uses little of each window but "
		"waits for all of it. With MADV_RANDOM (mmap.madvise in Python) only the page "
		"itself is read; with larger samples, more of each window is used; MADV_WILLNEED "
		"on the next samples reads them while the current one is processed. The cost "
		"leaves out what reading the touched pages one by one would still take.",
};

/* --- in order --- */

/* Each fault follows the pages that the previous one mapped, or precedes them, without gaps. */
static bool is_scan(const struct file_view *file)
{
	const uint64_t *patterns = file->patterns[BY_FAULTS];
	const uint64_t count = file->tallies[USE_MMAP].count;

	return file->aligned_faults == TABLE_NO_UINT ||
	       file->aligned_faults >= threshold(THRESHOLD_MMAP_SCAN) * count ||
	       patterns[CONSECUTIVE] >= threshold(THRESHOLD_MMAP_SCAN) * count;
}

THRESHOLD_MAX(MMAP_ORDER_BACKWARD, 0.05, UNIT_SHARE,
	      "share of backward faults, for the order to count as sequential",
	      "a choice: readahead and threads cause some");

/* Whether faults brought most of the file from storage. */
static bool came_whole(const struct file_view *file)
{
	return file->size_bytes != TABLE_NO_UINT && file->faulted_bytes &&
	       file->faulted_bytes >= threshold(THRESHOLD_MMAP_WHOLE) * file->size_bytes;
}

/* Most of the file came in through the mapping, forward. */
static bool came_in_order(const struct file_view *file)
{
	/* Faults of several threads are not serial. */
	if ((file->jumps[BY_FAULTS].several && file->processes == 1) || is_copied(file))
		return false;
	return file->tallies[USE_MMAP].fetched_bytes && file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes >= threshold(THRESHOLD_LARGE_FILE) &&
	       file_group_backward(file, BY_FAULTS) <= threshold(THRESHOLD_MMAP_ORDER_BACKWARD) &&
	       came_whole(file) &&
	       file->faulted_bytes < threshold(THRESHOLD_AGAIN) * file->size_bytes;
}

/* Several runs together do not show whether the faults of each were those of one thread: these
 * findings stand if one of the runs has them. */
static bool is_of_a_run(const struct findings *findings, const char *id)
{
	return findings->results->job || finding_cost_of_runs(findings, id);
}

/* --- strided reads --- */

static bool takes_strided(const struct file_view *file)
{
	return came_in_order(file) && !is_scan(file) && takes_windows(file) &&
	       file->tallies[USE_MMAP].count >= threshold(THRESHOLD_MMAP_RANDOM_MAJOR);
}

static bool is_strided(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->files && is_of_a_run(findings, "mmap-strided");
}

const struct finding_rule finding_mmap_strided = {
	.id = "mmap-strided",
	.order = 80,
	.needs = JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS,
	.class = IO_MMAP_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_MMAP,
		.takes = takes_strided,
		.speaks = is_strided,
		.cost_bytes = file_group_fetched,
	},
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_LARGE_FILE, &THRESHOLD_MMAP_ORDER_BACKWARD,
			&THRESHOLD_MMAP_WHOLE, &THRESHOLD_AGAIN, &THRESHOLD_MMAP_SCAN,
			&THRESHOLD_MMAP_RANDOM_MAJOR, &THRESHOLD_MMAP_RANDOM_BYTES_EACH },
	.title = "Strided mmap reads of {file}",
	.says = "{count} faults skip the data between them, but readahead read all of it: "
		"{fetched_bytes} from storage[; {others:more such file|more such files}]",
	.advice = "[Store data that is read together contiguously (by column, or in chunks); "
		  "MADV_RANDOM was already set {random:time|times}||Use MADV_RANDOM, pread() only "
		  "what is needed, or store data that is read together contiguously (by column, or "
		  "in chunks)]",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.pictures = "map, rates major",
	.rule = "A fault maps the pages around its own, 64 KiB in total, so a sequential scan "
		"faults only at an edge of each 64 KiB. Faults elsewhere skip pages that the "
		"program does not use, such as the other columns of a matrix stored by rows. "
		"Readahead reads these pages as well.",
};

/* --- reads of the whole file in order, by serial faults --- */

static bool takes_in_order(const struct file_view *file)
{
	return came_in_order(file) && is_scan(file);
}

THRESHOLD_MAX(MMAP_ORDER_BANDWIDTH, 8589934592, UNIT_BYTES,
	      "bytes moved per second of waiting, for the wait to matter",
	      "about what one CPU copies in memory: above it, readahead kept up");

static bool is_felt(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->bandwidth <= threshold(THRESHOLD_MMAP_ORDER_BANDWIDTH) &&
	       is_of_a_run(findings, "mmap-in-order");
}

/* More faults or advice at once save only the time in which the device has few requests. */
static double is_idle(const struct findings *findings, const struct file_group *file_group)
{
	return 1 - fmin(finding_share(finding_busy_ns(findings, file_group->fetched_bytes),
				      file_group->time_ns),
			1);
}

const struct finding_rule finding_mmap_in_order = {
	.id = "mmap-in-order",
	.order = 90,
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.class = IO_MMAP_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_MMAP,
		.takes = takes_in_order,
		.speaks = is_felt,
		.saved = is_idle,
		.cost_bytes = file_group_fetched,
	},
	.reported_by = { "held-back" },
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_MMAP_SCAN, &THRESHOLD_LARGE_FILE, &THRESHOLD_MMAP_ORDER_BACKWARD,
			&THRESHOLD_MMAP_WHOLE, &THRESHOLD_AGAIN, &THRESHOLD_MMAP_ORDER_BANDWIDTH,
			&THRESHOLD_BUSY_REQUESTS },
	.title = "Serial page-fault loading of {file}",
	.says = "{fetched_bytes} from storage by {count} faults, at {bandwidth}/s while waiting[; "
		"{others:more such file|more such files}]",
	.advice = "[Remove MADV_RANDOM (set {misadvised:time|times}), or use ||Use "
		  "]MADV_POPULATE_READ or MADV_WILLNEED before use, several threads, or read() "
		  "into memory",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.pictures = "map, rates major",
	.rule = "A file that is needed as a whole (model weights: safetensors, torch.load with "
		"mmap) is read in readahead windows, and the program blocks at the edge of each. "
		"Advice ahead of use, or reads by several threads, keep the device busy.",
};

/* --- single pages, as after MADV_RANDOM --- */

static bool takes_single(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return faults->fetched_bytes && finding_share(faults->fetched_bytes, faults->major) <
						threshold(THRESHOLD_MMAP_RANDOM_BYTES_EACH);
}

const struct finding_rule finding_mmap_single = {
	.id = "mmap-single",
	.order = 100,
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.class = IO_MMAP_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_MMAP,
		.takes = takes_single,
		.counts = count_of_major,
		.counts_min = &THRESHOLD_RANDOM_READS,
		.cost_bytes = file_group_fetched,
	},
	.reported_by = { "held-back" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_RANDOM_READS, &THRESHOLD_MMAP_RANDOM_BYTES_EACH,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW, &THRESHOLD_MMAP_SCAN,
			&THRESHOLD_MMAP_WHOLE, &THRESHOLD_RANDOM_SHARE },
	.title = "Page-by-page mmap reads of {file}",
	.says = "{major} major faults read {fetched_bytes} from storage, {fetched_each} each[, at "
		"{bandwidth}/s while waiting][; {others:more such file|more such files}]",
	.advice = "[Remove MADV_RANDOM (set {misadvised:time|times}): the file is read in order "
		  "or as a whole, which readahead would serve||Use MADV_WILLNEED on upcoming data, several "
		  "threads or processes, or access in file order]",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.pictures = "map, rates major",
	.rule = "Without readahead (MADV_RANDOM, or a tiny window) a fault reads only what is "
		"needed and waits a full device round trip for it, one after another. With advice "
		"ahead of use, or requests from several threads, the device works on many at once.",
};

/* Returns whether its counts are enough for one of the rules above. */
static bool waits_often(const struct file_view *file)
{
	return (takes_random(file) &&
		count_of_windows(file) >= threshold(THRESHOLD_MMAP_RANDOM_MAJOR)) ||
	       (takes_single(file) && count_of_major(file) >= threshold(THRESHOLD_RANDOM_READS));
}

/* --- stores, each page of which faults again --- */

THRESHOLD_MIN(MMAP_STORED, 0.5, UNIT_SHARE, "share of faults that dirtied a page", "a majority");

/* Takes each dirtied page for a fault, though a fault may dirty a folio of several. */
static bool takes_stores(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	return faults->count > 2 * faults->major && file->written_pages != TABLE_NO_UINT &&
	       file->written_pages >= threshold(THRESHOLD_MMAP_STORED) * faults->count;
}

THRESHOLD_MIN(MMAP_MINOR_FAULTS, 10000, UNIT_COUNT, "minor faults on data",
	      "measured: 0.9 to 1.4 us each, over 10 ms in total");

/* A minor fault takes a microsecond: a dozen are no storm, however short the run. */
static bool are_a_storm(uint64_t count, double of_run)
{
	bool felt = of_run >= threshold(THRESHOLD_TIME_DECIDES);

	return count >=
	       threshold(THRESHOLD_MMAP_MINOR_FAULTS) * (felt ? threshold(THRESHOLD_FEW) : 1);
}

static bool are_many_minor(const struct findings *findings, const struct file_group *file_group)
{
	return are_a_storm(file_group->minor, file_group->of_run);
}

const struct finding_rule finding_mmap_stores = {
	.id = "mmap-store-faults",
	.order = 120,
	.needs = JOB_FAULT,
	.class = IO_MMAP_WRITE,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_MMAP,
		.takes = takes_stores,
		.speaks = are_many_minor,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_MMAP_STORED, &THRESHOLD_MMAP_MINOR_FAULTS },
	.title = "Page-by-page stores to {file} through a mapping",
	.says = "{minor} faults, most of which dirtied a page, took {time_ns}[; {others:more such "
		"file|more such files}]",
	.advice = "Sync (msync, flush) less often, write() changes in large pieces, or keep the "
		  "state in ordinary memory between saves",
	.more = "faultline report --table files TRACE",
	.pictures = "rates faults, map",
	.rule = "The first store to a page of a shared mapping faults so that the file system "
		"learns of it. Once msync or the kernel has written the page back, the page is "
		"read-only again, and the next store to it faults again: state that is changed as "
		"a whole and flushed at each step pays for every page each time.",
};

/* --- stores to private mappings, each of which copies a page --- */

static bool takes_copied(const struct file_view *file)
{
	/* Waits for readahead windows, or for the device each time, are reported as such. */
	return is_copied(file) && !waits_often(file);
}

static bool are_many(const struct findings *findings, const struct file_group *file_group)
{
	return are_a_storm(file_group->count, file_group->of_run);
}

/* Waits for storage remain, however the data is read; only CPU time is saved. If nothing came from
 * storage, or the share is unknown, all of the time counts. */
static double is_on_cpu(const struct findings *findings, const struct file_group *file_group)
{
	const double busy = threads_busy_of_io(findings->results);

	return file_group->fetched_bytes && busy > 0 ? busy : 1;
}

const struct finding_rule finding_mmap_copied = {
	.id = "mmap-copied",
	.order = 130,
	.needs = JOB_FAULT,
	.class = IO_MMAP_READ,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_MMAP,
		.takes = takes_copied,
		.speaks = are_many,
		.saved = is_on_cpu,
	},
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_MMAP_COPIED, &THRESHOLD_MMAP_MINOR_FAULTS },
	.title = "Stores to {file} through a private mapping copy it page by page",
	.says = "{count} faults, mostly stores, took {time_ns} and copied {copied_bytes} into "
		"private memory; {fetched_bytes} from storage[; {others:more such file|more such "
		"files}]",
	.advice = "Use read() into ordinary memory for data to be changed, or MADV_POPULATE_WRITE "
		  "beforehand; if nothing should change, find what stores to it",
	.more = "faultline print --layer fault --file '*/{file}' TRACE",
	.pictures = "rates faults, map",
	.rule = "A private mapping (MAP_PRIVATE, np.memmap with mode 'c', torch.load with mmap) "
		"shares the page cache until it is stored to: the first store to each page faults, "
		"and the kernel copies the page for that process. Weights changed in place pay for "
		"each of their pages, and each worker after a fork keeps its own copy. Ordinary "
		"memory takes as much space, but is filled by huge pages and large reads. The cost "
		"leaves out waits for storage, which stay.",
};

/* --- minor faults on cached data --- */

THRESHOLD_MAX(MMAP_FETCHED_EACH, 32768, UNIT_BYTES, "bytes from storage per fault",
	      "half of what one fault maps (fault_around_bytes)");

static bool takes_minor(const struct file_view *file)
{
	const struct tally *faults = &file->tallies[USE_MMAP];

	/* Waits for storage are reported as such; so are faults that readahead serves from there.
	 */
	return faults->count > 2 * faults->major && !takes_stores(file) && !is_copied(file) &&
	       !takes_in_order(file) && !waits_often(file) &&
	       faults->fetched_bytes < threshold(THRESHOLD_MMAP_FETCHED_EACH) * faults->count;
}

const struct finding_rule finding_mmap_minor = {
	.id = "mmap-minor-faults",
	.order = 145,
	.needs = JOB_FAULT,
	.class = IO_MMAP_READ,
	.confidence = FINDING_SURE,
	.reported_by = { "mmap-faults" },
	.files = {
		.use = USE_MMAP,
		.takes = takes_minor,
		.speaks = are_many_minor,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_MMAP_MINOR_FAULTS, &THRESHOLD_MMAP_FETCHED_EACH },
	.title = "Minor-fault storm on cached {file}",
	.says = "{minor} minor faults, in {processes:process|processes} at most, took {time_ns}; "
		"{fetched_bytes} from storage[; {others:more such file|more such files}]",
	.advice = "Map once and keep the mapping, let workers inherit it (fork after "
		  "MAP_POPULATE), or use huge pages",
	.more = "faultline report --table processes TRACE",
	.pictures = "rates faults, map",
	.rule = "The data is in memory, but each process that maps it takes a fault for every few "
		"pages, and so does every new worker. A mapping that is populated once, or that "
		"lives as long as the worker, pays once.",
};

/* --- summed faults, whose order is unknown --- */

/* With events, this is mmap-random or mmap-in-order. */
static int find_summed(struct findings *findings, const struct finding_rule *rule)
{
	return findings->aggregated ? file_group_find(findings, rule) : 0;
}

const struct finding_rule finding_mmap_summed = {
	.id = "mmap-faults",
	.order = 140,
	.needs = JOB_FAULT | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.find = find_summed,
	.class = IO_MMAP_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_MMAP,
		.takes = takes_windows,
		.counts = count_of_windows,
		.counts_min = &THRESHOLD_MMAP_RANDOM_MAJOR,
		.cost_bytes = file_group_fetched,
	},
	.cross_run = true,
	FINDING_OF_FILES_EVIDENCE,
	.thresholds = { &THRESHOLD_MMAP_RANDOM_MAJOR, &THRESHOLD_MMAP_RANDOM_BYTES,
			&THRESHOLD_MMAP_RANDOM_BYTES_EACH, &THRESHOLD_TIME_DECIDES,
			&THRESHOLD_FEW },
	.title = "Page-fault reads of {file} from storage",
	.says = "{major} major faults read {fetched_bytes} from storage, {fetched_each} each; "
		"their order was not recorded",
	.advice = "Record part of the run with --mode trace to see the order: if random, use "
		  "MADV_RANDOM or larger samples; if sequential, use MADV_WILLNEED ahead of use or "
		  "MADV_POPULATE_READ",
	.more = "faultline report --table files TRACE",
	.pictures = "faults, story all",
	.rule = "Reported only in profile mode, which aggregates faults without their order. A "
		"fault that waits for storage reads a window of the file around it. A program that "
		"jumps uses little of it; one that reads in order blocks at the edge of each "
		"window.",
};
