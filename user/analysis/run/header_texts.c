/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Collects texts from the headers of a job's traces into table cells.
 */
#include "analysis/run/header_texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cell text_cell(const char *text)
{
	return (struct cell) { .type = CELL_TEXT, .length = strlen(text), .text = text };
}

static bool is_listed(const struct cell *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(texts[i].text, text))
			return true;
	return false;
}

static const char *host_of(const struct job_trace *trace)
{
	return trace->header->host;
}

static const char *kernel_of(const struct job_trace *trace)
{
	return trace->header->kernel;
}

static const char *mode_of(const struct job_trace *trace)
{
	return trace->header->mode;
}

static const char *start_of(const struct job_trace *trace)
{
	return trace->header->start;
}

static const char *flight_of(const struct job_trace *trace)
{
	return trace->header->flight.reason;
}

static const char *name_of(const struct job_trace *trace)
{
	return trace->name;
}

static const char *incomplete_of(const struct job_trace *trace)
{
	const char *reason = trace_reader_incomplete(trace->reader);

	return reason ? reason : trace_reader_damage(trace->reader);
}

/* Collects the distinct texts of the traces; the caller frees *texts. */
static int collect(const struct job *job, const char *(*of)(const struct job_trace *),
		   struct cell **texts, size_t *count)
{
	*count = 0;
	*texts = calloc(job->trace_count, sizeof(**texts));
	if (!*texts)
		return -ENOMEM;
	for (size_t i = 0; i < job->trace_count; i++) {
		const char *text = of(&job->traces[i]);

		if (text && !is_listed(*texts, *count, text))
			(*texts)[(*count)++] = text_cell(text);
	}
	return 0;
}

/* Source of a column's texts. */
static const char *(*const sources[])(const struct job_trace *) = {
	[HEADER_NAME] = name_of,     [HEADER_HOST] = host_of,	[HEADER_KERNEL] = kernel_of,
	[HEADER_MODE] = mode_of,     [HEADER_START] = start_of, [HEADER_INCOMPLETE] = incomplete_of,
	[HEADER_FLIGHT] = flight_of,
};

int header_get_list(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	const struct header_texts *of = row;
	struct cell *texts;
	size_t count;
	int status = collect(of->job, sources[column->key], &texts, &count);

	if (!status)
		status = table_set_texts(table, cell, texts, count);
	free(texts);
	return status;
}

int header_get_joined(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	const struct header_texts *of = row;
	struct cell *texts;
	char *joined = NULL;
	size_t count, length = 0, at = 0;
	int status = collect(of->job, sources[column->key], &texts, &count);

	for (size_t i = 0; i < count; i++)
		length += texts[i].length + 2;
	if (!status) {
		joined = malloc(length + 1);
		status = joined ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < count && !status; i++)
		at += sprintf(joined + at, "%s%s", i ? ", " : "", texts[i].text);
	if (!status && count)
		status = table_set_text(table, cell, joined, at);
	free(joined);
	free(texts);
	return status;
}

static int get_words(struct table *table, struct cell *cell, const char *const *command)
{
	struct cell *texts;
	size_t count = 0;
	int status;

	if (!command)
		return 0;
	while (command[count])
		count++;
	texts = calloc(count ? count : 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		texts[i] = text_cell(command[i]);
	status = table_set_texts(table, cell, texts, count);
	free(texts);
	return status;
}

int header_get_command(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	const struct header_texts *of = row;

	return get_words(table, cell, of->job->traces[0].header->command);
}

int header_get_targets(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	const struct header_texts *of = row;

	return get_words(table, cell, of->job->traces[0].header->targets);
}

#define NOT_FOLLOWED_MAX 64 /* programs listed */

/* "su (1234)" for each program that was not followed. */
int header_get_not_followed(struct table *table, struct cell *cell, const void *row,
			    const struct table_column *column)
{
	const struct job *job = ((const struct header_texts *)row)->job;
	struct cell texts[NOT_FOLLOWED_MAX] = { 0 };
	char *names[NOT_FOLLOWED_MAX];
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < job->processes.count && count < NOT_FOLLOWED_MAX && !status; i++) {
		const struct process *process = &job->processes.processes[i];
		struct trace_string comm;
		int length;

		if (!process->not_followed)
			continue;
		comm = job_comm(job, i);
		length = asprintf(&names[count], "%.*s (%u)", (int)comm.length, comm.bytes,
				  process->pid);
		if (length < 0) {
			status = -ENOMEM;
			break;
		}
		texts[count] =
			(struct cell) { .type = CELL_TEXT, .length = length, .text = names[count] };
		count++;
	}
	if (!status)
		status = table_set_texts(table, cell, texts, count);
	while (count)
		free(names[--count]);
	return status;
}
