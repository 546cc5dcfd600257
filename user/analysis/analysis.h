/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an analysis is: a table, and how it comes about. A new one is a file with a struct analysis
 * and a row of the registry in report/report.c.
 */
#ifndef FAULTLINE_ANALYSIS_H
#define FAULTLINE_ANALYSIS_H

#include "analysis/table/merging.h"
#include "analysis/sampled.h"
#include "analysis/table/table.h"
#include "analysis/model/walk.h"

struct measured;
struct report;

/* A row that an event is in. */
struct row_of {
	uint32_t row;
	bool marked;	  /* it counts as something more, which the analysis names */
	uint64_t *end_ns; /* of the union that the event's time is merged into; NULL: the row's */
};
#define ROWS_OF_MOST 10

/*
 * Called in this order: begin; then what it wants to know in passing; fill, or conclude once all
 * others have filled their tables; end, which is also called after an error. Any but one of `fill`
 * and `conclude` may be NULL. All return 0 or a negative errno (-ENOMEM).
 */
struct analysis {
	const char *name, *title; /* of its table */
	const char *meaning;	  /* a line for --list-tables */
	enum table_shape shape;
	/* What of it people are shown, see table_show: columns, what matters most first; the one
	 * that rows are sorted by and whose share is told; the one that chooses rows. */
	const char *shown, *by, *only;
	const char *shown_of_sums; /* in place of `shown`, where all is summed up; NULL: the same */
	const char *share;	   /* title of that share; NULL: "of I/O" */
	bool text_only;		   /* the same numbers stand in other tables: not in JSON */
	bool heat;		   /* see struct table_view */
	bool of_sums; /* it can be made of what mode profile sums up; others are absent then */
	const char *absent; /* not NULL: nothing is called, the table is absent for this reason */
	int (*begin)(const struct job *job, void **state);
	struct walk_calls passing;
	uint64_t columns[TRACE_KIND_COUNT]; /* of each kind, those that it asks event_value for */
	int (*fill)(void *state, struct table *table);
	int (*conclude)(const struct measured *measured, struct table *table);
	void (*end)(void *state);
	/* For pictures, whose events pass once tables are filled: the rows that an event, or a span
	 * that begins or has ended, is in. Return how many, or -ENOMEM. */
	int (*rows_of)(void *state, const struct event *event, struct row_of rows[ROWS_OF_MOST]);
	int (*rows_of_span)(void *state, uint32_t slot, bool begins,
			    struct row_of rows[ROWS_OF_MOST]);
	/* ... or, where what a row is of does not follow from one event: numbers that only grow.
	 * NULL for none. */
	const struct sampled *sampled;
	/* How tables of several reports become one, and what is made anew once they are: columns
	 * that follow from others, the order of rows. NULL for nothing. */
	struct merging merging;
	int (*remake)(const struct report *report, struct table *table);
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
extern const struct analysis analysis_devices;
extern const struct analysis analysis_device_heat;
extern const struct analysis analysis_device_users;
extern const struct analysis analysis_readahead;
extern const struct analysis analysis_latency_breakdown;
extern const struct analysis analysis_chain_spans;
extern const struct analysis analysis_slowest;

#endif
