/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "steps": the spans that represent steps of a training loop, one by one: duration, I/O of
 * the rank and unoverlapped I/O.
 *
 * Which spans are steps is decided at the end: the bodies of a loop over a data loader, as DFTracer
 * marks them; otherwise spans named "step"; otherwise spans of category "step"; otherwise the
 * intervals between the ends of a process's "optimizer.step" spans, which PyTorch marks in programs
 * without spans of their own; otherwise, of the spans in which compute spans began and which are
 * neither compute nor epochs, the most frequent ones, and among equally frequent ones those that
 * took longer, because they enclose the others.
 *
 * A step that is the body of a loop ("fetch.block") includes the preceding wait for its data
 * ("fetch.iter").
 */
#include <stdlib.h>

#include "analysis/shared/analysis.h"
#include "collections/compare.h"
#include "collections/histogram.h"
#include "collections/longest.h"
#include "analysis/phases/progress.h"
#include "base/number.h"
#include "base/units.h"
#include "base/strbuf.h"

#define STEPS_MAX 4096	  /* only the longest are kept */
#define SERIES_MAX 32	  /* labels that may be steps ... */
#define SERIES_GUESSED 16 /* ... of those, labels with no step name or category */
#define DEPTH_MAX 64
#define NAME_BYTES_MAX 255 /* bytes of a name in the note */

/* What makes spans steps. The highest claim decides. */
enum claim {
	CLAIM_NONE,
	CLAIM_COMPUTE_INSIDE,
	CLAIM_BETWEEN,
	CLAIM_CATEGORY,
	CLAIM_NAME,
	CLAIM_LOOP,
};

struct step {
	uint64_t time_ns; /* must come first: see longest.h */
	uint64_t begin_ns;
	uint64_t index; /* within its rank */
	int64_t rank;
	struct progress done;
};

/* The end of a process's last optimizer step, or the start of its loop's wait. */
struct mark {
	uint64_t time_ns;
	struct progress done;
};
#define MARK_WORDS (sizeof(struct mark) / sizeof(uint64_t))

struct series {
	uint32_t label;
	enum claim claim;
	uint64_t time_ns;
	struct histogram durations;
	struct step *steps; /* a heap, the shortest first */
	size_t count, room;
	uint64_t *indices; /* steps so far, by group of ranks */
	size_t index_room;
};

struct steps {
	const struct job *job;
	struct arena *arena;
	struct series *series[SERIES_MAX];
	size_t series_count, guessed;
	uint32_t *series_of;	 /* per label: index + 1; 0: none */
	uint8_t *claims;	 /* per label: its claim + 1; 0: not yet known */
	struct progress *before; /* per open span: progress when it began */
	size_t slot_room;
	struct map marks; /* process, loop (0: none) -> struct mark */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct steps *all = state;

	all->job = job;
	all->arena = arena;
	map_init_in(&all->marks, arena, 2, MARK_WORDS);
	all->series_of =
		arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*all->series_of));
	all->claims = arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*all->claims));
}

/* --- during the walk --- */

static enum claim find_claim(const struct label *label)
{
	size_t length;

	if (label->meaning == CATEGORY_DATALOADER && label_is_loop_body(label, &length))
		return CLAIM_LOOP;
	if (label_is(label, "step"))
		return CLAIM_NAME;
	if (label_is(label, "optimizer.step"))
		return CLAIM_BETWEEN;
	return label->meaning == CATEGORY_STEP ? CLAIM_CATEGORY : CLAIM_NONE;
}

/* Caches find_claim per label. */
static enum claim claim_of(struct steps *all, uint32_t label)
{
	if (!all->claims[label])
		all->claims[label] = find_claim(&all->job->labels.labels[label]) + 1;
	return all->claims[label] - 1;
}

static void add_series(struct steps *all, uint32_t label, enum claim claim)
{
	struct series *series;

	if (all->series_of[label] || all->series_count == SERIES_MAX ||
	    (claim == CLAIM_COMPUTE_INSIDE && all->guessed == SERIES_GUESSED))
		return;
	series = arena_alloc(all->arena, sizeof(*series));
	if (!series)
		return;
	series->label = label;
	series->claim = claim;
	all->guessed += claim == CLAIM_COMPUTE_INSIDE;
	all->series[all->series_count++] = series;
	all->series_of[label] = all->series_count;
}

