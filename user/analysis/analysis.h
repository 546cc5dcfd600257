/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an analysis is: a table, and how it comes about. A new one is a file with a struct analysis
 * and a row of the registry in report.c.
 */
#ifndef FAULTLINE_ANALYSIS_H
#define FAULTLINE_ANALYSIS_H

#include "analysis/event.h"
#include "analysis/table.h"

/*
 * Called in this order: begin; then, in passing, rows and events; fill; end, which is also called
 * after an error. Any but `fill` may be NULL. All return 0 or a negative errno (-ENOMEM).
 */
struct analysis {
	const char *name, *title; /* of its table */
	enum table_shape shape;
	const char *absent; /* not NULL: nothing is called, the table is absent for this reason */
	int (*begin)(const struct job *job, void **state);
	/* Rows of a block; blocks come in no exact order. For what needs neither times nor order.
	 */
	int (*rows)(void *state, const struct rows *rows);
	/* Events of the whole job in the order of their starts. The job's table of processes may
	 * have grown since the last call. */
	int (*events)(void *state, const struct event *events, size_t count);
	/*
	 * A span of the job's spans, by its place there, after it began and before it is closed,
	 * between the events before and after. `events` never gets those of both in one call: which
	 * spans are open is the same for all of them.
	 */
	int (*span_begun)(void *state, uint32_t slot);
	int (*span_ended)(void *state, uint32_t slot);
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
extern const struct analysis analysis_steps;

#endif
