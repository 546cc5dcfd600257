/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Spans as lanes by thread: the longest individually, and how busy each lane was. */
#pragma once

#include "collections/map.h"
#include "analysis/picture/picture_axis.h"
#include "analysis/order/walk.h"

#define PICTURE_SPANS 2500
#define PICTURE_LANES 48       /* that are shown */
#define PICTURE_LANES_MAX 4096 /* that are followed; spans of further threads are only counted */
#define PICTURE_DEPTHS 6       /* deeper ones share the last */

struct picture_span {
	uint64_t length_ns; /* first, see longest_keep */
	uint64_t begin_ns;
	uint32_t lane, label;
	uint32_t depth;
	bool unfinished;
};

struct picture_lane {
	uint32_t process, thread;
	uint64_t count, time_ns; /* of its spans that are not nested in another of its thread */
	uint64_t kept;		 /* of its spans, individually; valid once finished */
	uint32_t open;		 /* currently */
	uint64_t busy[PICTURE_COARSE]; /* time in such spans */
};

struct picture_spans {
	const struct job *job;
	struct picture_axis axis;
	struct picture_span kept[PICTURE_SPANS];
	size_t kept_count;
	struct map lane_of; /* process << 32 | thread -> lane */
	struct picture_lane *lanes;
	size_t lane_count, lane_room;
	struct picture_open {
		uint32_t lane, depth;
	} * open; /* of each open span, by its slot */
	size_t open_room;
	uint64_t count, overflow;	  /* spans; those of threads without a lane */
	uint32_t reported[PICTURE_LANES]; /* lanes shown, once finished: by rank, process and thread
					   */
	size_t reported_count;
};

void picture_spans_init(struct picture_spans *spans, const struct job *job,
			const struct picture_axis *axis);
void picture_spans_free(struct picture_spans *spans);
/* A span begins, or has ended. Returns 0 or -ENOMEM. */
int picture_spans_begin(struct picture_spans *spans, uint32_t slot);
void picture_spans_end(struct picture_spans *spans, uint32_t slot,
		       const struct picture_stretches *over);
/* Chooses the lanes. Returns 0 or -ENOMEM. */
int picture_spans_finish(struct picture_spans *spans);
