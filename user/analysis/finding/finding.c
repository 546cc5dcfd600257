/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions for rules: costs, and adding a finding. */
#include "analysis/finding/finding_made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding_text.h"
#include "analysis/phases/levels.h"
#include "analysis/phases/overlap.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/totals/totals.h"
#include "analysis/events/path.h"
#include "analysis/shared/trace_text.h"
#include "collections/arena.h"
#include "collections/grow.h"
#include "base/number.h"
#include "base/units.h"

const struct finding_rule *finding_rule_named(const char *id)
{
	for (size_t i = 0; i < finding_rule_count; i++)
		if (!strcmp(finding_rules[i]->id, id))
			return finding_rules[i];
	return NULL;
}

const struct finding_rule *finding_rule_of(const struct cell *id)
{
	for (size_t i = 0; i < finding_rule_count; i++)
		if (cell_is(id, finding_rules[i]->id))
			return finding_rules[i];
	return NULL;
}

uint64_t finding_bandwidth(uint64_t bytes, uint64_t time_ns)
{
	double bandwidth = time_ns ? bytes * 1e9 / time_ns : 0;

	return bandwidth < 0x1p63 ? bandwidth : INT64_MAX;
}

uint64_t finding_trace_number(const struct findings *findings, const char *name)
{
	uint64_t number;

	table_number(report_by(findings->report, &analysis_trace), 0, name, &number);
	return number;
}

struct table_text finding_base_name(struct table_text path)
{
	size_t start = path_base(path.bytes, path.length);

	if (start == path.length)
		return path;
	return (struct table_text) { path.bytes + start, path.length - start };
}

struct table_text finding_device_name(struct findings *findings, struct trace_string name,
				      uint64_t dev)
{
	char number[UNITS_TEXT];
	struct table_text text = trace_text(name);

	if (!text.bytes) {
		units_device(number, dev);
		text.length = strlen(number);
		text.bytes = arena_text(findings->arena, number, text.length);
	}
	return text;
}

uint64_t finding_waited(const struct findings *findings, enum io_class class, uint64_t time_ns,
			uint64_t path_ns)
{
	struct overlap_view view;

	if (overlap_of(findings->report, class, &view))
		time_ns = (unsigned __int128)time_ns * view.unoverlapped_ns / view.time_ns;
	else
		time_ns = number_min(time_ns, path_ns);
	return time_ns / findings->runs;
}

uint64_t finding_unhidden(const struct findings *findings, enum io_class class, uint64_t time_ns)
{
	const uint64_t path_ns = critical_path_io_ns(findings->results, class);
	const uint64_t all_ns = totals_class(findings->results, class).time.measure;

	return finding_waited(findings, class, time_ns,
			      path_ns < all_ns ? (unsigned __int128)time_ns * path_ns / all_ns
					       : time_ns);
}

uint64_t finding_unhidden_of(const struct findings *findings,
			     const uint64_t times_ns[IO_CLASS_COUNT])
{
	uint64_t sum_ns = 0;

	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++)
		sum_ns = number_add(sum_ns, finding_unhidden(findings, class, times_ns[class]));
	return sum_ns;
}

void finding_divide(uint64_t times_ns[IO_CLASS_COUNT], uint64_t time_ns, enum io_class class)
{
	uint64_t whole_ns = 0, left_ns = time_ns;
	unsigned int largest = class;

	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++) {
		whole_ns = number_add(whole_ns, times_ns[i]);
		if (times_ns[i] > times_ns[largest])
			largest = i;
	}
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++) {
		if (whole_ns)
			times_ns[i] = (unsigned __int128)time_ns * times_ns[i] / whole_ns;
		left_ns -= times_ns[i];
	}
	times_ns[largest] += left_ns; /* what rounding leaves */
}

static uint64_t known(uint64_t number)
{
	return number == TABLE_NO_UINT ? 0 : number;
}

