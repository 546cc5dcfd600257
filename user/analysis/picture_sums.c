/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums by stretch of those that were chosen beforehand. Knows nothing of names.
 */
#include "analysis/picture_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/devices.h"
#include "analysis/files.h"
#include "analysis/processes.h"
#include "analysis/spans.h"
#include "grow.h"

const size_t picture_sums_most[PICTURE_KEYS] = {
	[PICTURE_BY_PART] = PICTURE_PARTS, [PICTURE_BY_OPERATION] = 24, [PICTURE_BY_FILE] = 32,
	[PICTURE_BY_PROCESS] = 48,	   [PICTURE_BY_RANK] = 48,	[PICTURE_BY_SPAN] = 24,
	[PICTURE_BY_DEVICE] = 12,
};

#define NO_SERIES UINT32_MAX

static uint64_t device_number(uint32_t host, uint32_t dev)
{
	return (uint64_t)host << 32 | dev;
}

/* --- choosing --- */

struct candidate {
	uint64_t number, weight;
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static uint64_t weigh_operation(const struct measured *measured, uint32_t number)
{
	const struct operation *operation = &measured->job->operations[number];

	/* One that takes no time counts, too. */
	return clock_add(operation->seen.thread_time_ns, operation->seen.count);
}

static uint64_t weigh_file(const struct measured *measured, uint32_t number)
{
	struct file_view view;

	if (!files_used(measured, number, &view))
		return 0;
	return clock_add(clock_add(view.time_ns, view.fetched_bytes >> 20), 1);
}

static uint64_t weigh_process(const struct measured *measured, uint32_t number)
{
	return processes_tally(measured, number, MEASURE_IO)->thread_time_ns;
}

static uint64_t weigh_span(const struct measured *measured, uint32_t number)
{
	uint64_t time_ns, count = spans_of_label(measured, number, &time_ns);

	return clock_add(time_ns, count);
}

/* Numbers that are chosen by weight: how many there are, and what each weighs. */
static size_t count_of(const struct measured *measured, enum picture_key key)
{
	switch (key) {
	case PICTURE_BY_OPERATION:
		return measured->job->operation_count;
	case PICTURE_BY_FILE:
		return files_count(measured);
	case PICTURE_BY_PROCESS:
		return measured->job->processes.count;
	case PICTURE_BY_SPAN:
		return measured->job->labels.count;
	default:
		return 0;
	}
}

static uint64_t (*const weighing[PICTURE_KEYS])(const struct measured *, uint32_t) = {
	[PICTURE_BY_OPERATION] = weigh_operation,
	[PICTURE_BY_FILE] = weigh_file,
	[PICTURE_BY_PROCESS] = weigh_process,
	[PICTURE_BY_SPAN] = weigh_span,
};

static int add_series(struct picture_set *set, uint64_t number)
{
	if (!GROW(set->series, set->room, set->count + 1))
		return -ENOMEM;
	set->series[set->count++] = (struct picture_series) { .number = number };
	return 0;
}

/* The last series: all that are not told one by one, so many. */
static int add_others(struct picture_set *set, uint64_t count)
{
	int status = add_series(set, 0);

	if (status)
		return status;
	set->series[set->count - 1].others = true;
	set->series[set->count - 1].of = count;
	return 0;
}

static int choose(struct picture_set *set, const struct measured *measured, enum picture_key key)
{
	size_t count = count_of(measured, key), used = 0, chosen;
	struct candidate *all = reallocarray(NULL, count + 1, sizeof(*all));
	int status = 0;

	set->slots = reallocarray(NULL, count + 1, sizeof(*set->slots));
	set->slot_count = count;
	if (!all || !set->slots) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		all[used] = (struct candidate) { i, weighing[key](measured, i) };
		set->slots[i] = NO_SERIES;
		used += all[used].weight ? 1 : 0;
	}
	qsort(all, used, sizeof(*all), compare_candidates);
	chosen = used < picture_sums_most[key] ? used : picture_sums_most[key];
	for (size_t i = 0; i < chosen && !status; i++) {
		set->slots[all[i].number] = i;
		status = add_series(set, all[i].number);
	}
	free(all);
	return status ? status : add_others(set, used - chosen);
}

