/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about metadata: failed lookups, calls that take longer than data, imports, cold names.
 */
#include <math.h>
#include <string.h>

#include "analysis/devices/chain.h"
#include "analysis/files/failed_lookups.h"
#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_made.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/access.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

/* --- more metadata than data --- */

struct metadata {
	uint64_t time_ns, data_ns, count, errors;
	struct table_text call, place, directory;
	uint64_t call_count, failed;
	uint64_t seeks; /* of evidence "seeks" */
	uint64_t modules_ns;
	double share, of_modules;
};

static const struct table_column metadata_evidence[] = {
	COLUMN(metadata, time_ns, "time", NS, UNION,
	       "time in metadata calls, waits for locks of files excluded"),
	COLUMN(metadata, data_ns, "data", NS, UNION,
	       "time in reads, writes and faults, faults on programs excluded"),
	FACT(metadata, count, "count", COUNT, "metadata calls"),
	FACT(metadata, errors, "errors", COUNT, "failed metadata calls"),
	FACT(metadata, call, "call", NONE, "call with the most time"),
	FACT(metadata, call_count, "calls", COUNT, "number of these calls"),
	FACT(metadata, seeks, "seeks", COUNT, "number of these calls if they are lseek; else null"),
	FACT(metadata, place, "place", PATH,
	     "directory with the most time; unknown for several summaries"),
	FACT(metadata, directory, "directory", NONE,
	     "directory with the most failed lookups; null: none"),
	FACT(metadata, failed, "failed", COUNT, "failed lookups there"),
	FACT(metadata, share, "share", SHARE, "share of metadata in the time of metadata and data"),
	FACT(metadata, of_modules, "of modules", SHARE,
	     "share of the calls' thread time spent on Python modules and the directories that "
	     "hold or are searched for them"),
};

/* Waits for locks of files have a finding of their own. */
static bool is_lock(const struct cell *op)
{
	return cell_is(op, "flock") || (op->length > 6 && !memcmp(op->text, "fcntl_", 6));
}

/* Finds the call with the most time; `locked`: other than those that lock files. */
static void set_leading_call(const struct report *report, bool locked, struct metadata *found)
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
		    (locked && is_lock(&cells[op])) || cells[count].type != CELL_UINT ||
		    cells[time].type != CELL_UINT ||
		    (found->call.bytes && cells[time].uint <= most_ns))
			continue;
		most_ns = cells[time].uint;
		found->call = (struct table_text) { cells[op].text, cells[op].length };
		found->call_count = cells[count].uint;
	}
}

static bool is_large(const struct file_view *file)
{
	return file->size_bytes != TABLE_NO_UINT &&
	       file->size_bytes > threshold(THRESHOLD_SMALL_FILE);
}

/* Adds time of reads and writes through mappings. To free the data of a large file when it is
 * opened to be written again is part of the save. */
static void add_data_of_files(const struct results *results, struct metadata *found)
{
	struct file_view file;

	for (uint32_t i = 0; i < files_count(results); i++) {
		if (!files_used(results, i, &file) || file_group_is_program(&file))
			continue;
		found->data_ns = number_add(found->data_ns, file.tallies[USE_MMAP].time.measure);
		if (!is_large(&file))
			continue;
		found->data_ns = number_add(found->data_ns, file.overwriting_ns);
		found->time_ns = number_sub(found->time_ns, file.overwriting_ns);
	}
}

/* Returns the time in other calls, at least: they may overlap the waits for locks. */
static uint64_t without_locks_ns(const struct tally *metadata, const struct tally *locks)
{
	const double others = 1 - finding_share(locks->thread_time_ns, metadata->thread_time_ns);

	return number_max(number_sub(metadata->time.measure, locks->time.measure),
			  finding_limited(metadata->time.measure * fmax(others, 0)));
}

