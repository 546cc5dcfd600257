/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about ranks whose I/O differs. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/finding/finding_files.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/results.h"
#include "analysis/stacks/lines.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"

/* What ranks are compared by. */
struct rank_io {
	int64_t rank;
	uint64_t bytes, time_ns;
	uint64_t fetched_bytes; /* the part of `bytes` from storage */
	/* Of its processes: the longest such time, and their lives, summed and as a whole. */
	uint64_t longest_ns, lived_ns, first_ns, last_ns;
};

COMPARE_BY(compare_ranks, struct rank_io, COMPARE(a->rank, b->rank))

/* Ascending; among equals, the lowest rank is last. */
static int compare_numbers(const void *left, const void *right, void *offset)
{
	const uint64_t a = *(const uint64_t *)((const char *)left + *(const size_t *)offset);
	const uint64_t b = *(const uint64_t *)((const char *)right + *(const size_t *)offset);

	return COMPARE(a, b) ?: compare_ranks(right, left);
}

/* Sorts ranks by a number at that offset; returns the median one. */
static const struct rank_io *sort_ranks(struct rank_io *ranks, size_t count, size_t offset)
{
	qsort_r(ranks, count, sizeof(*ranks), compare_numbers, &offset);
	return &ranks[(count - 1) / 2];
}

THRESHOLD_MIN(IMBALANCE, 0.3, UNIT_SHARE,
	      "excess over the median, as a share of the slowest rank's time",
	      "Drishti: imbalance_operations 0.3");

static bool is_beyond(uint64_t most, uint64_t median)
{
	return most > median &&
	       finding_share(most - median, most) >= threshold(THRESHOLD_IMBALANCE);
}

static bool is_io_of_rank(const struct lines_row *row, uint64_t rank)
{
	return row->state == sample_state_names[SAMPLE_IO] && row->rank == (int64_t)rank;
}

/* --- ranks that wait for I/O longer than others --- */

struct ranks {
	uint64_t ranks, slowest, slowest_ns, median_ns;
	const char *kind; /* "unoverlapped"; NULL: all I/O */
};

static const struct table_column ranks_columns[] = {
	FACT(ranks, ranks, "ranks", COUNT, "ranks"),
	FACT(ranks, slowest, "slowest", NONE, "rank with the most such I/O"),
	FACT(ranks, slowest_ns, "its I/O", NS, "its unoverlapped I/O, or all of it"),
	FACT(ranks, kind, "kind", NONE,
	     "unoverlapped; null: no rank marked compute, so all I/O counts"),
	FACT(ranks, median_ns, "median", NS, "median of all ranks; with two, the other one's"),
};

static int add_straggler(struct findings *findings, const struct finding_rule *rule,
			 struct rank_io *waits, size_t count, const char *kind)
{
	struct ranks ranks = { .ranks = count, .kind = kind };

	if (count < 2)
		return 0;
	ranks.median_ns = sort_ranks(waits, count, offsetof(struct rank_io, time_ns))->time_ns;
	ranks.slowest = waits[count - 1].rank;
	ranks.slowest_ns = waits[count - 1].time_ns;
	if (!is_beyond(ranks.slowest_ns, ranks.median_ns))
		return 0;
	return finding_add(findings, rule, &ranks, ranks.slowest_ns - ranks.median_ns,
			   TABLE_NO_UINT);
}

/* Uses the times in the table of ranks, if all are known. */
static int find_stragglers(struct findings *findings, const struct finding_rule *rule)
{
	const struct table *ranks = report_by(findings->report, &analysis_ranks);
	int rank = table_find_column(ranks, "rank"), all = table_find_column(ranks, "io_ns");
	int unhidden = table_find_column(ranks, "unoverlapped_io_ns");
	struct rank_io *waits = calloc(ranks->row_count + 1, sizeof(*waits));
	const char *kind = NULL;
	size_t count = 0;
	int status = 1;

	if (!waits)
		return -ENOMEM;
	for (size_t row = 0; row < ranks->row_count && rank >= 0 && all >= 0 && unhidden >= 0;
	     row++) {
		const struct cell *cells = table_row(ranks, row);
		const struct cell *time = &cells[unhidden];

		if (time->type == CELL_NULL && !time->summed)
			time = &cells[all]; /* there are no compute spans */
		else
			kind = "unoverlapped";
		if (cells[rank].type == CELL_INT && time->type == CELL_UINT && !time->summed)
			waits[count++] = (struct rank_io) { .rank = cells[rank].sint,
							    .time_ns = time->uint };
	}
	/* A rank whose time is unknown may be the slowest. */
	if (count && count == ranks->row_count && !ranks->cut)
		status = add_straggler(findings, rule, waits, count, kind);
	free(waits);
	return status;
}

