/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about opening files and looking them up. */

#include "analysis/totals/access.h"
#include "analysis/devices/chain.h"
#include "analysis/files/failed_lookups.h"
#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/results.h"
#include "analysis/totals/totals.h"

/* --- loading programs --- */

static bool takes_loaded(const struct file_view *file)
{
	return file->loaded && file_group_fetched_to_read(file);
}

static bool is_much(const struct file_group *file_group)
{
	return file_group->fetched_bytes >= threshold(THRESHOLD_LOADED_BYTES) ||
	       (file_group->time_ns >= threshold(THRESHOLD_LOADED_NS) &&
		file_group->of_run >= threshold(THRESHOLD_LOADED_OF_RUN));
}

static const struct file_group_rule loaded_files = {
	.use = USE_READ,
	.with_faults = true,
	.class = IO_READ,
	.takes = takes_loaded,
	.speaks = is_much,
	.cost_bytes = file_group_fetched,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold loaded_thresholds[] = {
	THRESHOLD_LOADED_BYTES,
	THRESHOLD_LOADED_NS,
	THRESHOLD_LOADED_OF_RUN,
};

const struct finding_rule finding_cold_start = {
	.id = "cold-start",
	.drags = true,
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.startup = true,
	.find = finding_add_alike,
	.file_group = &loaded_files,
	.cross_run = true,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(loaded_thresholds),
	.title = "Programs, libraries and modules are read from storage",
	.says = "{fetched_bytes} from {files:file|files}[, at {bandwidth}/s while waiting]; most "
		"time on {file}",
	.advice = "Keep them on local disk and in memory (an earlier run caches them), import "
		  "less, or fork workers from a process that has loaded them",
	.more = "faultline report --file '*.so*' TRACE",
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
	return !file_group_is_program(file) && file->opens && file->tallies[USE_READ].count &&
	       !is_made(file) && file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes <= threshold(THRESHOLD_SMALL_FILE);
}

static bool are_many_files(const struct file_group *file_group)
{
	return finding_is_enough(file_group->files, THRESHOLD_SMALL_FILES, file_group->of_run);
}

static uint64_t cost_moved(const struct file_group *file_group)
{
	return file_group->bytes;
}

static const struct file_group_rule small_files = {
	.use = USE_READ,
	.with_metadata = true,
	.class = IO_READ,
	.takes = takes_small_file,
	.speaks = are_many_files,
	.cost_bytes = cost_moved,
	.costs_time = true,
	.common = true,
	.confidence = FINDING_LIKELY,
};

static const enum threshold small_files_thresholds[] = {
	THRESHOLD_SMALL_FILE,
	THRESHOLD_SMALL_FILES,
};

const struct finding_rule finding_small_files = {
	.id = "many-small-files",
	.drags = true,
	.needs = JOB_SYSCALL,
	.find = finding_add_alike,
	.file_group = &small_files,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(small_files_thresholds),
	.title = "Many small files are read, such as {file}",
	.says = "{files:file|files} of {size_each} on average: {opens} opens, {metadata} metadata "
		"calls, {fetched_bytes} from storage[, at {bandwidth}/s]",
	.advice = "Pack them into a few large files (tar shards, HDF5, LMDB, Parquet; larger "
		  "chunks for Zarr and the like), or open and read several at once, ahead of use",
	.more = "faultline report --by pattern TRACE",
	.rule = "Each file costs an open, a stat, a close and, with a cold cache, reads of its "
		"inode and directory besides its data; readahead never ramps up. Shared file "
		"systems add server round trips for each. Files that took longer to write are "
		"covered by small-writes and metadata-heavy.",
};

/* --- files opened repeatedly --- */

/* Listing dominates, not opening. */
static bool is_listing(const struct file_view *file)
{
	return file->listed && file->listing_ns >= threshold(THRESHOLD_LISTING) *
							   file->tallies[USE_METADATA].time.measure;
}

static bool takes_opened_again(const struct file_view *file)
{
	return !file_group_is_program(file) && !is_listing(file) && file->opens > 1;
}

static uint64_t count_of_opens(const struct file_view *file)
{
	return file->opens;
}

static bool are_many_opens(const struct file_group *file_group)
{
	return file_group->opens >= threshold(THRESHOLD_OPENS) ||
	       file_group->of_run >= threshold(THRESHOLD_TIME_DECIDES);
}

static const struct file_group_rule opened_again_files = {
	.use = USE_METADATA,
	.class = IO_METADATA,
	.takes = takes_opened_again,
	.counts = count_of_opens,
	.least = THRESHOLD_OPENS_OF_FILE,
	.speaks = are_many_opens,
	.reopens = true,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold opened_again_thresholds[] = {
	THRESHOLD_OPENS_OF_FILE,
	THRESHOLD_OPENS,
	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

const struct finding_rule finding_opened_again = {
	.id = "opened-again",
	.drags = true,
	.needs = JOB_SYSCALL,
	.find = finding_add_alike,
	.file_group = &opened_again_files,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(opened_again_thresholds),
	.title = "{file} is opened and closed repeatedly",
	.says = "{opens} opens of {files:file|files}, {metadata} metadata calls on them[; "
		"{reopen_ns} from opens to the first read of new data]",
	.advice = "Open it once per process and keep it open (in a worker: at its start)",
	.more = "faultline report --table files TRACE",
	.rule = "A dataset that opens its file in __getitem__ pays for the open, and often for "
		"parsing a header again, with each sample. On shared file systems each open "
		"contacts a server. The cost is the time from each open to the first read that did "
		"not follow an earlier open, if that is more: it includes parsing.",
};

/* --- directories listed repeatedly --- */

/* Python lists the directories of sys.path once per process; programs cannot change that. */
static bool takes_listed_again(const struct file_view *file)
{
	return !file_group_is_program(file) && is_listing(file) && file->opens > 1;
}

static const struct file_group_rule listed_again_files = {
	.use = USE_METADATA,
	.class = IO_METADATA,
	.takes = takes_listed_again,
	.counts = count_of_opens,
	.least = THRESHOLD_LISTED_AGAIN,
	.costs_time = true,
	.confidence = FINDING_SURE,
};

static const enum threshold listed_again_thresholds[] = {
	THRESHOLD_LISTED_AGAIN,
	THRESHOLD_LISTING,
	THRESHOLD_TIME_DECIDES,
	THRESHOLD_FEW,
};

const struct finding_rule finding_listed_again = {
	.id = "listed-again",
	.drags = true,
	.needs = JOB_SYSCALL,
	.find = finding_add_alike,
	.file_group = &listed_again_files,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_ALIKE,
	FINDING_THRESHOLDS(listed_again_thresholds),
	.title = "{path} is listed repeatedly",
	.says = "{opens} opens of {files:directory|directories}, {metadata} metadata calls on "
		"them, most of their time in reading entries",
	.advice =
		"List it once and keep the result (a manifest next to the data), look up new files "
		"by name or watch for them (inotify), or spread the files over more directories",
	.more = "faultline report --table files --columns path,opens,list.count,list.time_ns TRACE",
	.rule = "Listing a directory reads all of its entries, even if none is new, and locks it: "
		"creating and removing files there waits. A typical cause is a glob at each step, "
		"epoch or sample. On shared file systems the entries come from a server each time.",
};

/* --- more metadata than data --- */

struct metadata {
	uint64_t time_ns, data_ns, count, errors;
	struct table_text call, place, directory;
	uint64_t call_count, failed;
	uint64_t modules_ns;
	double share, of_modules;
};

static const struct table_column metadata_evidence[] = {
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "time in metadata calls",
	  TABLE_UINT(struct metadata, time_ns), 0 },
	{ "data_ns", "data", UNIT_NS, KIND_UNION,
	  "time in reads, writes and faults, faults on programs excluded",
	  TABLE_UINT(struct metadata, data_ns), 0 },
	{ "count", "count", UNIT_COUNT, KIND_FACT, "metadata calls",
	  TABLE_UINT(struct metadata, count), 0 },
	{ "errors", "errors", UNIT_COUNT, KIND_FACT, "failed metadata calls",
	  TABLE_UINT(struct metadata, errors), 0 },
	{ "call", "call", UNIT_NONE, KIND_FACT, "call with the most time",
	  TABLE_TEXT(struct metadata, call), 0 },
	{ "call_count", "calls", UNIT_COUNT, KIND_FACT, "number of these calls",
	  TABLE_UINT(struct metadata, call_count), 0 },
	{ "place", "place", UNIT_PATH, KIND_FACT,
	  "directory with the most time; unknown for several summaries",
	  TABLE_TEXT(struct metadata, place), 0 },
	{ "directory", "directory", UNIT_NONE, KIND_FACT,
	  "directory with the most failed lookups; null: none",
	  TABLE_TEXT(struct metadata, directory), 0 },
	{ "failed", "failed", UNIT_COUNT, KIND_FACT, "failed lookups there",
	  TABLE_UINT(struct metadata, failed), 0 },
	{ "share", "share", UNIT_SHARE, KIND_FACT,
	  "share of metadata in the time of metadata and data", TABLE_REAL(struct metadata, share),
	  0 },
	{ "of_modules", "of modules", UNIT_SHARE, KIND_FACT,
	  "share of the calls' thread time spent on Python modules and the directories that hold "
	  "or are searched for them",
	  TABLE_REAL(struct metadata, of_modules), 0 },
};

/* Finds the call with the most time. */
static void set_leading_call(const struct report *report, struct metadata *found)
{
	const struct table *table = report_by(report, &analysis_operations);
	int family = table_find_column(table, "family"), op = table_find_column(table, "op");
	int count = table_find_column(table, "count");
	int time = table_find_column(table, "thread_time_ns");
	uint64_t most_ns = 0;

	if (family < 0 || op < 0 || count < 0 || time < 0)
		return;
	for (size_t row = 0; row < table->row_count; row++) {
		const struct cell *cells = table_row(table, row);

		if (!cell_is(&cells[family], "metadata") || cells[op].type != CELL_TEXT ||
		    cells[count].type != CELL_UINT || cells[time].type != CELL_UINT ||
		    (found->call.bytes && cells[time].uint <= most_ns))
			continue;
		most_ns = cells[time].uint;
		found->call = (struct table_text) { cells[op].text, cells[op].length };
		found->call_count = cells[count].uint;
	}
}

/* Adds time of reads and writes through mappings. */
static void add_mapped(const struct results *results, struct metadata *found)
{
	struct file_view file;

	for (uint32_t i = 0; i < files_count(results); i++) {
		if (files_used(results, i, &file) && !file_group_is_program(&file))
			found->data_ns += file.tallies[USE_MMAP].time.measure;
	}
}

static struct metadata metadata_of(const struct results *results)
{
	const struct tally metadata = totals_class(results, IO_METADATA);
	const struct tally modules = io_patterns_view(results, IO_PATTERN_MODULE).tally;
	struct lookups_view lookups = failed_lookups_worst(results->report, LOOKUPS_ALL);
	struct metadata found = {
		.time_ns = metadata.time.measure,
		.data_ns = totals_class(results, IO_READ).time.measure +
			   totals_class(results, IO_WRITE).time.measure,
		.count = metadata.count,
		.errors = metadata.errors,
		.place = access_metadata_place(results),
		.directory = lookups.directory,
		.failed = lookups.count,
		.modules_ns = modules.time.measure,
	};

	add_mapped(results, &found);
	found.of_modules = finding_share(modules.thread_time_ns, metadata.thread_time_ns);
	set_leading_call(results->report, &found);
	found.share = finding_share(found.time_ns, found.time_ns + found.data_ns);
	return found;
}

/* A cheap test, which is enough for most runs. */
static bool are_many(const struct findings *findings)
{
	const struct tally metadata = totals_class(findings->results, IO_METADATA);
	uint64_t unhidden_ns = finding_unhidden(findings, IO_METADATA, metadata.time.measure);

	return finding_is_enough(metadata.count, THRESHOLD_METADATA_CALLS,
				 finding_share(unhidden_ns, findings->duration_ns));
}

/* Most lookups are for imports, which another rule covers. */
static bool is_of_modules(const struct metadata *found)
{
	return found->of_modules >= threshold(THRESHOLD_METADATA_SHARE);
}

/* Returns whether it is that much of the run, without what compute overlaps. */
static bool is_felt(const struct findings *findings, uint64_t unhidden_ns)
{
	return unhidden_ns >= threshold(THRESHOLD_METADATA_OF_RUN) * findings->duration_ns;
}

static bool is_heavy(const struct findings *findings, const struct metadata *found,
		     uint64_t *unhidden_ns)
{
	*unhidden_ns = finding_unhidden(findings, IO_METADATA, found->time_ns);
	return found->share >= threshold(THRESHOLD_METADATA_SHARE) && !is_of_modules(found) &&
	       is_felt(findings, *unhidden_ns);
}

static int find_metadata(struct findings *findings, const struct finding_rule *rule)
{
	struct metadata found;
	struct finding_verdict verdict = {
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_SURE,
	};

	if (!are_many(findings))
		return 0;
	found = metadata_of(findings->results);
	return is_heavy(findings, &found, &verdict.cost_ns)
		       ? finding_add(findings, rule, &found, &verdict)
		       : 0;
}

/* If calls of one kind take most of the time, they are reported instead. */
static const struct finding_rule *const metadata_reported_by[] = {
	&finding_small_files,
	&finding_opened_again,
	&finding_listed_again,
	&finding_failed_lookups,
	&finding_locks,
	&finding_cold_names,
	NULL,
};

static const enum threshold metadata_thresholds[] = {
	THRESHOLD_METADATA_SHARE,  THRESHOLD_METADATA_CALLS, THRESHOLD_TIME_DECIDES, THRESHOLD_FEW,
	THRESHOLD_METADATA_OF_RUN,
};

const struct finding_rule finding_metadata = {
	.id = "metadata-heavy",
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.find = find_metadata,
	.reported_by = metadata_reported_by,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct metadata, metadata_evidence),
	FINDING_THRESHOLDS(metadata_thresholds),
	.title = "Metadata calls take longer than data I/O",
	.says = "{count} metadata calls took {time_ns}, reads, writes and faults {data_ns}; {call} "
		"leads with {call_count:call|calls}, {errors} calls failed[; most time in {place}]",
	.advice = "Reduce the calls that lead: keep files open, create and remove fewer, pack "
		  "small ones, list directories once and cache stat results, reserve or punch "
		  "larger pieces (fallocate), start fewer programs (execve), skip unneeded owners, "
		  "times and attributes",
	.more = "faultline report --table operations TRACE",
	.rule = "Calls that open, stat, list, change, remove or lock move no data. If they take "
		"the most time, the data layout or the way files are looked up costs more than "
		"reading the data.",
};

/* --- imported modules --- */

/* For several runs, sums of times are capped by the time of all calls. */
static int find_imports(struct findings *findings, const struct finding_rule *rule)
{
	struct metadata found;
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_LIKELY };

	if (!are_many(findings))
		return 0;
	found = metadata_of(findings->results);
	verdict.cost_ns = finding_unhidden(findings, IO_METADATA,
					   found.modules_ns < found.time_ns ? found.modules_ns
									    : found.time_ns);
	if (!is_of_modules(&found) || verdict.cost_ns < threshold(THRESHOLD_LOADED_NS) ||
	    verdict.cost_ns < threshold(THRESHOLD_LOADED_OF_RUN) * findings->duration_ns)
		return 0;
	return finding_add(findings, rule, &found, &verdict);
}

