/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records that change a state: processes, spans, counters of devices. A flight recorder keeps them
 * as they are, so that it can say what the state was before the events that it still has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/records/event.h"
#include "capture/drain/ring.h"

/* Records, back to back; zero-initialized is empty. The caller frees `memory`. */
struct flight_records {
	char *memory;
	size_t bytes, room;
	bool incomplete; /* out of memory: some are missing */
};

/* Adds a record. A ring_record_fn; the context is the records. */
void flight_records_add(void *records, unsigned int ring, const void *record, size_t size);
/* Gives back room that is not used. */
void flight_records_fit(struct flight_records *records);
/* Passes all records to `take`, oldest first. */
void flight_records_walk(const struct flight_records *records, ring_record_fn take, void *context);

/* Whether a record changes a state: one of the following, or a device's counters. */
bool flight_record_has_state(const struct event_header *record);
/* Whether it is a fork, exec or exit; flight_past keeps its effect. */
bool flight_record_is_identity(const struct event_header *record);
/* Whether it is an event of a span, which is gone once evicted. */
bool flight_record_is_event(const struct event_header *record);