/* For spans in which compute began. */
static bool may_be_step(const struct label *label)
{
	return label->meaning != CATEGORY_COMPUTE && !label_names_epoch(label) &&
	       !label_of_epochs(label);
}

/* Compute began: any enclosing span may be a step. */
static void claim_around(struct steps *all, uint32_t slot)
{
	const struct open_spans *spans = &all->job->spans;

	for (int i = 0; i < DEPTH_MAX; i++) {
		uint32_t label;

		slot = open_spans_parent(spans, slot);
		if (slot == SPAN_NONE)
			break;
		label = spans->slots[slot].label;
		if (may_be_step(&all->job->labels.labels[label]))
			add_series(all, label, CLAIM_COMPUTE_INSIDE);
	}
}

static struct mark *mark_of(struct steps *all, uint64_t process, uint64_t loop, bool *added)
{
	const uint64_t key[] = { process, loop };

	return (struct mark *)map_add(&all->marks, key, added);
}

/* Returns a nonzero hash of the loop's name, the first `length` bytes of the label's name. */
static uint64_t loop_of(const struct steps *all, const struct label *label, size_t length)
{
	return map_hash_bytes(&all->marks, label->name.bytes, length) | 1;
}

/* Marks the start of a loop's wait. */
static void mark_wait(struct steps *all, uint32_t slot)
{
	const struct span *span = &all->job->spans.slots[slot];
	const struct label *label = &all->job->labels.labels[span->label];
	struct mark *mark;
	size_t length;
	bool added;

	if (!label_is_loop_wait(label, &length))
		return;
	mark = mark_of(all, span->process, loop_of(all, label, length), &added);
	if (mark)
		*mark = (struct mark) { span->begin_ns, all->before[slot] };
}

/* Returns where a step that is a span begins: for a loop body, with the loop's wait. */
static struct mark begin_of(struct steps *all, uint32_t slot)
{
	const struct span *span = &all->job->spans.slots[slot];
	const struct label *label = &all->job->labels.labels[span->label];
	const struct mark from = { span->begin_ns, all->before[slot] }, *wait;
	size_t length;
	bool added;

	if (!label_is_loop_body(label, &length))
		return from;
	wait = mark_of(all, span->process, loop_of(all, label, length), &added);
	return wait && !added && wait->time_ns <= span->begin_ns ? *wait : from;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct steps *all = state;
	const struct job *job = all->job;
	const struct span *span = &job->spans.slots[slot];
	const struct label *label = &job->labels.labels[span->label];
	enum claim claim = claim_of(all, span->label);

	if (!ARENA_GROW(all->arena, all->before, all->slot_room, job->spans.room))
		return arena_status(all->arena);
	if (claim != CLAIM_NONE)
		add_series(all, span->label, claim);
	if (label->meaning == CATEGORY_COMPUTE)
		claim_around(all, slot);
	all->before[slot] =
		progress_at(job, activities_group(job->activities, span->process), span->begin_ns);
	mark_wait(all, slot);
	return arena_status(all->arena);
}

static void keep(struct steps *all, struct series *series, const struct step *step)
{
	if (series->count == STEPS_MAX ||
	    ARENA_GROW(all->arena, series->steps, series->room, series->count + 1))
		longest_keep(series->steps, &series->count, STEPS_MAX, step, sizeof(*step));
}

/* Numbers the steps of each group. */
static uint64_t next_index(struct steps *all, struct series *series, uint32_t group)
{
	if (!ARENA_GROW(all->arena, series->indices, series->index_room, (size_t)group + 1))
		return 0;
	return series->indices[group]++;
}

