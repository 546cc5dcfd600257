/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sending the records that come by the million: slots of one size in memory that both sides have
 * mapped. Taking a slot and giving it over costs a quarter of a ring buffer's reserve and submit.
 *
 * A lane serves a CPU, or a few where there are many. Whoever sends takes the next number by an
 * atomic addition, fills the slot of that number and last writes the number, plus one, into it:
 * that gives it over. The reader takes slots in order and says how far it has come. A program that
 * is interrupted in the middle holds up the reader, nobody else.
 */
#ifndef FAULTLINE_BPF_LANE_H
#define FAULTLINE_BPF_LANE_H

#include "ring.h"

/* A few more may be taken at once than were looked for. */
#define LANE_MARGIN 8

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side: lanes */
	__type(key, __u32);
	__type(value, struct lane_control);
} lane_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the user side: slots of all lanes */
	__type(key, __u32);
	__type(value, struct lane_slot);
} lane_slots SEC(".maps");

/* A slot for a record, its header filled in but for the time; NULL, and counted as lost, when the
 * lane is full. */
static __always_inline struct lane_slot *lane_take(__u32 kind, __u32 size, struct task_struct *task)
{
	struct kind_total *total = ring_count(kind);
	__u32 cpu = bpf_get_smp_processor_id(), lane = cpu & lane_mask, index;
	struct lane_control *control = bpf_map_lookup_elem(&lane_controls, &lane);
	struct lane_slot *slot = NULL;
	__u64 number;

	if (control && control->given - control->taken + LANE_MARGIN <= lane_slot_count) {
		number = __sync_fetch_and_add(&control->given, 1);
		index = lane * lane_slot_count + (number & (lane_slot_count - 1));
		slot = bpf_map_lookup_elem(&lane_slots, &index);
	}
	if (!slot) {
		if (total)
			total->lost++;
		return NULL;
	}
	slot->number = number;
	slot->header.kind = kind;
	slot->header.cpu = cpu;
	slot->header.size = size;
	slot->header.pid = task->tgid;
	slot->header.tid = task->pid;
	return slot;
}

static __always_inline void lane_give(struct lane_slot *slot)
{
#ifdef __TARGET_ARCH_x86
	/* Stores are seen in their order there. */
	asm volatile("" ::: "memory");
	*(volatile __u64 *)&slot->ready = slot->number + 1;
#else
	__sync_lock_test_and_set(&slot->ready, slot->number + 1);
#endif
}

#endif