static struct metadata metadata_of(const struct results *results)
{
	const struct tally metadata = totals_class(results, IO_METADATA);
	const struct tally modules = io_patterns_view(results, IO_PATTERN_MODULE).tally;
	struct lookups_view lookups = failed_lookups_worst(results->report, LOOKUPS_ALL);
	const struct tally locks = io_patterns_view(results, IO_PATTERN_LOCK).tally;
	struct metadata found = {
		.time_ns = without_locks_ns(&metadata, &locks),
		.data_ns = totals_class(results, IO_READ).time.measure +
			   totals_class(results, IO_WRITE).time.measure,
		.count = number_sub(metadata.count, locks.count),
		.errors = number_sub(metadata.errors, locks.errors),
		.place = access_metadata_place(results),
		.directory = lookups.directory,
		.failed = lookups.count,
		.modules_ns = modules.time.measure,
	};

	add_data_of_files(results, &found);
	found.of_modules = finding_share(modules.thread_time_ns, metadata.thread_time_ns);
	set_leading_call(results->report, locks.count > 0, &found);
	found.seeks = found.call.bytes && found.call.length == strlen("lseek") &&
				      !memcmp(found.call.bytes, "lseek", found.call.length)
			      ? found.call_count
			      : TABLE_NO_UINT;
	found.share = finding_share(found.time_ns, found.time_ns + found.data_ns);
	return found;
}

THRESHOLD_MIN(METADATA_CALLS, 1000, UNIT_COUNT, "metadata calls",
	      "a choice: program startup makes some hundreds");

/* A cheap test, which is enough for most runs. */
static bool are_many(const struct findings *findings)
{
	const struct tally metadata = totals_class(findings->results, IO_METADATA);
	uint64_t unhidden_ns = finding_unhidden(findings, IO_METADATA, metadata.time.measure);

	return finding_is_enough_in(findings, metadata.count, &THRESHOLD_METADATA_CALLS,
				    unhidden_ns);
}

THRESHOLD_MIN(METADATA_SHARE, 0.5, UNIT_SHARE, "share of metadata in call time",
	      "metadata takes more time than data");

/* Most lookups are for imports, which another rule covers. */
static bool is_of_modules(const struct metadata *found)
{
	return found->of_modules >= threshold(THRESHOLD_METADATA_SHARE);
}

static bool is_heavy(const struct findings *findings, const struct metadata *found,
		     uint64_t *unhidden_ns)
{
	*unhidden_ns = finding_unhidden(findings, IO_METADATA, found->time_ns);
	return found->share >= threshold(THRESHOLD_METADATA_SHARE) && !is_of_modules(found) &&
	       finding_is_of_run(findings, *unhidden_ns, THRESHOLD_SOME_OF_RUN);
}

static int find_metadata(struct findings *findings, const struct finding_rule *rule)
{
	struct metadata found;
	uint64_t cost_ns;

	if (!are_many(findings))
		return 0;
	found = metadata_of(findings->results);
	return is_heavy(findings, &found, &cost_ns)
		       ? finding_add(findings, rule, &found, cost_ns, TABLE_NO_UINT)
		       : 0;
}

THRESHOLD_MAX(METADATA_WORK, 2, UNIT_NONE,
	      "CPU time counted at the same lines, besides the kernel's around each call and that "
	      "in Python's file modules, relative to the calls' time",
	      "measured: Python's os.walk and tempfile take 0.8 to 2 times the calls' time");

/* A file in Python's text mode decodes its data again to seek and to say where it is. */
static bool seeks_most(const void *evidence)
{
	const struct metadata *found = evidence;

	return found->seeks != TABLE_NO_UINT && 2 * found->seeks > found->count;
}