static const struct finding_rule *const imports_reported_by[] = { &finding_failed_lookups,
								  &finding_worker_start, NULL };

static const enum threshold imports_thresholds[] = {
	THRESHOLD_METADATA_SHARE, THRESHOLD_METADATA_CALLS, THRESHOLD_TIME_DECIDES, THRESHOLD_FEW,
	THRESHOLD_LOADED_NS,	  THRESHOLD_LOADED_OF_RUN,
};

const struct finding_rule finding_imports = {
	.id = "imports",
	.drags = true,
	.needs = JOB_SYSCALL,
	.find = find_imports,
	.reported_by = imports_reported_by,
	.cross_run = true,
	.startup = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct metadata, metadata_evidence),
	FINDING_THRESHOLDS(imports_thresholds),
	.title = "Python imports spend time finding modules",
	.says = "{of_modules} of the time of {count} metadata calls, {time_ns} in total; {call} "
		"leads with {call_count:call|calls}, {errors} calls failed[; most time in {place}]",
	.advice = "Import less, or only when needed; shorten sys.path; keep packages on a local "
		  "disk, in one image (squashfs, zip); fork workers from a process that has "
		  "imported them",
	.more = "faultline report --table operations TRACE",
	.rule = "An import searches the directories of sys.path until it finds the module, stats "
		"each directory again for each module, and opens, stats and closes the file: "
		"several calls for each of thousands of modules, in each process that starts from "
		"scratch. Programs and workers that start often pay each time; on a shared file "
		"system each call contacts a server. Shorter starts are ignored.",
};

