/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about ranks that do not do the same. Knows nothing of single files, nor of what ranks
 * compute.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/finding/finding_files.h"
#include "analysis/processes.h"
#include "analysis/measured.h"
#include "grow.h"

/* What a rank is compared by. */
struct rank_io {
	int64_t rank;
	uint64_t bytes, time_ns;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct rank_io *a = left, *b = right;

	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The most last; of several with as much, the one with the lowest number. */
static int compare_bytes(const void *left, const void *right)
{
	const struct rank_io *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return compare_ranks(right, left);
}

static int compare_times(const void *left, const void *right)
{
	const struct rank_io *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return compare_ranks(right, left);
}

static bool is_beyond(uint64_t most, uint64_t median)
{
	return most > median &&
	       finding_share(most - median, most) >= threshold(THRESHOLD_IMBALANCE);
}

/* --- ranks that wait for I/O longer than others --- */

struct ranks {
	uint64_t ranks, slowest, slowest_ns, median_ns;
};

static const struct table_column ranks_columns[] = {
	{ "ranks", "ranks", UNIT_COUNT, "ranks", TABLE_UINT(struct ranks, ranks), 0 },
	{ "slowest", "slowest", UNIT_NONE, "the rank with the most unoverlapped I/O",
	  TABLE_UINT(struct ranks, slowest), 0 },
	{ "slowest_ns", "its I/O", UNIT_NS, "its unoverlapped I/O",
	  TABLE_UINT(struct ranks, slowest_ns), 0 },
	{ "median_ns", "median", UNIT_NS, "of all ranks; of two, the other one's",
	  TABLE_UINT(struct ranks, median_ns), 0 },
};

static int add_straggler(struct findings *findings, const struct finding_rule *rule,
			 struct rank_io *waits, size_t count)
{
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_LIKELY };
	struct ranks ranks = { .ranks = count };

	if (count < 2)
		return 0;
	qsort(waits, count, sizeof(*waits), compare_times);
	ranks.slowest = waits[count - 1].rank;
	ranks.slowest_ns = waits[count - 1].time_ns;
	ranks.median_ns = waits[(count - 1) / 2].time_ns;
	if (!is_beyond(ranks.slowest_ns, ranks.median_ns))
		return 0;
	verdict.cost_ns = ranks.slowest_ns - ranks.median_ns;
	return finding_add(findings, rule, &ranks, &verdict);
}

/* As far as the table of ranks knows their times. */
static int find_stragglers(struct findings *findings, const struct finding_rule *rule)
{
	const struct table *ranks = report_by(findings->report, &analysis_ranks);
	int rank = table_find_column(ranks, "rank"), all = table_find_column(ranks, "io_ns");
	int unhidden = table_find_column(ranks, "unoverlapped_io_ns");
	struct rank_io *waits = calloc(ranks->row_count + 1, sizeof(*waits));
	size_t count = 0;
	int status = 1;

	if (!waits)
		return -ENOMEM;
	for (size_t row = 0; row < ranks->row_count && rank >= 0 && all >= 0 && unhidden >= 0;
	     row++) {
		const struct cell *cells = table_row(ranks, row);
		const struct cell *time = &cells[unhidden];

		if (time->type == CELL_NULL && !time->summed)
			time = &cells[all]; /* nobody told of compute */
		if (cells[rank].type == CELL_INT && time->type == CELL_UINT && !time->summed)
			waits[count++] = (struct rank_io) { .rank = cells[rank].sint,
							    .time_ns = time->uint };
	}
	/* The rank whose time is not known may be the one. */
	if (count && count == ranks->row_count && !ranks->cut)
		status = add_straggler(findings, rule, waits, count);
	free(waits);
	return status;
}

static const enum threshold ranks_thresholds[] = { THRESHOLD_IMBALANCE };

const struct finding_rule finding_stragglers = {
	.id = "straggler",
	.needs = 0,
	.find = find_stragglers,
	.of_runs = true,
	FINDING_EVIDENCE(struct ranks, ranks_columns),
	FINDING_THRESHOLDS(ranks_thresholds),
	.title = "rank {slowest} waits for I/O longer than the others, who wait for it",
	.says = "{slowest_ns} of unoverlapped I/O, against a median of {median_ns} of {ranks} "
		"ranks",
	.advice =
		"balance files over ranks, let no rank read or write for all, see that rank's node",
	.more = "faultline report --table overlap TRACE",
	.rule = "Ranks that train together wait for the slowest one at each step. What one waits "
		"for "
		"I/O beyond the others, all wait.",
};

/* --- ranks that move more than others, where nobody told of compute --- */

struct uneven {
	uint64_t ranks, rank, bytes, median_bytes, moving_ns, median_ns;
};

static const struct table_column uneven_columns[] = {
	{ "ranks", "ranks", UNIT_COUNT, "ranks", TABLE_UINT(struct uneven, ranks), 0 },
	{ "rank", "rank", UNIT_NONE, "the rank that moves most", TABLE_UINT(struct uneven, rank),
	  0 },
	{ "bytes", "bytes", UNIT_BYTES,
	  "bytes that its calls read and wrote, and that came through mappings from storage, of "
	  "files that it alone mapped",
	  TABLE_UINT(struct uneven, bytes), 0 },
	{ "median_bytes", "median", UNIT_BYTES, "of all ranks; of two, the other one's",
	  TABLE_UINT(struct uneven, median_bytes), 0 },
	{ "moving_ns", "its time", UNIT_NS,
	  "time of its processes in reads, in writes and in syncs, and in faults on these files, "
	  "summed up",
	  TABLE_UINT(struct uneven, moving_ns), 0 },
	{ "median_ns", "median", UNIT_NS, "of all ranks; of two, the other one's",
	  TABLE_UINT(struct uneven, median_ns), 0 },
};

