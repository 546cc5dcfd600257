/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about opening files and looking them up. */
#include "analysis/finding/finding_files.h"
#include "analysis/shared/results.h"

/* --- loading programs --- */

static bool takes_loaded(const struct file_view *file)
{
	return file->loaded && file_group_fetched_to_read(file);
}

THRESHOLD_MIN(LOADED_BYTES, 16777216, UNIT_BYTES, "bytes of programs read from storage",
	      "a choice: as for a large file; the C library and a shell have a few MiB");

static bool is_much(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->fetched_bytes >= threshold(THRESHOLD_LOADED_BYTES) ||
	       (file_group->time_ns >= threshold(THRESHOLD_LOADED_NS) &&
		file_group->of_run >= threshold(THRESHOLD_PART_OF_RUN));
}

const struct finding_rule finding_cold_start = {
	.id = "cold-start",
	.order = 315,
	.causes_work = true,
	.exactness = FINDING_ESTIMATED,
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.startup = true,
	.class = IO_READ,
	.confidence = FINDING_SURE,
	.reported_by = { "imports" },
	.files = {
		.use = USE_READ,
		.with_faults = true,
		.takes = takes_loaded,
		.programs = true,
		.speaks = is_much,
		.cost_bytes = file_group_fetched,
	},
	.cross_run = true,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_LOADED_BYTES, &THRESHOLD_LOADED_NS, &THRESHOLD_PART_OF_RUN },
	.title = "Programs, libraries and modules are read from storage",
	.says = "{fetched_bytes} from {files:file|files}[, at {bandwidth}/s while waiting]; most "
		"time on {file}",
	.advice = "Keep them on local disk and in memory (an earlier run caches them), import "
		  "less, or fork workers from a process that has loaded them",
	.more = "faultline report --file '*.so*' TRACE",
	.pictures = "rates storage, paths storage",
	.rule = "A program that starts with a cold page cache waits for its libraries, page by "
		"page as it touches them, and for its modules, one small file after another. It "
		"costs each node once, and each start if memory does not keep them or they are on "
		"a shared file system. Findings on the job's own data rank first if they cost half "
		"as much or more.",
};

/* --- many small files --- */

/* Returns whether the run wrote the file, and that took longer than reading it. */
static bool is_made(const struct file_view *file)
{
	const struct tally *reads = &file->tallies[USE_READ], *writes = &file->tallies[USE_WRITE];

	return writes->count && writes->time.measure > reads->time.measure;
}

static bool takes_small_file(const struct file_view *file)
{
	return file->opens && file->tallies[USE_READ].count && !is_made(file) &&
	       file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes <= threshold(THRESHOLD_SMALL_FILE);
}

THRESHOLD_MIN(SMALL_FILES, 500, UNIT_COUNT, "small files", "a choice: fewer are no dataset");

static bool are_many_files(const struct findings *findings, const struct file_group *file_group)
{
	return finding_is_enough(file_group->files, &THRESHOLD_SMALL_FILES, file_group->of_run);
}

static uint64_t cost_moved(const struct file_group *file_group)
{
	return file_group->bytes;
}

THRESHOLD_MAX(SMALL_FILES_WORK, 0.1, UNIT_NONE,
	      "CPU time counted at the same lines, besides the kernel's around each call and that "
	      "in Python's file modules, relative to the calls' time",
	      "a choice: Python's part of opening a file; processing the data is not included");

THRESHOLD_MAX(
	SMALL_FILE_OPENS, 10, UNIT_NONE, "opens of a file relative to the average of all",
	"a choice: a file opened more often, such as an index, is opened for each of the others");

const struct finding_rule finding_small_files = {
	.id = "many-small-files",
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_SMALL_FILES_WORK,
	.order = 260,
	.causes_work = true,
	.needs = JOB_SYSCALL,
	.class = IO_READ,
	.confidence = FINDING_LIKELY,
	.files = {
		.use = USE_READ,
		.with_metadata = true,
		.takes = takes_small_file,
		.speaks = are_many_files,
		.stays = file_group_copies_stay,
		.cost_bytes = cost_moved,
		.common = true,
		.opens_max = &THRESHOLD_SMALL_FILE_OPENS,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_SMALL_FILE, &THRESHOLD_SMALL_FILES,
			&THRESHOLD_SMALL_FILE_OPENS, &THRESHOLD_SMALL_FILES_WORK,
			&THRESHOLD_CALL_BYTES },
	.title = "Many small files are read, such as {file}",
	.says = "{files:file|files} of {size_each} on average: {opens} opens, {metadata} metadata "
		"calls; {bytes} read[, at {bandwidth}/s], {fetched_bytes} from storage",
	.advice = "Pack them into a few large files (tar shards, HDF5, LMDB, Parquet; larger "
		  "chunks for Zarr and the like), or open and read several at once, ahead of use",
	.more = "faultline report --by pattern TRACE",
	.pictures = "sizes files, calls metadata",
	.rule = "Each file costs an open, a stat, a close and, with a cold cache, reads of its "
		"inode and directory besides its data; readahead never ramps up. Shared file "
		"systems add server round trips for each. CPU work in Python's modules for files "
		"(os.path, pathlib, zipfile, NumPy's formats) counts, too. Files that took longer "
		"to write are covered by small-writes and metadata-heavy, and a file that is "
		"opened for each of the others by opened-again. The cost leaves out the time of "
		"copying the data.",
};

