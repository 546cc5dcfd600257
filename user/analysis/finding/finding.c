/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs the rules and makes the table of findings, the most expensive first. */
#include "analysis/finding/finding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_text.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/phases/levels.h"
#include "analysis/phases/overlap.h"
#include "analysis/events/path.h"
#include "analysis/shared/results.h"
#include "base/arena.h"
#include "base/grow.h"

struct finding {
	const struct finding_rule *rule;
	const void *evidence;
	struct finding_verdict verdict;
	struct finding_weight weight;
	const char *title, *says, *advice, *more;
	const char *host;    /* NULL: several */
	uint64_t runs;	     /* 1 */
	bool summed;	     /* times are summed over threads */
	bool at_least;	     /* times are summed over runs; the cost is an average */
	const char *cost_is; /* see the column; NULL: no cost in time */
};

/* --- for the rules --- */

uint64_t finding_bandwidth(uint64_t bytes, uint64_t time_ns)
{
	double bandwidth = time_ns ? bytes * 1e9 / time_ns : 0;

	return bandwidth < 0x1p63 ? bandwidth : INT64_MAX;
}

double finding_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

struct table_text finding_base_name(struct table_text path)
{
	size_t start = path_base(path.bytes, path.length);

	if (start == path.length)
		return path;
	return (struct table_text) { path.bytes + start, path.length - start };
}

uint64_t finding_unhidden(const struct findings *findings, enum io_class class, uint64_t time_ns)
{
	struct overlap_view view;

	if (overlap_of(findings->report, class, &view))
		time_ns = (unsigned __int128)time_ns * view.unoverlapped_ns / view.time_ns;
	return time_ns / findings->runs;
}

static uint64_t known(uint64_t number)
{
	return number == TABLE_NO_UINT ? 0 : number;
}

static uint64_t cost_at(const struct table *table, size_t row, enum finding_column column)
{
	const struct cell *cell = &table_row(table, row)[column];

	return cell->type == CELL_UINT ? cell->uint : 0;
}

/* Returns the largest cost that a rule has found, in this run or in any of several. */
uint64_t finding_cost_of(const struct findings *findings, const struct finding_rule *rule)
{
	const struct table *reported = findings->reported;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < findings->count; i++) {
		uint64_t cost_ns = known(findings->all[i].verdict.cost_ns);

		if (findings->all[i].rule == rule && cost_ns > most_ns)
			most_ns = cost_ns;
	}
	for (size_t row = 0; reported && row < reported->row_count; row++) {
		uint64_t cost_ns = cost_at(reported, row, FINDING_COST_NS);

		if (cell_is(&table_row(reported, row)[FINDING_ID], rule->id) && cost_ns > most_ns)
			most_ns = cost_ns;
	}
	return most_ns;
}

bool finding_is_reported(const struct findings *findings, const struct finding_rule *const *rules,
			 uint64_t cost_ns)
{
	bool reported = false;

	/* A sum over threads costs no more than the run took. */
	if (findings->summed && cost_ns > findings->duration_ns)
		cost_ns = findings->duration_ns;
	for (; rules && *rules && !reported && cost_ns; rules++)
		reported = finding_cost_of(findings, *rules) >=
			   threshold(THRESHOLD_SAME_WAIT) * cost_ns;
	return reported;
}

/* Writes the texts, with the evidence filled in. */
static int write_texts(struct findings *findings, struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;
	struct table *record = table_new(rule->id, NULL, TABLE_RECORD);
	int status;

	table_add_columns(record, rule->evidence, rule->evidence_count);
	table_add(record, finding->evidence);
	status = table_status(record);
	if (!status) {
		finding->title = finding_text(findings->arena, rule->title, record, NULL);
		finding->says = finding_text(findings->arena, rule->says, record, NULL);
		finding->advice = finding_text(findings->arena, rule->advice, record, NULL);
		finding->more = finding_text(findings->arena, rule->more, record, NULL);
		if (!finding->title || !finding->says || !finding->advice || !finding->more)
			status = -ENOMEM;
	}
	table_free(record);
	return status;
}

