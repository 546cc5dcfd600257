/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an analysis is: a table, and how it comes about. A new one is a file with a struct analysis
 * and a row of the registry in report.c.
 */
#ifndef FAULTLINE_ANALYSIS_H
#define FAULTLINE_ANALYSIS_H

#include "analysis/table.h"
#include "analysis/walk.h"

/*
 * Called in this order: begin; then what it wants to know in passing; fill; end, which is also
 * called after an error. Any but `fill` may be NULL. All return 0 or a negative errno (-ENOMEM).
 */
struct analysis {
	const char *name, *title; /* of its table */
	enum table_shape shape;
	const char *absent; /* not NULL: nothing is called, the table is absent for this reason */
	int (*begin)(const struct job *job, void **state);
	struct walk_calls passing;
	uint64_t columns[TRACE_KIND_COUNT]; /* of each kind, those that it asks event_value for */
	int (*fill)(void *state, struct table *table);
	void (*end)(void *state);
};

extern const struct analysis analysis_trace;
extern const struct analysis analysis_totals;
extern const struct analysis analysis_doors;
extern const struct analysis analysis_operations;
extern const struct analysis analysis_files;
extern const struct analysis analysis_failed_lookups;
extern const struct analysis analysis_processes;
extern const struct analysis analysis_spans;
extern const struct analysis analysis_overlap;
extern const struct analysis analysis_levels;
extern const struct analysis analysis_epochs;
extern const struct analysis analysis_steps;

#endif