/* Writes the texts, with the evidence filled in. */
static int write_texts(struct findings *findings, struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;
	struct table *record = table_new(rule->id, NULL, TABLE_RECORD);
	int status;

	table_add_columns(record, rule->evidence->columns, rule->evidence->count);
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

static const char *cost_is(const struct findings *findings, const struct finding *finding)
{
	const struct job *job = findings->results->job;
	bool lost = job && (!job->complete || job->lost);
	struct level_view compute;

	if (finding->verdict.cost_ns == TABLE_NO_UINT)
		return NULL;
	if (finding->summed || finding->rule->exactness == FINDING_AT_MOST)
		return "at most";
	if (finding->at_least || lost)
		return "at least";
	if (finding->rule->exactness == FINDING_ESTIMATED)
		return "estimated";
	if (finding->rule->causes_work)
		return "at least";
	if (finding->rule->files.saved || finding->verdict.keeps_ns)
		return "estimated";
	if (finding->rule->sums != FINDING_OF_SPANS &&
	    levels_view(findings->results, ACTIVITY_COMPUTE, &compute) && compute.count)
		return "estimated";
	return "measured";
}

static void weigh(const struct findings *findings, struct finding *finding)
{
	finding->verdict.severity = finding_severity_of(findings, &finding->verdict);
	finding->weight = finding_weigh(
		finding->rule, findings->duration_ns,
		(struct finding_weight) { .severity = finding->verdict.severity,
					  .cost_ns = known(finding->verdict.cost_ns),
					  .cost_bytes = known(finding->verdict.cost_bytes) });
}

int finding_add_as(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		   const struct finding_verdict *verdict)
{
	const struct finding_io io = finding_io_of(rule, evidence, verdict);
	struct finding_verdict raised = *verdict;
	struct finding *finding;
	void *copy;

	if (finding_is_reported(findings, rule->reported_by, verdict->cost_ns, &io))
		return 0;
	/* Concurrent runs together took no less than the one that took longest. */
	if (findings->runs > 1 && raised.cost_ns != TABLE_NO_UINT)
		raised.cost_ns =
			number_max(raised.cost_ns, finding_cost_of_runs(findings, rule->id));
	/* Nothing costs more than the run took, and concurrent threads count several times. */
	if (findings->duration_ns && raised.cost_ns != TABLE_NO_UINT)
		raised.cost_ns = number_min(raised.cost_ns, findings->duration_ns);
	/* CPU work of the same lines is added later. */
	if (!(rule->work_at_lines && findings->results->job) &&
	    !finding_is_worth_it(findings, rule, &raised))
		return 0;
	if (!GROW(findings->all, findings->room, findings->count + 1))
		return -ENOMEM;
	copy = arena_alloc(findings->arena, rule->evidence->bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, evidence, rule->evidence->bytes);
	finding = &findings->all[findings->count++];
	*finding = (struct finding) {
		.rule = rule,
		.evidence = copy,
		.verdict = raised,
		.host = findings->host,
		.runs = 1,
		.cost_cpu_ns = TABLE_NO_UINT,
		.cost_cpu_wait_ns = TABLE_NO_UINT,
		.summed = findings->aggregated && rule->sums == FINDING_OF_SUMS,
		.at_least = findings->runs > 1,
	};
	finding->waited_ns = known(finding->verdict.cost_ns);
	finding->cost_is = cost_is(findings, finding);
	weigh(findings, finding);
	return write_texts(findings, finding);
}

void finding_raise_cost(const struct findings *findings, struct finding *finding, uint64_t cost_ns)
{
	cost_ns = number_min(cost_ns, findings->duration_ns);
	if (finding->verdict.cost_ns == TABLE_NO_UINT || finding->verdict.cost_ns >= cost_ns)
		return;
	finding->verdict.cost_ns = cost_ns;
	finding->verdict.severity = FINDING_BY_COST;
	if (!strcmp(finding->cost_is, "measured") || finding->rule->causes_work)
		finding->cost_is = "estimated";
	weigh(findings, finding);
}

int finding_add(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		uint64_t cost_ns, uint64_t cost_bytes)
{
	const struct finding_verdict verdict = { .cost_ns = cost_ns,
						 .cost_bytes = cost_bytes,
						 .confidence = rule->confidence,
						 .severity = rule->severity };

	return finding_add_as(findings, rule, evidence, &verdict);
}

int finding_add_of(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		   const uint64_t times_ns[IO_CLASS_COUNT])
{
	const struct finding_verdict verdict = { .cost_ns = finding_unhidden_of(findings, times_ns),
						 .cost_bytes = TABLE_NO_UINT,
						 .confidence = rule->confidence,
						 .severity = rule->severity,
						 .uses = finding_uses_of(times_ns) };

	return finding_add_as(findings, rule, evidence, &verdict);
}

void finding_free(struct findings *findings)
{
	free(findings->file_group);
	free(findings->all);
	arena_free(findings->arena);
}
