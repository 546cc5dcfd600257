/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder's memory: a circular buffer of slots that does not wait for a reader. See
 * bpf/records/event_lane.h for how the slots are numbered.
 *
 * All CPUs share the memory, so it holds the same last seconds for each, however different their
 * rates are: a CPU takes a chunk of numbers at a time, and abandons a chunk that it fills slowly
 * before the others have advanced far.
 */
#ifndef FAULTLINE_BPF_FLIGHT_H
#define FAULTLINE_BPF_FLIGHT_H

#include "core/state.h"

extern const volatile bool flight_on;
extern const volatile __u64
	flight_slower_ns; /* report operations that take at least this long; 0: none */
extern struct flight_slow flight_slow;

/* The processes to keep, if flight_chooses: named by the user side, and inherited by children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, __u32);
} flight_chosen SEC(".maps");

extern const volatile bool flight_chooses;

/* Whether the events of the process are kept. */
static __always_inline bool flight_keeps(__u32 pid)
{
	return flight_on && (!flight_chooses || bpf_map_lookup_elem(&flight_chosen, &pid));
}

/* A process has been created: an earlier process's entry for a reused PID is removed. */
static __always_inline void flight_inherit(__u32 parent, __u32 child)
{
	__u32 one = 1;

	if (!flight_chooses)
		return;
	if (bpf_map_lookup_elem(&flight_chosen, &parent))
		bpf_map_update_elem(&flight_chosen, &child, &one, BPF_ANY);
	else
		bpf_map_delete_elem(&flight_chosen, &child);
}

static __always_inline void flight_forget(__u32 pid)
{
	if (flight_chooses)
		bpf_map_delete_elem(&flight_chosen, &pid);
}

#define FLIGHT_TRIES 16

/* Whether a CPU buffer continues in its chunk, from number `at` on. */
static __always_inline bool flight_chunk_continues(const struct lane_control *pool, __u64 at)
{
	return at & (FLIGHT_CHUNK - 1) &&
	       *(volatile __u64 *)&pool->given - at <= lane_slot_count / FLIGHT_STALE_PART;
}

/* Takes the next number of a CPU buffer; false if other programs kept winning the race. */
static __always_inline bool flight_claim(struct lane_control *lane, struct lane_control *pool,
					 __u64 *number)
{
	for (int i = 0; i < FLIGHT_TRIES; i++) {
		__u64 at = *(volatile __u64 *)&lane->given, next = at;

		if (!flight_chunk_continues(pool, at))
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

/* Marks a slot as being written. False if another writer is still busy, preempted there for a whole
 * round, or if this writer was and the slot already holds a later record. */
static __always_inline bool flight_open(struct lane_slot *slot, __u64 number)
{
	__u64 held = *(volatile __u64 *)&slot->ready;

#ifdef __TARGET_ARCH_x86
	/* x86 keeps stores in order. */
	if (!lane_shared) {
		*(volatile __u64 *)&slot->ready = FLIGHT_BUSY;
		asm volatile("" ::: "memory");
		return true;
	}
#endif
	return !(held & FLIGHT_BUSY) && (held & FLIGHT_NUMBER_MASK) <= number &&
	       __sync_val_compare_and_swap(&slot->ready, held, FLIGHT_BUSY) == held;
}

/* Returns a slot to fill and publish. Its number includes the number of the CPU buffer. */
static __always_inline struct lane_slot *flight_reserve(struct lane_control *lane,
							__u32 lane_number, void *controls,
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
	*number |= (__u64)lane_number << FLIGHT_LANE_SHIFT;
	return slot;
}

#endif
