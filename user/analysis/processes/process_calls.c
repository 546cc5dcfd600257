/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads, writes and syncs by process: from the job, or from the table "processes" of merged
 * reports.
 */
#include <errno.h>

#include "analysis/processes/processes.h"
#include "analysis/shared/results.h"
#include "analysis/run/trace_table.h"
#include "base/number.h"

static int calls_of_job(const struct results *results, uint32_t number,
			struct processes_calls *view)
{
	const struct job *job = results->job;
	const struct tally *reads, *writes, *syncs;
	const struct process *process;
	uint64_t end_ns;

	if (number >= job->processes.count)
		return 0;
	process = &job->processes.processes[number];
	end_ns = process->ended ? process->end_ns : job->end_ns;
	*view = (struct processes_calls) { .pid = TABLE_NO_UINT, .rank = TABLE_NO_UINT };
	if (number == PROCESS_UNKNOWN)
		return 1;
	reads = processes_tally(results, number, IO_READ);
	writes = processes_tally(results, number, IO_WRITE);
	syncs = processes_tally(results, number, IO_SYNC);
	*view = (struct processes_calls) {
		.pid = process->pid,
		.rank = process->rank < 0 ? TABLE_NO_UINT : (uint64_t)process->rank,
		.start_ns = number_sub(process->start_ns, job->start_ns),
		.end_ns = number_sub(end_ns, job->start_ns),
		.syncs = syncs->count,
		.read_bytes = reads->bytes,
		.written_bytes = writes->bytes,
		.fetched_bytes = reads->fetched_bytes,
		.moving_ns = reads->time.measure + writes->time.measure + syncs->time.measure,
	};
	return 1;
}

static uint64_t known_at(const struct table *table, size_t row, const char *name, uint64_t none)
{
	int column = table_find_column(table, name);
	const struct cell *cell = column < 0 ? NULL : &table_row(table, row)[column];

	return cell && (cell->type == CELL_UINT || cell->type == CELL_INT) ? cell->uint : none;
}

static int calls_of_table(const struct report *report, uint32_t row, struct processes_calls *view)
{
	const struct table *table = report_by(report, &analysis_processes);
	const struct cell *duration = &report_by(report, &analysis_trace)->cells[ABOUT_DURATION];

	if (table->folded || table->cut)
		return -ENODATA;
	if (row >= table->row_count)
		return 0;
	*view = (struct processes_calls) {
		.pid = known_at(table, row, "pid", TABLE_NO_UINT),
		.rank = known_at(table, row, "rank", TABLE_NO_UINT),
		.start_ns = known_at(table, row, "start_ns", 0),
		.end_ns = known_at(table, row, "end_ns", duration->uint),
		.syncs = known_at(table, row, "sync.count", 0),
		.read_bytes = known_at(table, row, "read.bytes", 0),
		.written_bytes = known_at(table, row, "write.bytes", 0),
		.fetched_bytes = known_at(table, row, "read.fetched_bytes", 0),
		.moving_ns = known_at(table, row, "read.time_ns", 0) +
			     known_at(table, row, "write.time_ns", 0) +
			     known_at(table, row, "sync.time_ns", 0),
	};
	return 1;
}

int processes_calls(const struct results *results, uint32_t process, struct processes_calls *view)
{
	return results->job ? calls_of_job(results, process, view)
			    : calls_of_table(results->report, process, view);
}
