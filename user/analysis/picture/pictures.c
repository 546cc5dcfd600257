/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The second pass, which all pictures share: it places each event on the axis once. */
#include "analysis/picture/pictures.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/phases/activity.h"

/* --- names --- */

static int name_one(struct pictures *pictures, struct picture_name *name, enum picture_key key,
		    const struct results *results, uint64_t number)
{
	return picture_keys[key].name(&pictures->arena, name, results, number);
}

static int name_series(struct pictures *pictures, const struct results *results)
{
	int status = 0;

	for (int key = 0; key < PICTURE_KEYS; key++) {
		const struct picture_set *set = &pictures->sums.sets[key];

		pictures->names[key] = calloc(set->count + 1, sizeof(struct picture_name));
		if (!pictures->names[key])
			return -ENOMEM;
		for (size_t i = 0; i < set->count && !status; i++) {
			pictures->names[key][i].rank = -1;
			if (!set->series[i].others && picture_keys[key].name)
				status = name_one(pictures, &pictures->names[key][i], key, results,
						  set->series[i].number);
		}
	}
	return status;
}

static int name_maps(struct pictures *pictures, const struct results *results)
{
	int status = 0;

	for (size_t i = 0; i < pictures->grids.map_count && !status; i++) {
		uint32_t file = pictures->grids.maps[i].file;

		pictures->map_sizes[i] = results->job->files.files[file].size_bytes;
		status =
			name_one(pictures, &pictures->map_names[i], PICTURE_BY_FILE, results, file);
	}
	return status;
}

static int name_spans(struct pictures *pictures, const struct results *results)
{
	const struct picture_spans *spans = &pictures->spans;
	int status = 0;

	for (size_t i = 0; i < spans->reported_count && !status; i++)
		status = name_one(pictures, &pictures->lane_names[i], PICTURE_BY_PROCESS, results,
				  spans->lanes[spans->reported[i]].process);
	pictures->label_count = results->job->labels.count;
	pictures->labels = calloc(pictures->label_count + 1, sizeof(*pictures->labels));
	if (!pictures->labels)
		return -ENOMEM;
	for (size_t i = 0; i < spans->kept_count && !status; i++) {
		struct picture_name *name = &pictures->labels[spans->kept[i].label];

		if (!name->text.bytes)
			status = name_one(pictures, name, PICTURE_BY_SPAN, results,
					  spans->kept[i].label);
	}
	return status;
}

/* --- the pass --- */

/* Events of class IO_NONE that count. */
#define NOTABLE                                                                                    \
	(EVENT_CALL | EVENT_ASYNC | EVENT_VFS | EVENT_PAGECACHE | EVENT_THROTTLED | EVENT_REQUEST)

static int add_events(void *state, const struct event *events, size_t count)
{
	struct pictures *pictures = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		struct picture_event at;

		if (event->class == IO_NONE && !(event->flags & NOTABLE))
			continue;
		at = picture_event_of(pictures->job, &pictures->axis, event);
		picture_timeline_add(&pictures->timeline, &at);
		status = picture_sums_add(&pictures->sums, &at);
		picture_grids_add(&pictures->grids, &at);
	}
	return status;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct pictures *pictures = state;
	int status = picture_spans_begin(&pictures->spans, slot);

	picture_timeline_span(&pictures->timeline, &pictures->job->spans.slots[slot], true);
	return status ? status : picture_sums_span(&pictures->sums, slot, true);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct pictures *pictures = state;
	const struct span *span = &pictures->job->spans.slots[slot];
	const struct picture_stretches over =
		picture_stretches_of(&pictures->axis, span->begin_ns, span->end_ns);

	picture_timeline_span(&pictures->timeline, span, false);
	picture_sums_end(&pictures->sums, span, &over);
	picture_spans_end(&pictures->spans, slot, &over);
	return picture_sums_span(&pictures->sums, slot, false);
}

