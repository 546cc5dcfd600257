/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "programs": processes of one name and rank together, where there are many. Times are
 * sums over processes. Knows nothing of single processes but their names and ranks.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/map.h"
#include "analysis/processes.h"
#include "grow.h"

#define PROCESSES_LEAST 12 /* fewer are as easily read one by one */

struct program_row {
	struct table_text name;
	int64_t rank; /* TABLE_NO_INT: none */
	uint64_t processes, time_ns, read_bytes, write_bytes, fetched_bytes, metadata_calls;
};

struct programs {
	struct program_row *all;
	size_t count, room;
	struct map numbers; /* hash of the name, and rank -> number */
};

static struct program_row *program_of(struct programs *programs, struct table_text name,
				      int64_t rank)
{
	uint64_t key[2] = { map_hash_bytes(&programs->numbers, name.bytes, name.length), rank };
	uint64_t *number;
	bool added;

	if (!GROW(programs->all, programs->room, programs->count + 1))
		return NULL;
	number = map_add(&programs->numbers, key, &added);
	if (!number)
		return NULL;
	if (added) {
		*number = programs->count++;
		programs->all[*number] =
			(struct program_row) { .name = name,
					       .rank = rank >= 0 ? rank : TABLE_NO_INT };
	}
	return &programs->all[*number];
}

static int add_process(struct programs *programs, const struct measured *measured, uint32_t number)
{
	const struct process *process = &measured->job->processes.processes[number];
	struct trace_string comm = job_comm(measured->job, number);
	struct program_row *program = program_of(
		programs, (struct table_text) { comm.bytes, comm.length }, process->rank);

	if (!program)
		return -ENOMEM;
	program->processes++;
	program->time_ns += processes_tally(measured, number, MEASURE_IO)->time.measure;
	program->read_bytes += processes_tally(measured, number, IO_READ)->bytes;
	program->write_bytes += processes_tally(measured, number, IO_WRITE)->bytes;
	program->metadata_calls += processes_tally(measured, number, IO_METADATA)->count;
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		program->fetched_bytes += processes_tally(measured, number, i)->fetched_bytes;
	return 0;
}

static const struct table_column columns[] = {
	{ "name", "program", UNIT_NONE, "name of the program", TABLE_TEXT(struct program_row, name),
	  0 },
	{ "rank", "rank", UNIT_NONE, "rank of its processes", TABLE_INT(struct program_row, rank),
	  0 },
	{ "processes", "processes", UNIT_COUNT, "processes of that name and rank",
	  TABLE_UINT(struct program_row, processes), 0 },
	{ "time_ns", "time", UNIT_NS, "time in I/O, summed over processes",
	  TABLE_UINT(struct program_row, time_ns), 0 },
	{ "read_bytes", "read", UNIT_BYTES, "bytes read by calls",
	  TABLE_UINT(struct program_row, read_bytes), JOB_MOVED },
	{ "write_bytes", "written", UNIT_BYTES, "bytes written by calls",
	  TABLE_UINT(struct program_row, write_bytes), JOB_MOVED },
	{ "fetched_bytes", "from storage", UNIT_BYTES,
	  "bytes brought into the page cache to be read",
	  TABLE_UINT(struct program_row, fetched_bytes), JOB_PAGECACHE },
	{ "metadata_calls", "metadata calls", UNIT_COUNT, "metadata calls",
	  TABLE_UINT(struct program_row, metadata_calls), JOB_SYSCALL },
};

static int compare_programs(const void *left, const void *right)
{
	const struct program_row *a = left, *b = right;

	return a->time_ns > b->time_ns ? -1 : a->time_ns < b->time_ns;
}

static int conclude(const struct measured *measured, struct table *table)
{
	size_t count = measured->job->processes.count;
	struct programs programs = { 0 };
	int status = table_add_columns(table, TABLE_COLUMNS(columns));

	table->recorded = measured->job->layers;
	map_init(&programs.numbers, 2, 1);
	for (uint32_t i = 1; i < count && count > PROCESSES_LEAST && !status; i++)
		status = add_process(&programs, measured, i);
	if (programs.count)
		qsort(programs.all, programs.count, sizeof(*programs.all), compare_programs);
	for (size_t i = 0; i < programs.count && !status; i++)
		status = table_add(table, &programs.all[i]);
	map_free(&programs.numbers);
	free(programs.all);
	return status;
}

const struct analysis analysis_programs = {
	.name = "programs",
	.meaning = "processes of one name and rank together, where there are many",
	.title = "Programs",
	.of_sums = true,
	.shape = TABLE_LIST,
	.by = "time_ns",
	.text_only = true,
	.conclude = conclude,
	.merging = { .alone = true },
};
