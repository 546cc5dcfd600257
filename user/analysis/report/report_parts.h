/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared by the code that makes reports, from events or from other reports. */
#pragma once

#include "analysis/report/report.h"

/* The registry, in the order of the report. */
const struct analysis *const *report_analyses(size_t *count);
/* Makes a report with an empty table for each analysis. Free it after an error, too. */
int report_new(struct report **report);
/* Sets which columns of a table are shown; a misspelled built-in column name is an error. */
int report_show(const struct analysis *analysis, bool all_aggregated, struct table *table,
		struct trace_error *error);
/* As report_make, for traces with events. */
int report_of_events(struct report **report, struct trace_reader *const *traces,
		     const char *const *names, size_t trace_count,
		     const struct report_options *options, struct trace_error *error);
