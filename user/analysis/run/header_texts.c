/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Collects texts from the headers of a job's traces into table cells. */
#include "analysis/run/header_texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct table *table, struct cell *list, const char *text)
{
	const struct cell copied = { .type = CELL_TEXT, .length = strlen(text), .text = text };

	table_append_text(table, list, &copied);
}

static bool is_listed(const struct cell *list, const char *text)
{
	for (size_t i = 0; i < list->length; i++)
		if (cell_is(&list->texts[i], text))
			return true;
	return false;
}

static const char *text_of(const struct job_trace *trace, enum header_source source)
{
	const char *incomplete;

	switch (source) {
	case HEADER_NAME:
		return trace->name;
	case HEADER_HOST:
		return trace->header->host;
	case HEADER_KERNEL:
		return trace->header->kernel;
	case HEADER_MODE:
		return trace->header->mode;
	case HEADER_START:
		return trace->header->start;
	case HEADER_FLIGHT:
		return trace->header->flight.reason;
	case HEADER_INCOMPLETE:
		incomplete = trace_reader_incomplete(trace->reader);
		return incomplete ? incomplete : trace_reader_damage(trace->reader);
	}
	return NULL;
}

/* Lists the distinct texts of the traces. */
void header_get_list(struct table *table, struct cell *cell, const void *row,
		     const struct table_column *column)
{
	const struct job *job = ((const struct header_texts *)row)->job;

	table_set_texts(table, cell, NULL, 0);
	for (size_t i = 0; i < job->trace_count; i++) {
		const char *text = text_of(&job->traces[i], column->key);

		if (text && !is_listed(cell, text))
			append(table, cell, text);
	}
}

void header_get_joined(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	struct cell list = { .type = CELL_NULL };
	size_t length = 0, at = 0;
	char *joined;

	header_get_list(table, &list, row, column);
	for (size_t i = 0; i < list.length; i++)
		length += list.texts[i].length + 2;
	joined = malloc(length + 1);
	table_fail(table, joined ? 0 : -ENOMEM);
	if (table_status(table) || !list.length)
		goto out;
	for (size_t i = 0; i < list.length; i++)
		at += sprintf(joined + at, "%s%s", i ? ", " : "", list.texts[i].text);
	table_set_text(table, cell, joined, at);
out:
	free(joined);
}

static void set_words(struct table *table, struct cell *cell, const char *const *command)
{
	if (!command)
		return;
	table_set_texts(table, cell, NULL, 0);
	for (; *command; command++)
		append(table, cell, *command);
}

void header_get_command(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column)
{
	const struct header_texts *of = row;

	set_words(table, cell, of->job->traces[0].header->command);
}

void header_get_targets(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column)
{
	const struct header_texts *of = row;

	set_words(table, cell, of->job->traces[0].header->targets);
}

#define NOT_FOLLOWED_MAX 64 /* programs listed */

/* "su (1234)" for each program that was not followed. */
void header_get_not_followed(struct table *table, struct cell *cell, const void *row,
			     const struct table_column *column)
{
	const struct job *job = ((const struct header_texts *)row)->job;

	table_set_texts(table, cell, NULL, 0);
	for (size_t i = 0; i < job->processes.count && cell->length < NOT_FOLLOWED_MAX; i++) {
		const struct process *process = &job->processes.processes[i];
		struct trace_string comm;
		char name[256];

		if (!process->not_followed)
			continue;
		comm = job_comm(job, i);
		snprintf(name, sizeof(name), "%.*s (%u)", (int)comm.length, comm.bytes,
			 process->pid);
		append(table, cell, name);
	}
}
