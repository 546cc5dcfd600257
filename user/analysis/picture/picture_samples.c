/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Passes events stretch by stretch to states of its own, and samples these in between. */
#include "analysis/picture/picture_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/shared/results.h"
#include "collections/bisect.h"
#include "base/number.h"

const struct analysis *const picture_sampled[PICTURE_SAMPLED] = {
	&analysis_epochs,      &analysis_readahead,
	&analysis_writeback,   &analysis_latency_breakdown,
	&analysis_chain_spans, &analysis_device_users,
	&analysis_ranks,       &analysis_lines,
	&analysis_functions,
};

/* --- during the walk --- */

static uint64_t end_of(const struct picture_samples *samples, unsigned int stretch)
{
	const struct picture_axis *axis = &samples->axis;

	return number_add(axis->start_ns, (stretch + 1) * axis->fine_ns * PICTURE_FINER);
}

static void take(struct picture_sampled *table, size_t which, struct picture_sampling *sampling,
		 uint64_t now_ns)
{
	const struct sampled *how = picture_sampled[which]->sampled;

	for (size_t i = 0; i < table->count; i++) {
		struct picture_sample *row = &table->rows[i];
		uint64_t values[SAMPLED_MAX] = { 0 };

		how->at(table->filled, sampling->state, row->number, now_ns, values);
		for (int j = 0; j < SAMPLED_MAX; j++) {
			if (values[j] <= row->before[j])
				continue;
			row->more[j][sampling->at] += values[j] - row->before[j];
			row->before[j] = values[j];
		}
	}
}

static int take_all(struct picture_sampling *sampling, uint64_t now_ns)
{
	struct picture_samples *all = sampling->all;
	int status = sampling->how->settle ? sampling->how->settle(sampling->state, now_ns) : 0;

	for (size_t i = 0; i < PICTURE_SAMPLED && !status; i++)
		if (&all->reported[all->tables[i].reported] == sampling)
			take(&all->tables[i], i, sampling, now_ns);
	return status;
}

/* Ends all stretches that end by that time. */
static int go_to(struct picture_sampling *sampling, uint64_t time_ns)
{
	const struct picture_samples *all = sampling->all;
	int status = 0;

	while (!status && sampling->at + 1 < PICTURE_COARSE &&
	       end_of(all, sampling->at) <= time_ns &&
	       end_of(all, sampling->at) < all->axis.end_ns) {
		status = take_all(sampling, end_of(all, sampling->at));
		sampling->at++;
	}
	return status;
}

/* Returns how many events begin before the current stretch ends; events are in order. */
static size_t count_before(const struct picture_sampling *sampling, const struct event *events,
			   size_t count)
{
	uint64_t end_ns = end_of(sampling->all, sampling->at);

	if (events[count - 1].start < end_ns)
		return count;
	return BISECT(i, 0, count, events[i].start < end_ns);
}

static int emit_events(void *state, const struct event *events, size_t count)
{
	struct picture_sampling *sampling = state;
	int status = 0;

	while (count && !status) {
		size_t now;

		status = go_to(sampling, events->start);
		now = count_before(sampling, events, count);
		if (!now) /* after the end of the run */
			now = count;
		if (!status)
			status = sampling->how->consumer->events(sampling->state, events, now);
		events += now;
		count -= now;
	}
	return status;
}

static int emit_begun(void *state, uint32_t slot, const struct event *event)
{
	struct picture_sampling *sampling = state;
	int status = go_to(sampling, sampling->all->job->spans.slots[slot].begin_ns);

	return status ? status : sampling->how->consumer->span_begun(sampling->state, slot, event);
}

static int emit_ended(void *state, uint32_t slot, const struct event *event)
{
	struct picture_sampling *sampling = state;
	int status = go_to(sampling, sampling->all->job->spans.slots[slot].end_ns);

	return status ? status : sampling->how->consumer->span_ended(sampling->state, slot, event);
}

/* --- what events add --- */

static void add_sum(struct picture_samples *samples, struct picture_sample *row,
		    const struct sampled *how, const struct sampled_sum *sum)
{
	const struct picture_stretches over =
		picture_stretches_of(&samples->axis, sum->start_ns, sum->end_ns);

	for (int i = 0; i < SAMPLED_MAX; i++) {
		row->before[i] = number_add(row->before[i], sum->values[i]);
		if (i < how->spread)
			picture_spread_coarse(row->more[i], sizeof(row->more[i][0]), &samples->axis,
					      &over, sum->values[i]);
		else
			row->more[i][over.first] += sum->values[i];
	}
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct picture_sampling *sampling = state;
	struct picture_sampled *table = sampling->table;
	struct sampled_sum sum;

	for (const struct event *event = events; event < events + count; event++) {
		sum = (struct sampled_sum) { 0 };
		if (!sampling->how->adds(table->filled, event, &sum))
			continue;
		for (size_t i = 0; i < table->count; i++)
			if (table->rows[i].number == sum.number)
				add_sum(sampling->all, &table->rows[i], sampling->how, &sum);
	}
	return 0;
}

