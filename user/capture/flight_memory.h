/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder's memory, which the kernel side writes and wraps: copies of what stands in
 * it. Knows how slots are numbered (bpf/event_lane.h), nothing of what becomes of them.
 */
#ifndef FAULTLINE_FLIGHT_MEMORY_H
#define FAULTLINE_FLIGHT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct flight_memory;

/* Maps the memory behind the two array maps: a control for each of `lanes` and one more, and
 * `slots` slots, a power of two. Returns 0 or a negative errno. */
int flight_memory_open(struct flight_memory **memory, int controls_fd, int slots_fd,
		       unsigned int lanes, size_t slots);
void flight_memory_close(struct flight_memory *memory); /* NULL is fine */

/* Gives the file of every slot in use, in no order, some of them more than once. A slot that is
 * being written may give a file that is no longer there. */
void flight_memory_each_file(const struct flight_memory *memory,
			     void (*take)(void *context, uint32_t file), void *context);

/* A copy: records in the order of their numbers, each lane's in the order of their ends. */
struct flight_slots {
	struct lane_slot *slots;
	size_t count, bytes;
	uint64_t from_ns; /* all that ended after that are there; 0: all that ever were */
	uint64_t to_ns;	  /* ... and no later than that */
	uint64_t given;	  /* records that were ever given, up to then */
	uint64_t lost;	  /* of those that should be there: being written, and never done with */
};

/* Copies what is there, oldest first, and looks again: nothing torn. `now_ns` is now. Takes as much
 * memory as holds records. Returns 0 or -ENOMEM. */
int flight_memory_copy(const struct flight_memory *memory, uint64_t now_ns,
		       struct flight_slots *copy);
void flight_slots_free(struct flight_slots *copy);

/* What a slot of a copy holds. */
unsigned int flight_slot_lane(const struct lane_slot *slot);
uint64_t flight_slot_end_ns(const struct lane_slot *slot);

#endif