/* Concurrent runs together took no less than the one that took longest. */
static uint64_t raised_cost(const struct findings *findings, const struct finding_rule *rule,
			    uint64_t cost_ns)
{
	const struct table *reported = findings->reported;

	for (size_t row = 0; reported && findings->runs > 1 && row < reported->row_count; row++) {
		const struct cell *cells = table_row(reported, row);
		const struct cell *cost = &cells[FINDING_COST_NS];

		if (cell_is(&cells[FINDING_ID], rule->id) && cost->type == CELL_UINT &&
		    cost_ns != TABLE_NO_UINT && cost->uint > cost_ns)
			cost_ns = cost->uint;
	}
	return cost_ns;
}

static const char *cost_is(const struct findings *findings, const struct finding *finding)
{
	const struct job *job = findings->results->job;
	bool lost = job && (!job->complete || job->lost);
	struct level_view compute;

	if (finding->verdict.cost_ns == TABLE_NO_UINT)
		return NULL;
	if (finding->summed)
		return "at most";
	if (finding->at_least || finding->rule->drags || lost)
		return "at least";
	if (finding->rule->sums != FINDING_OF_SPANS &&
	    levels_view(findings->results, ACTIVITY_COMPUTE, &compute) && compute.count)
		return "estimated";
	return "measured";
}

int finding_add(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		const struct finding_verdict *verdict)
{
	struct finding *finding;
	struct finding_verdict raised = *verdict;
	void *copy;

	if (finding_is_reported(findings, rule->reported_by, verdict->cost_ns))
		return 0;
	raised.cost_ns = raised_cost(findings, rule, verdict->cost_ns);
	if (!finding_is_worth_it(findings, &raised))
		return 0;
	if (!GROW(findings->all, findings->room, findings->count + 1))
		return -ENOMEM;
	copy = arena_alloc(findings->arena, rule->evidence_bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, evidence, rule->evidence_bytes);
	finding = &findings->all[findings->count++];
	*finding = (struct finding) {
		.rule = rule,
		.evidence = copy,
		.verdict = raised,
		.host = findings->host,
		.runs = 1,
		.summed = findings->summed && rule->sums == FINDING_OF_SUMS,
		.at_least = findings->runs > 1,
	};
	/* Concurrent threads count several times. */
	if (finding->summed && raised.cost_ns != TABLE_NO_UINT &&
	    raised.cost_ns > findings->duration_ns)
		finding->verdict.cost_ns = findings->duration_ns;
	finding->cost_is = cost_is(findings, finding);
	finding->verdict.severity = finding_severity_of(findings, &finding->verdict);
	finding->weight = finding_weigh(
		rule, findings->duration_ns,
		(struct finding_weight) { .severity = finding->verdict.severity,
					  .cost_ns = known(finding->verdict.cost_ns),
					  .cost_bytes = known(finding->verdict.cost_bytes) });
	return write_texts(findings, finding);
}

/* --- the table --- */

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