/* Adds the step from `from` to the end of `span`. */
static void add_step(struct steps *all, struct series *series, const struct span *span,
		     const struct mark *from, const struct progress *now)
{
	const struct job *job = all->job;
	const struct step step = {
		.begin_ns = from->time_ns,
		.time_ns = number_sub(span->end_ns, from->time_ns),
		.rank = job->processes.processes[span->process].rank,
		.index = next_index(all, series, activities_group(job->activities, span->process)),
		.done = progress_between(&from->done, now),
	};

	series->time_ns += step.time_ns;
	histogram_add(&series->durations, step.time_ns);
	keep(all, series, &step);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct steps *all = state;
	const struct job *job = all->job;
	const struct span *span = &job->spans.slots[slot];
	struct series *series;
	struct mark from, now, *last;
	bool first;

	if (!all->series_of[span->label])
		return 0;
	series = all->series[all->series_of[span->label] - 1];
	now.time_ns = span->end_ns;
	now.done = progress_at(job, activities_group(job->activities, span->process), span->end_ns);
	if (series->claim != CLAIM_BETWEEN) {
		from = begin_of(all, slot);
		add_step(all, series, span, &from, &now.done);
		return arena_status(all->arena);
	}
	last = mark_of(all, span->process, 0, &first);
	if (last && !first)
		add_step(all, series, span, last, &now.done);
	if (last)
		*last = now;
	return arena_status(all->arena);
}

/* --- the table --- */

/* A table row. */
struct steps_row {
	struct table_text name;
	int64_t rank;
	uint64_t index, start_ns, time_ns, compute_ns, wait_ns, io_ns, stall_ns;
	uint64_t read_bytes, mmap_fetched_bytes;
	bool outlier;
};

static const struct table_column columns[] = {
	COLUMN(steps_row, name, NULL, NONE, FACT,
	       "name of the spans that are steps: bodies of a data loader's loop, else named step, "
	       "else of category step, else most frequent around compute or between "
	       "optimizer.step"),
	COLUMN(steps_row, rank, "rank", NONE, FACT, "rank that ran the step; null: none"),
	COLUMN(steps_row, index, "step", NONE, FACT, "number of the step in its rank, from 0"),
	COLUMN(steps_row, start_ns, "start", NS, MOMENT,
	       "start of the step, since the start of the run; for a loop body, the start of the "
	       "wait for its data"),
	COLUMN(steps_row, time_ns, "time", NS, DURATION, "duration of the step"),
	COLUMN(steps_row, compute_ns, "compute", NS, COVERED, "compute time during the step"),
	COLUMN(steps_row, wait_ns, "waiting for data", NS, COVERED,
	       "time in spans of category data, reader or dataloader during the step, workers and "
	       "loop bodies excluded"),
	COLUMN(steps_row, io_ns, "I/O", NS, UNION, "I/O time during the step", JOB_EVENTS),
	COLUMN(steps_row, stall_ns, "unoverlapped I/O", NS, UNION,
	       "I/O time outside compute during the step", JOB_EVENTS),
	COLUMN(steps_row, read_bytes, "read", BYTES, SUM, "bytes read by calls during the step",
	       JOB_MOVED | JOB_EVENTS),
	COLUMN(steps_row, mmap_fetched_bytes, "mmap from storage", BYTES, SUM,
	       "bytes read from storage into the page cache by page faults during the step",
	       JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS),
	COLUMN(steps_row, outlier, "outlier", NONE, FACT,
	       "whether the step exceeds the median by more than 10% and by more than 5 times the "
	       "distance from the median to the upper quartile"),
};

static const struct series *choose(const struct steps *all)
{
	const struct series *best = NULL;

	for (size_t i = 0; i < all->series_count; i++) {
		const struct series *series = all->series[i];
		uint64_t count = series->durations.count;

		if (!count)
			continue;
		if (!best || series->claim > best->claim ||
		    (series->claim == best->claim &&
		     (count > best->durations.count ||
		      (count == best->durations.count && series->time_ns > best->time_ns))))
			best = series;
	}
	return best;
}

/*
 * Returns the limit for outliers: the median plus five times the distance to the upper quartile,
 * which for symmetric times is their median absolute deviation; the margin is at least a tenth of
 * the median.
 */
