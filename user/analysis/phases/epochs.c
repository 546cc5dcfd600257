/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "epochs": the passes over the data, by rank: duration, compute, waiting for data, bytes
 * read, and bytes read from storage.
 *
 * Which spans are epochs is decided at the end: spans named "epoch" (for a loop marked with
 * DFTracer, its body); otherwise spans of category "epoch", e.g. the passes over a DataLoader that
 * the PyTorch hook marks; otherwise spans with an argument "epoch": an epoch reaches from the first
 * to the last span with its number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/epochs.h"
#include "analysis/phases/progress.h"
#include "analysis/shared/results.h"
#include "analysis/events/span_args.h"
#include "analysis/phases/pace.h"
#include "collections/compare.h"
#include "base/number.h"

#define EPOCHS_MAX 4096 /* rows per claim */
#define LOOKS_MAX 8	/* after this many spans without the argument a label is skipped */

/* What makes a span an epoch; the last claim that any span has decides. */
enum claim { CLAIM_ARGUMENT, CLAIM_CATEGORY, CLAIM_NAME, CLAIMS };
_Static_assert(CLAIMS == PACE_CUTS, "each claim cuts the run into its own epochs");

struct epoch {
	uint32_t group;
	int64_t number; /* TABLE_NO_INT: no number given */
	uint64_t begin_ns, end_ns;
	struct progress from, done;
	struct pace pace_from, pace;
};

/* State of an open span. */
struct span_start {
	int64_t number;
	struct progress before;
	struct pace pace;
	size_t index; /* index + 1 of its epoch among those known by arguments; 0: none */
};

struct epochs {
	const struct job *job;
	struct arena *arena;
	struct epoch *of[CLAIMS];
	size_t count[CLAIMS], room[CLAIMS];
	size_t more[CLAIMS];	   /* spans of further epochs */
	struct paces paces;	   /* a cut per claim */
	struct span_start *starts; /* per open span */
	size_t slot_room;
	uint8_t *looks;	    /* per label */
	uint8_t *claims;    /* per label: its claim + 1; 0: not yet known */
	struct map numbers; /* group and number -> index + 1 among epochs known by arguments */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct epochs *all = state;

	all->job = job;
	all->arena = arena;
	all->paces.arena = arena;
	map_init_in(&all->numbers, arena, 2, 1);
	all->looks = arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*all->looks));
	all->claims = arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*all->claims));
}

/* --- during the walk --- */

static enum claim find_claim(const struct label *label)
{
	if (label_names_epoch(label))
		return CLAIM_NAME;
	return label_of_epochs(label) ? CLAIM_CATEGORY : CLAIM_ARGUMENT;
}

/* Caches find_claim per label. */
static enum claim claim_of(struct epochs *all, uint32_t label)
{
	if (!all->claims[label])
		all->claims[label] = find_claim(&all->job->labels.labels[label]) + 1;
	return all->claims[label] - 1;
}

/* Returns the number that a span carries; a DFTracer loop counts its passes. */
static int64_t number_of(struct epochs *all, const struct label *label, enum claim claim,
			 uint32_t number, const struct event *event)
{
	uint8_t *looks = &all->looks[number];
	int64_t reported;
	size_t length;

	if (*looks == LOOKS_MAX)
		return TABLE_NO_INT;
	if (claim == CLAIM_NAME && label_is_loop_body(label, &length) &&
	    span_args_int(all->job, event, "count", &reported))
		return reported;
	if (span_args_int(all->job, event, "epoch", &reported)) {
		*looks = 0;
		return reported;
	}
	++*looks;
	return TABLE_NO_INT;
}

/* Appends an epoch to a list; sets *added to NULL if the list is full. */
static int add(struct epochs *all, enum claim claim, const struct epoch *epoch,
	       struct epoch **added)
{
	*added = NULL;
	if (all->count[claim] == EPOCHS_MAX) {
		all->more[claim]++;
		return 0;
	}
	if (!ARENA_GROW(all->arena, all->of[claim], all->room[claim], all->count[claim] + 1))
		return -ENOMEM;
	*added = &all->of[claim][all->count[claim]++];
	**added = *epoch;
	return 0;
}

/* Adds a span with a number to its epoch, which may have begun earlier. */
static int join(struct epochs *all, const struct epoch *epoch, size_t *index)
{
	const uint64_t key[] = { epoch->group, epoch->number };
	struct epoch *made;
	uint64_t *known;
	bool added;

	if (all->count[CLAIM_ARGUMENT] == EPOCHS_MAX) {
		known = map_find(&all->numbers, key);
		*index = known ? *known : 0;
		all->more[CLAIM_ARGUMENT] += !known;
		return 0;
	}
	known = map_add(&all->numbers, key, &added);
	if (!known || (added && add(all, CLAIM_ARGUMENT, epoch, &made)))
		return -ENOMEM;
	*index = *known;
	if (!added)
		return 0;
	*index = *known = all->count[CLAIM_ARGUMENT];
	return paces_begin(&all->paces, CLAIM_ARGUMENT, epoch->group);
}