const char *const finding_severities[FINDING_HIGH + 1] = {
	[FINDING_NOTE] = "note",
	[FINDING_LOW] = "low",
	[FINDING_MEDIUM] = "medium",
	[FINDING_HIGH] = "high",
};

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

	table_add_columns(record, finding->rule->evidence, finding->rule->evidence_count);
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
	[FINDING_TITLE] = { "title", "what", UNIT_NONE, KIND_LARGEST, "what was found",
			    TABLE_LITERAL(struct finding, title), 0 },
	[FINDING_COST_NS] = { "cost_ns", "cost", UNIT_NS, KIND_LARGEST,
			      "time that it took, unless overlapped by compute; null: unknown; "
			      "over summaries of overlapping runs, a lower bound for one run",
			      .get = get_cost },
	[FINDING_COST_BYTES] = { "cost_bytes", "bytes", UNIT_BYTES, KIND_LARGEST,
				 "bytes moved or fetched inefficiently or in vain; null: unknown",
				 TABLE_UINT(struct finding, verdict.cost_bytes), 0 },
	[FINDING_COST_IS] = { "cost_is", NULL, UNIT_NONE, KIND_LARGEST,
			      "kind of cost_ns: measured, estimated (by its class's overlap with "
			      "compute), at least (loss, several runs, or CPU work saved too) or "
			      "at most (thread time)",
			      TABLE_LITERAL(struct finding, cost_is), 0 },
	[FINDING_CONFIDENCE] = { "confidence", "confidence", UNIT_NONE, KIND_LARGEST,
				 "confidence that the evidence means what the title says: high, "
				 "medium or low",
				 .get = get_confidence },
	[FINDING_EVIDENCE_COLUMN] = { "evidence", NULL, UNIT_NONE, KIND_LARGEST,
				      "numbers that it is based on, an object that differs between "
				      "findings: see --explain ID -v",
				      .get = get_evidence },
	[FINDING_SAYS] = { "says", NULL, UNIT_NONE, KIND_LARGEST, "the evidence in words",
			   TABLE_LITERAL(struct finding, says), 0 },
	[FINDING_ADVICE] = { "advice", NULL, UNIT_NONE, KIND_LARGEST, "what to change",
			     TABLE_LITERAL(struct finding, advice), 0 },
	[FINDING_MORE] = { "more", NULL, UNIT_NONE, KIND_LARGEST, "command that shows more",
			   TABLE_LITERAL(struct finding, more), 0 },
	[FINDING_HOST] = { "host", NULL, UNIT_NONE, KIND_LARGEST,
			   "host of the run; null: several; for several summaries, the host with "
			   "the highest cost",
			   TABLE_LITERAL(struct finding, host), 0 },
	[FINDING_RUNS] = { "runs", NULL, UNIT_COUNT, KIND_SUM,
			   "number of summaries that have the finding; 1 if it is about one trace "
			   "or about all summaries together",
			   TABLE_UINT(struct finding, runs), 0 },
};

static int ask_all(struct findings *findings)
{
	const struct job *job = findings->results->job;
	int status = 0;

	findings->elsewhere_bytes = file_group_elsewhere_bytes(findings);
	for (size_t i = 0; i < finding_rule_count && status >= 0; i++) {
		const struct finding_rule *rule = finding_rules[i];

		if ((job->layers & rule->needs) == rule->needs &&
		    (!job->summed || rule->sums != FINDING_OF_EVENTS))
			status = rule->find(findings, rule);
	}
	return status < 0 ? status : 0;
}

static void emit_unasked(struct table *table)
{
	size_t unasked = 0;
	char note[160];

	for (size_t i = 0; i < finding_rule_count; i++)
		unasked += finding_rules[i]->sums == FINDING_OF_EVENTS;
	snprintf(note, sizeof(note),
		 "%zu of %zu kinds of findings require --mode trace and were not checked; costs "
		 "are upper bounds",
		 unasked, finding_rule_count);
	table_set_note(table, note);
}

static void free_findings(struct findings *findings)
{
	free(findings->file_group);
	free(findings->all);
	arena_free(findings->arena);
}

static void conclude(const struct results *results, struct table *table)
{
	const struct job *job = results->job;
	struct arena arena = { 0 };
	struct findings findings = {
		.results = results,
		.report = results->report,
		.duration_ns = clock_subtract(job->end_ns, job->start_ns),
		.summed = job->summed,
		.host = job->many_hosts ? NULL : job->traces[0].header->host,
		.runs = 1,
		.arena = &arena,
	};
	int status = 0;

	table_add_columns(table, TABLE_COLUMNS(columns));
	if (!status && job->summed)
		emit_unasked(table);
	if (!status)
		status = ask_all(&findings);
	if (findings.count)
		qsort(findings.all, findings.count, sizeof(*findings.all), compare_findings);
	for (size_t i = 0; i < findings.count && !status; i++)
		table_add(table, &findings.all[i]);
	free_findings(&findings);
	table_fail(table, status);
}