/* --- consumers --- */

/* Finds a consumer that gets the same events already, or adds one. */
static int find_reported(struct picture_samples *samples, const struct sampled *how,
			 struct picture_sampled *table)
{
	struct picture_sampling *sampling = samples->reported;
	size_t *reported = &table->reported;

	for (*reported = 0; *reported < samples->reported_count; ++*reported)
		if (how->consumer && samples->reported[*reported].how->consumer == how->consumer)
			return 0;
	sampling += samples->reported_count++;
	*sampling = (struct picture_sampling) { .how = how, .all = samples, .table = table };
	if (how->adds) {
		sampling->calls =
			(struct walk_calls) { .events = add_events, .matters = how->matters };
		return 0;
	}
	sampling->calls = (struct walk_calls) {
		.parallel = how->consumer->parallel,
		.events = emit_events,
		.matters = how->consumer->matters,
		.span_begun = how->consumer->span_begun ? emit_begun : NULL,
		.span_ended = how->consumer->span_ended ? emit_ended : NULL,
	};
	sampling->state = arena_alloc(&sampling->arena, how->state_bytes);
	if (sampling->state)
		how->begin(sampling->state, samples->job, &sampling->arena);
	return arena_status(&sampling->arena);
}

static int choose_rows(struct picture_sampled *of, const struct sampled *how,
		       const struct table *table)
{
	uint64_t *numbers = reallocarray(NULL, table->row_count, sizeof(*numbers));
	size_t *order = table_order(table);

	of->count = number_min(table->row_count, PICTURE_SAMPLED_ROWS);
	of->rows = calloc(of->count, sizeof(*of->rows));
	if (numbers && order && of->rows) {
		how->numbers(of->filled, numbers, table->row_count);
		for (size_t i = 0; i < of->count; i++)
			of->rows[i].number = numbers[order[i]];
	}
	free(order);
	free(numbers);
	return numbers && order && of->rows ? 0 : -ENOMEM;
}

int picture_samples_init(struct picture_samples *samples, const struct results *results,
			 const struct picture_axis *axis)
{
	int status = 0;

	*samples = (struct picture_samples) { .job = results->job, .axis = *axis };
	for (size_t i = 0; i < PICTURE_SAMPLED && !status; i++) {
		const struct sampled *how = picture_sampled[i]->sampled;
		const struct table *table = report_by(results->report, picture_sampled[i]);
		struct picture_sampled *of = &samples->tables[i];

		of->reported = PICTURE_SAMPLED;
		if (table->absent || !table->row_count)
			continue;
		of->filled = results_state(results, how->filled);
		status = find_reported(samples, how, of);
		if (!status)
			status = choose_rows(of, how, table);
	}
	return status;
}

void picture_samples_join(struct picture_samples *samples, struct cursor_options *cursor,
			  struct walk_consumer *consumers, size_t *count)
{
	for (size_t i = 0; i < samples->reported_count; i++)
		consumers[(*count)++] = (struct walk_consumer) { &samples->reported[i].calls,
								 &samples->reported[i] };
	for (size_t i = 0; i < PICTURE_SAMPLED; i++) {
		if (!samples->tables[i].count)
			continue;
		cursor->kinds |= 1ull << TRACE_BIO | 1ull << TRACE_DEVICE;
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			cursor->columns[kind] |= picture_sampled[i]->columns[kind];
	}
}

static void end_reported(struct picture_samples *samples)
{
	for (size_t i = 0; i < samples->reported_count; i++)
		arena_free(&samples->reported[i].arena);
	samples->reported_count = 0;
}

int picture_samples_finish(struct picture_samples *samples)
{
	int status = 0;

	for (size_t i = 0; i < samples->reported_count && !status; i++) {
		if (samples->reported[i].how->adds)
			continue;
		status = go_to(&samples->reported[i], samples->axis.end_ns);
		if (!status)
			status = take_all(&samples->reported[i], UINT64_MAX);
	}
	end_reported(samples);
	return status;
}

void picture_samples_free(struct picture_samples *samples)
{
	end_reported(samples);
	for (size_t i = 0; i < PICTURE_SAMPLED; i++)
		free(samples->tables[i].rows);
	*samples = (struct picture_samples) { 0 };
}
