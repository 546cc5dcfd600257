/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs the rules and makes the table of findings, the most expensive first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_lines.h"
#include "analysis/finding/finding_made.h"
#include "analysis/finding/finding_work.h"
#include "collections/arena.h"
#include "base/number.h"
#include "base/strbuf.h"

static int compare_findings(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = finding_compare_weights(&a->weight, &b->weight);

	if (order)
		return order;
	if (a->rule->breadth != b->rule->breadth)
		return a->rule->breadth < b->rule->breadth ? -1 : 1;
	return strcmp(a->rule->id, b->rule->id);
}

static void get_id(struct table *table, struct cell *cell, const void *row,
		   const struct table_column *column)
{
	const struct finding *finding = row;

	table_set_literal(table, cell, finding->rule->id);
}

static void get_severity(struct table *table, struct cell *cell, const void *row,
			 const struct table_column *column)
{
	const struct finding *finding = row;

	table_set_literal(table, cell, finding_severities[finding->verdict.severity]);
}

static void get_confidence(struct table *table, struct cell *cell, const void *row,
			   const struct table_column *column)
{
	static const char *const names[] = {
		[FINDING_GUESS] = "low",
		[FINDING_LIKELY] = "medium",
		[FINDING_SURE] = "high",
	};
	const struct finding *finding = row;

	table_set_literal(table, cell, names[finding->verdict.confidence]);
}

/* An upper bound for sums over threads, a lower bound for concurrent runs. */
static void get_cost(struct table *table, struct cell *cell, const void *row,
		     const struct table_column *column)
{
	const struct finding *finding = row;

	if (finding->verdict.cost_ns == TABLE_NO_UINT)
		return;
	cell_uint(cell, finding->verdict.cost_ns);
	cell->summed = finding->summed;
	cell->at_least = finding->at_least && !finding->summed;
}

/* Marks the times in evidence that are unions; the others are those of one operation. */
static void mark_times(struct table *record)
{
	for (size_t i = 0; i < record->column_count; i++)
		record->cells[i].summed = record->columns[i].kind == KIND_UNION ||
					  record->columns[i].kind == KIND_RATIO;
}

static void get_evidence(struct table *table, struct cell *cell, const void *row,
			 const struct table_column *column)
{
	const struct finding *finding = row;
	struct table *record = table_set_table(table, cell, TABLE_RECORD);

	table_add_columns(record, finding->rule->evidence->columns, finding->rule->evidence->count);
	table_add(record, finding->evidence);
	if (!table_status(record) && (finding->summed || finding->at_least))
		mark_times(record);
}

