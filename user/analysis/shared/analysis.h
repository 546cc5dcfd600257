/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An analysis: a table and the callbacks that fill it. To add one, write a file with a struct
 * analysis and add a row to the registry in report/report.c.
 */
#pragma once

#include "analysis/table/merging.h"
#include "analysis/shared/sampled.h"
#include "analysis/table/table.h"
#include "analysis/order/walk.h"

struct results;
struct report;

/* A row that an event belongs to. */
struct row_of {
	uint32_t row;
	bool marked;	  /* the event also counts as something that the analysis names */
	uint64_t *end_ns; /* end of the union that the time is merged into; NULL: the row's */
};
#define ROWS_OF_MAX 10

/*
 * Call order: begin; the walk callbacks it sets; fill; conclude, after every fill(). At least one
 * of `fill` and `conclude` is required; the others may be NULL.
 *
 * An analysis with `state_bytes` has a state, zeroed, and an arena for all that the state points
 * to: both are freed with the report's other data. Errors of begin, fill and conclude are left in
 * the arena or in the table (table_fail).
 */
struct analysis {
	const char *name, *title; /* of the table */
	const char *meaning;	  /* one line for --list-tables */
	enum table_shape shape;
	/* What users see, see table_show: columns, most important first; the column that rows are
	 * sorted by and whose share is shown; the column that selects rows. */
	const char *shown, *by, *only;
	const char *shown_aggregated; /* replaces `shown` for aggregated data; NULL: the same */
	const char *share;	      /* title of the share column; NULL: "of I/O" */
	bool text_only;		      /* other tables have the same numbers: left out of JSON */
	bool heat, merges;	      /* see struct table_view */
	bool aggregated_ok; /* available in mode profile (aggregated in the kernel); others are
			       absent */
	bool counted;	    /* its thread times are the kernel's totals: see lower_bounds.h */
	const char *absent; /* if not NULL, no callback is called; why the table is absent */
	size_t state_bytes;
	void (*begin)(void *state, const struct job *job, struct arena *arena);
	struct walk_calls consumer;
	uint64_t columns[TRACE_KIND_COUNT]; /* per kind, the columns it passes to event_value */
	void (*fill)(void *state, struct table *table);
	void (*conclude)(const struct results *results, struct table *table);
	/* For plots, whose events pass after the tables are filled: the rows that an event, or a
	 * span that begins or has ended, belongs to. Return the number of rows or -ENOMEM. */
	int (*rows_of)(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX]);
	int (*rows_of_span)(void *state, uint32_t slot, bool begins,
			    struct row_of rows[ROWS_OF_MAX]);
	/* Alternatively, if rows do not follow from a single event: monotonic counters. NULL:
	 * none. */
	const struct sampled *sampled;
	/* How tables of several reports are merged, and what is recomputed afterwards: derived
	 * columns and row order. NULL: nothing. */
	struct merging merging;
	void (*remake)(const struct report *report, struct table *table);
};

extern const struct analysis analysis_trace;
extern const struct analysis analysis_totals;
extern const struct analysis analysis_methods;
extern const struct analysis analysis_operations;
extern const struct analysis analysis_files;
extern const struct analysis analysis_failed_lookups;
extern const struct analysis analysis_reopens;
extern const struct analysis analysis_lifetimes;
extern const struct analysis analysis_advice;
extern const struct analysis analysis_io_patterns;
extern const struct analysis analysis_processes;
extern const struct analysis analysis_programs;
extern const struct analysis analysis_starts;
extern const struct analysis analysis_writeback;
extern const struct analysis analysis_spans;
extern const struct analysis analysis_span_states;
extern const struct analysis analysis_overlap;
extern const struct analysis analysis_ranks;
extern const struct analysis analysis_levels;
extern const struct analysis analysis_epochs;
extern const struct analysis analysis_steps;
extern const struct analysis analysis_findings;
extern const struct analysis analysis_timeline;
extern const struct analysis analysis_access;
extern const struct analysis analysis_paths;
extern const struct analysis analysis_caveats;
extern const struct analysis analysis_threads;
extern const struct analysis analysis_thread_kinds;
extern const struct analysis analysis_thread_ranks;
extern const struct analysis analysis_thread_processes;
extern const struct analysis analysis_critical_path;
extern const struct analysis analysis_lines;
extern const struct analysis analysis_functions;
extern const struct analysis analysis_devices;
extern const struct analysis analysis_device_heat;
extern const struct analysis analysis_device_users;
extern const struct analysis analysis_readahead;
extern const struct analysis analysis_latency_breakdown;
extern const struct analysis analysis_chain_spans;
extern const struct analysis analysis_slowest;
