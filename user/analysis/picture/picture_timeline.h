/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The timeline of a run for pictures: in each fine stretch how long I/O was in flight, by part,
 * with and without compute, and what it moved.
 */
#pragma once

#include "analysis/picture/picture_event.h"

/* The union of all I/O follows its parts. */
#define PICTURE_ALL PICTURE_PARTS
#define PICTURE_UNIONS (PICTURE_PARTS + 1)

struct picture_stretch {
	uint64_t compute_ns;
	uint64_t alone_ns[PICTURE_UNIONS];  /* without compute */
	uint64_t hidden_ns[PICTURE_UNIONS]; /* with compute */
	/* Spread evenly over the operations, or requests, that moved them: */
	uint64_t read_bytes, write_bytes, fetched_bytes, created_bytes;
	uint64_t device_read_bytes, device_write_bytes;
	/* Of operations that began in it: */
	uint64_t minor, major, operations;
};

struct picture_timeline {
	const struct job *job;
	struct picture_axis axis;
	struct picture_stretch stretches[PICTURE_FINE];
	unsigned int at; /* stretch that `now_ns` is in */
	uint64_t now_ns, until_ns;
	uint64_t ends[PICTURE_UNIONS]; /* of the current or last interval of each union */
	unsigned int under_way;	       /* unions that have not ended yet, as bits */
	uint64_t compute_end_ns, compute_open;
	size_t gpu_next;
	bool computes; /* whether anything did */
};

void picture_timeline_init(struct picture_timeline *timeline, const struct job *job,
			   const struct picture_axis *axis);
void picture_timeline_add(struct picture_timeline *timeline, const struct picture_event *at);
/* A span begins, or has ended. */
void picture_timeline_span(struct picture_timeline *timeline, const struct span *span, bool begins);
/* Must run once all events have passed. */
void picture_timeline_finish(struct picture_timeline *timeline);
