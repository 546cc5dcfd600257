/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why a report has no findings, in words. */
#include "analysis/report/report.h"

#include "analysis/run/trace_table.h"
#include "analysis/totals/access.h"

const char *report_why_no_findings(const struct report *report)
{
	const struct table *trace = report_by(report, &analysis_trace);
	const struct table *access = report_by(report, &analysis_access);

	if (trace->cells[ABOUT_DURATION].type != CELL_UINT)
		return "No findings: the trace has no events";
	return access->row_count && access->cells[ACCESS_TIME].type == CELL_UINT
		       ? "No findings: no known problem costs ≥ 0.2% of the run"
		       : "No findings: no I/O layer was recorded";
}
