/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A finding as it is added, and how the table of findings ranks it. */
#pragma once

#include "analysis/finding/finding.h"

/* Sort key of findings; 0 if unknown. */
struct finding_weight {
	enum finding_severity severity;
	uint64_t cost_ns, cost_bytes;
};

struct finding {
	const struct finding_rule *rule;
	const void *evidence;
	struct finding_verdict verdict;
	uint64_t waited_ns;	   /* its cost without CPU work of the same lines; 0: unknown */
	uint64_t cost_cpu_ns;	   /* that work, as part of the cost; TABLE_NO_UINT: not included */
	uint64_t cost_cpu_wait_ns; /* waits for CPUs that it leads to, likewise */
	struct finding_weight weight;
	const char *title, *says, *advice, *more;
	const char *host;    /* NULL: several */
	uint64_t runs;	     /* 1 */
	bool summed;	     /* times are summed over threads */
	bool at_least;	     /* times are summed over runs; the cost is an average */
	const char *where;   /* NULL: unknown */
	const char *cost_is; /* see the column; NULL: no cost in time */
};

/* Returns the verdict's severity or, if it leaves that to the cost, what follows from the cost. */
enum finding_severity finding_severity_of(const struct findings *findings,
					  const struct finding_verdict *verdict);
/* Returns false if the cost is too short to notice, or for the rule. */
bool finding_is_worth_it(const struct findings *findings, const struct finding_rule *rule,
			 const struct finding_verdict *verdict);
/* Returns the weight of a rule's finding in a run of that duration. The cost of a start counts
 * half, because it is paid once, that of the job's data throughout. The cost of a note
 * counts a quarter: the time may be well spent. `rule` may be NULL. */
struct finding_weight finding_weigh(const struct finding_rule *rule, uint64_t duration_ns,
				    struct finding_weight whole);
/* Returns less than 0 if `a` comes first. */
int finding_compare_weights(const struct finding_weight *a, const struct finding_weight *b);

/* Copies a value of a rule's evidence, by its column's name; it stays as it is if there is none. */
void finding_get_evidence(const struct finding_rule *rule, const void *evidence, const char *name,
			  __typeof__(table_get_text) *get, void *value, size_t size);
/* Returns the uses of files that a rule counts: bits 1 << enum use; 0: none in particular. */
unsigned int finding_uses(const struct finding_rule *rule);
/* Returns the I/O that a rule's finding is about. */
struct finding_io finding_io_of(const struct finding_rule *rule, const void *evidence,
				const struct finding_verdict *verdict);
/* Returns the largest cost of a rule in the findings of single runs. */
uint64_t finding_cost_of_runs(const struct findings *findings, const char *id);

/* Raises the cost of a finding to `cost_ns`, unless it is higher. */
void finding_raise_cost(const struct findings *findings, struct finding *finding, uint64_t cost_ns);

/* Replaces findings of single runs, in a table merged from several reports, by what all runs
 * together show. */
void finding_remake(const struct report *report, struct table *table);

/* Frees what rules have added and kept. */
void finding_free(struct findings *findings);

/* Returns a number in a table of findings; 0 if there is none. */
static inline uint64_t finding_number_at(const struct table *table, size_t row,
					 enum finding_column column)
{
	const struct cell *cell = &table_row(table, row)[column];

	return cell->type == CELL_UINT ? cell->uint : 0;
}
