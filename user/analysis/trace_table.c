/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "trace": what ran where, how long, what was recorded of it and what was lost.
 * Knows nothing of single events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

#define LAYERS_MOST 64
#define LAYER_NAME_MOST 32

/* A layer of any of the traces. Numbers of lost events are those of complete traces. */
struct layer {
	const char *name, *attach, *reason;
	bool listed; /* in a header: a layer that could be switched, unlike identities of files */
	bool on;
	uint64_t lost;
};

struct about {
	const struct job *job;
	struct layer layers[LAYERS_MOST];
	size_t layer_count;
	uint64_t rows; /* of incomplete traces: those that are there are all that is known of */
};

enum {
	FILES,
	HOSTS,
	KERNEL,
	COMMAND,
	EXIT_STATUS,
	START_UNIX_NS,
	DURATION_NS,
	MODE,
	COMPLETE,
	INCOMPLETE_REASON,
	EVENTS,
	SURVIVORS,
	NOT_FOLLOWED,
	LOST_TOTAL,
	FIRST_LAYER
};
static const struct table_column columns[] = {
	[FILES] = { "files", "files", UNIT_NONE },
	[HOSTS] = { "hosts", "hosts", UNIT_NONE },
	[KERNEL] = { "kernel", "kernel", UNIT_NONE },
	[COMMAND] = { "command", "command", UNIT_NONE },
	[EXIT_STATUS] = { "exit_code", "exit status", UNIT_NONE },
	[START_UNIX_NS] = { "start_unix_ns", NULL, UNIT_NONE },
	[DURATION_NS] = { "duration_ns", "duration", UNIT_NS },
	[MODE] = { "mode", "mode", UNIT_NONE },
	[COMPLETE] = { "complete", "complete", UNIT_NONE },
	[INCOMPLETE_REASON] = { "incomplete_reason", "why incomplete", UNIT_NONE },
	[EVENTS] = { "events", "events", UNIT_COUNT },
	[SURVIVORS] = { "survivors", "processes that outlived the run", UNIT_COUNT },
	[NOT_FOLLOWED] = { "not_followed", "programs not followed", UNIT_NONE },
	[LOST_TOTAL] = { "lost.total", "lost events", UNIT_COUNT },
};

/* Columns of each layer, in this order; the first alone for those that no header lists. */
enum { LAYER_LOST, LAYER_STATE, LAYER_ATTACH, LAYER_REASON, LAYER_COLUMNS };
static const struct {
	const char *name, *title; /* around the layer's name */
	enum table_unit unit;
} layer_columns[LAYER_COLUMNS] = {
	[LAYER_LOST] = { "lost.by_layer.%s", "lost events of %s", UNIT_COUNT },
	[LAYER_STATE] = { "layers.%s.state", "layer %s", UNIT_NONE },
	[LAYER_ATTACH] = { "layers.%s.attach", "layer %s attached by", UNIT_NONE },
	[LAYER_REASON] = { "layers.%s.reason", "layer %s: note", UNIT_NONE },
};

/* --- layers --- */

/* Names become names of columns: nothing but what a layer could be called. */
static bool name_fits(const char *name)
{
	size_t length =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return length && length <= LAYER_NAME_MOST && !name[length];
}

static struct layer *layer_of(struct about *about, const char *name)
{
	if (!name_fits(name))
		return NULL;
	for (size_t i = 0; i < about->layer_count; i++)
		if (!strcmp(about->layers[i].name, name))
			return &about->layers[i];
	if (about->layer_count == LAYERS_MOST)
		return NULL;
	about->layers[about->layer_count].name = name;
	return &about->layers[about->layer_count++];
}

/* A layer is on if any trace has it; why it is off in another remains to be read. */
static void take_layers(struct about *about, const struct job_trace *trace)
{
	for (size_t i = 0; i < trace->header->layer_count; i++) {
		const struct trace_layer *from = &trace->header->layers[i];
		struct layer *layer = layer_of(about, from->name);

		if (!layer)
			continue;
		layer->listed = true;
		layer->on |= from->on;
		if (!layer->attach)
			layer->attach = from->attach;
		if (!layer->reason)
			layer->reason = from->reason;
	}
	for (size_t i = 0; trace->totals && i < trace->totals->kind_count; i++) {
		const struct trace_kind_total *kind = &trace->totals->kinds[i];
		struct layer *layer = kind->events ? layer_of(about, kind->layer) : NULL;

		if (layer)
			layer->lost = clock_add(layer->lost, kind->lost);
	}
}

static unsigned int columns_of(const struct layer *layer)
{
	return layer->listed ? LAYER_COLUMNS : LAYER_LOST + 1;
}

static int add_layer_columns(struct table *table, const struct layer *layer)
{
	char name[96], title[96];
	int status = 0;

	for (unsigned int i = 0; i < columns_of(layer) && !status; i++) {
		snprintf(name, sizeof(name), layer_columns[i].name, layer->name);
		snprintf(title, sizeof(title), layer_columns[i].title, layer->name);
		status = table_add_column(table, name, title, layer_columns[i].unit);
	}
	return status;
}

static int set_layer(struct table *table, struct cell *cells, const struct about *about,
		     const struct layer *layer)
{
	const char *state = layer->on ? "on" : "off";
	int status;

	if ((layer->on || !layer->listed) && about->job->complete)
		cell_uint(&cells[LAYER_LOST], layer->lost);
	if (!layer->listed)
		return 0;
	status = table_set_text(table, &cells[LAYER_STATE], state, strlen(state));
	if (!status && layer->attach)
		status = table_set_text(table, &cells[LAYER_ATTACH], layer->attach,
					strlen(layer->attach));
	if (!status && layer->reason)
		status = table_set_text(table, &cells[LAYER_REASON], layer->reason,
					strlen(layer->reason));
	return status;
}

