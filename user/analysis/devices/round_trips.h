/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What round trips to a mount's server show: whether its reads wait for the link or for the server,
 * whether readahead limits their size, and which attributes are asked for again.
 */
#pragma once

#include "analysis/events/event.h"
#include "analysis/job/job.h"
#include "collections/arena.h"
#include "collections/map.h"

struct round_trips;

/* In ns; round trips are known for NFS only, and 0 otherwise. */
struct round_trips_view {
	uint64_t empty;	     /* answered requests that move no data */
	uint64_t empty_fast; /* what the fastest tenth of them take */
	uint64_t reads;	     /* answered reads of the most common size class, a power of two */
	uint64_t reads_fast, reads_p50, reads_bytes; /* bytes: of all of these */
	uint64_t in_order_bytes; /* of all reads: in those that start where the previous one ends */
	/* ... and in those of them that ask for as much as the file's readahead window holds. */
	uint64_t window_bytes, window; /* window: its size, the last one; 0: unknown */
	uint64_t attributes;	       /* requests for attributes or rights, of known files */
	uint64_t attributes_again;     /* THRESHOLD_ATTRIBUTES_AGAIN after the previous one */
};

/* Adds an event_is_remote; *trips is allocated at the first one. `in_order`: a read that starts
 * where the previous one of its file ends. */
void round_trips_add(struct round_trips **trips, const struct job *job, struct arena *arena,
		     const struct event *event, bool in_order);
/* Returns zeros for NULL. */
struct round_trips_view round_trips_view(const struct round_trips *trips);
