/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums by stretch, for series that were chosen beforehand. */
#include "analysis/picture/picture_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/devices/devices.h"
#include "analysis/events/device_list.h"
#include "analysis/picture/picture_keys.h"
#include "collections/grow.h"
#include "collections/compare.h"
#include "base/number.h"

/* Of other tables. */
#define ROWS_MAX 32

const struct analysis *const picture_tables[PICTURE_TABLES] = {
	&analysis_totals,   &analysis_methods, &analysis_failed_lookups, &analysis_io_patterns,
	&analysis_programs, &analysis_levels,  &analysis_paths,
};

#define NO_SERIES UINT32_MAX

/* --- choosing --- */

struct candidate {
	uint64_t number, weight;
};

COMPARE_BY(compare_candidates, struct candidate,
	   COMPARE(b->weight, a->weight) ?: COMPARE(a->number, b->number))

static int add_series(struct picture_set *set, uint64_t number)
{
	if (!GROW(set->series, set->room, set->count + 1))
		return -ENOMEM;
	set->series[set->count++] = (struct picture_series) { .number = number };
	return 0;
}

/* Adds the last series, for the `count` without a series of their own. */
static int add_others(struct picture_set *set, uint64_t count)
{
	int status = add_series(set, 0);

	if (status)
		return status;
	set->series[set->count - 1].others = true;
	set->series[set->count - 1].of = count;
	return 0;
}

static int choose(struct picture_set *set, const struct results *results, enum picture_key key)
{
	const struct picture_key_rule *rule = &picture_keys[key];
	size_t count = rule->count(results), used = 0, chosen;
	struct candidate *all = reallocarray(NULL, count + 1, sizeof(*all));
	int status = 0;

	set->slots = reallocarray(NULL, count + 1, sizeof(*set->slots));
	set->slot_count = count;
	if (!all || !set->slots) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		all[used] = (struct candidate) { i, rule->weigh(results, i) };
		set->slots[i] = NO_SERIES;
		used += all[used].weight ? 1 : 0;
	}
	qsort(all, used, sizeof(*all), compare_candidates);
	chosen = number_min(used, rule->max);
	for (size_t i = 0; i < chosen && !status; i++) {
		set->slots[all[i].number] = i;
		status = add_series(set, all[i].number);
	}
	free(all);
	return status ? status : add_others(set, used - chosen);
}

COMPARE_BY(compare_ranks, int64_t, COMPARE(*a, *b))