static const struct walk_calls calls = {
	.events = add_events,
	.span_begun = span_begun,
	.span_ended = span_ended,
};

static int walk(struct pictures *pictures, struct job *job, const struct pictures_options *options,
		struct trace_error *error)
{
	struct walk_consumer consumers[2 + PICTURE_SAMPLED] = {
		{ &calls, pictures },
		{ &picture_flame_calls, &pictures->flame },
	};
	struct walk pass = {
		.cursor.kinds = ~(JOB_KINDS | 1ull << TRACE_BIO | 1ull << TRACE_DEVICE),
		.cursor.bytes_max = job->memory_bytes / 2,
		.cursor.columns[TRACE_REQUEST] = PICTURE_REQUEST_COLUMNS,
		.cursor.columns[TRACE_REMOTE] = PICTURE_REMOTE_COLUMNS,
		.cursor.columns[TRACE_SAMPLE] = analysis_lines.columns[TRACE_SAMPLE],
		.consumers = consumers,
		.consumer_count = 2,
		.progress = options->progress,
		.context = options->context,
	};
	int status = 0;

	picture_samples_join(&pictures->samples, &pass.cursor, consumers, &pass.consumer_count);
	for (size_t i = 0; i < PICTURE_TABLES; i++)
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			pass.cursor.columns[kind] |= picture_tables[i]->columns[kind];
	if (options->filter && !filter_is_any(options->filter)) {
		status = filter_open(&pass.filter, options->filter, job, error);
		if (status)
			return status;
		filter_set_cursor(pass.filter, &pass.cursor);
	}
	status = walk_run(job, &pass, error);
	filter_close(pass.filter);
	picture_timeline_finish(&pictures->timeline);
	return status ? status : picture_samples_finish(&pictures->samples);
}

int pictures_make(struct pictures **made, struct job *job, const struct results *results,
		  const struct pictures_options *options, struct trace_error *error)
{
	struct pictures *pictures = calloc(1, sizeof(*pictures));
	int status;

	*made = pictures;
	if (!pictures)
		return -ENOMEM;
	pictures->axis = picture_axis_of(job->start_ns, job->end_ns);
	pictures->job = job;
	pictures->layers = job->layers;
	pictures->lost = job->lost;
	pictures->aggregated = job->aggregated;
	pictures->all_aggregated = job->all_aggregated;
	if (job->activities)
		activities_restart(job->activities);
	picture_timeline_init(&pictures->timeline, job, &pictures->axis);
	picture_spans_init(&pictures->spans, job, &pictures->axis);
	status = picture_sums_init(&pictures->sums, results, &pictures->axis);
	if (!status)
		status = picture_grids_init(&pictures->grids, results,
					    &pictures->sums.sets[PICTURE_BY_FILE], &pictures->axis);
	if (!status)
		status = picture_samples_init(&pictures->samples, results, &pictures->axis);
	if (!status)
		status = picture_flame_init(&pictures->flame, job, &pictures->axis);
	if (!status)
		status = walk(pictures, job, options, error);
	if (!status)
		status = picture_spans_finish(&pictures->spans);
	if (!status)
		status = picture_flame_finish(&pictures->flame);
	if (!status)
		status = name_series(pictures, results);
	if (!status)
		status = name_maps(pictures, results);
	if (!status)
		status = name_spans(pictures, results);
	if (status) {
		pictures_free(pictures);
		*made = NULL;
	}
	return status;
}

void pictures_free(struct pictures *pictures)
{
	if (!pictures)
		return;
	picture_sums_free(&pictures->sums);
	picture_samples_free(&pictures->samples);
	picture_grids_free(&pictures->grids);
	picture_spans_free(&pictures->spans);
	picture_flame_free(&pictures->flame);
	for (int key = 0; key < PICTURE_KEYS; key++)
		free(pictures->names[key]);
	free(pictures->labels);
	arena_free(&pictures->arena);
	free(pictures);
}
