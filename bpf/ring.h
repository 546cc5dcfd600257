/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sending records through ring buffers, one for each lane of CPUs, counted before it is tried,
 * never waking the reader (it drains on a timer: a wake-up costs more than the event).
 */
#ifndef FAULTLINE_BPF_RING_H
#define FAULTLINE_BPF_RING_H

#include "state.h"

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the user side, like the number of rings */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

static __always_inline struct kind_total *ring_count(__u32 kind)
{
	struct kind_total *total = bpf_map_lookup_elem(&kind_totals, &kind);

	if (total)
		total->events++;
	return total;
}

/* Counts a record that could not be made. */
static __always_inline void ring_lose(__u32 kind)
{
	struct kind_total *total = ring_count(kind);

	if (total)
		total->lost++;
}

/* Room for a record of `size` bytes, its header filled in but for the time; NULL, and counted as
 * lost, when the ring is full. */
static __always_inline void *ring_reserve(__u32 kind, __u64 size, struct task_struct *task)
{
	struct kind_total *total = ring_count(kind);
	__u32 cpu = bpf_get_smp_processor_id(), lane = cpu & lane_mask;
	void *ring = bpf_map_lookup_elem(&rings, &lane);
	struct event_header *header = NULL;

	if (ring)
		header = bpf_ringbuf_reserve(ring, size, 0);
	if (!header) {
		if (total)
			total->lost++;
		return NULL;
	}
	header->kind = kind;
	header->cpu = cpu;
	header->size = size;
	header->pid = task->tgid;
	header->tid = task->pid;
	return header;
}

static __always_inline void ring_submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Sends a record of varying length that was made elsewhere. Returns 0 or a negative errno. */
static __always_inline long ring_output(struct event_header *record, __u32 kind, __u64 time_ns,
					__u64 size, struct task_struct *task)
{
	struct kind_total *total = ring_count(kind);
	__u32 cpu = bpf_get_smp_processor_id(), lane = cpu & lane_mask;
	void *ring = bpf_map_lookup_elem(&rings, &lane);
	long status = -1;

	record->time_ns = time_ns;
	record->kind = kind;
	record->cpu = cpu;
	record->size = size;
	record->pid = task->tgid;
	record->tid = task->pid;
	if (ring)
		status = bpf_ringbuf_output(ring, record, size, BPF_RB_NO_WAKEUP);
	if (status && total)
		total->lost++;
	return status;
}

/*
 * Memory to make a long record in. A program can be interrupted on its CPU by another one (a fault
 * inside a probe read, a preemption where the kernel allows it), so the memory is handed out by
 * level, and a program that finds all levels taken goes without.
 */
#define SCRATCH_LEVELS 3
#define SCRATCH_BYTES 8704 /* two paths, the fields before them, slack for the last component */

struct scratch {
	__u8 bytes[SCRATCH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_LEVELS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} scratch_depth SEC(".maps");

/* Must be given back by scratch_put, also when NULL was returned. */
static __always_inline void *scratch_get(void)
{
	__u32 zero = 0, level;
	__u64 *depth = bpf_map_lookup_elem(&scratch_depth, &zero);

	if (!depth)
		return NULL;
	level = __sync_fetch_and_add(depth, 1);
	return bpf_map_lookup_elem(&scratches, &level);
}

static __always_inline void scratch_put(void)
{
	__u32 zero = 0;
	__u64 *depth = bpf_map_lookup_elem(&scratch_depth, &zero);

	if (depth)
		__sync_fetch_and_add(depth, -1);
}

#endif
