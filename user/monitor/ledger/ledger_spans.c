/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Spans of jobs by name: a fixed number of rows, and one for all others. */
#include "monitor/ledger/ledger_state.h"

#include <stdlib.h>
#include <string.h>

static const struct ledger_span_name others = { LEDGER_OTHER, LEDGER_OTHER };

static bool is_named(const struct ledger_span *span, const struct ledger_span_name *name)
{
	return span->last_ns && !strcmp(span->name.name, name->name) &&
	       !strcmp(span->name.category, name->category);
}

static bool is_others(const struct ledger_span_name *name)
{
	return !strcmp(name->name, others.name) && !strcmp(name->category, others.category);
}

/* Returns the row of a name, taking a free one if needed; the last stands for all others, and for
 * spans called so. */
static struct ledger_span *find(struct ledger *ledger, struct ledger_job *job,
				const struct ledger_span_name *name)
{
	struct ledger_span *free_one = NULL;

	for (unsigned int i = 0; i < LEDGER_SPANS_MAX && !is_others(name); i++) {
		struct ledger_span *span = &job->spans[i];

		if (is_named(span, name))
			return span;
		if (!span->last_ns && !free_one)
			free_one = span;
	}
	if (!free_one) {
		free_one = &job->spans[LEDGER_SPANS_MAX];
		name = &others;
	}
	if (!free_one->last_ns) {
		free_one->name = *name;
		free_one->folded =
			!ledger_take_series(ledger, job, ledger->options.costs.span, false);
	}
	return free_one;
}

void ledger_put_span(struct ledger *ledger, struct ledger_job *job, uint64_t time_ns,
		     const struct ledger_span_name *name, uint64_t count, uint64_t lasted_ns)
{
	struct ledger_span *span;

	if (!job->spans)
		job->spans = calloc(LEDGER_SPANS_MAX + 1, sizeof(*job->spans));
	if (!job->spans)
		return;
	span = find(ledger, job, name);
	span->count += count;
	span->time_ns += lasted_ns;
	if (span->last_ns < time_ns)
		span->last_ns = time_ns;
	if (span->folded) {
		ledger->node.folded_spans.count += count;
		ledger->node.folded_spans.time_ns += lasted_ns;
	}
}

static void retire(struct ledger *ledger, struct ledger_span *span)
{
	if (span->last_ns && !span->folded)
		ledger->node.series_used -= ledger->options.costs.span;
	*span = (struct ledger_span) { 0 };
}

void ledger_retire_spans(struct ledger *ledger, struct ledger_job *job, uint64_t until_ns)
{
	for (unsigned int i = 0; job->spans && i < LEDGER_SPANS_MAX; i++)
		if (ledger_has_exited(ledger, job->spans[i].last_ns, until_ns))
			retire(ledger, &job->spans[i]);
}

void ledger_free_spans(struct ledger *ledger, struct ledger_job *job)
{
	for (unsigned int i = 0; job->spans && i <= LEDGER_SPANS_MAX; i++)
		retire(ledger, &job->spans[i]);
	free(job->spans);
	job->spans = NULL;
}