/* --- cold metadata --- */

struct cold_names {
	uint64_t count, requests, time_ns, each_ns;
	struct table_text place, programs;
};

static const struct table_column cold_names_evidence[] = {
	{ "count", "count", UNIT_COUNT, KIND_FACT,
	  "metadata calls that waited for their own requests", TABLE_UINT(struct cold_names, count),
	  0 },
	{ "requests", "requests", UNIT_COUNT, KIND_FACT, "request parts that these waited for",
	  TABLE_UINT(struct cold_names, requests), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION,
	  "time of these parts in the queue or at the device",
	  TABLE_UINT(struct cold_names, time_ns), 0 },
	{ "each_ns", "each", UNIT_NS, KIND_FACT, "average of that time per call",
	  TABLE_UINT(struct cold_names, each_ns), 0 },
	{ "place", "place", UNIT_PATH, KIND_FACT, "directory with the most time in metadata calls",
	  TABLE_TEXT(struct cold_names, place), 0 },
	{ "programs", "programs", UNIT_PATH, KIND_FACT,
	  "that directory if it holds programs, libraries or modules; null: it holds data",
	  TABLE_TEXT(struct cold_names, programs), 0 },
};

/* A cold start waits for names, too. */
static const struct finding_rule *const cold_start_emits[] = { &finding_cold_start, NULL };