/* Chooses the lowest ranks; maps each process to the series of its rank. */
static int choose_ranks(struct picture_set *set, const struct job *job)
{
	size_t count = job->processes.count, used = 0, kinds = 0;
	const struct process *processes = job->processes.processes;
	int64_t *ranks = reallocarray(NULL, count + 1, sizeof(*ranks));
	int status = 0;

	set->slots = reallocarray(NULL, count + 1, sizeof(*set->slots));
	set->slot_count = count;
	if (!ranks || !set->slots) {
		free(ranks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		if (processes[i].rank >= 0)
			ranks[used++] = processes[i].rank;
	qsort(ranks, used, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < used; i++)
		if (!kinds || ranks[i] != ranks[kinds - 1])
			ranks[kinds++] = ranks[i];
	for (size_t i = 0; i < kinds && i < picture_keys[PICTURE_BY_RANK].max && !status; i++)
		status = add_series(set, ranks[i]);
	for (size_t i = 0; i < count && !status; i++) {
		const int64_t *found =
			bsearch(&processes[i].rank, ranks, kinds, sizeof(*ranks), compare_ranks);

		set->slots[i] = NO_SERIES;
		if (found && (size_t)(found - ranks) < set->count)
			set->slots[i] = found - ranks;
	}
	free(ranks);
	return status ? status : add_others(set, kinds - set->count);
}

/* Chooses devices as in the table "devices": those with the most request time come first. */
static int choose_devices(struct picture_sums *sums, const struct results *results)
{
	struct picture_set *set = &sums->sets[PICTURE_BY_DEVICE];
	struct device_view view;
	uint64_t left = 0;
	int status = 0;

	for (size_t i = 0; !status && devices_view(results, i, &view); i++) {
		if (i >= PICTURE_DEVICES) {
			left += view.own_requests ? 1 : 0;
			continue;
		}
		sums->devices[i] = (struct picture_device) { view.device, view.host };
		status = add_series(set, i);
	}
	return status ? status : add_others(set, left);
}

/* Series are added when rows are first seen; a table without rows needs none. */
static int choose_rows(struct picture_sums *sums, const struct results *results)
{
	for (size_t i = 0; i < PICTURE_TABLES; i++) {
		struct picture_set *set = &sums->sets[PICTURE_BY_ROWS + i];

		if (!report_by(results->report, picture_tables[i])->row_count)
			continue;
		sums->states[i] = results_state(results, picture_tables[i]);
		set->slot_count = ROWS_MAX;
		set->slots = malloc(ROWS_MAX * sizeof(*set->slots));
		if (!set->slots)
			return -ENOMEM;
		memset(set->slots, 0xff, ROWS_MAX * sizeof(*set->slots)); /* NO_SERIES */
	}
	return 0;
}

int picture_sums_init(struct picture_sums *sums, const struct results *results,
		      const struct picture_axis *axis)
{
	struct picture_set *parts = &sums->sets[PICTURE_BY_PART];
	int status = 0;

	*sums = (struct picture_sums) { .job = results->job, .axis = *axis };
	for (int part = 0; part < PICTURE_PARTS && !status; part++)
		status = add_series(parts, part);
	for (int key = 0; key < PICTURE_KEYS && !status; key++)
		if (picture_keys[key].weigh)
			status = choose(&sums->sets[key], results, key);
	if (!status)
		status = choose_ranks(&sums->sets[PICTURE_BY_RANK], results->job);
	if (!status)
		status = choose_devices(sums, results);
	return status ? status : choose_rows(sums, results);
}

void picture_sums_free(struct picture_sums *sums)
{
	for (int key = 0; key < PICTURE_KEYS; key++) {
		free(sums->sets[key].series);
		free(sums->sets[key].slots);
	}
	*sums = (struct picture_sums) { 0 };
}

/* --- during the walk --- */

static void add(struct picture_series *series, const struct picture_axis *axis,
		const struct picture_stretches *over, const struct picture_sum *more)
{
	struct picture_sum *sum = &series->sums[over->first];
	int last = over->first == over->last ? PICTURE_TIME : PICTURE_COUNTS;

	for (int i = 0; i < last; i++)
		sum->of[i] += more->of[i];
	for (int i = last; i < PICTURE_TIME; i++)
		picture_spread_coarse(&series->sums->of[i], sizeof(*sum), axis, over, more->of[i]);
}

/* Merges an interval into the time of a series, whose union is complete up to *end_ns. */
static void merge(struct picture_series *series, const struct picture_axis *axis,
		  const struct picture_stretches *over, uint64_t *end_ns)
{
	struct picture_stretches rest = *over;

	if (over->end_ns <= *end_ns)
		return;
	if (over->start_ns < *end_ns)
		rest = picture_stretches_of(axis, *end_ns, over->end_ns);
	*end_ns = over->end_ns;
	picture_spread_coarse(&series->sums->of[PICTURE_TIME], sizeof(struct picture_sum), axis,
			      &rest, rest.end_ns - rest.start_ns);
}

static struct picture_series *series_of(struct picture_sums *sums, enum picture_key key,
					size_t number)
{
	struct picture_set *set = &sums->sets[key];
	uint32_t slot = number < set->slot_count ? set->slots[number] : NO_SERIES;

	return &set->series[slot == NO_SERIES ? set->count - 1 : slot];
}

static struct picture_series *device_series(struct picture_sums *sums, const struct event *event)
{
	const uint32_t host = sums->job->traces[event->block->trace].host;
	struct picture_series *series = sums->sets[PICTURE_BY_DEVICE].series;
	const uint64_t device = event_device(event);

	while (!series->others && (sums->devices[series->number].device != device ||
				   sums->devices[series->number].host != host))
		series++;
	return series;
}

static void add_request(struct picture_sums *sums, const struct picture_event *at,
			struct picture_sum *more)
{
	const struct event *event = at->event;
	enum device_use use = at->use;

	more->of[PICTURE_COUNT] = event->flags & EVENT_SECOND ? 0 : 1;
	more->of[PICTURE_MARKED] = use == DEVICE_READS ? more->of[PICTURE_COUNT] : 0;
	more->of[PICTURE_READ_BYTES] = use == DEVICE_READS ? event->bytes : 0;
	more->of[PICTURE_WRITE_BYTES] = use == DEVICE_WRITES ? event->bytes : 0;
	more->of[PICTURE_THREAD_TIME] = event->flags & EVENT_SECOND ? 0 : event->end - event->start;
	if (use == DEVICE_READS || use == DEVICE_WRITES)
		add(device_series(sums, event), &sums->axis, &at->over, more);
}

/* The table "operations" also counts what is not I/O of a task, and what adds no time to its
 * class. */
static void add_operation(struct picture_sums *sums, const struct event *event,
			  const struct picture_stretches *over, struct picture_sum more)
{
	if (event->flags & EVENT_SECOND)
		return;
	more.of[PICTURE_COUNT] = 1;
	more.of[PICTURE_ERRORS] = event_errors(event);
	more.of[PICTURE_THREAD_TIME] = event->end - event->start;
	add(series_of(sums, PICTURE_BY_OPERATION, event->operation), &sums->axis, over, &more);
}

static struct picture_sum sum_of(const struct event *event)
{
	struct picture_sum sum = { 0 };
	bool timed = event->flags & (EVENT_TIMED | EVENT_THROTTLED);

	if (event->flags & EVENT_COUNTED) {
		sum.of[PICTURE_COUNT] = 1;
		sum.of[PICTURE_ERRORS] = event_errors(event);
		sum.of[PICTURE_METADATA_CALLS] = event->class == IO_METADATA;
		sum.of[PICTURE_READ_FAULTS] = event->class == IO_MMAP_READ;
		sum.of[PICTURE_WRITE_FAULTS] = event->class == IO_MMAP_WRITE;
	}
	sum.of[PICTURE_MAJOR] = event->major;
	sum.of[PICTURE_OPENS] = event->flags & EVENT_OPENS ? 1 : 0;
	sum.of[event->class == IO_WRITE ? PICTURE_WRITE_BYTES : PICTURE_READ_BYTES] = event->bytes;
	sum.of[PICTURE_FETCHED] = event->fetched_bytes;
	if (event->class == IO_MMAP_READ || event->class == IO_MMAP_WRITE)
		sum.of[event->class == IO_MMAP_READ ? PICTURE_READ_FAULTED
						    : PICTURE_WRITE_FAULTED] = event->fetched_bytes;
	sum.of[PICTURE_CREATED] = event->created_bytes;
	sum.of[PICTURE_DIRTIED] = event->dirtied_bytes;
	sum.of[PICTURE_THREAD_TIME] = timed ? event->end - event->start : 0;
	return sum;
}

static void add_event(struct picture_sums *sums, const struct picture_event *at,
		      const struct picture_sum *more)
{
	const struct event *event = at->event;
	const struct picture_stretches *over = &at->over;
	const struct picture_axis *axis = &sums->axis;
	bool timed = event->flags & EVENT_TIMED;
	struct picture_series *series;

	if (event->file != FILE_NONE) {
		series = series_of(sums, PICTURE_BY_FILE, event->file);
		add(series, axis, over, more);
		if (timed && event->class != IO_NONE)
			merge(series, axis, over, &series->ends_ns[files_use_of(event->class)]);
	}
	if (event->class == IO_NONE)
		return;
	add(&sums->sets[PICTURE_BY_PART].series[at->part], axis, over, more);
	series = series_of(sums, PICTURE_BY_PROCESS, event->process);
	add(series, axis, over, more);
	if (timed)
		merge(series, axis, over, &series->ends_ns[0]);
	series = series_of(sums, PICTURE_BY_RANK, event->process);
	/* A process without a rank is not one of the other ranks. */
	if (!series->others || sums->job->processes.processes[event->process].rank >= 0)
		add(series, axis, over, more);
}

/* --- rows of tables --- */

/* *series receives NULL if the row has none. Returns 0 or -ENOMEM. */
static int series_of_row(struct picture_set *set, uint32_t row, struct picture_series **series)
{
	*series = NULL;
	if (row >= set->slot_count)
		return 0;
	if (set->slots[row] == NO_SERIES) {
		if (add_series(set, row))
			return -ENOMEM;
		set->slots[row] = set->count - 1;
	}
	*series = &set->series[set->slots[row]];
	return 0;
}

static int add_to_rows(struct picture_sums *sums, const struct event *event,
		       const struct picture_stretches *over, struct picture_sum *more)
{
	struct row_of rows[ROWS_OF_MAX];
	struct picture_series *series;

	for (size_t i = 0; i < PICTURE_TABLES; i++) {
		int count = sums->states[i]
				    ? picture_tables[i]->rows_of(sums->states[i], event, rows)
				    : 0;

		if (count < 0)
			return count;
		for (const struct row_of *row = rows; row < rows + count; row++) {
			if (series_of_row(&sums->sets[PICTURE_BY_ROWS + i], row->row, &series))
				return -ENOMEM;
			if (!series)
				continue;
			more->of[PICTURE_MARKED] = row->marked && !(event->flags & EVENT_SECOND);
			add(series, &sums->axis, over, more);
			if (event->flags & EVENT_TIMED)
				merge(series, &sums->axis, over,
				      row->end_ns ? row->end_ns : &series->ends_ns[0]);
		}
	}
	return 0;
}

int picture_sums_add(struct picture_sums *sums, const struct picture_event *at)
{
	const struct event *event = at->event;
	struct picture_sum more = sum_of(event);
	int status = add_to_rows(sums, event, &at->over, &more);

	more.of[PICTURE_MARKED] = 0;
	add_operation(sums, event, &at->over, more);
	if (event->flags & EVENT_REQUEST && !device_list_ignores(event))
		add_request(sums, at, &more);
	else if (event->class != IO_NONE || event->flags & EVENT_PAGECACHE)
		add_event(sums, at, &more);
	return status;
}

/* --- spans --- */

/* One more span of a row is open, or one less: adds their time once none is. */
static void add_span_change(struct picture_series *series, const struct picture_axis *axis,
			    const struct span *span, bool begins)
{
	struct picture_stretches over;

	if (begins) {
		over = picture_stretches_of(axis, span->begin_ns, span->begin_ns);
		series->sums[over.first].of[PICTURE_COUNT]++;
		if (!series->open++)
			series->begun_ns = span->begin_ns;
		return;
	}
	if (--series->open)
		return;
	over = picture_stretches_of(axis, series->begun_ns, span->end_ns);
	merge(series, axis, &over, &series->ends_ns[0]);
}

int picture_sums_span(struct picture_sums *sums, uint32_t slot, bool begins)
{
	const struct span *span = &sums->job->spans.slots[slot];
	struct row_of rows[ROWS_OF_MAX];
	struct picture_series *series;

	for (size_t i = 0; i < PICTURE_TABLES; i++) {
		int count = 0;

		if (sums->states[i] && picture_tables[i]->rows_of_span)
			count = picture_tables[i]->rows_of_span(sums->states[i], slot, begins,
								rows);
		for (const struct row_of *row = rows; row < rows + count; row++) {
			if (series_of_row(&sums->sets[PICTURE_BY_ROWS + i], row->row, &series))
				return -ENOMEM;
			if (!series)
				continue;
			add_span_change(series, &sums->axis, span, begins);
		}
	}
	return 0;
}

void picture_sums_end(struct picture_sums *sums, const struct span *span,
		      const struct picture_stretches *over)
{
	const struct picture_sum more = {
		.of = { [PICTURE_COUNT] = 1, [PICTURE_THREAD_TIME] = span->end_ns - span->begin_ns }
	};

	add(series_of(sums, PICTURE_BY_SPAN, span->label), &sums->axis, over, &more);
}
