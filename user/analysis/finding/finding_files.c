/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files that match each rule. */
#include "analysis/finding/finding_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/files/advice.h"
#include "analysis/readahead/readahead.h"
#include "analysis/files/reopens.h"
#include "analysis/finding/file_group.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/run/trace_table.h"
#include "analysis/totals/totals.h"
#include "base/number.h"
#include "trace/format/flags.h"

bool file_group_is_program(const struct file_view *file)
{
	static const char *const made_up[] = { "/proc/", "/sys/", "/dev/" };

	/* Files in shared memory count like any others. */
	if (path_begins(file->path.bytes, file->path.length, "/dev/shm/"))
		return file->loaded;
	for (size_t i = 0; i < sizeof(made_up) / sizeof(made_up[0]); i++)
		if (path_begins(file->path.bytes, file->path.length, made_up[i]))
			return true;
	return file->loaded;
}

/* What matched a rule. */
struct file_group_found {
	struct file_group file_group;
	struct file_group_sums sums;
};

/* If a trace lacks the layer, or a filter excludes requests, what was read is unknown. */
static bool has_requests(const struct job *job)
{
	bool has = !job->chosen;

	for (size_t i = 0; i < job->trace_count; i++)
		has &= (job->traces[i].layers & JOB_BLOCK) != 0;
	return has;
}

/* Returns what devices read for any reason; UINT64_MAX if unknown. */
static uint64_t device_bytes(const struct findings *findings)
{
	const struct job *job = findings->results->job;
	const struct table *totals = report_by(findings->report, &analysis_totals);
	const struct table *trace = report_by(findings->report, &analysis_trace);
	int column = table_find_column(totals, "storage_read.bytes");
	const struct cell *lost = &trace->cells[ABOUT_LOST], *bytes;

	if (column < 0 || !totals->row_count || (lost->type == CELL_UINT && lost->uint) ||
	    (job && !has_requests(job)))
		return UINT64_MAX;
	bytes = &table_row(totals, 0)[column];
	return bytes->type == CELL_UINT && !bytes->summed && !bytes->at_least ? bytes->uint
									      : UINT64_MAX;
}

uint64_t file_group_elsewhere_bytes(const struct findings *findings)
{
	uint64_t left_bytes = device_bytes(findings);
	struct readahead_sums sums;

	if (left_bytes == UINT64_MAX)
		return UINT64_MAX;
	for (uint32_t i = 0; i < files_count(findings->results); i++)
		if (readahead_of(findings->results, i, &sums))
			left_bytes = number_sub(left_bytes, sums.fetched_bytes);
	return left_bytes;
}

/* Compressed or remote data needs fewer requests, or none. */
static bool is_on_blocks(const struct file_view *file)
{
	const struct trace_string type = { file->filesystem.bytes, file->filesystem.length };

	return file_system_traits(type) & FILE_SYSTEM_ON_BLOCKS;
}

void file_group_forget_holes(const struct findings *findings, uint32_t number,
			     struct file_view *file)
{
	const uint64_t fetched_bytes = file_group_fetched_to_read(file);
	double most_bytes = findings->elsewhere_bytes; /* that devices can have read of it */
	struct readahead_sums sums;

	if (readahead_of(findings->results, number, &sums))
		most_bytes += sums.fetched_bytes;
	if (!fetched_bytes || most_bytes >= threshold(THRESHOLD_HOLES) * fetched_bytes ||
	    !is_on_blocks(file))
		return;
	file->tallies[USE_READ].fetched_bytes = 0;
	file->tallies[USE_MMAP].fetched_bytes = 0;
}

/* Profile mode does not know the union of times, so only counts decide there. */
static bool is_taken(const struct findings *findings, const struct file_group_rule *kind,
		     const struct file_view *file, bool program)
{
	return kind->takes && (kind->programs || !program) && kind->takes(file) &&
	       (!kind->opens_max ||
		file->opens <= threshold(*kind->opens_max) * findings->opens_each) &&
	       (!kind->counts ||
		finding_is_enough_in(findings, kind->counts(file), kind->counts_min,
				     findings->aggregated ? 0 : file_group_time_of(kind, file)));
}

/* Returns the time on the critical path in the operations that time_of() counts, or UINT64_MAX. */
static uint64_t path_of(const struct findings *findings, const struct file_group_rule *kind,
			uint32_t number)
{
	uint64_t time_ns = 0;

	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++) {
		const enum use use = files_use_of(class);

		if (use == kind->use || (kind->with_metadata && use == USE_METADATA) ||
		    (kind->with_faults && use == USE_MMAP))
			time_ns = number_add(
				time_ns, critical_path_file_ns(findings->results, number, class));
	}
	return time_ns;
}