const struct finding_rule finding_metadata = {
	.id = "metadata-heavy",
	.causes_work = true,
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_METADATA_WORK,
	.work_unlimited = seeks_most,
	.order = 330,
	.lines = 1u << USE_METADATA,
	.lines_of_all = true,
	.breadth = FINDING_PATTERN,
	.needs = JOB_SYSCALL,
	.find = find_metadata,
	.confidence = FINDING_SURE,
	/* If calls of one kind take most of the time, they are reported instead. */
	.reported_by = { "many-small-files", "opened-again", "listed-again", "failed-lookups",
			 "metadata-cold", "written-by-several", "replace-waits" },
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct metadata, metadata_evidence),
	.thresholds = { &THRESHOLD_METADATA_SHARE, &THRESHOLD_METADATA_CALLS,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW, &THRESHOLD_SOME_OF_RUN,
			&THRESHOLD_METADATA_WORK },
	.title = "Metadata calls[, mostly {call},] take longer than data I/O",
	.says = "{count} metadata calls took {time_ns}, reads, writes and faults {data_ns}; {call} "
		"leads with {call_count:call|calls}, {errors} calls failed[; most time in {place}]",
	.advice = "[Open text files in binary mode where you seek or ask for the position "
		  "({seeks} calls): text mode decodes data again each time. Or remember "
		  "positions||Reduce the most frequent calls: keep files open, create and remove "
		  "fewer files, pack small ones, list directories once and cache stat results, "
		  "reserve or punch larger pieces (fallocate), start fewer programs (execve), or "
		  "set owners, times and attributes only if needed]",
	.more = "faultline report --table operations TRACE",
	.pictures = "calls metadata, paths operations",
	.rule = "Calls that open, stat, list, change, remove or lock move no data. If they take "
		"the most time, the data layout or the way files are looked up costs more than "
		"reading the data.",
};

/* --- imported modules --- */

/* Modules that are found are read, too. */
static uint64_t reads_of_modules_ns(const struct findings *findings)
{
	const struct tally all = totals_class(findings->results, IO_READ);
	struct file_view file;
	uint64_t time_ns = 0;

	for (uint32_t i = 0; i < files_count(findings->results); i++)
		if (files_used(findings->results, i, &file) && file.loaded)
			time_ns = number_add(time_ns, file.tallies[USE_READ].time.measure);
	return finding_unhidden(findings, IO_READ, number_min(time_ns, all.time.measure));
}

/* For several runs, sums of times are capped by the time of all calls. */
static bool are_slow_imports(const struct findings *findings, struct metadata *found,
			     uint64_t *cost_ns)
{
	if (!are_many(findings))
		return false;
	*found = metadata_of(findings->results);
	*cost_ns = finding_unhidden(findings, IO_METADATA,
				    number_min(found->modules_ns, found->time_ns));
	return is_of_modules(found) && *cost_ns >= threshold(THRESHOLD_LOADED_NS) &&
	       finding_is_of_run(findings, *cost_ns, THRESHOLD_PART_OF_RUN);
}

static int find_imports(struct findings *findings, const struct finding_rule *rule)
{
	struct metadata found;
	uint64_t cost_ns;

	if (!are_slow_imports(findings, &found, &cost_ns))
		return 0;
	return finding_add(findings, rule, &found,
			   number_add(cost_ns, reads_of_modules_ns(findings)), TABLE_NO_UINT);
}

/* Most calls of no file look for a module, or failed lookups would be found instead. */
static bool is_of_import(const struct findings *findings, const void *evidence,
			 const struct line_use *use)
{
	const struct file_table *files = &findings->results->job->files;

	return use->file == FILE_NONE ||
	       loaded_in_is_module(files, trace_text(file_table_path(files, use->file)));
}

const struct finding_rule finding_imports = {
	.id = "imports",
	.order = 310,
	.work_at_lines = finding_always,
	.lines = 1u << USE_METADATA | 1u << USE_READ,
	.lines_take = is_of_import,
	.lines_whole = "the time in calls on modules or by path",
	.causes_work = true,
	.exactness = FINDING_ESTIMATED,
	.needs = JOB_SYSCALL,
	.find = find_imports,
	.confidence = FINDING_LIKELY,
	.reported_by = { "failed-lookups", "worker-start" },
	.cross_run = true,
	.startup = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct metadata, metadata_evidence),
	.thresholds = { &THRESHOLD_METADATA_SHARE, &THRESHOLD_METADATA_CALLS,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW, &THRESHOLD_LOADED_NS,
			&THRESHOLD_PART_OF_RUN },
	.title = "Python imports spend time finding modules",
	.says = "{of_modules} of the time of {count} metadata calls, {time_ns} in total; {call} "
		"leads with {call_count:call|calls}, {errors} calls failed[; most time in {place}]",
	.advice = "Import less, or only when needed; shorten sys.path; keep packages on a local "
		  "disk, in one image (squashfs, zip); fork workers from a process that has "
		  "imported them",
	.more = "faultline report --table operations TRACE",
	.pictures = "calls metadata, paths operations",
	.rule = "An import searches the directories of sys.path until it finds the module, stats "
		"each directory again for each module, and opens, stats and closes the file: "
		"several calls for each of thousands of modules, in each process that starts from "
		"scratch. Programs and workers that start often pay each time; on a shared file "
		"system each call contacts a server. The cost includes reading the modules. "
		"Shorter starts are ignored.",
};

