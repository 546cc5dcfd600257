/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Collects spans by thread during the walk. */
#include "analysis/picture/picture_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/longest.h"
#include "collections/grow.h"
#include "base/number.h"

#define NO_LANE UINT32_MAX

void picture_spans_init(struct picture_spans *spans, const struct job *job,
			const struct picture_axis *axis)
{
	memset(spans, 0, sizeof(*spans));
	spans->job = job;
	spans->axis = *axis;
	map_init(&spans->lane_of, 1, 1);
}

void picture_spans_free(struct picture_spans *spans)
{
	map_free(&spans->lane_of);
	free(spans->lanes);
	free(spans->open);
}

static int find_lane(struct picture_spans *spans, const struct span *span, uint32_t *lane)
{
	const uint64_t key = (uint64_t)span->process << 32 | span->thread;
	const uint64_t *known = map_find(&spans->lane_of, &key);
	uint64_t *added;
	bool is_new;

	*lane = known ? *known : NO_LANE;
	if (known || spans->lane_count == PICTURE_LANES_MAX)
		return 0;
	if (!GROW(spans->lanes, spans->lane_room, spans->lane_count + 1))
		return -ENOMEM;
	added = map_add(&spans->lane_of, &key, &is_new);
	if (!added)
		return -ENOMEM;
	*added = *lane = spans->lane_count++;
	spans->lanes[*lane] =
		(struct picture_lane) { .process = span->process, .thread = span->thread };
	return 0;
}

int picture_spans_begin(struct picture_spans *spans, uint32_t slot)
{
	struct picture_open *open;
	int status;

	if (!GROW(spans->open, spans->open_room, (size_t)slot + 1))
		return -ENOMEM;
	open = &spans->open[slot];
	status = find_lane(spans, &spans->job->spans.slots[slot], &open->lane);
	if (!status && open->lane != NO_LANE)
		open->depth = spans->lanes[open->lane].open++;
	return status;
}

void picture_spans_end(struct picture_spans *spans, uint32_t slot,
		       const struct picture_stretches *over)
{
	const struct span *span = &spans->job->spans.slots[slot];
	const struct picture_open *open = &spans->open[slot];
	struct picture_lane *lane;
	const struct picture_span kept = {
		.length_ns = span->end_ns - span->begin_ns,
		.begin_ns = span->begin_ns,
		.lane = open->lane,
		.label = span->label,
		.depth = number_min(open->depth, PICTURE_DEPTHS - 1),
		.unfinished = span->unfinished,
	};

	spans->count++;
	if (open->lane == NO_LANE) {
		spans->overflow++;
		return;
	}
	lane = &spans->lanes[open->lane];
	lane->open--;
	if (!open->depth) {
		lane->count++;
		lane->time_ns += kept.length_ns;
		picture_spread_coarse(lane->busy, sizeof(lane->busy[0]), &spans->axis, over,
				      kept.length_ns);
	}
	longest_keep(spans->kept, &spans->kept_count, PICTURE_SPANS, &kept, sizeof(kept));
}

/* --- lanes shown: those with the most time, by rank, process and thread --- */

struct lane_order {
	uint64_t time_ns;
	int64_t rank;
	uint64_t start_ns;
	uint32_t process, thread, lane;
};

COMPARE_BY(compare_times, struct lane_order,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->lane, b->lane))

COMPARE_BY(compare_owners, struct lane_order,
	   COMPARE(a->rank, b->rank) ?:
	   COMPARE(a->start_ns, b->start_ns) ?:
	   COMPARE(a->process, b->process) ?:
	   COMPARE(a->thread, b->thread))

int picture_spans_finish(struct picture_spans *spans)
{
	struct lane_order *order =
		reallocarray(NULL, spans->lane_count + 1, sizeof(struct lane_order));
	const struct process *processes = spans->job->processes.processes;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < spans->lane_count; i++) {
		const struct picture_lane *lane = &spans->lanes[i];

		order[i] = (struct lane_order) {
			.time_ns = lane->time_ns,
			.rank = processes[lane->process].rank,
			.start_ns = processes[lane->process].start_ns,
			.process = lane->process,
			.thread = lane->thread,
			.lane = i,
		};
	}
	qsort(order, spans->lane_count, sizeof(*order), compare_times);
	spans->reported_count = number_min(spans->lane_count, PICTURE_LANES);
	qsort(order, spans->reported_count, sizeof(*order), compare_owners);
	for (size_t i = 0; i < spans->reported_count; i++)
		spans->reported[i] = order[i].lane;
	for (size_t i = 0; i < spans->kept_count; i++)
		spans->lanes[spans->kept[i].lane].kept++;
	free(order);
	return 0;
}
