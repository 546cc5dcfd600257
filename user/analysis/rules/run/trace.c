/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about the trace itself: what it lacks, and what tracing cost. */
#include "analysis/finding/finding.h"
#include "analysis/run/loss.h"
#include "analysis/shared/results.h"
#include "analysis/totals/totals.h"
#include "analysis/run/trace_table.h"
#include "base/number.h"

struct loss {
	uint64_t lost, events;
	double share;
	const char *cause, *why, *remedy;
};

static const struct table_column loss_evidence[] = {
	FACT(loss, lost, "lost", COUNT, "lost events"),
	FACT(loss, events, "events", COUNT, "all events, the lost ones included"),
	FACT(loss, share, "share", SHARE, "share of lost events"),
	FACT(loss, cause, "cause", NONE, "main cause, as in lost.cause of the trace"),
	FACT(loss, why, "why", NONE, "the cause in words"),
	FACT(loss, remedy, "remedy", NONE, "how to avoid it"),
};

static const struct loss_cause *cause_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? loss_cause_named(cell->text, cell->length) : NULL;
}

THRESHOLD(LOSS_HIGH, 0.10, UNIT_SHARE, "share of lost events above which the loss is high",
	  "a choice: beyond it the tables mislead");

static int find_loss(struct findings *findings, const struct finding_rule *rule)
{
	const struct table *trace = report_by(findings->report, &analysis_trace);
	const struct cell *lost = &trace->cells[ABOUT_LOST], *events = &trace->cells[ABOUT_EVENTS];
	const struct loss_cause *cause = cause_of(&trace->cells[ABOUT_LOST_CAUSE]);
	struct loss loss = {
		.lost = lost->type == CELL_UINT ? lost->uint : 0,
		.events = events->type == CELL_UINT ? events->uint : 0,
		.remedy = "record with a larger --buffer, or with fewer --layers",
	};
	struct finding_verdict verdict = { .cost_ns = TABLE_NO_UINT,
					   .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_SURE,
					   .severity = FINDING_NOTE };

	if (!loss.lost)
		return 0;
	loss.share = finding_share(loss.lost, loss.events);
	if (cause) {
		loss.cause = cause->name;
		loss.why = cause->why;
		loss.remedy = cause->remedy;
	}
	if (loss.share >= threshold(THRESHOLD_LOSS_HIGH))
		verdict.severity = FINDING_HIGH;
	return finding_add_as(findings, rule, &loss, &verdict);
}

const struct finding_rule finding_loss = {
	.id = "loss",
	.order = 30,
	.find = find_loss,
	.cross_run = true,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct loss, loss_evidence),
	.thresholds = { &THRESHOLD_LOSS_HIGH },
	.title = "Events were lost: tables of files, processes and spans are incomplete",
	.says = "{lost} of {events} events ({share})[: {why}]; counts and bytes of the totals are "
		"exact, times are lower bounds",
	.advice = "{remedy}",
	.advice_in_general =
		"Record with a larger --buffer or fewer --layers, leave Faultline a CPU, and "
		"write the trace to a fast disk with enough space",
	.caveat = "lost",
	.more = "faultline report --table trace TRACE",
	.pictures = "lost",
	.rule = "The kernel counts every event before it can be lost. Totals come from these "
		"counts and are exact; everything based on single events, such as times and the "
		"table of files, excludes lost events.",
};

/* --- asynchronous I/O that is not recorded --- */

struct untraced {
	uint64_t count, polled_rings;
};

static const struct table_column untraced_evidence[] = {
	FACT(untraced, count, "count", COUNT,
	     "operations submitted by io_uring_enter and io_submit"),
	FACT(untraced, polled_rings, "polled rings", COUNT,
	     "rings polled by the kernel, whose operations are not counted"),
};

static int find_async(struct findings *findings, const struct finding_rule *rule)
{
	const struct submissions submissions = totals_submissions(findings->results);
	const struct untraced untraced = {
		.count = submissions.uring + submissions.libaio,
		.polled_rings = submissions.polled_rings,
	};

	if (!untraced.count && !untraced.polled_rings)
		return 0;
	return finding_add(findings, rule, &untraced, TABLE_NO_UINT, TABLE_NO_UINT);
}