/* Stores the state at the start of a span that is an epoch or belongs to one. */
static int remember(struct epochs *all, enum claim claim, const struct span *span,
		    struct span_start *start)
{
	const struct job *job = all->job;
	uint32_t group = activities_group(job->activities, span->process);

	start->before = progress_at(job, group, span->begin_ns);
	start->pace = paces_of(&all->paces, claim, group);
	if (claim != CLAIM_ARGUMENT)
		return paces_begin(&all->paces, claim, group);
	return join(all,
		    &(struct epoch) { .group = group,
				      .number = start->number,
				      .begin_ns = span->begin_ns,
				      .end_ns = span->begin_ns,
				      .from = start->before,
				      .pace_from = start->pace },
		    &start->index);
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct epochs *all = state;
	const struct job *job = all->job;
	const struct span *span = &job->spans.slots[slot];
	const struct label *label = &job->labels.labels[span->label];
	enum claim claim = claim_of(all, span->label);
	struct span_start *start;
	int status;

	if (!ARENA_GROW(all->arena, all->starts, all->slot_room, all->job->spans.room))
		return -ENOMEM;
	start = &all->starts[slot];
	*start = (struct span_start) { .number = number_of(all, label, claim, span->label, event) };
	status = paces_span_begun(&all->paces, job, slot);
	if (status || (claim == CLAIM_ARGUMENT && start->number == TABLE_NO_INT))
		return status;
	return remember(all, claim, span, start);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct epochs *all = state;
	const struct job *job = all->job;
	const struct span *span = &job->spans.slots[slot];
	const struct span_start *start = &all->starts[slot];
	enum claim claim = claim_of(all, span->label);
	struct epoch *epoch = NULL;
	struct progress now;
	struct pace pace;
	int status = paces_span_ended(&all->paces, job, slot);

	if (status)
		return status;
	if (claim != CLAIM_ARGUMENT)
		status = add(
			all, claim,
			&(struct epoch) { .group = activities_group(job->activities, span->process),
					  .number = start->number,
					  .begin_ns = span->begin_ns,
					  .end_ns = span->end_ns,
					  .from = start->before,
					  .pace_from = start->pace },
			&epoch);
	else if (start->index)
		epoch = &all->of[CLAIM_ARGUMENT][start->index - 1];
	if (!epoch)
		return status;
	now = progress_at(job, epoch->group, span->end_ns);
	epoch->end_ns = span->end_ns;
	epoch->done = progress_between(&epoch->from, &now);
	pace = paces_of(&all->paces, claim, epoch->group);
	epoch->pace.time_ns = pace.time_ns - epoch->pace_from.time_ns;
	epoch->pace.compute_ns = pace.compute_ns - epoch->pace_from.compute_ns;
	return 0;
}

/* --- the table --- */

/* A table row. */
struct epochs_row {
	int64_t epoch, rank;
	uint64_t start_ns, time_ns, compute_ns, wait_ns, io_ns, unoverlapped_io_ns;
	uint64_t read_bytes, fetched_bytes, samples;
	double from_memory, samples_per_second, utilization, compute_time_share, compute_share;
};

/* Unknown shares and rates are negative. */
static void get_known(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	double value = *(const double *)((const char *)row + column->key);

	if (value >= 0)
		cell_real(cell, value);
}

#define KNOWN(member) .get = get_known, .key = offsetof(struct epochs_row, member)

