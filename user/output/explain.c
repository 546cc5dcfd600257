/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings in words. Knows nothing of a trace.
 */
#include "output/explain.h"

#include <string.h>

#include "output/grid.h"
#include "units.h"

static void write_value(struct sink *out, const struct finding_threshold *threshold)
{
	char text[UNITS_TEXT];

	switch (threshold->unit) {
	case UNIT_SHARE:
		sink_text(out, units_share(text, threshold->value));
		break;
	case UNIT_BYTES:
		sink_text(out, units_bytes(text, threshold->value));
		break;
	case UNIT_NS:
		sink_text(out, units_ns(text, threshold->value));
		break;
	default:
		sink_format(out, "%g", threshold->value);
	}
}

static void write_threshold(struct sink *out, const struct finding_threshold *threshold)
{
	sink_format(out, "  %s: ", threshold->meaning);
	write_value(out, threshold);
	sink_format(out, "\n    source: %s\n", threshold->source);
}

void explain_list(struct sink *out)
{
	int width = 0;

	for (size_t i = 0; i < finding_rule_count; i++)
		if ((int)strlen(finding_rules[i]->id) > width)
			width = strlen(finding_rules[i]->id);
	for (size_t i = 0; i < finding_rule_count; i++)
		sink_format(out, "%-*s  %s\n", width, finding_rules[i]->id,
			    finding_rules[i]->title);
}

void explain_finding(struct sink *out, const struct finding_rule *rule, size_t width)
{
	sink_format(out, "%s: %s\n\n", rule->id, rule->title);
	grid_wrapped(out, rule->rule, width);
	if (rule->threshold_count)
		sink_text(out, "\nThresholds:\n");
	for (size_t i = 0; i < rule->threshold_count; i++)
		write_threshold(out, &finding_thresholds[rule->thresholds[i]]);
	sink_text(out, "\nEvidence:\n");
	for (size_t i = 0; i < rule->evidence_count; i++)
		sink_format(out, "  %-16s %s\n", rule->evidence[i].name, rule->evidence[i].meaning);
	sink_format(out, "\nWhere operations were summed up (--mode profile): %s\n",
		    rule->sums == FINDING_OF_EVENTS ? "not looked for"
		    : rule->sums == FINDING_OF_SUMS ? "told, with the most that it may cost"
						    : "told as of events");
	sink_format(out, "\nAdvice: %s\nMore:   %s\n", rule->advice, rule->more);
}