static const struct table_column columns[FINDING_COLUMNS] = {
	[FINDING_ID] = { "id", "finding", UNIT_NONE, KIND_KEY, "name of the finding, for --explain",
			 .get = get_id },
	[FINDING_SEVERITY] = { "severity", "severity", UNIT_NONE, KIND_LARGEST,
			       "high, medium, low or note: by the share of the run that it costs, "
			       "if that is known",
			       .get = get_severity },
	[FINDING_TITLE] = COLUMN(finding, title, "what", NONE, LARGEST, "what was found"),
	[FINDING_COST_NS] = { "cost_ns", "cost", UNIT_NS, KIND_LARGEST,
			      "time that the change in the advice would save; null: unknown; for "
			      "summaries of overlapping runs, a lower bound for one run",
			      .get = get_cost },
	[FINDING_COST_BYTES] = { "cost_bytes", "bytes", UNIT_BYTES, KIND_LARGEST,
				 "bytes moved or fetched inefficiently or in vain; null: unknown",
				 TABLE_UINT(struct finding, verdict.cost_bytes), 0 },
	[FINDING_COST_IS] = COLUMN(finding, cost_is, NULL, NONE, LARGEST,
				   "how exact cost_ns is: measured; estimated (from the overlap of "
				   "its class with compute, the part that the change saves, or CPU "
				   "work at the same lines); "
				   "at least (a lower bound: loss, several runs, or CPU work that "
				   "is saved, too); at most (an upper bound: thread time, or "
				   "time of which the change saves an unknown part)"),
	[FINDING_CONFIDENCE] = { "confidence", "confidence", UNIT_NONE, KIND_LARGEST,
				 "confidence that the evidence means what the title says: high, "
				 "medium or low",
				 .get = get_confidence },
	[FINDING_EVIDENCE_COLUMN] = { "evidence", NULL, UNIT_NONE, KIND_LARGEST,
				      "numbers that it is based on, an object that differs between "
				      "findings: see --explain ID -v",
				      .get = get_evidence },
	[FINDING_SAYS] = COLUMN(finding, says, NULL, NONE, LARGEST, "the evidence in words"),
	[FINDING_ADVICE] = COLUMN(finding, advice, NULL, NONE, LARGEST, "what to change"),
	[FINDING_MORE] = COLUMN(finding, more, NULL, NONE, LARGEST, "command that shows more"),
	[FINDING_HOST] = COLUMN(finding, host, NULL, NONE, LARGEST,
				"host of the run; null: several; for several summaries, the host "
				"with the highest cost"),
	[FINDING_RUNS] = COLUMN(finding, runs, NULL, COUNT, SUM,
				"number of summaries that have the finding; 1 if it is about one "
				"trace or about all summaries together"),
	[FINDING_WHERE] =
		COLUMN(finding, where, NULL, NONE, LARGEST,
		       "the lines with most of the time, and their shares of it, estimated "
		       "from samples of the run where it costs most, with the kinds of thread if "
		       "the run has several; null: no samples, or found only in all summaries "
		       "together"),
	[FINDING_COST_CPU_NS] =
		COLUMN(finding, cost_cpu_ns, NULL, NS, LARGEST,
		       "the part of cost_ns that is CPU work at the lines that issue "
		       "the I/O, estimated from samples; null: none, or unknown"),
	[FINDING_COST_CPU_WAIT_NS] =
		COLUMN(finding, cost_cpu_wait_ns, NULL, NS, LARGEST,
		       "the part of cost_ns in which that work waits for CPUs, as much as all work "
		       "on the critical path does; null: no such work, or unknown"),
};

/* The time until the first new read already includes CPU work. */
static uint64_t cost_of_io(const struct finding *finding)
{
	const struct file_group *file_group = finding->evidence;

	if (finding->verdict.keeps_ns)
		return finding->verdict.covers_ns;
	if (finding->rule->files.reopens && file_group->reopen_ns != TABLE_NO_UINT)
		return number_min(file_group->time_ns, finding->verdict.cost_ns);
	return finding->verdict.cost_ns;
}

/* Returns the part of the I/O that the change saves, and so of the CPU work at the same lines. */
static double saved_part(const struct finding *finding)
{
	const struct finding_verdict *verdict = &finding->verdict;

	return finding->rule->files.saved && verdict->cost_ns < verdict->covers_ns
		       ? finding_share(verdict->cost_ns, verdict->covers_ns)
		       : 1;
}

/* Returns 0 or -ENOMEM. */
static int add_advice_on_work(struct findings *findings, struct finding *finding)
{
	struct strbuf text = { .used = 0 };

	strbuf_add(&text, "%s%s", finding->advice, finding->rule->advice_on_work);
	finding->advice = arena_text(findings->arena, text.bytes, text.used);
	return finding->advice ? 0 : -ENOMEM;
}