/* If metadata takes more time than data, that is reported instead. */
static int find_cold_names(struct findings *findings, const struct finding_rule *rule)
{
	const struct chain_time *waited = chain_of_names(findings->results);
	const struct tally all = totals_class(findings->results, IO_METADATA);
	struct metadata metadata;
	struct cold_names found = {
		.count = waited->count,
		.requests = waited->bios,
		.time_ns = waited->queue_ns + waited->device_ns,
	};
	struct finding_verdict verdict = {
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_SURE,
	};

	if (!finding_is_enough(found.count, THRESHOLD_COLD_NAMES,
			       finding_share(found.time_ns, findings->duration_ns)))
		return 0;
	metadata = metadata_of(findings->results);
	if (all.count >= threshold(THRESHOLD_METADATA_CALLS) &&
	    is_heavy(findings, &metadata, &verdict.cost_ns))
		return 0;
	found.place = metadata.place;
	found.each_ns = found.time_ns / found.count;
	/* Threads may have waited at the same time. */
	verdict.cost_ns = found.time_ns < all.time.measure ? found.time_ns : all.time.measure;
	verdict.cost_ns = finding_unhidden(findings, IO_METADATA, verdict.cost_ns);
	if (loaded_is(found.place)) {
		found.programs = found.place;
		if (finding_is_reported(findings, cold_start_emits, verdict.cost_ns))
			return 0;
	}
	return is_felt(findings, verdict.cost_ns) ? finding_add(findings, rule, &found, &verdict)
						  : 0;
}

