/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder's memory: slots that wrap, with no reader to wait for. See bpf/event.h for
 * how they are numbered. Knows nothing of what stands in them.
 *
 * All CPUs share the memory, so that it holds the same last seconds of each, however unlike they
 * are: a CPU takes a chunk of numbers at a time, and leaves one that it fills slowly before the
 * others have come far.
 */
#ifndef FAULTLINE_BPF_FLIGHT_H
#define FAULTLINE_BPF_FLIGHT_H

#include "state.h"

extern const volatile bool flight_on;
extern const volatile __u64
	flight_slower_ns; /* tells of operations that take so long; 0: of none */
extern struct flight_slow flight_slow;

#define FLIGHT_TRIES 16

/* Whether a lane goes on in its chunk, from number `at` on. */
static __always_inline bool flight_goes_on(const struct lane_control *pool, __u64 at)
{
	return at & (FLIGHT_CHUNK - 1) &&
	       *(volatile __u64 *)&pool->given - at <= lane_slot_count / FLIGHT_STALE_PART;
}

/* The next number of a lane; false when others were faster again and again. */
static __always_inline bool flight_claim(struct lane_control *lane, struct lane_control *pool,
					 __u64 *number)
{
	for (int i = 0; i < FLIGHT_TRIES; i++) {
		__u64 at = *(volatile __u64 *)&lane->given, next = at;

		if (!flight_goes_on(pool, at))
			next = __sync_fetch_and_add(&pool->given, FLIGHT_CHUNK);
		*number = next;
		if (!lane_shared) {
			*(volatile __u64 *)&lane->given = next + 1;
			return true;
		}
		if (__sync_val_compare_and_swap(&lane->given, at, next + 1) == at)
			return true;
	}
	return false;
}

/* Marks a slot as being written; false while somebody else still does, who was preempted there for
 * a whole turn, or when we were, and a later record stands there already. */
static __always_inline bool flight_open(struct lane_slot *slot, __u64 number)
{
	__u64 held = *(volatile __u64 *)&slot->ready;

#ifdef __TARGET_ARCH_x86
	/* Stores are seen in their order there. */
	if (!lane_shared) {
		*(volatile __u64 *)&slot->ready = FLIGHT_BUSY;
		asm volatile("" ::: "memory");
		return true;
	}
#endif
	return !(held & FLIGHT_BUSY) && (held & FLIGHT_NUMBER_MASK) <= number &&
	       __sync_val_compare_and_swap(&slot->ready, held, FLIGHT_BUSY) == held;
}

/* A slot to fill and give over, its number told with its lane. */
static __always_inline struct lane_slot *flight_take(struct lane_control *lane,
						     __u32 number_of_lane, void *controls,
						     void *slots, __u64 *number)
{
	__u32 key = lane_mask + 1, index;
	struct lane_control *pool = bpf_map_lookup_elem(controls, &key);
	struct lane_slot *slot;

	if (!pool || !flight_claim(lane, pool, number))
		return NULL;
	index = *number & (lane_slot_count - 1);
	slot = bpf_map_lookup_elem(slots, &index);
	if (!slot || !flight_open(slot, *number))
		return NULL;
	if (lane_shared)
		__sync_fetch_and_add(&lane->taken, 1);
	else
		lane->taken++;
	*number |= (__u64)number_of_lane << FLIGHT_LANE_SHIFT;
	return slot;
}

#endif
