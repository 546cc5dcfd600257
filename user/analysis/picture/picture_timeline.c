/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measures each stretch exactly, like the table "timeline" (timeline.c explains why that is exact),
 * and what compute overlapped in it.
 */
#include "analysis/picture/picture_timeline.h"

#include <string.h>

#include "analysis/phases/activity.h"
#include "base/number.h"

void picture_timeline_init(struct picture_timeline *timeline, const struct job *job,
			   const struct picture_axis *axis)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->job = job;
	timeline->axis = *axis;
	timeline->now_ns = axis->start_ns;
	timeline->until_ns = number_add(axis->start_ns, axis->fine_ns);
}

/* Adds the time from now to a moment in the same stretch. */
static void add_stretch(struct picture_timeline *timeline, uint64_t until_ns)
{
	struct picture_stretch *stretch = &timeline->stretches[timeline->at];
	uint64_t now_ns = timeline->now_ns, computed_ns = now_ns;

	if (timeline->compute_open)
		computed_ns = until_ns;
	else if (timeline->compute_end_ns > now_ns)
		computed_ns = number_min(timeline->compute_end_ns, until_ns);
	stretch->compute_ns += computed_ns - now_ns;
	for (unsigned int left = timeline->under_way; left; left &= left - 1) {
		unsigned int i = __builtin_ctz(left);
		uint64_t end_ns = number_min(timeline->ends[i], until_ns);

		stretch->hidden_ns[i] += number_min(end_ns, computed_ns) - now_ns;
		stretch->alone_ns[i] += number_sub(end_ns, computed_ns);
		if (timeline->ends[i] <= until_ns)
			timeline->under_way &= ~(1u << i);
	}
	timeline->now_ns = until_ns;
}

/* Advances to a moment; time after the end of the run is left out. */
static void advance(struct picture_timeline *timeline, uint64_t time_ns)
{
	time_ns = number_min(time_ns, timeline->axis.end_ns);
	while (timeline->now_ns < time_ns) {
		if (timeline->at + 1 == PICTURE_FINE || time_ns <= timeline->until_ns) {
			add_stretch(timeline, time_ns);
			return;
		}
		add_stretch(timeline, timeline->until_ns);
		timeline->at++;
		timeline->until_ns = number_add(timeline->until_ns, timeline->axis.fine_ns);
	}
}

/* Advances to a moment, with what a GPU did until then. */
static void go_to(struct picture_timeline *timeline, uint64_t time_ns)
{
	const struct gpu *gpu = timeline->job->activities->gpu;

	while (gpu && timeline->gpu_next < gpu->count &&
	       gpu->intervals[timeline->gpu_next].start_ns <= time_ns) {
		const struct gpu_interval *interval = &gpu->intervals[timeline->gpu_next++];

		advance(timeline, interval->start_ns);
		if (interval->end_ns > timeline->compute_end_ns)
			timeline->compute_end_ns = interval->end_ns;
		timeline->computes = true;
	}
	advance(timeline, time_ns);
}

static void extend(struct picture_timeline *timeline, unsigned int of, uint64_t to_ns)
{
	if (to_ns <= timeline->ends[of] || to_ns <= timeline->now_ns)
		return;
	timeline->ends[of] = to_ns;
	timeline->under_way |= 1u << of;
}

void picture_timeline_add(struct picture_timeline *timeline, const struct picture_event *at)
{
	const struct picture_axis *axis = &timeline->axis;
	const struct picture_stretches *over = &at->over;
	const size_t step = sizeof(timeline->stretches[0]);
	struct picture_stretch *all = timeline->stretches;
	const struct event *event = at->event;

	if (event_is_remote(event))
		return; /* what a daemon reads from a device of this machine counts there */
	if (event->flags & EVENT_REQUEST) {
		if (at->use == DEVICE_READS)
			picture_spread_fine(&all->device_read_bytes, step, axis, over,
					    event->bytes);
		else if (at->use == DEVICE_WRITES)
			picture_spread_fine(&all->device_write_bytes, step, axis, over,
					    event->bytes);
		return;
	}
	if (event->class == IO_NONE && !(event->flags & EVENT_PAGECACHE))
		return;
	go_to(timeline, event->start);
	picture_spread_fine(&all->fetched_bytes, step, axis, over, event->fetched_bytes);
	picture_spread_fine(&all->created_bytes, step, axis, over, event->created_bytes);
	if (event->class == IO_NONE)
		return;
	if (event->class == IO_READ)
		picture_spread_fine(&all->read_bytes, step, axis, over, event->bytes);
	else if (event->class == IO_WRITE)
		picture_spread_fine(&all->write_bytes, step, axis, over, event->bytes);
	if (event->flags & EVENT_COUNTED) {
		struct picture_stretch *stretch = &all[over->first_fine];

		stretch->operations++;
		stretch->major += event->flags & EVENT_FAULT && event->major ? 1 : 0;
		stretch->minor += event->flags & EVENT_FAULT && !event->major ? 1 : 0;
	}
	if (!(event->flags & EVENT_TIMED))
		return;
	extend(timeline, PICTURE_ALL, event->end);
	extend(timeline, at->part, event->end);
}

static bool computes(const struct picture_timeline *timeline, const struct span *span)
{
	return timeline->job->labels.labels[span->label].meaning == CATEGORY_COMPUTE;
}

void picture_timeline_span(struct picture_timeline *timeline, const struct span *span, bool begins)
{
	if (!computes(timeline, span))
		return;
	go_to(timeline, begins ? span->begin_ns : span->end_ns);
	timeline->compute_open += begins ? 1 : -1;
	timeline->computes |= begins;
}

void picture_timeline_finish(struct picture_timeline *timeline)
{
	go_to(timeline, timeline->axis.end_ns);
}