struct rank_list {
	struct rank_io *ranks;
	size_t room, count;
};

static int add_to_list(struct rank_list *list, struct rank_io one)
{
	if (!GROW(list->ranks, list->room, list->count + 1))
		return -ENOMEM;
	list->ranks[list->count++] = one;
	return 0;
}

/* Of files that one rank alone mapped: of others a page costs whoever touches it first. */
static int list_mapped(const struct findings *findings, struct rank_list *list)
{
	struct file_view file;
	int status = 0;

	for (uint32_t i = 0; i < files_count(findings->measured) && !status; i++) {
		const struct tally *faults = &file.tallies[USE_MMAP];

		if (files_used(findings->measured, i, &file) && file.known &&
		    file.first_rank != TABLE_NO_UINT && file.first_rank == file.last_rank &&
		    !alike_is_program(&file))
			status = add_to_list(list, (struct rank_io) { file.first_rank,
								      faults->fetched_bytes,
								      faults->time.measure });
	}
	return status;
}

static int list_calls(const struct findings *findings, struct rank_list *list)
{
	struct processes_calls one;
	int status;

	for (uint32_t i = 0; (status = processes_calls(findings->measured, i, &one)) > 0; i++) {
		if (one.rank == TABLE_NO_UINT)
			continue;
		if (add_to_list(list,
				(struct rank_io) { one.rank, one.read_bytes + one.written_bytes,
						   one.moving_ns }))
			return -ENOMEM;
	}
	return status;
}

/* What each rank did, rank by rank. Returns 0, -ENOMEM, or -ENODATA where processes are not told
 * one by one. */
static int list_ranks(const struct findings *findings, struct rank_list *list)
{
	struct rank_io *ranks;
	size_t kept = 0;
	int status = list_calls(findings, list);

	if (!status)
		status = list_mapped(findings, list);
	ranks = list->ranks;
	if (list->count)
		qsort(ranks, list->count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < list->count; i++) {
		if (!kept || ranks[kept - 1].rank != ranks[i].rank) {
			ranks[kept++] = ranks[i];
			continue;
		}
		ranks[kept - 1].bytes += ranks[i].bytes;
		ranks[kept - 1].time_ns += ranks[i].time_ns;
	}
	list->count = kept;
	return status;
}

static int add_uneven(struct findings *findings, const struct finding_rule *rule,
		      struct rank_io *ranks, size_t count)
{
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_GUESS };
	struct uneven uneven = { .ranks = count };

	if (count < 2)
		return 0;
	qsort(ranks, count, sizeof(*ranks), compare_bytes);
	uneven.rank = ranks[count - 1].rank;
	uneven.bytes = ranks[count - 1].bytes;
	uneven.moving_ns = ranks[count - 1].time_ns;
	uneven.median_bytes = ranks[(count - 1) / 2].bytes;
	qsort(ranks, count, sizeof(*ranks), compare_times);
	uneven.median_ns = ranks[(count - 1) / 2].time_ns;
	if (!is_beyond(uneven.bytes, uneven.median_bytes) ||
	    !is_beyond(uneven.moving_ns, uneven.median_ns))
		return 0;
	verdict.cost_ns = uneven.moving_ns - uneven.median_ns;
	/* Of processes side by side. */
	if (verdict.cost_ns > findings->duration_ns)
		verdict.cost_ns = findings->duration_ns;
	return verdict.cost_ns < threshold(THRESHOLD_UNEVEN_OF_RUN) * findings->duration_ns
		       ? 0
		       : finding_add(findings, rule, &uneven, &verdict);
}

/* Where ranks marked spans their times tell more: see above. */
static int find_uneven(struct findings *findings, const struct finding_rule *rule)
{
	struct rank_list list = { 0 };
	int status;

	if (report_by(findings->report, &analysis_ranks)->row_count)
		return 0;
	status = list_ranks(findings, &list);
	if (!status)
		status = add_uneven(findings, rule, list.ranks, list.count);
	free(list.ranks);
	return status == -ENODATA ? 1 : status;
}

static const enum threshold uneven_thresholds[] = {
	THRESHOLD_IMBALANCE,
	THRESHOLD_UNEVEN_OF_RUN,
};

const struct finding_rule finding_ranks_uneven = {
	.id = "ranks-uneven",
	.needs = JOB_SYSCALL,
	.find = find_uneven,
	.of_runs = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct uneven, uneven_columns),
	FINDING_THRESHOLDS(uneven_thresholds),
	.title = "rank {rank} reads and writes more than the others, who may wait for it",
	.says = "{bytes} in {moving_ns}, against a median of {median_bytes} in {median_ns} of "
		"{ranks} ranks",
	.advice =
		"give each rank as many bytes (files or samples by rank, as a distributed sampler "
		"does), and let no rank read or write for all",
	.more = "faultline report --by rank TRACE",
	.rule = "No rank told of compute, so that only what each of them moved can be compared: "
		"one "
		"read and wrote more than the others and took longer for it, summed over its "
		"processes. Ranks that train together wait for the slowest one at each step. Of "
		"mapped files those count that one rank alone mapped, by what came from storage "
		"and the time of its faults: of others a page costs whoever touches it first.",
};