static bool is_of_slowest(const void *evidence, const struct lines_row *row)
{
	return is_io_of_rank(row, ((const struct ranks *)evidence)->slowest);
}

const struct finding_rule finding_stragglers = {
	.id = "straggler",
	.order = 610,
	.lines_row = is_of_slowest,
	.lines_whole = "its I/O",
	.find = find_stragglers,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct ranks, ranks_columns),
	.thresholds = { &THRESHOLD_IMBALANCE },
	.title = "Rank {slowest} is an I/O straggler",
	.says = "{slowest_ns} of [{kind} ]I/O, median {median_ns} of {ranks} ranks",
	.advice = "Balance files over ranks, let no rank read or write for all, and check that "
		  "rank's node",
	.more = "faultline report --table overlap TRACE",
	.pictures = "ranks",
	.rule = "Ranks that train together wait for the slowest one at each step. If one waits "
		"longer for I/O, all of them do.",
};

/* --- ranks that move more than others, without compute spans --- */

struct uneven {
	uint64_t ranks, rank, bytes, median_bytes, moving_ns, median_ns;
	uint64_t fetched_bytes, median_fetched;
	double at_once; /* processes of that rank that do I/O */
};

static const struct table_column uneven_columns[] = {
	FACT(uneven, ranks, "ranks", COUNT, "ranks"),
	FACT(uneven, rank, "rank", NONE, "rank that moves the most bytes"),
	FACT(uneven, bytes, "bytes", BYTES,
	     "bytes read and written by its calls, plus bytes from storage through mappings of "
	     "files that only it mapped"),
	FACT(uneven, median_bytes, "median", BYTES,
	     "median of all ranks; with two, the other one's"),
	FACT(uneven, moving_ns, "its time", NS,
	     "time in reads, writes, syncs and faults on these files, summed over its processes"),
	FACT(uneven, median_ns, "median", NS, "median of all ranks; with two, the other one's"),
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

/* Only files mapped by a single rank: in others, the first rank to touch a page pays for it. */
static int list_mapped(const struct findings *findings, struct rank_list *list)
{
	struct file_view file;
	int status = 0;

	for (uint32_t i = 0; i < files_count(findings->results) && !status; i++) {
		const struct tally *faults = &file.tallies[USE_MMAP];

		if (files_used(findings->results, i, &file) && file.known &&
		    file.first_rank != TABLE_NO_UINT && file.first_rank == file.last_rank &&
		    !file_group_is_program(&file))
			status = add_to_list(list, (struct rank_io) {
							   .rank = file.first_rank,
							   .bytes = faults->fetched_bytes,
							   .time_ns = faults->time.measure,
							   .fetched_bytes = faults->fetched_bytes,
							   .longest_ns = faults->time.measure,
							   .first_ns = UINT64_MAX,
						   });
	}
	return status;
}

static int list_calls(const struct findings *findings, struct rank_list *list)
{
	struct processes_calls one;
	int status;

	for (uint32_t i = 0; (status = processes_calls(findings->results, i, &one)) > 0; i++) {
		if (one.rank == TABLE_NO_UINT)
			continue;
		if (add_to_list(list,
				(struct rank_io) {
					.rank = one.rank,
					.bytes = one.read_bytes + one.written_bytes,
					.time_ns = one.moving_ns,
					.fetched_bytes = one.fetched_bytes,
					.longest_ns = one.moving_ns,
					.lived_ns = one.moving_ns ? one.end_ns - one.start_ns : 0,
					.first_ns = one.moving_ns ? one.start_ns : UINT64_MAX,
					.last_ns = one.moving_ns ? one.end_ns : 0,
				}))
			return -ENOMEM;
	}
	return status;
}

static void add_rank(struct rank_io *sum, const struct rank_io *one)
{
	sum->bytes += one->bytes;
	sum->time_ns += one->time_ns;
	sum->fetched_bytes += one->fetched_bytes;
	sum->longest_ns = number_max(sum->longest_ns, one->longest_ns);
	sum->lived_ns += one->lived_ns;
	sum->first_ns = number_min(sum->first_ns, one->first_ns);
	sum->last_ns = number_max(sum->last_ns, one->last_ns);
}

/* Returns how many of a rank's processes do I/O at the same time, at most: as many as are alive,
 * and none longer than the longest. */
static double at_once(const struct rank_io *rank)
{
	const uint64_t whole_ns = number_sub(rank->last_ns, rank->first_ns);

	return fmax(fmin(finding_share(rank->lived_ns, whole_ns),
			 finding_share(rank->time_ns, rank->longest_ns)),
		    1);
}

/* Sums up the I/O of each rank. Returns 0, -ENOMEM, or -ENODATA if processes are not listed
 * individually. */
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
		add_rank(&ranks[kept - 1], &ranks[i]);
	}
	list->count = kept;
	return status;
}