/* --- failed lookups --- */

struct failed {
	struct table_text directory, example;
	uint64_t count, there, time_ns;
};

static const struct table_column failed_evidence[] = {
	FACT(failed, directory, "directory", NONE, "directory with the most failures"),
	FACT(failed, example, "example", NONE, "one of the paths"),
	FACT(failed, count, "count", COUNT, "calls with a path that failed"),
	FACT(failed, there, "there", COUNT, "failures in that directory"),
	COLUMN(failed, time_ns, "time", NS, THREAD, "thread time in these calls"),
};

THRESHOLD_MIN(FAILED_LOOKUPS, 1000, UNIT_COUNT, "failed lookups",
	      "a choice: Python's startup makes some hundreds");

static bool fail_often(const struct findings *findings, const struct lookups_view *failed)
{
	return finding_is_enough_in(findings, failed->all_count, &THRESHOLD_FAILED_LOOKUPS,
				    failed->all_thread_time_ns);
}

/* Uses the job's own lookups if there are many, otherwise all of them, including the search for
 * modules unless slow imports are found instead. */
static int find_failed(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally metadata = totals_class(findings->results, IO_METADATA);
	struct lookups_view worst = failed_lookups_worst(findings->report, LOOKUPS_OF_DATA);
	struct failed failed;
	struct metadata imports;
	uint64_t cost_ns;

	if (!fail_often(findings, &worst)) {
		if (are_slow_imports(findings, &imports, &cost_ns))
			return 0;
		worst = failed_lookups_worst(findings->report, LOOKUPS_ALL);
	}
	if (!fail_often(findings, &worst))
		return 0;
	failed = (struct failed) {
		.directory = worst.directory,
		.example = worst.example,
		.count = worst.all_count,
		.there = worst.count,
		.time_ns = worst.all_thread_time_ns,
	};
	return finding_add(findings, rule, &failed,
			   finding_unhidden(findings, IO_METADATA,
					    number_min(failed.time_ns, metadata.time.measure)),
			   TABLE_NO_UINT);
}

/* A call that finds no file has none; one that names a file by its path may have none either. */
static bool is_of_no_file(const struct findings *findings, const void *evidence,
			  const struct line_use *use)
{
	return use->file == FILE_NONE;
}

