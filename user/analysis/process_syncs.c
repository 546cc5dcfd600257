/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who syncs: of the job's processes, or of the table "processes" of several reports. Knows nothing
 * of what is concluded from it.
 */
#include <errno.h>

#include "analysis/processes.h"
#include "analysis/report.h"
#include "analysis/trace_table.h"

static int syncs_of_job(const struct measured *measured, uint32_t number,
			struct processes_syncs *view)
{
	const struct job *job = measured->job;
	const struct process *process;
	uint64_t end_ns;

	if (number >= job->processes.count)
		return 0;
	process = &job->processes.processes[number];
	end_ns = process->ended ? process->end_ns : job->end_ns;
	*view = (struct processes_syncs) { .pid = TABLE_NO_UINT };
	if (number == PROCESS_UNKNOWN)
		return 1;
	*view = (struct processes_syncs) {
		.pid = process->pid,
		.rank = process->rank < 0 ? TABLE_NO_UINT : (uint64_t)process->rank,
		.start_ns = clock_subtract(process->start_ns, job->start_ns),
		.end_ns = clock_subtract(end_ns, job->start_ns),
		.syncs = processes_tally(measured, number, IO_SYNC)->count,
		.written_bytes = processes_tally(measured, number, IO_WRITE)->bytes,
	};
	return 1;
}

static uint64_t known_at(const struct table *table, size_t row, const char *name, uint64_t none)
{
	int column = table_find_column(table, name);
	const struct cell *cell = column < 0 ? NULL : &table_row(table, row)[column];

	return cell && (cell->type == CELL_UINT || cell->type == CELL_INT) ? cell->uint : none;
}

static int syncs_of_table(const struct report *report, uint32_t row, struct processes_syncs *view)
{
	const struct table *table = report_by(report, &analysis_processes);
	const struct cell *duration = &report_by(report, &analysis_trace)->cells[ABOUT_DURATION];

	if (table->folded || table->cut)
		return -ENODATA;
	if (row >= table->row_count)
		return 0;
	*view = (struct processes_syncs) {
		.pid = known_at(table, row, "pid", TABLE_NO_UINT),
		.rank = known_at(table, row, "rank", TABLE_NO_UINT),
		.start_ns = known_at(table, row, "start_ns", 0),
		.end_ns = known_at(table, row, "end_ns", duration->uint),
		.syncs = known_at(table, row, "sync.count", 0),
		.written_bytes = known_at(table, row, "write.bytes", 0),
	};
	return 1;
}

int processes_syncs(const struct measured *measured, uint32_t process, struct processes_syncs *view)
{
	return measured->job ? syncs_of_job(measured, process, view)
			     : syncs_of_table(measured->report, process, view);
}
