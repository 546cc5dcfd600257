/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies the flight recorder's memory while the kernel side writes and wraps it.
 * bpf/records/event_lane.h explains how slots are numbered.
 */
#ifndef FAULTLINE_FLIGHT_MEMORY_H
#define FAULTLINE_FLIGHT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"

struct flight_memory;

/* Maps the memory of the two array maps: one control for each of `lanes` CPU buffers and one more,
 * and `slots` slots (a power of two). Returns 0 or a negative errno. */
int flight_memory_open(struct flight_memory **memory, int controls_fd, int slots_fd,
		       unsigned int lanes, size_t slots);
void flight_memory_close(struct flight_memory *memory); /* NULL is fine */

/* Passes the file of every used slot to `take`, in no order and with duplicates. A slot being
 * written may yield a stale file. */
void flight_memory_each_file(const struct flight_memory *memory,
			     void (*take)(void *context, uint32_t file), void *context);

/* A copy: records ordered by number, and within a CPU buffer by end time. */
struct flight_slots {
	struct lane_slot *slots;
	size_t count, bytes;
	uint64_t from_ns; /* complete for records that ended later; 0: from the start */
	uint64_t to_ns;	  /* ... but no later than this */
	uint64_t given;	  /* records ever written, up to to_ns */
	uint64_t lost;	  /* missing: their slots were still being written */
};

/* Copies all slots, oldest first, and checks for overwrites: no copied slot is torn. `now_ns` is
 * the current time. Uses as much memory as the records need. Returns 0 or -ENOMEM. */
int flight_memory_copy(const struct flight_memory *memory, uint64_t now_ns,
		       struct flight_slots *copy);
void flight_slots_free(struct flight_slots *copy);

/* CPU buffer and end time of a copied slot. */
unsigned int flight_slot_lane(const struct lane_slot *slot);
uint64_t flight_slot_end_ns(const struct lane_slot *slot);

#endif
