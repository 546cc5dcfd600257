/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The results of all analyses, in tables and in their states, for use by findings and other
 * analyses.
 */
#pragma once

#include "analysis/shared/analysis.h"

struct pictures;

struct report {
	const struct analysis *const *analyses; /* the registry: same order as the tables */
	struct table **tables;
	size_t table_count;
	struct table *groups;		   /* by the user's key; NULL: none */
	struct pictures *pictures;	   /* NULL: not requested */
	uint64_t first_ns, last_ns;	   /* first and last time on the report's clock */
	const struct trace_header *header; /* of the first trace, while it is open */
	bool all_aggregated;		   /* all traces consist of aggregated operations only */
	size_t runs;			   /* number of merged reports; 0: made from traces */
};

/* Returns the table of an analysis in the registry. */
const struct table *report_by(const struct report *report, const struct analysis *analysis);
/* Returns the table with that name, or NULL. */
const struct table *report_table(const struct report *report, const char *name);

/*
 * Results of all analyses, for analyses that use others. An analysis that exposes its state
 * declares how in its own header (files.h, totals.h).
 */
struct results {
	const struct job *job;	     /* NULL for merged reports: there are only tables */
	const struct report *report; /* the tables filled so far */
	void *const *states;	     /* one per analysis; NULL if job is */
};

/* Returns the state of an analysis in the registry. */
void *results_state(const struct results *results, const struct analysis *analysis);
