/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Puts blocks in the order in which they are opened. */
#include "analysis/order/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/order/cursor.h"
#include "collections/compare.h"

COMPARE_BY(compare_planned, struct planned_block,
	   COMPARE(a->start_ns, b->start_ns) ?:
	   COMPARE(a->trace, b->trace) ?:
	   COMPARE(a->number, b->number))

/* Kinds whose events come before or after others that start together: a zero-length span begins
 * before it ends, a sample precedes its operation, a process ends after everything it does, and
 * names of files follow. */
enum { TURN_FIRST = -2, TURN_LAST = 2 };
static const int turns[TRACE_KIND_COUNT] = {
	[TRACE_SPAN_BEGIN] = TURN_FIRST, [TRACE_SAMPLE] = -1,	   [TRACE_SPAN_END] = 1,
	[TRACE_EXEC] = TURN_LAST,	 [TRACE_EXIT] = TURN_LAST, [TRACE_FILE] = TURN_LAST,
};

static void set_orders(struct plan *plan, const struct job *job)
{
	size_t order = 0;

	for (int turn = TURN_FIRST; turn <= TURN_LAST; turn++)
		for (struct planned_block *block = plan->blocks; block < plan->blocks + plan->count;
		     block++) {
			const struct trace_reader *reader = job->traces[block->trace].reader;

			if (turns[trace_reader_block_info(reader, block->number)->kind] == turn)
				block->order = order++;
		}
}

/* True if a block may have wanted rows; a block without keys may have any. */
static bool may_have(const struct trace_block_info *info, const struct cursor_keys *keys)
{
	return !keys || ((!info->pids || info->pids & keys->pids) &&
			 (!info->files || info->files & keys->files));
}

static void plan_block(struct plan *plan, const struct job *job,
		       const struct cursor_options *options, uint32_t trace, size_t number)
{
	const struct job_trace *of = &job->traces[trace];
	const struct trace_block_info *info = trace_reader_block_info(of->reader, number);
	uint64_t start_ns = clock_shifted(of->clock, info->start);

	if (!(options->kinds >> info->kind & 1) || !info->rows || start_ns > options->until_ns)
		return;
	if (!(CURSOR_SPAN_KINDS >> info->kind & 1) &&
	    (clock_shifted(of->clock, info->end) < options->from_ns ||
	     !may_have(info, options->keys ? &options->keys[trace] : NULL)))
		return;
	plan->blocks[plan->count++] = (struct planned_block) {
		.start_ns = start_ns,
		.trace = trace,
		.rows = info->rows,
		.number = number,
	};
	plan->rows += info->rows;
}

int plan_make(struct plan *plan, const struct job *job, const struct cursor_options *options)
{
	size_t blocks = 0;

	*plan = (struct plan) { .count = 0 };
	for (size_t i = 0; i < job->trace_count; i++)
		blocks += trace_reader_block_count(job->traces[i].reader);
	plan->blocks = reallocarray(NULL, blocks ? blocks : 1, sizeof(*plan->blocks));
	if (!plan->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->trace_count; i++)
		for (size_t j = 0; j < trace_reader_block_count(job->traces[i].reader); j++)
			plan_block(plan, job, options, i, j);
	qsort(plan->blocks, plan->count, sizeof(*plan->blocks), compare_planned);
	set_orders(plan, job);
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan->blocks);
	*plan = (struct plan) { .count = 0 };
}