/* Adds a file to each rule that it matches. */
static void look_at_file(struct findings *findings, const struct advice_index *advised,
			 uint32_t number, const struct file_view *file)
{
	bool asked = false, program = file_group_is_program(file);
	struct advice_view advice;

	for (size_t i = 0; i < finding_rule_count; i++) {
		const struct file_group_rule *kind = &finding_rules[i]->files;
		struct file_group_found *found = &findings->file_group[i];

		if (!is_taken(findings, kind, file, program))
			continue;
		if (!asked)
			advice = advice_of(advised, number, file->path);
		asked = true;
		file_group_add(&found->file_group, &found->sums, kind, file, &advice);
		found->file_group.path_ns =
			number_add(found->file_group.path_ns, path_of(findings, kind, number));
	}
}

/* Files with a name of their own. */
static bool is_judged(const struct file_view *file)
{
	return file->known && !path_begins(file->path.bytes, file->path.length, TRACE_OTHER_FILES);
}

bool file_group_takes(const struct findings *findings, const struct finding_rule *rule,
		      uint32_t number)
{
	struct file_view file;

	if (!files_used(findings->results, number, &file) || !is_judged(&file))
		return false;
	file_group_forget_holes(findings, number, &file);
	return is_taken(findings, &rule->files, &file, file_group_is_program(&file));
}

static double opens_each(const struct findings *findings)
{
	uint64_t opens = 0, opened = 0;
	struct file_view file;

	for (uint32_t i = 0; i < files_count(findings->results); i++) {
		if (!files_used(findings->results, i, &file) || !is_judged(&file) ||
		    file_group_is_program(&file))
			continue;
		opens = number_add(opens, file.opens);
		opened += file.opens > 0;
	}
	return opened ? (double)opens / opened : 0;
}

static int look_at_files(struct findings *findings)
{
	struct advice_index advised;
	struct file_view file;
	int status = advice_index_make(&advised, findings->results);

	findings->opens_each = opens_each(findings);
	if (!status)
		findings->file_group = calloc(finding_rule_count, sizeof(*findings->file_group));
	if (!findings->file_group)
		status = -ENOMEM;
	for (uint32_t i = 0; i < files_count(findings->results) && !status; i++) {
		if (!files_used(findings->results, i, &file))
			continue;
		if (!is_on_blocks(&file))
			findings->off_blocks_bytes += file.fetched_bytes;
		if (!is_judged(&file))
			continue;
		file_group_forget_holes(findings, i, &file);
		look_at_file(findings, &advised, i, &file);
	}
	advice_index_free(&advised);
	return status;
}

int finding_find_holes(struct findings *findings, uint64_t fetched_bytes, bool *holes)
{
	const double least = threshold(THRESHOLD_HOLES) * fetched_bytes;

	*holes = false;
	if (!fetched_bytes || device_bytes(findings) >= least)
		return 0;
	if (!findings->file_group && look_at_files(findings))
		return -ENOMEM;
	*holes = findings->off_blocks_bytes < least;
	return 0;
}

static const struct file_group_found *found_by(const struct findings *findings,
					       const struct finding_rule *rule)
{
	size_t number = 0;

	while (finding_rules[number] != rule)
		number++;
	return &findings->file_group[number];
}

/* The memory limit that may have evicted files of that size. */
static uint64_t limit_of(const struct findings *findings, uint64_t size_bytes)
{
	const uint64_t limit_bytes = finding_trace_number(findings, "cgroup_memory_bytes");

	return limit_bytes && size_bytes > limit_bytes / 2 ? limit_bytes : TABLE_NO_UINT;
}

/* Half of the memory is a guess at what else needs it. */
static bool exceeds_memory(const struct findings *findings, uint64_t size_bytes)
{
	const uint64_t memory_bytes = finding_trace_number(findings, "memory_bytes");

	return memory_bytes && size_bytes > memory_bytes / 2;
}

/* Returns the time of the operations of all files, which may overlap: no more than that of their
 * classes. */
