/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks up results by analysis. */
#include "analysis/shared/results.h"

#include <string.h>

void *results_state(const struct results *results, const struct analysis *analysis)
{
	for (size_t i = 0; results->states && i < results->report->table_count; i++)
		if (results->report->analyses[i] == analysis)
			return results->states[i];
	return NULL;
}

const struct table *report_by(const struct report *report, const struct analysis *analysis)
{
	for (size_t i = 0; i < report->table_count; i++)
		if (report->analyses[i] == analysis)
			return report->tables[i];
	return NULL;
}

const struct table *report_table(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->table_count; i++)
		if (!strcmp(report->tables[i]->name, name))
			return report->tables[i];
	return NULL;
}
