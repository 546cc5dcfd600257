/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What has been measured and what of it stands in tables already, for those that conclude something
 * from it. Knows nothing of how a report is made.
 */
#ifndef FAULTLINE_MEASURED_H
#define FAULTLINE_MEASURED_H

#include "analysis/analysis.h"

struct pictures;

struct report {
	const struct analysis *const *analyses; /* the registry: in the order of the tables */
	struct table **tables;
	size_t table_count;
	struct table *groups;	    /* by the key that was asked for; NULL for none */
	struct pictures *pictures;  /* NULL: not asked for */
	uint64_t first_ns, last_ns; /* on the report's clock: nothing was earlier, nothing later */
	const struct trace_header *header; /* of the first trace, as long as that is open */
	bool all_summed; /* operations were summed up in all traces, from begin to end */
	size_t runs;	 /* reports that were made one; 0: it is of traces */
};

/* The table of an analysis of the registry. */
const struct table *report_by(const struct report *report, const struct analysis *analysis);
/* The table of that name, or NULL. */
const struct table *report_table(const struct report *report, const char *name);

/*
 * What all analyses have measured, for those that draw conclusions from others. Whoever lets others
 * look at its state says how in a header of its own (files.h, totals.h).
 */
struct measured {
	const struct job *job; /* NULL where reports were made one: the tables are all there is */
	const struct report *report; /* tables, as far as they are filled */
	void *const *states;	     /* of each of its analyses; NULL as the job */
};

/* The state of an analysis of the registry. */
void *measured_state(const struct measured *measured, const struct analysis *analysis);

#endif