/* Adds the CPU work at the lines that request a new finding's I/O. */
static int add_work(struct findings *findings, struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;
	const double saved = saved_part(finding);
	struct finding_work work = { 0 };
	const uint64_t io_ns = cost_of_io(finding), keeps_ns = finding->verdict.keeps_ns;
	uint64_t work_ns, waits_ns;
	int status = 0;

	if (rule->work_at_lines(finding->evidence))
		status = finding_work_of(findings, finding, &work);
	work_ns = finding_limited(work.time_ns * saved);
	if (rule->work_max && !(rule->work_unlimited && rule->work_unlimited(finding->evidence)))
		work_ns = number_min(work_ns,
				     finding_limited(threshold(*rule->work_max) * io_ns +
						     (work.files_ns + work.entry_ns) * saved));
	if (status < 0 || !work_ns || finding->verdict.cost_ns == TABLE_NO_UINT)
		return status;
	finding_raise_cost(findings, finding, number_sub(number_add(io_ns, work_ns), keeps_ns));
	work_ns = number_min(number_sub(finding->verdict.cost_ns, number_sub(io_ns, keeps_ns)),
			     work_ns);
	waits_ns = finding_limited(work.waits * work_ns);
	if (work_ns > waits_ns) {
		finding->cost_cpu_ns = work_ns - waits_ns;
		finding->cost_cpu_wait_ns = waits_ns;
	}
	if (rule->advice_on_work && work_ns > finding->verdict.cost_ns / 2)
		status = add_advice_on_work(findings, finding);
	return status;
}

static int run_rule(struct findings *findings, const struct finding_rule *rule)
{
	const size_t before = findings->count;
	size_t kept = before;
	int status = rule->find(findings, rule);

	for (size_t i = before; rule->work_at_lines && status >= 0 && i < findings->count; i++) {
		struct finding *finding = &findings->all[i];

		status = add_work(findings, finding);
		if (finding_is_worth_it(findings, rule, &finding->verdict))
			findings->all[kept++] = *finding;
	}
	if (rule->work_at_lines)
		findings->count = kept;
	return status;
}

static int run_rules(struct findings *findings)
{
	const struct job *job = findings->results->job;
	int status = 0;

	findings->elsewhere_bytes = file_group_elsewhere_bytes(findings);
	for (size_t i = 0; i < finding_rule_count && status >= 0; i++) {
		const struct finding_rule *rule = finding_rules[i];

		if (finding_rule_applies(rule, job->layers) &&
		    (!job->aggregated || rule->sums != FINDING_OF_EVENTS))
			status = run_rule(findings, rule);
	}
	return status < 0 ? status : 0;
}

static void note_skipped(struct table *table)
{
	size_t skipped = 0;
	char note[160];

	for (size_t i = 0; i < finding_rule_count; i++)
		skipped += finding_rules[i]->sums == FINDING_OF_EVENTS;
	snprintf(note, sizeof(note),
		 "%zu of %zu kinds of findings require --mode trace and were not checked; costs "
		 "are upper bounds",
		 skipped, finding_rule_count);
	table_set_note(table, note);
}

static void conclude(const struct results *results, struct table *table)
{
	const struct job *job = results->job;
	struct arena arena = { 0 };
	struct findings findings = {
		.results = results,
		.report = results->report,
		.duration_ns = number_sub(job->end_ns, job->start_ns),
		.aggregated = job->aggregated,
		.host = job->many_hosts ? NULL : job->traces[0].header->host,
		.runs = 1,
		.arena = &arena,
	};
	int status;

	table_add_columns(table, TABLE_COLUMNS(columns));
	if (job->aggregated)
		note_skipped(table);
	status = run_rules(&findings);
	if (findings.count)
		qsort(findings.all, findings.count, sizeof(*findings.all), compare_findings);
	findings.many_kinds = finding_lines_kinds(results);
	for (size_t i = 0; i < findings.count && !status; i++)
		status = finding_locate(&findings, &findings.all[i]);
	for (size_t i = 0; i < findings.count && !status; i++)
		table_add(table, &findings.all[i]);
	finding_free(&findings);
	table_fail(table, status);
}

const struct analysis analysis_findings = {
	.name = "findings",
	.meaning = "what costs time, with evidence and advice; highest severity and cost first",
	.title = "Findings",
	.shown = "cost_ns,cost_bytes,severity,confidence,id,title",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude,
	.merging = { .costliest = "cost_ns,cost_bytes,title,says", /* ties do not depend on order */
		     .fixed = columns,
		     .fixed_count = FINDING_COLUMNS },
	.remake = finding_remake,
};
