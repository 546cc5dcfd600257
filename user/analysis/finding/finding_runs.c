/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings of several reports merged into one: runs the rules that use only tables again. */
#include <errno.h>
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_made.h"
#include "analysis/run/trace_table.h"
#include "collections/arena.h"

static bool is_any_summed(const struct table *table)
{
	bool summed = false;

	for (size_t i = 0; i < table->row_count * table->column_count && !summed; i++)
		summed = table->cells[i].summed && table->cells[i].type == CELL_UINT;
	return summed;
}

/* In mode auto, a run may have aggregated nothing. */
static bool is_aggregated(const struct report *report)
{
	const struct cell *mode = &report_by(report, &analysis_trace)->cells[ABOUT_MODE];

	return cell_is(mode, "profile") ||
	       (!cell_is(mode, "trace") && is_any_summed(report_by(report, &analysis_totals)));
}

static unsigned int layers_of(const struct table *trace, bool aggregated)
{
	return trace_layers(trace) | (aggregated ? 0 : JOB_EVENTS);
}

bool finding_is_checked(const struct finding_rule *rule, const struct report *report)
{
	const struct table *trace = report_by(report, &analysis_trace);
	bool aggregated;

	if (!trace->row_count)
		return false;
	aggregated = is_aggregated(report);
	return (!aggregated || rule->sums != FINDING_OF_EVENTS) &&
	       finding_rule_applies(rule, layers_of(trace, aggregated));
}

/* Returns whether the runs computed for an unknown time. */
static bool is_compute_open(const struct report *report)
{
	const struct table *spans = report_by(report, &analysis_spans);
	int category = table_find_column(spans, "category");

	if (!report_by(report, &analysis_overlap)->absent)
		return false;
	for (size_t row = 0; category >= 0 && row < spans->row_count; row++)
		if (cell_is(&table_row(spans, row)[category], "compute"))
			return true;
	return false;
}

/* If only some operations of a run were summed, its numbers have no single meaning. */
static bool is_mixed(const struct cell *mode)
{
	return !cell_is(mode, "trace") && !cell_is(mode, "profile");
}

/* Folded rows do not show what each of their items was. */
static bool is_any_folded(const struct report *report)
{
	static const struct analysis *const looked_at[] = {
		&analysis_files,  &analysis_operations,	 &analysis_failed_lookups,
		&analysis_epochs, &analysis_io_patterns, &analysis_methods
	};
	bool folded = false;

	for (size_t i = 0; i < sizeof(looked_at) / sizeof(looked_at[0]) && !folded; i++) {
		const struct table *table = report_by(report, looked_at[i]);

		folded = table->folded || table->cut;
	}
	return folded;
}

static int set_up(struct findings *findings, const struct table *reported)
{
	const struct report *report = findings->report;
	const struct cell *trace = report_by(report, &analysis_trace)->cells;
	const struct cell *hosts = &trace[ABOUT_HOSTS];
	bool at_once = is_any_summed(report_by(report, &analysis_totals)) ||
		       is_any_summed(report_by(report, &analysis_overlap));

	findings->reported = reported;
	findings->aggregated = cell_is(&trace[ABOUT_MODE], "profile");
	findings->runs = at_once && !findings->aggregated ? report->runs : 1;
	if (hosts->type != CELL_TEXTS || hosts->length != 1)
		return 0;
	findings->host = arena_text(findings->arena, hosts->texts[0].text, hosts->texts[0].length);
	return findings->host ? 0 : -ENOMEM;
}

/* Returns whether the rule found anything in single runs. */
static bool is_reported(const struct table *reported, const struct finding_rule *rule)
{
	for (size_t row = 0; row < reported->row_count; row++)
		if (cell_is(&table_row(reported, row)[FINDING_ID], rule->id))
			return true;
	return false;
}

/* Names the lines of what one run found: those of the finding with the same title, or of the only
 * one. Returns 0 or -ENOMEM. */
static int keep_lines(struct findings *findings, struct finding *finding)
{
	const struct table *reported = findings->reported;
	const struct cell *lines = NULL;
	size_t count = 0;

	for (size_t row = 0; row < reported->row_count; row++) {
		const struct cell *cells = table_row(reported, row);

		if (!cell_is(&cells[FINDING_ID], finding->rule->id))
			continue;
		lines = count++ ? NULL : &cells[FINDING_WHERE];
		if (cell_is(&cells[FINDING_TITLE], finding->title)) {
			lines = &cells[FINDING_WHERE];
			break;
		}
	}
	if (!lines || lines->type != CELL_TEXT)
		return 0;
	finding->where = arena_text(findings->arena, lines->text, lines->length);
	return finding->where ? 0 : -ENOMEM;
}