const struct finding_rule finding_failed_lookups = {
	.id = "failed-lookups",
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_METADATA_WORK,
	.order = 290,
	.lines = 1u << USE_METADATA,
	.lines_take = is_of_no_file,
	.lines_whole = "the time in calls by path",
	.needs = JOB_SYSCALL,
	.find = find_failed,
	.confidence = FINDING_SURE,
	.cross_run = true,
	FINDING_EVIDENCE(struct failed, failed_evidence),
	.thresholds = { &THRESHOLD_FAILED_LOOKUPS, &THRESHOLD_METADATA_WORK,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Failed path lookups",
	.says = "{count} lookups failed, {there} of them in {directory}, such as {example}",
	.advice = "Remember which files do not exist, shorten search paths (PYTHONPATH, "
		  "LD_LIBRARY_PATH, sys.path), or put local disk first",
	.more = "faultline report --table failed_lookups TRACE",
	.pictures = "lookups",
	.rule = "A search through a list of directories tries each one until it finds the file. On "
		"a shared file system each failed lookup is a round trip, for every process of "
		"every node. Lookups of programs and modules count only if the job's own files "
		"have too few.",
};

/* --- cold metadata --- */

struct cold_names {
	uint64_t count, requests, time_ns, each_ns;
	struct table_text place, programs;
};

static const struct table_column cold_names_evidence[] = {
	FACT(cold_names, count, "count", COUNT,
	     "metadata calls that waited for their own requests"),
	FACT(cold_names, requests, "requests", COUNT, "request parts that these waited for"),
	COLUMN(cold_names, time_ns, "time", NS, UNION,
	       "time of these parts in the queue or at the device"),
	FACT(cold_names, each_ns, "each", NS, "average of that time per call"),
	FACT(cold_names, place, "place", PATH, "directory with the most time in metadata calls"),
	FACT(cold_names, programs, "programs", PATH,
	     "that directory if it holds programs, libraries or modules; null: it holds data"),
};

THRESHOLD_MIN(COLD_NAMES, 10, UNIT_COUNT, "metadata calls that wait for requests",
	      "a choice: their time matters more");

THRESHOLD_MIN(COLD_NAMES_NS, 20000000, UNIT_NS, "time that they take",
	      "measured: small programs that start cold wait up to 7 ms");

/* If metadata takes more time than data, that is reported instead. */
static int find_cold_names(struct findings *findings, const struct finding_rule *rule)
{
	static const char *const starts[] = { "cold-start", NULL }; /* it waits for names, too */
	const struct chain_time *waited = chain_of_names(findings->results);
	const struct tally all = totals_class(findings->results, IO_METADATA);
	struct metadata metadata;
	struct cold_names found = {
		.count = waited->count,
		.requests = waited->bios,
		.time_ns = waited->queue_ns + waited->device_ns,
	};
	uint64_t cost_ns;

	if (!finding_is_enough_in(findings, found.count, &THRESHOLD_COLD_NAMES, found.time_ns))
		return 0;
	metadata = metadata_of(findings->results);
	if (all.count >= threshold(THRESHOLD_METADATA_CALLS) &&
	    is_heavy(findings, &metadata, &cost_ns))
		return 0;
	found.place = metadata.place;
	found.each_ns = found.time_ns / found.count;
	/* Threads may have waited at the same time. */
	cost_ns = finding_unhidden(findings, IO_METADATA,
				   number_min(found.time_ns, all.time.measure));
	if (loaded_is(found.place)) {
		found.programs = found.place;
		if (finding_is_reported(findings, starts, cost_ns, NULL))
			return 0;
	}
	return cost_ns >= threshold(THRESHOLD_COLD_NAMES_NS) &&
			       finding_is_of_run(findings, cost_ns, THRESHOLD_SOME_OF_RUN)
		       ? finding_add(findings, rule, &found, cost_ns, TABLE_NO_UINT)
		       : 0;
}

static bool is_of_any(const struct findings *findings, const void *evidence,
		      const struct line_use *use)
{
	return true;
}

const struct finding_rule finding_cold_names = {
	.id = "metadata-cold",
	.order = 320,
	.lines = 1u << USE_METADATA,
	.lines_take = is_of_any,
	.lines_whole = "the time in metadata calls",
	.needs = JOB_SYSCALL | JOB_BLOCK,
	.find = find_cold_names,
	.confidence = FINDING_SURE,
	.reported_by = { "imports" },
	FINDING_EVIDENCE(struct cold_names, cold_names_evidence),
	.thresholds = { &THRESHOLD_COLD_NAMES, &THRESHOLD_COLD_NAMES_NS, &THRESHOLD_SOME_OF_RUN,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Cold metadata: names, directories and inodes are read from storage",
	.says = "{count:metadata call|metadata calls} waited for the device, {each_ns} each[; most "
		"time in {place}]",
	.advice = "[Keep programs in {programs} on a local disk and in memory, start fewer of "
		  "them, import less; for data, list ||List ]a directory once and keep the list, "
		  "pack small files into a few large ones, or look up names ahead of use, in "
		  "several threads",
	.more = "faultline report --slowest 50 TRACE",
	.pictures = "took metadata, calls metadata",
	.rule = "File names and inodes are stored on the device like data. A call that needs a "
		"directory or inode that is not in memory waits a full round trip for it, one "
		"after another, and there is no readahead as there is for data. It costs each node "
		"once, and again if memory does not keep it.",
};
