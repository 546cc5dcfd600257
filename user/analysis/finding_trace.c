/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about the trace itself. Knows nothing of what was traced.
 */
#include "analysis/finding.h"

struct loss {
	uint64_t lost, events;
	double share;
};

static const struct table_column loss_evidence[] = {
	{ "lost", "lost", UNIT_COUNT, "events that were lost", TABLE_UINT(struct loss, lost), 0 },
	{ "events", "events", UNIT_COUNT, "all events, the lost ones included",
	  TABLE_UINT(struct loss, events), 0 },
	{ "share", "share", UNIT_SHARE, "lost of all", TABLE_REAL(struct loss, share), 0 },
};

static int find_loss(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->measured->job;
	struct loss loss = { .lost = job->lost };
	struct finding_verdict verdict = {
		.cost_ns = TABLE_NO_UINT,
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_SURE,
		.severity = FINDING_NOTE,
	};

	if (!job->lost)
		return 0;
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			loss.events += totals->kinds[j].events;
	}
	loss.share = loss.events ? (double)loss.lost / loss.events : 0;
	if (loss.share >= threshold(THRESHOLD_LOSS_HIGH))
		verdict.severity = FINDING_HIGH;
	return finding_add(findings, rule, &loss, &verdict);
}

static const enum threshold loss_thresholds[] = { THRESHOLD_LOSS_HIGH };

const struct finding_rule finding_loss = {
	.id = "loss",
	.find = find_loss,
	FINDING_EVIDENCE(struct loss, loss_evidence),
	FINDING_THRESHOLDS(loss_thresholds),
	.title = "events were lost: tables of files, processes and spans lack them",
	.says = "{lost} of {events} events ({share}); counts and bytes of the totals are exact, "
		"times are lower bounds",
	.advice = "record with a larger --buffer, or with fewer --layers",
	.more = "faultline report --table trace TRACE",
	.rule = "The kernel counts every event before it can be lost. Totals come from there and "
		"are exact; all that goes by single events, such as times and the table of files, "
		"is without the lost ones.",
};