static uint64_t capped_ns(const struct findings *findings, const struct finding_rule *rule,
			  uint64_t time_ns)
{
	const struct results *results = findings->results;
	uint64_t most_ns = totals_class(results, rule->class).time.measure;

	if (rule->files.with_metadata && rule->class != IO_METADATA)
		most_ns += totals_class(results, IO_METADATA).time.measure;
	if (rule->files.with_faults)
		most_ns += totals_class(results, IO_MMAP_READ).time.measure;
	/* Times of classes overlap, too, if there are several threads. */
	if (results->job)
		most_ns = number_min(most_ns, totals_all(results)->time.measure);
	return number_min(time_ns, most_ns);
}

/* Returns the part of a cost that the run waited for, by the classes that the group's time is of.
 * `path_ns`: see finding_waited. */
static uint64_t waited_ns(const struct findings *findings, const struct finding_rule *rule,
			  const struct file_group_sums *sums, uint64_t cost_ns, uint64_t path_ns)
{
	static const enum io_class classes[USES] = {
		[USE_READ] = IO_READ, [USE_WRITE] = IO_WRITE,	 [USE_METADATA] = IO_METADATA,
		[USE_SYNC] = IO_SYNC, [USE_MMAP] = IO_MMAP_READ,
	};
	uint64_t times_ns[IO_CLASS_COUNT] = { 0 }, paths_ns[IO_CLASS_COUNT], sum_ns = 0;

	for (unsigned int use = 0; use < USES; use++)
		times_ns[use == rule->files.use ? rule->class : classes[use]] += sums->use_ns[use];
	memcpy(paths_ns, times_ns, sizeof(paths_ns));
	finding_divide(times_ns, cost_ns, rule->class);
	finding_divide(paths_ns, path_ns, rule->class);
	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++)
		sum_ns += finding_waited(findings, class, times_ns[class], paths_ns[class]);
	return sum_ns;
}

/* Sets what depends on the rest of the run. Returns the time that all of the files cost. */
static uint64_t set_costs(const struct findings *findings, const struct finding_rule *rule,
			  const struct file_group_sums *sums, struct file_group *file_group)
{
	const struct results *results = findings->results;
	uint64_t cost_ns = file_group->time_ns, path_ns;

	file_group->limit_bytes = limit_of(findings, file_group->size_bytes);
	file_group->too_large = file_group->limit_bytes != TABLE_NO_UINT ||
				exceeds_memory(findings, file_group->size_bytes);
	file_group->reopen_ns = TABLE_NO_UINT;
	if (rule->files.reopens && reopens_estimated_ns(results) > cost_ns) {
		cost_ns = reopens_estimated_ns(results);
		file_group->reopen_ns = reopens_time_ns(results);
	}
	/* CPU work caused by I/O is on the path to the same extent as the I/O. */
	path_ns = file_group->path_ns < file_group->time_ns
			  ? (unsigned __int128)cost_ns * file_group->path_ns / file_group->time_ns
			  : cost_ns;
	cost_ns = waited_ns(findings, rule, sums, cost_ns, path_ns);
	file_group->of_run = finding_share(cost_ns, findings->duration_ns);
	return cost_ns;
}

int file_group_find(struct findings *findings, const struct finding_rule *rule)
{
	const struct file_group_rule *kind = &rule->files;
	const struct file_group_found *found;
	struct file_group file_group;
	uint64_t cost_ns, keeps_ns = 0;

	if (!findings->file_group && look_at_files(findings))
		return -ENOMEM;
	found = found_by(findings, rule);
	file_group = found->file_group;
	if (!file_group.files)
		return 0;
	file_group.time_ns = capped_ns(findings, rule, file_group.time_ns);
	file_group_finish(&file_group, &found->sums, kind);
	cost_ns = set_costs(findings, rule, &found->sums, &file_group);
	if (kind->speaks && !kind->speaks(findings, &file_group))
		return 0;
	if (findings->aggregated)
		file_group_forget_events(&file_group);
	if (kind->keeps_busy)
		keeps_ns =
			finding_unhidden(findings, rule->class,
					 finding_kept_busy_ns(findings, file_group.storage_bytes));
	/* Devices work during what stays of the calls. */
	if (kind->stays)
		keeps_ns = number_max(keeps_ns, cost_ns * kind->stays(findings, &file_group));
	return finding_add_as(
		findings, rule, &file_group,
		&(struct finding_verdict) {
			.cost_ns = kind->saved ? cost_ns * kind->saved(findings, &file_group)
					       : number_sub(cost_ns, keeps_ns),
			.covers_ns = cost_ns,
			.keeps_ns = keeps_ns,
			.cost_bytes =
				kind->cost_bytes ? kind->cost_bytes(&file_group) : TABLE_NO_UINT,
			.confidence = rule->confidence,
			.severity = rule->severity,
		});
}
