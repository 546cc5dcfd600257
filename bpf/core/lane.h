/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sends the most frequent records: slots of one size in shared mapped memory. Taking and publishing
 * a slot costs a quarter of a ring buffer's reserve and submit.
 *
 * A lane is the buffer of one CPU, or of several if there are many CPUs. A writer takes the next
 * number, fills the slot of that number, and finally stores the number plus one in the slot, which
 * publishes it. The reader consumes slots in order and stores its position. A program that is
 * interrupted in between delays only the reader.
 *
 * Published records are not counted again: the next numbers of the CPU buffers are the count
 * (session_totals).
 */
#pragma once

#include "core/flight.h"
#include "core/ring.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side: CPU buffers */
	__type(key, __u32);
	__type(value, struct lane_control);
} lane_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side: slots of all CPU buffers */
	__type(key, __u32);
	__type(value, struct lane_slot);
} lane_slots SEC(".maps");

/* Counts a record sent through a CPU buffer. System calls are not counted here; the buffers'
 * sequence numbers count them. */
static __always_inline void lane_count(__u32 kind, bool preempted)
{
	struct kind_total *total = bpf_map_lookup_elem(&kind_totals, &kind);

	if (total)
		count_add(&total->events, 1, preempted);
}

struct lane_reservation {
	struct lane_slot *slot;
	__u64 number;
};

#define LANE_TRIES 64
#define LANE_WAKE_PART 4 /* wakes the reader when this part of the buffer is filled */

/*
 * Takes the next number of a CPU buffer; false if all its slots are in use. If the buffer has one
 * CPU and programs are not preempted, there is no concurrent writer. Otherwise the number is taken
 * only if it is still the next one, so no slot is taken before the reader has released it.
 */
static __always_inline bool lane_claim(struct lane_control *control, __u64 *number)
{
	volatile __u64 *given = &control->given;
	__u64 waiting = 0;
	bool taken = false;

	for (int i = 0; i < LANE_TRIES && !taken; i++) {
		*number = *given;
		waiting = *number - control->taken;
		if (waiting >= lane_slot_count)
			return false;
		if (lane_shared) {
			taken = __sync_val_compare_and_swap(&control->given, *number,
							    *number + 1) == *number;
		} else {
			*given = *number + 1;
			taken = true;
		}
	}
	if (waiting == lane_slot_count / LANE_WAKE_PART)
		ring_wake();
	return taken;
}

/* Takes a slot to fill and publish. Returns false, and counts a lost record, if the buffer is
 * full. */
static __always_inline bool lane_reserve(struct lane_reservation *reservation, __u32 kind)
{
	__u32 cpu = bpf_get_smp_processor_id(), lane = cpu & lane_mask, index;
	struct lane_control *control = bpf_map_lookup_elem(&lane_controls, &lane);

	/* A CPU that was plugged in later has no buffer of its own. */
	if (control && (lane_shared || cpu == lane) && lane_claim(control, &reservation->number)) {
		index = lane * lane_slot_count + (reservation->number & (lane_slot_count - 1));
		reservation->slot = bpf_map_lookup_elem(&lane_slots, &index);
		if (reservation->slot)
			return true;
	}
	ring_lose(kind);
	return false;
}

static __always_inline void lane_publish(const struct lane_reservation *reservation)
{
#ifdef __TARGET_ARCH_x86
	/* x86 keeps stores in order. */
	asm volatile("" ::: "memory");
	*(volatile __u64 *)&reservation->slot->ready = reservation->number + 1;
#else
	__sync_lock_test_and_set(&reservation->slot->ready, reservation->number + 1);
#endif
}
