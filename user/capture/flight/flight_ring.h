/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The most recent events of a flight recorder, in bounded memory: a list of segments, of which the
 * oldest are evicted. Each segment is a trace in memory of its own, so its frames can be copied to
 * a file, and the strings and stacks that they need come and go with it.
 */
#pragma once

#include <pthread.h>

#include "capture/calls/op_sums.h"
#include "capture/drain/decode.h"
#include "capture/flight/flight_names.h"
#include "capture/flight/flight_past.h"
#include "capture/flight/flight_records.h"
#include "capture/support/probes.h"
#include "trace/write/writer.h"

/* The ring consists of about this many segments. */
#define FLIGHT_SEGMENTS 16

/* Kinds of loss: an enum record_kind, ... */
enum {
	FLIGHT_LOSS_LAYER = RECORD_KIND_COUNT, /* ... missed runs of a layer's programs, ... */
	FLIGHT_LOSS_NOTE = FLIGHT_LOSS_LAYER + LAYER_COUNT, /* ... or a note */
	FLIGHT_LOSSES = FLIGHT_LOSS_NOTE + NOTE_COUNT,
};

struct flight_segment {
	struct flight_segment *next; /* the next younger one */
	unsigned int users;	     /* the ring, and traces being written */
	uint64_t number;
	struct flight_names *names;
	struct trace_writer *writer;   /* NULL: it is closed, or could not be opened */
	int fd;			       /* -1: none */
	const uint8_t *trace;	       /* once closed; its totals are those of `sums` */
	size_t bytes;		       /* of the trace */
	struct flight_records records; /* all with a state; the trace has all others */
	struct op_sums sums;	       /* of operations in the trace */
	uint64_t events;
	uint64_t end_ns; /* of the last event to end */
	struct stack_ids last_stacks;
	/* Found while it was open. The exact time is unknown: a loss may have happened before. */
	uint64_t lost[FLIGHT_LOSSES];
};

struct flight_ring {
	size_t limit, bytes;	      /* of closed segments */
	struct flight_segment *first; /* closed segments, oldest first */
	struct flight_segment *current;
	struct flight_names names;
	struct flight_past past; /* state before `first` */
	uint64_t from_ns;	 /* all events that ended later are there; 0: nothing was evicted */
	uint64_t evicted;	 /* events */
	uint64_t next_number;
	struct decoder *decoder; /* NULL: not needed yet */
	volatile uint32_t *stack_generation;
	struct trace_header header; /* of the segments */
	unsigned int page_bytes, lanes;
	uint64_t retry_ns; /* when to try again to open a segment's trace */
	bool failed;	   /* one could not be opened or ended, and this was logged */
};

/* `bytes` limits the memory for events. The caller owns what the header points to. For
 * `stack_generation`, see decoder_share_generation. The other functions are called by the draining
 * thread. */
void flight_ring_open(struct flight_ring *ring, size_t bytes, unsigned int lanes,
		      const struct trace_header *header, volatile uint32_t *stack_generation);
void flight_ring_close(struct flight_ring *ring); /* all zeroes is fine */

/* Take a whole record of any kind but names, or slots. */
void flight_ring_take(struct flight_ring *ring, unsigned int lane,
		      const struct event_header *record);
void flight_ring_take_slots(struct flight_ring *ring, unsigned int lane,
			    const struct lane_slot *slots, size_t count);
/* Adds a name of a file. */
void flight_ring_name(struct flight_ring *ring, const struct event_file *file);
/* Counts a loss; see FLIGHT_LOSS_*. */
void flight_ring_lose(struct flight_ring *ring, unsigned int kind, uint64_t count);

/* Call after each drain. Returns whether the current segment is as large as it should become. */
bool flight_ring_look(struct flight_ring *ring, uint64_t now_ns);
/* Closes the current segment, if there is one, and returns it; it is not in `first` yet. */
struct flight_segment *flight_ring_cut(struct flight_ring *ring);
/* Adds a closed segment and evicts the oldest beyond the limit. The caller holds the lock for
 * `first`, `past` and the counts, if there is one. */
void flight_ring_add(struct flight_ring *ring, struct flight_segment *segment);
/* Ends a use of a segment; the last one frees it. Under the same lock. */
void flight_segment_release(struct flight_segment *segment);