/* Compares the rank that moves most, or takes longest, with the others. */
static struct uneven compare_all(struct rank_io *ranks, size_t count, bool by_time)
{
	struct uneven uneven = { .ranks = count };
	struct rank_io one;

	uneven.median_bytes = sort_ranks(ranks, count, offsetof(struct rank_io, bytes))->bytes;
	one = ranks[count - 1];
	uneven.median_ns = sort_ranks(ranks, count, offsetof(struct rank_io, time_ns))->time_ns;
	if (by_time)
		one = ranks[count - 1];
	uneven.rank = one.rank;
	uneven.at_once = at_once(&one);
	uneven.bytes = one.bytes;
	uneven.moving_ns = one.time_ns;
	uneven.fetched_bytes = one.fetched_bytes;
	uneven.median_fetched =
		sort_ranks(ranks, count, offsetof(struct rank_io, fetched_bytes))->fetched_bytes;
	return uneven;
}

/* Other findings may describe the same wait without naming the rank. Then this one takes the larger
 * cost, so that it comes first. */
static uint64_t same_wait(const struct findings *findings, uint64_t cost_ns)
{
	static const char *const others[] = { "held-back",  "device-slow", "device-overloaded",
					      "load-waits", "read-bound",  "write-bound" };
	uint64_t most_ns = cost_ns;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		uint64_t other_ns = finding_cost_of(findings, others[i], NULL);

		if (other_ns > most_ns && cost_ns >= threshold(THRESHOLD_SAME_WAIT) * other_ns)
			most_ns = other_ns;
	}
	return most_ns;
}

static int add_uneven(struct findings *findings, const struct finding_rule *rule,
		      const struct uneven *uneven, const void *evidence)
{
	uint64_t cost_ns =
		finding_limited((uneven->moving_ns - uneven->median_ns) / uneven->at_once);

	cost_ns = same_wait(findings, cost_ns);
	return finding_is_of_run(findings, cost_ns, THRESHOLD_SOME_OF_RUN)
		       ? finding_add(findings, rule, evidence, cost_ns, TABLE_NO_UINT)
		       : 0;
}

/* If ranks marked spans, their times are better evidence: see above. Returns 0, -ENOMEM, or 1 if
 * that cannot be decided. */
static int compare_ranks_of(struct findings *findings, bool by_time, struct uneven *uneven)
{
	struct rank_list list = { 0 };
	int status;

	*uneven = (struct uneven) { 0 };
	if (report_by(findings->report, &analysis_ranks)->row_count)
		return 0;
	status = list_ranks(findings, &list);
	if (!status && list.count > 1)
		*uneven = compare_all(list.ranks, list.count, by_time);
	free(list.ranks);
	return status == -ENODATA ? 1 : status;
}

static int find_uneven(struct findings *findings, const struct finding_rule *rule)
{
	struct uneven uneven;
	int status = compare_ranks_of(findings, false, &uneven);

	return status || !is_beyond(uneven.bytes, uneven.median_bytes) ||
			       !is_beyond(uneven.moving_ns, uneven.median_ns)
		       ? status
		       : add_uneven(findings, rule, &uneven, &uneven);
}

static bool is_of_uneven(const void *evidence, const struct lines_row *row)
{
	return is_io_of_rank(row, ((const struct uneven *)evidence)->rank);
}