static const struct table_column columns[] = {
	COLUMN(epochs_row, epoch, "epoch", NONE, KEY,
	       "number of the epoch, else counted from 0; epochs are spans named epoch, else of "
	       "category epoch, else from the first to the last span with the same argument epoch"),
	COLUMN(epochs_row, rank, "rank", NONE, KEY, "rank that ran the epoch; null: none"),
	COLUMN(epochs_row, start_ns, NULL, NS, MOMENT,
	       "start of the epoch, since the start of the run"),
	COLUMN(epochs_row, time_ns, "time", NS, COVERED, "duration of the epoch"),
	COLUMN(epochs_row, compute_ns, NULL, NS, COVERED, "compute time during the epoch"),
	COLUMN(epochs_row, wait_ns, "waiting for data", NS, COVERED,
	       "time in spans of category data, reader or dataloader during the epoch, workers and "
	       "loop bodies excluded"),
	COLUMN(epochs_row, io_ns, NULL, NS, UNION, "I/O time during the epoch", JOB_EVENTS),
	COLUMN(epochs_row, unoverlapped_io_ns, "unoverlapped I/O", NS, UNION,
	       "I/O time outside compute during the epoch", JOB_EVENTS),
	COLUMN(epochs_row, read_bytes, "read", BYTES, SUM, "bytes read by calls during the epoch",
	       JOB_MOVED | JOB_EVENTS),
	COLUMN(epochs_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache by read calls and page faults during "
	       "the epoch",
	       JOB_PAGECACHE | JOB_EVENTS),
	{ "from_memory", "from memory", UNIT_SHARE, KIND_DERIVED,
	  "share of the bytes read by calls that these calls did not fetch into the page cache; "
	  "O_DIRECT reads count as not fetched",
	  KNOWN(from_memory), JOB_SYSCALL | JOB_PAGECACHE | JOB_EVENTS },
	COLUMN(epochs_row, samples, "samples", COUNT, SUM,
	       "dataset items: innermost data spans with item in their name"),
	{ "samples_per_second", "samples/s", UNIT_NONE, KIND_DERIVED,
	  "samples divided by the duration of the epoch in seconds", KNOWN(samples_per_second), 0 },
	{ "utilization", "utilization", UNIT_SHARE, KIND_DERIVED,
	  "accelerator utilization as in DLIO: share of compute in the time from the end of the "
	  "first step's compute to the last's, without evaluation and checkpoints",
	  KNOWN(utilization), 0 },
	{ "compute_time_share", NULL, UNIT_SHARE, KIND_DERIVED,
	  "compute time divided by the duration of the epoch", KNOWN(compute_time_share), 0 },
	{ "compute_share", NULL, UNIT_SHARE, KIND_DERIVED,
	  "compute time divided by the sum of compute time and time waiting for data",
	  KNOWN(compute_share), 0 },
};

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : -1;
}

/* An epoch of one step has no pace: the whole epoch is used. */
static double utilization(const struct epoch *epoch, bool computes)
{
	if (!computes)
		return -1;
	if (epoch->pace.time_ns)
		return share(epoch->pace.compute_ns, epoch->pace.time_ns);
	return share(epoch->done.compute_ns, number_sub(epoch->end_ns, epoch->begin_ns));
}

COMPARE_BY(compare_by_rank, struct epoch,
	   COMPARE(a->group, b->group) ?: COMPARE(a->begin_ns, b->begin_ns))

COMPARE_BY(compare_by_time, struct epoch,
	   COMPARE(a->begin_ns, b->begin_ns) ?: COMPARE(a->group, b->group))

/* Epochs without a number are counted, per rank. */
static void count_epochs(struct epoch *epochs, size_t count)
{
	int64_t next = 0;

	qsort(epochs, count, sizeof(*epochs), compare_by_rank);
	for (size_t i = 0; i < count; i++) {
		if (!i || epochs[i].group != epochs[i - 1].group)
			next = 0;
		if (epochs[i].number == TABLE_NO_INT)
			epochs[i].number = next;
		next++;
	}
	qsort(epochs, count, sizeof(*epochs), compare_by_time);
}

static void add_row(struct table *table, const struct job *job, const struct epoch *epoch)
{
	const struct activity_group *groups = job->activities->groups;
	const struct activity *of = groups[ACTIVITY_JOB].of;
	const struct progress *done = &epoch->done;
	uint64_t time_ns = number_sub(epoch->end_ns, epoch->begin_ns);
	uint64_t cached = number_sub(done->read_bytes, done->read_fetched_bytes);
	bool computes = of[ACTIVITY_COMPUTE].count, waits = of[ACTIVITY_DATA].count;
	bool has_items = of[ACTIVITY_ITEM].count;
	const struct epochs_row line = {
		.epoch = epoch->number,
		.rank = epoch->group == ACTIVITY_JOB ? TABLE_NO_INT : groups[epoch->group].rank,
		.start_ns = number_sub(epoch->begin_ns, job->start_ns),
		.time_ns = time_ns,
		.compute_ns = computes ? done->compute_ns : TABLE_NO_UINT,
		.wait_ns = waits ? done->wait_ns : TABLE_NO_UINT,
		.io_ns = done->io_ns,
		.unoverlapped_io_ns = computes ? done->io_ns - done->hidden_ns : TABLE_NO_UINT,
		.read_bytes = done->read_bytes,
		.fetched_bytes = done->read_fetched_bytes + done->mmap_fetched_bytes,
		.samples = has_items ? done->items : TABLE_NO_UINT,
		.from_memory = share(cached, done->read_bytes),
		.samples_per_second = has_items ? share(done->items, time_ns / 1e9) : -1,
		.utilization = utilization(epoch, computes),
		.compute_time_share = computes ? share(done->compute_ns, time_ns) : -1,
		.compute_share = computes && waits
					 ? share(done->compute_ns, done->compute_ns + done->wait_ns)
					 : -1,
	};

	table_add(table, &line);
}