static const struct finding_rule *const cold_names_reported_by[] = { &finding_imports, NULL };

static const enum threshold cold_names_thresholds[] = {
	THRESHOLD_COLD_NAMES,
	THRESHOLD_METADATA_OF_RUN,
};

const struct finding_rule finding_cold_names = {
	.id = "metadata-cold",
	.needs = JOB_SYSCALL | JOB_BLOCK,
	.find = find_cold_names,
	.reported_by = cold_names_reported_by,
	FINDING_EVIDENCE(struct cold_names, cold_names_evidence),
	FINDING_THRESHOLDS(cold_names_thresholds),
	.title = "Cold metadata: names, directories and inodes are read from storage",
	.says = "{count:metadata call|metadata calls} waited for the device, {each_ns} each[; most "
		"time in {place}]",
	.advice = "[Keep programs in {programs} on a local disk and in memory, start fewer of "
		  "them, import less; for data, list ||List ]a directory once and keep the list, "
		  "pack small files into a few large ones, or look up names ahead of use, in "
		  "several threads",
	.more = "faultline report --slowest 50 TRACE",
	.rule = "File names and inodes are stored on the device like data. A call that needs a "
		"directory or inode that is not in memory waits a full round trip for it, one "
		"after another, and there is no readahead as there is for data. It costs each node "
		"once, and again if memory does not keep it.",
};
