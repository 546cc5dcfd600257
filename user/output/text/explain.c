/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Explains finding rules as text. */
#include "output/text/explain.h"

#include <string.h>

#include "collections/arena.h"
#include "analysis/finding/finding_text.h"
#include "output/text/wrap.h"
#include "base/units.h"

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

static void write_threshold(struct sink *out, const struct finding_threshold *threshold,
			    bool with_source)
{
	static const char *const signs[] = {
		[BOUND_NONE] = "", [BOUND_MIN] = "≥ ", [BOUND_MAX] = "≤ "
	};

	sink_format(out, "  %s", signs[threshold->bound]);
	write_value(out, threshold);
	sink_format(out, ": %s\n", threshold->meaning);
	if (with_source)
		sink_format(out, "    source: %s\n", threshold->source);
}

static const char *general(struct arena *arena, const struct finding_rule *rule,
			   const char *pattern)
{
	const char *text = finding_text_general(arena, pattern, rule->evidence->columns,
						rule->evidence->count);

	return text ? text : "";
}

void explain_list(struct sink *out)
{
	struct arena arena = { 0 };
	int width = 0;

	for (size_t i = 0; i < finding_rule_count; i++)
		if ((int)strlen(finding_rules[i]->id) > width)
			width = strlen(finding_rules[i]->id);
	for (size_t i = 0; i < finding_rule_count; i++)
		sink_format(out, "%-*s  %s\n", width, finding_rules[i]->id,
			    general(&arena, finding_rules[i], finding_rules[i]->title));
	arena_free(&arena);
}

#define NAME_WIDTH 16

static void write_evidence(struct sink *out, const struct finding_rule *rule, size_t width)
{
	sink_text(out, "\nEvidence:\n");
	for (size_t i = 0; i < rule->evidence->count; i++) {
		const struct table_column *column = &rule->evidence->columns[i];

		sink_format(out, "  %-*s ", NAME_WIDTH, column->name);
		wrap_below(out, column->meaning, width, NAME_WIDTH + 3);
	}
}

void explain_finding(struct sink *out, const struct finding_rule *rule, size_t width, bool verbose)
{
	struct arena arena = { 0 };

	sink_format(out, "%s: %s\n\n", rule->id, general(&arena, rule, rule->title));
	wrap_text(out, rule->rule, width);
	sink_text(out, "\nWhat to do:\n  ");
	wrap_indented(out,
		      general(&arena, rule,
			      rule->advice_in_general ? rule->advice_in_general : rule->advice),
		      width, 2);
	sink_format(out, "\nSee also:\n  %s\n", general(&arena, rule, rule->more));
	if (rule->thresholds[0])
		sink_text(out, "\nThresholds:\n");
	for (size_t i = 0; rule->thresholds[i]; i++)
		write_threshold(out, rule->thresholds[i], verbose);
	if (verbose)
		write_evidence(out, rule, width);
	sink_format(out, "\nIn profile mode: %s\n",
		    rule->sums == FINDING_OF_EVENTS ? "not reported"
		    : rule->sums == FINDING_OF_SUMS ? "reported, with an upper bound on the cost"
						    : "reported as in trace mode");
	arena_free(&arena);
}
