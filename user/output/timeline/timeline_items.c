/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether a slice is drawn, and passes slices and instants to the encoder. */
#include "base/number.h"
#include "output/timeline/timeline_model.h"

bool model_wants(const struct model *model, uint32_t process)
{
	const struct filter *filter = &model->timeline.filter;

	return (filter->pid == FILTER_NONE && filter->rank == FILTER_NONE) ||
	       filter_wants(filter, &model->timeline.job.processes.processes[process], 0, 0,
			    UINT64_MAX);
}

bool model_cut(const struct model *model, struct timeline_item *item, uint64_t start_ns,
	       uint64_t end_ns)
{
	const struct timeline *timeline = &model->timeline;
	bool late, early;

	item->start_ns = number_sub(start_ns, timeline->base_ns);
	item->end_ns = number_sub(end_ns, timeline->base_ns);
	late = item->start_ns < timeline->from_ns;
	early = item->end_ns > timeline->until_ns;
	if (item->start_ns >= timeline->until_ns || (late && item->end_ns <= timeline->from_ns) ||
	    end_ns - start_ns < timeline->filter.min_duration_ns)
		return false;
	if (!model->encoder->cuts)
		return true;
	if (late)
		item->start_ns = timeline->from_ns;
	if (early)
		item->end_ns = timeline->until_ns;
	item->cut = late && early ? "both" : late ? "start" : early ? "end" : NULL;
	return true;
}

void model_slice(struct model *model, struct sink *waiting, struct timeline_item *item,
		 uint32_t track, uint32_t thread)
{
	if (track == TIMELINE_NONE)
		return;
	if (item->cut)
		item_add_text(item, TIMELINE_CUT, TIMELINE_TEXT, timeline_literal(item->cut));
	item->track = item->thread = track_use(model, track);
	if (thread == TIMELINE_NONE)
		item->thread = NULL;
	else if (thread != track)
		item->thread = track_use(model, thread);
	model->encoder->slice(&model->timeline, waiting ? waiting : model->timeline.out, item);
}

void model_instant(struct model *model, struct timeline_item *item, uint32_t thread)
{
	const struct timeline_track *track;

	if (thread == TIMELINE_NONE)
		return;
	item->track = item->thread = track = track_use(model, thread);
	for (uint32_t i = 0; i < track->depth; i++)
		item->inside |= track->ends[i] > item->start_ns;
	model->encoder->instant(&model->timeline, item);
}
