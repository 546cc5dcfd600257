/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The weight of a finding: whether it is reported, its severity and its rank. */
#ifndef FAULTLINE_FINDING_WEIGHT_H
#define FAULTLINE_FINDING_WEIGHT_H

#include "analysis/finding/finding.h"

/* Returns whether something happened often enough to report it: as often as a threshold says, or a
 * twentieth of that if it takes a noticeable part of the run. Counts find many small costs; they
 * must not hide a few large ones. `of_run`: its share of the run's time. */
bool finding_is_enough(uint64_t count, enum threshold many, double of_run);

/* Sort key of findings; 0 if unknown. */
struct finding_weight {
	enum finding_severity severity;
	uint64_t cost_ns, cost_bytes;
};

/* Returns the verdict's severity or, if it leaves that to the cost, what follows from the cost. */
enum finding_severity finding_severity_of(const struct findings *findings,
					  const struct finding_verdict *verdict);
/* Returns false if the cost is a time that nobody would notice. */
bool finding_is_worth_it(const struct findings *findings, const struct finding_verdict *verdict);
/* Returns the weight of a rule's finding in a run of that duration. The cost of a start counts
 * half, because it is paid once, that of the job's data throughout. `rule` may be NULL. */
struct finding_weight finding_weigh(const struct finding_rule *rule, uint64_t duration_ns,
				    struct finding_weight whole);
/* Returns less than 0 if `a` comes first. */
int finding_compare_weights(const struct finding_weight *a, const struct finding_weight *b);

#endif