/* --- findings of several reports --- */

enum finding_severity finding_severity_in(const struct cell *cell)
{
	for (int i = FINDING_NOTE; i <= FINDING_HIGH; i++)
		if (cell_is(cell, finding_severities[i]))
			return i;
	return FINDING_BY_COST;
}

static enum finding_severity severity_at(const struct table *table, size_t row)
{
	return finding_severity_in(&table_row(table, row)[FINDING_SEVERITY]);
}

static struct finding_weight weight_at(const struct table *table, size_t row, uint64_t duration_ns)
{
	const struct cell *id = &table_row(table, row)[FINDING_ID];
	const struct finding_rule *rule = NULL;

	for (size_t i = 0; i < finding_rule_count && !rule; i++)
		if (cell_is(id, finding_rules[i]->id))
			rule = finding_rules[i];
	return finding_weigh(
		rule, duration_ns,
		(struct finding_weight) { .severity = severity_at(table, row),
					  .cost_ns = cost_at(table, row, FINDING_COST_NS),
					  .cost_bytes = cost_at(table, row, FINDING_COST_BYTES) });
}

static int compare_rows(const struct table *table, size_t a, size_t b, const void *context)
{
	const uint64_t *duration_ns = context;
	struct finding_weight first = weight_at(table, a, *duration_ns);
	struct finding_weight second = weight_at(table, b, *duration_ns);

	return finding_compare_weights(&first, &second);
}

/* A wait that matters in a run of a second is nothing in one of an hour: severities are those of
 * all runs together. Findings without a cost keep the severity of their rule. */
static void judge_again(const struct findings *findings, struct table *table)
{
	for (size_t row = 0; row < table->row_count; row++) {
		struct cell *cells = &table->cells[row * table->column_count];
		const struct cell *ns = &cells[FINDING_COST_NS],
				  *bytes = &cells[FINDING_COST_BYTES];
		const struct finding_verdict verdict = {
			.cost_ns = ns->type == CELL_UINT ? ns->uint : TABLE_NO_UINT,
			.cost_bytes = bytes->type == CELL_UINT ? bytes->uint : TABLE_NO_UINT,
		};

		if (ns->type == CELL_UINT ? findings->duration_ns : bytes->type == CELL_UINT)
			table_set_literal(
				table, &cells[FINDING_SEVERITY],
				finding_severities[finding_severity_of(findings, &verdict)]);
	}
}

/* Replaces findings of single runs by what all runs together show. */
static void remake(const struct report *report, struct table *table)
{
	const struct results results = { .report = report };
	struct arena arena = { 0 };
	struct findings findings = { .results = &results, .report = report, .arena = &arena };
	int status = findings_of_runs(&findings, table);

	for (size_t i = 0; i < findings.count && !status; i++)
		table_add(table, &findings.all[i]);
	if (!status)
		judge_again(&findings, table);
	free_findings(&findings);
	if (status) {
		table_fail(table, status);
		return;
	}
	table_sort(table, compare_rows, &findings.duration_ns);
}

const struct analysis analysis_findings = {
	.name = "findings",
	.meaning = "what costs time, with evidence and advice; highest severity and cost first",
	.title = "Findings",
	.shown = "cost_ns,cost_bytes,severity,confidence,id,title",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.conclude = conclude,
	.merging = { .dearest = "cost_ns,cost_bytes,title,says", /* ties do not depend on order */
		     .fixed = columns,
		     .fixed_count = FINDING_COLUMNS },
	.remake = remake,
};
