/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The weight of a finding: whether it is reported, its severity and its rank. */
#include "analysis/finding/finding_made.h"

#include <math.h>

#include "analysis/totals/totals.h"

/* Returns the bytes from storage, over all classes. */
static uint64_t all_fetched_bytes(const struct results *results)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		bytes += totals_class(results, i).fetched_bytes;
	return bytes;
}

THRESHOLD(FEW_MAX, 10, UNIT_COUNT, "number of occurrences that always suffices",
	  "a choice: ten occurrences are no accident");

bool finding_is_enough(uint64_t count, const struct finding_threshold *many, double of_run)
{
	double enough = many->value;

	if (of_run >= threshold(THRESHOLD_TIME_DECIDES))
		enough = fmin(enough * threshold(THRESHOLD_FEW), threshold(THRESHOLD_FEW_MAX));
	return count && count >= enough;
}

THRESHOLD(SEVERITY_MEDIUM, 0.02, UNIT_SHARE, "share of the run above which a finding is medium",
	  RUNS_VARY);

bool finding_is_enough_in(const struct findings *findings, uint64_t count,
			  const struct finding_threshold *many, uint64_t time_ns)
{
	return finding_is_enough(count, many, finding_share(time_ns, findings->duration_ns));
}

const char *const finding_severities[FINDING_HIGH + 1] = {
	[FINDING_NOTE] = "note",
	[FINDING_LOW] = "low",
	[FINDING_MEDIUM] = "medium",
	[FINDING_HIGH] = "high",
};

static enum finding_severity severity_of_time(uint64_t cost_ns, uint64_t duration_ns)
{
	double share = finding_share(cost_ns, duration_ns);

	return share >= threshold(THRESHOLD_SEVERITY_HIGH)     ? FINDING_HIGH
	       : share >= threshold(THRESHOLD_SEVERITY_MEDIUM) ? FINDING_MEDIUM
							       : FINDING_LOW;
}

THRESHOLD(BYTES_MEDIUM, 0.5, UNIT_SHARE,
	  "share of bytes from storage above which a finding without a time is medium",
	  "a choice: half of the traffic");

enum finding_severity finding_severity_of(const struct findings *findings,
					  const struct finding_verdict *verdict)
{
	if (verdict->severity != FINDING_BY_COST)
		return verdict->severity;
	if (verdict->cost_ns != TABLE_NO_UINT)
		return severity_of_time(verdict->cost_ns, findings->duration_ns);
	if (verdict->cost_bytes == TABLE_NO_UINT)
		return FINDING_NOTE;
	return verdict->cost_bytes >= threshold(THRESHOLD_BYTES_MEDIUM) *
					      all_fetched_bytes(findings->results)
		       ? FINDING_MEDIUM
		       : FINDING_LOW;
}

THRESHOLD(COST_MIN, 0.002, UNIT_SHARE, "share of the run below which no finding is reported",
	  "a choice: 0.2% of a run is no reason to change a program");

bool finding_is_worth_it(const struct findings *findings, const struct finding_rule *rule,
			 const struct finding_verdict *verdict)
{
	const struct finding_threshold least = rule->of_run ? *rule->of_run : THRESHOLD_COST_MIN;

	return rule->severity != FINDING_BY_COST || verdict->severity == FINDING_NOTE ||
	       verdict->cost_ns == TABLE_NO_UINT ||
	       finding_is_of_run(findings, verdict->cost_ns, least);
}

struct finding_weight finding_weigh(const struct finding_rule *rule, uint64_t duration_ns,
				    struct finding_weight whole)
{
	struct finding_weight weight = whole;
	const bool note = whole.severity == FINDING_NOTE;

	if (!rule || !(rule->startup || note) || !whole.cost_ns)
		return whole;
	weight.cost_ns /= note ? 4 : 2;
	if (duration_ns)
		weight.severity = severity_of_time(weight.cost_ns, duration_ns);
	return weight;
}

int finding_compare_weights(const struct finding_weight *a, const struct finding_weight *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	if (a->cost_bytes != b->cost_bytes)
		return a->cost_bytes > b->cost_bytes ? -1 : 1;
	return 0;
}

enum finding_severity finding_severity_in(const struct cell *cell)
{
	for (int i = FINDING_NOTE; i <= FINDING_HIGH; i++)
		if (cell_is(cell, finding_severities[i]))
			return i;
	return FINDING_BY_COST;
}
