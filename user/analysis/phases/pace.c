/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums time and compute from step to step. */
#include <errno.h>

#include "analysis/phases/pace.h"
#include "analysis/phases/progress.h"

static struct pace_group *group_of(struct paces *paces, uint32_t group)
{
	return ARENA_GROW(paces->arena, paces->groups, paces->room, (size_t)group + 1)
		       ? &paces->groups[group]
		       : NULL;
}

int paces_begin(struct paces *paces, unsigned int cut, uint32_t group)
{
	struct pace_group *of = group_of(paces, group);

	if (!of)
		return -ENOMEM;
	of->cuts[cut].in_step = false;
	return 0;
}

/* A checkpoint does not interrupt training if compute goes on during it. */
static bool interrupts(const struct job *job, const struct label *label, uint32_t group)
{
	return label->meaning == CATEGORY_CHECKPOINT &&
	       !job->activities->groups[group].of[ACTIVITY_COMPUTE].open;
}

int paces_span_begun(struct paces *paces, const struct job *job, uint32_t slot)
{
	const struct span *span = &job->spans.slots[slot];
	const struct label *label = &job->labels.labels[span->label];
	uint32_t group = activities_group(job->activities, span->process);
	bool evaluates = label_names_evaluation(label);
	struct pace_group *of;

	if (!evaluates && !interrupts(job, label, group))
		return 0;
	of = group_of(paces, group);
	if (!of)
		return -ENOMEM;
	for (int i = 0; i < PACE_CUTS; i++)
		of->cuts[i].in_step = false;
	of->evaluations += evaluates;
	return 0;
}

static void end_compute(struct pace_group *of, uint64_t time_ns, uint64_t compute_ns)
{
	for (struct pace_cut *cut = of->cuts; cut < of->cuts + PACE_CUTS; cut++) {
		if (cut->in_step) {
			cut->sum.time_ns += time_ns - of->ended_ns;
			cut->sum.compute_ns += compute_ns - of->compute_ns;
		}
		cut->in_step = true;
	}
	of->ended_ns = time_ns;
	of->compute_ns = compute_ns;
}

int paces_span_ended(struct paces *paces, const struct job *job, uint32_t slot)
{
	const struct span *span = &job->spans.slots[slot];
	const struct label *label = &job->labels.labels[span->label];
	uint32_t group = activities_group(job->activities, span->process);
	bool evaluates = label_names_evaluation(label);
	struct pace_group *of;

	if (!evaluates && label->meaning != CATEGORY_COMPUTE)
		return 0;
	of = group_of(paces, group);
	if (!of)
		return -ENOMEM;
	if (evaluates)
		of->evaluations--;
	else if (!of->evaluations)
		end_compute(of, span->end_ns, progress_at(job, group, span->end_ns).compute_ns);
	return 0;
}

struct pace paces_of(const struct paces *paces, unsigned int cut, uint32_t group)
{
	return group < paces->room ? paces->groups[group].cuts[cut].sum : (struct pace) { 0 };
}
