/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/finding/file_group.h"

#include <math.h>

#include "analysis/processes/threads.h"
#include "base/number.h"

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
	FILE_FACT(
		touched_pages, COUNT,
		"estimate of the pages that programs used through mappings (mmap.touched_pages of "
		"table files); null: none, or unknown"),
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
	FILE_FACT(random, COUNT,
		  "madvise calls with MADV_RANDOM on these files, or, in findings on reads, "
		  "fadvise calls with POSIX_FADV_RANDOM; null: none"),
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
	FACT(file_group, fetched_share, "from storage", SHARE,
	     "share of the bytes read by calls that came from storage; null: more came than was "
	     "read, or calls read nothing, or faults count, too"),
	FILE_FACT(reopen_ns, NS,
		  "time from opens to the first read that did not follow an earlier open, parsing "
		  "included; null: less than the metadata calls, or unknown"),
	FILE_FACT(scan_reads, COUNT,
		  "reads of files opened repeatedly, if each open does many small ones that skip "
		  "data or read it again; null: it does not"),
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

double file_group_copies(const struct file_group *file_group)
{
	return file_group->reading *
	       finding_share(file_group->bytes_each,
			     file_group->bytes_each + threshold(THRESHOLD_CALL_BYTES));
}

double file_group_copies_stay(const struct findings *findings, const struct file_group *file_group)
{
	return file_group_copies(file_group) * threads_busy_of_io(findings->results);
}

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

/* Returns the time that the rule counts, of one use. */
static uint64_t time_of_use(const struct file_group_rule *kind, const struct file_view *file,
			    enum use use)
{
	if (use != kind->use && !(use == USE_METADATA && kind->with_metadata) &&
	    !(use == USE_MMAP && kind->with_faults))
		return 0;
	return use == USE_METADATA ? metadata_ns(kind, file) : file->tallies[use].time.measure;
}

uint64_t file_group_time_of(const struct file_group_rule *kind, const struct file_view *file)
{
	uint64_t time_ns = 0;

	for (int use = 0; use < USES; use++)
		time_ns += time_of_use(kind, file, use);
	return time_ns;
}

static bool is_read_in_order(const struct file_view *file)
{
	const uint64_t *patterns = file->patterns[BY_READS];

	return finding_share(patterns[CONSECUTIVE], patterns[RANDOM] + patterns[SEQUENTIAL]) >=
	       threshold(THRESHOLD_SCAN_ORDER);
}

static void add_mapped(struct file_group_sums *sums, const struct file_view *file)
{
	sums->copied_bytes += file->copied_bytes;
	if (file->touched_pages != TABLE_NO_UINT)
		sums->touched_pages += file->touched_pages;
}

static void add_to_sums(struct file_group_sums *sums, const struct file_group_rule *kind,
			const struct file_view *file, const struct advice_view *advice)
{
	const unsigned int by = kind->use == USE_MMAP	? BY_FAULTS
				: kind->use == USE_READ ? BY_READS
							: BY_CALLS;

	for (int use = 0; use < USES; use++)
		sums->use_ns[use] += time_of_use(kind, file, use);
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
	if (kind->use != USE_READ)
		sums->random += advice->random;
	else if (!advice->ordered_reads && is_read_in_order(file))
		sums->random += advice->random_reads;
	if (kind->use == USE_MMAP)
		add_mapped(sums, file);
	sums->accesses += accesses(file, by);
	sums->consecutive += file->patterns[by][CONSECUTIVE];
	sums->jumps += file->jumps[by].known;
	sums->backward += file->jumps[by].back;
}

void file_group_add(struct file_group *file_group, struct file_group_sums *sums,
		    const struct file_group_rule *kind, const struct file_view *file,
		    const struct advice_view *advice)
{
	const struct tally *tally = &file->tallies[kind->use];
	const struct tally *metadata = &file->tallies[USE_METADATA];
	const struct tally *faults = &file->tallies[USE_MMAP];
	struct file_group_ending *ending = ending_of(sums, kind, file->path);
	uint64_t time_ns = file_group_time_of(kind, file);
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
	add_to_sums(sums, kind, file, advice);
}

void file_group_forget_events(struct file_group *file_group)
{
	file_group->consecutive = file_group->backward = NAN;
	file_group->bandwidth = TABLE_NO_UINT;
}

/* Whether readahead would serve the files with such advice: those that are read are read in order
 * (see file_group_add); or they are mapped, and read in order or mostly as a whole. */
static bool is_in_order(const struct file_group *file_group, enum use use)
{
	if (use != USE_MMAP)
		return use == USE_READ;
	return file_group->consecutive >= threshold(THRESHOLD_MMAP_SCAN) ||
	       (file_group->size_bytes &&
		file_group->backward < threshold(THRESHOLD_RANDOM_SHARE) &&
		file_group->fetched_bytes >=
			threshold(THRESHOLD_MMAP_WHOLE) * file_group->size_bytes);
}

static uint64_t sum(const uint64_t use_ns[USES])
{
	uint64_t all_ns = 0;

	for (int use = 0; use < USES; use++)
		all_ns = number_add(all_ns, use_ns[use]);
	return all_ns;
}

void file_group_finish(struct file_group *file_group, const struct file_group_sums *sums,
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
	file_group->fetched_share =
		kind->use == USE_READ && !kind->with_faults && file_group->bytes &&
				file_group->storage_bytes <= file_group->bytes
			? finding_share(file_group->storage_bytes, file_group->bytes)
			: NAN;
	file_group->direct_bytes = finding_or_none(sums->direct_bytes);
	file_group->copied_bytes = finding_or_none(sums->copied_bytes);
	file_group->touched_pages = finding_or_none(sums->touched_pages);
	file_group->dropped = dropped ? sums->dropped : TABLE_NO_UINT;
	file_group->advised = sums->advised && !dropped ? sums->advised : TABLE_NO_UINT;
	file_group->random = finding_or_none(sums->random);
	file_group->misadvised =
		is_in_order(file_group, kind->use) ? file_group->random : TABLE_NO_UINT;
	file_group->reading = finding_share(sums->use_ns[USE_READ], sum(sums->use_ns));
	file_group->reads = sums->reads;
	file_group->scan_reads = sums->scan_reads && 2 * sums->scan_opens >= file_group->opens
					 ? sums->scan_reads
					 : TABLE_NO_UINT;
	file_group->bandwidth = finding_bandwidth(
		by_faults || kind->with_faults ? file_group->fetched_bytes : file_group->bytes,
		file_group->time_ns);
}