static enum claim claim_that_decides(const struct epochs *all)
{
	enum claim claim = CLAIM_NAME;

	while (claim > CLAIM_ARGUMENT && !all->count[claim])
		claim--;
	return claim;
}

static void fill(void *state, struct table *table)
{
	struct epochs *all = state;
	const struct job *job = all->job;
	enum claim claim = claim_that_decides(all);
	char note[128];

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = job->layers;
	if (table_absent_if(table, !all->count[claim],
			    !(job->layers & JOB_SPAN) && !job->activities->wanted
				    ? "application spans were not recorded"
				    : "no span represents an epoch, by name, category or argument"))
		return;
	count_epochs(all->of[claim], all->count[claim]);
	for (size_t i = 0; i < all->count[claim]; i++)
		add_row(table, job, &all->of[claim][i]);
	if (!all->more[claim])
		return;
	snprintf(note, sizeof(note), "first %d epochs; %zu more spans are omitted", EPOCHS_MAX,
		 all->more[claim]);
	table_set_note(table, note);
}

COMPARE_BY(compare_numbers, int64_t, COMPARE(*a, *b))

/* Ranks share epochs with the same number; numbers may have gaps. */
struct epochs_view epochs_view(const struct report *report)
{
	const struct table *table = report_by(report, &analysis_epochs);
	int64_t *numbers = calloc(table->row_count, sizeof(*numbers));
	struct epochs_view view = { 0 };
	int64_t first, last;

	if (!table->row_count || !numbers) {
		free(numbers);
		return view;
	}
	for (size_t row = 0; row < table->row_count; row++) {
		struct epochs_row line = { .epoch = 0 };

		table_read_row(table, row, &line);
		numbers[row] = line.epoch;
	}
	qsort(numbers, table->row_count, sizeof(*numbers), compare_numbers);
	first = numbers[0];
	last = numbers[table->row_count - 1];
	for (size_t row = 0; row < table->row_count; row++)
		view.epochs += !row || numbers[row] != numbers[row - 1];
	free(numbers);
	for (size_t row = 0; row < table->row_count; row++) {
		struct epochs_row line = { .epoch = 0 };

		table_read_row(table, row, &line);
		if (line.samples == TABLE_NO_UINT)
			line.samples = 0;
		if (line.epoch == first) {
			view.first_samples += line.samples;
			view.first_read_bytes += line.read_bytes;
			view.first_fetched_bytes += line.fetched_bytes;
		} else {
			view.later_fetched_bytes += line.fetched_bytes;
		}
		if (line.epoch == last) {
			view.last_samples += line.samples;
			view.last_read_bytes += line.read_bytes;
			view.last_fetched_bytes += line.fetched_bytes;
		}
	}
	return view;
}

/* --- sampling --- */

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = i;
}

/* Values of a row's epoch up to `now_ns`. */
static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct epochs *all = filled;
	const struct epoch *epoch = &all->of[claim_that_decides(all)][number];
	struct progress done = epoch->done;

	if (now_ns <= epoch->begin_ns)
		return;
	if (now_ns < epoch->end_ns) {
		done = progress_of(state, epoch->group, now_ns);
		done = progress_between(&epoch->from, &done);
	}
	values[0] = number_min(now_ns, epoch->end_ns) - epoch->begin_ns;
	values[1] = done.compute_ns;
	values[2] = done.wait_ns;
	values[3] = done.io_ns;
	values[4] = done.io_ns - done.hidden_ns;
	values[5] = done.read_bytes;
	values[6] = done.read_fetched_bytes + done.mmap_fetched_bytes;
	values[7] = done.items;
}

static const struct sampled sampled = {
	.columns = { "time_ns", "compute_ns", "wait_ns", "io_ns", "unoverlapped_io_ns",
		     "read_bytes", "fetched_bytes", "samples" },
	.state_bytes = sizeof(struct activities),
	.begin = activities_begin_again,
	.consumer = &activities_calls,
	.filled = &analysis_epochs,
	.numbers = numbers,
	.at = at,
};

const struct analysis analysis_epochs = {
	.name = "epochs",
	.meaning = "epochs: time, compute, waiting for data, and bytes from storage; null if no "
		   "span stands for an epoch",
	.title = "Epochs",
	.shown = "epoch,rank,time_ns,wait_ns,unoverlapped_io_ns,samples,samples_per_second,"
		 "fetched_bytes,read_bytes,from_memory,utilization",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct epochs),
	.begin = begin,
	.consumer.span_begun = span_begun,
	.consumer.span_ended = span_ended,
	.columns[TRACE_SPAN_BEGIN] = 1ull << SPAN_BEGIN_ARGS,
	.fill = fill,
	.sampled = &sampled,
	.merging = { .named = "rank",
		     .own = true,
		     .sorted = "start_ns",
		     .many = "epochs",
		     .fixed = columns,
		     .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
