/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report of an empty trace: which tables and columns exist. */
#include "analysis/report/report.h"
#include "analysis/shared/rollup.h"
#include "command/common/no_trace.h"

int no_trace_report(struct report **report, struct trace_reader **reader,
		    const struct rollup_key *key)
{
	const struct report_options all = { .key = key };
	struct trace_error error = { "" };
	const char *name = "";
	int status;

	*report = NULL;
	*reader = NULL;
	status = no_trace_open(reader);
	return status ? status : report_make(report, reader, &name, 1, &all, &error);
}
