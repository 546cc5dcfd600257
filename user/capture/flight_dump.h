/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From what a flight recorder has kept to a trace. Knows nothing of how it is kept, nor of when.
 */
#ifndef FAULTLINE_FLIGHT_DUMP_H
#define FAULTLINE_FLIGHT_DUMP_H

#include <stdint.h>

#include "capture/flight_log.h"
#include "capture/flight_memory.h"
#include "capture/flight_past.h"
#include "capture/in_flight.h"
#include "capture/probes.h"
#include "trace/header.h"

/* What may be lost: an enum record_kind, ... */
enum {
	FLIGHT_LOSS_LAYER = RECORD_KIND_COUNT, /* ... a layer's programs that were passed over, */
	FLIGHT_LOSS_NOTE = FLIGHT_LOSS_LAYER + LAYER_COUNT, /* or what only a note tells */
	FLIGHT_LOSSES = FLIGHT_LOSS_NOTE + NOTE_COUNT,
};

/* It is a record among the others, of kind RECORD_NONE. It was at the earliest when its header
 * tells, which is the time of the look before, and at the latest when it was found. */
struct flight_loss {
	struct event_header header;
	uint32_t kind; /* see above */
	uint32_t pad;
	uint64_t count;
	uint64_t found_ns;
};

/* What a trace is made of. */
struct flight_snapshot {
	struct flight_slots slots;
	struct in_flight_list in_flight; /* at to_ns */
	struct flight_records names, past, records;
	uint64_t from_ns, to_ns; /* everything that ended between them is there; from 0: from the
				  * start of the recording */
	uint64_t start_ns;	 /* which was then */
	uint64_t before;	 /* records that were overwritten, or are older */
	uint64_t unfollowed;	 /* children that could not be followed */
	unsigned int lanes;
};

void flight_snapshot_free(struct flight_snapshot *snapshot);

struct flight_written {
	uint64_t events, lost, bytes;
	int error; /* the first failure to write; the trace may lack some then */
};

/*
 * Writes the trace to `fd`. `header` is that of the recording; what makes it one of a flight
 * recorder is filled in, `reason` among it. Returns 0 or a negative errno when there is no trace.
 */
int flight_dump(const struct flight_snapshot *snapshot, const struct trace_header *header,
		const char *reason, int fd, struct flight_written *written);

#endif
