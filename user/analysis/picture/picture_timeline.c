/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measures each stretch exactly, like the table "timeline" (course.c explains why that is exact),
 * and what compute overlapped in it.
 */
#include "analysis/picture/picture_course.h"

#include <string.h>

#include "analysis/phases/activity.h"
#include "base/number.h"

void picture_course_init(struct picture_course *course, const struct job *job,
			 const struct picture_axis *axis)
{
	memset(course, 0, sizeof(*course));
	course->job = job;
	course->axis = *axis;
	course->now_ns = axis->start_ns;
	course->until_ns = number_add(axis->start_ns, axis->fine_ns);
}

/* Adds the time from now to a moment in the same stretch. */
static void add_stretch(struct picture_course *course, uint64_t until_ns)
{
	struct picture_stretch *stretch = &course->stretches[course->at];
	uint64_t now_ns = course->now_ns, computed_ns = now_ns;

	if (course->compute_open)
		computed_ns = until_ns;
	else if (course->compute_end_ns > now_ns)
		computed_ns = number_min(course->compute_end_ns, until_ns);
	stretch->compute_ns += computed_ns - now_ns;
	for (unsigned int left = course->under_way; left; left &= left - 1) {
		unsigned int i = __builtin_ctz(left);
		uint64_t end_ns = number_min(course->ends[i], until_ns);

		stretch->hidden_ns[i] += number_min(end_ns, computed_ns) - now_ns;
		stretch->alone_ns[i] += number_sub(end_ns, computed_ns);
		if (course->ends[i] <= until_ns)
			course->under_way &= ~(1u << i);
	}
	course->now_ns = until_ns;
}

/* Advances to a moment; time after the end of the run is left out. */
static void advance(struct picture_course *course, uint64_t time_ns)
{
	time_ns = number_min(time_ns, course->axis.end_ns);
	while (course->now_ns < time_ns) {
		if (course->at + 1 == PICTURE_FINE || time_ns <= course->until_ns) {
			add_stretch(course, time_ns);
			return;
		}
		add_stretch(course, course->until_ns);
		course->at++;
		course->until_ns = number_add(course->until_ns, course->axis.fine_ns);
	}
}

/* Advances to a moment, with what a GPU did until then. */
static void go_to(struct picture_course *course, uint64_t time_ns)
{
	const struct gpu *gpu = course->job->activities->gpu;

	while (gpu && course->gpu_next < gpu->count &&
	       gpu->intervals[course->gpu_next].start_ns <= time_ns) {
		const struct gpu_interval *interval = &gpu->intervals[course->gpu_next++];

		advance(course, interval->start_ns);
		if (interval->end_ns > course->compute_end_ns)
			course->compute_end_ns = interval->end_ns;
		course->computes = true;
	}
	advance(course, time_ns);
}

static void extend(struct picture_course *course, unsigned int of, uint64_t to_ns)
{
	if (to_ns <= course->ends[of] || to_ns <= course->now_ns)
		return;
	course->ends[of] = to_ns;
	course->under_way |= 1u << of;
}

void picture_course_add(struct picture_course *course, const struct picture_event *at)
{
	const struct picture_axis *axis = &course->axis;
	const struct picture_stretches *over = &at->over;
	const size_t step = sizeof(course->stretches[0]);
	struct picture_stretch *all = course->stretches;
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
	go_to(course, event->start);
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
	extend(course, PICTURE_ALL, event->end);
	extend(course, at->part, event->end);
}

static bool computes(const struct picture_course *course, const struct span *span)
{
	return course->job->labels.labels[span->label].meaning == CATEGORY_COMPUTE;
}

void picture_course_turn(struct picture_course *course, const struct span *span, bool begins)
{
	if (!computes(course, span))
		return;
	go_to(course, begins ? span->begin_ns : span->end_ns);
	course->compute_open += begins ? 1 : -1;
	course->computes |= begins;
}

void picture_course_finish(struct picture_course *course)
{
	go_to(course, course->axis.end_ns);
}