static uint64_t outlier_limit(const struct series *series)
{
	uint64_t median = histogram_percentile(&series->durations, 50);
	uint64_t deviation = histogram_percentile(&series->durations, 75) - median;
	uint64_t margin = deviation > UINT64_MAX / 5 ? UINT64_MAX : 5 * deviation;

	return number_add(median, number_max(margin, median / 10));
}

COMPARE_BY(compare_steps, struct step,
	   COMPARE(a->begin_ns, b->begin_ns) ?: COMPARE(a->rank, b->rank))

static void add_row(struct table *table, const struct job *job, const struct label *label,
		    const struct step *step, bool outlier)
{
	const struct activity *of = job->activities->groups[ACTIVITY_JOB].of;
	bool computes = of[ACTIVITY_COMPUTE].count, waits = of[ACTIVITY_DATA].count;
	const struct steps_row line = {
		.name = { label->name.bytes, label->name.length },
		.rank = step->rank >= 0 ? step->rank : TABLE_NO_INT,
		.index = step->index,
		.start_ns = number_sub(step->begin_ns, job->start_ns),
		.time_ns = step->time_ns,
		.compute_ns = computes ? step->done.compute_ns : TABLE_NO_UINT,
		.wait_ns = waits ? step->done.wait_ns : TABLE_NO_UINT,
		.io_ns = step->done.io_ns,
		.stall_ns = computes ? step->done.io_ns - step->done.hidden_ns : TABLE_NO_UINT,
		.read_bytes = step->done.read_bytes,
		.mmap_fetched_bytes = step->done.mmap_fetched_bytes,
		.outlier = outlier,
	};

	table_add(table, &line);
}

/* "1,000 spans "step": median 12.3 ms, p99 20.1 ms, longest 1.2 s" */
static void set_note(struct table *table, const struct series *series, const struct label *label,
		     uint64_t limit, size_t outliers)
{
	const struct histogram *durations = &series->durations;
	int length = number_min(label->name.length, NAME_BYTES_MAX);
	char count[UNITS_TEXT], median[UNITS_TEXT], p99[UNITS_TEXT], longest[UNITS_TEXT];
	struct strbuf note = { .used = 0 };

	strbuf_clause(&note, "%s spans \"%.*s\": median %s, p99 %s, longest %s",
		      units_count(count, durations->count), length, label->name.bytes,
		      units_ns(median, histogram_percentile(durations, 50)),
		      units_ns(p99, histogram_percentile(durations, 99)),
		      units_ns(longest, durations->max));
	strbuf_clause(&note, "%zu %s longer than %s", outliers,
		      outliers == 1 ? "is an outlier," : "are outliers,", units_ns(median, limit));
	if (durations->count > series->count)
		strbuf_clause(&note, "only the %s longest are listed",
			      units_count(count, series->count));
	table_set_note(table, note.bytes);
}

static void fill(void *state, struct table *table)
{
	const struct steps *all = state;
	const struct job *job = all->job;
	const struct series *series = choose(all);
	const struct label *label;
	size_t outliers = 0;
	uint64_t limit;

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = job->layers;
	if (table_absent_if(table, !series,
			    !(job->layers & JOB_SPAN) && !job->activities->wanted
				    ? "application spans were not recorded"
				    : "no span represents a step: none is named so, and none "
				      "contains compute"))
		return;
	label = &job->labels.labels[series->label];
	limit = outlier_limit(series);
	qsort(series->steps, series->count, sizeof(*series->steps), compare_steps);
	for (size_t i = 0; i < series->count; i++) {
		bool outlier = series->steps[i].time_ns > limit;

		outliers += outlier;
		add_row(table, job, label, &series->steps[i], outlier);
	}
	set_note(table, series, label, limit, outliers);
}

const struct analysis analysis_steps = {
	.name = "steps",
	.meaning = "training steps, the 4096 longest; null if no span stands for a step",
	.title = "Outlier steps",
	.only = "outlier",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct steps),
	.begin = begin,
	.consumer.span_begun = span_begun,
	.consumer.span_ended = span_ended,
	.fill = fill,
	.merging = { .sorted = "start_ns", .many = "steps" },
};
