/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "programs": processes with the same name and rank grouped, if there are many. Times are
 * sums over processes.
 */
#include <errno.h>
#include <stdlib.h>

#include "collections/compare.h"
#include "collections/map.h"
#include "analysis/processes/processes.h"

#define PROCESSES_MIN 12 /* fewer are easy to read one by one */

struct program_row {
	struct table_text name;
	int64_t rank;	 /* TABLE_NO_INT: none */
	uint32_t number; /* before sorting */
	uint64_t processes, time_ns, read_bytes, write_bytes, fetched_bytes, metadata_calls;
};

struct programs {
	struct arena *arena;
	struct program_row *all;
	size_t count, room;
	struct map numbers; /* name hash and rank -> number */
	/* Per process, if there are many: its program, from 1; where its time ends in plots. */
	uint32_t *program_of;
	uint64_t *ends_ns;
	size_t process_count;
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct programs *programs = state;

	programs->arena = arena;
	map_init_in(&programs->numbers, arena, 2, 1);
}

static struct program_row *program_of(struct programs *programs, struct table_text name,
				      int64_t rank)
{
	uint64_t key[2] = { map_hash_bytes(&programs->numbers, name.bytes, name.length), rank };
	struct program_row *program;
	bool added;

	program = MAP_ITEM(&programs->numbers, key, programs->all, programs->room, programs->count,
			   &added);
	if (program && added)
		*program = (struct program_row) { .name = name,
						  .number = program - programs->all,
						  .rank = rank >= 0 ? rank : TABLE_NO_INT };
	return program;
}

static void add_process(struct programs *programs, const struct results *results, uint32_t number)
{
	const struct process *process = &results->job->processes.processes[number];
	struct trace_string comm = job_comm(results->job, number);
	struct program_row *program = program_of(
		programs, (struct table_text) { comm.bytes, comm.length }, process->rank);

	if (!program)
		return;
	programs->program_of[number] = program->number + 1;
	program->processes++;
	program->time_ns += processes_tally(results, number, MEASURE_IO)->time.measure;
	program->read_bytes += processes_tally(results, number, IO_READ)->bytes;
	program->write_bytes += processes_tally(results, number, IO_WRITE)->bytes;
	program->metadata_calls += processes_tally(results, number, IO_METADATA)->count;
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		program->fetched_bytes += processes_tally(results, number, i)->fetched_bytes;
}

static const struct table_column columns[] = {
	COLUMN(program_row, name, "program", NONE, FACT, "name of the program"),
	COLUMN(program_row, rank, "rank", NONE, FACT, "rank of its processes"),
	COLUMN(program_row, processes, "processes", COUNT, SUM, "processes of that name and rank"),
	COLUMN(program_row, time_ns, "time", NS, UNION, "I/O time, summed over processes", 0,
	       STRETCH(TIME)),
	COLUMN(program_row, read_bytes, "read", BYTES, SUM, "bytes read by calls", JOB_MOVED,
	       STRETCH(READ_BYTES)),
	COLUMN(program_row, write_bytes, "written", BYTES, SUM, "bytes written by calls", JOB_MOVED,
	       STRETCH(WRITE_BYTES)),
	COLUMN(program_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, readahead included", JOB_PAGECACHE,
	       STRETCH(FETCHED)),
	COLUMN(program_row, metadata_calls, "metadata calls", COUNT, SUM,
	       "number of metadata calls", JOB_SYSCALL, STRETCH(METADATA_CALLS)),
};

COMPARE_BY(compare_programs, struct program_row, COMPARE(b->time_ns, a->time_ns))

static void add_programs(struct programs *programs, const struct results *results,
			 struct table *table)
{
	size_t count = results->job->processes.count;
	uint32_t *rows;

	programs->process_count = count;
	programs->program_of = arena_alloc(programs->arena, count * sizeof(*programs->program_of));
	for (uint32_t i = 1; programs->program_of && i < count; i++)
		add_process(programs, results, i);
	rows = arena_alloc(programs->arena, (programs->count + 1) * sizeof(*rows));
	if (!rows)
		return;
	if (programs->count)
		qsort(programs->all, programs->count, sizeof(*programs->all), compare_programs);
	for (size_t i = 0; i < programs->count; i++) {
		rows[programs->all[i].number + 1] = i + 1;
		table_add(table, &programs->all[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		programs->program_of[i] = rows[programs->program_of[i]];
}

static void conclude(const struct results *results, struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = results->job->layers;
	if (results->job->processes.count <= PROCESSES_MIN)
		return;
	add_programs(results_state(results, &analysis_programs), results, table);
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	struct programs *programs = state;
	uint32_t number = event->process;

	if (event->class == IO_NONE || number >= programs->process_count ||
	    !programs->program_of[number])
		return 0;
	if (!programs->ends_ns)
		programs->ends_ns = arena_alloc(
			programs->arena, programs->process_count * sizeof(*programs->ends_ns));
	if (!programs->ends_ns)
		return -ENOMEM;
	rows[0] = (struct row_of) { .row = programs->program_of[number] - 1,
				    .end_ns = &programs->ends_ns[number] };
	return 1;
}

const struct analysis analysis_programs = {
	.name = "programs",
	.meaning = "processes grouped by name and rank, if there are many",
	.title = "Programs",
	.aggregated_ok = true,
	.shape = TABLE_LIST,
	.by = "time_ns",
	.text_only = true,
	.state_bytes = sizeof(struct programs),
	.begin = begin,
	.conclude = conclude,
	.rows_of = rows_of,
	.merging = { .alone = true },
};
