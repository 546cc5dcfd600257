/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The second pass for pictures, and the names of what they show. */
#include "analysis/picture/pictures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/activity.h"
#include "analysis/files/files.h"
#include "analysis/totals/totals.h"

#define NAME_BYTES_MAX 4096

/* --- names --- */

static int set_text(struct pictures *pictures, struct table_text *text, const char *bytes,
		    size_t length)
{
	length = length < NAME_BYTES_MAX ? length : NAME_BYTES_MAX;
	*text = (struct table_text) { NULL, 0 };
	if (!bytes)
		return 0;
	*text = (struct table_text) { arena_text(&pictures->arena, bytes, length), length };
	return text->bytes ? 0 : -ENOMEM;
}

static int set_string(struct pictures *pictures, struct table_text *text, struct trace_string from)
{
	return set_text(pictures, text, from.length ? from.bytes : NULL, from.length);
}

static int name_operation(struct pictures *pictures, struct picture_name *name,
			  const struct results *results, uint64_t number)
{
	const struct operation *operation = &results->job->operations[number];
	int status = set_text(pictures, &name->text, operation->name, strlen(operation->name));

	return status ? status
		      : set_text(pictures, &name->more, operation->layer, strlen(operation->layer));
}

static int name_file(struct pictures *pictures, struct picture_name *name,
		     const struct results *results, uint64_t number)
{
	struct file_view view;

	if (!files_used(results, number, &view))
		return 0;
	if (view.known)
		units_device(name->dev, view.dev);
	name->ino = view.ino == TABLE_NO_UINT ? 0 : view.ino;
	return set_text(pictures, &name->text, view.path.bytes, view.path.length);
}

static int name_process(struct pictures *pictures, struct picture_name *name,
			const struct results *results, uint64_t number)
{
	const struct job *job = results->job;
	const struct process *process = &job->processes.processes[number];

	name->pid = process->pid;
	name->rank = process->rank;
	name->start_ns = clock_subtract(process->start_ns, job->start_ns);
	return set_string(pictures, &name->text, job_comm(job, number));
}

static int name_rank(struct pictures *pictures, struct picture_name *name,
		     const struct results *results, uint64_t number)
{
	name->rank = number;
	return 0;
}

static int name_label(struct pictures *pictures, struct picture_name *name,
		      const struct results *results, uint64_t number)
{
	const struct label *label = &results->job->labels.labels[number];
	int status = set_string(pictures, &name->text, label->name);

	return status ? status : set_string(pictures, &name->more, label->category);
}

static int name_device(struct pictures *pictures, struct picture_name *name,
		       const struct results *results, uint64_t number)
{
	units_device(name->dev, (uint32_t)number);
	return 0;
}

static int name_total(struct pictures *pictures, struct picture_name *name,
		      const struct results *results, uint64_t number)
{
	const char *text = totals_group(number);

	return set_text(pictures, &name->text, text, strlen(text));
}

static int (*const naming[PICTURE_KEYS])(struct pictures *, struct picture_name *,
					 const struct results *, uint64_t) = {
	[PICTURE_BY_OPERATION] = name_operation, [PICTURE_BY_FILE] = name_file,
	[PICTURE_BY_PROCESS] = name_process,	 [PICTURE_BY_RANK] = name_rank,
	[PICTURE_BY_SPAN] = name_label,		 [PICTURE_BY_DEVICE] = name_device,
	[PICTURE_BY_ROWS] = name_total,
};

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
			if (!set->series[i].others && naming[key])
				status = naming[key](pictures, &pictures->names[key][i], results,
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
		status = name_file(pictures, &pictures->map_names[i], results, file);
	}
	return status;
}

static int name_spans(struct pictures *pictures, const struct results *results)
{
	const struct picture_spans *spans = &pictures->spans;
	int status = 0;

	for (size_t i = 0; i < spans->reported_count && !status; i++)
		status = name_process(pictures, &pictures->lane_names[i], results,
				      spans->lanes[spans->reported[i]].process);
	pictures->label_count = results->job->labels.count;
	pictures->labels = calloc(pictures->label_count + 1, sizeof(*pictures->labels));
	if (!pictures->labels)
		return -ENOMEM;
	for (size_t i = 0; i < spans->kept_count && !status; i++) {
		struct picture_name *name = &pictures->labels[spans->kept[i].label];

		if (!name->text.bytes)
			status = name_label(pictures, name, results, spans->kept[i].label);
	}
	return status;
}

/* --- the pass --- */

#define OWN_CONSUMERS 4

static int walk(struct pictures *pictures, struct job *job, const struct pictures_options *options,
		struct trace_error *error)
{
	struct walk_consumer consumers[OWN_CONSUMERS + PICTURE_SAMPLED] = {
		{ &picture_course_calls, &pictures->course },
		{ &picture_sums_calls, &pictures->sums },
		{ &picture_grids_calls, &pictures->grids },
		{ &picture_spans_calls, &pictures->spans },
	};
	struct walk pass = {
		.cursor.kinds = ~(1ull << TRACE_FORK | 1ull << TRACE_FILE | 1ull << TRACE_BIO |
				  1ull << TRACE_DEVICE),
		.cursor.bytes_most = job->memory_bytes / 2,
		.cursor.columns[TRACE_REQUEST] = PICTURE_REQUEST_COLUMNS,
		.consumers = consumers,
		.consumer_count = OWN_CONSUMERS,
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
	picture_course_finish(&pictures->course);
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
	pictures->layers = job->layers;
	pictures->lost = job->lost;
	pictures->summed = job->summed;
	pictures->all_summed = job->all_summed;
	if (job->activities)
		activities_restart(job->activities);
	picture_course_init(&pictures->course, job, &pictures->axis);
	picture_spans_init(&pictures->spans, job, &pictures->axis);
	status = picture_sums_init(&pictures->sums, results, &pictures->axis);
	if (!status)
		status = picture_grids_init(&pictures->grids, results,
					    &pictures->sums.sets[PICTURE_BY_FILE], &pictures->axis);
	if (!status)
		status = picture_samples_init(&pictures->samples, results, &pictures->axis);
	if (!status)
		status = walk(pictures, job, options, error);
	if (!status)
		status = picture_spans_finish(&pictures->spans);
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
	for (int key = 0; key < PICTURE_KEYS; key++)
		free(pictures->names[key]);
	free(pictures->labels);
	arena_free(&pictures->arena);
	free(pictures);
}