static void forget(struct table *reported, const struct finding_rule *rule)
{
	const size_t width = reported->column_count;
	size_t kept = 0;

	for (size_t row = 0; row < reported->row_count; row++) {
		struct cell *cells = &reported->cells[row * width];

		if (!cell_is(&cells[FINDING_ID], rule->id))
			memmove(&reported->cells[kept++ * width], cells, width * sizeof(*cells));
	}
	reported->row_count = kept;
}

/* Runs the rules. Findings that were found, or ruled out, in the merged report are removed from
 * `reported`, the findings of each report. Sets the duration in any case. */
static int ask_again(struct findings *findings, struct table *reported)
{
	const struct report *report = findings->report;
	const struct table *trace = report_by(report, &analysis_trace);
	bool folded = is_any_folded(report);
	const struct cell *duration;
	unsigned int layers;
	int status;

	if (!trace->row_count)
		return 0;
	duration = &trace->cells[ABOUT_DURATION];
	findings->duration_ns = duration->type == CELL_UINT ? duration->uint : 0;
	if (is_compute_open(report) || is_mixed(&trace->cells[ABOUT_MODE]))
		return 0;
	status = set_up(findings, reported);
	layers = layers_of(trace, findings->aggregated);
	findings->elsewhere_bytes = file_group_elsewhere_bytes(findings);
	for (size_t i = 0; i < finding_rule_count && status >= 0; i++) {
		const struct finding_rule *rule = finding_rules[i];
		size_t before = findings->count;

		if (!rule->cross_run || !finding_rule_applies(rule, layers) ||
		    (findings->aggregated && rule->sums == FINDING_OF_EVENTS))
			continue;
		status = rule->find(findings, rule);
		for (size_t j = before; j < findings->count && !status; j++)
			status = keep_lines(findings, &findings->all[j]);
		if (status > 0 || (folded && is_reported(reported, rule)))
			findings->count = before;
		else if (!status)
			forget(reported, rule);
	}
	return status < 0 ? status : 0;
}

/* --- the table --- */

static struct finding_weight weight_at(const struct table *table, size_t row, uint64_t duration_ns)
{
	const struct cell *cells = table_row(table, row);

	return finding_weigh(
		finding_rule_of(&cells[FINDING_ID]), duration_ns,
		(struct finding_weight) {
			.severity = finding_severity_in(&cells[FINDING_SEVERITY]),
			.cost_ns = finding_number_at(table, row, FINDING_COST_NS),
			.cost_bytes = finding_number_at(table, row, FINDING_COST_BYTES) });
}

static int compare_rows(const struct table *table, size_t a, size_t b, const void *context)
{
	const uint64_t *duration_ns = context;
	struct finding_weight first = weight_at(table, a, *duration_ns);
	struct finding_weight second = weight_at(table, b, *duration_ns);

	return finding_compare_weights(&first, &second);
}

/* A wait that matters in a run of a second is nothing in one of an hour: severities are those of
 * all runs together. Notes, findings without a cost, and severities that a rule fixes stay. */
static void judge_again(const struct findings *findings, struct table *table)
{
	for (size_t row = 0; row < table->row_count; row++) {
		struct cell *cells = table_row(table, row);
		const struct cell *ns = &cells[FINDING_COST_NS],
				  *bytes = &cells[FINDING_COST_BYTES];
		const struct finding_rule *rule = finding_rule_of(&cells[FINDING_ID]);
		const struct finding_verdict verdict = {
			.cost_ns = ns->type == CELL_UINT ? ns->uint : TABLE_NO_UINT,
			.cost_bytes = bytes->type == CELL_UINT ? bytes->uint : TABLE_NO_UINT,
		};

		if (finding_severity_in(&cells[FINDING_SEVERITY]) == FINDING_NOTE ||
		    (rule && rule->severity != FINDING_BY_COST))
			continue;
		if (ns->type == CELL_UINT ? findings->duration_ns : bytes->type == CELL_UINT)
			table_set_literal(
				table, &cells[FINDING_SEVERITY],
				finding_severities[finding_severity_of(findings, &verdict)]);
	}
}

void finding_remake(const struct report *report, struct table *table)
{
	const struct results results = { .report = report };
	struct arena arena = { 0 };
	struct findings findings = { .results = &results, .report = report, .arena = &arena };
	int status = ask_again(&findings, table);

	for (size_t i = 0; i < findings.count && !status; i++)
		table_add(table, &findings.all[i]);
	if (!status)
		judge_again(&findings, table);
	finding_free(&findings);
	if (status)
		table_fail(table, status);
	else
		table_sort(table, compare_rows, &findings.duration_ns);
}