/* --- texts --- */

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

static const char *name_of(const struct job_trace *trace)
{
	return trace->name;
}

static const char *incomplete_of(const struct job_trace *trace)
{
	return trace_reader_incomplete(trace->reader);
}

/* What the traces say, each text once: a list if `list`, or else the texts with commas between. */
static int set_each(struct table *table, struct cell *cell, const struct job *job,
		    const char *(*of)(const struct job_trace *), bool list)
{
	struct cell *texts = calloc(job->trace_count, sizeof(*texts));
	size_t count = 0, length = 0;
	char *joined = NULL;
	int status = -ENOMEM;

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < job->trace_count; i++) {
		const char *text = of(&job->traces[i]);

		if (!text || is_listed(texts, count, text))
			continue;
		texts[count++] = text_cell(text);
		length += strlen(text) + 2;
	}
	if (list) {
		status = table_set_texts(table, cell, texts, count);
		goto out;
	}
	joined = malloc(length + 1);
	if (!joined)
		goto out;
	joined[0] = '\0';
	length = 0;
	for (size_t i = 0; i < count; i++) {
		length += sprintf(joined + length, "%s%s", i ? ", " : "", texts[i].text);
	}
	status = count ? table_set_text(table, cell, joined, length) : 0;
out:
	free(joined);
	free(texts);
	return status;
}

/* Of the first trace: ranks of one job run one command. */
static int set_command(struct table *table, struct cell *cell, const struct job *job)
{
	const char *const *command = job->traces[0].header->command;
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

#define NOT_FOLLOWED_MOST 64 /* programs that are named */

/* "su (1234)" for each program that was not followed into. */
static int set_not_followed(struct table *table, struct cell *cell, const struct job *job)
{
	struct cell texts[NOT_FOLLOWED_MOST] = { 0 };
	char *names[NOT_FOLLOWED_MOST];
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < job->processes.count && count < NOT_FOLLOWED_MOST && !status; i++) {
		const struct process *process = &job->processes.processes[i];
		struct trace_string comm;
		int length;

		if (!process->not_followed)
			continue;
		comm = trace_reader_string(job->traces[process->trace].reader, process->comm);
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

/* --- numbers --- */

/* 0 only if all commands ended so; else the first other status. Null when one is not known. */
static void set_exit_code(struct cell *cell, const struct job *job)
{
	int64_t code = 0;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		if (!totals || totals->exit_code < 0)
			return;
		if (!code)
			code = totals->exit_code;
	}
	cell_int(cell, code);
}

static uint64_t count_events(const struct about *about)
{
	uint64_t events = about->rows;

	for (size_t i = 0; i < about->job->trace_count; i++) {
		const struct trace_totals *totals = about->job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			events = clock_add(events, totals->kinds[j].events);
	}
	return events;
}

static uint64_t count_survivors(const struct job *job)
{
	uint64_t survivors = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		survivors += job->traces[i].totals ? job->traces[i].totals->survivor_count : 0;
	return survivors;
}

static void set_numbers(struct cell *row, const struct about *about)
{
	const struct job *job = about->job;

	set_exit_code(&row[EXIT_STATUS], job);
	cell_uint(&row[START_UNIX_NS], job->start_ns);
	cell_uint(&row[DURATION_NS], clock_subtract(job->end_ns, job->start_ns));
	cell_bool(&row[COMPLETE], job->complete);
	cell_uint(&row[EVENTS], count_events(about));
	/* How much is missing of an incomplete trace is not known: null, not 0. */
	if (job->complete) {
		cell_uint(&row[SURVIVORS], count_survivors(job));
		cell_uint(&row[LOST_TOTAL], job->lost);
	}
}

static int begin(const struct job *job, void **state)
{
	struct about *about = calloc(1, sizeof(*about));

	if (!about)
		return -ENOMEM;
	about->job = job;
	*state = about;
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];
		size_t blocks = trace_reader_block_count(trace->reader);

		take_layers(about, trace);
		for (size_t j = 0; j < blocks && !trace->totals; j++)
			about->rows += trace_reader_block_info(trace->reader, j)->rows;
	}
	return 0;
}

static int fill(void *state, struct table *table)
{
	const struct about *about = state;
	const struct job *job = about->job;
	struct cell *row, *cells;
	int status = table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < about->layer_count && !status; i++)
		status = add_layer_columns(table, &about->layers[i]);
	if (!status)
		status = table_add_row(table, &row);
	if (!status)
		status = set_each(table, &row[FILES], job, name_of, true);
	if (!status)
		status = set_each(table, &row[HOSTS], job, host_of, true);
	if (!status)
		status = set_each(table, &row[KERNEL], job, kernel_of, false);
	if (!status)
		status = set_each(table, &row[MODE], job, mode_of, false);
	if (!status)
		status = set_each(table, &row[INCOMPLETE_REASON], job, incomplete_of, false);
	if (!status)
		status = set_command(table, &row[COMMAND], job);
	if (!status)
		status = set_not_followed(table, &row[NOT_FOLLOWED], job);
	if (status)
		return status;
	cells = row + FIRST_LAYER;
	for (size_t i = 0; i < about->layer_count && !status; i++) {
		status = set_layer(table, cells, about, &about->layers[i]);
		cells += columns_of(&about->layers[i]);
	}
	set_numbers(row, about);
	return status;
}

const struct analysis analysis_trace = {
	.name = "trace",
	.title = "Trace",
	.shape = TABLE_RECORD,
	.begin = begin,
	.fill = fill,
	.end = free,
};
