/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums by file and writer, and the nested tables that list a file's writers. */
#include "analysis/devices/writers.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/shared/trace_text.h"
#include "collections/compare.h"

#define SUM_WORDS (sizeof(struct writer_sums) / sizeof(uint64_t))

void writer_sums_add(struct writer_sums *sums, const struct writer_sums *more)
{
	sums->call_bytes += more->call_bytes;
	sums->stored_bytes += more->stored_bytes;
	sums->dirtied_bytes += more->dirtied_bytes;
	sums->pauses += more->pauses;
	sums->pause_ns += more->pause_ns;
}

void writers_init(struct writers *writers, struct arena *arena, const struct job *job)
{
	writers->job = job;
	for (int by = 0; by < WRITERS_KEYS; by++)
		map_init_in(&writers->sums[by], arena, 1, SUM_WORDS);
}

static int add(struct writers *writers, enum writers_by by, uint32_t file, uint32_t who,
	       const struct writer_sums *sums)
{
	uint64_t key = (uint64_t)file << 32 | who;
	bool added;
	void *found = map_add(&writers->sums[by], &key, &added);

	if (!found)
		return -ENOMEM;
	writer_sums_add(found, sums);
	return 0;
}

int writers_add(struct writers *writers, const struct event *event, const struct writer_sums *sums)
{
	const struct job *job = writers->job;
	uint32_t label;
	int status = add(writers, WRITERS_BY_PROCESS, event->file, event->process, sums);

	if (status || !(job->layers & JOB_SPAN))
		return status;
	label = open_spans_label(&job->spans, &job->processes, event->process, event->thread);
	return label == SPAN_NONE ? 0 : add(writers, WRITERS_BY_SPAN, event->file, label, sums);
}

static int compare_writers(const void *left, const void *right)
{
	const struct writer *a = left, *b = right;
	uint64_t a_bytes = writer_sums_bytes(&a->sums), b_bytes = writer_sums_bytes(&b->sums);

	return COMPARE(a->file, b->file) ?: COMPARE(b_bytes, a_bytes) ?: COMPARE(a->who, b->who);
}

struct writer *writers_list(const struct writers *writers, enum writers_by by, size_t *count)
{
	struct writer *list =
		arena_alloc(writers->sums[by].arena, (writers->sums[by].count + 1) * sizeof(*list));
	const uint64_t *key;
	uint64_t *value;
	size_t at = 0;

	*count = 0;
	while (list && map_next(&writers->sums[by], &at, &key, &value))
		list[(*count)++] = (struct writer) {
			.file = *key >> 32,
			.who = (uint32_t)*key,
			.sums = *(const struct writer_sums *)value,
		};
	if (list)
		qsort(list, *count, sizeof(*list), compare_writers);
	return list;
}

/* --- tables within --- */

struct writers_row {
	struct writer_sums sums;
	uint64_t device_bytes, pid;
	struct table_text name, category;
};

static const struct table_column sum_columns[] = {
	COLUMN_AS("written_bytes", writers_row, sums.call_bytes, NULL, BYTES, SUM,
		  "bytes written by calls", JOB_SYSCALL),
	COLUMN_AS("stored_bytes", writers_row, sums.stored_bytes, NULL, BYTES, SUM,
		  "bytes of pages faulted on by stores", JOB_FAULT),
	COLUMN_AS("dirtied_bytes", writers_row, sums.dirtied_bytes, NULL, BYTES, SUM,
		  "bytes of whole folios dirtied by stores", JOB_DIRTIED),
	COLUMN_AS("pause_ns", writers_row, sums.pause_ns, NULL, NS, SUM,
		  "time the writer was throttled, summed over threads", JOB_THROTTLED),
	COLUMN(writers_row, device_bytes, NULL, BYTES, SUM,
	       "bytes of the file written to the device, by the writer's share of the dirtied "
	       "bytes",
	       JOB_BLOCK),
};

static const struct table_column process_columns[] = {
	COLUMN(writers_row, pid, NULL, NONE, FACT, "process ID"),
	COLUMN_AS("comm", writers_row, name, NULL, NONE, FACT, "name of the process"),
};

static const struct table_column span_columns[] = {
	COLUMN(writers_row, name, NULL, NONE, FACT, "name of the span"),
	COLUMN(writers_row, category, NULL, NONE, FACT, "category of the span"),
};

static uint64_t share_of(const struct writer_list *list, const struct writer *writer)
{
	if (list->device_bytes == TABLE_NO_UINT || !list->all_bytes)
		return TABLE_NO_UINT;
	return (unsigned __int128)list->device_bytes * writer_sums_bytes(&writer->sums) /
	       list->all_bytes;
}

static void name_process(const struct job *job, uint32_t who, struct writers_row *line)
{
	line->pid = job->processes.processes[who].pid;
	line->name = trace_text(job_comm(job, who));
}

static void name_span(const struct job *job, uint32_t who, struct writers_row *line)
{
	line->name = trace_text(job->labels.labels[who].name);
	line->category = trace_text(job->labels.labels[who].category);
}

static void get_list(struct table *table, struct cell *cell, const struct writer_list *list,
		     const struct table_column *columns, size_t column_count,
		     void (*name)(const struct job *job, uint32_t who, struct writers_row *line))
{
	struct table *within = table_set_table(table, cell, TABLE_LIST);

	table_add_columns(within, columns, column_count);
	table_add_columns(within, TABLE_COLUMNS(sum_columns));
	for (size_t i = 0; i < list->count; i++) {
		struct writers_row line = {
			.sums = list->of[i].sums,
			.device_bytes = share_of(list, &list->of[i]),
		};

		name(list->writers->job, list->of[i].who, &line);
		table_add(within, &line);
	}
}

void writers_get_processes(struct table *table, struct cell *cell, const void *row,
			   const struct table_column *column)
{
	get_list(table, cell, (const void *)((const char *)row + column->key),
		 TABLE_COLUMNS(process_columns), name_process);
}

void writers_get_spans(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	get_list(table, cell, (const void *)((const char *)row + column->key),
		 TABLE_COLUMNS(span_columns), name_span);
}
