/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Turns a snapshot of a flight recorder into a trace. */
#pragma once

#include <stdint.h>

#include "capture/flight/flight_ring.h"
#include "capture/session/in_flight.h"
#include "trace/format/header.h"

/* The contents of a trace. */
struct flight_snapshot {
	struct flight_segment **segments; /* oldest first; closed */
	size_t count, room;
	struct in_flight_list in_flight; /* at to_ns, by tid */
	struct thread_list threads;	 /* read after to_ns, by tid */
	struct python_live *live;	 /* for the stacks of what is in flight */
	bool stacks;			 /* the layer is on */
	struct flight_records names, past;
	uint64_t from_ns, to_ns; /* everything that ended between them is included; from_ns 0:
				  * since start_ns */
	uint64_t start_ns;	 /* start of the recording */
	uint64_t before;	 /* events evicted, or older than from_ns */
	uint64_t unfollowed;	 /* children that could not be followed */
	unsigned int lanes;
};

struct flight_written {
	uint64_t events, lost, bytes;
	int error; /* the first write error; the trace may then be incomplete */
};

/*
 * Writes the trace to `fd`. `header` is the recording's; the fields of a flight recorder, including
 * `reason`, are added to a copy. Returns 0, or a negative errno if there is no trace.
 */
int flight_dump(const struct flight_snapshot *snapshot, const struct trace_header *header,
		const char *reason, int fd, struct flight_written *written);
