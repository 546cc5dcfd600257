/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums over the files that match a rule. */
#include "analysis/processes/critical_path.h"
#include "analysis/finding/finding_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/files/advice.h"
#include "analysis/files/readahead.h"
#include "analysis/files/reopens.h"
#include "analysis/totals/totals.h"
#include "analysis/run/trace_table.h"
#include "base/number.h"
#include "trace/format/flags.h"

#define FILE_FACT(member, unit, meaning) FACT(file_group, member, #member, unit, meaning)

static const struct table_column columns[] = {
	FILE_FACT(path, NONE,
		  "file with the most time; for many small files, one with the most common "
		  "extension"),
	FILE_FACT(file, NONE, "its name"),
	FILE_FACT(files, COUNT, "files that match"),
	FILE_FACT(limit_bytes, BYTES,
		  "memory limit of the cgroup, if these files fill more than half of it; null: "
		  "they do not, or there is none"),
	FILE_FACT(others, COUNT, "matching files other than the named one; null: none"),
	FILE_FACT(processes, COUNT, "processes that used the file shared by the most"),
	FILE_FACT(overwriters, COUNT,
		  "ranks that opened the file with O_TRUNC, of the file with the most; null: none"),
	FILE_FACT(opens, COUNT, "opens of these files"),
	FILE_FACT(metadata, COUNT, "metadata calls on these files"),
	FILE_FACT(count, COUNT, "operations or faults"),
	FILE_FACT(bytes, BYTES, "bytes moved by calls"),
	FILE_FACT(fetched_bytes, BYTES, "bytes that these read from storage"),
	FILE_FACT(created_bytes, BYTES, "bytes newly cached by writes"),
	FILE_FACT(major, COUNT, "major faults"),
	FILE_FACT(minor, COUNT, "minor faults"),
	FILE_FACT(size_bytes, BYTES, "total size of the files"),
	FILE_FACT(size_each, BYTES, "average file size"),
	FILE_FACT(bytes_each, BYTES, "average bytes per operation"),
	FILE_FACT(fetched_each, BYTES, "average bytes from storage per major fault"),
	FILE_FACT(readahead_bytes, BYTES, "initial limit on readahead for the file"),
	FILE_FACT(again_bytes, BYTES, "bytes read in excess of the file sizes"),
	FILE_FACT(versions, COUNT,
		  "times that a file was truncated and then written again, with more than before"),
	FILE_FACT(repeated_bytes, BYTES, "sizes of the versions before these, summed"),
	FILE_FACT(direct_bytes, BYTES, "bytes read with O_DIRECT; null: none"),
	FILE_FACT(storage_bytes, BYTES, "bytes from storage, into or past the page cache"),
	FILE_FACT(copied_bytes, BYTES, "bytes copied by stores to private mappings; null: none"),
	FILE_FACT(
		advised, COUNT,
		"fadvise calls on these files that read nothing, whatever the advice; null: none"),
	FILE_FACT(
		dropped, COUNT,
		"fadvise calls that dropped the data that was read from storage again; null: none, "
		"or not all of that data"),
	FILE_FACT(random, COUNT, "madvise calls with MADV_RANDOM on these files; null: none"),
	FILE_FACT(misadvised, COUNT,
		  "such calls if the files were nevertheless read in order, or mostly as a whole; "
		  "null: none"),
	COLUMN(file_group, time_ns, "time_ns", NS, UNION, "time in these operations"),
	COLUMN(file_group, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
	FILE_FACT(
		consecutive, SHARE,
		"share of accesses that start where the last one ended (for reads: the last read)"),
	FILE_FACT(backward, SHARE,
		  "share of accesses before the last one of their thread (for reads: its last "
		  "read; for faults: by ≥ 1 MiB)"),
	FACT(file_group, fetched_share, "from storage", SHARE, "share of bytes from storage"),
	FILE_FACT(reopen_ns, NS,
		  "time from opens to the first read that did not follow an earlier open, parsing "
		  "included; null: less than the metadata calls, or unknown"),
	FILE_FACT(scan_reads, COUNT,
		  "reads of files opened repeatedly, if each open does many small ones that skip "
		  "data "
		  "or read it again; null: it does not"),
};

const struct finding_evidence file_group_evidence = FINDING_EVIDENCE_OF(struct file_group, columns);

uint64_t file_group_fetched(const struct file_group *file_group)
{
	return file_group->fetched_bytes;
}

static uint64_t accesses(const struct file_view *file, unsigned int by)
{
	return file->patterns[by][RANDOM] + file->patterns[by][SEQUENTIAL];
}

double file_group_backward(const struct file_view *file, unsigned int by)
{
	return finding_share(file->jumps[by].back, file->jumps[by].known);
}

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

/* Files with the same suffix (".jpg"), as far as so few slots distinguish suffixes. */
#define ENDINGS 16
struct file_group_ending {
	uint64_t files, most_ns;
	struct table_text path; /* of the one with the most time */
	uint64_t readahead_bytes;
};

/* Sums from which shares are computed. */
struct file_group_sums {
	uint64_t direct_bytes; /* read past the page cache: also from storage */
	uint64_t copied_bytes, advised;
	uint64_t reads;
	uint64_t scan_opens, scan_reads; /* of files that each open scans */
	uint64_t dropped, random;
	/* Bytes fetched again; and the part from files whose pages the job did not drop itself. */
	uint64_t again_bytes, undropped_bytes;
	uint64_t accesses, consecutive, jumps, backward;
	struct file_group_ending endings[ENDINGS];
};

static struct file_group_ending *
ending_of(struct file_group_sums *sums, const struct file_group_rule *kind, struct table_text path)
{
	struct table_text name = finding_base_name(path);
	unsigned int hash = 0;

	for (size_t i = name.length; kind->common && i; i--) {
		hash = hash * 31 + (unsigned char)name.bytes[i - 1];
		if (name.bytes[i - 1] == '.')
			return &sums->endings[hash % ENDINGS];
	}
	return &sums->endings[0];
}

/* Returns the most common ending; of equally common ones, that with the most time. */
static const struct file_group_ending *common_ending(const struct file_group_sums *sums)
{
	const struct file_group_ending *best = sums->endings;

	for (const struct file_group_ending *at = best; at < sums->endings + ENDINGS; at++)
		if (at->files > best->files ||
		    (at->files == best->files && at->most_ns > best->most_ns))
			best = at;
	return best;
}

#define MOST(bytes) ((bytes) - (bytes) / 8)

/* Adds what was fetched more than once, and whether the job itself had dropped it, all of it but
 * for pages that its calls named in part. */
static void add_again(struct file_group_sums *sums, const struct file_view *file,
		      const struct advice_view *advice)
{
	const uint64_t again_bytes =
		file->size_bytes == TABLE_NO_UINT
			? 0
			: number_sub(file_group_fetched_to_read(file), file->size_bytes);

	sums->again_bytes += again_bytes;
	if (!advice->dropped || advice->dropped_bytes < MOST(again_bytes))
		sums->undropped_bytes += again_bytes;
}

#define SCANNED_SHARE 0.25 /* of the file, by each open on average */

/* Whether each open scans the file, as an archive without an index: with many small reads that skip
 * data, or read much of the file. */
static bool is_scanned_by_opens(const struct file_view *file)
{
	const struct tally *reads = &file->tallies[USE_READ];
	const uint64_t *patterns = file->patterns[BY_READS];
	const uint64_t known = patterns[RANDOM] + patterns[SEQUENTIAL];

	if (!file->opens || file->direct_bytes ||
	    reads->count < threshold(THRESHOLD_SCAN_READS) * file->opens ||
	    reads->bytes > threshold(THRESHOLD_SMALL_READ) * reads->count)
		return false;
	return (known && 2 * patterns[CONSECUTIVE] <= known) ||
	       (file->size_bytes != TABLE_NO_UINT &&
		reads->bytes >= SCANNED_SHARE * file->opens * file->size_bytes);
}

/* Waits for locks have a finding of their own, and waits for written data belong to saves. */
static uint64_t metadata_ns(const struct file_group_rule *kind, const struct file_view *file)
{
	const uint64_t left_ns =
		number_sub(file->tallies[USE_METADATA].time.measure, file->locking_ns);

	return kind->with_overwriting ? left_ns : number_sub(left_ns, file->overwriting_ns);
}

static uint64_t time_of(const struct file_group_rule *kind, const struct file_view *file)
{
	uint64_t time_ns = 0;

	if (kind->use != USE_METADATA)
		time_ns = file->tallies[kind->use].time.measure;
	if (kind->use == USE_METADATA || kind->with_metadata)
		time_ns += metadata_ns(kind, file);
	if (kind->with_faults)
		time_ns += file->tallies[USE_MMAP].time.measure;
	return time_ns;
}

static void add_file(struct file_group *file_group, struct file_group_sums *sums,
		     const struct file_group_rule *kind, const struct file_view *file,
		     const struct advice_view *advice)
{
	const struct tally *tally = &file->tallies[kind->use];
	unsigned int by = kind->use == USE_MMAP	  ? BY_FAULTS
			  : kind->use == USE_READ ? BY_READS
						  : BY_CALLS;
	const struct tally *metadata = &file->tallies[USE_METADATA];
	const struct tally *faults = &file->tallies[USE_MMAP];
	struct file_group_ending *ending = ending_of(sums, kind, file->path);
	uint64_t time_ns = time_of(kind, file);
	uint64_t size = file->size_bytes == TABLE_NO_UINT ? 0 : file->size_bytes;

	if (kind->with_faults) {
		file_group->count += faults->count;
		file_group->fetched_bytes += faults->fetched_bytes;
		file_group->major += faults->major;
	}
	file_group->files++;
	if (!ending->files++ || time_ns > ending->most_ns) {
		ending->most_ns = time_ns;
		ending->path = file->path;
		ending->readahead_bytes = file->readahead_bytes;
	}
	if (file->processes > file_group->processes)
		file_group->processes = file->processes;
	if (file->overwriters != TABLE_NO_UINT && file->overwriters > file_group->overwriters)
		file_group->overwriters = file->overwriters;
	file_group->opens += file->opens;
	file_group->metadata += metadata->count;
	file_group->count += tally->count;
	file_group->bytes += tally->bytes;
	file_group->fetched_bytes += tally->fetched_bytes;
	file_group->created_bytes += tally->created_bytes;
	file_group->major += tally->major;
	file_group->size_bytes += size;
	file_group->time_ns += time_ns;
	if (tally->bytes > size)
		file_group->again_bytes += tally->bytes - size;
	file_group->versions += file->grown;
	file_group->repeated_bytes += file->repeated_bytes;
	if (kind->use == USE_READ)
		sums->direct_bytes += file->direct_bytes;
	sums->reads += file->tallies[USE_READ].count;
	if (kind->reopens && is_scanned_by_opens(file)) {
		sums->scan_opens += file->opens;
		sums->scan_reads += file->tallies[USE_READ].count;
	}
	sums->advised += file->advised;
	sums->dropped += advice->dropped;
	add_again(sums, file, advice);
	sums->random += advice->random;
	if (kind->use == USE_MMAP)
		sums->copied_bytes += file->copied_bytes;
	sums->accesses += accesses(file, by);
	sums->consecutive += file->patterns[by][CONSECUTIVE];
	sums->jumps += file->jumps[by].known;
	sums->backward += file->jumps[by].back;
}

/* For summed operations, order and merged time are not known. */
static void forget_events(struct file_group *file_group)
{
	file_group->consecutive = file_group->backward = NAN;
	file_group->bandwidth = TABLE_NO_UINT;
}

static void finish(struct file_group *file_group, const struct file_group_sums *sums,
		   const struct file_group_rule *kind)
{
	const struct file_group_ending *example = common_ending(sums);
	const bool by_faults = kind->use == USE_MMAP;
	const bool dropped = sums->dropped &&
			     sums->undropped_bytes <= sums->again_bytes - MOST(sums->again_bytes);

	file_group->path = example->path;
	file_group->readahead_bytes = example->readahead_bytes;
	file_group->file = finding_base_name(file_group->path);
	file_group->others = finding_or_none(file_group->files - 1);
	file_group->overwriters = finding_or_none(file_group->overwriters);
	file_group->minor = by_faults ? file_group->count - file_group->major : 0;
	file_group->size_each = file_group->size_bytes / file_group->files;
	file_group->bytes_each = finding_average(file_group->bytes, file_group->count);
	file_group->fetched_each =
		file_group->major ? file_group->fetched_bytes / file_group->major : 0;
	file_group->consecutive = finding_share(sums->consecutive, sums->accesses);
	file_group->backward = finding_share(sums->backward, sums->jumps);
	file_group->storage_bytes = file_group->fetched_bytes + sums->direct_bytes;
	file_group->fetched_share = finding_share(file_group->storage_bytes, file_group->bytes);
	file_group->direct_bytes = finding_or_none(sums->direct_bytes);
	file_group->copied_bytes = finding_or_none(sums->copied_bytes);
	file_group->dropped = dropped ? sums->dropped : TABLE_NO_UINT;
	file_group->advised = sums->advised && !dropped ? sums->advised : TABLE_NO_UINT;
	file_group->random = finding_or_none(sums->random);
	file_group->misadvised =
		by_faults && (file_group->consecutive >= threshold(THRESHOLD_MMAP_SCAN) ||
			      (file_group->size_bytes &&
			       file_group->backward < threshold(THRESHOLD_RANDOM_SHARE) &&
			       file_group->fetched_bytes >=
				       threshold(THRESHOLD_MMAP_WHOLE) * file_group->size_bytes))
			? file_group->random
			: TABLE_NO_UINT;
	file_group->reads = sums->reads;
	file_group->scan_reads = sums->scan_reads && 2 * sums->scan_opens >= file_group->opens
					 ? sums->scan_reads
					 : TABLE_NO_UINT;
	file_group->bandwidth = finding_bandwidth(
		by_faults || kind->with_faults ? file_group->fetched_bytes : file_group->bytes,
		file_group->time_ns);
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
	       (!kind->opens_most ||
		file->opens <= threshold(*kind->opens_most) * findings->opens_each) &&
	       (!kind->counts ||
		finding_is_enough_in(findings, kind->counts(file), kind->least,
				     findings->aggregated ? 0 : time_of(kind, file)));
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
		add_file(&found->file_group, &found->sums, kind, file, &advice);
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

int file_group_find(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const struct file_group_rule *kind = &rule->files;
	uint64_t most_ns = totals_class(results, rule->class).time.measure, cost_ns, path_ns;
	uint64_t keeps_ns = 0;
	const struct file_group_found *found;
	struct file_group file_group;

	if (!findings->file_group && look_at_files(findings))
		return -ENOMEM;
	found = found_by(findings, rule);
	file_group = found->file_group;
	if (!file_group.files)
		return 0;
	/* Times of several files may overlap; the whole class took no more than this. */
	if (kind->with_metadata && rule->class != IO_METADATA)
		most_ns += totals_class(results, IO_METADATA).time.measure;
	if (kind->with_faults)
		most_ns += totals_class(results, IO_MMAP_READ).time.measure;
	/* Times of classes overlap, too, if there are several threads. */
	if (results->job)
		most_ns = number_min(most_ns, totals_all(results)->time.measure);
	file_group.time_ns = number_min(file_group.time_ns, most_ns);
	finish(&file_group, &found->sums, kind);
	file_group.limit_bytes = limit_of(findings, file_group.size_bytes);
	file_group.too_large = file_group.limit_bytes != TABLE_NO_UINT ||
			       exceeds_memory(findings, file_group.size_bytes);
	cost_ns = file_group.time_ns;
	file_group.reopen_ns = TABLE_NO_UINT;
	if (kind->reopens && reopens_estimated_ns(results) > cost_ns) {
		cost_ns = reopens_estimated_ns(results);
		file_group.reopen_ns = reopens_time_ns(results);
	}
	/* CPU work caused by I/O is on the path to the same extent as the I/O. */
	path_ns = file_group.path_ns < file_group.time_ns
			  ? (unsigned __int128)cost_ns * file_group.path_ns / file_group.time_ns
			  : cost_ns;
	cost_ns = finding_waited(findings, rule->class, cost_ns, path_ns);
	file_group.of_run = finding_share(cost_ns, findings->duration_ns);
	if (kind->speaks && !kind->speaks(findings, &file_group))
		return 0;
	if (findings->aggregated)
		forget_events(&file_group);
	if (kind->keeps_busy)
		keeps_ns =
			finding_unhidden(findings, rule->class,
					 finding_kept_busy_ns(findings, file_group.storage_bytes));
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
