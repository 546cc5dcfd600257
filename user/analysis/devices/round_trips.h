/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What round trips to a mount's server show: whether its reads wait for the link or for the server,
 * whether readahead limits their size, and which attributes are asked for again.
 */
#pragma once

#include "analysis/events/event.h"
#include "analysis/job/job.h"
#include "analysis/shared/finding_threshold.h"
#include "collections/arena.h"
#include "collections/map.h"

struct round_trips;

THRESHOLD_MIN(ROUND_TRIPS, 20, UNIT_COUNT, "NFS reads, and requests without data, to compare",
	      "a choice: as for requests to a device");
THRESHOLD_MIN(TRIP_OF_READ, 0.5, UNIT_SHARE,
	      "share of a read's round trip that one without data takes, for the link to be slow",
	      "a majority");
THRESHOLD_MAX(FAST_READ, 0.5, UNIT_SHARE,
	      "share of a read's round trip that the fastest tenth take, for the server to be slow",
	      "the link carries such reads in that time");
THRESHOLD_MAX(ONE_READ, 1.5, UNIT_NONE,
	      "average reads in flight, for that: more of them wait for each other on the link",
	      "a choice: most of the time there is one");

/* In ns; round trips are known for NFS only, and 0 otherwise. */
struct round_trips_view {
	uint64_t empty;	     /* answered requests that move no data */
	uint64_t empty_fast; /* what the fastest tenth of them take */
	uint64_t reads;	     /* answered reads of the most common size class, a power of two */
	uint64_t reads_fast, reads_p50;
	uint64_t window; /* the readahead window of the files read; 0: unknown */
	/* Of all reads: in those that start where the previous one ends and ask for a window. */
	uint64_t window_bytes;
	/* Requests for attributes or rights, up to THRESHOLD_ATTRIBUTES_AGAIN after the previous
	 * one on the same file. */
	uint64_t attributes_again;
};

/* Adds an event_is_remote; *trips is allocated at the first one. `in_order`: a read that starts
 * where the previous one of its file ends. */
void round_trips_add(struct round_trips **trips, const struct job *job, struct arena *arena,
		     const struct event *event, bool in_order);
/* Returns zeros for NULL. */
struct round_trips_view round_trips_view(const struct round_trips *trips);
/* Returns whether there are enough of both to compare reads with requests without data. */
bool round_trips_are_comparable(const struct round_trips_view *trips);
/* Returns whether the link or the server makes reads slow, as a text; NULL if round trips are not
 * known. `in_flight`: average reads in flight while there are any. */
const char *round_trips_limit(const struct round_trips_view *trips, double in_flight);