static int compare_ranks(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

/* The lowest ranks; of a process its place among them. */
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
	for (size_t i = 0; i < kinds && i < picture_sums_most[PICTURE_BY_RANK] && !status; i++)
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

/* As the table "devices" has them: those whose requests took the most time come first. */
static int choose_devices(struct picture_set *set, const struct measured *measured)
{
	struct device_view view;
	uint64_t left = 0;
	int status = 0;

	for (size_t i = 0; !status && devices_view(measured, i, &view); i++) {
		if (i < picture_sums_most[PICTURE_BY_DEVICE])
			status = add_series(set, device_number(view.host, view.dev));
		else
			left += view.own_requests ? 1 : 0;
	}
	return status ? status : add_others(set, left);
}

int picture_sums_init(struct picture_sums *sums, const struct measured *measured,
		      const struct picture_axis *axis)
{
	struct picture_set *parts = &sums->sets[PICTURE_BY_PART];
	int status = 0;

	*sums = (struct picture_sums) { .job = measured->job, .axis = *axis };
	for (int part = 0; part < PICTURE_PARTS && !status; part++)
		status = add_series(parts, part);
	for (int key = 0; key < PICTURE_KEYS && !status; key++)
		if (weighing[key])
			status = choose(&sums->sets[key], measured, key);
	if (!status)
		status = choose_ranks(&sums->sets[PICTURE_BY_RANK], measured->job);
	return status ? status : choose_devices(&sums->sets[PICTURE_BY_DEVICE], measured);
}

void picture_sums_free(struct picture_sums *sums)
{
	for (int key = 0; key < PICTURE_KEYS; key++) {
		free(sums->sets[key].series);
		free(sums->sets[key].slots);
	}
	*sums = (struct picture_sums) { 0 };
}

/* --- in passing --- */

static void add(struct picture_series *series, const struct picture_axis *axis,
		const struct picture_stretches *over, const struct picture_sum *more)
{
	const size_t step = sizeof(struct picture_sum);
	struct picture_sum *sums = series->sums;

	sums[over->first].count += more->count;
	if (over->first == over->last) {
		sums[over->first].bytes += more->bytes;
		sums[over->first].fetched_bytes += more->fetched_bytes;
		sums[over->first].time_ns += more->time_ns;
		return;
	}
	picture_spread_coarse(&sums->bytes, step, axis, over, more->bytes);
	picture_spread_coarse(&sums->fetched_bytes, step, axis, over, more->fetched_bytes);
	picture_spread_coarse(&sums->time_ns, step, axis, over, more->time_ns);
}

static void add_to(struct picture_sums *sums, enum picture_key key, size_t number,
		   const struct picture_stretches *over, const struct picture_sum *more)
{
	struct picture_set *set = &sums->sets[key];
	uint32_t slot = number < set->slot_count ? set->slots[number] : NO_SERIES;

	/* Nobody has no rank among others. */
	if (slot == NO_SERIES && key == PICTURE_BY_RANK &&
	    sums->job->processes.processes[number].rank < 0)
		return;
	add(&set->series[slot == NO_SERIES ? set->count - 1 : slot], &sums->axis, over, more);
}

static struct picture_series *device_series(struct picture_set *set, uint64_t number)
{
	struct picture_series *series = set->series;

	while (!series->others && series->number != number)
		series++;
	return series;
}

static void add_request(struct picture_sums *sums, const struct event *event)
{
	uint32_t host = sums->job->traces[event->block->trace].host;
	enum device_use use = sums->job->operations[event->operation].use;
	const struct picture_stretches over =
		picture_stretches_of(&sums->axis, event->start, event->end);
	const struct picture_sum more = {
		.count = event->flags & EVENT_SECOND ? 0 : 1,
		.bytes = use == DEVICE_READS ? event->bytes : 0,
		.fetched_bytes = use == DEVICE_WRITES ? event->bytes : 0,
		.time_ns = event->flags & EVENT_SECOND ? 0 : event->end - event->start,
	};

	if (use == DEVICE_READS || use == DEVICE_WRITES)
		add(device_series(&sums->sets[PICTURE_BY_DEVICE],
				  device_number(host, event_value(event, REQUEST_DEV))),
		    &sums->axis, &over, &more);
}

static void add_event(struct picture_sums *sums, const struct event *event)
{
	const struct picture_stretches over =
		picture_stretches_of(&sums->axis, event->start, event->end);
	const struct picture_sum more = {
		.count = event->flags & EVENT_COUNTED ? 1 : 0,
		.bytes = event->bytes,
		.fetched_bytes = event->fetched_bytes,
		.time_ns = event->flags & EVENT_TIMED ? event->end - event->start : 0,
	};

	if (event->file != FILE_NONE)
		add_to(sums, PICTURE_BY_FILE, event->file, &over, &more);
	if (event->class == IO_NONE)
		return;
	add(&sums->sets[PICTURE_BY_PART].series[picture_part_of(event)], &sums->axis, &over, &more);
	add_to(sums, PICTURE_BY_OPERATION, event->operation, &over, &more);
	add_to(sums, PICTURE_BY_PROCESS, event->process, &over, &more);
	add_to(sums, PICTURE_BY_RANK, event->process, &over, &more);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct picture_sums *sums = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (event->flags & EVENT_REQUEST)
			add_request(sums, event);
		else if (event->class != IO_NONE || event->flags & EVENT_PAGECACHE)
			add_event(sums, event);
	}
	return 0;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct picture_sums *sums = state;
	const struct span *span = &sums->job->spans.slots[slot];
	const struct picture_stretches over =
		picture_stretches_of(&sums->axis, span->begin_ns, span->end_ns);
	const struct picture_sum more = { 1, 0, 0, span->end_ns - span->begin_ns };

	(void)event;
	add_to(sums, PICTURE_BY_SPAN, span->label, &over, &more);
	return 0;
}

const struct walk_calls picture_sums_calls = { .events = add_events, .span_ended = span_ended };