const struct finding_rule finding_untraced_async = {
	.id = "async-not-traced",
	.order = 40,
	.needs = JOB_SYSCALL,
	.find = find_async,
	.confidence = FINDING_SURE,
	.severity = FINDING_HIGH,
	.cross_run = true,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct untraced, untraced_evidence),
	.title = "Operations of io_uring or libaio are not recorded",
	.says = "{count} operations were submitted, and {polled_rings} rings are polled; no number "
		"here includes their bytes and times",
	.advice = "Compare with /proc/PID/io, or let the program use read and write while it is "
		  "traced",
	.caveat = "async",
	.more = "faultline report --table operations TRACE",
	.pictures = "calls untraced",
	.rule = "Operations of io_uring and libaio have no system calls of their own. The pages "
		"that they bring into the cache are reported as unattributed; the rest is not "
		"visible.",
};

/* --- cost of tracing --- */

struct tracing {
	uint64_t events, cost_ns;
	double of_run;
};

static const struct table_column tracing_evidence[] = {
	FACT(tracing, events, "events", COUNT, "all events"),
	FACT(tracing, cost_ns, "cost", NS, "their estimated total cost"),
	FACT(tracing, of_run, "of the run", SHARE,
	     "that cost relative to the run and the CPUs in use"),
};

/* Faults that are only counted cost time, too, and are not events of any kind. */
static uint64_t counted_faults(const struct trace_header *header, const struct trace_totals *totals)
{
	uint64_t count = 0;

	for (size_t i = 0; i < totals->operation_count; i++)
		if (header->operations[i].family == TRACE_ANONFAULT)
			count += totals->operations[i].count;
	return count;
}

THRESHOLD(TRACER_EVENT_NS, 150, UNIT_NS, "approximate cost of an event for its process",
	  "make bench: 90 to 300 ns per event");
THRESHOLD_MIN(TRACER_SHARE, 0.05, UNIT_SHARE, "share of the run that tracing costs",
	      "Faultline's aim: 5% or less");

static int find_cost(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	struct tracing tracing = { 0 };
	uint64_t cpus;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			tracing.events += totals->kinds[j].events;
		if (totals)
			tracing.events += counted_faults(job->traces[i].header, totals);
	}
	tracing.cost_ns = tracing.events * threshold(THRESHOLD_TRACER_EVENT_NS);
	/* Concurrency is unknown: assumes a thread per CPU, but no more than there are
	 * processes. */
	cpus = number_min(job_cpus(job),
			  job->processes.count - 1); /* one stands for unknown processes */
	if (findings->duration_ns && cpus)
		tracing.of_run = (double)tracing.cost_ns / findings->duration_ns / cpus;
	if (tracing.of_run < threshold(THRESHOLD_TRACER_SHARE))
		return 0;
	return finding_add(findings, rule, &tracing, TABLE_NO_UINT, TABLE_NO_UINT);
}

const struct finding_rule finding_tracer_cost = {
	.id = "tracer-cost",
	.order = 50,
	.find = find_cost,
	.confidence = FINDING_GUESS,
	.severity = FINDING_NOTE,
	FINDING_EVIDENCE(struct tracing, tracing_evidence),
	.thresholds = { &THRESHOLD_TRACER_EVENT_NS, &THRESHOLD_TRACER_SHARE },
	.title = "Tracing takes a noticeable part of this run",
	.says = "{events} events cost about {cost_ns} in total: {of_run} of the run",
	.advice = "Treat times as upper bounds, and record fewer --layers or --file-types",
	.more = "faultline report --table trace TRACE",
	.pictures = "rates events",
	.rule = "An estimate: the number of events times the cost of one. A job that makes "
		"millions of tiny calls runs slower under a tracer; its counts and bytes are still "
		"exact.",
};