/* --- files opened repeatedly --- */

THRESHOLD_MIN(LISTING, 0.5, UNIT_SHARE, "share of listing in a directory's metadata time",
	      "a majority");

/* Listing dominates, not opening. */
static bool is_listing(const struct file_view *file)
{
	return file->listed && file->listing_ns >= threshold(THRESHOLD_LISTING) *
							   file->tallies[USE_METADATA].time.measure;
}

static bool takes_opened_again(const struct file_view *file)
{
	return !is_listing(file) && file->opens > 1 &&
	       !finding_rewritten_takes(file); /* opened to be truncated */
}

static uint64_t count_of_opens(const struct file_view *file)
{
	return file->opens;
}

THRESHOLD_MIN(OPENS, 500, UNIT_COUNT, "opens of such files", "a choice: one per sample");

static bool are_many_opens(const struct findings *findings, const struct file_group *file_group)
{
	return file_group->opens >= threshold(THRESHOLD_OPENS) ||
	       file_group->opens >= threshold(THRESHOLD_OPENS_EACH) * file_group->files ||
	       file_group->of_run >= threshold(THRESHOLD_TIME_DECIDES);
}

static bool opens_cause_work(const void *evidence)
{
	const struct file_group *file_group = evidence;

	return file_group->opens >= threshold(THRESHOLD_OPENS_EACH) * file_group->files;
}

THRESHOLD_MIN(OPENS_OF_FILE, 10, UNIT_COUNT, "opens of one file",
	      "a choice: more than a usual loader's workers");

const struct finding_rule finding_opened_again = {
	.id = "opened-again",
	.lines = 1u << USE_READ,
	.work_at_lines = opens_cause_work,
	.order = 215,
	.causes_work = true,
	.needs = JOB_SYSCALL,
	.class = IO_METADATA,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_METADATA,
		.takes = takes_opened_again,
		.counts = count_of_opens,
		.counts_min = &THRESHOLD_OPENS_OF_FILE,
		.speaks = are_many_opens,
		.reopens = true,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_OPENS_OF_FILE, &THRESHOLD_OPENS, &THRESHOLD_OPENS_EACH,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW, &THRESHOLD_SCAN_READS,
			&THRESHOLD_SMALL_READ },
	.title = "{file} is opened and [scanned repeatedly, with {scan_reads:small read|small "
		 "reads}||closed repeatedly]",
	.says = "{opens} opens of {files:file|files}, {metadata} metadata calls on them[; "
		"{reopen_ns} from opens to the first read of new data]",
	.advice = "Open it once per process and keep it open (in a worker: at its start)[, with an "
		  "index of what is where, or unpack it: most of the {scan_reads:read|reads} "
		  "look for something, as in a tar archive, which has no index]",
	.more = "faultline report --table files TRACE",
	.pictures = "files opens, calls metadata",
	.rule = "A dataset that opens its file in __getitem__ pays for the open, and often for "
		"parsing a header again, with each sample. On shared file systems each open "
		"contacts a server. A tar archive has no index, so a library that looks for a "
		"member by name reads the headers of all, each time that it is opened. The cost is "
		"the time of these calls or, if longer, the time from each open to the first read "
		"that did not follow an earlier open, which includes parsing. The first opens "
		"count as much as later ones.",
};

/* --- directories listed repeatedly --- */

/* Python lists the directories of sys.path once per process; programs cannot change that. */
static bool takes_listed_again(const struct file_view *file)
{
	return is_listing(file) && file->opens > 1;
}

THRESHOLD_MIN(LISTED_AGAIN, 8, UNIT_COUNT, "opens of a listed directory",
	      "a choice: each worker of a usual loader may list it once");

const struct finding_rule finding_listed_again = {
	.id = "listed-again",
	.work_at_lines = finding_always,
	.order = 280,
	.causes_work = true,
	.needs = JOB_SYSCALL,
	.class = IO_METADATA,
	.confidence = FINDING_SURE,
	.files = {
		.use = USE_METADATA,
		.takes = takes_listed_again,
		.counts = count_of_opens,
		.counts_min = &THRESHOLD_LISTED_AGAIN,
	},
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_OF_FILES,
	.thresholds = { &THRESHOLD_LISTED_AGAIN, &THRESHOLD_LISTING, &THRESHOLD_TIME_DECIDES,
			&THRESHOLD_FEW },
	.title = "{path} is listed repeatedly",
	.says = "{opens} opens of {files:directory|directories}, {metadata} metadata calls on "
		"them, most of their time in reading entries",
	.advice =
		"List it once and keep the result (a manifest next to the data), look up new files "
		"by name or watch for them (inotify), or spread the files over more directories",
	.more = "faultline report --table files --columns path,opens,list.count,list.time_ns TRACE",
	.pictures = "took metadata, calls metadata",
	.rule = "Listing a directory reads all of its entries, even if none is new, and locks it: "
		"creating and removing files there waits. A typical cause is a glob at each step, "
		"epoch or sample. On shared file systems the entries come from a server each time.",
};
