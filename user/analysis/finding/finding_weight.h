/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How much a finding weighs: whether it is told, how severe it is, which comes first.
 */
#ifndef FAULTLINE_FINDING_WEIGHT_H
#define FAULTLINE_FINDING_WEIGHT_H

#include "analysis/finding/finding.h"

/* Whether something was done often enough to speak of it: as often as a threshold of counts says,
 * or a twentieth of that where it takes a part of the run that is felt. Counts tell what small
 * things add up; they must not hide a few large ones. `of_run`: what it takes of the run, by time.
 */
bool finding_is_enough(uint64_t count, enum threshold many, double of_run);

/* What findings are ordered by; of what is not known 0. */
struct finding_weight {
	enum finding_severity severity;
	uint64_t cost_ns, cost_bytes;
};

/* What the verdict says, or where it leaves that to the cost, what follows from that. */
enum finding_severity finding_severity_of(const struct findings *findings,
					  const struct finding_verdict *verdict);
/* A time that nobody would notice is no reason to speak. */
bool finding_is_worth_it(const struct findings *findings, const struct finding_verdict *verdict);
/* Of a rule's finding, in a run of that duration. Of a start, half of its cost: it is paid once,
 * and what the job does with its data all along. `rule` may be NULL. */
struct finding_weight finding_weigh(const struct finding_rule *rule, uint64_t duration_ns,
				    struct finding_weight whole);
/* Less than 0: `a` comes first. */
int finding_compare_weights(const struct finding_weight *a, const struct finding_weight *b);

#endif