const struct finding_rule finding_ranks_uneven = {
	.id = "ranks-uneven",
	.order = 620,
	.exactness = FINDING_AT_MOST,
	.lines_row = is_of_uneven,
	.lines_whole = "its I/O",
	.breadth = FINDING_OF_ONE,
	.needs = JOB_SYSCALL,
	.find = find_uneven,
	.confidence = FINDING_GUESS,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	FINDING_EVIDENCE(struct uneven, uneven_columns),
	.thresholds = { &THRESHOLD_IMBALANCE, &THRESHOLD_SOME_OF_RUN },
	.title = "Rank {rank} does more I/O than the others, which may wait for it",
	.says = "{bytes} in {moving_ns}, median {median_bytes} in {median_ns} of {ranks} ranks",
	.advice = "Give each rank the same number of bytes (files or samples by rank, as a "
		  "distributed sampler does), and let no rank read or write for all",
	.more = "faultline report --by rank TRACE",
	.pictures = "ranks uneven",
	.rule = "No rank marked compute, so only the bytes that each moved can be compared: one "
		"read and wrote more than the others and took longer for it, summed over its "
		"processes. Ranks that train together wait for the slowest one at each step. "
		"Mapped files (bytes from storage, time of faults) count only if a single rank "
		"mapped them: a shared page costs only the rank that touches it first.",
};

/* --- ranks that take longer than others to move as much --- */

struct slow_rank {
	struct uneven uneven;
	struct table_text path;
};

static const struct table_column slow_columns[] = {
	FACT(uneven, ranks, "ranks", COUNT, "ranks"),
	FACT(uneven, rank, "rank", NONE, "rank that takes the longest"),
	FACT(uneven, bytes, "bytes", BYTES, "bytes that it read and wrote, as in ranks-uneven"),
	FACT(uneven, median_bytes, "median", BYTES,
	     "median of all ranks; with two, the other one's"),
	FACT(uneven, moving_ns, "its time", NS, "time that this took, summed over its processes"),
	FACT(uneven, median_ns, "median", NS, "median of all ranks; with two, the other one's"),
	FACT(slow_rank, path, "path", PATH, "data file with the most time in the run"),
};

static struct table_text slowest_file(const struct findings *findings)
{
	struct table_text path = { 0 };
	struct file_view file;
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < files_count(findings->results); i++) {
		if (!files_used(findings->results, i, &file) || !file.known ||
		    file.time_ns <= most_ns || file_group_is_program(&file))
			continue;
		most_ns = file.time_ns;
		path = file.path;
	}
	return path;
}

static int find_slow(struct findings *findings, const struct finding_rule *rule)
{
	struct slow_rank slow = { 0 };
	int status = compare_ranks_of(findings, true, &slow.uneven);

	/* The first rank fetches what all of them read. */
	if (status || is_beyond(slow.uneven.bytes, slow.uneven.median_bytes) ||
	    is_beyond(slow.uneven.fetched_bytes, slow.uneven.median_fetched) ||
	    !is_beyond(slow.uneven.moving_ns, slow.uneven.median_ns))
		return status;
	slow.path = slowest_file(findings);
	return add_uneven(findings, rule, &slow.uneven, &slow);
}

static bool is_of_slow(const void *evidence, const struct lines_row *row)
{
	return is_io_of_rank(row, ((const struct slow_rank *)evidence)->uneven.rank);
}

const struct finding_rule finding_rank_slow = {
	.id = "rank-slow",
	.order = 630,
	.exactness = FINDING_AT_MOST,
	.lines_row = is_of_slow,
	.lines_whole = "its I/O",
	.breadth = FINDING_OF_ONE,
	.needs = JOB_SYSCALL,
	.find = find_slow,
	.confidence = FINDING_GUESS,
	.cross_run = true,
	FINDING_EVIDENCE(struct slow_rank, slow_columns),
	.thresholds = { &THRESHOLD_IMBALANCE, &THRESHOLD_SOME_OF_RUN },
	.title = "Rank {rank} does its I/O more slowly than the others",
	.says = "{bytes} in {moving_ns}, median {median_bytes} in {median_ns} of {ranks} ranks[; "
		"{path} took longest]",
	.advice = "Read as the others do: in order, and as much at once (see the findings on its "
		  "files); or move its data to a device as fast as that of the others, and check "
		  "the limits (io.max) and other users of its device",
	.more = "faultline report --by rank TRACE",
	.pictures = "ranks slow",
	.rule = "No rank marked compute, so only the bytes that each moved can be compared: one "
		"read and wrote no more than the others, and read no more from storage, but took "
		"longer for it. Reads in random order, a slow or busy device, a limit on it or a "
		"distant server can cause this. Ranks that train together wait for the slowest one "
		"at each step.",
};
