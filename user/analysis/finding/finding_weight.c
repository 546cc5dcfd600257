/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Weighs findings by their cost. */
#include "analysis/finding/finding_weight.h"

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

bool finding_is_enough(uint64_t count, enum threshold many, double of_run)
{
	double enough = threshold(many);

	if (of_run >= threshold(THRESHOLD_TIME_DECIDES))
		enough = fmin(enough * threshold(THRESHOLD_FEW), threshold(THRESHOLD_FEW_MAX));
	return count && count >= enough;
}

static enum finding_severity severity_of_time(uint64_t cost_ns, uint64_t duration_ns)
{
	double share = finding_share(cost_ns, duration_ns);

	return share >= threshold(THRESHOLD_SEVERITY_HIGH)     ? FINDING_HIGH
	       : share >= threshold(THRESHOLD_SEVERITY_MEDIUM) ? FINDING_MEDIUM
							       : FINDING_LOW;
}

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

bool finding_is_worth_it(const struct findings *findings, const struct finding_verdict *verdict)
{
	return verdict->severity != FINDING_BY_COST || verdict->cost_ns == TABLE_NO_UINT ||
	       verdict->cost_ns >= threshold(THRESHOLD_COST_MIN) * findings->duration_ns;
}

struct finding_weight finding_weigh(const struct finding_rule *rule, uint64_t duration_ns,
				    struct finding_weight whole)
{
	struct finding_weight weight = whole;

	if (!rule || !rule->startup || !whole.cost_ns)
		return whole;
	weight.cost_ns /= 2;
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
